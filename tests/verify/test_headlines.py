"""One line for each statement of a paper."""

from dataclasses import replace

from theory.claim import Form, Reading, Verdict
from theory.language.expression import equal
from theory.santurkar2018 import theorem_4_1
from theory.statement import assume
from theory.unit import gamma, sigma
from verify.engine import PAPERS
from verify.headlines import counted, headlines
from verify.ledger import Entry

PRINTED = replace(theorem_4_1.PRINTED, title="Gradient norm")
WRONG = replace(PRINTED, id="S-two", row="S-two", remark="A slip. It is small.")
NEEDED = assume(equal(gamma, sigma), printed=False, words="gamma = sigma")


def entry(claim, verdict):
    return Entry(claim, (), verdict, "")


def test_a_statement_that_holds_is_one_line():
    (found,) = headlines([entry(PRINTED, Verdict.PROVED)])
    assert (found.title, found.verdict, found.what_is_wrong, found.right) == (
        "Gradient norm", "proved", "", "",
    )  # fmt: skip


def test_epsilon_and_corrections_are_no_lines_of_their_own():
    shared = PRINTED.under(Reading.SHARED_EPSILON, Verdict.REFUTED)
    right = PRINTED.corrected()
    entries = [entry(PRINTED, Verdict.PROVED), entry(shared, Verdict.REFUTED)]
    (found,) = headlines([*entries, entry(right, Verdict.PROVED)])
    assert found.verdict == "proved"


def test_readings_of_words_are_named_where_they_differ():
    other = replace(PRINTED, id="S-thm-4.1/two-networks", form=Form.READING)
    (found,) = headlines([entry(PRINTED, Verdict.PROVED), entry(other, Verdict.REFUTED)])
    assert found.verdict == "as it stands: proved, two-networks: refuted"


def test_what_is_wrong_is_the_hypothesis_that_the_text_leaves_out_or_the_remark():
    right = WRONG.corrected(hypotheses=(NEEDED,), remark="")
    (found,) = headlines([entry(WRONG, Verdict.REFUTED), entry(right, Verdict.PROVED)])
    assert (found.what_is_wrong, found.right) == ("needs gamma = sigma", "proved")
    (found,) = headlines([entry(WRONG, Verdict.REFUTED)])
    assert (found.what_is_wrong, found.right) == ("A slip", "")


def test_a_boundary_is_not_counted_against_the_paper():
    boundary = replace(PRINTED, id="S-thm-4.1/without", form=Form.BOUNDARY)
    found = headlines([entry(PRINTED, Verdict.PROVED), entry(boundary, Verdict.REFUTED)])
    assert found[0].verdict == "proved"
    assert counted(found).startswith("1 statements of the papers: 1 hold as printed, 0 do not")


def test_theorems_come_before_remarks_and_proofs_and_papers_stay_apart():
    names = ["S-eq-4-9", "S-remark-growth", "S-thm-4.4", "L-eq-15", "L-thm-1"]
    papers = {paper.key: paper for paper in PAPERS}
    entries = [
        entry(replace(PRINTED, id=n, row=n, locations=(papers[n[0]].at("here"),)), Verdict.PROVED)
        for n in names
    ]
    assert [h.name for h in headlines(entries)] == [
        "S-thm-4.4", "S-remark-growth", "S-eq-4-9", "L-thm-1", "L-eq-15",
    ]  # fmt: skip
