"""The guide to statements of one's own: its files run, and the terminal prints what it shows."""

import importlib
import multiprocessing
import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from theory.claim import Claim
from theory.expectation_claim import ExpectationClaim
from theory.matrix_claim import Kind
from verify import engine, others, pool, trial
from verify.__main__ import app
from verify.ledger import ledger
from verify.progress import NEED_NETWORKS
from verify.settings import PROFILES, Settings
from verify.witnesses.table import WITNESSES

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs" / "guides"
GUIDE = (GUIDES / "your-claim.md").read_text()
BLOCKS = re.findall(r"```(python|console|text)\n(.*?)```", GUIDE, re.S)
FORK = multiprocessing.get_context("fork")
PRINTED = "printed.txt"
DECISIVE = ("abstract", "symbolic", "exact", "monte carlo")
KNOWN = (GUIDES / "known-results.md").read_text()


def printed(command, folder):
    """What a command of the guide prints, to both streams, in a copy of this process."""
    for module in pool.imported():
        importlib.import_module(module)  # once, for all copies
    process = FORK.Process(target=_print, args=(command.split()[3:], folder))
    process.start()
    process.join()
    return (folder / PRINTED).read_text()


def _print(words, folder):
    os.chdir(folder)
    run = CliRunner().invoke(app, words)
    (folder / PRINTED).write_text(run.stderr + run.stdout)


def pattern(shown):
    """What the guide shows, as a pattern: times and counts may differ, dots are anything."""
    escaped = re.escape(shown.strip())
    escaped = re.sub(r"\d+\\\.\d+\\ s\\ ", r"[\\d.]+ s ", escaped)
    escaped = re.sub(r"\d+(\\ to\\ go)", r"[\\d,]+\1", escaped)
    return re.compile(escaped.replace(r"\.\.\.", ".*"), re.S)


def test_the_terminal_prints_what_the_guide_shows(tmp_path, monkeypatch):
    without_networks = [w for w in WITNESSES if w.name not in NEED_NETWORKS]
    monkeypatch.setattr(engine, "WITNESSES", without_networks)
    compared = 0
    for kind, text in BLOCKS:
        if text.startswith("# notes.py\n"):
            (tmp_path / "notes.py").write_text(text)
            wrong = text.removeprefix("# notes.py\n").replace(
                "says=norm2(grad)", "says=norm2(gard)"
            )
            (tmp_path / "wrong.py").write_text(wrong)
        if kind == "console":
            assert text.startswith("$ python -m verify ")
            command, _, shown = text.removeprefix("$ ").partition("\n")
            found = printed(command, tmp_path)
            assert pattern(shown).search(found), f"{command}\n{found}\nis not\n{shown}"
            compared += 1
    assert compared == 4


@pytest.mark.parametrize("name", ["rms_norm", "layer_norm"])
def test_another_papers_statements_get_the_verdicts_that_the_guide_shows(name):
    entries = decided(name)
    shown = next(text for kind, text in BLOCKS if kind == "text" and entries[0].claim.id in text)
    found = [(e.claim.id, e.verdict.value, e.scope) for e in entries]
    assert found == [tuple(re.split(r"\s{2,}", line)) for line in shown.strip().splitlines()]


def test_known_results_get_the_verdicts_that_their_page_shows():
    entries = decided("known_results", (*DECISIVE, "autograd"))
    shown = re.findall(r"^\| `(.*?)` \| (.*?) \| (.*?) \| (.*?) *\|$", KNOWN, re.M)
    found = [(e.claim.id, e.claim.title, e.verdict.value, e.scope_in_short) for e in entries]
    assert found == shown


def test_the_page_of_known_results_shows_all_of_their_file_below_its_imports():
    text = (GUIDES / "known_results.py").read_text()
    headings = re.findall(r"^# ---- .* ----$", text, re.M)
    assert re.findall(r":start-at: \"(.*)\"", KNOWN) == headings
    assert re.findall(r":end-before: \"(.*)\"", KNOWN) == [*headings[1:], "CLAIMS = ["]


def test_the_template_has_a_statement_of_each_kind():
    kinds = {getattr(e.claim, "subject", type(e.claim)) for e in decided("template")}
    assert kinds == {Claim, ExpectationClaim, *Kind}
    assert kinds == {getattr(c, "subject", type(c)) for c in engine.CLAIMS}
    assert (GUIDES / "template.py").read_text().count("\n") <= 70


def decided(name, witnesses=DECISIVE):
    """What the witnesses that decide find of a file of the guides, all of it as expected."""
    target = str(GUIDES / f"{name}.py")
    claims = others.load(target)
    trial.refuse_unfit(claims, target)
    quick = [w for w in WITNESSES if w.name in witnesses]
    records = engine.examine(engine.pairs(claims, quick), Settings(PROFILES["smoke"]))
    entries = ledger(claims, list(records))
    assert not any(entry.is_unexpected for entry in entries)
    return entries
