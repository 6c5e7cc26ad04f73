r"""Floats whose exponents have no bounds: numbers between one and two, and powers of two.

A formula of several products may leave a format's range on its way to a number inside of it.  On
these arrays it runs unchanged, with the rounding of the format and none of its limits, at a few
times the cost.  PyTorch's derivatives pass: powers of two are off its tape.

>>> import numpy as np
>>> small, large = np.array([2.0**-800]), Unbounded.of(np.array([2.0**800]))
>>> ((large * large) * small).rounded() == 2.0**800
array([ True])
"""

from __future__ import annotations

from functools import cache
from math import frexp
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from theory.arithmetic.constants import numbers

OF_ZERO = -(2.0**20)
"""The exponent of zero, far below any other."""


class Unbounded:
    """An array of numbers ``mantissa * 2**exponent``.

    Args:
        mantissa: an array of floats.
        exponent: whole numbers as floats, of a shape that broadcasts to the same.
    """

    __array_ufunc__ = None  # an array on the left must leave the operation to this class

    def __init__(self, mantissa: Any, exponent: Any):
        self.mantissa, self.exponent = mantissa, exponent

    @classmethod
    def of(cls, x: Any, power: Any = 0.0) -> Unbounded:
        """Return the numbers of an array times powers of two."""
        size = abs(constant(x))
        found = exponents_of(size)
        exponent = array_namespace(size).where(size > 0, found + power, OF_ZERO + 0 * found)
        return cls(shifted(x, -found), exponent)

    def rounded(self) -> Any:
        """Return the array of floats."""
        return shifted(self.mantissa, self.exponent)

    def sum(self, axis: int) -> Unbounded:
        """Return the sum over an axis."""
        top = array_namespace(self.exponent).max(self.exponent, axis=axis, keepdims=True)
        terms = shifted(self.mantissa, self.exponent - top)
        xp = array_namespace(terms)
        return Unbounded.of(xp.sum(terms, axis=axis), xp.max(top, axis=axis))

    def __getitem__(self, index: Any) -> Unbounded:
        return Unbounded(self.mantissa[index], self.exponent[index])

    def __neg__(self) -> Unbounded:
        return Unbounded(-self.mantissa, self.exponent)

    def __add__(self, other: Any) -> Unbounded:
        other = self._like(other)
        top = array_namespace(self.exponent).maximum(self.exponent, other.exponent)
        terms = (shifted(x.mantissa, x.exponent - top) for x in (self, other))
        return Unbounded.of(sum(terms), top)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Unbounded:
        return self + -self._like(other)

    def __rsub__(self, other: Any) -> Unbounded:
        return -self + other

    def __mul__(self, other: Any) -> Unbounded:
        other = self._like(other)
        return Unbounded.of(self.mantissa * other.mantissa, self.exponent + other.exponent)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Unbounded:
        other = self._like(other)
        return Unbounded.of(self.mantissa / other.mantissa, self.exponent - other.exponent)

    def __rtruediv__(self, other: Any) -> Unbounded:
        return self._like(other) / self

    def __matmul__(self, vector: Unbounded) -> Unbounded:
        """Return the product of a matrix and a vector."""
        return (self * vector).sum(-1)

    def _like(self, other: Any) -> Unbounded:
        if isinstance(other, Unbounded):
            return other
        if is_array_api_obj(other):
            return Unbounded.of(other)
        mantissa, exponent = frexp(other)  # a number of Python's may be beyond the array's format
        parts = (mantissa, exponent if other else OF_ZERO)
        return Unbounded(*(numbers(part, self.exponent) for part in parts))


def constant(x: Any) -> Any:
    """Return an array off PyTorch's tape: what numbers are scaled by has no derivative."""
    return x.detach() if hasattr(x, "detach") else x


def exponents_of(size: Any) -> Any:
    """Return the exponents of sizes, 0 of zero."""
    xp = array_namespace(size)
    return xp.floor(xp.log2(xp.where(size > 0, size, xp.ones_like(size))))


def shifted(x: Any, power: Any) -> Any:
    """Return :math:`2^p x`, in steps, since that power itself may be beyond the range.

    >>> import numpy as np
    >>> shifted(np.array([2.0**-600, 0.0]), np.array(1200.0)) == [2.0**600, 0.0]
    array([ True,  True])
    """
    xp = array_namespace(power)
    most = 2 * reach(xp, power.dtype)  # which takes any number that is not zero out of the range
    power = xp.clip(power, -most, most)
    quarter = xp.floor(power / 4)
    for step in (quarter, quarter, quarter, power - 3 * quarter):
        x = x * 2.0**step
    return x


@cache
def reach(xp: Any, dtype: Any) -> int:
    """Return the exponent of the largest number of a dtype."""
    return int(np.frexp(xp.finfo(dtype).max)[1]) - 1
