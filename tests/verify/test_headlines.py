"""One line for each statement of a paper."""

from dataclasses import replace

import pytest

from theory.claim import Form, Reading, Verdict
from theory.language.expression import equal
from theory.santurkar2018 import theorem_4_1
from theory.statement import assume
from theory.unit import gamma, sigma
from verify.headlines import ERRATA, counted, headlines
from verify.ledger import Entry, entry
from verify.record import Record
from verify.results import EVERY_M, Counterexample, Proof
from verify.site.front_page import verdicts

THEOREM = theorem_4_1.PRINTED
ELSEWHERE = replace(
    THEOREM, id="X-one", result="X-one", title="Gradient norm", remark="A slip. It is small."
)
NEEDED = assume(equal(gamma, sigma), printed=False, words="gamma = sigma")
RIGHT = ELSEWHERE.corrected(hypotheses=(NEEDED,))
OF_TWO_NETWORKS = replace(ELSEWHERE, id="X-one/two-networks", form=Form.READING)
BOUNDARY = replace(ELSEWHERE, id="X-one/without", form=Form.BOUNDARY)
SHARED = ELSEWHERE.under(Reading.SHARED_EPSILON, Verdict.REFUTED)
PROVED, REFUTED = Verdict.PROVED, Verdict.REFUTED
IN_PART = "as it stands: proved, two-networks: refuted"


def lines(*found):
    return headlines([Entry(claim, (), verdict) for claim, verdict in found])


@pytest.mark.parametrize(
    ("verdict", "others", "said"),
    [
        (PROVED, [], ("proved", "", "")),
        (PROVED, [(SHARED, REFUTED), (RIGHT, PROVED), (BOUNDARY, REFUTED)], ("proved", "", "")),
        (PROVED, [(OF_TWO_NETWORKS, REFUTED)], (IN_PART, "A slip", "")),
        (REFUTED, [], ("refuted", "A slip", "")),
        (REFUTED, [(RIGHT, PROVED)], ("refuted", "needs gamma = sigma", "proved")),
    ],
)
def test_a_line_says_whether_the_text_holds_and_what_is_wrong(verdict, others, said):
    """Epsilon, corrections and boundaries count neither for the text nor against it."""
    (line,) = lines((ELSEWHERE, verdict), *others)
    assert line.title == "Gradient norm"
    assert (line.verdict, line.what_is_wrong, line.right) == said
    counts = {"proved": "1 hold as printed, 0 do not", "refuted": "0 hold as printed, 1 do not"}
    assert counts.get(line.verdict, "1 hold in part or by the reading") in counted([line])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([PROVED, PROVED], "2 hold as printed, 0"),
        ([PROVED, Verdict.SUPPORTED], "2 hold as printed (1 proved, 1 supported), 0"),
        ([Verdict.SUPPORTED], "1 hold as printed (0 proved, 1 supported), 0"),
    ],
)
def test_what_is_supported_is_not_counted_as_proved(found, said):
    others = [replace(ELSEWHERE, id=name, result=name) for name in ("X-one", "X-two")]
    assert said in counted(lines(*zip(others, found, strict=False)))


@pytest.mark.parametrize("verdict", [PROVED, REFUTED])
def test_while_a_reading_is_not_examined_a_statement_is_open(verdict):
    (line,) = lines((ELSEWHERE, verdict), (OF_TWO_NETWORKS, Verdict.NOT_RUN))
    assert "0 hold as printed, 0 do not, 0 hold in part" in counted([line])
    assert "1 is unreadable, undecided or not yet run" in counted([line])


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ([EVERY_M], "proved"),
        ([{}], "proved"),
        ([{"m": 2}], "proved at m = 2"),
        ([{"N": None, "n": 1}, {"N": None, "n": 2}], "proved at named sizes"),
    ],
)
def test_a_proof_that_does_not_speak_of_every_size_says_of_which(sizes, said):
    proof = Proof(tuple(sizes))
    of_elsewhere = entry(ELSEWHERE, [Record(ELSEWHERE.id, "symbolic", proof=proof)])
    falls = Entry(OF_TWO_NETWORKS, (), REFUTED)
    assert [line.verdict for line in headlines([of_elsewhere])] == [said]
    (line,) = headlines([of_elsewhere, falls])
    assert line.verdict == f"as it stands: {said}, two-networks: refuted"
    tag, _, at = verdicts(line).partition("<br>")[0].partition("</span> ")
    assert tag.endswith(">proved")
    assert ("proved at" in said) is at.startswith("<small>at ")
    counterexample = Counterexample({"m": 3}, {}, "1", "0")
    refuted = Record(ELSEWHERE.id, "exact", counterexample=counterexample)
    assert entry(ELSEWHERE, [*of_elsewhere.records, refuted]).named_sizes == ""


@pytest.mark.parametrize("reading", [Reading.SHARED_EPSILON, Reading.UNIT_VARIANCE])
@pytest.mark.parametrize(
    ("verdict", "said"), [(PROVED, "1 hold as printed, 0 do"), (REFUTED, "0 hold as printed, 1 do")]
)
def test_a_statement_that_its_author_reads_with_epsilon_counts(reading, verdict, said):
    chosen = replace(ELSEWHERE, reading=reading)
    assert said in counted(lines((chosen, verdict)))
    of_the_papers = THEOREM.under(reading, verdict)
    assert "0 hold as printed, 0 do" in counted(lines((of_the_papers, verdict)))


def test_a_statement_of_the_papers_has_its_root_causes_and_both_readings():
    right = next(c for c in theorem_4_1.CLAIMS if c.id == "S-eq-9")
    line, _ = lines((THEOREM, PROVED), (theorem_4_1.TWO_NETWORKS, REFUTED), (right, PROVED))
    assert line.verdict == "at the layer's output: proved, of two networks: refuted"
    assert "says nothing of two networks" in line.what_is_wrong
    assert line.right == "proved"
    (line,) = lines((THEOREM, PROVED))
    assert not line.errata  # which are named only where the evidence refutes


OPEN = "1 is unreadable, undecided or not yet run"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([PROVED, Verdict.UNREADABLE], "0 hold as printed, 0 do not, 1 hold in part"),
        ([REFUTED, Verdict.UNREADABLE], "0 hold as printed, 1 do not, 0 hold in part"),
        ([Verdict.UNREADABLE, Verdict.NOT_RUN], OPEN),
        ([Verdict.UNDECIDED], OPEN),
    ],
)
def test_a_statement_is_open_where_nothing_of_it_is_decided(found, said):
    claims = (ELSEWHERE, OF_TWO_NETWORKS)
    told = counted(lines(*zip(claims, found, strict=False)))
    assert said in told
    assert (OPEN in told) is (said == OPEN)


def test_a_statement_that_leaves_out_what_it_needs_holds_in_part():
    """As Theorem 3, of which another entry falls than the one that its line shows."""
    falls = next(e for erratum in ERRATA for e in erratum.entries if e.startswith("L-thm-3/"))
    shown = [replace(THEOREM, id=name, result="L-thm-3") for name in ("L-thm-3", falls)]
    (line,) = lines((shown[0], PROVED), (shown[1], REFUTED))
    assert line.verdict == "proved"
    assert line.what_is_wrong
    assert "0 hold as printed, 0 do not, 1 hold in part" in counted([line])


def test_theorems_come_before_remarks_and_proofs_and_papers_stay_apart():
    names = ["S-eq-4-9", "S-remark-growth", "X-one", "S-thm-4.4", "L-eq-28-32", "L-thm-1"]
    found = lines(*((replace(THEOREM, id=name, result=name), PROVED) for name in names))
    in_order = ["S-thm-4.4", "S-remark-growth", "S-eq-4-9", "L-thm-1", "L-eq-28-32", "X-one"]
    assert [line.name for line in found] == in_order
