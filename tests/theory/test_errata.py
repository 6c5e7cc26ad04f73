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
def test_each_error_has_one_root_cause_with_a_right_statement_and_each_statement_one_line(paper):
    claims, errata, lines = PAPERS[paper]
    assert not list(erratum.complaints(errata, claims))
    assert not list(summary.complaints(lines, claims))
    named = {name for each in errata for name in each.entries}
    assert not named & {c.id for c in claims if c.form is Form.BOUNDARY}  # not claimed by the text


FIRST, *REST = LANGE_ERRATA


@pytest.mark.parametrize(
    ("errata", "complaint"),
    [
        (REST, "has no root cause"),
        ([*LANGE_ERRATA, replace(FIRST, name="twice")], "has 2 root causes"),
        ([*LANGE_ERRATA, replace(FIRST, entries=())], "2 root causes have this name"),
        ([replace(FIRST, right=("L-prop-10",)), *REST], "L-prop-10, is not expected to hold"),
        (
            [*LANGE_ERRATA, replace(FIRST, name="wrong", entries=("L-prop-9",))],
            "L-prop-9: is not expected to be refuted as the text has it",
        ),
    ],
)
def test_a_wrong_root_cause_is_noticed(errata, complaint):
    found = list(erratum.complaints(errata, LANGE))
    assert found
    assert all(complaint in each for each in found)


LINE, *LINES = LANGE_LINES
ASTRAY = replace(LINE, parts={"": "L-prop-9"})


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (LINES, "L-thm-1: has no line"),
        ([LINE, *LANGE_LINES], "L-thm-1: 2 lines; keep one"),
        ([ASTRAY, *LINES], "L-thm-1: shows L-prop-9, which is none of its entries"),
    ],
)
def test_a_wrong_line_is_noticed(lines, complaint):
    assert list(summary.complaints(lines, LANGE)) == [complaint]
