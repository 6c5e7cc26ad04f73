"""The largest and the smallest entry of a vector, for whatever kind of numbers it has."""

from __future__ import annotations

from functools import reduce
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic.operations import larger, smaller


def largest_of(vector: Any) -> Any:
    """Return the largest entry; of balls a ball around it, which may be nan.

    >>> import numpy as np
    >>> largest_of(np.array([1, 3, 2], dtype=object))
    3
    """
    if _is_of_objects(vector):
        return reduce(larger, vector.ravel())
    return array_namespace(vector).max(vector)


def smallest_of(vector: Any) -> Any:
    """Return the smallest entry, likewise."""
    if _is_of_objects(vector):
        return reduce(smaller, vector.ravel())
    return array_namespace(vector).min(vector)


def _is_of_objects(array: Any) -> bool:
    return getattr(array.dtype, "kind", "") == "O"
