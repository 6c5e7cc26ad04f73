r"""Checks of input, whose errors say what was given, what was expected and what to do.

The formulas of :mod:`theory.batchnorm`, :mod:`theory.running` and :mod:`theory.dense` are total
and unguarded; :mod:`theory` exports each of them as :func:`checked`.  A check looks at values, so
inside ``torch.compile``, ``torch.vmap`` or ``jax.jit`` the unguarded formulas are the ones to use.

Index convention: ``y``, ``g`` and ``u`` share one shape, the batch's; ``gamma``, ``beta``,
``eps`` and the running statistics are numbers, or arrays that give one number to each unit; the
axes named by ``axis`` are the batch, of m entries for each unit.

Limits that are allowed, because the formulas are right there: m = 1 with eps > 0 (z = beta and
every derivative in y is exactly 0); a unit of zero variance with eps > 0; m = 2 with eps = 0
(yhat is a vector of signs, so every derivative in y vanishes identically).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

from array_api_compat import array_namespace, device, is_array_api_obj

from theory.arithmetic import size
from theory.batchnorm import variance

P = ParamSpec("P")
R = TypeVar("R")
Arrays = dict[str, Any]

BATCH = ("y", "g", "u")
PER_UNIT = ("gamma", "beta", "eps", "running_mean", "running_variance")
EXTRAS = {"cupy": "cupy", "torch": "nn", "array_api_strict": "verify"}
ELSEWHERE = "for exact or symbolic values call the unguarded formula in theory.batchnorm"


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function behind :func:`check`; name, signature and docstring are kept.

    >>> import numpy as np
    >>> from theory import batchnorm
    >>> checked(batchnorm.gradient)(np.array([1.0, 2.0, 6.0]), np.ones(2))
    Traceback (most recent call last):
    ...
    ValueError: g of shape (2,) does not match y of shape (3,) with batch axes (0,); expected...
    """
    return behind(check, function)


def behind(check: Callable[[dict[str, Any]], None], function: Callable[P, R]) -> Callable[P, R]:
    """Return the function behind a check of its arguments, bound by name, defaults included.

    The check raises what is wrong, and may replace an argument in the mapping that it is given.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        check(bound.arguments)
        return function(*bound.args, **bound.kwargs)

    return guarded


def check(arguments: Mapping[str, Any]) -> None:
    """Raise an error if arguments, bound by name, cannot be given to a formula.

    Known names are those of :data:`BATCH` and :data:`PER_UNIT`, ``axis``, ``hessian_of_loss`` (an
    operator) and ``H`` (a matrix for each unit).  Nothing is changed, converted or returned.

    Raises:
        TypeError: not an array, not floating, mixed libraries or dtypes, an axis that is no
            integer, an operator that cannot be called.
        ValueError: mixed devices, wrong shape or axis, an empty batch, NaN or infinity, a
            negative eps or variance, sigma zero or overflowing.
    """
    arrays = _arrays(arguments)
    _check_alike(arrays)
    first = next(name for name in BATCH if name in arrays)
    axes = _batch_axes(first, arrays[first], arguments["axis"]) if "axis" in arguments else ()
    _check_shapes(arrays, first, axes)
    values = arrays | _lifted(arguments, arrays[first])
    _check_values(values)
    _check_sigma(values, axes)


def library(name: str) -> Any:
    """Return an array library by its name: ``"numpy"``, ``"cupy"``, ``"torch"``...

    Raises:
        ModuleNotFoundError: the library is not installed; the message says how to install it.

    >>> library("numpy").float64
    <class 'numpy.float64'>
    """
    try:
        return import_module(f"array_api_compat.{name}" if name in ("cupy", "torch") else name)
    except ModuleNotFoundError as error:
        install = f"batchnorm-theory[{EXTRAS[name]}]" if name in EXTRAS else name
        raise ModuleNotFoundError(
            f"array library {name!r} was asked for and cannot be imported ({error}); expected an "
            f"installed one: pip install '{install}', or ask for 'numpy'",
            name=name,
        ) from error


def _arrays(arguments: Mapping[str, Any]) -> Arrays:
    """Pick out the arrays; refuse what is neither an array, nor a number where one may be."""
    arrays: Arrays = {}
    for name, value in arguments.items():
        given = f"{name} is a {type(value).__name__}"
        if name == "hessian_of_loss" and not callable(value):
            raise TypeError(
                f"{given}; expected the function w -> H w: for a matrix H pass lambda w: H @ w, "
                "or call theory.hessian, which takes matrices"
            )
        if name in (*BATCH, *PER_UNIT, "H") and is_array_api_obj(value):
            arrays[name] = value
        elif name in (*BATCH, "H") or (name in PER_UNIT and type(value) not in (int, float)):
            raise TypeError(
                f"{given}; expected {'a number or ' * (name in PER_UNIT)}an array of floats: "
                f"convert it, e.g. with numpy.asarray({name}, dtype=float); {ELSEWHERE}"
            )
    return arrays


def _check_alike(arrays: Arrays) -> None:
    """One library, one floating dtype, one device."""
    first, model = next(iter(arrays.items()))
    for name, value in arrays.items():
        if not array_namespace(value).isdtype(value.dtype, ("real floating", "complex floating")):
            raise TypeError(
                f"{_given(name, value)} has dtype {value.dtype}; expected real or complex "
                f"floating: convert it, e.g. to float64; {ELSEWHERE}"
            )
    for name, value in arrays.items():
        libraries = [array_namespace(a).__name__.split(".")[-1] for a in (value, model)]
        if array_namespace(value) is not array_namespace(model):
            raise TypeError(
                f"{name} is an array of {libraries[0]} and {first} one of {libraries[1]}; "
                f"expected one library: convert {name} (a scalar with float({name}))"
            )
        if value.dtype != model.dtype:
            raise TypeError(
                f"{name} has dtype {value.dtype} and {first} has dtype {model.dtype}; expected "
                "one dtype, so that nothing is promoted silently: cast one of them"
            )
        if device(value) != device(model):
            raise ValueError(
                f"{name} is on device {device(value)} and {first} on {device(model)}; "
                f"expected one device: move {name} there"
            )


def _batch_axes(name: str, batch: Any, axis: Any) -> tuple[int, ...]:
    """Return the batch axes counted from the front, in ascending order."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = batch.ndim
    given = f"axis = {axis!r} for {_given(name, batch)}"
    if not axes or any(type(i) is not int for i in axes):
        raise TypeError(f"{given}; expected an integer or a tuple of integers, at least one")
    counted = sorted(i % rank for i in axes if -rank <= i < rank)
    if len(counted) < len(axes):
        raise ValueError(
            f"{given}, which has {rank} axes; expected axes in [{-rank}, {rank}): name those "
            "that run over the batch (0 for (batch, unit), (0, 2, 3) for maps)"
        )
    if len(set(counted)) < len(counted):
        raise ValueError(f"{given} names an axis twice; expected each batch axis once")
    return tuple(counted)


def _check_shapes(arrays: Arrays, first: str, axes: tuple[int, ...]) -> None:
    shape = tuple(arrays[first].shape)
    model = f"{first} of shape {shape} with batch axes {axes}"
    if 0 in shape:
        raise ValueError(f"{model} is empty; expected at least one entry along each axis")
    m = size(arrays[first], axes)
    matrices = (m, m, *(n for i, n in enumerate(shape) if i not in axes))
    one_each = tuple(1 if i in axes else n for i, n in enumerate(shape))
    for name, value in arrays.items():
        if name in BATCH and value.shape != shape:
            raise ValueError(
                f"{_given(name, value)} does not match {model}; expected one entry for each of "
                f"{first}: reshape or broadcast {name} to {shape}"
            )
        if name == "H" and value.shape != matrices:
            raise ValueError(
                f"{_given(name, value)} does not match {model}; expected {matrices}, one m x m "
                f"matrix (m = {m}) for each unit"
            )
        if name in PER_UNIT and not _broadcasts(value.shape, one_each):
            raise ValueError(
                f"{_given(name, value)} does not give one number to each unit of {model}; "
                f"expected a number, or a shape that broadcasts to {one_each}: reshape {name}"
            )


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    pairs = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(n in (1, length) for n, length in pairs)


def _lifted(arguments: Mapping[str, Any], model: Any) -> Arrays:
    """Numbers as arrays without axes, like the batch."""
    return {
        name: array_namespace(model).asarray(value, dtype=model.dtype, device=device(model))
        for name, value in arguments.items()
        if name in PER_UNIT and not is_array_api_obj(value)
    }


def _check_values(values: Arrays) -> None:
    """Everything is finite; eps and the running variance are not negative."""
    for name, value in values.items():
        xp = array_namespace(value)
        # One pass over memory where isfinite takes several; NaN passes through a maximum.
        if not bool(xp.max(xp.abs(value)) < xp.inf):
            raise ValueError(
                f"{_given(name, value)} is NaN or infinite{_at(~xp.isfinite(value))}; expected "
                "finite entries: remove them, or find the step that made them"
            )
        real = xp.real(value) if xp.isdtype(value.dtype, "complex floating") else value
        if name in ("eps", "running_variance") and bool(xp.any(real < 0)):
            raise ValueError(
                f"{_given(name, value)} is negative{_at(real < 0)}, down to "
                f"{float(xp.min(real)):g}; expected {name} >= 0, as a variance is"
            )


def _check_sigma(values: Arrays, axes: tuple[int, ...]) -> None:
    """Sigma is positive and finite in every unit."""
    name = "running_variance" if "running_variance" in values else "y"
    if name not in values or "eps" not in values:
        return
    value, eps = values[name], values["eps"]
    xp = array_namespace(value)
    spread = variance(value, axes) if name == "y" else value
    given = f"{_given(name, value)}{f' with batch axes {axes}' if axes else ''}"
    overflow = ~xp.isfinite(spread)
    if bool(xp.any(overflow)):
        raise ValueError(
            f"{given} has a variance that overflows {value.dtype}{_at(overflow, axes)}; "
            f"expected a finite one: scale {name} down, or cast it to a wider dtype"
        )
    zero = spread + eps == 0
    if name == "y" and bool(xp.any(eps == 0)):
        # Equal entries may have a computed variance above zero: their computed mean is rounded.
        first = value[tuple(slice(1 if i in axes else None) for i in range(value.ndim))]
        zero = zero | (xp.all(value == first, axis=axes, keepdims=True) & (eps == 0))
    if bool(xp.any(zero)):
        single = name == "y" and size(value, axes) == 1
        raise ValueError(
            f"{given} has zero variance{' (m = 1)' if single else ''}{_at(zero, axes)} and "
            "eps = 0, so sigma = 0 and z is undefined; expected sigma > 0: pass eps > 0, or "
            + ("a batch of m >= 2" if single else "leave those units out")
        )


def _given(name: str, value: Any) -> str:
    return f"{name} of shape {tuple(value.shape)}" if value.ndim else f"the number {name}"


def _at(wrong: Any, batch_axes: tuple[int, ...] = (), most: int = 5) -> str:
    """Say where a condition holds: the indices along the axes that are not the batch's."""
    kept = [i for i in range(wrong.ndim) if i not in batch_axes]
    if not kept:
        return ""
    found = array_namespace(wrong).nonzero(wrong)
    count = found[0].shape[0]
    indices = [tuple(int(found[i][n]) for i in kept) for n in range(min(count, most))]
    named = ", ".join(str(index[0] if len(kept) == 1 else index) for index in indices)
    more = f" and {count - most} more" if count > most else ""
    return f" at {'unit' if batch_axes else 'index'} {named}{more}"
