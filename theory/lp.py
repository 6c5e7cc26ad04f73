r"""Normalization by the average l_p norm, as formulas that check their input.

Each function here is a formula of :mod:`theory.lp_normalization` behind :func:`check`, which
raises a TypeError or a ValueError that says what was given, what was expected and what to do.
Index convention and shapes are those of that module.

>>> import numpy as np
>>> from theory import lp
>>> lp.forward(np.array([1.0, 2.0, 6.0]), p=1, gamma=3)  # of mean 3, and average norm 3
array([-2., -1.,  3.])

>>> lp.forward(np.array([1.0, 2.0, 6.0]), p=0.5)
Traceback (most recent call last):
...
ValueError: p = 0.5; expected an exponent >= 1, or math.inf for the largest entry

Limits that are allowed, because the formulas are right there: m = 1, and a constant batch, with
entries that are not zero (z = beta); a batch of zeros with eps > 0 (z = beta).
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, is_array_api_obj

from theory import lp_normalization
from theory.guard import at, behind, check_finite, check_real, given
from theory.validate import of_batch


def check(arguments: dict[str, Any]) -> None:
    """Raise an error if arguments, bound by name, cannot be given to a formula.

    Raises:
        TypeError: not an array, not of real floats (an absolute value has no complex derivative),
            mixed libraries or dtypes, an axis that is no integer, an exponent that is no number.
        ValueError: mixed devices, wrong shape or axis, an empty batch, NaN or infinity, an
            exponent below 1, a negative eps, an average norm that is zero or overflows.
    """
    p = arguments["p"]
    _check_exponent(p)
    for name, value in arguments.items():
        if is_array_api_obj(value):
            check_real(name, value, "an absolute value has no derivative in complex ones")
    values, axes = of_batch(arguments)
    check_finite(values)
    _check_norm(values["y"], p, values["eps"], axes)


def _check_exponent(p: Any) -> None:
    if type(p) not in (int, float):
        raise TypeError(f"p is a {type(p).__name__}; expected a number >= 1, or math.inf")
    if not p >= 1:
        raise ValueError(f"p = {p!r}; expected an exponent >= 1, or math.inf for the largest entry")
    if type(p) is int and p > 2**53:
        raise ValueError("p is beyond 2**53; expected math.inf for the largest entry")


def _check_norm(y: Any, p: float, eps: Any, axes: tuple[int, ...]) -> None:
    """The average norm is positive and finite in every unit."""
    xp = array_namespace(y)
    norm = lp_normalization.power_mean(y, p, eps, axes)
    batch = f"{given('y', y)} with batch axes {axes}"
    overflow = ~xp.isfinite(norm)
    if bool(xp.any(overflow)):
        raise ValueError(
            f"{batch} has an average norm, p = {p}, that overflows {y.dtype}{at(overflow, axes)}; "
            "expected a finite one: scale y down, or cast it to a wider dtype"
        )
    zero = norm == 0
    if bool(xp.any(zero)):
        raise ValueError(
            f"{batch} has an average norm, p = {p}, of zero{at(zero, axes)} and eps = 0, so there "
            "is nothing to divide by; expected entries that are not all zero: pass eps > 0, or "
            "leave those units out"
        )


power_mean = behind(check, lp_normalization.power_mean)
normalize = behind(check, lp_normalization.normalize)
forward = behind(check, lp_normalization.forward)
slopes = behind(check, lp_normalization.slopes)
jvp = behind(check, lp_normalization.jvp)
gradient = behind(check, lp_normalization.gradient)
gradient_gamma = behind(check, lp_normalization.gradient_gamma)
