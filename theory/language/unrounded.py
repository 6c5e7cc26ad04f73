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
    if _is_rational(a) and _is_rational(b):
        return Fraction(a, b)
    if type(a) is Fraction:
        return a.numerator / (a.denominator * b)
    return a * b.denominator / b.numerator if type(b) is Fraction else a / b


def constant(value: int | Fraction, like: Any) -> Any:
    """Return a number as one of the kind of another value, of its shape."""
    return _plus(0 * like, Fraction(value)) if value else 0 * like


def _plus(a: Any, b: Any) -> Any:
    if type(a) is Fraction and not _is_rational(b):
        return _plus(b, a)
    if type(b) is Fraction and not _is_rational(a):
        return (a * b.denominator + b.numerator) / b.denominator
    return a + b


def _times(a: Any, b: Any) -> Any:
    if type(a) is Fraction and not _is_rational(b):
        a, b = b, a
    if type(b) is Fraction and not _is_rational(a):
        return a * b.numerator / b.denominator
    return a * b


def _is_rational(value: Any) -> bool:
    # isinstance asks the abstract base of Fraction, which takes longer than most sums here.
    return type(value) is int or type(value) is Fraction
