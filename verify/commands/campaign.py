"""``python -m verify campaign``: statements from many seeds, on as many machines as there are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from theory.statement import Verdict
from verify import cluster, engine
from verify.campaign.journal import Journal
from verify.campaign.report import table
from verify.campaign.run import Failure, campaign_pairs, run
from verify.cluster import ClusterError
from verify.commands.shared import Cache
from verify.complaints import GOES_ON, bad_input, complain, interrupted
from verify.description import describe_run
from verify.engine import Pair
from verify.evidence import EvidenceError
from verify.options import SEEDS, Options
from verify.spread import OtherVersionError
from verify.terminal import columns
from verify.wording import plural
from verify.workers import ADDRESS, Workers

WIDTH = 180
"""Of a table that goes to a file."""
SHOWN = 10
"""Failures that are told one by one."""


def campaign(
    identifiers: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Statements, with their readings; else all."),
    ] = None,
    seeds: Annotated[str, typer.Option(help="FIRST:END, where random cases start.")] = "0:100",
    profile: Annotated[
        str, typer.Option(help="The size of a unit: smoke, default, deep.")
    ] = "smoke",
    witnesses: Annotated[
        list[str] | None,
        typer.Option(help="A witness; again for more. Else all whose cases depend on the seed."),
    ] = None,
    cluster_address: Annotated[
        str | None,
        typer.Option("--cluster", help=ADDRESS),
    ] = None,
    evidence_folder: Annotated[
        Path, typer.Option("--evidence", help="Folder of the campaign; what is in it is kept.")
    ] = Path("evidence/campaign"),
    cache: Cache = None,
) -> None:
    """Examine statements from many seeds, and keep counts, the worst cases and counterexamples."""
    options = Options(profile, evidence=evidence_folder, cache=cache)
    try:
        chosen = campaign_pairs(engine.selected(engine.CLAIMS, identifiers or []), witnesses or [])
        settings, span = options.settings(), seeds_of(seeds)
        journal = Journal(
            evidence_folder,
            describe_run(profile, 0, settings.backend, settings.device),
            engine.todays(replace(settings, seed=0)),
        )
    except (ValueError, RuntimeError) as error:
        raise bad_input(error) from None
    console = Console(stderr=True)
    try:
        with cluster.workers(cluster_address) as workers:
            failures = _run(chosen, span, options, journal, workers, console)
    except (ClusterError, OtherVersionError, EvidenceError) as error:
        raise bad_input(error) from None
    except KeyboardInterrupt:
        raise interrupted(GOES_ON) from None
    finally:
        journal.close()
    names = {pair.name for pair in chosen}
    found = [finding for name, finding in journal.known.items() if name in names]
    width = columns(WIDTH)
    Console(width=width).print(table(found, width))
    typer.echo(f"{sum(f.instances for f in found):,} instances in {journal.path}")
    expected = {pair.name: pair.claim.expected for pair in chosen}
    against = [f for f in found if f.violated and expected[f.name] is not Verdict.REFUTED]
    for finding in against:
        told = f"{finding.violated:,} of {finding.instances:,} instances violate it"
        complain(f"{finding.claim}, {expected[finding.name].value} as expected: {told}")
    if failures:
        _complain_of(failures)
    if failures or against:
        raise typer.Exit(1)


def seeds_of(text: str) -> range:
    """Return the seeds FIRST:END.

    >>> seeds_of("5:8")
    range(5, 8)

    Raises:
        ValueError: the text is of another form, or there are none.
    """
    first, _, end = text.partition(":")
    if not (first.isdecimal() and end.isdecimal() and int(first) < int(end) <= SEEDS):
        raise ValueError(
            f"the seeds are {text!r}; expected FIRST:END with FIRST < END, like 0:1000"
        )
    return range(int(first), int(end))


def _run(
    chosen: list[Pair],
    span: range,
    options: Options,
    journal: Journal,
    workers: Workers,
    console: Console,
) -> list[Failure]:
    """Run a campaign with a progress bar; return what failed."""
    if workers.dashboard:
        console.print(f"dashboard: {workers.dashboard}", highlight=False)
    failures = []
    with Progress(console=console) as bar:
        every = len(chosen) * len(span)
        known = sum(
            sum(finding.has(seed) for seed in span)
            for name, finding in journal.known.items()
            if name in {pair.name for pair in chosen}
        )
        examined = bar.add_task("statements x seeds", total=every, completed=known)
        for done in run(chosen, span, options.settings(), journal, workers):
            if isinstance(done, Failure):
                failures.append(done)
            unit = done.unit if isinstance(done, Failure) else done
            bar.advance(examined, len(unit.task.claims))
    return failures


def _complain_of(failures: list[Failure]) -> None:
    kinds = Counter(type(failure.error).__name__ for failure in failures)
    listed = ", ".join(f"{many} of {kind}" for kind, many in kinds.items())
    complain(f"{plural(len(failures), 'unit')} failed ({listed}); the same command tries again")
    for failure in failures[:SHOWN]:
        complain(f"{failure.unit}: {failure.error}")
