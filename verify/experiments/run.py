r"""Running an experiment: its pieces one after the other, each resumable.

A checkpoint is kept every so many seconds and at the end of each piece, so that a kill loses no
more than what was done since; a finished piece is not run again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import torch

from verify import threads
from verify.description import describe_run
from verify.evidence import EvidenceError, Run, writing
from verify.experiments import evidence, figures, find
from verify.experiments.checkpoints import Checkpoint, Checkpoints, identity
from verify.experiments.evidence import WITHOUT_DATA, Result
from verify.experiments.experiment import Experiment, Picture, Piece, Setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECONDS = 20.0
"""Between two checkpoints of a piece; a step that takes longer is not interrupted."""


Progress = Callable[[str, int, int], object]
"""Told (the piece's name, steps done, steps in all) of the whole experiment, after each step."""


def describe(setting: Setting) -> Run:
    """Return the description of a run on this machine."""
    run = describe_run(setting.profile, setting.seeds[0], "torch", setting.device, threads.count())
    if torch.device(setting.device).type != "cuda":
        return run
    return replace(run, gpu=torch.cuda.get_device_name(setting.device))


def run(
    experiment: Experiment,
    setting: Setting,
    folder: Path,
    *,
    fresh: bool = False,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> Result:
    """Run an experiment, or what a killed run of it left to do, and keep what it finds.

    Args:
        experiment: what to run.
        setting: how.
        folder: where the numbers, the figures and the checkpoints go.
        fresh: begin anew whatever the checkpoints hold.
        seconds: between two checkpoints of a piece.
        progress: told after each step.

    Raises:
        EvidenceError: the folder cannot be written to.
        ValueError: two pieces have one name.
    """
    described = describe(setting)
    checkpoints = checkpoints_of(experiment, setting, folder)
    if fresh:
        checkpoints.forget()
    found = _run_pieces(experiment.pieces(setting), checkpoints, seconds, progress)
    result = Result(
        name=experiment.name,
        title=experiment.title,
        rows=experiment.rows,
        description=experiment.description,
        profile=setting.profile,
        seeds=setting.seeds,
        data=setting.data.resolve().name if setting.data else WITHOUT_DATA,
        run=described,
        seconds={name: found[name].seconds for name in found},
        pieces={name: found[name].numbers for name in found},
    )
    return view(experiment, result, folder)


def checkpoints_of(experiment: Experiment, setting: Setting, folder: Path) -> Checkpoints:
    """Return the checkpoints of an experiment that is run so.

    Raises:
        EvidenceError: the folder cannot be written to.
    """
    same = identity(experiment, setting, describe(setting))
    return Checkpoints(folder / "checkpoints", same)


def finished(name: str, setting: Setting, folder: Path, piece: str) -> Checkpoint:
    """Run one piece of a paper's experiment to its end, from its checkpoint if there is one.

    Args:
        name: the experiment's.
        setting: how it is run.
        folder: where its checkpoints go.
        piece: the piece's name.
    """
    experiment = find(name)
    (chosen,) = (one for one in experiment.pieces(setting) if one.name == piece)
    checkpoints = checkpoints_of(experiment, setting, folder)
    return _run_piece(chosen, checkpoints, SECONDS, lambda: None)


def view(
    experiment: Experiment,
    result: Result,
    folder: Path,
    save: Callable[[Figure, Path, str], Picture] = figures.save,
) -> Result:
    """Draw the figures of a result, state its observations, and keep both with its numbers.

    Args:
        experiment: draws and states.
        result: has the numbers.
        folder: where it is kept.
        save: writes a figure.

    Raises:
        EvidenceError: the folder cannot be written to.
    """
    drawn = experiment.figures(result.pieces)
    with writing(folder, "figures"):
        pictures = tuple(save(figure, folder, name) for name, figure in drawn.items())
    seen = replace(
        result,
        description=experiment.description,
        observations=tuple(experiment.observations(result.pieces)),
        pictures=pictures,
    )
    evidence.write(folder, seen)
    return seen


def redrawn(experiment: Experiment, folder: Path) -> Result:
    """View again what a folder keeps of the last run.

    Raises:
        EvidenceError: there is nothing, it is damaged or of an experiment that measured something
            else, or the folder cannot be written to.
    """
    result = evidence.read(folder)
    try:
        if result.name != experiment.name:
            raise ValueError(f"they are those of {result.name}")
        return view(experiment, result, folder)
    except EvidenceError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise EvidenceError(
            f"the numbers of {folder / evidence.FILE} are not what {experiment.name} measures today"
            f" ({type(error).__name__}: {error}); run it without --redraw, or name another folder"
        ) from error


def _run_pieces(
    pieces: Sequence[Piece],
    checkpoints: Checkpoints,
    seconds: float,
    progress: Progress | None,
) -> dict[str, Checkpoint]:
    """Return the last checkpoint of each piece."""
    names = [piece.name for piece in pieces]
    if len(set(names)) < len(names):
        raise ValueError(f"two pieces have one name among {', '.join(sorted(names))}")
    total, before = sum(piece.steps for piece in pieces), 0
    left, found = deque(pieces), {}
    del pieces
    while left:
        piece = left.popleft()  # a finished piece, and its network, are let go

        def tell(piece: Piece = piece, before: int = before) -> None:
            if progress is not None:
                progress(piece.name, before + piece.done, total)

        before += piece.steps
        found[piece.name] = _run_piece(piece, checkpoints, seconds, tell)
    return found


def _run_piece(
    piece: Piece, checkpoints: Checkpoints, seconds: float, tell: Callable[[], object]
) -> Checkpoint:
    """Run a piece from its last checkpoint to its end."""
    kept = checkpoints.load(piece.name)
    if kept is not None and kept.state is None:
        return kept
    spent = 0.0
    if kept is not None and kept.state is not None:
        piece.load_state_dict(kept.state)
        spent = kept.seconds
    began = last = monotonic()
    tell()
    while piece.done < piece.steps:
        done = piece.done
        piece.step()
        if piece.done <= done:
            raise RuntimeError(f"a step of {piece.name} was not counted; count it in its step()")
        tell()
        now = monotonic()
        if now - last >= seconds and piece.done < piece.steps:
            checkpoints.keep(piece.name, Checkpoint(piece.state_dict(), {}, spent + now - began))
            last = monotonic()
    numbers = evidence.as_json(piece.numbers())
    finished = Checkpoint(None, numbers, spent + monotonic() - began)
    checkpoints.keep(piece.name, finished)
    return finished
