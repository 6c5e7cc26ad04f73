"""The command that examines a normalisation layer."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from verify.complaints import bad_input
from verify.conform import run
from verify.conform.cases import KINDS
from verify.conform.conventions import DECLARED
from verify.conform.process import Order, StartError
from verify.conform.report import STATUS, markdown, show
from verify.conform.subject import FAMILIES
from verify.settings import DEFAULT_EVIDENCE

INTERRUPTED = 130
"""Exit status, as shells have it."""
WIDTH = 160
"""Of a report that goes to a file."""


def conform(
    target: Annotated[
        str, typer.Argument(help="package.module:name, path/to/file.py:name, or path/to/file.py.")
    ],
    family: Annotated[str, typer.Option(help=f"{', '.join(FAMILIES)}.")] = "batch",
    adapter: Annotated[
        str, typer.Option(help="A framework, or a file with adapter(device); else guessed.")
    ] = "",
    like: Annotated[
        str, typer.Option(help=f"Whose conventions: {', '.join(DECLARED)}; else inferred.")
    ] = "",
    device: Annotated[str, typer.Option(help="The framework's device.")] = "",
    dtype: Annotated[str, typer.Option(help="Several are separated by commas.")] = "",
    modes: Annotated[str, typer.Option(help="Several are separated by commas.")] = "",
    kinds: Annotated[str, typer.Option("--cases", help=f"Of: {', '.join(KINDS)}.")] = "",
    layout: Annotated[
        str, typer.Option(help="Only arrays stored so: channels last, non-contiguous, expanded.")
    ] = "",
    axes: Annotated[str, typer.Option(help="Like NC,NCHW; else found by trying.")] = "",
    groups: Annotated[int, typer.Option(help="Groups of channels.")] = 1,
    is_affine: Annotated[
        bool, typer.Option("--affine/--no-affine", help="Give gamma and beta, or None.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Draws other numbers.")] = 0,
    limit: Annotated[float, typer.Option(help="Seconds for one mode at one case.")] = 20.0,
    is_compiled: Annotated[bool, typer.Option("--compile", help="Compile the layer.")] = False,
    token: Annotated[
        str, typer.Option("--reproduce", help="One cell again: its numbers, and a script.")
    ] = "",
    folder: Annotated[
        Path, typer.Option(help="Unfinished results, and a script for each failure.")
    ] = DEFAULT_EVIDENCE / "conform",
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Examine a normalisation layer against the closed forms; exit 0 conforms, 1 not, 2 neither."""
    order = Order(target, adapter, device, family, groups, is_affine, is_compiled)
    wanted = run.Wanted(
        like,
        _listed(dtype),
        _listed(modes),
        seed,
        limit,
        _listed(kinds),
        _listed(axes),
        stored=_listed(layout),
    )
    if token:
        try:
            typer.echo("\n".join(run.reproduced(order, wanted, token)))
        except (ValueError, StartError) as error:
            raise bad_input(error) from None
        return
    console = Console(stderr=True)
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def tell(description: str, done: int, total: int) -> None:
            bar.update(task, description=description, completed=done, total=total)

        kept = folder / _plain(f"{target} {family} {device}")
        try:
            report = run.run(order, wanted, tell, kept)
        except KeyboardInterrupt:
            console.print("stopped; the same command goes on where it was")
            raise typer.Exit(INTERRUPTED) from None
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1))
    elif as_markdown:
        typer.echo(markdown(report))
    else:
        show(report, Console(width=None if sys.stdout.isatty() else WIDTH))
    raise typer.Exit(STATUS[report.verdict])


def _plain(words: str) -> str:
    """Return a name for a folder."""
    return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-")


def _listed(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(",") if word.strip())
