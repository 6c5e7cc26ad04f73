"""Which entries are normalised together, and which share a parameter: the family as positions.

Every member of the family is one formula over the columns of a matrix: entries that are
normalised together form a column.  Axes are letters: N samples, C channels or features, any other
letter a place in a map.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

LAYOUTS = {
    "batch": ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC"),
    "layer": ("NC", "NLC"),
    "rms": ("NC", "NLC"),
    "group": ("NC", "NCL", "NCHW", "NLC", "NHWC"),
    "instance": ("NCL", "NCHW", "NLC", "NHWC"),
}
"""The axes that a layer of the family may take, the commonest first."""


OF_LAST_AXIS = ("layer", "rms")
"""Families that normalise rows."""
MANY = 16
"""From so many entries on their exact number is of no account."""
EDGE = 4
"""Of a cube, all whose axes have one length."""
SAMPLES, MORE = 3, 11
"""Samples that are normalised apart: odd numbers, and more than a pair."""


@dataclass(frozen=True)
class Geometry:
    """Positions of entries.

    ``statistics`` are flat positions in the array, shape (together, unit); ``parameters`` are flat
    positions in that matrix, shape (sharing, channel).
    """

    shape: tuple[int, ...]
    statistics: np.ndarray
    parameters: np.ndarray

    def matrix(self, array: np.ndarray) -> np.ndarray:
        """Return an array's entries in the shape (together, unit)."""
        return array.ravel()[self.statistics]

    def spread(self, parameter: np.ndarray) -> np.ndarray:
        """Return each channel's number at each of its entries, in the shape of the matrix."""
        at_entries = np.empty(self.statistics.size, dtype=np.asarray(parameter).dtype)
        at_entries[self.parameters] = parameter
        return at_entries.reshape(self.statistics.shape)

    @property
    def is_by_unit(self) -> bool:
        """Whether each unit has its own parameters, as in batch normalisation."""
        return np.array_equal(
            self.parameters, np.arange(self.statistics.size).reshape(self.statistics.shape)
        )

    @property
    def channels(self) -> int:
        """The number of channels."""
        return self.parameters.shape[1]


def geometry(family: str, axes: str, shape: tuple[int, ...], groups: int = 1) -> Geometry:
    """Return which entries of an array of that shape belong together.

    >>> geometry("batch", "NCL", (2, 3, 2)).statistics.T
    array([[ 0,  1,  6,  7],
           [ 2,  3,  8,  9],
           [ 4,  5, 10, 11]])
    >>> geometry("group", "NC", (1, 4), groups=2).statistics.T
    array([[0, 1],
           [2, 3]])
    """
    positions = np.arange(prod(shape)).reshape(shape)
    by_sample = np.moveaxis(positions, (axes.index("N"), axes.index("C")), (0, 1))
    samples, channels = by_sample.shape[:2]
    maps = by_sample.reshape(samples, channels, -1)
    statistics = {
        "batch": lambda: maps.transpose(0, 2, 1).reshape(-1, channels),
        "instance": lambda: maps.reshape(samples * channels, -1).T,
        "group": lambda: maps.reshape(samples * groups, -1).T,
        "layer": lambda: maps.transpose(1, 0, 2).reshape(channels, -1),
        "rms": lambda: maps.transpose(1, 0, 2).reshape(channels, -1),
    }[family]()
    place = np.empty(statistics.size, dtype=np.intp)
    place[statistics.ravel()] = np.arange(statistics.size)
    by_channel = maps.transpose(0, 2, 1).reshape(-1, channels)
    return Geometry(shape, statistics, place[by_channel])


def shape_for(
    family: str, axes: str, together: int, units: int, groups: int = 1, single: str = ""
) -> tuple[int, ...]:
    """Return a shape in which about so many entries are normalised together, in so many units.

    The count of entries is exact where the axes allow it; the axis ``single`` has the length one.

    >>> shape_for("batch", "NCHW", 12, 5), shape_for("layer", "NC", 12, 5)
    ((3, 5, 2, 2), (5, 12))
    >>> shape_for("batch", "NCHW", 12, 5, single="H")
    (3, 5, 1, 4)
    >>> shape_for("group", "NCL", 30, 4, groups=2)
    (3, 8, 10)
    """
    places = [letter for letter in axes if letter not in ("N", "C", single)]
    samples = [letter for letter in "N" if letter != single]
    if family in ("layer", "rms"):
        sizes = {"C": together, **_shared(units, [*samples, *places])}
    elif family == "batch":
        sizes = {"C": units, **_shared(together, [*samples, *places])}
    elif family == "instance":
        number = MORE if MANY <= units < 2 * MANY else SAMPLES
        sizes = {"N": number, "C": max(units // 2, 1), **_shared(together, places)}
    else:
        # Channels of a group, and places that axes share unevenly, are worth more entries.
        number, choices = SAMPLES, [4, 2]
        if units >= MANY:
            number, choices = max(MORE, units // groups), [16, 4, 2]
        if places and together >= MANY and together % choices[0]:
            together += -together % (5 * choices[0])
        per_group = _per_group(together, choices) if places else together
        sizes = {"N": number, "C": groups * per_group, **_shared(together // per_group, places)}
    if single:
        sizes[single] = 1
    return tuple(sizes[letter] for letter in axes)


def cube(family: str, axes: str) -> tuple[int, int]:
    """Return how many entries are normalised together, and in how many units, on a cube.

    >>> shape_for("batch", "NCL", *cube("batch", "NCL")), cube("layer", "NLC")
    ((4, 4, 4), (4, 16))
    >>> shape_for("instance", "NCHW", *cube("instance", "NCHW"))
    (3, 3, 3, 3)
    >>> shape_for("group", "NCL", *cube("group", "NCL"))
    (16, 16, 16)
    """
    others = len(axes) - 1
    if family in OF_LAST_AXIS:
        return EDGE, EDGE**others
    if family == "instance":
        return SAMPLES ** (others - 1), 2 * SAMPLES
    if family == "group" and others == 2:
        return MANY**2, MANY
    return EDGE**others, EDGE


def _per_group(together: int, choices: list[int]) -> int:
    """Return how many channels a group has, of the choices or one: several places if it can."""
    return next((k for k in choices if together % k == 0 and (together > k or k == 2)), 1)


def _shared(number: int, letters: list[str]) -> dict[str, int]:
    """Return lengths of some axes with that product."""
    return dict(zip(letters, _factors(number, len(letters)), strict=True)) if letters else {}


def _factors(number: int, count: int) -> list[int]:
    """Return so many factors with that product, the sizes as even as their primes allow."""
    factors = [1] * count
    for prime in _primes(number):
        factors[factors.index(min(factors))] *= prime
    return factors


def _primes(number: int) -> list[int]:
    """Return the prime factors, the largest first."""
    found, divisor = [], 2
    while number > 1:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1 if divisor * divisor <= number else max(number - divisor, 1)
    return found[::-1]
