"""The verdict is a function of what was found, and of nothing else; the table says both."""

import io
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from rich.console import Console

from theory.claim import Form, Reading, Verdict
from theory.language.latex import latex
from theory.santurkar2018 import CLAIMS, theorem_4_1, theorem_4_2
from theory.statement import assume
from theory.unit import gamma
from verify import engine, ledger, report
from verify.ledger import agrees, as_json, entry, judge
from verify.record import Record
from verify.results import EVERY_M, Counterexample, Proof, Theorem
from verify.settings import FLOOR, FLOOR_OF_EXPECTATIONS
from verify.show import shown_entry
from verify.site.sources import of_papers
from verify.site.statement_page import in_words

CLAIM = theorem_4_1.PRINTED
UNREADABLE = replace(CLAIM, unreadable="a sign was lost")
STRATA = {f"m={m}": {"instances": 50, "holds": 50} for m in range(5)}


def found(witness="autograd", *counts, **fields):
    return Record(CLAIM.id, witness, *counts, **fields)


def proof(*sizes):
    return found("abstract", proof=Proof(sizes))


def failing(**size):
    example = Counterexample(size, {"y": ["0", "1"]}, "1", "0")
    return found("exact", 60, violated=3, counterexample=example)


HOLDS = found("autograd", 213, undecided=5, vacuous=8, worst_ratio=0.75, seconds=2.0, strata=STRATA)
VIOLATED = replace(HOLDS, violated=1, worst_ratio=1.25, worst_token="random:generic:0:3")
VACUOUS = found("autograd", 80, vacuous=80)
UNDECIDED = found("autograd", 80, undecided=72, vacuous=8)
TOO_FEW = replace(HOLDS, instances=212)
"""One instance less than what supports a statement, and 199 of them decided."""
FOUR_STRATA = replace(HOLDS, strata=STRATA | {"m=4": {"instances": 50, "vacuous": 50}})
SILENT = found("abstract", unproved="a term is not seen to be positive")
PROOF, PROOF_AT_2 = proof(EVERY_M), proof({"m": 2})
PROOF_AT_2_AND_12 = proof({"m": 2}, {"m": 12})
EVERY_HEIGHT = proof({"N": None, "n": 2, "p": 1}, {"N": None, "n": 3})
TABLE = {
    "nothing was run": ([], "not yet run"),
    "a proof of one size": ([PROOF_AT_2], "proved"),
    "a proof, and it holds at too few instances": ([PROOF, TOO_FEW], "proved"),
    "a proof, but violated in floats": ([PROOF, VIOLATED], "undecided"),
    "a proof of what is vacuous wherever measured": ([PROOF, VACUOUS], "undecided"),
    "a proof of what is vacuous, or undecided": ([PROOF, VACUOUS, UNDECIDED], "undecided"),
    "a counterexample, and it holds elsewhere": ([HOLDS, failing(m=2)], "refuted"),
    "a counterexample, and floats agree": ([VIOLATED, failing(m=2)], "refuted"),
    "a proof of every m, and a counterexample": ([PROOF, failing(m=2)], "undecided"),
    "both at m = 2": ([PROOF_AT_2, failing(m=2)], "undecided"),
    "a proof at m = 2 and 12, not at m = 1": ([PROOF_AT_2_AND_12, failing(m=1)], "refuted"),
    "one of two counterexamples is covered": (
        [PROOF_AT_2, failing(m=3), failing(m=2)],
        "undecided",
    ),
    "every N, also N = 12": ([EVERY_HEIGHT, failing(N=12, n=2, p=1)], "undecided"),
    "every N of other widths": ([EVERY_HEIGHT, failing(N=1, n=1, p=1)], "refuted"),
    "violated in floats, silent elsewhere": ([SILENT, VIOLATED], "undecided"),
    "it holds where it is not vacuous": ([HOLDS, VACUOUS, SILENT], "supported"),
    "it holds at too few instances": ([TOO_FEW], "undecided"),
    "it holds in too few strata": ([FOUR_STRATA], "undecided"),
    "two witnesses together see enough": ([TOO_FEW, found("exact", 1)], "supported"),
    "vacuous or undecided": ([UNDECIDED], "undecided"),
    "silence": ([SILENT], "undecided"),
}


@pytest.mark.parametrize("case", TABLE)
def test_the_verdict_follows_from_what_was_found_and_from_nothing_that_is_expected(case):
    records, verdict = TABLE[case]
    assert judge(UNREADABLE, records) is Verdict.UNREADABLE
    for expected in Verdict:
        assert judge(replace(CLAIM, expected=expected), records) == verdict
        assert judge(replace(CLAIM, expected=expected), records[::-1]) == verdict


DENIED = Record(
    CLAIM.id, "kernel", theorem=Theorem("it_fails", "x.v", "~ it", (), "8.16.1", "", refutes=True)
)
NOTHING_SAID = "none of 80 instances is one of which it says something"
DECIDED_NOWHERE = "of 160 instances it says nothing of 88, and none is decided"
AUTOGRAD = "violated in floating point (autograd: 1 of 200, as at random:generic:0:3)"


@pytest.mark.parametrize(
    ("records", "said"),
    [
        ([SILENT, VIOLATED], f"{AUTOGRAD}, by no exact numbers"),
        ([PROOF, VIOLATED], f"proved (abstract), but {AUTOGRAD}"),
        ([PROOF, failing(m=2)], "proved (abstract), but there is a counterexample (exact)"),
        ([PROOF, VACUOUS], f"proved (abstract), but {NOTHING_SAID}"),
        ([PROOF, VACUOUS, UNDECIDED], f"proved (abstract), but {DECIDED_NOWHERE}"),
        ([PROOF, VACUOUS, UNDECIDED, HOLDS], ""),
        ([VACUOUS, SILENT], NOTHING_SAID),
        ([UNDECIDED], "no instance decides it; is a side of it a number anywhere?"),
        ([PROOF], ""),
        ([VIOLATED, failing(m=2)], ""),
        ([PROOF, DENIED], "proved (abstract), but Coq's kernel refutes it (it_fails)"),
        ([HOLDS, DENIED], "no counterexample is found, but Coq's kernel refutes it (it_fails)"),
        ([failing(m=2), DENIED], ""),
    ],
)
def test_what_is_undecided_says_why(records, said):
    undecided = entry(CLAIM, records)
    assert undecided.lacks == as_json(undecided)["lacks"] == said
    assert (said in shown_entry(undecided), said in in_words(undecided)) == (True, True)


def test_where_no_instance_meets_the_hypotheses_that_is_said():
    assuming = replace(CLAIM, hypotheses=(assume(gamma > 0),))
    assert entry(assuming, [VACUOUS]).lacks == "none of 80 instances meets the hypotheses"


def test_what_speaks_against_a_verdict():
    counterexample = failing(m=2)
    every = (PROOF, PROOF_AT_2, counterexample, VIOLATED, HOLDS, VACUOUS, SILENT)
    against = {verdict: [r for r in every if not agrees(verdict, r)] for verdict in Verdict}
    assert against[Verdict.PROVED] == against[Verdict.SUPPORTED] == [counterexample, VIOLATED]
    assert against[Verdict.REFUTED] == [PROOF]


def test_the_scope_is_the_widest_proof_or_the_counterexample():
    for records, scope in (
        ([PROOF_AT_2, PROOF], "every m"),
        ([PROOF_AT_2_AND_12], "m = 2, 12"),
        ([failing(m=3), PROOF_AT_2], "m = 3"),
        ([PROOF, failing(m=2)], ""),
    ):
        assert entry(CLAIM, records).scope == scope


def test_sizes_that_a_statement_does_not_tell_apart_are_told_once():
    claim = next(c for c in engine.CLAIMS if c.id == "L-LN-GN/gradient-every-group")
    proof = Proof(tuple({"N": 2, "n": n, "p": 1} for n in (1, 2)))
    assert entry(claim, [Record(claim.id, "symbolic", proof=proof)]).sizes == ({"N": 1, "n": 2},)


def test_what_was_run_and_has_another_verdict_than_the_expected_one_is_unexpected():
    assert entry(CLAIM, [failing(m=2)]).is_unexpected
    assert not entry(CLAIM, [PROOF]).is_unexpected
    nothing = entry(CLAIM, [])
    assert not nothing.is_as_expected
    assert not nothing.is_unexpected
    assert (nothing.worst_ratio, nothing.proof, nothing.counterexample) == (None, None, None)


def test_the_ledger_has_every_claim_once_in_order_and_no_stray_record():
    entries = ledger.ledger(CLAIMS, [PROOF, Record("S-no-such-claim", "exact", 1), HOLDS])
    assert [e.claim for e in entries] == CLAIMS
    assert entries[0].records == (PROOF, HOLDS)
    assert not any(e.records for e in entries[1:])
    for shown in map(as_json, entries[1::20]):
        assert json.loads(json.dumps(shown, allow_nan=False)) == shown


def test_an_entry_for_a_program_says_what_was_found_and_what_it_corrects():
    claim = next(c for c in CLAIMS if c.id == "S-thm-4.2-discussion/descent/corrected")
    shown = as_json(entry(claim, [failing(m=2), PROOF, VIOLATED]))
    assert (shown["id"], shown["paper"]) == (claim.id, "S-final")
    assert shown["location"].startswith("S-final, Sect. 4.2")
    assert (shown["form"], shown["amends"]) == ("corrected", theorem_4_2.DESCENT.id)
    assert shown["hypotheses"] == [
        {"statement": r"\gamma > 0", "checked": r"\gamma > 0", "printed": False},
        {
            "statement": theorem_4_2.TOWARDS_BETA.statement,
            "checked": latex(theorem_4_2.TOWARDS_BETA.says),
            "printed": False,
        },
    ]
    assert (shown["statement"], shown["relation"]) == (claim.statement, claim.relation)
    assert (shown["expected"], shown["verdict"], shown["scope"]) == ("proved", "undecided", "")
    assert shown["proof"] == asdict(PROOF.proof)
    assert shown["counterexample"] == asdict(failing(m=2).counterexample)
    assert [*shown["witnesses"]] == ["abstract", "autograd", "exact"]
    autograd = shown["witnesses"]["autograd"]
    assert (autograd["instances"], autograd["vacuous"], autograd["violated"]) == (213, 8, 1)
    assert (autograd["worst_ratio"], autograd["worst_token"]) == (1.25, "random:generic:0:3")
    assert not autograd["passed"]
    assert shown["witnesses"]["abstract"]["passed"]


def test_the_counterexample_for_a_reader_has_the_smallest_integers():
    long = Counterexample({"m": 2}, {"y": ["-23/16", "1"]}, "1", "0")
    short = Counterexample({"m": 3}, {"y": ["-1", "0", "1"]}, "1234/5", "0")
    records = [found(violated=1, counterexample=example) for example in (long, short)]
    assert entry(CLAIM, records).counterexample == short


def test_a_counterexample_in_which_nothing_varies_comes_after_others():
    constant = Counterexample({"m": 2}, {"y": ["0", "0"]}, "1", "0")
    varied = Counterexample({"m": 3}, {"y": ["-17", "0", "1"]}, "1", "0")
    records = [found(violated=1, counterexample=example) for example in (constant, varied)]
    assert entry(CLAIM, records).counterexample == varied
    assert entry(CLAIM, records[:1]).counterexample == constant


def test_each_statement_of_the_papers_stands_in_one_file_of_theirs():
    assert sorted(claim.id for _, claim in of_papers()) == sorted(c.id for c in engine.CLAIMS)


# ---- the table for a terminal ----

ONE = replace(CLAIM, id="S-one")
TWO = replace(CLAIM, id="S-two", expected=Verdict.REFUTED)
LOST = replace(UNREADABLE, id="S-three", expected=Verdict.UNREADABLE)
HOLDS_OFTEN = replace(HOLDS, claim="S-one", instances=12_358, worst_ratio=0.123456789, seconds=1.0)
VACUOUS_WHERE_TRAINED = replace(VACUOUS, claim="S-one", witness="trained")


def printed(*records, claims=(ONE, TWO, LOST), width=180):
    stream = io.StringIO()
    console = Console(file=stream, width=width)
    report.show(ledger.ledger(claims, records), console, every=True)
    return stream.getvalue().splitlines()


def row(lines, name):
    (found,) = (line for line in lines if line.strip().startswith(f"{name} "))
    return [cell.strip() for cell in found.split("   ") if cell.strip()]


def test_a_row_says_what_was_found_where_and_by_whom():
    proved = replace(PROOF, claim="S-one", instances=5, seconds=0.25)
    fails = replace(failing(m=2), claim="S-two")
    lines = printed(proved, HOLDS_OFTEN, VACUOUS_WHERE_TRAINED, fails)
    assert row(lines, "S-one") == [
        *("S-one", "Sect. 4.2, Theorem 4.1", "proved", "every m (abstract)"),
        *("abstract, autograd", "12,350", "0.123457", "1.2"),
    ]
    assert "with readings, corrections and proofs 3: 1 proved, 1 refuted, 1 unreadable" in lines
    assert "1 looked at instances that decide nothing: S-one (trained)" in lines
    assert not any("expected" in line or "['0', '1']" in line for line in lines)


def test_what_was_not_run_has_no_numbers():
    lines = printed()
    assert row(lines, "S-one") == ["S-one", "Sect. 4.2, Theorem 4.1", "not yet run"]
    assert lines[-1].endswith(" 3: 1 unreadable, 2 not yet run")
    assert printed(claims=[])[-1].strip() == "with readings, corrections and proofs 0:"


def test_what_is_not_as_expected_or_too_little_is_marked():
    holds = replace(HOLDS, claim="S-two")
    lines = printed(replace(failing(m=2), claim="S-one"), holds)
    assert "refuted (expected proved)" in row(lines, "S-one")
    assert "supported (expected refuted)" in row(lines, "S-two")
    assert "S-one: m = 2; y = (0, 1); actual = 1; claimed = 0" in lines
    assert lines[-1].endswith("1 unreadable; not as expected: S-one, S-two")
    too_little = "S-two: 7 instances decided, in 0 strata: 200 in 5 support a statement"
    told = [line for line in printed(replace(holds, instances=20, strata={})) if too_little in line]
    assert told == [f"{too_little}; --profile deep looks at more"]


def test_what_else_may_refute_a_statement_is_told_where_nothing_did():
    hinted = replace(TWO, attack=(lambda case: case,))
    holds = replace(HOLDS, claim="S-two")
    noted = replace(found("exact", 60), claim="S-two", notes="no instance of attack= is decided")
    harder = "S-two: --profile deep looks harder, and attack= leads to numbers that you know"
    assert harder in printed(holds)
    nothing = "S-two: nothing that attack= makes violates it; --profile deep looks harder"
    assert nothing in printed(holds, claims=[hinted])
    undecided = "S-two: no instance of attack= is decided; --profile deep looks harder"
    assert undecided in printed(holds, noted, claims=[hinted])
    assert not any("--profile" in line for line in printed(replace(HOLDS, claim="S-one")))


@pytest.mark.parametrize(
    ("width", "ending"), [(80, ""), *((n, "-by-parameters/o") for n in (110, 120, 159, 160, 200))]
)
def test_no_terminal_cuts_an_identifier(width, ending):
    claim = replace(ONE, id=f"S-remark-growth/last-term/curvature{ending}")
    sizes = dict.fromkeys(("N", "c", "r", "s", "d", "k"), 3)
    proved = Record(claim.id, "symbolic", 12, proof=Proof((sizes,)), worst_ratio=0.123456789)
    lines = printed(proved, claims=[claim], width=width)
    assert {claim.id, "proved"} <= {*row(lines, claim.id)}
    assert any("N = 3" in line for line in lines)
    assert max(map(len, lines)) <= width


def test_a_terminal_shows_formulas_in_its_own_characters():
    shown = report.in_characters(
        r"$\alpha_{ij} = \langle x_i,\hat y_j\rangle$, $h^\top h \ge \sqrt m$"
    )
    assert shown == "α_ij = ⟨x_i,ŷ_j⟩, hᵀ h ≥ √m"


def test_a_narrow_terminal_shows_a_place_below_its_statement():
    lines = {}
    for width in (80, 120):
        console = Console(file=io.StringIO(), width=width)
        report.show(ledger.ledger([ONE], []), console)
        lines[width] = console.file.getvalue().splitlines()
        assert max(map(len, lines[width])) <= width
    assert ["where" in lines[width][1] + lines[width][2] for width in lines] == [False, True]
    assert any("Sect. 4.2" in line for line in lines[80])


def test_a_statement_is_supported_by_as_much_as_the_guide_says():
    path = Path(report.__file__).parents[1] / "docs" / "guides" / "verdicts.md"
    guide = " ".join(path.read_text(encoding="utf-8").split())
    assert FLOOR.strata == FLOOR_OF_EXPECTATIONS.strata == 5
    assert f"at least {FLOOR.instances} decided instances of at least five kinds" in guide
    assert f"at least {FLOOR_OF_EXPECTATIONS.instances} instances, each a distribution" in guide
    assert "from at least five distributions" in guide


def test_that_the_text_has_no_epsilon_is_said():
    varied = CLAIM.under(Reading.SHARED_EPSILON, Verdict.PROVED)
    said = ", for a layer with an epsilon, which the text does not have"
    assert said in shown_entry(entry(varied, [])).replace("\n      ", " ")
    printed = replace(varied, form=Form.PRINTED)
    assert "which is\n  as printed\n" in shown_entry(entry(printed, []))


@pytest.mark.parametrize(
    ("records", "is_said"),
    [([HOLDS, SILENT], True), ([SILENT], True), ([HOLDS, SILENT, failing(m=2)], False),
     ([replace(PROOF, witness="polynomial"), HOLDS, SILENT], False),
     ([HOLDS, DENIED, SILENT], False)],
)  # fmt: skip
def test_why_nothing_is_proved_is_said_where_nothing_is_certain(records, is_said):
    said = "no proof (abstract): a term is not seen to be positive"
    assert (said in shown_entry(entry(CLAIM, records))) is is_said


def test_one_reason_of_two_searches_is_said_once():
    both = entry(CLAIM, [HOLDS, SILENT, replace(SILENT, witness="symbolic")])
    assert both.unproved == ["no proof (abstract, symbolic): a term is not seen to be positive"]


def test_a_check_says_why_nothing_is_proved_of_what_should_be():
    said = f"{CLAIM.id}: no proof (abstract): a term is not seen to be positive"
    as_expected = replace(CLAIM, expected=Verdict.SUPPORTED)
    assert said in printed(HOLDS, SILENT, claims=(CLAIM,))
    assert said not in printed(HOLDS, SILENT, claims=(as_expected,))


def test_why_a_formula_is_unreadable_is_said():
    assert "because\n  a sign was lost" in shown_entry(entry(UNREADABLE, []))


@pytest.mark.parametrize(
    ("letters", "said"),
    [
        ({}, "a counterexample with N = 4, n = 3"),
        ({"N": 2}, "a counterexample with N = 2, n = 3"),
        ({"H": "((1))", "W": "((2))"}, "a counterexample"),
    ],
)
def test_sizes_are_those_that_the_displayed_letters_have(letters, said):
    record = failing(N=4, n=3)
    told = replace(record, counterexample=replace(record.counterexample, letters=letters))
    assert f"refuted, by {said} (expected: proved)" in shown_entry(entry(CLAIM, [told]))
