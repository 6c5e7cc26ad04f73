r"""Checks of input, whose errors say what was given, what was expected and what to do.

The formulas of :mod:`theory.batchnorm`, :mod:`theory.running` and :mod:`theory.dense` are total
and unguarded; :mod:`theory` exports each of them as :func:`checked`.  A check looks at values, so
inside ``torch.compile``, ``torch.vmap`` or ``jax.jit`` the unguarded formulas are the ones to use.

Index convention: ``y``, ``g`` and ``u`` share one shape, the batch's; ``gamma``, ``beta``,
``eps`` and the running statistics are numbers, or arrays that give one number to each unit; the
axes named by ``axis`` are the batch, of m entries for each unit.

Limits that are allowed, because the formulas are right there: m = 1 with eps > 0 (z = beta and
every derivative is exactly 0), a unit of zero variance with eps > 0, and m = 2 with eps = 0
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
EXTRAS = {"cupy": "gpu", "torch": "verify", "array_api_strict": "verify"}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function behind :func:`check`; name, signature and docstring are kept.

    >>> import numpy as np
    >>> from theory import batchnorm
    >>> checked(batchnorm.gradient)(np.array([1.0, 2.0, 6.0]), np.ones(2))
    Traceback (most recent call last):
    ...
    ValueError: g of shape (2,) does not match y of shape (3,); expected one entry of g for each...
    """
    signature = inspect.signature(function)

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        check(bound.arguments)
        return function(*args, **kwargs)

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
    _check_operator(arguments)
    arrays = _arrays(arguments)
    _check_alike(arrays)
    first = next(name for name in BATCH if name in arrays)
    axes = _batch_axes(first, arrays[first], arguments.get("axis", ()))
    _check_shapes(arrays, first, axes)
    values = arrays | _lifted(arguments, arrays[first])
    _check_finite(values)
    _check_sign(values)
    if "running_variance" in values:
        _check_running(values)
    elif "y" in values and "eps" in values:
        _check_spread(values["y"], values["eps"], axes)


def library(name: str) -> Any:
    """Return an array library by its name: ``"numpy"``, ``"cupy"``, ``"torch"``...

    Raises:
        ModuleNotFoundError: the library is not installed; the message says how to install it.

    >>> library("numpy").float64
    <class 'numpy.float64'>
    """
    compat = name in ("numpy", "cupy", "torch")
    try:
        return import_module(f"array_api_compat.{name}" if compat else name)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(name)
        install = f"batchnorm-theory[{extra}]" if extra else name
        raise ModuleNotFoundError(
            f"the array library {name!r} was asked for and cannot be imported ({error}); "
            f"install it with: pip install '{install}', or ask for 'numpy'",
            name=name,
        ) from error


def _check_operator(arguments: Mapping[str, Any]) -> None:
    operator = arguments.get("hessian_of_loss")
    if operator is not None and not callable(operator):
        raise TypeError(
            f"hessian_of_loss is a {type(operator).__name__}; expected the function w -> H w; "
            "for a matrix H pass lambda w: H @ w, or call theory.hessian, which takes matrices"
        )


def _arrays(arguments: Mapping[str, Any]) -> Arrays:
    """Pick out the arrays, and refuse what is neither an array nor a number where one may be."""
    arrays: Arrays = {}
    for name, value in arguments.items():
        if name not in (*BATCH, *PER_UNIT, "H"):
            continue
        if is_array_api_obj(value):
            arrays[name] = value
        elif name not in PER_UNIT or type(value) not in (int, float):
            kind = "a number or an array" if name in PER_UNIT else "an array"
            raise TypeError(
                f"{name} is a {type(value).__name__}; expected {kind} of floats (NumPy, CuPy, "
                f"PyTorch...): convert it, e.g. with numpy.asarray({name}, dtype=float); for "
                "exact or symbolic values call the unguarded formula in theory.batchnorm"
            )
    return arrays


def _check_alike(arrays: Arrays) -> None:
    """One library, one floating dtype, one device."""
    (first, model), *others = arrays.items()
    for name, value in arrays.items():
        xp = array_namespace(value)
        if not xp.isdtype(value.dtype, ("real floating", "complex floating")):
            raise TypeError(
                f"{name} of shape {tuple(value.shape)} has dtype {value.dtype}; expected real or "
                f"complex floating; convert it, e.g. to float64 (for exact or symbolic entries "
                "call the unguarded formula in theory.batchnorm)"
            )
    for name, value in others:
        if array_namespace(value) is not array_namespace(model):
            raise TypeError(
                f"{name} is an array of {_library_of(value)} and {first} of {_library_of(model)}; "
                f"expected one library: convert {name} (a scalar with float({name}))"
            )
        if value.dtype != model.dtype:
            raise TypeError(
                f"{name} has dtype {value.dtype} and {first} has dtype {model.dtype}; expected "
                f"one dtype, so that nothing is promoted silently: cast one of them"
            )
        if device(value) != device(model):
            raise ValueError(
                f"{name} is on device {device(value)} and {first} on {device(model)}; "
                f"expected one device: move {name} there"
            )


def _library_of(value: Any) -> str:
    return str(array_namespace(value).__name__).removeprefix("array_api_compat.")


def _batch_axes(name: str, batch: Any, axis: Any) -> tuple[int, ...]:
    """Return the batch axes counted from the front, in ascending order."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    if any(type(i) is not int for i in axes):
        raise TypeError(f"axis = {axis!r}; expected an integer or a tuple of integers")
    given = f"axis = {axis} for {name} of shape {tuple(batch.shape)}"
    rank = batch.ndim
    if any(not -rank <= i < rank for i in axes):
        raise ValueError(
            f"{given}, which has {rank} axes; expected each axis in [{-rank}, {rank}): name the "
            "axes that run over the batch (0 for (batch, unit), (0, 2, 3) for maps)"
        )
    counted = tuple(sorted(i % rank for i in axes))
    if len(set(counted)) < len(counted):
        raise ValueError(f"{given} names an axis twice; expected each batch axis once")
    return counted


def _check_shapes(arrays: Arrays, first: str, axes: tuple[int, ...]) -> None:
    shape = tuple(arrays[first].shape)
    if 0 in shape:
        raise ValueError(
            f"{first} of shape {shape} is empty; expected at least one entry along each axis"
        )
    m = size(arrays[first], axes)
    units = tuple(n for i, n in enumerate(shape) if i not in axes)
    for name, value in arrays.items():
        given = f"{name} of shape {tuple(value.shape)}"
        if name in BATCH and tuple(value.shape) != shape:
            raise ValueError(
                f"{given} does not match {first} of shape {shape}; expected one entry of {name} "
                f"for each entry of {first}: reshape or broadcast {name} to {shape}"
            )
        if name == "H" and tuple(value.shape) != (m, m, *units):
            raise ValueError(
                f"{given} does not match {first} of shape {shape}, where m = {m}; expected "
                f"{(m, m, *units)}, one m x m matrix for each unit"
            )
        if name in PER_UNIT and not _fits(tuple(value.shape), shape, axes):
            one_each = tuple(1 if i in axes else n for i, n in enumerate(shape))
            raise ValueError(
                f"{given} does not give one number to each unit of {first} of shape {shape} with "
                f"batch axes {axes}; expected a number, or a shape that broadcasts to {one_each}"
            )


def _fits(shape: tuple[int, ...], batch: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Whether a shape broadcasts to the batch's and is of length one along the batch axes."""
    padded = (1,) * (len(batch) - len(shape)) + shape
    return len(shape) <= len(batch) and all(
        n == 1 or (n == batch[i] and i not in axes) for i, n in enumerate(padded)
    )


def _lifted(arguments: Mapping[str, Any], model: Any) -> Arrays:
    """Numbers as arrays without axes, like the batch."""
    return {
        name: array_namespace(model).asarray(value, dtype=model.dtype, device=device(model))
        for name, value in arguments.items()
        if name in PER_UNIT and not is_array_api_obj(value)
    }


def _check_finite(values: Arrays) -> None:
    for name, value in values.items():
        xp = array_namespace(value)
        wrong = ~xp.isfinite(value)
        if bool(xp.any(wrong)):
            raise ValueError(
                f"{name} of shape {tuple(value.shape)} is NaN or infinite{_at(wrong)}; expected "
                "finite entries: remove them, or find the step that made them"
            )


def _check_sign(values: Arrays) -> None:
    for name in ("eps", "running_variance"):
        if name not in values:
            continue
        xp = array_namespace(values[name])
        real = values[name]
        if xp.isdtype(real.dtype, "complex floating"):
            real = xp.real(real)
        if bool(xp.any(real < 0)):
            smallest = float(xp.min(real))
            raise ValueError(
                f"{name} is negative (smallest entry {smallest:g}){_at(real < 0)}; expected "
                f"{name} >= 0, because sigma is the square root of the variance plus eps"
            )


def _check_running(values: Arrays) -> None:
    xp = array_namespace(values["running_variance"])
    zero = values["running_variance"] + values["eps"] == 0
    if bool(xp.any(zero)):
        raise ValueError(
            f"running_variance is zero{_at(zero)} and eps = 0, so sigma = 0 and z is undefined; "
            "pass eps > 0, or leave those units out"
        )


def _check_spread(y: Any, eps: Any, axes: tuple[int, ...]) -> None:
    """Sigma is finite and positive in every unit."""
    xp = array_namespace(y)
    given = f"y of shape {tuple(y.shape)}"
    spread = variance(y, axes)
    if not bool(xp.all(xp.isfinite(spread))):
        raise ValueError(
            f"{given} has a variance that overflows {y.dtype}{_at(~xp.isfinite(spread), axes)}; "
            "scale y down, or cast it to a wider dtype"
        )
    # The computed variance of equal entries need not be zero: their computed mean is rounded.
    first = y[tuple(slice(0, 1) if i in axes else slice(None) for i in range(y.ndim))]
    constant = xp.all(y == first, axis=axes, keepdims=True)
    zero = (constant & (eps == 0)) | (spread + eps == 0)
    if not bool(xp.any(zero)):
        return
    if size(y, axes) == 1:
        raise ValueError(
            f"{given} has a batch of m = 1 (axes {axes}) and eps = 0, so sigma = 0 and z is "
            "undefined; expected m >= 2, or eps > 0 (where every derivative is exactly 0)"
        )
    raise ValueError(
        f"{given} has zero variance over axes {axes}{_at(zero, axes)} and eps = 0, so sigma = 0 "
        "and z is undefined; pass eps > 0, or leave those units out"
    )


def _at(wrong: Any, batch_axes: tuple[int, ...] = (), most: int = 5) -> str:
    """Say where a condition holds: the indices along the axes that are not the batch's."""
    kept = [i for i in range(wrong.ndim) if i not in batch_axes]
    if not kept:
        return ""
    found = array_namespace(wrong).nonzero(wrong)
    count = found[0].shape[0]
    indices = [tuple(int(found[i][n]) for i in kept) for n in range(min(count, most))]
    named = ", ".join(str(index[0] if len(kept) == 1 else index) for index in indices)
    what = "unit" if batch_axes else "index"
    return f" at {what} {named}" + (f" and {count - most} more" if count > most else "")
