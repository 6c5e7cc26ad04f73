r"""Cases of small integers, for exact arithmetic and for readable counterexamples.

With :math:`\epsilon = (r^2 - 1) v` for a small rational r, :math:`\sigma = r\sqrt v`: whatever the
batch, one square root suffices and both sides have a closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from random import Random
from typing import Any, NamedTuple

import numpy as np

from verify.subjects.losses import Loss, quadratic, ridged
from verify.subjects.unit import Case

BOUND = 3
INTEGERS = tuple(sorted(range(-BOUND, BOUND + 1), key=lambda n: (abs(n), -n)))
POSITIVE = tuple(n for n in INTEGERS if n > 0)
NONZERO = tuple(n for n in INTEGERS if n)
RATIOS = (Fraction(2), Fraction(3, 2), Fraction(5, 4), Fraction(3))
FEW = 3
"""Of one array in three the entries are among so many of the simplest, and often coincide."""


class Entries(NamedTuple):
    """An array of small numbers, of one axis or more, or a number where the shape is ()."""

    shape: tuple[int, ...] = ()
    values: tuple[Any, ...] = INTEGERS
    """What an entry can be, from the simplest."""
    is_often_simplest: bool = False
    """Whether half of what is drawn is as simple throughout as can be, such as zero."""

    @property
    def size(self) -> int:
        """The number of entries."""
        return prod(self.shape)

    def drawn(self, random: Random) -> list[int]:
        """Return the place of each entry among its values."""
        if self.is_often_simplest and random.random() < 1 / 2:
            return [0] * self.size
        most = FEW if random.random() < 1 / 3 else len(self.values)
        return random.choices(range(min(most, len(self.values))), k=self.size)

    def at(self, places: list[int]) -> Any:
        """Return the entries that have these places."""
        chosen = np.array([self.values[place] for place in places], dtype=object)
        return chosen.reshape(self.shape) if self.shape else chosen.item()


def letters(m: int) -> dict[str, Entries]:
    """Return what :func:`lattice_case` takes for a batch of length m."""
    vector = Entries((m,))
    return {
        "y": vector,
        "gamma": Entries(),
        "beta": Entries(),
        "ratio": Entries(values=RATIOS),
        "linear": vector,
        "triangle": Entries((m * (m + 1) // 2,), is_often_simplest=True),
        "direction": vector,
        "other_direction": vector,
        "bound": Entries(values=POSITIVE),
    }


def lattice_case(
    y: Sequence[int],
    gamma: int,
    beta: int,
    ratio: Fraction,
    linear: Sequence[int],
    triangle: Sequence[int],
    direction: Sequence[int],
    other_direction: Sequence[int],
    bound: int,
) -> Case:
    """Return the case of these integers; the loss's matrix is given by its lower triangle."""
    m = len(y)
    mean = Fraction(sum(y), m)
    variance = sum((entry - mean) ** 2 for entry in y) / m
    matrix = np.zeros((m, m), dtype=object)
    rows, columns = np.tril_indices(m)
    matrix[rows, columns] = triangle
    matrix[columns, rows] = triangle
    return Case(
        y=np.array(y, dtype=object),
        gamma=gamma,
        beta=beta,
        eps=(ratio**2 - 1) * variance if variance else Fraction(1),
        loss=Loss(quadratic, (np.array(linear, dtype=object), matrix)),
        direction=np.array(direction, dtype=object),
        other_direction=np.array(other_direction, dtype=object),
        bound=bound,
        stratum=f"integers m={m}",
    )


def generic_integers(m: int) -> Case:
    """Return a batch of m integers without special features, the same each time."""
    random = Random(m)

    def entries(count: int) -> list[int]:
        return [random.randint(-9, 9) for _ in range(count)]

    return lattice_case(
        entries(m), 3, 2, Fraction(3, 2), entries(m), entries(m * (m + 1) // 2), entries(m),
        entries(m), 2,
    )  # fmt: skip


def letters_with_ridge(m: int) -> dict[str, Entries]:
    """Return what :func:`ridged_case` takes for a batch of length m."""
    return {**letters(m), "ridge": Entries((m,))}


def ridged_case(ridge: Sequence[int], **integers: Any) -> Case:
    """Return the case of these integers, whose loss is no polynomial."""
    case = lattice_case(**integers)
    parameters = *case.loss.parameters, np.array(ridge, dtype=object)
    return replace(case, loss=Loss(ridged, parameters))


def written(case: Case) -> dict[str, Any]:
    """Return the numbers of a case as strings, for a ledger."""
    return {
        "y": shown(case.y),
        "gamma": shown_number(case.gamma),
        "beta": shown_number(case.beta),
        "eps": shown_number(case.eps),
        "loss": case.loss.formula,
        "parameters": {
            name: shown(value)
            for name, value in zip(case.loss.letters, case.loss.parameters, strict=True)
        },
        "u": shown(case.direction),
        "v": shown(case.other_direction),
        "lambda": shown_number(case.bound),
    }


def shown(value: Any) -> Any:
    """Return a number as a string, an array as nested lists of strings."""
    return [shown(entry) for entry in value] if np.ndim(value) else str(value)


def shown_number(value: Any) -> str:
    """Return a number as a string, also one that is in an array of its own."""
    return str(np.asarray(value, dtype=object).item())
