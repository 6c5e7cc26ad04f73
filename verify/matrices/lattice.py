"""Subjects of small integers, for exact arithmetic and for readable counterexamples."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st

from theory.matrix_claim import Kind
from verify.matrices.subjects import Descent, Layer, Maps, Numbers

BOUND = 3
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
LETTERS = {Kind.LAYER: "Nnp", Kind.MAPS: "Ncrsdk", Kind.DESCENT: "d"}


def named(kind: Kind, size: Size) -> str:
    """Return a size as a reader would name it, such as "N = 3, n = 2, p = 1"."""
    return ", ".join(f"{letter} = {n}" for letter, n in zip(LETTERS[kind], size, strict=True))


def integers(*shape: int, least: int = -BOUND) -> st.SearchStrategy[Any]:
    """Return a strategy of arrays of integers from ``least`` to :data:`BOUND`."""
    entries = st.lists(st.integers(least, BOUND), min_size=prod(shape), max_size=prod(shape))
    return entries.map(lambda values: np.array(values, dtype=object).reshape(shape))


def nonzero(*shape: int) -> st.SearchStrategy[Any]:
    """Return a strategy of arrays of integers other than zero."""
    return integers(*shape).map(lambda values: np.where(values == 0, 1, values))


def some(*shape: int) -> st.SearchStrategy[Any]:
    """Return a strategy of arrays that are often zero altogether."""
    return st.just(np.full(shape, 0, dtype=object)) | integers(*shape)


def layers(N: int, n: int, p: int) -> st.SearchStrategy[Numbers]:
    """Return a strategy of layers."""
    return st.builds(
        Layer,
        H=integers(N, n),
        W=integers(p, n),
        b=integers(p),
        gamma=integers(n),
        beta=integers(n),
        mean=integers(n),
        deviation=integers(n, least=1),
        curvature=integers(N),
        direction=integers(n + 1),
        scaling=nonzero(n + 1),
        step=st.integers(1, BOUND),
        q=st.integers(1, BOUND),
        couples=st.integers(0, 1),
        linear=integers(N, p),
        quadratic=some(N, p, p).map(lambda half: half + half.transpose(0, 2, 1)),
        fourth=some(N, p),
        stratum=st.just("integers"),
    )


def maps(N: int, c: int, r: int, s: int, d: int, k: int) -> st.SearchStrategy[Numbers]:
    """Return a strategy of convolution layers."""
    return st.builds(
        Maps,
        h=integers(N, c, r, s),
        w=integers(d, c, k, k),
        b=integers(d),
        direction=integers(k * k * c + 1),
        q=st.integers(1, BOUND),
        linear=integers(N, d, r, s),
        fourth=some(N, d, r, s),
        pooled=some(N),
        stratum=st.just("integers"),
    )


def descents(d: int) -> st.SearchStrategy[Numbers]:
    """Return a strategy of descents; P is unit lower triangular with a diagonal of its own."""
    below = np.tri(d, k=-1, dtype=int)
    return st.builds(
        Descent,
        theta=integers(d),
        direction=integers(d),
        factor=integers(d, d),
        P=st.builds(lambda m, e: m * below + np.diag(e), integers(d, d), nonzero(d)),
        step=st.integers(1, BOUND) | st.fractions(0, 2, max_denominator=4).filter(bool),
        linear=some(d),
        fourth=some(d),
        stratum=st.just("integers"),
    )


_STRATEGIES: dict[Kind, Any] = {
    Kind.LAYER: layers,
    Kind.MAPS: maps,
    Kind.DESCENT: descents,
}


def subjects(kind: Kind, size: Size) -> st.SearchStrategy[Numbers]:
    """Return a strategy of subjects of one size."""
    return _STRATEGIES[kind](*size)
