"""Examine statements now, or one instance again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from theory.statement import Statement, Verdict
from verify import engine, explained, ledger, others, pool, threads
from verify.commands.shared import Cache, Claims, Json, conclude, whose
from verify.complaints import GOES_ON, NOT_KEPT, bad_input, complain, interrupted
from verify.engine import Pair
from verify.evidence import EvidenceError, Writer
from verify.ledger import Entry
from verify.options import Options
from verify.record import Name, Record
from verify.settings import Settings, TrainingError
from verify.terminal import columns

FEW = 24
"""So many pairs are examined sooner here than by processes that must start first."""
FIRST = 4
"""So many are examined here while those processes start, so that a first verdict is soon known."""


def check(
    identifiers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET|ID",
            help="Statements, with their readings; the first word may be a TARGET as for --claims.",
        ),
    ] = None,
    profile: Annotated[str, typer.Option(help="smoke, default or deep.")] = "default",
    backend: Annotated[str, typer.Option(help="numpy, torch, cupy or array-api-strict.")] = "numpy",
    device: Annotated[str, typer.Option(help="The backend's device.")] = "",
    seed: Annotated[int, typer.Option(help="Where random cases start.")] = 0,
    evidence_folder: Annotated[
        Path | None, typer.Option("--evidence", help="Keep the evidence in this folder.")
    ] = None,
    cache: Cache = None,
    target: Claims = "",
    as_json: Json = False,
) -> None:
    """Examine statements now: all of them, or those that are named.

    Nothing is kept without --evidence, but for others' statements: theirs in evidence/claims.
    """
    try:
        target, words = whose(identifiers, target)
        options = Options(profile, backend, device, seed, evidence_folder, cache, target)
        settings = options.settings()
        claims = engine.selected(engine.statements(target), words, target)
        if target:
            from verify import trial

            trial.refuse_unfit(claims, target)
    except (ValueError, RuntimeError) as error:
        raise bad_input(error) from None
    keeps = bool(evidence_folder or target)
    try:
        writer = options.writer(threads.count()) if keeps else None
        records, failures = _examined(claims, settings, writer)
    except (EvidenceError, TrainingError) as error:
        raise bad_input(error) from None
    except KeyboardInterrupt:
        raise interrupted(GOES_ON if keeps else NOT_KEPT) from None
    for line in _told(failures, target):
        complain(line)
    unsure = {failure.name[0] for failure in failures}
    known = [replace(r, proof=None) if r.claim in unsure else r for r in records]
    known += [Record(*failure.name) for failure in failures]
    entries = ledger.ledger(claims, known)
    if not as_json:
        _print_named(entries, words)
    with suppress(typer.Exit) if failures else nullcontext():
        conclude(entries, as_json)
    if failures:
        raise typer.Exit(2)


def reproduce(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TOKEN", help="A token from the evidence, such as random:generic:0:5."
        ),
    ],
    cache: Cache = None,
    target: Claims = "",
) -> None:
    """Rebuild one instance from its token and examine every statement there."""
    from verify.reproduce import reproduce as reproduced

    try:
        lines = reproduced(" ".join(words), cache, engine.statements(target))
    except (ValueError, TrainingError) as error:
        raise bad_input(error) from None
    for line in lines:
        typer.echo(line)


def _print_named(entries: Sequence[Entry], words: Collection[str]) -> None:
    """Print what the statements say that were named themselves, and where they fail."""
    from verify.show import WIDTH, said_entry

    width = columns(WIDTH)
    for entry in entries:
        if entry.claim.id in words:
            typer.echo(f"{said_entry(entry, width)}\n")


@dataclass(frozen=True)
class Failure:
    """A statement of others that a witness could not evaluate."""

    name: Name
    error: Exception


def _told(failures: Sequence[Failure], target: str) -> Iterator[str]:
    """Yield what could not be evaluated, where in their file, and by which witnesses."""
    witnesses: dict[tuple[str, str], list[str]] = {}
    for failure in failures:
        claim, witness = failure.name
        where = explained.error(failure.error, others.folder_of(target))
        witnesses.setdefault((claim, where), []).append(witness)
    for (claim, where), names in witnesses.items():
        who = "a witness" if len(names) == 1 else "witnesses"
        yield f"{claim}: {who} could not evaluate it ({', '.join(names)}): {where}"


def _examined(
    claims: Sequence[Statement], settings: Settings, writer: Writer | None
) -> tuple[list[Record], list[Failure]]:
    """Return what every witness finds, after saying each verdict as soon as it is known."""
    from verify.progress import NEED_NETWORKS, prepare

    pairs = engine.pairs(claims, engine.WITNESSES)
    examine = _examined_here if len(pairs) <= FEW else _examined_by_many
    console, told = Console(stderr=True), _Told(claims, pairs)
    records: list[Record] = []
    failures: list[Failure] = []
    for needs_networks in (False, True):
        chosen = [p for p in pairs if (p.witness.name in NEED_NETWORKS) is needs_networks]
        prepare(engine.unknown(chosen, writer), settings, console)
        with Progress(console=console, transient=True) as bar:
            known = len(records) + len(failures)
            task = bar.add_task("examining", total=len(pairs), completed=known)
            for found in examine(chosen, settings, writer):
                bar.advance(task)
                if isinstance(found, Failure):
                    failures.append(found)
                    line = told.without(found)
                else:
                    records.append(found)
                    line = told.by(found)
                if line:
                    bar.console.print(line, highlight=False, markup=False)
    if writer is not None:
        writer.close()
    return records, failures


def _examined_here(
    pairs: Sequence[Pair], settings: Settings, writer: Writer | None
) -> Iterator[Record | Failure]:
    """Yield what is found of pairs; what a witness cannot evaluate costs no other its verdict."""
    unknown = {pair.name: pair for pair in engine.unknown(pairs, writer)}
    yield from engine.examine([p for p in pairs if p.name not in unknown], settings, writer)
    for task in engine.tasks(unknown.values()):
        left = [unknown[name] for name in task.names]
        try:
            for record in engine.examine(left, settings, writer):
                left = [pair for pair in left if pair.name != record.name]
                yield record
        except Exception as error:
            yield from _alone(left, error, settings, writer)


def _alone(
    pairs: Sequence[Pair], error: Exception, settings: Settings, writer: Writer | None
) -> Iterator[Record | Failure]:
    """Yield what is found of pairs one by one, after an error that one of them made.

    Raises:
        Exception: the error, if it is no statement's, or the statements are those of the papers.
    """
    if not _is_of_theirs(error, settings):
        raise error
    if len(pairs) == 1 or isinstance(error, BrokenProcessPool):  # it would break this one, too
        yield from (Failure(pair.name, error) for pair in pairs)
        return
    for pair in pairs:
        yield from _examined_here([pair], settings, writer)


def _is_of_theirs(error: Exception, settings: Settings) -> bool:
    """Whether an error may be one that a statement of others made."""
    return bool(settings.claims) and not isinstance(error, EvidenceError | TrainingError)


def _examined_by_many(
    pairs: Sequence[Pair], settings: Settings, writer: Writer | None
) -> Iterator[Record | Failure]:
    """Yield what processes find of pairs, after the first few, which are examined here."""
    first = engine.unknown(pairs, writer)[:FIRST]
    named = {pair.name for pair in first}
    rest = {pair.name: pair for pair in pairs if pair.name not in named}
    failed: list[tuple[Pair, Exception]] = []
    with pool.examining([*rest.values()], settings, writer) as futures:
        names = {future: name for name, future in futures.items()}
        yield from _examined_here(first, settings, writer)
        for future in as_completed(names):
            try:
                yield future.result()
            except Exception as error:
                if not _is_of_theirs(error, settings):
                    raise
                failed.append((rest[names[future]], error))
    for pair, raised in failed:
        if isinstance(raised, BrokenProcessPool):
            yield Failure(pair.name, raised)
        else:  # an error has its place in their file where it is made
            yield from _examined_here([pair], settings, writer)


class _Told:
    """Says a verdict once: when a proof or a counterexample is there, or the last witness."""

    def __init__(self, claims: Sequence[Statement], pairs: Sequence[Pair]):
        self.start = time.perf_counter()
        self.claims = {claim.id: claim for claim in claims}
        self.waiting = Counter(pair.claim.id for pair in pairs)
        self.found: dict[str, list[Record]] = {claim.id: [] for claim in claims}
        self.said: set[str] = set()

    def by(self, record: Record) -> str:
        """Return the line that a record makes known, or nothing."""
        self.found[record.claim].append(record)
        return self._said(*record.name)

    def without(self, failure: Failure) -> str:
        """Return the line that is known without a witness, or nothing."""
        return self._said(*failure.name)

    def _said(self, name: str, witness: str) -> str:
        found = self.found[name]
        self.waiting[name] -= 1
        entry = ledger.entry(self.claims[name], found)
        is_certain = entry.verdict in (Verdict.PROVED, Verdict.REFUTED)
        if name in self.said or not (is_certain or not self.waiting[name]):
            return ""
        self.said.add(name)
        left = f"; {self.waiting[name]} to go" if self.waiting[name] else ""
        seconds = time.perf_counter() - self.start
        return f"{seconds:6.1f} s  {name}: {entry.verdict_in_words} ({witness}{left})"
