"""The command that runs a paper's experiment."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from verify.commands.elsewhere import ended
from verify.complaints import bad_input, interrupted
from verify.datasets.dataset import DataError
from verify.evidence import EvidenceError, FolderLock, writing
from verify.experiments import UnknownExperimentError, evidence, find, names, report, run
from verify.experiments.examined import examined
from verify.experiments.experiment import Experiment, Setting
from verify.settings import DEFAULT_EVIDENCE, PROFILES
from verify.terminal import columns
from verify.workers import ADDRESS, Call

WIDTH = 160
"""Of a table that goes to a file."""


def experiment(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which; --list names them.")
    ] = None,
    profile: Annotated[str, typer.Option(help="smoke, default or deep.")] = "default",
    data: Annotated[
        Path | None, typer.Option(help="Folder of data sets; else scikit-learn's digits.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Number of seeds, from 0; else the experiment's own.")
    ] = None,
    evidence_folder: Annotated[
        Path, typer.Option("--evidence", help="Folder of the evidence.")
    ] = DEFAULT_EVIDENCE,
    epochs: Annotated[
        int | None, typer.Option(help="Of resnet with --data; else the profile's number.")
    ] = None,
    device: Annotated[str, typer.Option(help="PyTorch's device.")] = "cpu",
    cluster_address: Annotated[str, typer.Option("--cluster", help=ADDRESS)] = "",
    is_fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin anew, whatever was kept of earlier runs.")
    ] = False,
    is_redrawn: Annotated[
        bool, typer.Option("--redraw", help="Run nothing; draw the last run's numbers again.")
    ] = False,
    is_list: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
) -> None:
    """Run an experiment of the papers, and say which of their observations appeared.

    The exit status is 1 if a statement that is right was seen violated along the run.
    """
    console = Console(width=columns(WIDTH))
    if is_list:
        report.show_list([find(known) for known in names()], console)
        return
    try:
        if name is None:
            raise _OptionError(f"no experiment is named; choose one of {', '.join(names())}")
        chosen = find(name)
        folder = evidence.folder_of(evidence_folder, chosen.name)
        if is_redrawn:
            result = run.redrawn(chosen, folder)
        else:
            usual = 1 if profile == "smoke" else chosen.seeds
            if data is not None and not chosen.takes_data:
                raise _OptionError(f"--data {data}: {chosen.name} takes no data; leave it out")
            setting = _setting(profile, data, usual if seeds is None else seeds, device)
            setting = _with_epochs(setting, epochs, chosen)
            with _alone_in(folder):
                if cluster_address:
                    _finish_pieces(chosen, setting, folder, cluster_address, is_fresh)
                with _bar(Console(stderr=True)) as tell:
                    is_begun_anew = is_fresh and not cluster_address
                    result = run.run(chosen, setting, folder, fresh=is_begun_anew, progress=tell)
    except (UnknownExperimentError, _OptionError, DataError, EvidenceError) as error:
        raise bad_input(error) from None
    except KeyboardInterrupt:
        raise interrupted("the same command goes on from the last checkpoint") from None
    report.show(result, folder, console)
    if any(statement.is_unexpected for statement in examined(result.pieces)):
        raise typer.Exit(1)


def _finish_pieces(
    chosen: Experiment, setting: Setting, folder: Path, address: str, is_fresh: bool
) -> None:
    """Run the pieces on a cluster, each to its end, and keep what they found."""
    torch.set_num_threads(1)  # as every worker has: other threads would be another run
    folder = folder.resolve()
    checkpoints = run.checkpoints_of(chosen, setting, folder)
    if is_fresh:
        checkpoints.forget()
    pieces = [piece.name for piece in chosen.pieces(setting)]
    calls = [Call(p, run.finished, (chosen.name, setting, folder, p)) for p in pieces]
    with _bar(Console(stderr=True)) as tell:
        tell("pieces", 0, len(pieces))
        futures = []
        for call, future in ended(calls, address):
            futures.append(future)
            if future.exception() is None:
                checkpoints.keep(call.name, future.result())
            tell(call.name, len(futures), len(pieces))
    for future in futures:
        future.result()  # raised where a piece failed, once the others are kept


class _OptionError(ValueError):
    """An option has a value that it cannot have."""


def _setting(profile: str, data: Path | None, seeds: int, device: str) -> Setting:
    if profile not in PROFILES:
        raise _OptionError(f"unknown profile {profile!r}: choose one of {', '.join(PROFILES)}")
    if data is not None and not data.is_dir():
        raise _OptionError(f"--data {data} is no folder; name the one that holds the data sets")
    if seeds < 1:
        raise _OptionError(f"--seeds {seeds}: choose at least 1")
    try:
        torch.zeros(1, device=device).tolist()  # from a device without entries there are none
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        said = str(error).splitlines()[0]
        raise _OptionError(f"--device {device} is not to be had here: {said}") from None
    return Setting(profile, tuple(range(seeds)), data and data.resolve(), device)


def _with_epochs(setting: Setting, epochs: int | None, chosen: Experiment) -> Setting:
    if epochs is None:
        return setting
    if not chosen.takes_epochs or setting.data is None or epochs < 1:
        raise _OptionError(
            f"--epochs {epochs}: it is for resnet on data of yours (--data) alone, and at least 1"
        )
    return replace(setting, epochs=epochs)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder: another run would delete this one's checkpoints.

    Raises:
        EvidenceError: another run holds it, or it cannot be written to.
    """
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
    try:
        yield
    finally:
        lock.give_back()


@contextmanager
def _bar(console: Console) -> Iterator[run.Progress]:
    """Show the whole experiment as one bar, named after the piece that runs; and each warning."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar, warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = lambda message, *_: console.print(
            f"verify: {message}", highlight=False, markup=False, soft_wrap=True
        )
        task = bar.add_task("starting", total=None)
        yield lambda piece, done, total: bar.update(
            task, description=piece, completed=done, total=total
        )
