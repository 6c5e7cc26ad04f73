"""Sums, products and quotients in which fractions of whole numbers are not rounded.

They stay exact beside numbers of any arithmetic: a fraction is a whole number times, a whole number
over.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Any


def total(*terms: Any) -> Any:
    """Return the sum of terms."""
    return reduce(_plus, terms)


def product(*factors: Any) -> Any:
    """Return the product of factors."""
    return reduce(_times, factors)


def quotient(a: Any, b: Any) -> Any:
    """Return a/b."""
    if isinstance(a, int | Fraction) and isinstance(b, int | Fraction):
        return Fraction(a, b)
    if isinstance(a, Fraction):
        return a.numerator / (a.denominator * b)
    return a * b.denominator / b.numerator if isinstance(b, Fraction) else a / b


def constant(value: int | Fraction, like: Any) -> Any:
    """Return a number as one of the kind of another value, of its shape."""
    return _plus(0 * like, Fraction(value)) if value else 0 * like


def _plus(a: Any, b: Any) -> Any:
    if isinstance(a, Fraction) and not isinstance(b, int | Fraction):
        return _plus(b, a)
    if isinstance(b, Fraction) and not isinstance(a, int | Fraction):
        return (a * b.denominator + b.numerator) / b.denominator
    return a + b


def _times(a: Any, b: Any) -> Any:
    if isinstance(a, Fraction) and not isinstance(b, int | Fraction):
        a, b = b, a
    if isinstance(b, Fraction) and not isinstance(a, int | Fraction):
        return a * b.numerator / b.denominator
    return a * b
