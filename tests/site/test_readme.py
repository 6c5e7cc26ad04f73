"""The README's part from the evidence."""

import pytest
from site_cases import RECORDS

from verify.engine import CLAIMS
from verify.ledger import ledger
from verify.record import Record
from verify.results import EVERY_M, Counterexample, Proof
from verify.site.readme import BEGIN, END, ReadmeError, check, counts, table

ENTRIES = ledger(
    CLAIMS,
    [
        *RECORDS,
        Record("S-thm-4.2b/direct", "abstract", proof=Proof((EVERY_M,))),
        Record(
            "S-thm-4.2b/ratio",
            "exact",
            instances=1,
            violated=1,
            counterexample=Counterexample({"m": 3}, {}, "1", "0"),
        ),
    ],
)


def test_a_result_has_one_line_with_its_readings():
    (line,) = (row for row in table(ENTRIES).splitlines() if "Theorem 4.2, second" in row)
    assert "as the proof uses it: proved, their ratio: refuted" in line
    assert "needs" in line


def test_bars_of_norms_do_not_end_a_cell():
    assert {row.count("|") for row in table(ENTRIES).splitlines() if row} == {6}


def test_a_readme_that_says_something_else_is_noticed(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"{BEGIN}\n{counts(ENTRIES)}\n{table(ENTRIES)}\n{END}", encoding="utf-8")
    check(ENTRIES, readme)
    readme.write_text(f"{BEGIN}\nnothing\n{END}", encoding="utf-8")
    with pytest.raises(ReadmeError, match="verify readme"):
        check(ENTRIES, readme)
