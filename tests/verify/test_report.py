"""The table for a terminal, its last line, and what is marked in both."""

import io
from dataclasses import replace

from rich.console import Console

from theory.claim import Verdict
from theory.santurkar2018 import theorem_4_1
from verify import report
from verify.evidence import Record
from verify.ledger import ledger
from verify.results import EVERY_M, Counterexample, Proof

CLAIM = replace(theorem_4_1.PRINTED, id="S-one")
FAILING = replace(CLAIM, id="S-two", expected=Verdict.REFUTED)
UNREADABLE = replace(CLAIM, id="S-three", unreadable="lost", expected=Verdict.UNREADABLE)
AT_2 = Counterexample({"m": 2}, {"y": ["0", "1"]}, "1", "0")
PROOF = Record(CLAIM.id, "abstract", proof=Proof((EVERY_M,)), seconds=0.25)
STRATA = {f"m={m}": {"instances": 2469, "holds": 2469} for m in range(5)}
HOLDS = Record(CLAIM.id, "autograd", 12_345, worst_ratio=0.123456789, seconds=1.0, strata=STRATA)
VACUOUS = Record(CLAIM.id, "trained", 9, vacuous=9)
FAILS = Record(FAILING.id, "exact", 3, violated=1, counterexample=AT_2)


def printed(*records, claims=(CLAIM, FAILING, UNREADABLE)):
    stream = io.StringIO()
    report.show(ledger(claims, records), Console(file=stream, width=180), every=True)
    return stream.getvalue().splitlines()


def row(lines, name):
    (found,) = (line for line in lines if line.strip().startswith(f"{name} "))
    return [cell.strip() for cell in found.split("   ") if cell.strip()]


def test_a_row_says_what_was_found_where_and_by_whom():
    lines = printed(PROOF, HOLDS, VACUOUS, FAILS)
    assert row(lines, "S-one") == [
        "S-one",
        "Sect. 4.2, Theorem 4.1",
        "proved",
        "every m (abstract)",
        "abstract, autograd",
        "12,345",
        "0.123457",
        "1.2",
    ]
    counts = "with readings, corrections and proofs 3: 1 proved, 1 refuted, 1 unreadable"
    assert counts in lines
    assert not any("expected" in line or "['0', '1']" in line for line in lines)


def test_what_was_not_run_has_no_numbers():
    lines = printed()
    assert row(lines, "S-one") == ["S-one", "Sect. 4.2, Theorem 4.1", "not yet run"]
    assert lines[-1].endswith(" 3: 1 unreadable, 2 not yet run")
    assert printed(claims=[])[-1].strip() == "with readings, corrections and proofs 0:"


def test_what_is_not_as_expected_is_marked_with_its_counterexample():
    lines = printed(replace(FAILS, claim=CLAIM.id), replace(HOLDS, claim=FAILING.id))
    assert "refuted (expected proved)" in row(lines, "S-one")
    assert "supported (expected refuted)" in row(lines, "S-two")
    assert "S-one: m = 2; y = (0, 1); actual = 1; claimed = 0" in lines
    assert lines[-1].endswith("1 unreadable; not as expected: S-one, S-two")


def test_every_verdict_has_a_colour():
    assert report.COLOURS.keys() == set(Verdict)


def test_what_is_too_little_to_support_a_statement_and_who_decided_nothing_is_said():
    lines = printed(replace(HOLDS, instances=7, strata={}), VACUOUS, FAILS)
    assert "S-one: 7 instances decided, in 0 strata: 200 in 5 support a statement" in lines
    assert "1 looked at instances that decide nothing: S-one (trained)" in lines
