"""The README's part from the evidence."""

import re

import pytest
from site_cases import RECORDS, points

from verify.description import describe_run
from verify.engine import CLAIMS, Known
from verify.ledger import ledger
from verify.record import Record
from verify.results import EVERY_M, Counterexample, Proof
from verify.site.readme import BEGIN, END, ReadmeError, check, counts, table, write

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


def test_the_part_and_its_pictures_are_written_between_what_stands_there(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"above\n{BEGIN}{END}\nbelow\n", encoding="utf-8")
    measured = Record("S-thm-4.1/eps", "autograd", instances=9, points=points("generic", 8, 9))
    entries = ledger(CLAIMS, [*RECORDS, measured])
    found = Known(describe_run("smoke", 0, "numpy", "cpu"), [], (), (), {})
    files = write(entries, found, readme)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"above\n{BEGIN}")
    assert text.endswith(f"{END}\nbelow\n")
    pictures = [tmp_path / path for path in re.findall(r"!\[.*?\]\((.*?)\)", text)]
    assert files == [readme, *pictures]
    assert all(path.read_text(encoding="utf-8").startswith("<svg") for path in pictures)
    check(entries, readme)
    with pytest.raises(ReadmeError, match="nothing was measured of S-thm"):
        write(ledger(CLAIMS, RECORDS), found, readme)
    readme.write_text("", encoding="utf-8")
    with pytest.raises(ReadmeError, match="lacks the comments"):
        write(entries, found, readme)
