r"""Dual numbers :math:`a + b\,t` with :math:`t^2 = 0`: exact directional derivatives.

The parts may be numbers of any arithmetic (rationals, balls, sympy expressions, dual numbers
themselves), so the rules below are the whole of differentiation.  Each derivative in progress has
a level; a number of another level is a constant for it, which keeps nested derivatives apart.

>>> from fractions import Fraction
>>> derivative(lambda x: 1 / (x * x), Fraction(2), Fraction(1))
Fraction(-1, 4)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count
from math import prod
from typing import Any

from theory.arithmetic.operations import sqrt

_levels = count()


class Dual:
    """The number ``value + rate * t`` of one level; a vector of rates is of several t at once."""

    __slots__ = ("level", "rate", "value")

    def __init__(self, value: Any, rate: Any, level: int):
        self.value, self.rate, self.level = value, rate, level

    def __add__(self, other: Any) -> Any:
        if type(other) is Dual:
            if other.level == self.level:
                return Dual(self.value + other.value, self.rate + other.rate, self.level)
            if other.level > self.level:
                return other + self
        elif _answers_for_itself(type(other)):
            return NotImplemented
        return Dual(self.value + other, self.rate, self.level)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return Dual(-self.value, -self.rate, self.level)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if _answers_for_itself(type(other)) else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if type(other) is Dual:
            if other.level == self.level:
                rate = other.rate * self.value + self.rate * other.value  # vectors come first
                return Dual(self.value * other.value, rate, self.level)
            if other.level > self.level:
                return other * self
        elif _answers_for_itself(type(other)):
            return NotImplemented
        return Dual(self.value * other, self.rate * other, self.level)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is Dual:
            return self * (1 / other)
        if _answers_for_itself(type(other)):
            return NotImplemented
        return Dual(self.value / other, self.rate / other, self.level)

    def __rtruediv__(self, other: Any) -> Any:
        inverse = 1 / self.value
        return Dual(inverse, -self.rate * inverse * inverse, self.level) * other

    def __pow__(self, power: int) -> Any:
        return prod([self if power >= 0 else 1 / self] * abs(power))

    def __abs__(self) -> Any:
        """Return the absolute value, whose rate is divided by zero where there is none, at zero."""
        size = abs(self.value)
        return Dual(size, self.rate * (self.value / size), self.level)

    def sqrt(self) -> Any:
        """Return the non-negative square root."""
        root = sqrt(self.value)
        return Dual(root, self.rate / (2 * root), self.level)

    def __repr__(self) -> str:
        return f"({self.value}) + ({self.rate}) t{self.level}"


def _is_of_arrays(kind: type) -> bool:
    """Whether values of a type are arrays or vectors, which take numbers as their entries do."""
    return hasattr(kind, "shape") or hasattr(kind, "inner")


_answers_for_itself: Callable[[type], bool] = cache(_is_of_arrays)


def infinitesimal() -> Dual:
    """Return t of a fresh level."""
    return Dual(0, 1, next(_levels))


def standard_part(number: Any) -> Any:
    """Return what is left of a number when no derivative is in progress.

    >>> standard_part(3 + 2 * infinitesimal() * infinitesimal())
    3
    """
    return standard_part(number.value) if isinstance(number, Dual) else number


def levels(number: Any) -> set[int]:
    """Return the levels of the derivatives in progress in a number.

    >>> len(levels(infinitesimal() + infinitesimal())), levels(3)
    (2, set())
    """
    if hasattr(number, "flat"):  # a vector of rates
        return set().union(*map(levels, number.flat))
    if not isinstance(number, Dual):
        return set()
    return {number.level} | levels(number.value) | levels(number.rate)


def rate(number: Any, t: Dual) -> Any:
    """Return the coefficient of t in a number; in one without t it is zero."""
    if isinstance(number, Dual) and number.level == t.level:
        return number.rate
    return 0


def derivative(f: Callable[[Any], Any], x: Any, u: Any) -> Any:
    """Derivative of f at x along u, where f returns a number."""
    t = infinitesimal()
    return rate(f(x + t * u), t)
