"""Subjects of small integers, for exact arithmetic and for readable counterexamples."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from theory.language.letters import FREE
from theory.matrix_claim import Kind
from verify.subjects.matrices import Descent, Layer, Maps, Numbers
from verify.subjects.unit_lattice import NONZERO, POSITIVE, Entries

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


def often_zero(*shape: int) -> Entries:
    """Return entries that are often zero altogether."""
    return Entries(shape, is_often_simplest=True)


def of_layers(N: int, n: int, p: int) -> dict[str, Entries]:
    """Return the numbers of a layer."""
    return {
        "H": Entries((N, n)),
        "W": Entries((p, n)),
        "b": Entries((p,)),
        "gamma": Entries((n,)),
        "beta": Entries((n,)),
        "mean": Entries((n,)),
        "deviation": Entries((n,), POSITIVE),
        "curvature": Entries((N,)),
        "direction": Entries((n + 1,)),
        "scaling": Entries((n + 1,), (*NONZERO, 0)),
        "step": Entries(values=POSITIVE),
        "q": Entries(values=POSITIVE),
        "couples": Entries((), (0, 1), is_often_simplest=True),
        "linear": Entries((N, p)),
        "quadratic": often_zero(N, p, p),
        "fourth": often_zero(N, p),
        "ridge": often_zero(N, p),
        "centre": often_zero(N, p),
        "free": Entries((FREE,)),
    }


def layer(quadratic: Any, **numbers: Any) -> Layer:
    """Return a layer; the loss's matrices are half of what is given plus its transpose."""
    both = quadratic + quadratic.transpose(0, 2, 1)
    return Layer(quadratic=both, **numbers, stratum="integers")


def of_maps(N: int, c: int, r: int, s: int, d: int, k: int) -> dict[str, Entries]:
    """Return the numbers of a convolution layer."""
    return {
        "h": Entries((N, c, r, s)),
        "w": Entries((d, c, k, k)),
        "b": Entries((d,)),
        "direction": Entries((k * k * c + 1,)),
        "q": Entries(values=POSITIVE),
        "linear": Entries((N, d, r, s)),
        "fourth": often_zero(N, d, r, s),
        "pooled": often_zero(N),
        "ridge": often_zero(N, d, r, s),
        "centre": often_zero(N, d, r, s),
        "free": Entries((FREE,)),
    }


def of_descents(d: int) -> dict[str, Entries]:
    """Return the numbers of a descent; P is given by its diagonal and what is below."""
    return {
        "theta": Entries((d,)),
        "direction": Entries((d,)),
        "factor": Entries((d, d)),
        "below": Entries((d, d)),
        "diagonal": Entries((d,), NONZERO),
        "step": Entries(values=STEPS),
        "linear": often_zero(d),
        "fourth": often_zero(d),
        "ridge": often_zero(d),
        "centre": often_zero(d),
        "free": Entries((FREE,)),
    }


def descent(below: Any, diagonal: Any, **numbers: Any) -> Descent:
    """Return a descent."""
    P = np.tril(below, -1) + np.diag(diagonal)
    return Descent(P=P, **numbers, stratum="integers")


SUBJECTS: dict[Kind, tuple[Callable[..., dict[str, Entries]], Callable[..., Numbers]]] = {
    Kind.LAYER: (of_layers, layer),
    Kind.MAPS: (of_maps, partial(Maps, stratum="integers")),
    Kind.DESCENT: (of_descents, descent),
}
"""The numbers of a subject of a size, and the subject that is made of them."""


def letters(kind: Kind, size: Size) -> dict[str, Entries]:
    """Return the numbers of a subject of one size."""
    of_size, _ = SUBJECTS[kind]
    return of_size(*size)
