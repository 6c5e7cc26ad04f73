"""Which pairs there are, which are chosen, and which need not be examined again."""

from dataclasses import replace
from functools import partial

import pytest

from theory.claim import Relation
from theory.santurkar2018 import CLAIMS, theorem_4_1
from verify import engine, evidence
from verify.engine import Pair, pairs, selected
from verify.evidence import Record, Run, Writer
from verify.settings import PROFILES, Settings
from verify.witnesses.table import WITNESSES
from verify.witnesses.witness import Witness, each

RUN = Run("smoke", 0, "numpy", "", "abcd", 1, {})
SETTINGS = Settings(PROFILES["smoke"])
CLAIM = theorem_4_1.PRINTED
SECOND = theorem_4_1.SHARED
UNREADABLE = replace(CLAIM, id="S-lost", unreadable="lost")


class Counting:
    """A witness that counts how often it is asked, and of what."""

    def __init__(self, name, applies=lambda claim: True):
        self.asked = []
        self.witness = Witness(name, applies, partial(each, self.examine), together=1)

    def examine(self, claim, settings):
        assert settings == SETTINGS
        self.asked.append(claim.id)
        return Record(claim.id, self.witness.name, instances=1)


@pytest.fixture
def first():
    return Counting("first")


@pytest.fixture
def second():
    return Counting("second", lambda claim: claim is not SECOND)


@pytest.fixture
def both(first, second):
    return pairs([CLAIM, UNREADABLE, SECOND], (first.witness, second.witness))


def test_pairs_are_claims_with_witnesses_that_apply_and_none_that_is_unreadable(both):
    assert [pair.name for pair in both] == [
        ("S-thm-4.1", "first"),
        ("S-thm-4.1/eps", "first"),
        ("S-thm-4.1", "second"),
    ]


def test_pairs_of_the_real_claims_have_different_names():
    everything = pairs(CLAIMS, WITNESSES)
    assert len({pair.name for pair in everything}) == len(everything)
    assert {pair.claim.id for pair in everything} == {c.id for c in CLAIMS if not c.unreadable}


def test_ascent_is_for_inequalities():
    climbing = {
        pair.claim.relation for pair in pairs(CLAIMS, WITNESSES) if pair.witness.name == "ascent"
    }
    assert climbing == {c.relation for c in CLAIMS} - {Relation.EQUAL}


def test_every_pair_is_examined_and_timed(both, first, second):
    records = list(engine.examine(both, SETTINGS))
    assert [(r.claim, r.witness) for r in records] == [(p.claim.id, p.witness.name) for p in both]
    assert all(record.seconds > 0 for record in records)
    assert (first.asked, second.asked) == ([CLAIM.id, SECOND.id], [CLAIM.id])


def test_records_come_as_they_are_found(both, first):
    found = engine.examine(both, SETTINGS)
    next(found)
    assert first.asked == [CLAIM.id]


def writer_of(folder, mark="today"):
    return Writer(folder, RUN, lambda claim, witness: f"{claim} {witness} {mark}")


def test_what_a_killed_run_found_is_not_examined_again(both, first, second, tmp_path):
    killed = writer_of(tmp_path)
    begun = engine.examine(both, SETTINGS, killed)
    found = [next(begun), next(begun)]
    killed.close()
    first.asked.clear(), second.asked.clear()
    records = list(engine.examine(both, SETTINGS, writer_of(tmp_path)))
    assert [r.name for r in records[:2]] == [r.name for r in found]
    assert (first.asked, second.asked) == ([], [CLAIM.id])


def test_what_changed_is_examined_again(both, first, tmp_path):
    for mark in ("today", "tomorrow"):
        writer = writer_of(tmp_path, mark)
        list(engine.examine(both, SETTINGS, writer))
        writer.close()
    assert first.asked == [CLAIM.id, SECOND.id] * 2


def test_a_task_has_as_many_statements_as_its_witness_takes_together(first, second):
    both = replace(first.witness, together=2)
    found = engine.tasks(pairs([CLAIM, SECOND], (both, second.witness)))
    assert [task.names for task in found] == [
        [(CLAIM.id, "first"), (SECOND.id, "first")],
        [(CLAIM.id, "second")],
    ]


def test_without_a_name_every_claim_is_selected():
    assert selected(CLAIMS, []) == list(CLAIMS)


def test_a_name_is_an_identifier_a_row_or_the_beginning_of_identifiers():
    def ids(*names):
        return [claim.id for claim in selected(CLAIMS, names)]

    assert ids("S-eq-6/eps/corrected") == ["S-eq-6/eps/corrected"]
    assert ids("S-eq-6") == ["S-eq-6", "S-eq-6/eps", "S-eq-6/eps-unit", "S-eq-6/eps/corrected"]
    assert ids("S-eq-6/eps") == ["S-eq-6/eps", "S-eq-6/eps/corrected"]
    assert ids("S-thm-4.2b") == [c.id for c in CLAIMS if c.row == "S-thm-4.2b"]


def test_claims_are_selected_once_in_the_order_of_the_ledger():
    chosen = selected(CLAIMS, ["S-eq-6/eps", "S-thm-4.2a", "S-eq-6", "S-eq-6/eps/corrected"])
    wanted = ("S-eq-6", "S-eq-6/")
    assert chosen == [
        c
        for c in CLAIMS
        if c.row == "S-thm-4.2a" or c.id == wanted[0] or c.id.startswith(wanted[1])
    ]


def test_an_unknown_name_is_refused_and_the_docket_shown():
    with pytest.raises(ValueError, match=r"called S-thm-9, x; there are: S-thm-4\.1, S-"):
        selected(CLAIMS, ["S-thm-9", "S-thm-4.1", "x"])


def test_a_pair_is_named_after_its_two():
    assert Pair(CLAIM, WITNESSES[0]).name == ("S-thm-4.1", "abstract")


def test_a_statement_is_wholly_examined_once_every_witness_has_said_what_it_found():
    first, second = (c for c in engine.CLAIMS[:2] if not c.unreadable)
    records = [Record(*pair.name) for pair in engine.pairs([first, second], engine.WITNESSES)]
    assert engine.wholly_examined(engine.CLAIMS, records) == {first.id, second.id}
    assert engine.wholly_examined(engine.CLAIMS, records[:-1]) == {first.id}
    assert engine.wholly_examined(engine.CLAIMS, []) == set()


def examined(folder, settings, records):
    """A folder to which a run of these settings adds records."""
    profile = next(name for name, budget in PROFILES.items() if budget == settings.budget)
    writer = Writer(
        folder, replace(RUN, profile=profile, seed=settings.seed), engine.todays(settings)
    )
    for record in records:
        writer.add(record)
    writer.close()


def by_all(claim, notes):
    return [Record(*pair.name, notes=notes) for pair in engine.pairs([claim], engine.WITNESSES)]


def test_a_half_examined_statement_says_nothing_yet(tmp_path):
    examined(tmp_path, SETTINGS, [*by_all(CLAIM, "whole"), *by_all(SECOND, "half")[:-1]])
    found = engine.known(tmp_path)
    assert {record.claim for record in found.records} == {CLAIM.id}
    assert (found.unfinished, found.outdated) == ((SECOND.id,), ())


def notes_of_autograd(folder):
    return {(r.claim, r.notes) for r in engine.known(folder).records if r.witness == "autograd"}


def test_of_two_seeds_the_last_whole_one_is_heard_and_never_a_mixture(tmp_path):
    examined(tmp_path, SETTINGS, [*by_all(CLAIM, "0"), *by_all(SECOND, "0")])
    examined(tmp_path, replace(SETTINGS, seed=1), [*by_all(CLAIM, "1"), *by_all(SECOND, "1")[:-1]])
    heard = {(CLAIM.id, "1"), (SECOND.id, "0")}
    assert notes_of_autograd(tmp_path) == heard
    assert evidence.prune(tmp_path, engine.todays_of_run)[1] == 0
    assert notes_of_autograd(tmp_path) == heard


def test_what_changed_is_told_apart_from_what_is_unfinished(tmp_path):
    examined(tmp_path, SETTINGS, by_all(CLAIM, "whole"))
    path = tmp_path / "evidence.jsonl"
    header, first, *others = path.read_text().splitlines(keepends=True)
    old = first.replace('"fingerprint": "', '"fingerprint": "old')
    path.write_text("".join([header, old, *others]))
    assert engine.known(tmp_path).outdated == (CLAIM.id,)
    assert not any(record.claim == CLAIM.id for record in engine.known(tmp_path).records)
