"""The verdict is a function of what was found, and of nothing else."""

import json
from dataclasses import asdict, replace

import pytest

from theory.claim import Verdict
from theory.santurkar2018 import CLAIMS, theorem_4_1, theorem_4_2
from verify import ledger
from verify.evidence import Record
from verify.ledger import agrees, as_json, entry, judge
from verify.results import EVERY_M, Counterexample, Proof

CLAIM = theorem_4_1.PRINTED
UNREADABLE = replace(CLAIM, unreadable="a sign was lost")
PROOF = Record(CLAIM.id, "abstract", proof=Proof((EVERY_M,), "0"))
PROOF_AT_2 = Record(CLAIM.id, "symbolic", proof=Proof(({"m": 2},)))
PROOF_AT_2_AND_12 = replace(PROOF_AT_2, proof=Proof(({"m": 2}, {"m": 12})))
AT_2 = Counterexample({"m": 2}, {"y": ["0", "1"]}, "1", "0")
FAILS_AT_2 = Record(CLAIM.id, "exact", 60, violated=3, counterexample=AT_2)
FAILS_AT_3 = replace(FAILS_AT_2, counterexample=replace(AT_2, size={"m": 3}))
FAILS_AT_1 = replace(FAILS_AT_2, counterexample=replace(AT_2, size={"m": 1}))
STRATA = {f"m={m}": {"instances": 50, "holds": 50} for m in range(5)}
HOLDS = Record(
    CLAIM.id, "autograd", 213, undecided=5, vacuous=8, worst_ratio=0.75, seconds=2.0, strata=STRATA
)
VIOLATED = replace(HOLDS, violated=1, worst_ratio=1.25, worst_token="random:generic:0:3")
VACUOUS = Record(CLAIM.id, "autograd", 80, vacuous=80)
TOO_FEW = replace(HOLDS, instances=212)
"""One instance less than what supports a statement, and 199 of them decided."""
FOUR_STRATA = replace(HOLDS, strata=STRATA | {"m=4": {"instances": 50, "vacuous": 50}})
UNDECIDED = Record(CLAIM.id, "autograd", 80, undecided=72, vacuous=8)
SILENT = Record(CLAIM.id, "abstract", notes="no proof found; says nothing")


def of_layers(N, n=2):
    return {"N": N, "n": n, "p": 1}


EVERY_HEIGHT = Record(
    CLAIM.id, "abstract", proof=Proof(({"N": None, "n": 2, "p": 1}, {"N": None, "n": 3}))
)
OF_LAYERS = replace(EVERY_HEIGHT, proof=Proof((of_layers(2), of_layers(12))))


def failing_at(N, n=2):
    return replace(FAILS_AT_2, counterexample=replace(AT_2, size=of_layers(N, n)))


TABLE = {
    "every N, and a counterexample at N = 1": (
        [EVERY_HEIGHT, failing_at(1)],
        Verdict.UNDECIDED,
    ),
    "every N, and a counterexample at N = 12": (
        [EVERY_HEIGHT, failing_at(12)],
        Verdict.UNDECIDED,
    ),
    "every N of other widths": ([EVERY_HEIGHT, failing_at(1, 1)], Verdict.REFUTED),
    "a proof at N = 2 and 12, a counterexample at N = 1": (
        [OF_LAYERS, failing_at(1)],
        Verdict.REFUTED,
    ),
    "a proof at N = 2 and 12, a counterexample at N = 2": (
        [OF_LAYERS, failing_at(2)],
        Verdict.UNDECIDED,
    ),
    "nothing was run": ([], Verdict.NOT_RUN),
    "a proof": ([PROOF], Verdict.PROVED),
    "a proof of one size": ([PROOF_AT_2], Verdict.PROVED),
    "a proof, and it holds where measured": ([PROOF, HOLDS], Verdict.PROVED),
    "a counterexample": ([FAILS_AT_2], Verdict.REFUTED),
    "a counterexample, and it holds elsewhere": ([HOLDS, FAILS_AT_2], Verdict.REFUTED),
    "a counterexample, and floats agree": ([VIOLATED, FAILS_AT_2], Verdict.REFUTED),
    "a proof and a counterexample": ([PROOF, FAILS_AT_2], Verdict.UNDECIDED),
    "both at m = 2": ([PROOF_AT_2, FAILS_AT_2], Verdict.UNDECIDED),
    "a proof at m = 2, a counterexample at m = 3": ([PROOF_AT_2, FAILS_AT_3], Verdict.REFUTED),
    "a proof at m = 12, a counterexample at m = 1": (
        [PROOF_AT_2_AND_12, FAILS_AT_1],
        Verdict.REFUTED,
    ),
    "one of two counterexamples is covered": (
        [PROOF_AT_2, FAILS_AT_3, FAILS_AT_2],
        Verdict.UNDECIDED,
    ),
    "violated in floats only": ([VIOLATED], Verdict.UNDECIDED),
    "violated in floats, silent elsewhere": ([SILENT, VIOLATED], Verdict.UNDECIDED),
    "a proof, but violated in floats": ([PROOF, VIOLATED], Verdict.UNDECIDED),
    "it holds where measured": ([HOLDS], Verdict.SUPPORTED),
    "it holds where measured, at too few instances": ([TOO_FEW], Verdict.UNDECIDED),
    "it holds where measured, in too few strata": ([FOUR_STRATA], Verdict.UNDECIDED),
    "a proof, and it holds at too few instances": ([PROOF, TOO_FEW], Verdict.PROVED),
    "two witnesses together see enough": (
        [TOO_FEW, Record(CLAIM.id, "exact", 1)],
        Verdict.SUPPORTED,
    ),
    "it holds where it is not vacuous": ([HOLDS, VACUOUS, SILENT], Verdict.SUPPORTED),
    "vacuous": ([VACUOUS], Verdict.UNDECIDED),
    "vacuous or undecided": ([UNDECIDED], Verdict.UNDECIDED),
    "silence": ([SILENT], Verdict.UNDECIDED),
    "a proof of what is vacuous wherever measured": ([PROOF, VACUOUS], Verdict.UNDECIDED),
    "a proof of one size of what is vacuous": ([PROOF_AT_2, VACUOUS], Verdict.UNDECIDED),
}


@pytest.mark.parametrize("found", TABLE)
def test_the_verdict_follows_from_what_was_found(found):
    records, verdict = TABLE[found]
    assert judge(CLAIM, records) is verdict
    assert judge(CLAIM, records[::-1]) is verdict


@pytest.mark.parametrize("found", TABLE)
def test_an_unreadable_statement_is_not_judged(found):
    assert judge(UNREADABLE, TABLE[found][0]) is Verdict.UNREADABLE


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("found", TABLE)
def test_what_is_expected_changes_no_verdict(found, verdict):
    records, expected = TABLE[found]
    assert judge(replace(CLAIM, expected=verdict), records) is expected


ALL = {
    "proof": PROOF,
    "proof at m = 2": PROOF_AT_2,
    "counterexample": FAILS_AT_2,
    "violated": VIOLATED,
    "holds": HOLDS,
    "vacuous": VACUOUS,
    "silent": SILENT,
}


@pytest.mark.parametrize("verdict", [Verdict.PROVED, Verdict.SUPPORTED])
def test_a_violation_or_a_counterexample_speaks_against_a_statement(verdict):
    against = {name for name, found in ALL.items() if not agrees(verdict, found)}
    assert against == {"counterexample", "violated"}


def test_only_a_proof_for_every_m_speaks_against_a_refutation():
    against = {name for name, found in ALL.items() if not agrees(Verdict.REFUTED, found)}
    assert against == {"proof"}


@pytest.mark.parametrize(
    ("records", "scope"),
    [
        ([PROOF_AT_2, PROOF], "every m"),
        ([PROOF, PROOF_AT_2], "every m"),
        ([PROOF_AT_2_AND_12], "m = 2, 12"),
        ([FAILS_AT_3, PROOF_AT_2], "m = 3"),
        ([HOLDS], ""),
        ([PROOF, FAILS_AT_2], ""),
        ([], ""),
    ],
)
def test_the_scope_is_the_widest_proof_or_the_counterexample(records, scope):
    assert entry(CLAIM, records).scope == scope


def test_an_entry_adds_its_witnesses_up():
    found = entry(CLAIM, [VIOLATED, FAILS_AT_2, PROOF_AT_2])
    assert [record.witness for record in found.records] == ["autograd", "exact", "symbolic"]
    assert found.instances == 213 - 5 - 8 + 60
    assert found.worst_ratio == 1.25
    assert found.seconds == 2.0
    assert found.counterexample == AT_2


def test_a_statement_that_was_not_run_is_not_unexpected():
    found = entry(CLAIM, [])
    assert not found.is_as_expected
    assert not found.is_unexpected
    assert found.worst_ratio is None
    assert found.proof is None
    assert found.counterexample is None


def test_another_verdict_than_the_expected_one_is_unexpected():
    assert entry(CLAIM, [FAILS_AT_2]).is_unexpected
    assert not entry(CLAIM, [PROOF]).is_unexpected


def test_the_ledger_has_every_claim_once_in_order_and_no_stray_record():
    entries = ledger.ledger(CLAIMS, [PROOF, Record("S-no-such-claim", "exact", 1), HOLDS])
    assert [e.claim for e in entries] == CLAIMS
    assert entries[0].records == (PROOF, HOLDS)
    assert not any(e.records for e in entries[1:])


KEYS = {
    *("id", "paper", "location", "form", "of", "statement", "hypotheses", "relation"),
    *("expected", "verdict", "scope", "witnesses", "counterexample"),
}


def test_every_claim_can_be_printed_for_a_program():
    for claim in CLAIMS:
        shown = as_json(entry(claim, []))
        assert shown.keys() >= KEYS
        assert json.loads(json.dumps(shown, allow_nan=False)) == shown


def test_an_entry_for_a_program_says_what_was_found():
    shown = as_json(entry(CLAIM, [PROOF, VIOLATED]))
    assert (shown["id"], shown["paper"], shown["of"]) == ("S-thm-4.1", "S-final", None)
    assert shown["location"] == "S-final, Sect. 4.2, Theorem 4.1 (line 169)"
    assert (shown["form"], shown["relation"]) == ("printed", "<=")
    assert (shown["expected"], shown["verdict"], shown["scope"]) == ("proved", "undecided", "")
    assert shown["proof"] == asdict(PROOF.proof)
    autograd = shown["witnesses"]["autograd"]
    assert (autograd["instances"], autograd["vacuous"], autograd["violated"]) == (213, 8, 1)
    assert (autograd["worst_ratio"], autograd["worst_token"]) == (1.25, "random:generic:0:3")
    assert not autograd["passed"]
    assert shown["witnesses"]["abstract"]["passed"]


def test_a_correction_names_what_it_corrects_and_the_hypotheses_that_the_text_leaves_out():
    claim = next(c for c in CLAIMS if c.id == "S-thm-4.2-discussion/descent/corrected")
    shown = as_json(entry(claim, [replace(FAILS_AT_2, claim=claim.id)]))
    assert (shown["form"], shown["of"]) == ("corrected", theorem_4_2.DESCENT.id)
    assert shown["hypotheses"] == [
        {"statement": r"\gamma > 0", "printed": False},
        {"statement": theorem_4_2.TOWARDS_BETA.statement, "printed": False},
    ]
    assert shown["counterexample"] == asdict(AT_2)


def test_the_counterexample_for_a_reader_has_the_smallest_integers():
    long = Counterexample({"m": 2}, {"y": ["-23/16", "1"]}, "1", "0")
    short = Counterexample({"m": 3}, {"y": ["-1", "0", "1"]}, "1234/5", "0")
    records = [
        Record("x", witness, violated=1, counterexample=found)
        for witness, found in (("ascent", long), ("exact", short))
    ]
    assert entry(CLAIM, records).counterexample == short
