r"""Vectors of a unit's batch space, known by their inner products, for many units at once.

A vector is a combination of named ones, :math:`1, \hat y, g, w` and, where second derivatives were
taken, their images; its coefficients and the inner products of the named are arrays ``(unit,)``.
So a statement of the ledger is worth what its own expression says, for a batch of any length,
although no batch is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from theory.statement import NoLetterError
from verify.audit.units import Pair

Array = NDArray[np.float64]
ONE = "one"


class NotMeasuredError(NoLetterError):
    """Something was asked that the pass over the network does not tell."""


class Measured:
    """The letters that a pass over the network tells.

    Raises:
        NotMeasuredError: it does not tell one.
    """

    def __init__(self, **letters: Any) -> None:
        vars(self).update(letters)

    def __getattr__(self, name: str) -> NoReturn:
        raise NotMeasuredError(name)


class Space:
    """Named vectors of length m and their inner products.

    Args:
        m: the length, ``(unit,)`` or one number.
        products: by pairs of names, in either order.
    """

    def __init__(self, m: Any, products: Mapping[Pair, Any]) -> None:
        self.m = m
        self.products: dict[frozenset[str], Any] = {
            frozenset(pair): value for pair, value in products.items()
        }
        self.products[frozenset({ONE})] = m * np.float64(1)

    def vector(self, name: str) -> Spanned:
        """Return the vector of a name."""
        return Spanned(self, {name: np.float64(1)})

    def inner(self, a: str, b: str) -> Any:
        """Return the inner product of two named vectors.

        Raises:
            NotMeasuredError: it is not known.
        """
        try:
            return self.products[frozenset({a, b})]
        except KeyError:
            raise NotMeasuredError(f"<{a}, {b}>") from None


class Spanned:
    """A combination of named vectors.

    >>> space = Space(4, {("one", "g"): np.array([2.0]), ("g", "g"): np.array([3.0])})
    >>> g = space.vector("g")
    >>> (2 * g - g.mean()).inner(g)  # 2 * 3 - 2 * 2/4
    array([5.])
    """

    __array_ufunc__ = None  # an array on the left must leave the operation to this class

    def __init__(self, space: Space, coefficients: Mapping[str, Any]) -> None:
        self.space, self.coefficients = space, dict(coefficients)

    def inner(self, other: Spanned) -> Any:
        """Return the inner product with another vector."""
        total = np.float64(0)
        for a, x in self.coefficients.items():
            for b, y in other.coefficients.items():
                if np.any(x != 0) and np.any(y != 0):
                    total = total + x * y * self.space.inner(a, b)
        return total

    def length(self) -> Any:
        """Return m."""
        return self.space.m

    def mean(self) -> Any:
        """Return the average of the entries."""
        return self.inner(self.space.vector(ONE)) / self.space.m

    def __add__(self, other: Any) -> Spanned:
        if not isinstance(other, Spanned):
            other = other * self.space.vector(ONE)
        total = dict(self.coefficients)
        for name, value in other.coefficients.items():
            total[name] = total.get(name, 0) + value
        return Spanned(self.space, total)

    __radd__ = __add__

    def __neg__(self) -> Spanned:
        return self * -1

    def __sub__(self, other: Any) -> Spanned:
        return self + -1 * other

    def __rsub__(self, other: Any) -> Spanned:
        return -self + other

    def __mul__(self, number: Any) -> Spanned:
        if isinstance(number, Spanned):
            raise NotMeasuredError("the product of entries")
        return Spanned(self.space, {k: c * number for k, c in self.coefficients.items()})

    __rmul__ = __mul__

    def __truediv__(self, number: Any) -> Spanned:
        return self * (1 / number)
