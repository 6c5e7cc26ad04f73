r"""Derivatives of functions of balls, by power series, which no other witness uses.

A ball is a real number enclosed in an interval (python-flint's ``arb``): whatever is computed with
balls is certain up to their radius, at the precision of ``flint.ctx``.

Of n nested derivatives the k-th moves its point along :math:`t^{w_k} u` with
:math:`w_k = 2^n - 2^{n-1-k}`, and is read off as a coefficient.  For two,

.. math:: f(x + t^2 u + t^3 w) = \dots + \langle u, \nabla^2 f\, w\rangle\, t^5 + \dots

No other products of the steps meet in that power of t.  For let s + j weights, repeated or not,
have the same sum as s different ones.  Then s + j of the powers :math:`2^{n-1-k}` have a sum that
is larger by :math:`j 2^n` than that of s different ones.  It would be negative for j < 0, and
takes at least s + 2j such powers for j > 0; for j = 0 they are the same s.

>>> f = lambda x: x[0] * x[0] * x[1]
>>> derivative(lambda x: gradient(f, x), np.array([1, 2]), np.array([1, 0]))
array([4.00000000000000, 2.00000000000000], dtype=object)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextvars import ContextVar
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from flint import arb, arb_series, fmpq, fmpz

from theory.arithmetic.exact import entry_by_entry, number

DEPTH = 2
"""How deep derivatives may be nested."""
_WEIGHTS = [2**DEPTH - 2 ** (DEPTH - 1 - k) for k in range(DEPTH)]
_LENGTH = sum(_WEIGHTS) + 1
_level: ContextVar[int] = ContextVar("level", default=0)


class NestingError(ValueError):
    """Derivatives are nested deeper than :data:`DEPTH`."""


def ball(value: Any) -> arb:
    """Return a number as a ball at the precision in force.

    Args:
        value: a ball, or what :func:`theory.arithmetic.exact.number` takes.
    """
    return value if isinstance(value, arb) else number(value).ball()


_NUMBERS = (arb, int, float, Fraction, fmpz, fmpq, np.number)


def _terms(value: Any) -> arb_series | None:
    if type(value) is Series:
        return value.terms
    if type(value) is arb:
        return _constant(value)
    return _constant(ball(value)) if isinstance(value, _NUMBERS) else None


def _constant(value: Any) -> arb_series:
    return arb_series([value], prec=_LENGTH)


def _quotient(a: arb_series, b: arb_series) -> arb_series:
    # A common factor t would cancel, and leave fewer coefficients than are read off later.
    return a * arb_series([arb("nan")] * _LENGTH, prec=_LENGTH) if b[0].contains(0) else a / b


def _operator(operation: Callable[[arb_series, arb_series], arb_series]) -> tuple[Any, Any]:
    """Return an operation as a method of series, and that for a series on the right."""

    def of_left(self: Series, other: Any) -> Any:
        right = _terms(other)
        return NotImplemented if right is None else Series(operation(self.terms, right))

    def of_right(self: Series, other: Any) -> Any:
        left = _terms(other)
        return NotImplemented if left is None else Series(operation(left, self.terms))

    return of_left, of_right


class Series:
    """A power series in t, truncated, as a number.

    NumPy takes an ``arb_series`` apart because it has a length; hence this class around it.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: arb_series):
        self.terms = terms

    __add__, __radd__ = _operator(operator.add)
    __sub__, __rsub__ = _operator(operator.sub)
    __mul__, __rmul__ = _operator(operator.mul)
    __truediv__, __rtruediv__ = _operator(_quotient)

    def __neg__(self) -> Series:
        return Series(-self.terms)

    def __abs__(self) -> Series:
        """Return the absolute value; where its sign at t = 0 is not certain, an unknown number."""
        first = self.terms[0]
        if first > 0:
            return self
        if first < 0:
            return -self
        return Series(self.terms * arb("nan"))

    def __pow__(self, power: int) -> Any:
        if not isinstance(power, int):
            return NotImplemented
        base = self if power >= 0 else 1 / self
        return prod([base] * abs(power), start=Series(_constant(1)))

    def sqrt(self) -> Series:
        """Return the non-negative square root, or nan where zero is not excluded."""
        return Series(self.terms.sqrt())

    def __repr__(self) -> str:
        return f"Series({self.terms})"


def derivative(f: Callable[[Any], Any], x: Any, u: Any) -> Any:
    """Return the derivative of f at x along u; nests.

    Args:
        f: a function of an object array of x's shape (or of a number), scalar or array.
        x: an array of numbers (see :func:`ball`), or a number.
        u: the direction, of the shape of x.

    Raises:
        NestingError: derivatives are nested deeper than :data:`DEPTH`.

    >>> derivative(lambda x: x * x, 3, 1)
    6.00000000000000
    """
    level = _level.get()
    if level >= DEPTH:
        raise NestingError(f"derivatives are nested deeper than {DEPTH}")
    step = Series(arb_series([0] * _WEIGHTS[level] + [1], prec=_LENGTH))
    token = _level.set(level + 1)
    try:
        value = f(_moved(x, u, step))
    finally:
        _level.reset(token)
    return _coefficients(value, level)


def _moved_entry(x: Any, u: Any, step: Series) -> Any:
    """Return x + u t; where u is zero, x alone, so that what does not move stays a ball."""
    here, along = (v if type(v) is Series else ball(v) for v in (x, u))
    return here if along == 0 else here + step * along


def _coefficient(value: Any, level: int) -> Any:
    """Return the part linear in one level's step, as a series in the steps of the levels around."""
    if not isinstance(value, Series):
        return arb(0)
    if value.terms.prec < _LENGTH:
        raise ValueError(f"the series is too short; let flint.ctx.cap be at least {_LENGTH}")
    if level == 0:
        return value.terms[_WEIGHTS[0]]
    outer = _WEIGHTS[:level]
    powers = [sum(some) for size in range(level + 1) for some in combinations(outer, size)]
    coefficients = [arb(0)] * (max(powers) + 1)
    for power in powers:
        coefficients[power] = value.terms[power + _WEIGHTS[level]]
    return Series(arb_series(coefficients, prec=_LENGTH))


_moved = np.frompyfunc(_moved_entry, 3, 1)
_coefficients = np.frompyfunc(_coefficient, 2, 1)


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the gradient of a scalar function at x, same shape as x; nests.

    Args:
        f: a function of an object array whose value is a number, or an array of one entry.
        x: an array of numbers (see :func:`ball`).

    Raises:
        ValueError: the value of f has more than one entry, or derivatives are nested too deep.
    """
    return entry_by_entry(derivative, f, np.asarray(x, dtype=object))
