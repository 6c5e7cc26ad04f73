"""A site of somebody's statements: whole, and nowhere but in its own folder."""

import re
from pathlib import Path

import pytest
from site_cases import write_records
from typer.testing import CliRunner

from verify import engine, others
from verify.__main__ import app
from verify.evidence import NoEvidenceError
from verify.others import OthersError
from verify.record import Record
from verify.results import EVERY_M, Counterexample, Proof
from verify.site.others import MARK, OthersSite

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guides"
TARGET = str(GUIDES / "layer_norm.py")
NUMBERS = {
    "y": ["0", "1"], "gamma": "-1", "beta": "0", "eps": "0", "loss": "<a, z> + <z, B z>/2",
    "parameters": {"a": ["0", "0"], "B": [["0", "0"], ["0", "0"]]}, "u": ["0", "0"],
    "v": ["0", "0"], "lambda": "1",
}  # fmt: skip
COUNTEREXAMPLE = Counterexample({"m": 2}, NUMBERS, "1/2", "-1/2")
RECORDS = [
    Record("ba2016-deviation", "exact", instances=3, violated=1, counterexample=COUNTEREXAMPLE),
    Record("ba2016-shift", "abstract", proof=Proof((EVERY_M,), "0")),
]


@pytest.fixture
def evidence(tmp_path):
    write_records(tmp_path / "kept", engine.statements(others.resolved(TARGET)), RECORDS)
    return tmp_path / "kept"


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_site_is_whole_and_in_its_own_folder(evidence, tmp_path, monkeypatch):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    (work / "beside.txt").write_text("not ours")
    before = files_of(tmp_path)
    found = CliRunner().invoke(
        app, ["page", "--claims", TARGET, "--evidence", str(evidence), "--to", "its/site"]
    )
    assert found.exit_code == 0, found.stderr
    assert found.stdout == "open its/site/html/index.html\n"
    after = files_of(tmp_path)
    assert {path: after[path] for path in before} == before
    written = after.keys() - before.keys()
    assert written
    assert all(path.is_relative_to(work / "its" / "site") for path in written)
    html = work / "its" / "site" / "html"
    first = (html / "index.html").read_text()
    assert "Ba et al. 2016" in first
    assert "Santurkar" not in first
    page = (html / "statements" / "ba2016-deviation.html").read_text()
    assert "Counterexample" in page
    assert f"check ba2016-deviation --claims {TARGET}" in re.sub("<[^>]*>", "", page)
    assert (html / "reference" / "layer_norm.html").is_file()
    assert (html / "_static" / "katex" / "katex.min.css").is_file()


@pytest.mark.parametrize("kind", ["files", "a link", "a file"])
def test_a_folder_that_holds_something_else_is_left_alone(evidence, tmp_path, kind):
    folder = tmp_path / "taken"
    kept = tmp_path / "kept.txt"
    kept.write_text("keep")
    if kind == "files":
        folder.mkdir()
        kept = kept.rename(folder / "kept.txt")
    elif kind == "a link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        kept = kept.rename(folder)
    with pytest.raises(OthersError, match=r"is no empty folder; name another one with --to"):
        OthersSite.of(TARGET, evidence, folder).write()
    assert kept.read_text() == "keep"


def test_what_was_written_here_is_written_anew(evidence, tmp_path, monkeypatch):
    folder = tmp_path / "site"
    monkeypatch.setattr("verify.site.others._build", lambda source, html: 0)
    OthersSite.of(TARGET, evidence, folder).write()
    (folder / "source" / "old.md").write_text("# Old")
    OthersSite.of(TARGET, evidence, folder).write()
    assert (folder / MARK).is_file()
    assert not (folder / "source" / "old.md").exists()


def test_without_evidence_nothing_is_written(tmp_path):
    with pytest.raises(NoEvidenceError):
        OthersSite.of(TARGET, tmp_path / "none", tmp_path / "site").write()
    assert list(tmp_path.iterdir()) == []
