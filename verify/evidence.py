r"""What a run found, as a folder of JSON lines.

The first line says what was run (:class:`Run`), each further line what one witness found of one
claim (:class:`Record`), and the last that the run is complete.  Lines are written as they are
produced, so a run that is killed keeps what it found, and a new run of the same kind resumes it.
"""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from math import isfinite
from pathlib import Path
from threading import Lock
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from verify import json_lines

SCHEMA = 1
FILE = "evidence.jsonl"
PACKAGES = ("numpy", "scipy", "sympy", "torch", "python-flint", "hypothesis", "array-api-compat")


class EvidenceError(ValueError):
    """A folder or a line of evidence cannot be read, or not be written."""


class NoEvidenceError(EvidenceError):
    """There is no evidence in a folder."""


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
    gpu: str = "not run"
    """The device that the run used, or that none was: "not run" and why."""
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

    def __post_init__(self) -> None:
        """Leave out what is not finite: JSON has no word for it."""
        if not _is_finite(self.worst_ratio):
            object.__setattr__(self, "worst_ratio", None)
        finite = [point for point in self.points if all(map(_is_finite, point.values()))]
        object.__setattr__(self, "points", finite)


def describe_run(profile: str, seed: int, backend: str, device: str) -> Run:
    """Return the description of a run on this machine."""
    import torch

    return Run(
        profile=profile,
        seed=seed,
        backend=backend,
        device=device,
        source=source_digest(),
        commit=_commit(),
        threads=torch.get_num_threads(),
        versions={"python": platform.python_version(), **_versions()},
        gpu=_gpu(backend),
    )


def _gpu(backend: str) -> str:
    """Name the GPU of CuPy, the one backend whose default device is one."""
    if backend != "cupy":
        return f"not run: the backend was {backend}"
    import cupy

    return str(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode())


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
    """Appends records to a folder; ``done`` are those that a killed run of the same kind left.

    What a run of another kind left is kept under another name.

    Raises:
        EvidenceError: the folder cannot be written to.
    """

    def __init__(self, folder: Path, run: Run):
        self.path = folder / FILE
        self.done: dict[tuple[str, str], Record] = {}
        self.run = run
        self.lock = Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if _may_resume(folder, run):
                json_lines.mend_end(self.path)
                self.done = {(r.claim, r.witness): r for r in read(folder)[1]}
            else:
                _set_aside(self.path)
                json_lines.append(self.path, self._header())
        except OSError as error:
            raise _unwritable(folder, error) from None

    def add(self, record: Record) -> None:
        """Write a record, unless an earlier run did; may be called from several threads."""
        with self.lock:
            if (record.claim, record.witness) not in self.done:
                self.done[record.claim, record.witness] = record
                try:
                    json_lines.append(self.path, _line(record))
                except OSError as error:
                    raise _unwritable(self.path.parent, error) from None

    def finish(self, is_complete: bool) -> None:
        """Put the records in the order of their names; say whether these are all."""
        lines = [self._header(), *(_line(self.done[name]) for name in sorted(self.done))]
        try:
            json_lines.write(self.path, [*lines, {"kind": "finished"}] if is_complete else lines)
        except OSError as error:
            raise _unwritable(self.path.parent, error) from None

    def _header(self) -> dict[str, Any]:
        return {"kind": "run", **asdict(self.run)}


def _line(record: Record) -> dict[str, Any]:
    return {"kind": "record", **asdict(record)}


def read(folder: Path) -> tuple[Run, list[Record]]:
    """Return the run and the records of a folder.

    A last line that was cut off by a kill is left out.

    Raises:
        NoEvidenceError: there is no evidence.
        EvidenceError: another line is damaged, or the schema is unknown.
    """
    path = folder / FILE
    header, *rest = _lines(path) or [{}]
    if header.get("kind") != "run" or header.get("schema") != SCHEMA:
        raise EvidenceError(f"{path} does not begin with a run of schema {SCHEMA}; delete it")
    try:
        run = _made(Run, header)
        records = [_made(Record, line) for line in rest if line.get("kind") == "record"]
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


T = TypeVar("T", Run, Record)


def _made(kind: type[T], line: dict[str, Any]) -> T:
    """Return a line as what it is a line of; TypeError where it is of another form."""
    fields = {name: value for name, value in line.items() if name != "kind"}
    types = get_type_hints(kind)
    wrong = [k for k, value in fields.items() if k in types and not _is_of(value, types[k])]
    if wrong:
        raise TypeError(f"{', '.join(wrong)} of another type")
    made = kind(**fields)
    if isinstance(made, Record):
        if made.proof and not isinstance(made.proof.get("scope"), str):
            raise TypeError("a proof without its scope")
        if made.counterexample and not {"m", "size"} & made.counterexample.keys():
            raise TypeError("a counterexample without its m or size")
    return made


def _is_of(value: Any, kind: Any) -> bool:
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    allowed = tuple(get_origin(k) or k for k in kinds)
    return isinstance(value, (*allowed, int) if float in allowed else allowed)


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or isfinite(value)


def _unwritable(folder: Path, error: OSError) -> EvidenceError:
    return EvidenceError(
        f"evidence cannot be kept in {folder} ({error.strerror}); name another folder"
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return json_lines.read(path)
    except FileNotFoundError:
        raise NoEvidenceError(
            f"no evidence in {path.parent}: run 'make verify', or name another folder"
        ) from None
    except OSError as error:
        raise EvidenceError(f"{path} cannot be read: {error.strerror}") from None
    except json_lines.DamagedLineError as error:
        raise EvidenceError(str(error)) from None


def _set_aside(path: Path) -> None:
    """Rename a file, if there is one, to the first name that is free."""
    if path.exists():
        names = (path.with_suffix(f".previous{n or ''}.jsonl") for n in count())
        path.replace(next(name for name in names if not name.exists()))


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
    try:
        asked = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:  # git is not installed
        return "unknown"
    return asked.stdout.strip() or "unknown"
