"""Subjects to be checked with a pencil, where the search for counterexamples looks first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.arithmetic.exact import rational_array
from theory.language.letters import FREE

Hint = Callable[[Any], Any]
Array = list[Any]


def layer_of(H: Array, W: Array | None = None, **numbers: Any) -> Hint:
    """Return a hint: a layer with these inputs and weights, and everything else zero or one.

    Args:
        H: the inputs, (N, n).
        W: the weights, (p, n); ones if left out.
        numbers: other numbers of the layer, arrays or not.
    """
    (count, n), weights = (len(H), len(H[0])), W or [[1] * len(H[0])]
    p = len(weights)
    zeros: dict[str, Array] = {
        "b": [0] * p, "gamma": [0] * n, "beta": [0] * n, "mean": [0] * n, "deviation": [1] * n,
        "curvature": [0] * count, "direction": [0] * (n + 1), "scaling": [1] * (n + 1),
        "linear": [[0] * p] * count, "quadratic": [[[0] * p] * p] * count,
        "fourth": [[0] * p] * count, "ridge": [[0] * p] * count,
        "centre": [[0] * p] * count,
    }  # fmt: skip
    arrays = {"H": H, "W": weights, **zeros} | {
        name: value for name, value in numbers.items() if isinstance(value, list)
    }
    scalars = {"step": 1, "q": 1, "couples": 0} | {
        name: value for name, value in numbers.items() if not isinstance(value, list)
    }
    made = {name: rational_array(value) for name, value in arrays.items()}
    return lambda subject: replace(subject, **made, **scalars)


def descent_of(number: int, step: int | Fraction) -> Hint:
    """Return a hint: a descent with a learning rate, the first of its free numbers being this."""
    numbers = rational_array([number] + [0] * (FREE - 1))
    return lambda subject: replace(subject, free=numbers, step=step)
