r"""What runs found, as a folder of JSON lines.

A line says what was run (:class:`Run`) or what one witness found of one statement
(:class:`Record`).  Lines are appended as they are produced, so a run that is killed keeps what it
found.  A record carries the fingerprint of all that it depends on (:mod:`verify.fingerprint`): a
later run takes over what has today's fingerprint, and examines the rest again.  Nothing is removed
but by :func:`prune`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import msgspec

from verify import json_lines
from verify.record import Name, Record

SCHEMA = 3
FILE = "evidence.jsonl"
LOCK = ".lock"
ELSEWHERE = "name another folder, or delete the file to start anew"

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

    @property
    def settings(self) -> tuple[str, int, str, str]:
        """The profile, the seed, the array library and its device."""
        return self.profile, self.seed, self.backend, self.device


T = TypeVar("T")


class _About(msgspec.Struct, frozen=True):
    kind: str = ""
    claim: str = ""
    witness: str = ""
    fingerprint: str = ""


_about = msgspec.json.Decoder(_About)


@dataclass(frozen=True)
class Line:
    """A line of evidence, of which only what it is about is read until it is asked for.

    Most lines of a folder that is kept for long are of code that has changed since.
    """

    about: _About
    text: bytes
    path: Path

    @property
    def name(self) -> Name:
        """Whom it is about, and who found it."""
        return self.about.claim, self.about.witness

    @cached_property
    def record(self) -> Record:
        """What it says, read once.

        Raises:
            EvidenceError: it has another form.
        """
        return self.made(Record)

    def made(self, kind: type[T]) -> T:
        """Read it as what it is a line of.

        Raises:
            EvidenceError: it has another form.
        """
        return made(kind, json_lines.object_in(self.text) or {}, self.path)


class Writer:
    """Appends records to a folder; ``done`` are those that need not be found again.

    How many are there ``besides``, of other code or settings, is counted and no more.

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
        elsewhere = [line for other in others for line in read_all(other)[1]]
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._held = FolderLock(folder)
            lines = self._known()
            self.done = {r.name: r for r in fresh(lines, fingerprint)}
            self.besides = len(lines) - len(self.done)
            json_lines.append(self.path, _line(run))
            for record in fresh(elsewhere, fingerprint):
                if record.name not in self.done:
                    append(self.path, record)
                    self.done[record.name] = record

    def _known(self) -> list[Line]:
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
                with writing(self.path.parent):
                    append(self.path, stamped)
                self.done[record.name] = stamped

    def close(self) -> None:
        """Let other runs write in the folder."""
        self._held.give_back()


def append(path: Path, record: Record) -> None:
    """Write a record at the end of a file, whole or not at all."""
    json_lines.append(path, _line(record))


def records_in(path: Path, start: int = 0) -> list[Record]:
    """Return the records of a file without a run, if it is there, from one of them on."""
    lines = _lines(path) if path.exists() else []
    records = [line for line in lines if line.about.kind == "record"]
    return [line.record for line in records[start:]]


def fresh(lines: Iterable[Line], fingerprint: Fingerprint) -> list[Record]:
    """Return the records that today's code would find again, the last one of each name."""
    return [line.record for line in _current(lines, fingerprint)]


def _current(lines: Iterable[Line], fingerprint: Fingerprint) -> list[Line]:
    marked = (line for line in lines if line.about.fingerprint)
    current = (line for line in marked if line.about.fingerprint == fingerprint(*line.name))
    return list({line.name: line for line in current}.values())


def read_all(folder: Path, asked: Collection[str] | None = None) -> tuple[list[Run], list[Line]]:
    """Return all runs of a folder and the lines of its records, but a last one that was cut off.

    Args:
        folder: of the evidence.
        asked: the statements whose records are; all, if left out.

    Raises:
        NoEvidenceError: there is no evidence.
        EvidenceError: a line is damaged, or the schema is unknown.
    """
    path = folder / FILE
    lines = _lines(path)
    if not lines and not path.stat().st_size:  # of a run that ended before it wrote anything
        raise _nothing_in(folder)
    if not lines or lines[0].about.kind != "run":
        raise EvidenceError(f"{path} does not begin with a run; {ELSEWHERE}")
    check_schema(path, json_lines.object_in(lines[0].text) or {})
    runs = [line.made(Run) for line in lines if line.about.kind == "run"]
    records = [line for line in lines if line.about.kind == "record"]
    return runs, [line for line in records if asked is None or line.about.claim in asked]


def check_schema(path: Path, line: dict[str, Any]) -> None:
    """Raise an EvidenceError for a run of another schema, which is nothing to delete unasked."""
    if (schema := line.get("schema")) != SCHEMA:
        is_newer = isinstance(schema, int) and schema > SCHEMA
        told = "a newer version of this suite wrote it: install that one" if is_newer else ELSEWHERE
        raise EvidenceError(
            f"{path} is of schema {schema!r}, and this version reads schema {SCHEMA}; {told}"
        )


def prune(
    folder: Path,
    todays: Callable[[Run], Fingerprint],
    knows: Callable[[str], bool] = lambda claim: True,
) -> tuple[int, int]:
    """Leave only what today's code would find again; return how many records stay, and went.

    Args:
        folder: of the evidence.
        todays: today's fingerprints for the settings of a run.
        knows: whether the statement of an identifier is one of which these tell; others stay.

    Raises:
        EvidenceError: there is no evidence, it is damaged, or another run writes in the folder.
    """
    if not (folder / FILE).exists():  # nothing is made where there is no evidence
        raise _nothing_in(folder)
    with writing(folder):
        held = FolderLock(folder)
        runs, lines = read_all(folder)  # with what another run wrote before it was locked
        last = {run.settings: run for run in runs}
        known = [line for line in lines if knows(line.about.claim)]
        current = {line for run in last.values() for line in _current(known, todays(run))}
        current |= {line for line in lines if not knows(line.about.claim)}
        kept = sorted((line.record for line in current), key=lambda record: record.name)
        headers = [run for run in runs if run in last.values()]
        json_lines.write(folder / FILE, [*map(_line, headers), *map(_line, kept)])
        held.give_back()
    return len(kept), len(lines) - len(kept)


def _line(found: Run | Record) -> dict[str, Any]:
    kind = type(found).__name__.lower()
    return {"kind": kind, **msgspec.to_builtins(found, enc_hook=_plain)}


def _plain(number: Any) -> Any:
    """Return a number of NumPy as one of Python's."""
    return number.item()


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


@contextmanager
def writing(folder: Path, kept: str = "evidence") -> Iterator[None]:
    """Write in a folder.

    Raises:
        EvidenceError: it cannot be written to, or a file in it.
    """
    try:
        yield
    except OSError as error:
        is_within = error.filename is not None and Path(error.filename) != folder
        where = f": {error.filename}" if is_within else ""
        raise EvidenceError(
            f"{kept} cannot be kept in {folder} ({error.strerror}{where}); name another folder"
        ) from None


def _nothing_in(folder: Path) -> NoEvidenceError:
    return NoEvidenceError(f"no evidence in {folder}; name another folder")


def made(kind: type[T], line: dict[str, Any], path: Path) -> T:
    """Return what a line of a file is, its kind left out.

    Raises:
        EvidenceError: it has another form.
    """
    values = {name: value for name, value in line.items() if name != "kind"}
    try:
        return json_lines.made(kind, values)
    except TypeError as error:
        form = f"a line of another form ({error})"
        raise EvidenceError(f"{path} has {form}; {ELSEWHERE}") from None


def _lines(path: Path) -> list[Line]:
    try:
        return lines_of(path, partial(_line_in, path))
    except FileNotFoundError:
        raise _nothing_in(path.parent) from None


def lines_of(path: Path, of_a_line: Callable[[bytes], T | None]) -> list[T]:
    """Return what is made of each line of a file that is there (:func:`json_lines.read_as`).

    Raises:
        FileNotFoundError: it is not there.
        EvidenceError: it cannot be read, or a line, not the last, is damaged.
    """
    try:
        return json_lines.read_as(of_a_line, path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise EvidenceError(
            f"{path} cannot be read ({error.strerror}); name another folder"
        ) from None
    except json_lines.DamagedLineError as error:
        raise EvidenceError(str(error)) from None


def _line_in(path: Path, text: bytes) -> Line | None:
    about = json_lines.parsed(text, _about)
    return None if about is None else Line(about, text, path)
