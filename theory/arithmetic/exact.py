r"""Exact numbers as entries of arrays, and derivatives in them.

The formulas run unchanged on NumPy object arrays of numbers :math:`p + q\sqrt d`
(:mod:`theory.arithmetic.quadratic`).  A float is taken for the rational number that it stores, and
only where an array is made, never inside a formula.

>>> y = rational_array([1, 2, 4])
>>> deviation = y - y.sum() / 3
>>> (deviation @ deviation / 3).sqrt()
1/3*sqrt(14)
>>> gradient(lambda y: (y @ y) ** 2, y)
array([84, 168, 336], dtype=object)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from theory.arithmetic.dual import Dual, infinitesimal, rate
from theory.arithmetic.quadratic import (
    DifferentFieldsError,
    NotRealError,
    Quadratic,
    coerced,
    rational,
)

__all__ = [
    "DifferentFieldsError",
    "NotRealError",
    "Quadratic",
    "derivative",
    "entry_by_entry",
    "gradient",
    "number",
    "rational_array",
]


def number(value: Any) -> Quadratic:
    """Return a number as an exact one; a float is the rational number that it stores.

    >>> number("1/3"), number(0.75), number(Fraction(2, 3))
    (1/3, 3/4, 2/3)

    Raises:
        TypeError: the value is not a number, nor a string like "1/3" or "0.25".
        ValueError: the value is infinite or not a number.
    """
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError(f"{value!r} is not a rational number; give finite entries")
        value = Fraction(*value.as_integer_ratio())
    if isinstance(value, str):
        value = Fraction(value)
    exact = coerced(value)
    return Quadratic(rational(value)) if exact is None else exact


def rational_array(values: Iterable[Any]) -> np.ndarray:
    """Return an object array of exact numbers, of the shape of what is given.

    Args:
        values: an array, or nested lists, or an iterable, of whatever :func:`number` takes.

    >>> rational_array(["1/3", 0.5, 2])
    array([1/3, 1/2, 2], dtype=object)
    """
    listed = values if isinstance(values, (np.ndarray, list)) else list(values)
    return np.frompyfunc(number, 1, 1)(np.asarray(listed, dtype=object))


def derivative(
    f: Callable[[Any], Any], x: Any, u: Any, entry: Callable[[Any], Any] = number
) -> Any:
    """Return the derivative of f at x along u, exactly; nests.

    Args:
        f: a function of an object array of x's shape (or of a number), scalar or array.
        x: an object array, or a number.
        u: the direction, of the shape of x.
        entry: makes a number of the arithmetic of what is not one yet.

    >>> derivative(lambda y: y * y, rational_array([1, 2]), rational_array([1, "1/2"]))
    array([2, 2], dtype=object)
    """
    t = infinitesimal()
    value = f(_moved(_entries(x, entry), _entries(u, entry), t))
    return _entries(_rates(value, t), entry)


def gradient(f: Callable[[Any], Any], x: np.ndarray, entry: Callable[[Any], Any] = number) -> Any:
    """Return the gradient of a scalar function at x, exactly; same shape as x; nests.

    The function is called once: a rate is the vector of those along all entries of x.

    Args:
        f: a function of an object array whose value is a number, or an array of one entry.
        x: the object array.
        entry: makes a number of the arithmetic of what is not one yet.

    Raises:
        ValueError: the value of f has more than one entry.

    >>> hessian_times_u = derivative(
    ...     lambda y: gradient(lambda y: y[0] * y[0] * y[1], y),
    ...     rational_array([1, 2]), rational_array([1, 0]))
    >>> hessian_times_u
    array([4, 2], dtype=object)
    """
    t = infinitesimal()
    along = _entries(np.eye(x.size, dtype=object), entry)
    moved = np.empty(x.size, dtype=object)
    for place, here in enumerate(_entries(x.ravel(), entry)):
        moved[place] = Dual(here, along[place], t.level)
    slopes = rate(_scalar(f(moved.reshape(x.shape))), t) + np.zeros(x.size, dtype=object)
    return _entries(slopes, entry).reshape(x.shape)


def entry_by_entry(derivative: Callable[..., Any], f: Callable[[Any], Any], x: np.ndarray) -> Any:
    """Return the gradient of a scalar function at x by its derivatives along one entry each.

    For a function that asks which derivatives are in progress in an entry that it is given.

    Args:
        derivative: returns that of a function at a point along a direction.
        f: the function.
        x: the point.

    Raises:
        ValueError: the value of f has more than one entry.

    >>> entry_by_entry(derivative, lambda y: y[0] * y[0] * y[1], rational_array([1, 2]))
    array([4, 1], dtype=object)
    """
    slopes = np.empty(x.shape, dtype=object)
    for index in np.ndindex(x.shape):
        basis = np.zeros(x.shape, dtype=object)
        basis[index] = 1
        slopes[index] = _scalar(derivative(f, x, basis))
    return slopes


def _scalar(value: Any) -> Any:
    found = np.asarray(value, dtype=object)
    if found.size != 1:
        raise ValueError(
            f"the gradient needs a scalar function, but its value has shape {found.shape}; "
            "use derivative for a function with several entries"
        )
    return found.item()


def _moved_entry(x: Any, u: Any, t: Dual) -> Any:
    """Return x + u t; where u is zero, x alone, so that what does not move stays a plain number."""
    return Dual(x, u, t.level) if u else x


_moved = np.frompyfunc(_moved_entry, 3, 1)
_rates = np.frompyfunc(rate, 2, 1)


def _entries(values: Any, entry: Callable[[Any], Any]) -> Any:
    """Make numbers of the entries, or of a single value; dual numbers are left as they are."""
    return _of_entries(entry)(values)


@cache
def _of_entries(entry: Callable[[Any], Any]) -> np.ufunc:
    return np.frompyfunc(lambda v: v if type(v) is Dual else entry(v), 1, 1)
