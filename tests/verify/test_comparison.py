"""What changed since a ledger was kept."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from theory.claim import Verdict
from theory.santurkar2018 import theorem_4_1
from theory.statement import assume
from theory.unit import gamma
from verify import comparison, engine, ledger
from verify.__main__ import app
from verify.record import Record
from verify.results import EVERY_M, Proof

CLAIM = theorem_4_1.SHARED
PROVED = Record(CLAIM.id, "abstract", proof=Proof((EVERY_M,)))


def of(*entries):
    """A ledger of these entries."""
    return comparison.of_today(entries)


def entry(claim=CLAIM, *records, **parts):
    return replace(ledger.entry(claim, records), **parts)


def test_nothing_changes_of_itself():
    assert list(comparison.changes(of(entry()), of(entry()))) == []


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (entry(CLAIM, verdict=Verdict.REFUTED), "verdict was not yet run, is refuted"),
        (entry(CLAIM, PROVED), "verdict was not yet run, is proved"),
        (entry(replace(CLAIM, says=CLAIM.says.actual >= 0, because=None)), "statement was "),
        (entry(replace(CLAIM, hypotheses=(assume(gamma > 0, printed=False),))), "hypotheses was "),
        (entry(replace(CLAIM, expected=Verdict.SUPPORTED)), "expected was proved, is supported"),
    ],
)
def test_what_changes_is_named(other, said):
    found = list(comparison.changes(of(entry()), of(other)))
    assert found
    assert found[0].startswith(f"{CLAIM.id}: {said}")


def test_what_is_new_or_gone_is_named():
    other = entry(replace(CLAIM, id="S-other"), PROVED)
    assert list(comparison.changes(of(entry()), of(other))) == [
        f"gone: {CLAIM.id} (not yet run)",
        "new: S-other (proved)",
    ]


@pytest.mark.parametrize(
    ("kept", "status", "said"),
    [
        (entry(), 0, "0 changes in 1 entry"),
        (entry(CLAIM, PROVED, verdict=Verdict.REFUTED), 1, "1 change in 1 entry"),
    ],
)
def test_a_ledger_that_was_kept_is_compared_with_today(kept, status, said, tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "CLAIMS", [CLAIM])
    path = tmp_path / "before.json"
    path.write_text(json.dumps([ledger.as_json(replace(kept, records=()))]))
    found = CliRunner().invoke(app, ["compare", str(path), "--evidence", str(tmp_path)])
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (status, said)


def test_what_is_no_ledger_is_refused(tmp_path):
    path = tmp_path / "before.json"
    path.write_text("{}")
    found = CliRunner().invoke(app, ["compare", str(path)])
    assert found.exit_code == 2
    assert "expected what python -m verify ledger --json prints" in found.stderr
