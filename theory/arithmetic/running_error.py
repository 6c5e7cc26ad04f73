r"""Numbers with a running error: the value of an algorithm's step, and a bound of its rounding.

A :class:`Rounded` array is a pair :math:`(a, e)`: what the algorithm would compute without
rounding, and a bound of how far its computed value may be from that when every operation rounds
with :math:`fl(a \circ b) = (a \circ b)(1 + \delta) + \eta`, :math:`|\delta| \le u`,
:math:`|\eta| \le` the smallest normal number (which allows for a flush to zero).  A value
beyond the largest number has an infinite error.  To first order

.. math:: e_{a+b} = e_a + e_b + u|a+b|, \quad e_{ab} = |a|e_b + |b|e_a + u|ab|, \quad
          e_{\sqrt a} = e_a/(2\sqrt a) + u\sqrt a;

of the second order only what remains where the first vanishes is kept: :math:`e_a e_b` in a
product, and the interval's end in a quotient and a root.  A sum of m terms may be taken in any
order that is not deeper than pairs of pairs, and loses at most

.. math:: u \lceil\log_2 m\rceil \sum_i |a_i|.

A formula that runs on these numbers gives the running error of the algorithm that it is when read
literally; a backward stable algorithm of another make stays within a moderate multiple.

Index convention: axis 0 is the batch, every other axis runs over units, as in
:mod:`theory.batchnorm`.

Source: Wilkinson 1986, "Error analysis revisited"; Higham 2002, "Accuracy and stability of
numerical algorithms", Sect. 3.3 (running error) and (4.6) (pairwise summation).

>>> single = Precision(2.0**-24, 2.0**-126, 2.0**128 * (1 - 2.0**-24))
>>> from theory import batchnorm
>>> far = single.exactly([[1000.0], [1001.0], [1004.0]])
>>> yhat = batchnorm.normalize(far)
>>> yhat.value.round(3).ravel(), bool(yhat.error.max() > 500 * 2.0**-24)
(array([-0.981, -0.392,  1.373]), True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Floats = np.ndarray


@dataclass(frozen=True)
class Precision:
    """A floating-point format: unit roundoff u, smallest normal number, largest number.

    Sums of a narrow format may be added up in a wider one and rounded once, at the end.
    """

    unit: float
    smallest: float
    largest: float
    accumulator: float | None = None
    """Unit roundoff of the format that sums are added up in; None: the same."""

    def exactly(self, values: Any) -> Rounded:
        """Return numbers that the format holds: without error."""
        values = np.asarray(values, dtype=np.float64)
        return Rounded(values, np.zeros_like(values), self)


class Rounded:
    """An array of values, the bounds of their errors, and the format that they are rounded to."""

    __array_ufunc__ = None  # an array on the left must leave the operation to this class

    def __init__(self, value: Floats, error: Floats, precision: Precision):
        self.value, self.error, self.precision = value, error, precision

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the values."""
        return self.value.shape

    def inner(self, other: Rounded) -> Rounded:
        """Return the sum of products over the batch, which is kept with length one."""
        return (self * other).sum()

    def length(self) -> int:
        """Return the number of entries of the batch."""
        return self.shape[0]

    def mean(self) -> Rounded:
        """Return the average over the batch, which is kept with length one."""
        return self.sum() / self.length()

    def sum(self) -> Rounded:
        """Return the sum over the batch in any order of pairs, kept with length one."""
        value, precision = _in_pairs(self.value), self.precision
        unit = precision.unit if precision.accumulator is None else precision.accumulator
        additions = (len(self) - 1).bit_length()
        error = _in_pairs(self.error) + unit * additions * _in_pairs(np.abs(self.value))
        if unit < precision.unit:
            error = error + precision.unit * np.abs(value)
        return Rounded(value, error, precision)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: Any) -> Rounded:
        return Rounded(self.value[index], self.error[index], self.precision)

    def take(self, positions: np.ndarray) -> Rounded:
        """Return the entries at flat positions, in the shape of the positions."""
        value, error = np.broadcast_to(self.value, self.shape), self.error
        return Rounded(value.ravel()[positions], error.ravel()[positions], self.precision)

    def sqrt(self) -> Rounded:
        """Return the non-negative square root; its error is infinite where the sign is in doubt."""
        root = np.sqrt(self.value)
        lower = np.sqrt(np.maximum(self.value - self.error, 0))
        error = np.where(self.error < self.value, _ratio(self.error, root + lower), np.inf)
        return self._rounded(root, np.where(self.error == 0, 0, error))

    def __add__(self, other: Any) -> Rounded:
        value, error = _parts(other)
        return self._rounded(self.value + value, self.error + error, is_product=False)

    __radd__ = __add__

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error, self.precision)

    def __sub__(self, other: Any) -> Rounded:
        return self + (-other)

    def __rsub__(self, other: Any) -> Rounded:
        return -self + other

    def __mul__(self, other: Any) -> Rounded:
        value, error = _parts(other)
        carried = np.abs(self.value) * error + np.abs(value) * self.error + self.error * error
        return self._rounded(self.value * value, carried)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Rounded:
        value, error = _parts(other)
        quotient = _ratio(self.value, value)
        least = np.maximum(np.abs(value) - error, 0)
        return self._rounded(quotient, _ratio(self.error + np.abs(quotient) * error, least))

    def __rtruediv__(self, other: Any) -> Rounded:
        return self.precision.exactly(other) / self

    def __pow__(self, power: int) -> Rounded:
        result = self
        for _ in range(power - 1):
            result = result * self
        return result

    def _rounded(self, value: Floats, error: Floats, is_product: bool = True) -> Rounded:
        size = np.abs(value)
        underflow = self.precision.smallest if is_product else 0
        total = error + self.precision.unit * size + underflow
        return Rounded(
            value, np.where(size > self.precision.largest, np.inf, total), self.precision
        )


def _parts(other: Any) -> tuple[Any, Any]:
    """Split an operand into value and error; a plain number is exact."""
    return (other.value, other.error) if isinstance(other, Rounded) else (other, 0.0)


def _ratio(a: Any, b: Any) -> Floats:
    """Return a / b, infinite where b is zero and a is not, zero where both are."""
    a, b = np.broadcast_arrays(a, b)
    away = np.where(a == 0, a, np.copysign(np.inf, a))
    return np.divide(a, b, out=away.astype(np.result_type(a, b, float)), where=b != 0)


def _in_pairs(values: Floats) -> Floats:
    """Return the sum along axis 0 of pairs of pairs, kept with length one."""
    while len(values) > 1:
        even = len(values) - len(values) % 2
        values = np.concatenate([values[:even:2] + values[1:even:2], values[even:]])
    return values
