r"""An experiment of a paper, as a value: what is run, what is drawn, what was to be seen.

An experiment is made of *pieces*, each one training (or one measurement in steps) that can be
stopped after any step and taken up again.  What the pieces measured is plain JSON, and figures and
observations are functions of that alone: they can be made again without running anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Numbers = Mapping[str, Any]
"""What one piece measured: JSON, with finite floats or None."""

Measured = Mapping[str, Numbers]
"""What was measured, by the name of the piece."""


@dataclass(frozen=True)
class Setting:
    """How an experiment is run."""

    profile: str = "default"
    """"smoke", "default" or "deep"."""
    seeds: tuple[int, ...] = (0,)
    data: Path | None = None
    """The folder of the user's data sets; None for the embedded digits."""
    device: str = "cpu"
    epochs: int | None = None
    """Of a training on the user's data; None for what the profile has."""


class Piece(Protocol):
    """One resumable piece of an experiment."""

    name: str
    """Unique in the experiment, e.g. ``"batch norm, seed 0"``."""
    steps: int
    """How many steps there are in all."""
    done: int
    """How many are done."""

    def step(self) -> None:
        """Do one step and count it."""

    def state_dict(self) -> dict[str, Any]:
        """Return all that the next step depends on, measurements included.

        Tensors, numbers, strings, and lists and dictionaries of them; generators by their state.
        """

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""

    def numbers(self) -> Numbers:
        """Return what was measured so far."""


@dataclass(frozen=True)
class Observation:
    """Something that a paper reports to have seen, and whether it was seen here."""

    source: str
    """The paper's statement and the place in the paper, e.g. ``"S-fig, Fig. 9a"``."""
    statement: str
    """What the paper observes, in a sentence."""
    criterion: str
    """What was looked at here, so that it could have failed, in a sentence."""
    appeared: bool | None
    """None where this profile or this data cannot tell."""
    found: str
    """The numbers, in a sentence."""


@dataclass(frozen=True)
class Picture:
    """A figure that was drawn: its files' name without suffix, and what it says."""

    name: str
    title: str
    caption: str


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper.

    Args:
        name: as on the command line.
        title: one line.
        rows: the paper's statements, by identifier.
        description: what is run and how it differs from the paper, a paragraph a profile.
        pieces: what is run, in order.
        figures: the figures by file name without suffix; each says its n and its seeds.
        observations: what the paper saw, and whether it was seen here.
        seeds: how many are run, beyond a smoke run, where the user does not say.
        takes_epochs: whether it goes by :attr:`Setting.epochs`.
        takes_data: whether it goes by :attr:`Setting.data`.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    description: str
    pieces: Callable[[Setting], Sequence[Piece]]
    figures: Callable[[Measured], Mapping[str, Figure]]
    observations: Callable[[Measured], Sequence[Observation]]
    seeds: int = 1
    takes_epochs: bool = False
    takes_data: bool = True
