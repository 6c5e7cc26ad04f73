"""The command that audits a network."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from verify.audit import terminal
from verify.audit.auditing import COSTLY, LOOKED_INTO, MOST_BATCHES
from verify.audit.clock import Tell
from verify.audit.errors import AuditError, named
from verify.audit.order import CROSS_ENTROPY, Order, audited
from verify.audit.report import Report
from verify.commands.wanted import LOSS, MODEL, PAIRS, refuse_unnamed
from verify.complaints import bad_input, complain
from verify.targets import TargetError, absolute
from verify.terminal import columns
from verify.workers import ADDRESS, Call


def audit(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A module, or what makes one: package.module:name or path/to/file.py:name.",
        ),
    ],
    data: Annotated[
        str, typer.Option(help="Pairs (inputs, targets), or what makes them: package.module:name.")
    ],
    loss: Annotated[
        str, typer.Option(help="A function of (outputs, targets) that returns one number.")
    ] = CROSS_ENTROPY,
    checkpoints: Annotated[
        list[Path] | None,
        typer.Option("--checkpoint", help="A state_dict, by torch.save; again for more."),
    ] = None,
    device: Annotated[str, typer.Option(help="PyTorch's device, such as cuda.")] = "",
    layers: Annotated[
        str, typer.Option(help="Only those whose names match, such as 'stage1.*,output'.")
    ] = "",
    declared: Annotated[
        list[str] | None,
        typer.Option(
            "--as", help="What a class of yours is, rms or layer: LlamaRMSNorm=rms, MyNorm=layer."
        ),
    ] = None,
    budget: Annotated[
        float, typer.Option(help="Seconds after which nothing costly is begun.")
    ] = inf,
    batches: Annotated[int, typer.Option(min=1, help="How many batches are used.")] = MOST_BATCHES,
    costly: Annotated[
        int,
        typer.Option(min=0, help="For how many, condition numbers and second derivatives too."),
    ] = COSTLY,
    entries: Annotated[
        int,
        typer.Option(min=0, help="At how many layers of each kind single entries are examined."),
    ] = LOOKED_INTO,
    cluster_address: Annotated[str, typer.Option("--cluster", help=ADDRESS)] = "",
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page that needs no network; of several checkpoints a folder."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every statement.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, or a list of them.")
    ] = False,
) -> None:
    """Report which of the theorems apply to a network, and how tight they are there.

    The exit status is 1 if a statement that is right fails there, or a layer's gradient is wrong.

    It is 2 if the model, or one of several checkpoints, could not be audited.
    """
    try:
        refuse_unnamed((model, MODEL), (data, PAIRS), (loss, LOSS))
        _refuse_without_folder(html)
    except (AuditError, TargetError) as error:
        raise bad_input(error) from None
    order = Order(
        model=absolute(model),
        data=absolute(data),
        loss=absolute(loss),
        device=device,
        layers=tuple(filter(None, map(str.strip, layers.split(",")))),
        declared=tuple(declared or ()),
        budget=budget,
        batches=batches,
        costly=costly,
        entries=entries,
    )
    orders = [replace(order, checkpoint=c.absolute()) for c in checkpoints or ()] or [order]
    with redirect_stdout(sys.stderr):  # what a model prints is no part of a report
        outcomes = _elsewhere(orders, cluster_address) if cluster_address else _here(orders)
    both = list(zip(orders, outcomes, strict=True))
    audits = [(order, report) for order, report in both if isinstance(report, Report)]
    failed = [(order, error) for order, error in both if isinstance(error, Exception)]
    reports = [report for _, report in audits]
    if as_json and audits:
        found = [report.as_json() for report in reports]
        typer.echo(json.dumps(found if len(orders) > 1 else found[0], indent=1, allow_nan=False))
    elif audits:
        console = Console(width=columns(terminal.WIDTH))
        for order, report in audits:
            if len(orders) > 1:
                console.rule(str(order.checkpoint))
            terminal.show(report, console, every=every)
    for order, why in failed:
        said = _unread(why) if isinstance(why, OSError) else str(why)
        is_named = len(orders) == 1 or str(order.checkpoint) in said
        complain(said if is_named else f"{order.checkpoint}: {said}")
    if html is not None and audits:
        try:
            _save(html, audits)
        except OSError as error:
            where = f"{error.filename} cannot be written ({error.strerror})"
            raise bad_input(OSError(f"{where}; name another place by --html")) from None
    if failed:
        raise typer.Exit(2)
    raise typer.Exit(1 if any(report.has_failed for report in reports) else 0)


def _refuse_without_folder(html: Path | None) -> None:
    """Raise an error for a page that could not be written once the audit is done."""
    if html is not None and not html.parent.is_dir():
        where = f"{html.parent} is no folder, and {html.name} would be written there"
        raise AuditError(f"{where}; name another place by --html")


def _unread(error: OSError) -> str:
    """Return which file cannot be read, and why."""
    where = f"{error.filename} cannot be read ({error.strerror})"
    return f"{where}; give another path" if error.filename else str(error)


def _here(orders: list[Order]) -> list[Report | Exception]:
    with _telling() as tell:
        return [_outcome(partial(audited, order, tell)) for order in orders]


def _elsewhere(orders: list[Order], address: str) -> list[Report | Exception]:
    """Audit on a cluster, a checkpoint a call."""
    from verify.commands.elsewhere import outcomes  # imports more than one audit needs

    with _telling() as tell:
        futures = outcomes(
            [Call(str(number), audited, (order,)) for number, order in enumerate(orders)],
            address,
            lambda done, total: tell(f"{done} of {total} checkpoints", 0, 0),
        )
    return [_outcome(future.result) for future in futures]


def _outcome(make: Callable[[], Report]) -> Report | Exception:
    """Return a report, or why there is none; other checkpoints have theirs."""
    try:
        return make()
    except (AuditError, TargetError, OSError) as error:
        return error
    except ModuleNotFoundError:  # of an extra, which is said where commands begin
        raise
    except Exception as error:
        traceback.print_exc()
        return AuditError(f"the audit itself raised {named(error)}; please report it")


@contextmanager
def _telling() -> Iterator[Tell]:
    with Progress(
        "{task.description}",
        TextColumn("{task.fields[left]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task("starting", total=None, left="")

        def tell(what: str, behind: float, every: float) -> None:
            left = f"about {every - behind:.0f} s left" if every > behind else ""
            bar.update(task, description=what, completed=behind, total=every, left=left)

        yield tell


def _save(html: Path, audits: list[tuple[Order, Report]]) -> None:
    """Write the page of one report, or a folder with a page of each checkpoint."""
    if len(audits) == 1:
        audits[0][1].save(_page_of_one(html))
        return
    html.mkdir(parents=True, exist_ok=True)
    for number, (order, report) in enumerate(audits, start=1):
        stem = order.checkpoint.stem if order.checkpoint is not None else ""
        report.save(html / f"{number}-{stem}.html")


def _page_of_one(html: Path) -> Path:
    """Return the file of a page: of that name, or in a folder of it."""
    if html.suffix == ".html":
        return html
    return html / "audit.html" if html.is_dir() else html.with_name(f"{html.name}.html")
