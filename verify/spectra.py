r"""The extreme eigenvalues of Gram matrices, and which of them are told from zero.

In double precision an eigenvalue is off by about, over the largest,

.. math:: \phi = u\,(64\,(1 + \log_2 \text{rows}) + \text{columns})

for the sums in the matrix (inner products of columns whose entries have one sign, or that are
centred) and for the eigenvalues themselves.  What is below is not told from zero.

Where :math:`A - \phi\lambda_{\max}I` has a Cholesky factor every eigenvalue is told from zero, and
the least follows by Lanczos's method from the inverse: a fifth of the time that all eigenvalues of
a matrix with thousands of columns take.
"""

from __future__ import annotations

from functools import partial
from math import log2
from typing import Any, NamedTuple

import numpy as np

from verify import tolerance

LARGE = 1024
"""Columns from which on the extreme eigenvalues are computed alone."""


class Extremes(NamedTuple):
    """The largest eigenvalue, the least that is told from zero, and how many are."""

    largest: float
    least: float
    rank: int


def floor(rows: int, columns: int) -> float:
    r"""Return :math:`\phi`.

    >>> 1e6 < 1 / floor(32 * 112 * 112, 4609) ** 0.5 < 2e6
    True
    """
    return tolerance.UNIT_ROUNDOFF * (tolerance.SAFETY * (1 + log2(rows)) + columns)


def extremes(gram: np.ndarray, phi: float) -> Extremes:
    """Return the extreme eigenvalues of a symmetric matrix without negative ones.

    >>> extremes(np.diag([9.0, 0.0, 4.0]), 1e-12)
    Extremes(largest=9.0, least=4.0, rank=2)
    """
    if len(gram) >= LARGE and (found := _of_full_rank(gram, phi)) is not None:
        return found
    values = np.linalg.eigvalsh(gram)
    nonzero = values[values > phi * values[-1]]
    return Extremes(float(values[-1]), float(nonzero[0]), len(nonzero))


def _of_full_rank(gram: np.ndarray, phi: float) -> Extremes | None:
    """Return the extreme eigenvalues, or None where one of them may be zero."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve
    from scipy.sparse.linalg import LinearOperator

    largest = _largest(gram)
    shift = phi * largest
    shifted = np.array(gram, order="F")
    np.fill_diagonal(shifted, gram.diagonal() - shift)
    try:
        factor = cho_factor(shifted, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    solve = partial(cho_solve, factor, check_finite=False)
    inverse = LinearOperator(gram.shape, matvec=solve, dtype=gram.dtype)
    return Extremes(largest, 1 / _largest(inverse) + shift, len(gram))


def of_triangle(triangle: np.ndarray) -> Extremes:
    """Return the squares of the extreme singular values of an upper triangular matrix.

    The least is the inverse of the largest of the inverse, which offsets and scales of columns cost
    no digits; a matrix whose diagonal has a zero has none.

    >>> found = of_triangle(np.array([[1.0, 1e6, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> round(found.largest / 1e12, 6), round(found.least * 1e12, 6)  # the determinant is one
    (1.0, 1.0)
    """
    from scipy.linalg import solve_triangular
    from scipy.sparse.linalg import LinearOperator

    solve = partial(solve_triangular, triangle, check_finite=False)

    def inverse(vector: Any) -> Any:
        return solve(solve(vector, trans="T"))

    def squared(vector: Any) -> Any:
        return triangle.T @ (triangle @ vector)

    size, dtype = triangle.shape, triangle.dtype
    operators = [LinearOperator(size, matvec=f, dtype=dtype) for f in (squared, inverse)]
    largest, least = map(_largest, operators)
    return Extremes(largest, 1 / least, len(triangle))


def _largest(operator: Any) -> float:
    from scipy.sparse.linalg import eigsh

    start = np.random.default_rng(0).standard_normal(operator.shape[0])
    return float(eigsh(operator, 1, which="LA", v0=start, return_eigenvectors=False)[0])
