"""One line for each statement of a paper."""

from dataclasses import replace

from theory.claim import Form, Reading, Verdict
from theory.language.expression import equal
from theory.santurkar2018 import theorem_4_1
from theory.statement import assume
from theory.unit import gamma, sigma
from verify.headlines import counted, headlines
from verify.ledger import Entry

ELSEWHERE = replace(theorem_4_1.PRINTED, id="X-one", row="X-one", title="Gradient norm")
WRONG = replace(ELSEWHERE, id="X-two", row="X-two", remark="A slip. It is small.")
NEEDED = assume(equal(gamma, sigma), printed=False, words="gamma = sigma")
THEOREM = theorem_4_1.PRINTED


def entry(claim, verdict):
    return Entry(claim, (), verdict)


def test_a_statement_that_holds_is_one_line():
    (found,) = headlines([entry(ELSEWHERE, Verdict.PROVED)])
    assert (found.title, found.verdict, found.what_is_wrong, found.right) == (
        "Gradient norm", "proved", "", "",
    )  # fmt: skip


def test_epsilon_and_corrections_are_no_lines_of_their_own():
    shared = ELSEWHERE.under(Reading.SHARED_EPSILON, Verdict.REFUTED)
    right = ELSEWHERE.corrected()
    entries = [entry(ELSEWHERE, Verdict.PROVED), entry(shared, Verdict.REFUTED)]
    (found,) = headlines([*entries, entry(right, Verdict.PROVED)])
    assert found.verdict == "proved"


def test_readings_of_words_are_named_where_they_differ():
    other = replace(ELSEWHERE, id="X-one/two-networks", form=Form.READING)
    (found,) = headlines([entry(ELSEWHERE, Verdict.PROVED), entry(other, Verdict.REFUTED)])
    assert found.verdict == "as it stands: proved, two-networks: refuted"


def test_what_is_wrong_is_the_hypothesis_that_the_text_leaves_out_or_the_remark():
    right = WRONG.corrected(hypotheses=(NEEDED,))
    (found,) = headlines([entry(WRONG, Verdict.REFUTED), entry(right, Verdict.PROVED)])
    assert (found.what_is_wrong, found.right) == ("needs gamma = sigma", "proved")
    (found,) = headlines([entry(WRONG, Verdict.REFUTED)])
    assert (found.what_is_wrong, found.right) == ("A slip", "")


def test_a_boundary_is_not_counted_against_the_paper():
    boundary = replace(ELSEWHERE, id="X-one/without", form=Form.BOUNDARY)
    found = headlines([entry(ELSEWHERE, Verdict.PROVED), entry(boundary, Verdict.REFUTED)])
    assert found[0].verdict == "proved"
    assert counted(found).startswith("1 statement of the papers: 1 hold as printed, 0 do not")


def test_a_statement_of_the_papers_has_its_root_causes_and_both_readings():
    other = theorem_4_1.TWO_NETWORKS
    right = next(c for c in theorem_4_1.CLAIMS if c.id == "S-eq-9")
    line, _ = headlines(
        [
            entry(THEOREM, Verdict.PROVED),
            entry(other, Verdict.REFUTED),
            entry(right, Verdict.PROVED),
        ]
    )
    assert line.verdict == "at the layer's output: proved, of two networks: refuted"
    assert "says nothing of two networks" in line.what_is_wrong
    assert line.right == "proved"


def test_a_root_cause_is_named_only_where_the_evidence_refutes():
    (line,) = headlines([entry(THEOREM, Verdict.PROVED)])
    assert not line.errata


def test_theorems_come_before_remarks_and_proofs_and_papers_stay_apart():
    names = ["S-eq-4-9", "S-remark-growth", "X-one", "S-thm-4.4", "L-eq-28-32", "L-thm-1"]
    entries = [entry(replace(THEOREM, id=n, row=n), Verdict.PROVED) for n in names]
    assert [h.name for h in headlines(entries)] == [
        "S-thm-4.4", "S-remark-growth", "S-eq-4-9", "L-thm-1", "L-eq-28-32", "X-one",
    ]  # fmt: skip
