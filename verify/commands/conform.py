"""The command that examines a normalisation layer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from verify.complaints import GOES_ON, bad_input, interrupted
from verify.conform import run
from verify.conform.cases import KINDS
from verify.conform.conventions import DECLARED
from verify.conform.process import Order, StartError
from verify.conform.report import STATUS, Report, markdown, show
from verify.conform.subject import FAMILIES
from verify.settings import DEFAULT_EVIDENCE
from verify.targets import absolute
from verify.terminal import columns
from verify.workers import ADDRESS, Call

WIDTH = 160
"""Of a report that goes to a file."""


def conform(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGET",
            help="package.module:name, path/to/file.py:name, or path/to/file.py; or several.",
        ),
    ],
    family: Annotated[str, typer.Option(help=f"{', '.join(FAMILIES)}.")] = "batch",
    adapter: Annotated[
        str, typer.Option(help="A framework, or a file with adapter(device); else guessed.")
    ] = "",
    like: Annotated[
        str, typer.Option(help=f"Whose conventions: {', '.join(DECLARED)}; else inferred.")
    ] = "",
    device: Annotated[str, typer.Option(help="The framework's device, such as cuda.")] = "",
    dtype: Annotated[
        str,
        typer.Option(help="Separated by commas, such as float16,bfloat16; else single, double."),
    ] = "",
    modes: Annotated[
        str, typer.Option(help="Separated by commas, such as forward,gradient; else all.")
    ] = "",
    kinds: Annotated[
        str, typer.Option("--cases", help=f"Separated by commas, of: {', '.join(KINDS)}; else all.")
    ] = "",
    layout: Annotated[
        str, typer.Option(help="Only arrays stored so: non-contiguous, every second row, ...")
    ] = "",
    axes: Annotated[
        str, typer.Option(help="Of the arrays, such as NC,NCHW; else found by trying.")
    ] = "",
    groups: Annotated[int, typer.Option(help="Number of groups of channels.")] = 1,
    is_affine: Annotated[
        bool, typer.Option("--affine/--no-affine", help="Pass gamma and beta, or None for both.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Of the random numbers.")] = 0,
    limit: Annotated[float, typer.Option(help="Seconds that a mode may take at one case.")] = 20.0,
    is_compiled: Annotated[
        bool, typer.Option("--compile", help="Compile the layer first.")
    ] = False,
    token: Annotated[
        str, typer.Option("--reproduce", help="Show one failure again, by the token it printed.")
    ] = "",
    cluster_address: Annotated[str, typer.Option("--cluster", help=ADDRESS)] = "",
    folder: Annotated[
        Path, typer.Option(help="For unfinished results, and a script that shows each failure.")
    ] = DEFAULT_EVIDENCE / "conform",
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, or a list of them.")
    ] = False,
) -> None:
    """Compare a normalisation layer, and its derivatives, with the closed forms.

    The exit status is 0 if it conforms, 1 if it does not, 2 where neither can be said.

    Of several layers it is 1 if one does not conform.
    """
    orders = [
        Order(absolute(target), adapter, device, family, groups, is_affine, is_compiled)
        for target in targets
    ]
    try:
        wanted = run.Wanted(
            like,
            run.listed("--dtype", dtype),
            run.listed("--modes", modes),
            seed,
            limit,
            run.listed("--cases", kinds),
            run.listed("--axes", axes),
            stored=run.listed("--layout", layout),
        )
    except StartError as error:
        raise bad_input(error) from None
    if token:
        try:
            typer.echo("\n".join(run.reproduced(_only(orders), wanted, token)))
        except (ValueError, StartError) as error:
            raise bad_input(error) from None
        return
    kept = [folder.resolve() / _plain(f"{target} {family} {device}") for target in targets]
    console = Console(stderr=True)
    with _ending(), Progress(console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def tell(description: str, done: int, total: int) -> None:
            bar.update(task, description=description, completed=done, total=total)

        if cluster_address:
            reports = _elsewhere(orders, wanted, kept, cluster_address, tell)
        else:
            both = zip(orders, kept, strict=True)
            reports = [run.run(order, wanted, tell, place) for order, place in both]
    if as_json:
        found = [report.as_json() for report in reports]
        typer.echo(json.dumps(found if len(found) > 1 else found[0], indent=1))
    elif as_markdown:
        typer.echo("\n\n".join(map(markdown, reports)))
    else:
        for report in reports:
            show(report, Console(width=columns(WIDTH)))
    statuses = {STATUS[report.verdict] for report in reports}
    raise typer.Exit(next(status for status in (1, 2, 0) if status in statuses))


@contextmanager
def _ending() -> Iterator[None]:
    """End with a sentence where an examination is stopped, or what it finds cannot be kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise interrupted(GOES_ON) from None
    except OSError as error:
        if error.filename is None:
            raise
        where = f"{error.filename} cannot be written ({error.strerror})"
        raise bad_input(OSError(f"{where}; name another place by --folder")) from None


def _only(orders: list[Order]) -> Order:
    if len(orders) > 1:
        raise ValueError(f"--reproduce is of one layer; {len(orders)} are named")
    return orders[0]


def _elsewhere(
    orders: list[Order], wanted: run.Wanted, kept: list[Path], address: str, tell: run.Tell
) -> list[Report]:
    """Examine on a cluster, a layer a call."""
    from verify.commands.elsewhere import outcomes  # imports more than one layer needs

    calls = [
        Call(place.name, partial(run.run, folder=place), (order, wanted))
        for order, place in zip(orders, kept, strict=True)
    ]
    tell("layers", 0, len(calls))
    return [future.result() for future in outcomes(calls, address, partial(tell, "layers"))]


def _plain(words: str) -> str:
    """Return a name for a folder."""
    return re.sub(r"[^A-Za-z0-9]+", "-", words).strip("-")


if __name__ == "__main__":
    typer.run(conform)  # without the rest of the suite, which starts sooner
