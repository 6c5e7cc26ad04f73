"""The command that has Coq check the theorems, and says what was found."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from verify.complaints import bad_input
from verify.kernel import coq, evidence
from verify.kernel.compilation import Compilation, Found, UnprovedError, library
from verify.kernel.evidence import Check, Outcome
from verify.options import DEFAULT_EVIDENCE

BUILDS = Path("build/coq")


def prove(
    evidence_folder: Annotated[
        Path, typer.Option("--evidence", help="Folder of the evidence.")
    ] = DEFAULT_EVIDENCE,
    builds: Annotated[Path, typer.Option(help="Folder of compiled files.")] = BUILDS,
    workers: Annotated[int, typer.Option(help="So many files at once; 0: one a core.")] = 0,
) -> None:
    """Have Coq check every theorem that is stated from the definitions."""
    try:
        installed = coq.find()
        work = Compilation(installed, builds, library(coq.LIBRARY))
        start = time.perf_counter()
        found = list(_tracked(work.run(workers or os.cpu_count() or 1), len(work.sources)))
    except (coq.CoqMissingError, UnprovedError) as error:
        raise bad_input(error) from None
    checks = sorted((c for f in found for c in f.checks), key=lambda c: (c.file, c.theorem))
    path = evidence.write(evidence_folder, checks)
    console = Console()
    console.print(_table(checks))
    for rests_on, count in Counter(c.assumptions for c in checks).items():
        console.print(f"{count} rest on {_explained(rests_on)}")
    for file in found:
        if file.error:
            console.print(f"{file.file}: {file.error}", style="bold")
    new, seconds = sum(f.is_new for f in found), time.perf_counter() - start
    console.print(
        f"{_counted(checks)}; {new} of {len(found)} files compiled now, in {seconds:.0f} s, "
        f"by Coq {installed.version}; written to {path}"
    )
    if any(f.error for f in found) or any(c.outcome is not Outcome.CHECKED for c in checks):
        raise typer.Exit(1)


def _tracked(found: Iterable[Found], total: int) -> Iterator[Found]:
    console = Console(stderr=True)
    yield from track(found, "checking proofs", total=total, console=console, transient=True)


def _table(checks: Iterable[Check]) -> Table:
    table = Table(box=None)
    for name in ("theorem", "file", "outcome", "s"):
        table.add_column(name, justify="right" if name == "s" else "left", overflow="fold")
    for check in checks:
        said = f"{check.outcome}: {check.message}" if check.message else str(check.outcome)
        table.add_row(check.theorem, check.file, said, f"{check.seconds:.1f}")
    return table


def _explained(assumptions: tuple[str, ...]) -> str:
    words = (f"{name} ({evidence.ALLOWED.get(name, 'not allowed')})" for name in assumptions)
    return ", ".join(words) or "Coq's logic alone"


def _counted(checks: list[Check]) -> str:
    return ", ".join(
        f"{count} {outcome}"
        for outcome in Outcome
        if (count := sum(check.outcome is outcome for check in checks))
    )
