"""The command that audits a network."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from math import inf
from pathlib import Path
from pickle import UnpicklingError
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from torch import nn
from torch.utils._pytree import tree_map

from verify.audit import terminal
from verify.audit.auditing import COSTLY, LOOKED_INTO, MOST_BATCHES
from verify.audit.auditing import audit as examined
from verify.audit.errors import AuditError
from verify.complaints import bad_input
from verify.targets import TargetError, load

PARALLEL = "module."
"""What names begin with that DataParallel has saved."""
CROSS_ENTROPY = "torch.nn.functional:cross_entropy"


def audit(
    model: Annotated[
        str, typer.Argument(help="A module, or what makes one: package.module:name or file.py:name")
    ],
    data: Annotated[
        str, typer.Option(help="Pairs (inputs, targets), or what makes them: package.module:name.")
    ],
    loss: Annotated[str, typer.Option(help="Of (outputs, targets), one number.")] = CROSS_ENTROPY,
    checkpoint: Annotated[Path | None, typer.Option(help="A state_dict, by torch.save.")] = None,
    device: Annotated[str, typer.Option(help="Such as cuda.")] = "",
    layers: Annotated[str, typer.Option(help="Patterns of names, separated by commas.")] = "",
    declared: Annotated[
        list[str] | None,
        typer.Option("--as", help="What a class of yours is: LlamaRMSNorm=rms, MyNorm=layer."),
    ] = None,
    budget: Annotated[float, typer.Option(help="Seconds, about.")] = inf,
    batches: Annotated[int, typer.Option(help="How many of the batches.")] = MOST_BATCHES,
    costly: Annotated[
        int, typer.Option(help="Of how many of these what costs much is measured.")
    ] = COSTLY,
    entries: Annotated[
        int, typer.Option(help="Layers of each kind whose entries are looked at.")
    ] = LOOKED_INTO,
    html: Annotated[Path | None, typer.Option(help="Write a page that needs no network.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Print every statement.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what the theorems say of a network; exit 1 if one that is right fails there."""
    try:
        network = _network(model, checkpoint, device)
        for declaration in declared or ():
            _declare(network, declaration)
        pairs = _pairs(load(data), device)
        function = load(loss)
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

            report = examined(
                network,
                batches=pairs,
                loss=function,
                layers=[pattern.strip() for pattern in layers.split(",") if pattern.strip()],
                budget=budget,
                most=batches,
                costly=costly,
                entries=entries,
                tell=tell,
            )
        if html is not None:
            report.save(html if html.suffix == ".html" else html.with_suffix(".html"))
    except (AuditError, TargetError, OSError) as error:
        raise bad_input(error) from None
    if as_json:
        typer.echo(json.dumps(report.as_json(), indent=1, allow_nan=False))
    else:
        width = None if sys.stdout.isatty() else terminal.WIDTH
        terminal.show(report, Console(width=width), every=every)
    raise typer.Exit(1 if report.unexpected else 0)


def _network(target: str, checkpoint: Path | None, device: str) -> nn.Module:
    found = load(target)
    network = found if isinstance(found, nn.Module) else found()
    if not isinstance(network, nn.Module):
        raise AuditError(f"{target} gives {type(network).__name__}; expected a torch.nn.Module")
    if checkpoint is not None:
        _restore(network, checkpoint)
    if not device:
        return network
    try:
        return network.to(device)
    except (RuntimeError, AssertionError) as error:
        raise AuditError(f"cannot use the device {device!r}: {error}") from error


def _declare(network: nn.Module, declaration: str) -> None:
    name, _, kind = declaration.partition("=")
    found = [m for m in network.modules() if name in (type(m).__name__, _path(type(m)))]
    if not found:
        classes = sorted({type(m).__name__ for m in network.modules()})
        raise AuditError(
            f"--as {declaration}: the model has no {name}; it has {', '.join(classes)}"
        )
    for module in found:
        module.normalizes = kind  # type: ignore[assignment]


def _path(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _restore(network: nn.Module, checkpoint: Path) -> None:
    try:
        with warnings.catch_warnings(action="ignore"):  # of how others pickle
            state: Any = torch.load(checkpoint, map_location="cpu", weights_only=True)
    except (UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        raise AuditError(
            f"{checkpoint} holds no state_dict: write it by torch.save(model.state_dict(), ...);"
            " nothing else of a file is read, since it could run code"
        ) from error
    for key in ("state_dict", "model", "model_state_dict"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if isinstance(state, dict) and all(str(name).startswith(PARALLEL) for name in state):
        state = {name.removeprefix(PARALLEL): value for name, value in state.items()}
    try:
        network.load_state_dict(state)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise AuditError(f"{checkpoint} is not of this model: {error}") from error


def _pairs(found: Any, device: str) -> Iterator[tuple[Any, Any]]:
    made = found() if callable(found) else found
    if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], torch.Tensor):
        made = [made]
    if not isinstance(made, Iterable):
        raise AuditError(f"the data are {type(made).__name__}; expected pairs (inputs, targets)")
    for pair in made:
        yield (
            tree_map(lambda x: x.to(device) if isinstance(x, torch.Tensor) else x, pair)
            if (device)
            else pair
        )
