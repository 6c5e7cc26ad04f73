"""Examine statements now, or one instance again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from theory.statement import Statement, Verdict
from verify import engine, explained, ledger, others, pool
from verify.commands.shared import Cache, Claims, Json, conclude
from verify.complaints import bad_input
from verify.engine import Pair
from verify.evidence import EvidenceError, Record, Writer
from verify.options import Options
from verify.settings import Settings, TrainingError

FEW = 24
"""So many pairs are examined sooner here than by processes that must start first."""
FIRST = 4
"""So many are examined here while those processes start, so that a first verdict is soon known."""


def check(
    identifiers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET] [ID]...", help="Statements; the first may name those of others."
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

    What is found of others' statements is kept, in evidence/claims, if no other folder is named.
    """
    words = identifiers or []
    if words and others.is_target(words[0]):
        target, *words = words
    try:
        target = others.resolved(target) if target else ""
        options = Options(profile, backend, device, seed, evidence_folder, cache, target)
        settings = options.settings()
        claims = engine.selected(engine.statements(target), words)
        if target:
            from verify import trial

            trial.refuse_unfit(claims, target)
    except (ValueError, RuntimeError) as error:
        raise bad_input(error) from None
    try:
        records = _examined(
            claims, settings, options.writer() if evidence_folder or target else None
        )
    except (EvidenceError, TrainingError) as error:
        raise bad_input(error) from None
    except Exception as error:
        if not target:
            raise
        where = explained.error(error, others.folder_of(target))
        raise bad_input(others.OthersError(f"a witness could not evaluate {where}")) from error
    conclude(ledger.ledger(claims, records), as_json)


def reproduce(
    token: Annotated[str, typer.Argument(help="A token from the evidence.")],
    cache: Cache = None,
    target: Claims = "",
) -> None:
    """Rebuild one instance from its token and examine every statement there."""
    from verify.reproduce import reproduce as reproduced

    try:
        lines = reproduced(token, cache, engine.statements(target))
    except (ValueError, TrainingError) as error:
        raise bad_input(error) from None
    for line in lines:
        typer.echo(line)


def _examined(
    claims: Sequence[Statement], settings: Settings, writer: Writer | None
) -> list[Record]:
    """Return what every witness finds, after saying each verdict as soon as it is known."""
    from verify.progress import NEED_NETWORKS, prepare

    pairs = engine.pairs(claims, engine.WITNESSES)
    examine = engine.examine if len(pairs) <= FEW else _examined_by_many
    console, told = Console(stderr=True), _Told(claims, pairs)
    records: list[Record] = []
    for needs_networks in (False, True):
        chosen = [p for p in pairs if (p.witness.name in NEED_NETWORKS) is needs_networks]
        prepare(engine.unknown(chosen, writer), settings, console)
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task("examining", total=len(pairs), completed=len(records))
            for record in examine(chosen, settings, writer):
                records.append(record)
                bar.advance(task)
                if line := told.by(record):
                    bar.console.print(line, highlight=False, markup=False)
    if writer is not None:
        writer.close()
    return records


def _examined_by_many(
    pairs: Sequence[Pair], settings: Settings, writer: Writer | None
) -> Iterator[Record]:
    """Yield what processes find of pairs, after the first few, which are examined here."""
    first = engine.unknown(pairs, writer)[:FIRST]
    named = {pair.name for pair in first}
    rest = [pair for pair in pairs if pair.name not in named]
    with pool.examining(rest, settings, writer) as futures:
        yield from engine.examine(first, settings, writer)
        for future in as_completed(futures.values()):
            yield future.result()


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
        name, found = record.claim, self.found[record.claim]
        found.append(record)
        self.waiting[name] -= 1
        verdict = ledger.judge(self.claims[name], found)
        is_certain = verdict in (Verdict.PROVED, Verdict.REFUTED)
        if name in self.said or not (is_certain or not self.waiting[name]):
            return ""
        self.said.add(name)
        left = f"; {self.waiting[name]} to go" if self.waiting[name] else ""
        seconds = time.perf_counter() - self.start
        return f"{seconds:6.1f} s  {name}: {verdict.value} ({record.witness}{left})"
