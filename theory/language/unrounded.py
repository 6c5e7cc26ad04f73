"""Sums, products and quotients in which fractions of whole numbers are not rounded.

They stay exact beside numbers of any arithmetic: a fraction is a whole number times, a whole number
over.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Any

LARGE = 2**62
"""Whole numbers below it fit into the integers of any arithmetic."""


def total(*terms: Any) -> Any:
    """Return the sum of terms."""
    return reduce(_plus, terms)


def product(*factors: Any) -> Any:
    """Return the product of factors."""
    return reduce(_times, factors)


def quotient(a: Any, b: Any) -> Any:
    """Return a/b."""
    if _is_rational(a) and _is_rational(b):
        return Fraction(a, b)
    if type(a) is Fraction:
        return _beside(a.numerator, b) / _scaled(b, a.denominator)
    if type(b) is Fraction:
        return _over(_scaled(a, b.denominator), b.numerator)
    if type(b) is int:
        return _over(a, b)
    return (_beside(a, b) if type(a) is int else a) / b


def power(a: Any, n: Any) -> Any:
    """Return a to the power n; a whole number to a negative one is a fraction."""
    return Fraction(a) ** n if type(a) is int and type(n) is int and n < 0 else a**n


def constant(value: int | Fraction, like: Any) -> Any:
    """Return a number as one of the kind of another value, of its shape."""
    return _plus(0 * like, Fraction(value)) if value else 0 * like


def _plus(a: Any, b: Any) -> Any:
    if _is_rational(a) and not _is_rational(b):
        a, b = b, a
    if type(b) is Fraction and not _is_rational(a):
        return _over(_plus(_scaled(a, b.denominator), b.numerator), b.denominator)
    return a + (_beside(b, a) if type(b) is int else b)


def _times(a: Any, b: Any) -> Any:
    if _is_rational(a) and not _is_rational(b):
        a, b = b, a
    if type(b) is Fraction and not _is_rational(a):
        return _over(_scaled(a, b.numerator), b.denominator)
    return _scaled(a, b) if type(b) is int else a * b


def _over(a: Any, n: int) -> Any:
    return a / _beside(n, a)


def _beside(n: int, other: Any) -> Any:
    """Return a whole number as it is, or if it is large as one of the other's kind and shape."""
    return n if abs(n) < LARGE or _is_rational(other) else _scaled(0 * other + 1, n)


def _scaled(a: Any, n: int) -> Any:
    """Return a number times a whole one, in parts that every arithmetic takes."""
    if abs(n) < LARGE or _is_rational(a):
        return a * n
    high, low = divmod(n, LARGE)
    return _scaled(a, high) * LARGE + a * low


def _is_rational(value: Any) -> bool:
    # isinstance asks the abstract base of Fraction, which takes longer than most sums here.
    return type(value) is int or type(value) is Fraction
