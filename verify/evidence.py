r"""What a run found, as a folder of JSON lines.

The first line says what was run (:class:`Run`), each further line what one witness found of one
claim (:class:`Record`), and the last that the run is complete.  Lines are written as they are
produced, so a run that is killed keeps what it found, and a new run of the same kind resumes it.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from typing import Any

SCHEMA = 1
FILE = "evidence.jsonl"
PACKAGES = ("numpy", "scipy", "sympy", "torch", "python-flint", "hypothesis", "array-api-compat")


class EvidenceError(ValueError):
    """A folder or a line of evidence cannot be read."""


@dataclass(frozen=True)
class Run:
    """What was run: enough to tell whether another run may continue it."""

    profile: str
    seed: int
    backend: str
    device: str
    source: str
    """Digest of the source that was run."""
    commit: str
    threads: int
    versions: dict[str, str]
    schema: int = SCHEMA


@dataclass(frozen=True)
class Record:
    """What one witness found of one claim."""

    claim: str
    witness: str
    instances: int = 0
    violated: int = 0
    undecided: int = 0
    vacuous: int = 0
    worst_ratio: float | None = None
    worst_token: str | None = None
    strata: dict[str, dict[str, int]] = field(default_factory=dict)
    """Instances, violated, undecided and vacuous of each named stratum."""
    sizes: dict[str, str] = field(default_factory=dict)
    """What was found for single batch sizes."""
    proof: dict[str, Any] | None = None
    counterexample: dict[str, Any] | None = None
    points: list[dict[str, Any]] = field(default_factory=list)
    """Some instances with both sides, for the plots."""
    notes: str = ""
    seconds: float = 0.0


def describe_run(profile: str, seed: int, backend: str, device: str) -> Run:
    """Return the description of a run on this machine."""
    return Run(
        profile=profile,
        seed=seed,
        backend=backend,
        device=device,
        source=source_digest(),
        commit=_commit(),
        threads=os.cpu_count() or 1,
        versions={"python": platform.python_version(), **_versions()},
    )


def source_digest() -> str:
    """Return a digest of every Python file of the packages ``theory`` and ``verify``."""
    import hashlib

    root = Path(__file__).resolve().parent.parent
    files = sorted(p for name in ("theory", "verify") for p in (root / name).rglob("*.py"))
    digest = hashlib.sha256()
    for path in files:
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


class Writer:
    """Appends records to a folder; ``done`` are those that a killed run of the same kind left."""

    def __init__(self, folder: Path, run: Run):
        self.path = folder / FILE
        self.done: dict[tuple[str, str], Record] = {}
        self.lock = Lock()
        folder.mkdir(parents=True, exist_ok=True)
        if _may_resume(folder, run):
            self.done = {(r.claim, r.witness): r for r in read(folder)[1]}
            _drop_torn_line(self.path)
        else:
            if self.path.exists():
                self.path.replace(self.path.with_suffix(".previous.jsonl"))
            self._append({"kind": "run", **asdict(run)})

    def add(self, record: Record) -> None:
        """Write a record, unless an earlier run did; may be called from several threads."""
        with self.lock:
            if (record.claim, record.witness) not in self.done:
                self.done[record.claim, record.witness] = record
                self._append({"kind": "record", **asdict(record)})

    def finish(self) -> None:
        """Say that the run is complete."""
        self._append({"kind": "finished"})

    def _append(self, line: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, allow_nan=False) + "\n")


def read(folder: Path) -> tuple[Run, list[Record]]:
    """Return the run and the records of a folder.

    A last line that was cut off by a kill is left out.

    Raises:
        EvidenceError: there is no evidence, another line is damaged, or the schema is unknown.
    """
    path = folder / FILE
    if not path.exists():
        raise EvidenceError(f"no evidence in {folder}: run 'make verify', or name another folder")
    header, *rest = _lines(path) or [{}]
    if header.get("kind") != "run" or header.get("schema") != SCHEMA:
        raise EvidenceError(f"{path} does not begin with a run of schema {SCHEMA}; delete it")
    try:
        run = Run(**{k: v for k, v in header.items() if k != "kind"})
        records = [
            Record(**{k: v for k, v in line.items() if k != "kind"})
            for line in rest
            if line.get("kind") == "record"
        ]
    except TypeError as error:
        raise EvidenceError(f"{path} has a line of another form ({error}); delete it") from None
    return run, records


def is_finished(folder: Path) -> bool:
    """Whether the folder's run is complete."""
    return any(line.get("kind") == "finished" for line in _lines(folder / FILE))


def _may_resume(folder: Path, run: Run) -> bool:
    try:
        earlier, _ = read(folder)
        return earlier == run and not is_finished(folder)
    except EvidenceError:
        return False


def _lines(path: Path) -> list[dict[str, Any]]:
    return list(_parsed(path.read_text(encoding="utf-8", errors="replace").splitlines(), path))


def _parsed(lines: list[str], path: Path) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(lines, start=1):
        try:
            line = json.loads(text)
            if not isinstance(line, dict):
                raise ValueError
            yield line
        except ValueError:
            if number == len(lines):
                return
            raise EvidenceError(
                f"{path}, line {number} is damaged; delete the line, or the file to start anew"
            ) from None


def _drop_torn_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    if text and not text.endswith("\n"):
        path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")


def _versions() -> dict[str, str]:
    return dict(_installed(PACKAGES))


def _installed(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def _commit() -> str:
    root = Path(__file__).resolve().parent.parent
    asked = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.stdout.strip() or "unknown"
