"""Which pairs there are, which are chosen, and which need not be examined again."""

from dataclasses import replace
from functools import partial

import pytest

from theory.claim import Relation
from theory.santurkar2018 import CLAIMS, theorem_4_1
from verify import engine, evidence
from verify.engine import pairs, selected
from verify.evidence import Run, Writer
from verify.record import Record
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


def test_pairs_of_the_real_claims_have_different_names():
    everything = pairs(CLAIMS, WITNESSES)
    assert len({pair.name for pair in everything}) == len(everything)
    assert {pair.claim.id for pair in everything} == {c.id for c in CLAIMS if not c.unreadable}
    climbing = {pair.claim.relation for pair in everything if pair.witness.name == "ascent"}
    assert climbing == {c.relation for c in CLAIMS if not c.unreadable} - {Relation.EQUAL}


def test_every_pair_that_applies_is_examined_and_timed_and_comes_as_it_is_found(both, first):
    found = engine.examine(both, SETTINGS)
    records = [next(found)]
    assert first.asked == [CLAIM.id]
    records += found
    assert [record.name for record in records] == [
        ("S-thm-4.1", "first"),
        ("S-thm-4.1/eps", "first"),
        ("S-thm-4.1", "second"),
    ]
    assert all(record.seconds > 0 for record in records)


def examined_today(both, folder, mark="today"):
    writer = Writer(folder, RUN, lambda claim, witness: f"{claim} {witness} {mark}")
    yield from engine.examine(both, SETTINGS, writer)
    writer.close()


def test_only_what_a_killed_run_did_not_find_or_what_changed_is_examined_again(
    both, first, second, tmp_path
):
    killed = examined_today(both, tmp_path)
    found = [next(killed), next(killed)]
    del killed
    records = list(examined_today(both, tmp_path))
    assert [r.name for r in records[:2]] == [r.name for r in found]
    assert (first.asked, second.asked) == ([CLAIM.id, SECOND.id], [CLAIM.id])
    list(examined_today(both, tmp_path, "tomorrow"))
    assert first.asked == [CLAIM.id, SECOND.id] * 2


def test_a_task_has_as_many_statements_as_its_witness_takes_together(first, second):
    both = replace(first.witness, together=2)
    found = engine.tasks(pairs([CLAIM, SECOND], (both, second.witness)))
    assert [task.names for task in found] == [
        [(CLAIM.id, "first"), (SECOND.id, "first")],
        [(CLAIM.id, "second")],
    ]


EPS = ["S-eq-6/eps", "S-eq-6/eps/corrected"]
OF_EQ_6 = ["S-eq-6", "S-eq-6/eps", "S-eq-6/eps-unit", "S-eq-6/eps/corrected"]
OF_RESULT = [c.id for c in CLAIMS if c.result == "S-thm-4.2b"]


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        ([], [c.id for c in CLAIMS]),
        (EPS[1:], EPS[1:]),
        (["S-eq-6"], OF_EQ_6),
        (EPS[:1], EPS),
        (["S-thm-4.2b"], OF_RESULT),
        (["S-thm-4.2b", "S-eq-6/eps", "S-eq-6"], [*OF_EQ_6, *OF_RESULT]),
    ],
)
def test_names_are_identifiers_results_or_their_beginnings_and_choose_in_the_ledgers_order(
    names, chosen
):
    order = [c.id for c in CLAIMS]
    assert [c.id for c in selected(CLAIMS, names)] == sorted(chosen, key=order.index)


@pytest.mark.parametrize(
    ("names", "target", "said"),
    [
        (["S-thm4.1"], "", "S-thm4.1; did you mean S-thm-4.1? to list all, run: {} ledger"),
        (["S-thm4.1"], "my.py", "S-thm-4.1? to list all, run: {} ledger --claims my.py"),
        (["S-thm4.1", "x"], "", "S-thm4.1, x; did you mean S-thm-4.1? to list all, run: {} ledger"),
        (["S-thm4", "S-thm-4.1", "x"], "", "called S-thm4, x; to list all, run: {} ledger"),
    ],
)
def test_unknown_names_are_answered_with_the_nearest_if_any_and_how_to_list_all(
    names, target, said
):
    with pytest.raises(ValueError, match="no statement is called S-thm4") as refused:
        selected(CLAIMS, names, target)
    assert str(refused.value).endswith(said.format("python -m verify"))


# What a folder of evidence says


def examined(folder, records, seed=0):
    """Add records to a folder, as a run of this seed does."""
    settings = replace(SETTINGS, seed=seed)
    writer = Writer(folder, replace(RUN, seed=seed), engine.todays(settings))
    for record in records:
        writer.add(record)
    writer.close()


def by_all(claim, notes):
    return [Record(*pair.name, notes=notes) for pair in engine.pairs([claim], engine.WITNESSES)]


def notes_of_autograd(folder):
    return {(r.claim, r.notes) for r in engine.known(folder).records if r.witness == "autograd"}


def test_a_half_examined_statement_says_nothing_yet(tmp_path):
    assert engine.wholly_examined(engine.CLAIMS, []) == set()
    examined(tmp_path, [*by_all(CLAIM, "whole"), *by_all(SECOND, "half")[:-1]])
    found = engine.known(tmp_path)
    assert {record.claim for record in found.records} == {CLAIM.id}
    assert (found.unfinished, found.outdated) == ((SECOND.id,), ())


def test_of_statements_that_are_asked_for_the_same_is_known_as_when_all_are(tmp_path):
    examined(tmp_path, [*by_all(CLAIM, "whole"), *by_all(SECOND, "half")[:-1]])
    assert engine.known(tmp_path, asked={CLAIM.id}) == replace(
        engine.known(tmp_path), unfinished=()
    )
    assert engine.known(tmp_path, asked={SECOND.id}).unfinished == (SECOND.id,)


def test_of_two_seeds_the_last_whole_one_is_heard_and_never_a_mixture(tmp_path):
    examined(tmp_path, [*by_all(CLAIM, "0"), *by_all(SECOND, "0")])
    examined(tmp_path, [*by_all(CLAIM, "1"), *by_all(SECOND, "1")[:-1]], seed=1)
    heard = {(CLAIM.id, "1"), (SECOND.id, "0")}
    assert notes_of_autograd(tmp_path) == heard
    found = engine.known(tmp_path)
    assert [found.run_of(claim.id).seed for claim in (CLAIM, SECOND)] == [1, 0]
    assert evidence.prune(tmp_path, engine.todays_of_run)[1] == 0
    assert notes_of_autograd(tmp_path) == heard


def test_what_changed_is_told_apart_from_what_is_unfinished(tmp_path):
    examined(tmp_path, by_all(CLAIM, "whole"))
    path = tmp_path / evidence.FILE
    path.write_text(path.read_text().replace('"fingerprint": "', '"fingerprint": "old', 1))
    assert engine.known(tmp_path).outdated == (CLAIM.id,)
    assert not any(record.claim == CLAIM.id for record in engine.known(tmp_path).records)
