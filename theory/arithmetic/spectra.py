r"""Eigenvalues and condition numbers, of floats and of rational matrices.

For rational matrices they are the roots of the characteristic polynomial, which is exact: a
rational root as it is, a ball around any other, so that it is known for certain which are zero and
which are the same.  For matrices of balls they are balls, of which that is not known.  To keep
square roots out of it, a diagonal scaling is given by its squares,
:math:`\kappa(F \operatorname{diag}(s)^{1/2})` from the eigenvalues of
:math:`F^T F \operatorname{diag}(s)`.

As in paper L, :math:`\kappa` is the largest singular value over the smallest that is not zero.

>>> from theory.arithmetic.exact import rational_array
>>> eigenvalues(rational_array([[2, 1], [1, 2]]))
[1, 3]
>>> eigenvalues(rational_array([[1, 1], [1, 2]]))
[[0.381966011250105 +/- 1.52e-16], [2.61803398874989 +/- 4.85e-15]]
>>> squared_condition_number(rational_array([[1, 1], [1, 1], [0, 0]]))
1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from theory.arithmetic.exact import number
from theory.arithmetic.operations import none_zero, taking_zeros, where_finite
from theory.arithmetic.quadratic import DifferentFieldsError, NotRealError, Quadratic, coerced
from theory.packages import missing

try:
    from flint import acb_mat, arb, ctx, fmpq, fmpq_mat
except ModuleNotFoundError as error:
    raise missing(error, "verify") from error

RANK = 2.0**-26
"""Floats: singular values below this part of the largest may be zero,"""
_ZERO = ContextVar("zero", default=2.0**-44)
"""and below this one they are, up to rounding."""


@contextmanager
def small_is_zero() -> Iterator[None]:
    """Take what may be zero for zero: where numbers are moved on purpose, zero moves as far."""
    token = _ZERO.set(RANK)
    try:
        yield
    finally:
        _ZERO.reset(token)


def eigenvalues(matrix: Any, scaling: Any = None) -> Any:
    r"""The eigenvalues of :math:`A` or :math:`A \operatorname{diag}(s)`, in ascending order.

    Args:
        matrix: symmetric, shape (n, n).
        scaling: s, non-negative, shape (n,).

    Raises:
        DifferentFieldsError: an entry of a matrix of exact numbers is not rational.
        NotRealError: such a matrix is not symmetric, or such a scaling negative.
    """
    if _is_exact(matrix):
        _refuse_unreal(matrix, scaling)
        return _roots(matrix if scaling is None else matrix * scaling)
    xp = array_namespace(matrix)
    if scaling is not None:
        matrix = xp.sqrt(scaling)[:, None] * matrix * xp.sqrt(scaling)
    return _if_finite(xp.linalg.eigvalsh, matrix)


def squared_singular_values(factor: Any, scaling: Any = None) -> Any:
    r"""The squares of the n singular values of :math:`F \operatorname{diag}(s)^{1/2}`, ascending.

    Args:
        factor: shape (N, n).
        scaling: s, non-negative, shape (n,).

    Raises:
        DifferentFieldsError: an entry of a matrix of exact numbers is not rational.
    """
    if _is_exact(factor):
        return eigenvalues(factor.T @ factor, scaling)
    xp = array_namespace(factor)
    scaled = factor if scaling is None else factor * xp.sqrt(scaling)
    values = _if_finite(xp.linalg.svdvals, scaled)
    missing = xp.zeros(factor.shape[1] - values.shape[0], dtype=values.dtype, device=device(values))
    return xp.concat([missing, xp.flip(values * values, axis=0)])


def squared_condition_number(factor: Any, scaling: Any = None) -> Any:
    r""":math:`\kappa(F \operatorname{diag}(s)^{1/2})^2`, over the nonzero singular values.

    Of floats it is nan where a singular value may be zero or not.

    Raises:
        ZeroDivisionError: the matrix is zero.

    >>> [float(squared_condition_number(np.diag([1.0, d])).round(4)) for d in (1e-3, 1e-9, 1e-15)]
    [1000000.0, nan, 1.0]
    """
    return _largest_over_smallest(squared_singular_values(factor, scaling), 2)


def squared_condition_number_of_nonsingular(factor: Any, scaling: Any = None) -> Any:
    r""":math:`\kappa(F \operatorname{diag}(s)^{1/2})^2` of a matrix that is nonsingular.

    Of floats it is nan where the smallest singular value is lost in rounding.

    Raises:
        ZeroDivisionError: it is singular.

    >>> [float(squared_condition_number_of_nonsingular(np.diag([1.0, d]))) for d in (0.5, 1e-15)]
    [4.0, nan]
    """
    values = squared_singular_values(factor, scaling)
    if isinstance(values, list):
        if _is_zero(values[0]):
            raise ZeroDivisionError("the matrix is singular")
        return values[-1] / values[0]
    xp = array_namespace(values)
    resolved = values[0] > _ZERO.get() ** 2 * values[-1]
    return values[-1] / xp.where(resolved, values[0], float("nan") * values[0])


def condition_number(matrix: Any) -> Any:
    """The condition number of a symmetric matrix, over its nonzero eigenvalues.

    Of floats it is nan where an eigenvalue may be zero or not.

    Raises:
        ZeroDivisionError: the matrix is zero.
    """
    found = eigenvalues(matrix)
    if _is_exact(matrix):
        return _largest_over_smallest(sorted(map(abs, found), key=float), 1)
    xp = array_namespace(found)
    return _largest_over_smallest(xp.sort(xp.abs(found)), 1)


def _largest_over_smallest(values: Any, power: int) -> Any:
    """Return the last of ascending powers of singular values over the first that is not zero."""
    refusal = "the matrix is zero, so it has no condition number"
    if isinstance(values, list):
        kept = nonzero(values, 0)
        if not kept:
            raise ZeroDivisionError(refusal)
        return kept[-1] / kept[0]
    xp = array_namespace(values)
    largest = none_zero(values[-1], refusal)
    above_zero, clear = (values > part**power * largest for part in (_ZERO.get(), RANK))
    others = xp.where(above_zero, float("nan") * largest, largest)
    return largest / xp.min(xp.where(clear, values, others))


def nonzero(values: Any, rank: float) -> Any:
    """Return those of ascending values, none negative, that are not zero.

    Args:
        values: floats, or a list of exact numbers and balls, of which only what is zero for
            certain is left out.
        rank: floats up to this part of the largest are zero up to rounding.

    >>> nonzero([0, 1, 2], 0)
    [1, 2]
    """
    if isinstance(values, list):
        return [value for value in values if not _is_zero(value)]
    return values[values > rank * values[-1]]


def _is_zero(value: Quadratic | arb) -> bool:
    """Whether a root is zero for certain: a ball that only may be zero is not."""
    return bool(value == 0)


def _is_exact(matrix: Any) -> bool:
    return isinstance(matrix, np.ndarray) and matrix.dtype == object


def _if_finite(function: Callable[[Any], Any], matrix: Any) -> Any:
    """Return a function of a matrix, nan where that is not finite, at one instance too."""
    with taking_zeros():
        return where_finite(function, matrix)


def _refuse_unreal(matrix: np.ndarray, scaling: Any) -> None:
    if (matrix != matrix.T).any():
        raise NotRealError(
            "the matrix is not symmetric, so that its eigenvalues need not be real; "
            "its singular values are those of A.T @ A"
        )
    if scaling is not None and any(bool(entry < 0) for entry in scaling):
        raise NotRealError("a scaling is negative, so that it has no root")


def _roots(matrix: np.ndarray) -> list[Quadratic | arb]:
    """Return the roots of the characteristic polynomial, all real, with their multiplicity."""
    if any(isinstance(entry, arb) for entry in matrix.flat):
        return _roots_of_balls(matrix)
    numbers = [coerced(entry) for entry in matrix.ravel()]
    if any(number is None or number.q != 0 for number in numbers):
        raise DifferentFieldsError("an entry is not rational; square it away, or use balls")
    entries = [number.p for number in numbers if number is not None]
    fractions = tuple((int(entry.p), int(entry.q)) for entry in entries)
    return [*_known_roots(len(matrix), fractions, ctx.prec)]


def _roots_of_balls(matrix: np.ndarray) -> list[Quadratic | arb]:
    """Return balls around the eigenvalues of matrices between balls; what is not found is nan."""
    balls = [
        [entry if isinstance(entry, arb) else number(entry).ball() for entry in row]
        for row in matrix
    ]
    try:
        return sorted((root.real for root in acb_mat(balls).eig(multiple=True)), key=_middle)
    except ValueError:
        return [arb("nan")] * len(matrix)


def _middle(ball: arb) -> float:
    return float(ball.mid())


@lru_cache(maxsize=2**12)
def _known_roots(
    size: int, fractions: tuple[tuple[int, int], ...], bits: int
) -> list[Quadratic | arb]:
    """Return the roots of a rational matrix, which many statements ask for, at one precision.

    Fractions are known again by whole numbers: to hash flint's own takes as long as to find them.
    """
    entries = [fmpq(above, below) for above, below in fractions]
    polynomial = fmpq_mat(size, size, entries).charpoly().numer()
    rational: list[Quadratic] = []
    for factor, times in polynomial.factor()[1]:
        if factor.degree() == 1:
            rational += [Quadratic(fmpq(-factor[0], factor[1]))] * times
            polynomial //= factor**times
    return sorted([*rational, *_irrational_roots(polynomial, rational)], key=float)


def _irrational_roots(polynomial: Any, rational: list[Quadratic]) -> list[arb]:
    """Return balls around the roots of a polynomial, apart from one another and the rational."""
    bits = ctx.prec
    while True:
        with ctx.workprec(bits):
            found = [root.real for root, times in polynomial.complex_roots() for _ in range(times)]
        if not any(ball.overlaps(known.ball()) for ball in found for known in rational):
            return found
        bits *= 2
