r"""What runs found, as a folder of JSON lines.

A line says what was run (:class:`Run`) or what one witness found of one statement
(:class:`Record`).  Lines are appended as they are produced, so a run that is killed keeps what it
found.  A record carries the fingerprint of all that it depends on (:mod:`verify.fingerprint`): a
later run takes over what has today's fingerprint, and examines the rest again.  Nothing is removed
but by :func:`prune`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from math import isfinite
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from verify import json_lines
from verify.results import Counterexample, Proof, Theorem

SCHEMA = 3
FILE = "evidence.jsonl"
LOCK = ".lock"
ELSEWHERE = "name another folder, or delete the file to start anew"

Name = tuple[str, str]
"""A statement's identifier and a witness's name."""
Fingerprint = Callable[[str, str], str]
"""Today's fingerprint of a statement and a witness, by their names; "" for those unknown."""


class EvidenceError(ValueError):
    """A folder or a line of evidence cannot be read, or not be written."""


class NoEvidenceError(EvidenceError):
    """There is no evidence in a folder."""


@dataclass(frozen=True)
class Run:
    """What was run, on what."""

    profile: str
    seed: int
    backend: str
    device: str
    commit: str
    """The commit, with "-dirty" where files differ from it."""
    threads: int
    versions: dict[str, str]
    source: str = ""
    """Digest of the source that was run."""
    gpu: str = "not run"
    """The device that the run used, or that none was: "not run" and why."""
    started: str = ""
    """When, in UTC."""
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
    proof: Proof | None = None
    counterexample: Counterexample | None = None
    theorem: Theorem | None = None
    points: list[dict[str, Any]] = field(default_factory=list)
    """Some instances with both sides, for the plots."""
    notes: str = ""
    seconds: float = 0.0
    fingerprint: str = ""
    """Of all that it depends on."""
    commit: str = ""
    """The commit that it was found at."""

    @property
    def name(self) -> Name:
        """Whom it is about, and who found it."""
        return self.claim, self.witness

    @property
    def decided(self) -> int:
        """How many instances the statement says something of, and rounding leaves decided."""
        return self.instances - self.vacuous - self.undecided

    @property
    def decided_strata(self) -> set[str]:
        """The named strata that have such an instance."""
        return {
            name
            for name, met in self.strata.items()
            if met.get("instances", 0) > met.get("vacuous", 0) + met.get("undecided", 0)
        }

    @property
    def decides(self) -> bool:
        """Whether it proves, refutes or measured anything at all."""
        return bool(self.decided or self.proof or self.counterexample or self.theorem)

    @property
    def is_idle(self) -> bool:
        """Whether it looked at instances, and not one of them decides anything."""
        return self.instances > 0 and not self.decides

    def __post_init__(self) -> None:
        """Leave out what is not finite: JSON has no word for it; a counterexample has a ratio."""
        if not _is_finite(self.worst_ratio):
            object.__setattr__(self, "worst_ratio", None)
        if self.worst_ratio is None and self.counterexample is not None:
            object.__setattr__(self, "worst_ratio", self.counterexample.ratio)
        finite = [point for point in self.points if all(map(_is_finite, point.values()))]
        object.__setattr__(self, "points", finite)


class Writer:
    """Appends records to a folder; ``done`` are those that need not be found again.

    One writer at a time: another process is refused.

    Args:
        folder: where the evidence is kept.
        run: what is run.
        fingerprint: today's fingerprints.
        others: folders whose records are taken over where they are what this run would find.

    Raises:
        NoEvidenceError: there is no evidence in one of the other folders.
        EvidenceError: the folder cannot be written to, one is damaged, or another run writes in it.
    """

    def __init__(
        self, folder: Path, run: Run, fingerprint: Fingerprint, others: Iterable[Path] = ()
    ):
        self.path, self.run, self.fingerprint = folder / FILE, run, fingerprint
        self.lock = Lock()
        elsewhere = [record for other in others for record in read_all(other)[1]]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._held = FolderLock(folder)
            records = self._known()
            self.done = {r.name: r for r in fresh(records, fingerprint)}
            json_lines.append(self.path, _line(run))
            for record in fresh(elsewhere, fingerprint):
                if record.name not in self.done:
                    append(self.path, record)
                    self.done[record.name] = record
        except OSError as error:
            raise unwritable(folder, error) from None

    def _known(self) -> list[Record]:
        if not self.path.exists() or not self.path.stat().st_size:
            return []
        json_lines.mend_end(self.path)
        return read_all(self.path.parent)[1]

    def add(self, record: Record) -> None:
        """Write a record, unless it is there; may be called from several threads.

        Raises:
            EvidenceError: the folder cannot be written to; what was written before is whole.
        """
        with self.lock:
            if record.name not in self.done:
                mark = self.fingerprint(*record.name)
                stamped = replace(record, fingerprint=mark, commit=self.run.commit)
                try:
                    append(self.path, stamped)
                except OSError as error:
                    raise unwritable(self.path.parent, error) from None
                self.done[record.name] = stamped

    def close(self) -> None:
        """Let other runs write in the folder."""
        self._held.give_back()


def append(path: Path, record: Record) -> None:
    """Write a record at the end of a file, whole or not at all."""
    json_lines.append(path, _line(record))


def records_in(path: Path) -> list[Record]:
    """Return the records of a file without a run, if it is there."""
    lines = json_lines.read(path) if path.exists() else []
    return [_made(Record, line) for line in lines if line.get("kind") == "record"]


def fresh(records: Iterable[Record], fingerprint: Fingerprint) -> list[Record]:
    """Return the records that today's code would find again, the last one of each name."""
    marked = (r for r in records if r.fingerprint)
    return list({r.name: r for r in marked if r.fingerprint == fingerprint(*r.name)}.values())


def by_claim(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records of each statement, by its identifier."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.claim, []).append(record)
    return found


def read(folder: Path) -> tuple[Run, list[Record]]:
    """Return the last run of a folder, and the last record of each statement and witness.

    Raises:
        NoEvidenceError: there is no evidence.
        EvidenceError: a line is damaged, or the schema is unknown.
    """
    runs, records = read_all(folder)
    return runs[-1], list({record.name: record for record in records}.values())


def read_all(folder: Path, asked: Collection[str] | None = None) -> tuple[list[Run], list[Record]]:
    """Return all runs and records of a folder; a last line that was cut off is left out.

    Args:
        folder: of the evidence.
        asked: the statements whose records are; all, if left out.
    """
    path = folder / FILE
    lines = _lines(path, json_lines.every if asked is None else partial(_is_of, asked))
    if not lines and not path.stat().st_size:  # of a run that ended before it wrote anything
        raise _nothing_in(folder)
    if not lines or lines[0].get("kind") != "run":
        raise EvidenceError(f"{path} does not begin with a run; {ELSEWHERE}")
    check_schema(path, lines[0])
    try:
        runs = [_made(Run, line) for line in lines if line.get("kind") == "run"]
        records = [_made(Record, line) for line in lines if line.get("kind") == "record"]
    except (TypeError, msgspec.ValidationError) as error:
        raise EvidenceError(f"{path} has a line of another form ({error}); {ELSEWHERE}") from None
    return runs, records


def check_schema(path: Path, line: dict[str, Any]) -> None:
    """Raise an EvidenceError for a run of another schema, which is nothing to delete unasked."""
    if (schema := line.get("schema")) != SCHEMA:
        is_newer = isinstance(schema, int) and schema > SCHEMA
        told = "a newer version of this suite wrote it: install that one" if is_newer else ELSEWHERE
        raise EvidenceError(
            f"{path} is of schema {schema!r}, and this version reads schema {SCHEMA}; {told}"
        )


def prune(folder: Path, todays: Callable[[Run], Fingerprint]) -> tuple[int, int]:
    """Leave only what today's code would find again; return how many records stay, and went.

    Args:
        folder: of the evidence.
        todays: today's fingerprints for the settings of a run.

    Raises:
        EvidenceError: there is no evidence, it is damaged, or another run writes in the folder.
    """
    if not (folder / FILE).exists():  # nothing is made where there is no evidence
        raise _nothing_in(folder)
    try:
        held = FolderLock(folder)
        runs, records = read_all(folder)  # with what another run wrote before it was locked
        last = {(run.profile, run.seed, run.backend, run.device): run for run in runs}
        current = {id(r): r for run in last.values() for r in fresh(records, todays(run))}
        kept = sorted(current.values(), key=lambda record: record.name)
        headers = [run for run in runs if run in last.values()]
        json_lines.write(folder / FILE, [*map(_line, headers), *map(_line, kept)])
        held.give_back()
    except OSError as error:
        raise unwritable(folder, error) from None
    return len(kept), len(records) - len(kept)


def _made(kind: type[Any], line: dict[str, Any]) -> Any:
    """Return a line as what it is a line of."""
    values = {name: value for name, value in line.items() if name != "kind"}
    if unknown := values.keys() - {f.name for f in fields(kind)}:
        raise TypeError(f"unknown: {', '.join(sorted(unknown))}")
    return msgspec.convert(values, kind)


def _line(found: Run | Record) -> dict[str, Any]:
    kind = type(found).__name__.lower()
    return {"kind": kind, **msgspec.to_builtins(found, enc_hook=_plain)}


def _plain(number: Any) -> Any:
    """Return a number of NumPy as one of Python's."""
    return number.item()


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or isfinite(value)


class FolderLock:
    """The right to write in a folder, held until it is given back or the process ends."""

    def __init__(self, folder: Path):
        from filelock import FileLock, Timeout  # slow to import, and readers need none

        lock = FileLock(folder / LOCK, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            raise EvidenceError(
                f"another run writes its evidence in {folder}; wait for it, or name another folder"
            ) from None
        self.give_back = weakref.finalize(self, lock.release)


def unwritable(folder: Path, error: OSError) -> EvidenceError:
    """Return the error of a folder that cannot be written to, or of a file in it."""
    is_within = error.filename is not None and Path(error.filename) != folder
    where = f": {error.filename}" if is_within else ""
    return EvidenceError(
        f"evidence cannot be kept in {folder} ({error.strerror}{where}); name another folder"
    )


def _nothing_in(folder: Path) -> NoEvidenceError:
    return NoEvidenceError(f"no evidence in {folder}; name another folder")


class _About(msgspec.Struct):
    """What a line is about: nothing else of it is read."""

    claim: str = ""


_about = msgspec.json.Decoder(_About)


def _is_of(asked: Collection[str], text: bytes) -> bool:
    """Whether a line is about one of the statements that are asked for, or about none."""
    try:
        claim = _about.decode(text).claim
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True  # who reads it says what is wrong with it
    return not claim or claim in asked


def _lines(path: Path, is_asked: Callable[[bytes], bool]) -> list[dict[str, Any]]:
    try:
        return json_lines.read(path, is_asked)
    except FileNotFoundError:
        raise _nothing_in(path.parent) from None
    except OSError as error:
        raise EvidenceError(
            f"{path} cannot be read ({error.strerror}); name another folder"
        ) from None
    except json_lines.DamagedLineError as error:
        raise EvidenceError(str(error)) from None
