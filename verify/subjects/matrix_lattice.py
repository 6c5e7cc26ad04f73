"""Subjects of small integers, for exact arithmetic and for readable counterexamples."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from theory.matrix_claim import Kind
from verify.subjects.matrices import SHAPES, SUBJECTS, Descent, Layer, Maps, Numbers
from verify.subjects.unit_lattice import INTEGERS, NONZERO, POSITIVE, Entries

STEPS = (*POSITIVE, *(Fraction(n, d) for d in (2, 3, 4) for n in range(1, 2 * d) if n % d))
Size = tuple[int, ...]

SIZES: dict[Kind, tuple[Size, ...]] = {
    Kind.LAYER: (
        (1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (3, 2, 1), (2, 1, 2), (3, 2, 2), (4, 2, 1),
        (4, 3, 1), (1, 2, 1),
    ),
    Kind.MAPS: (
        (1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 3), (1, 1, 2, 1, 1, 3), (1, 1, 2, 2, 1, 3),
        (1, 1, 1, 1, 1, 5), (2, 1, 2, 1, 1, 3), (1, 2, 2, 2, 1, 3), (1, 1, 3, 2, 2, 3),
        (2, 1, 2, 2, 1, 1),
    ),
    Kind.DESCENT: ((1,), (2,), (3,)),
}  # fmt: skip
"""(N, n, p) of layers, (N, c, r, s, d, k) of maps and (d,) of descents, the smaller first.

What comes last is for statements that speak of such subjects alone: a layer with more inputs than
examples, maps whose matrix has full column rank.
"""
LARGER: dict[Kind, tuple[Size, ...]] = {
    Kind.LAYER: ((6, 4, 3), (8, 2, 1), (16, 3, 2), (32, 2, 1)),
    Kind.MAPS: ((2, 3, 3, 3, 3, 3), (2, 2, 4, 4, 2, 3), (6, 1, 5, 5, 1, 3)),
    Kind.DESCENT: ((6,),),
}
"""For what holds of small subjects alone."""


def named(kind: Kind, size: Size) -> str:
    """Return a size as a reader would name it, such as "N = 3, n = 2, p = 1"."""
    return ", ".join(f"{letter} = {n}" for letter, n in zip(kind.sizes, size, strict=True))


VALUES: dict[tuple[Kind, str], tuple[Any, ...]] = {
    (Kind.LAYER, "scaling"): (*NONZERO, 0),
    (Kind.LAYER, "couples"): (0, 1),
    (Kind.DESCENT, "step"): STEPS,
}
"""What an entry can be, where it is neither any small number nor any positive one."""
OFTEN_ZERO = {"couples", "quadratic", "fourth", "pooled", "ridge", "centre"}
"""Numbers that are often zero altogether, as the slope of a descent's loss is."""


def letters(kind: Kind, size: Size) -> dict[str, Entries]:
    """Return the numbers of a subject of one size; P is given by its diagonal and what is below."""
    often_zero = OFTEN_ZERO | ({"linear"} if kind is Kind.DESCENT else set())
    found: dict[str, Entries] = {}
    for name, shape in SHAPES[kind](*size).items():
        if name == "P":
            found |= {"below": Entries(shape), "diagonal": Entries(shape[:1], NONZERO)}
        else:
            any_number = POSITIVE if name in SUBJECTS[kind].positive else INTEGERS
            values = VALUES.get((kind, name), any_number)
            found[name] = Entries(shape, values, name in often_zero)
    return found


def layer(quadratic: Any, **numbers: Any) -> Layer:
    """Return a layer; the loss's matrices are half of what is given plus its transpose."""
    both = quadratic + quadratic.transpose(0, 2, 1)
    return Layer(quadratic=both, **numbers, stratum="integers")


def descent(below: Any, diagonal: Any, **numbers: Any) -> Descent:
    """Return a descent, whose P is the product of a lower and an upper triangle."""
    lower, upper = np.tril(below, -1) + np.diag(diagonal), np.triu(below, 1)
    return Descent(P=lower + lower @ upper, **numbers, stratum="integers")


MADE: dict[Kind, Callable[..., Numbers]] = {
    Kind.LAYER: layer,
    Kind.MAPS: partial(Maps, stratum="integers"),
    Kind.DESCENT: descent,
}
"""The subjects that are made of these."""
