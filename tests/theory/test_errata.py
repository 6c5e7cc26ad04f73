"""The tables of root causes and of the papers' statements, against the statements."""

from dataclasses import replace

import pytest

from theory import erratum, summary
from theory.lange2022 import CLAIMS as LANGE
from theory.lange2022.errata import ERRATA as LANGE_ERRATA
from theory.lange2022.summary import LINES as LANGE_LINES
from theory.santurkar2018 import CLAIMS as SANTURKAR
from theory.santurkar2018.errata import ERRATA as SANTURKAR_ERRATA
from theory.santurkar2018.summary import LINES as SANTURKAR_LINES
from theory.statement import Form

PAPERS = {
    "S": (SANTURKAR, SANTURKAR_ERRATA, SANTURKAR_LINES),
    "L": (LANGE, LANGE_ERRATA, LANGE_LINES),
}


@pytest.mark.parametrize("paper", PAPERS)
def test_each_refuted_statement_of_a_text_has_one_root_cause_and_each_a_right_statement(paper):
    claims, errata, _ = PAPERS[paper]
    assert not list(erratum.complaints(errata, claims))


@pytest.mark.parametrize("paper", PAPERS)
def test_each_statement_has_one_line(paper):
    claims, _, lines = PAPERS[paper]
    assert not list(summary.complaints(lines, claims))


def test_what_a_text_does_not_claim_is_no_erratum():
    named = {name for _, errata, _ in PAPERS.values() for e in errata for name in e.entries}
    aside = [c.id for claims, _, _ in PAPERS.values() for c in claims if c.form is Form.BOUNDARY]
    assert not named.intersection(aside)


def test_a_root_cause_left_out_is_noticed():
    found = list(erratum.complaints(LANGE_ERRATA[1:], LANGE))
    assert any("has no root cause" in complaint for complaint in found)


def test_a_root_cause_of_what_holds_is_noticed():
    wrong = replace(LANGE_ERRATA[0], name="wrong", entries=("L-prop-9",))
    found = list(erratum.complaints([*LANGE_ERRATA, wrong], LANGE))
    assert found == ["L-prop-9: is not expected to be refuted as the text has it"]


def test_a_right_statement_that_falls_is_noticed():
    wrong = [replace(LANGE_ERRATA[0], right=("L-prop-10",)), *LANGE_ERRATA[1:]]
    assert [c for c in erratum.complaints(wrong, LANGE) if "not expected to hold" in c]


def test_a_line_that_shows_another_statement_is_noticed():
    wrong = replace(LANGE_LINES[0], parts={"": "L-prop-9"})
    found = list(summary.complaints([wrong, *LANGE_LINES[1:]], LANGE))
    assert found == ["L-thm-1: shows L-prop-9, which is none of its entries"]
