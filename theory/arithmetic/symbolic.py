r"""Batches of a fixed size m whose entries are letters: a proof for that m.

The formulas run unchanged on object arrays of letters (:mod:`theory.arithmetic.formulas`).  What
comes out is tested by :func:`is_zero`, which decides whether it vanishes for every real batch
(:mod:`theory.arithmetic.radicals`); ``sympy.sympify`` makes it sympy's, to be printed as LaTeX.

>>> y = vector("y", 3)
>>> deviation = y - y.sum() / 3
>>> sigma = (deviation @ deviation / 3).sqrt()
>>> slope = derivative(lambda y: (y @ y - y.sum() ** 2 / 3) / 3, y, deviation / sigma)
>>> is_zero(slope - 2 * sigma), is_zero(slope - sigma)
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from theory.arithmetic import exact
from theory.arithmetic.formulas import Formula, formula, letter
from theory.arithmetic.radicals import UndecidedError, is_zero

__all__ = ["UndecidedError", "derivative", "gradient", "is_zero"]


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

    >>> derivative(lambda y: y @ y, vector("y", 2), vector("u", 2))
    2*u1*y1 + 2*u2*y2
    """
    return exact.derivative(f, x, u, entry=formula)


def gradient(f: Callable[[Any], Any], x: np.ndarray) -> np.ndarray:
    """Return the gradient of a scalar function at x, same shape as x; nests.

    Raises:
        ValueError: the value of f has more than one entry.

    >>> gradient(lambda y: y[0] * y[1], vector("y", 2))
    array([y2, y1], dtype=object)
    """
    return exact.entry_by_entry(derivative, f, x)
