r"""Normalization by the average l_p norm, as formulas that check their input.

Each function here is the formula of the same name in :mod:`theory.lp_normalization` (which has
their descriptions, shapes and the index convention) behind :func:`check`, which raises a TypeError
or a ValueError that says what was given, what was expected and what to do: ``power_mean``,
``normalize``, ``forward``, ``slopes``, ``jvp``, ``gradient`` and ``gradient_gamma``.

>>> import numpy as np
>>> from theory import lp
>>> lp.forward(np.array([1.0, 2.0, 6.0]), p=1, gamma=3)  # of mean 3, and average norm 3
array([-2., -1.,  3.])

>>> lp.forward(np.array([1.0, 2.0, 6.0]), p=0.5)
Traceback (most recent call last):
...
ValueError: p = 0.5; expected an exponent >= 1, or math.inf for the largest entry

Limits that are allowed, because the formulas are right there: m = 1, and a constant batch, with
entries that are not zero (z = beta); a batch of zeros with eps > 0 (z = beta).  Where the largest
entry is below 2e-77 (float64) or 5e-10 (float32) times :math:`\epsilon^{1/p}`, the gradient in
:math:`\gamma` may lose digits to underflow.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import inf, prod
from typing import Any

from array_api_compat import array_namespace, is_array_api_obj

from theory import lp_normalization, scaling
from theory.arithmetic.unbounded import constant
from theory.guard import Arrays, P, R, at, behind, check_finite, check_real, given
from theory.scaling import largest
from theory.validate import of_batch


def check(arguments: dict[str, Any]) -> tuple[bool, Arrays]:
    """Raise an error if arguments, bound by name, cannot be given to a formula.

    Returns:
        whether powers of y may leave the range of its dtype; and for each unit, by name, the
        largest entries of what the formulas are linear in.

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
    sizes: Arrays = {
        name: largest(constant(values[name]), axes) for name in ("g", "u") if name in values
    }
    if "gamma" in values:
        sizes["gamma"] = array_namespace(values["gamma"]).abs(constant(values["gamma"]))
    return _check_norm(values["y"], p, values["eps"], axes), sizes


def _check_exponent(p: Any) -> None:
    if type(p) not in (int, float):
        raise TypeError(f"p is a {type(p).__name__}; expected a number >= 1, or math.inf")
    if not p >= 1:
        raise ValueError(f"p = {p!r}; expected an exponent >= 1, or math.inf for the largest entry")
    if type(p) is int and p > 2**53:
        raise ValueError("p is beyond 2**53; expected math.inf for the largest entry")


def _check_norm(y: Any, p: float, eps: Any, axes: tuple[int, ...]) -> bool:
    """The average norm is positive and finite in every unit; return whether its powers may not be.

    It is at most the largest entry and the root of eps together.
    """
    xp, size = array_namespace(y), largest(constant(y), axes)
    eps = constant(eps)
    reach = 1 if p == inf else p
    far = (xp.finfo(y.dtype).max / prod(y.shape)) ** (1 / (4 * reach))
    if bool(xp.all((size >= 1 / far) & (size <= far) & (eps <= 1))):
        return False
    batch = f"{given('y', y)} with batch axes {axes}"
    zero = (size == 0) & (eps == 0)
    if bool(xp.any(zero)):
        raise ValueError(
            f"{batch} has an average norm, p = {p}, of zero{at(zero, axes)} and eps = 0, so there "
            "is nothing to divide by; expected entries that are not all zero: pass eps > 0, or "
            "leave those units out"
        )
    share, eps_of_shares, t = lp_normalization.shares(y, p, eps, axes)
    overflow = ~xp.isfinite(t * lp_normalization.power_mean(share, p, eps_of_shares, axes))
    if bool(xp.any(overflow)):
        raise ValueError(
            f"{batch} has an average norm, p = {p}, that overflows {y.dtype}{at(overflow, axes)}; "
            "expected a finite one: scale y down, or cast it to a wider dtype"
        )
    return True


BY_SLOPES: dict[Callable[..., Any], Callable[..., Any]] = {
    lp_normalization.slopes: lambda d, **_: d,
    lp_normalization.jvp: lp_normalization.jvp_along,
    lp_normalization.gradient: lp_normalization.gradient_along,
}
"""Formulas in which entries far below the norm count, and the same of slopes that are known."""


def _checked(function: Callable[P, R], degree: int) -> Callable[P, R]:
    """Return a function behind its check, of numbers in the middle of the range.

    That is of shares where powers of y may leave it.  What the function is linear in is scaled by
    powers of two (:mod:`theory.scaling`), for each unit.

    Args:
        function: a formula of :mod:`theory.lp_normalization`.
        degree: in which it is homogeneous in y and the root of eps.
    """

    def check_and_note(arguments: dict[str, Any]) -> None:
        arguments["is_extreme"], arguments["sizes"] = check(arguments)
        if degree >= 0:  # no derivative in y, and gamma at most a factor of the result
            arguments["sizes"].pop("gamma", None)

    @wraps(function)
    def scaled(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments: dict[str, Any] = dict(kwargs)
        is_extreme, sizes = arguments.pop("is_extreme"), arguments.pop("sizes")
        formula: Callable[..., Any] = function
        t: Any = None
        if is_extreme:
            named = [arguments[name] for name in ("y", "p", "eps", "axis")]
            if function in BY_SLOPES:
                formula = BY_SLOPES[function]
                arguments["d"] = lp_normalization.slopes_of_any_size(*named)
            arguments["y"], arguments["eps"], t = lp_normalization.shares(*named)
        result: R = scaling.linear_in_the_middle(formula, arguments, sizes, t, degree)
        return result

    return behind(check_and_note, scaled)


power_mean = _checked(lp_normalization.power_mean, 1)
normalize = _checked(lp_normalization.normalize, 0)
forward = _checked(lp_normalization.forward, 0)
slopes = _checked(lp_normalization.slopes, 0)
jvp = _checked(lp_normalization.jvp, -1)
gradient = _checked(lp_normalization.gradient, -1)
gradient_gamma = _checked(lp_normalization.gradient_gamma, 0)
