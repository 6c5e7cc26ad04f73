r"""Batches of a fixed size m whose entries are letters: a proof for that m.

The formulas run unchanged on object arrays of letters (:mod:`theory.arithmetic.formulas`).  What
comes out is tested by :func:`is_zero`, which decides whether it vanishes for every real batch
(:mod:`theory.arithmetic.radicals`); ``sympy.sympify`` makes it sympy's, to be printed as LaTeX.

>>> batch = SymbolicBatch(3)
>>> deviation = batch.y - batch.y.sum() / 3
>>> sigma = (deviation @ deviation / 3).sqrt()
>>> slope = derivative(lambda y: (y @ y - y.sum() ** 2 / 3) / 3, batch.y, deviation / sigma)
>>> is_zero(slope - 2 * sigma), is_zero(slope - sigma)
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from theory.arithmetic import exact
from theory.arithmetic.formulas import Formula, formula, letter
from theory.arithmetic.radicals import UndecidedError, is_zero

__all__ = ["SymbolicBatch", "UndecidedError", "derivative", "gradient", "is_zero"]


class SymbolicBatch:
    """The letters of one unit with a batch of m entries, for real numbers.

    Args:
        m: the batch size, at least 1.
        eps: "zero" for eps = 0, "positive" for a positive letter.

    Attributes:
        m: the batch size as a formula, whose root is not rounded.
        y: the batch, shape (m,).
        g: the gradient of the loss at the layer's output, shape (m,).
        hessian: the symmetric Hessian of the loss at the layer's output, shape (m, m).
        direction: a generic direction, shape (m,).
        gamma: the scale.
        beta: the shift.
        eps: a formula, zero or a letter.

    Raises:
        ValueError: m is less than 1, or eps is neither word.

    >>> batch = SymbolicBatch(2, eps="positive")
    >>> batch.y, batch.eps, batch.hessian[0]
    (array([y1, y2], dtype=object), epsilon, array([H11, H12], dtype=object))
    """

    def __init__(self, m: int, eps: Literal["zero", "positive"] = "zero"):
        if m < 1:
            raise ValueError(f"a batch has at least one entry, but m = {m}")
        if eps not in ("zero", "positive"):
            raise ValueError(f'eps is "zero" or "positive", not {eps!r}')
        self.m = formula(m)
        self.y, self.g, self.direction = vector("y", m), vector("g", m), vector("u", m)
        self.hessian = symmetric_matrix("H", m)
        self.gamma, self.beta = letter("gamma"), letter("beta")
        self.eps = formula(0) if eps == "zero" else letter("epsilon", positive=True)


def vector(name: str, m: int) -> np.ndarray:
    """Return letters name1, ..., namem, shape (m,)."""
    return np.array([_real(name, i) for i in range(1, m + 1)], dtype=object)


def symmetric_matrix(name: str, m: int) -> np.ndarray:
    """Return a symmetric matrix of letters, shape (m, m)."""
    numbers = range(1, m + 1)
    rows = [[_real(name, min(i, j), max(i, j)) for j in numbers] for i in numbers]
    return np.array(rows, dtype=object)


def _real(name: str, *indices: int) -> Formula:
    return letter(name + "".join(map(str, indices)))


def derivative(f: Callable[[Any], Any], x: Any, u: Any) -> Any:
    """Return the derivative of f at x along u; nests.

    Args:
        f: a function of an object array of x's shape (or of a formula), scalar or array.
        x: an object array of formulas, or a formula.
        u: the direction, of the shape of x.

    >>> batch = SymbolicBatch(2)
    >>> derivative(lambda y: y @ y, batch.y, batch.direction)
    2*u1*y1 + 2*u2*y2
    """
    return exact.derivative(f, x, u, entry=formula)


def gradient(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """Return the gradient of a scalar function at x, same shape as x; nests.

    Raises:
        ValueError: the value of f has more than one entry.

    >>> gradient(lambda y: y[0] * y[1], SymbolicBatch(2).y)
    array([y2, y1], dtype=object)
    """
    return exact.entry_by_entry(derivative, f, x)
