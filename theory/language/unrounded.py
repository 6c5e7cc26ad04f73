"""Sums, products and quotients in which fractions of whole numbers are not rounded.

They stay exact beside numbers of any arithmetic: a fraction is a whole number times, a whole number
over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

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
    """Return a number as one of the kind of another value, of its shape.

    >>> constant(2, np.array([1, 3])), constant(Fraction(1, 2), np.array([1.0, 3.0]))
    (array([2, 2]), array([0.5, 0.5]))
    """
    if isinstance(like, np.ndarray) and like.dtype.kind in "iu":
        return of_indices(lambda zero: zero + Fraction(value), [0 * like])
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


# ---- whole numbers of which an operation makes floats ----

_FLOATS = (float, np.float64, np.ndarray)


def is_rounded(value: Any, operands: Sequence[Any]) -> bool:
    """Whether a value of whole numbers or fractions, such as a root, became a float.

    >>> is_rounded(2**0.5, [2]), is_rounded(4, [2]), is_rounded(2**0.5, [2.0])
    (True, False, False)
    """
    if type(value) not in _FLOATS or not all(map(_is_whole_or_fraction, operands)):
        return False
    return not isinstance(value, np.ndarray) or value.dtype.kind == "f"


def _is_whole_or_fraction(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu"
    return isinstance(value, int | Fraction | np.integer)


def is_inexact(number: Any) -> bool:
    """Whether a number is a float, or an array's, or a whole number, which tells no arithmetic."""
    if isinstance(number, int | float):
        return True
    return hasattr(number, "dtype") and number.dtype is not np.dtype(object)


def of_indices(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """Return a function of arrays of whole numbers, which stay such where they can.

    >>> of_indices(lambda t, n: t / n, [np.array([1, 2]), 2])
    array([Fraction(1, 2), Fraction(1, 1)], dtype=object)
    """
    found = function(*map(_in_fractions, operands))
    is_whole = all(entry.denominator == 1 for entry in found.flat)
    return found.astype(np.int64) if is_whole else found


def _in_fractions(whole: Any) -> Any:
    if not isinstance(whole, np.ndarray):
        return Fraction(whole)
    return np.vectorize(lambda entry: Fraction(int(entry)), otypes=[object])(whole)
