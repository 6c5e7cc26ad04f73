r"""Checks of input, whose errors say what was given, what was expected and what to do.

The formulas of :mod:`theory.batchnorm`, :mod:`theory.running` and :mod:`theory.dense` are total
and unguarded; :mod:`theory` exports each of them as :func:`checked`.  A check looks at values, so
inside ``torch.compile``, ``torch.vmap`` or ``jax.jit`` the unguarded formulas are the ones to use.

Index convention: ``y``, ``g`` and ``u`` share one shape, the batch's; ``gamma``, ``beta``, ``eps``
and the running statistics are numbers (of Python's or NumPy's, which widen no array), or arrays
that give one number to each unit; the axes named by ``axis`` are the batch, of m entries for each
unit.

Limits that are allowed, because the formulas are right there: m = 1 with eps > 0 (z = beta and
every derivative in y is exactly 0); a unit of zero variance with eps > 0 (z = beta); m = 2 with
eps = 0 (yhat is a vector of signs, so every derivative in y vanishes identically).

The variance of complex batches is <c, c>/m without conjugation (:mod:`theory`).  That it vanishes
is noticed by a check only where all entries are equal and eps is zero, else by a result that is not
finite; where it is only rounding, by nothing.

From units whose entries are within a quarter of the largest the mean, as it is computed, is
subtracted first, which rounds nothing, so that its rounding costs no digits
(:func:`theory.scaling.less_offset`).

What is scaled near the ends of a format's range, and which limits remain there, says
:mod:`theory.scaling`: a unit that varies by less than 5e-10 (float32) or 2e-77 (float64) times the
root of eps may lose digits to underflow.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from math import isfinite
from sys import float_info
from typing import Any, NamedTuple

from array_api_compat import array_namespace, device, is_array_api_obj

from theory.arithmetic import size
from theory.arithmetic.unbounded import constant
from theory.guard import (
    Arrays,
    Operator,
    P,
    R,
    Taken,
    alike_operator,
    arrays_of,
    at,
    behind,
    check_finite,
    check_not_empty,
    check_symmetric,
    given,
    guarded_operator,
    is_not_finite,
    plain,
)
from theory.scaling import (
    DEGREES,
    few,
    in_the_middle,
    largest,
    less_offset,
    may_be_far,
    real_part,
    running_in_the_middle,
    size_at_a_glance,
    size_of,
    sizes_are_in_the_middle,
)

BATCH = ("y", "g", "u")
PER_UNIT = ("gamma", "beta", "eps", "running_mean", "running_variance")
VARIANCES = ("eps", "running_variance")
TAKEN = {
    **dict.fromkeys((*BATCH, "H"), Taken()),
    **dict.fromkeys(PER_UNIT, Taken(or_number=True)),
}
ELSEWHERE = "for exact or symbolic values call the unguarded formula in theory.batchnorm"


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function behind :func:`check`; name, signature and docstring are kept.

    Batches near the ends of their format's range are scaled, up to the limits that
    :mod:`theory.scaling` names; those in half precision are widened
    (:mod:`theory.half_precision`).

    >>> import numpy as np
    >>> from theory import batchnorm
    >>> checked(batchnorm.gradient)(np.array([1.0, 2.0, 6.0]), np.ones(2))
    Traceback (most recent call last):
    ...
    ValueError: g of shape (2,) does not match y of shape (3,) with batch axes (0,); expected...
    """
    is_of_batch = "axis" in inspect.signature(function).parameters

    def look(arguments: dict[str, Any]) -> None:
        arguments["sizes"] = check(arguments)

    def glance(arguments: dict[str, Any]) -> None:
        arguments["sizes"] = check(arguments, AT_A_GLANCE)

    @wraps(function)
    def scaled(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments: dict[str, Any] = dict(kwargs)
        sizes = arguments.pop("sizes")
        result: R = (
            in_the_middle(function, DEGREES[function.__name__], arguments, sizes)
            if is_of_batch
            else running_in_the_middle(function, arguments, sizes)
        )
        return result

    # Running statistics tie no entries together, so that what is wrong with one may not be seen.
    return behind(glance, scaled, look) if is_of_batch else behind(look, scaled)


class Look(NamedTuple):
    """How closely it is looked at what a formula is linear in."""

    size_of: Callable[[Any, tuple[int, ...]], Any]
    """The largest entries in each unit."""
    operator: Callable[[str, Operator, tuple[int, ...]], Operator]
    """An operator whose results are checked."""


def _asked_of_finite(name: str, operator: Operator, axes: tuple[int, ...]) -> Operator:
    """Return an operator that passes on what is not finite, and is asked nothing of it."""
    alike = alike_operator(name, operator)
    return lambda w: w if is_not_finite(few(w, axes)) else alike(w)


CLOSELY = Look(size_of, lambda name, operator, axes: guarded_operator(name, operator))
AT_A_GLANCE = Look(size_at_a_glance, _asked_of_finite)
"""A few entries are looked at.  One of g, u or H J u that is NaN or infinite makes a whole unit of
the result so, as does a sum that overflows; nothing is divided by these."""


def check(arguments: dict[str, Any], look: Look = CLOSELY) -> Arrays:
    """Raise an error if arguments, bound by name, cannot be given to a formula.

    Known names are those of :data:`BATCH` and :data:`PER_UNIT`, ``axis``, ``hessian_of_loss`` (an
    operator) and ``H`` (a matrix for each unit).  Of the arguments, the operator is replaced by
    one whose results are checked, and y, on whose offset nothing depends, by one without a large
    offset.

    Args:
        arguments: by name.
        look: how closely.

    Returns:
        the sizes that :mod:`theory.scaling` asks for, by name; none where all are in the middle
        of the range.

    Raises:
        TypeError: not an array, not floating, mixed libraries or dtypes, an axis that is no
            integer, an operator that cannot be called.
        ValueError: mixed devices, wrong shape or axis, an empty batch, NaN or infinity, a
            negative eps or variance, sigma zero or overflowing, an H that is not symmetric.
    """
    values, axes = of_batch(arguments)
    _check_digits(arguments, values)
    exact = {}
    if _may_be_far(values, axes):
        arguments["y"], exact["y"] = less_offset(values["y"], axes)
        values["y"] = arguments["y"]
    measured = {name: constant(value) for name, value in values.items()}
    sizes = _sizes(measured, axes, exact, look)
    if "gamma" in values and not _is_about_one(arguments["gamma"]):
        sizes["gamma"] = array_namespace(values["gamma"]).abs(constant(values["gamma"]))
    if sizes_are_in_the_middle(sizes):
        sizes = {}
    check_finite({name: values[name] for name, size in sizes.items() if is_not_finite(size)})
    _check_sigma(values, axes)
    if "H" in values:
        check_symmetric("H", values["H"])
    if "hessian_of_loss" in arguments:
        operator = arguments["hessian_of_loss"]
        if not callable(operator):
            raise TypeError(
                f"hessian_of_loss is a {type(operator).__name__}; expected the function w -> H w: "
                "for a matrix H pass lambda w: H @ w, or call theory.hessian, which takes matrices"
            )
        arguments["hessian_of_loss"] = look.operator("hessian_of_loss", operator, axes)
    return sizes


def _may_be_far(values: Arrays, axes: tuple[int, ...]) -> bool:
    is_of_batch = "y" in values and "running_mean" not in values
    return is_of_batch and may_be_far(constant(values["y"]), axes)


def of_batch(arguments: dict[str, Any]) -> tuple[Arrays, tuple[int, ...]]:
    """Return arguments as arrays, and the batch axes; raise an error where they do not fit.

    Numbers become floats among the arguments.  Whether what is as large as the batch is finite is
    left to be seen.
    """
    arrays = arrays_of(arguments, TAKEN, ELSEWHERE)
    if "axis" in arguments:
        arguments["axis"] = _plain_axes(arguments["axis"])
    first = next(name for name in BATCH if name in arrays)
    axes = _batch_axes(first, arrays[first], arguments.get("axis", 0))
    _check_shapes(arrays, first, axes)
    if "running_variance" in arguments:
        _check_axes_of_units(arrays, first)
    values = arrays | _lifted(arguments, arrays[first])
    check_finite({name: value for name, value in values.items() if name not in BATCH})
    _check_signs(values)
    return values, axes


def _plain_axes(axis: Any) -> Any:
    return tuple(map(plain, axis)) if isinstance(axis, tuple) else plain(axis)


def _batch_axes(name: str, batch: Any, axis: Any) -> tuple[int, ...]:
    """Return the batch axes counted from the front, in ascending order."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = batch.ndim
    if not rank:
        raise ValueError(
            f"{name} is a number, an array without axes; expected one with an axis for the batch, "
            f"such as {name} of shape (m,)"
        )
    asked = f"axis = {_shown(axis)} for {given(name, batch)}"
    if not axes or any(type(i) is not int for i in axes):
        raise TypeError(f"{asked}; expected an integer or a tuple of integers, at least one")
    counted = sorted(i % rank for i in axes if -rank <= i < rank)
    if len(counted) < len(axes):
        raise ValueError(
            f"{asked}, which has {rank} axes; expected axes in [{-rank}, {rank}): name those "
            "that run over the batch (0 for (batch, unit), (0, 2, 3) for maps)"
        )
    if len(set(counted)) < len(counted):
        raise ValueError(f"{asked} names an axis twice; expected each batch axis once")
    return tuple(counted)


def _shown(axis: Any) -> str:
    """Return what is given for an axis; of an array its shape, which tells that it is no axis."""
    return f"an array of shape {tuple(axis.shape)}" if is_array_api_obj(axis) else repr(axis)


def _check_shapes(arrays: Arrays, first: str, axes: tuple[int, ...]) -> None:
    shape = tuple(arrays[first].shape)
    model = f"{first} of shape {shape} with batch axes {axes}"
    check_not_empty(first, arrays[first])
    m = size(arrays[first], axes)
    matrices = (m, m, *(n for i, n in enumerate(shape) if i not in axes))
    one_each = tuple(1 if i in axes else n for i, n in enumerate(shape))
    for name, value in arrays.items():
        if name in BATCH and value.shape != shape:
            raise ValueError(
                f"{given(name, value)} does not match {model}; expected one entry for each of "
                f"{first}: reshape or broadcast {name} to {shape}"
            )
        if name == "H" and value.shape != matrices:
            raise ValueError(
                f"{given(name, value)} does not match {model}; expected {matrices}, one m x m "
                f"matrix (m = {m}) for each unit"
            )
        if name in PER_UNIT and not _broadcasts(value.shape, one_each):
            raise ValueError(
                f"{given(name, value)} does not give one number to each unit of {model}; "
                f"expected a number, or a shape that broadcasts to {one_each}: reshape {name}"
            )


def _check_axes_of_units(arrays: Arrays, first: str) -> None:
    """Refuse what would be spread along the last axis of maps: no axis= says where units are."""
    batch = arrays[first]
    for name, value in arrays.items():
        if name in PER_UNIT and 1 == value.ndim < batch.ndim - 1:
            raise ValueError(
                f"{given(name, value)} does not say on which axis of {given(first, batch)} the "
                f"units are; reshape {name} to {batch.ndim} axes, such as (1, units, 1, 1)"
            )


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    pairs = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(n in (1, length) for n, length in pairs)


def _lifted(arguments: dict[str, Any], model: Any) -> Arrays:
    """Numbers as arrays without axes, like the batch; as floats among the arguments."""
    xp, lifted = array_namespace(model), {}
    for name in PER_UNIT:
        if name not in arguments or is_array_api_obj(arguments[name]):
            continue
        value = arguments[name]
        if _is_finite(value) and abs(value) > float(xp.finfo(model.dtype).max):
            raise ValueError(
                f"the number {name} is beyond the largest of {model.dtype}; expected a smaller "
                "one, or arrays of a wider dtype"
            )
        arguments[name] = float(value)
        lifted[name] = xp.asarray(arguments[name], dtype=model.dtype, device=device(model))
    return lifted


def _check_digits(arguments: Mapping[str, Any], values: Arrays) -> None:
    """Numbers that are variances keep their digits in the dtype of the batch."""
    for name in (name for name in VARIANCES if type(arguments.get(name)) is float):
        xp, dtype = array_namespace(values[name]), values[name].dtype
        least = float(xp.finfo(dtype).smallest_normal)
        # What a dtype as wide as a float or wider makes of it is what is given.
        if 0 < arguments[name] < least and least > float_info.min:
            raise ValueError(
                f"the number {name} = {arguments[name]!r} is below {least:g}, where {dtype} loses "
                "digits; expected zero or a larger one, or arrays of a wider dtype"
            )


def _is_finite(value: int | float) -> bool:
    """Whether a number is neither NaN nor infinite, however many digits an integer has."""
    return isinstance(value, int) or isfinite(value)


def _check_signs(values: Arrays) -> None:
    """Eps and the running variance are not negative."""
    for name in (name for name in VARIANCES if name in values):
        value = values[name]
        xp, real = array_namespace(value), real_part(value)
        if bool(xp.any(real < 0)):
            raise ValueError(
                f"{given(name, value)} is negative{at(real < 0)}, down to {float(xp.min(real)):g};"
                f" expected {name} >= 0, as a variance is"
            )


def _check_sigma(values: Arrays, axes: tuple[int, ...]) -> None:
    """Sigma is positive and finite in every unit."""
    if "running_variance" in values:
        _check_running(values["running_variance"], values["eps"])
    if "y" not in values or "eps" not in values or "running_variance" in values:
        return
    y, eps = values["y"], values["eps"]
    xp = array_namespace(y)
    if not bool(xp.any(eps == 0)):
        return
    # Not by the variance: that of equal entries may be above zero, since their mean is rounded.
    first = y[tuple(slice(1 if i in axes else None) for i in range(y.ndim))]
    constant = xp.all(y == first, axis=axes, keepdims=True) & (eps == 0)
    if bool(xp.any(constant)):
        single = size(y, axes) == 1
        raise ValueError(
            f"{given('y', y)} with batch axes {axes} has zero variance"
            f"{' (m = 1)' if single else ''}{at(constant, axes)} and eps = 0, so sigma = 0 and z "
            "is undefined; expected sigma > 0: pass eps > 0, or "
            + ("a batch of m >= 2" if single else "leave those units out")
        )


def _check_running(variance: Any, eps: Any) -> None:
    xp, named = array_namespace(variance), given("running_variance", variance)
    zero, overflow = variance + eps == 0, ~xp.isfinite(variance + eps)
    if bool(xp.any(zero)):
        raise ValueError(
            f"{named} has zero variance{at(zero)} and eps = 0, so sigma = 0 and z is undefined; "
            "expected sigma > 0: pass eps > 0, or leave those units out"
        )
    if bool(xp.any(overflow)):
        raise ValueError(
            f"{named} and eps have a sum that overflows {variance.dtype}{at(overflow)}; expected "
            "a finite one: scale the batch down, or cast it to a wider dtype"
        )


def _sizes(values: Arrays, axes: tuple[int, ...], exact: Arrays, look: Look) -> Arrays:
    """Return the largest entries for each unit, of a few of them where all are in the middle.

    What is not finite is among them.

    Those of y together with the root of eps, or where there are running statistics the mean.
    """
    measures = {"y": size_of, "g": look.size_of, "u": look.size_of}
    if "H" in values:
        measures = dict.fromkeys(BATCH, largest)
    unmeasured = [name for name in BATCH if name in values and name not in exact]
    found = exact | {name: measures[name](values[name], axes) for name in unmeasured}
    if "y" in found:
        xp = array_namespace(found["y"])
        is_running = "running_mean" in values
        other = xp.abs(values["running_mean" if is_running else "eps"])
        found["y"] = xp.maximum(found["y"], other if is_running else xp.sqrt(other))
    if "H" in values:
        of_matrices = largest(values["H"], (0, 1))
        found["H"] = array_namespace(of_matrices).reshape(of_matrices, found["y"].shape)
    return found


def _is_about_one(gamma: Any) -> bool:
    """Whether it is a number that is in the middle of every format's range."""
    return type(gamma) is float and 2.0**-16 <= abs(gamma) <= 2.0**16
