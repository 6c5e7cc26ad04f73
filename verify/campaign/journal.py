"""The folder of a campaign: findings as they come in, folded into one a statement and witness.

A line is a run or a finding.  Lines are appended as findings come in, and folded when they take up
:data:`LARGEST` bytes, and at the end; so a campaign that is killed keeps what it found, and its
folder stays small whatever it found.  What other code found stays, and is not counted.  The lines
of several folders in one file are a campaign too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from verify import evidence, json_lines
from verify.campaign.finding import Finding
from verify.evidence import EvidenceError, Fingerprint, Run, made
from verify.record import Name

FILE = "campaign.jsonl"
LARGEST = 64 * 2**20
"""Bytes."""


class Journal:
    """Adds findings to a folder; ``known`` is what is known today, by statement and witness.

    One journal at a time writes in a folder.

    Args:
        folder: where the findings are kept.
        run: what is run; the seed in it means nothing.
        fingerprint: today's fingerprints.

    Raises:
        EvidenceError: the folder cannot be written to, is damaged, holds another profile's
            campaign, or another run writes in it.
    """

    def __init__(self, folder: Path, run: Run, fingerprint: Fingerprint):
        self.path, self.run, self.fingerprint = folder / FILE, run, fingerprint
        with evidence.writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._held = evidence.FolderLock(folder)
            found = _lines(self.path) if self.path.exists() else []
        _check_runs(self.path, found, run)
        everything = merged(findings(found, self.path))
        self.known = {f.name: f for f in everything if f.fingerprint == fingerprint(*f.name)}
        self._outdated = [f for f in everything if self.known.get(f.name) is not f]
        self.fold()

    def add(self, found: Iterable[Finding]) -> None:
        """Write findings, but those that are known.

        Raises:
            EvidenceError: the folder cannot be written to; what was written before is whole.
        """
        for unmarked in found:
            finding = replace(unmarked, fingerprint=self.fingerprint(*unmarked.name))
            old = self.known.get(finding.name)
            new = finding if old is None else old.plus(finding)
            if new == old:
                continue
            with evidence.writing(self.path.parent):
                json_lines.append(self.path, {"kind": "finding", **asdict(finding)})
            self.known[finding.name] = new
        if self.path.stat().st_size > LARGEST:
            self.fold()

    def fold(self) -> None:
        """Write one finding for each statement and witness."""
        everything = (*self._outdated, *self.known.values())
        lines = ({"kind": "finding", **asdict(finding)} for finding in everything)
        with evidence.writing(self.path.parent):
            json_lines.write(self.path, [{"kind": "run", **asdict(self.run)}, *lines])

    def close(self) -> None:
        """Fold what was found, and let other runs write in the folder."""
        self.fold()
        self._held.give_back()


def read(path: Path) -> tuple[Run, list[Finding]]:
    """Return the last run of a file of findings, and one finding a statement and witness.

    Of two that different code found, the last.

    Raises:
        EvidenceError: it is damaged, or of another form.
    """
    found = _lines(path)
    runs = [made(Run, line, path) for line in found if line.get("kind") == "run"]
    if not runs:
        raise EvidenceError(f"{path} names no run; expected the file of a campaign")
    return runs[-1], list({f.name: f for f in merged(findings(found, path))}.values())


def merged(found: Iterable[Finding]) -> list[Finding]:
    """Return findings added up, one for each statement, witness and fingerprint."""
    known: dict[tuple[Name, str], Finding] = {}
    for finding in found:
        key = finding.name, finding.fingerprint
        known[key] = known[key].plus(finding) if key in known else finding
    return list(known.values())


def findings(lines: Iterable[dict[str, Any]], path: Path) -> list[Finding]:
    """Return the findings among the lines of a file."""
    return [made(Finding, line, path) for line in lines if line.get("kind") == "finding"]


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return evidence.lines_of(path, json_lines.object_in)
    except FileNotFoundError:
        raise EvidenceError(f"{path} is missing; expected the folder of a campaign") from None


def _check_runs(path: Path, lines: list[dict[str, Any]], run: Run) -> None:
    """A seed at another profile is another unit, and what is not understood would be lost."""
    runs = [line for line in lines if line.get("kind") == "run"]
    for line in runs:
        evidence.check_schema(path, line)
    known = [made(Run, line, path) for line in runs]
    if known and known[-1].profile != run.profile:
        raise EvidenceError(
            f"{path} is a campaign of the profile {known[-1].profile}; expected {run.profile}: "
            "give that one, or name another folder"
        )
