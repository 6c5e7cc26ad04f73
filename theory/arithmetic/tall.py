r"""Matrices of symbolic height N, known only by the inner products of their columns.

A :class:`Tall` array has the shape (N, ...): behind its first axis it is an ordinary NumPy array
whose entries are vectors of symbolic length (:mod:`theory.arithmetic.abstract`).  It can be added
to rows, scaled, multiplied by a matrix from the right, summed over its first axis, and transposed
to be multiplied by another.  What is derived of it holds for every N, and of one shape behind it.

An elementwise product of two of them is not determined by inner products; only its sums are.  The
exception is H e for a diagonal operator H of the space: its product with a column a is H a.

>>> H = matrix("h", 2)
>>> H.T @ H
array([[<h1, h1>, <h1, h2>],
       [<h1, h2>, <h2, h2>]], dtype=object)
>>> centred = H - H.sum(0) / H.shape[0]
>>> centred.sum(0)
array([0, 0], dtype=object)
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from theory.arithmetic.abstract import ONE, AbstractVector, Space, tidy
from theory.packages import missing

try:
    import sympy as sp
except ModuleNotFoundError as error:
    raise missing(error, "verify") from error


class Tall:
    """An array of shape (N, ...) with a symbol N.

    Args:
        columns: an array of vectors, all of one space.
    """

    __array_ufunc__ = None  # an array on the left must leave the operation to this class
    dtype = np.dtype(object)
    device = "cpu"

    def __init__(self, columns: Any):
        self.columns = np.asarray(columns, dtype=object)

    @property
    def space(self) -> Space:
        """The space of the columns."""
        return self.columns.flat[0].space

    @property
    def shape(self) -> tuple[Any, ...]:
        """The symbol N, then numbers."""
        return (self.space.m, *self.columns.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return 1 + self.columns.ndim

    @property
    def T(self) -> Wide:
        """The transpose, to be multiplied from the left."""
        return Wide(self)

    def sum(self, axis: int | None = None) -> Any:
        """Return the sum over the first axis, or of everything."""
        if axis not in (0, None):
            raise TypeError("the sum over columns of symbolic length is a vector; use @")
        sums = _each(AbstractVector.sum, self.columns)
        return sums if axis == 0 else _tidy(sums.sum())

    def inner(self, other: Tall) -> np.ndarray:
        """Return the inner products of columns at the same place, as one row."""
        return (self * other).sum(0)[None]

    def length(self) -> sp.Symbol:
        """Return the symbol N."""
        return self.space.m

    def mean(self) -> np.ndarray:
        """Return the columns' means, as one row."""
        return self.sum(0)[None] / self.space.m

    def coefficients(self) -> np.ndarray:
        """Return every column's coefficients in one row: all zero if and only if it is zero."""
        found = [list(column.coefficients.values()) for column in self.columns.ravel()]
        return np.array([c for column in found for c in column], dtype=object)

    def map(self, function: Callable[[Any], Any]) -> Tall:
        """Return the matrix with each coefficient replaced by its image."""
        return Tall(np.frompyfunc(lambda column: column.map(function), 1, 1)(self.columns))

    def __matmul__(self, other: Any) -> Tall:
        return Tall(self.columns @ np.asarray(other, dtype=object))

    def __add__(self, other: Any) -> Tall:
        return Tall(self.columns + _behind(other, self.ndim))

    __radd__ = __add__

    def __neg__(self) -> Tall:
        return self * -1

    def __sub__(self, other: Any) -> Tall:
        return self + (-1) * other

    def __rsub__(self, other: Any) -> Tall:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Tall):
            return self._as_operators(other) or Products(self, other)
        return Tall(self.columns * _behind(other, self.ndim))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tall:
        return Tall(self.columns / _behind(other, self.ndim))

    def __pow__(self, power: int) -> Products:
        if power != 2:
            raise TypeError("of the powers of entries only the sums of squares are known")
        return Products(self, self)

    def __getitem__(self, index: Any) -> Tall:
        whole, *behind = index if isinstance(index, tuple) else (index,)
        if whole != slice(None):
            raise TypeError("single rows of a matrix of symbolic height are not known")
        return Tall(self.columns[tuple(behind)])

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """Return the few functions of the standard that make sense here."""
        return SimpleNamespace(__name__=__name__, concat=_concat, ones=self._ones, stack=np.stack)

    def _as_operators(self, other: Tall) -> Tall | None:
        """Return the elementwise product where H e for a diagonal H stands for H."""
        columns = self.columns.ravel()
        labels = {label for column in columns for label in column.coefficients}
        if not (self.space.operator_is_diagonal and all(name == ONE for _, name in labels)):
            return None
        return Tall(np.frompyfunc(_applied, 2, 1)(self.columns, other.columns))

    def _ones(self, shape: tuple[Any, ...], **_: Any) -> Tall:
        rows, *behind = shape
        if rows != self.space.m:
            raise TypeError(f"a matrix of {rows} rows beside one of {self.space.m}")
        return Tall(np.full(behind, self.space.one, dtype=object))


class Wide:
    """The transpose of a :class:`Tall` matrix."""

    __array_ufunc__ = None

    def __init__(self, tall: Tall):
        self.T = tall

    def __rmatmul__(self, other: Any) -> Wide:
        return Wide(self.T @ np.asarray(other, dtype=object).T)

    def __matmul__(self, other: Tall) -> Any:
        """Return the inner products of the columns."""
        if not isinstance(other, Tall):
            return NotImplemented
        left, right = self.T.columns, other.columns
        products = [a.inner(b) for a in left.ravel() for b in right.ravel()]
        return _tidy(np.array(products, dtype=object).reshape(left.shape + right.shape))


class Products:
    """Elementwise products of two tall arrays of one shape, of which only sums are known."""

    def __init__(self, left: Tall, right: Tall):
        self.left, self.right = np.broadcast_arrays(left.columns, right.columns)

    def sum(self, axis: int | None = None) -> Any:
        """Return the sums over the first axis, or that of everything."""
        if axis not in (0, None):
            raise TypeError("elementwise products of columns are known by their sums alone")
        sums = _each(AbstractVector.inner, self.left, self.right)
        return sums if axis == 0 else _tidy(sums.sum())


def matrix(name: str, columns: int) -> Tall:
    """Return a matrix of symbolic height with generic columns, in a space of its own."""
    space = Space()
    return Tall([space.vector(f"{name}{j + 1}") for j in range(columns)])


def _applied(diagonal: AbstractVector, column: AbstractVector) -> AbstractVector:
    raised = [
        AbstractVector(column.space, {(k + j, a): c for (j, a), c in column.coefficients.items()})
        * number
        for (k, _), number in diagonal.coefficients.items()
    ]
    return sum(raised, start=AbstractVector(column.space, {}))


def _behind(other: Any, ndim: int) -> Any:
    """Return what an operand is to every row."""
    if isinstance(other, Tall):
        return other.columns
    row = np.asarray(other, dtype=object)
    return row[0] if row.ndim == ndim and len(row) == 1 else row


def _each(function: Any, *arrays: np.ndarray) -> np.ndarray:
    return _tidy(np.asarray(np.frompyfunc(function, len(arrays), 1)(*arrays), dtype=object))


def _tidy(numbers: Any) -> Any:
    if isinstance(numbers, np.ndarray):
        return np.asarray(np.frompyfunc(tidy, 1, 1)(numbers), dtype=object)
    return tidy(numbers)


def _concat(arrays: list[Tall], axis: int) -> Tall:
    if axis < 1:
        raise TypeError("matrices of symbolic height stand beside each other, not above")
    return Tall(np.concatenate([a.columns for a in arrays], axis=axis - 1))
