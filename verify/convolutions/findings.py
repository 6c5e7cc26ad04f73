r"""What was found at each layer, as a file of JSON lines beside the other evidence.

Every line holds its own run, so that runs on several backends share the file; of two findings of
one layer by runs of one kind the later counts.  Lines are written as they are produced: a run
that is killed keeps what it found, and the same run resumes it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from verify import json_lines
from verify.convolutions.checks import Check
from verify.convolutions.meter import Cost
from verify.evidence import EvidenceError, Run, lines_of, writing
from verify.subjects.convolutions import Shape

FILE = "convolutions.jsonl"


@dataclass(frozen=True)
class Finding:
    """What was found at one layer."""

    shape: Shape
    batch: int
    run: Run
    machine: str
    """The device that the arrays were on."""
    checks: tuple[Check, ...]
    numbers: dict[str, float]
    """Condition numbers and the like."""
    costs: dict[str, Cost]
    """Of the pieces; what only measures rounding is none of them."""
    seconds: float
    """Of everything."""

    @property
    def peak_bytes(self) -> int | None:
        """Of the hungriest piece, the input included."""
        held = [cost.peak_bytes for cost in self.costs.values()]
        return max((h for h in held if h is not None), default=None)

    @property
    def kind(self) -> tuple[Any, ...]:
        """What a later finding has in common with one that it replaces."""
        return self.shape, self.batch, *self.run.settings

    def check(self, reading: str) -> Check:
        """Return the check of a reading."""
        return next(check for check in self.checks if check.reading == reading)


class Keeper:
    """Appends findings to a folder's file; ``done`` are those of the same run, by layer.

    Raises:
        EvidenceError: the file cannot be read, or not be written.
    """

    def __init__(self, folder: Path, run: Run):
        self.path = folder / FILE
        self.done: dict[Shape, Finding] = {}
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                json_lines.mend_end(self.path)
                self.done = {f.shape: f for f in read(folder) if _is_alike(f.run, run)}

    def add(self, finding: Finding) -> None:
        """Write a finding."""
        with writing(self.path.parent):
            json_lines.append(self.path, asdict(finding))
        self.done[finding.shape] = finding


def read(folder: Path) -> list[Finding]:
    """Return the findings of a folder, the later one of each kind; none without a file.

    Raises:
        EvidenceError: a line, not the last, is damaged or of another form.
    """
    path = folder / FILE
    if not path.exists():
        return []
    lines = lines_of(path, json_lines.object_in)
    found = [_finding(line, f"{path}, line {n}") for n, line in enumerate(lines, start=1)]
    return list({finding.kind: finding for finding in found}.values())


def _is_alike(earlier: Run, run: Run) -> bool:
    """Whether two runs are of the same source, whatever else was committed, and when."""
    return replace(earlier, commit=run.commit, started=run.started) == run


def _finding(line: dict[str, Any], place: str) -> Finding:
    try:
        return json_lines.made(Finding, line)
    except TypeError as error:
        raise EvidenceError(
            f"{place} is of another form ({error}); delete the line, or the file to start anew"
        ) from None
