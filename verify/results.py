"""What decides a statement for certain: a proof, a counterexample, a kernel's theorem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Size = dict[str, int | None]
"""The letters of a subject's size with their values; None stands for every value."""

EVERY_M: Size = {"m": None}
EVERY_SIZE: Size = {}


@dataclass(frozen=True)
class Proof:
    """The sizes that a proof covers and, of an inequality, what its slack is the sum of."""

    sizes: tuple[Size, ...]
    slack: str = ""
    terms: tuple[str, ...] = ()
    letters: tuple[str, ...] = ()
    """What the statement's letters are in them, where that is another name or made of others."""

    def covers(self, size: Size) -> bool:
        """Whether it says something of subjects of one size.

        >>> proof = Proof(({"N": None, "n": 2},))
        >>> proof.covers({"N": 3, "n": 2}), proof.covers({"N": 3, "n": 1})
        (True, False)
        """
        return any(_covers(proved, size) for proved in self.sizes)

    @property
    def summands(self) -> list[str]:
        """The terms but those that are zero."""
        return [term for term in self.terms if not term.startswith("(0)")]

    @property
    def holds_at_every_size(self) -> bool:
        """Whether it covers subjects of every size."""
        return self.named == 0

    @property
    def has_symbolic_size(self) -> bool:
        """Whether a letter of its sizes stands for every value."""
        return any(None in size.values() for size in self.sizes)

    @property
    def scope(self) -> str:
        """The sizes in words."""
        return in_words(self.sizes)

    @property
    def named(self) -> int:
        """How many letters have a value in the size that has fewest: the widest proof has none."""
        return min(sum(n is not None for n in size.values()) for size in self.sizes)


@dataclass(frozen=True)
class Example:
    """A subject, and both sides of a statement there, as text."""

    size: Size
    numbers: dict[str, Any]
    """Exact numbers in nested lists, by their names; a loss besides, with its parameters."""
    actual: str
    claimed: str
    arithmetic: str = "exact"
    """How the sides were computed and compared."""
    distribution: str = ""
    """Of the entries of a random matrix, whose expectations are the sides."""
    because: str = ""
    """Why the sides are what they are, where that is not computed but bounded."""
    letters: dict[str, Any] = field(default_factory=dict)
    """What the statement's own letters are worth, by their names."""
    behind: tuple[str, ...] = ()
    """Numbers that nothing but these letters reads."""
    ratio: float | None = None
    """Of the sides, or of their norms in an equation, as :func:`verify.tolerance.ratio` has it."""


@dataclass(frozen=True)
class Counterexample(Example):
    """One that violates the statement."""


@dataclass(frozen=True)
class Theorem:
    """What a proof assistant's kernel checked: that a statement holds, or that it fails."""

    name: str
    file: str
    statement: str
    assumptions: tuple[str, ...]
    coq: str
    """The proof assistant's version."""
    command: str
    """What checks it again."""
    besides: tuple[str, ...] = ()
    """What it assumes not to be zero besides, and the statement does not."""
    definitions: tuple[str, ...] = ()
    """What its own file defines of the words in it."""
    refutes: bool = False
    """Whether it says that the statement fails."""


def _covers(proved: Size, size: Size) -> bool:
    return all(n is None or size.get(letter) == n for letter, n in proved.items())


def in_words(sizes: Sequence[Size]) -> str:
    """Return sizes as a reader would name them.

    >>> in_words([{"m": None}]), in_words([{"m": 3}, {"m": 2}]), in_words([{}])
    ('every m', 'm = 2, 3', 'every size')
    >>> in_words([{"N": None, "n": 1}, {"N": 2, "n": 2}])
    'every N, n = 1; N = 2, n = 2'
    """
    if len(sizes) > 1 and all(len(size) == 1 for size in sizes):
        [letter] = sizes[0]
        found = sorted((size[letter] for size in sizes), key=lambda number: number or 0)
        return f"{letter} = {', '.join(map(str, found))}"
    return "; ".join(map(_in_words, sizes))


def in_short(sizes: Sequence[Size]) -> str:
    """Return sizes in words, the first standing for several of many letters.

    >>> in_short([{"N": 2, "n": 1}, {"N": 2, "n": 2}])
    'N = 2, n = 1 (+1)'
    """
    if len(sizes) > 1 and any(len(size) > 1 for size in sizes):
        return f"{_in_words(sizes[0])} (+{len(sizes) - 1})"
    return in_words(sizes)


def _in_words(size: Size) -> str:
    return ", ".join(_letter(*item) for item in size.items()) or "every size"


def _letter(letter: str, n: int | None) -> str:
    return f"every {letter}" if n is None else f"{letter} = {n}"
