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
from math import isfinite
from typing import Any, ParamSpec, TypeVar

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_torch_array

from theory import half_precision
from theory.arithmetic import size
from theory.scaling import DEGREES, in_the_middle, largest

P = ParamSpec("P")
R = TypeVar("R")
Arrays = dict[str, Any]

BATCH = ("y", "g", "u")
PER_UNIT = ("gamma", "beta", "eps", "running_mean", "running_variance")
ELSEWHERE = "for exact or symbolic values call the unguarded formula in theory.batchnorm"


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function behind :func:`check`; name, signature and docstring are kept.

    Batches near the ends of their format's range are scaled (:mod:`theory.scaling`), those in half
    precision widened (:mod:`theory.half_precision`).

    >>> import numpy as np
    >>> from theory import batchnorm
    >>> checked(batchnorm.gradient)(np.array([1.0, 2.0, 6.0]), np.ones(2))
    Traceback (most recent call last):
    ...
    ValueError: g of shape (2,) does not match y of shape (3,) with batch axes (0,); expected...
    """
    signature = inspect.signature(function)
    if "axis" not in signature.parameters:
        return behind(check, function)
    degree = DEGREES[function.__name__]

    @wraps(function)
    def scaled(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments = signature.bind(*args, **kwargs).arguments
        result: R = in_the_middle(function, degree, arguments, _sizes(arguments))
        return result

    return behind(check, scaled)


def behind(check: Callable[[dict[str, Any]], None], function: Callable[P, R]) -> Callable[P, R]:
    """Return the function behind a check of its arguments, bound by name, defaults included.

    The check raises what is wrong, and may replace an argument in the mapping that it is given.  A
    result that is not finite is an error; half precision is widened.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        half = half_precision.dtype_of(bound.arguments)
        if half is not None:
            bound.arguments.update(half_precision.widened(bound.arguments, half))
        with np.errstate(all="ignore"):  # what comes of it is looked at
            check(bound.arguments)
            result: Any = function(*bound.args, **bound.kwargs)
            if half is not None:
                result = half_precision.narrowed(result, half)
        _check_result(function.__name__, result)
        return result

    return guarded


def check(arguments: dict[str, Any]) -> None:
    """Raise an error if arguments, bound by name, cannot be given to a formula.

    Known names are those of :data:`BATCH` and :data:`PER_UNIT`, ``axis``, ``hessian_of_loss`` (an
    operator) and ``H`` (a matrix for each unit).  Of the arguments, the operator is replaced by
    one whose results are checked.

    Raises:
        TypeError: not an array, not floating, mixed libraries or dtypes, an axis that is no
            integer, an operator that cannot be called.
        ValueError: mixed devices, wrong shape or axis, an empty batch, NaN or infinity, a
            negative eps or variance, sigma zero or overflowing, an H that is not symmetric.
    """
    arrays = _arrays(arguments)
    _check_alike(arrays)
    first = next(name for name in BATCH if name in arrays)
    axes = _batch_axes(first, arrays[first], arguments.get("axis", 0))
    _check_shapes(arrays, first, axes)
    values = arrays | _lifted(arguments, arrays[first])
    _check_values(values)
    _check_sigma(values, axes)
    if "H" in arrays:
        check_symmetric("H", arrays["H"])
    if "hessian_of_loss" in arguments:
        operator = arguments["hessian_of_loss"]
        arguments["hessian_of_loss"] = guarded_operator("hessian_of_loss", operator)


def guarded_operator(name: str, operator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return an operator that refuses a result unlike what it is given, or not finite."""

    def guarded(w: Any) -> Any:
        result = operator(w)
        if not is_array_api_obj(result) or array_namespace(result) is not array_namespace(w):
            raise TypeError(
                f"{name} returned a {type(result).__name__} for a {type(w).__name__}; expected an "
                "array of the same library"
            )
        check_dense(f"what {name} returned", result)
        if result.dtype != w.dtype:
            raise TypeError(
                f"{name} returned an array of dtype {result.dtype} for one of {w.dtype}; expected "
                "one dtype, so that nothing is promoted silently: cast its result"
            )
        if result.shape != w.shape:
            raise ValueError(
                f"{name} returned an array of shape {tuple(result.shape)} for one of shape "
                f"{tuple(w.shape)}; expected H w, of the shape of w"
            )
        if _is_not_finite(result):
            raise ValueError(
                f"{name} returned NaN or infinity{_at(~array_namespace(w).isfinite(result))} for "
                "an array of finite entries; expected finite ones"
            )
        return result

    return guarded


def check_symmetric(name: str, matrices: Any) -> None:
    """Raise a ValueError unless matrices, along the first two axes, are symmetric.

    Differences up to the root of u, relative to the largest entry, pass: an H that was itself
    computed is symmetric to its own rounding, which is not ours to know.
    """
    if bool(array_namespace(matrices).any(wrong := _is_asymmetric(matrices))):
        raise ValueError(
            f"{_given(name, matrices)} is not symmetric{_at(wrong)}; expected a Hessian: "
            f"pass ({name} + its transpose)/2"
        )


def check_symmetric_operator(name: str, form: Any) -> None:
    """Raise a ValueError unless an operator S is symmetric, by a matrix that is V^T S V."""
    if bool(array_namespace(form).any(wrong := _is_asymmetric(form))):
        raise ValueError(
            f"{name} is an operator S that is not symmetric: V^T S V is not{_at(wrong)}; expected a"
            " Hessian: pass the average of it and its transpose"
        )


def _is_asymmetric(matrices: Any) -> Any:
    xp = array_namespace(matrices)
    apart = xp.abs(matrices - xp.permute_dims(matrices, (1, 0, *range(2, matrices.ndim))))
    return apart > xp.finfo(matrices.dtype).eps ** 0.5 * xp.max(xp.abs(matrices))


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
            check_dense(name, value)
            arrays[name] = value
        elif name in (*BATCH, "H") or (name in PER_UNIT and type(value) not in (int, float)):
            raise TypeError(
                f"{given}; expected {'a number or ' * (name in PER_UNIT)}an array of floats: "
                f"convert it, e.g. with numpy.asarray({name}, dtype=float); {ELSEWHERE}"
            )
    return arrays


def check_dense(name: str, value: Any) -> None:
    """Raise a TypeError for an array that has no value in some entries, or stores no entries."""
    reason = ""
    if isinstance(value, np.ma.MaskedArray):
        reason = "leaves entries out; fill them, or take the rows without any"
    elif is_torch_array(value) and value.device.type == "meta":
        reason = "is on device meta and has no entries; make it on a device that has"
    elif is_torch_array(value) and str(value.layout) != "torch.strided":
        reason = f"is stored as {value.layout}; pass to_dense() of it"
    if reason:
        raise TypeError(f"{_given(name, value)}, a {type(value).__name__}, {reason}")


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


def _lifted(arguments: dict[str, Any], model: Any) -> Arrays:
    """Numbers as arrays without axes, like the batch; as floats among the arguments."""
    xp, lifted = array_namespace(model), {}
    for name in PER_UNIT:
        if name not in arguments or is_array_api_obj(arguments[name]):
            continue
        value = arguments[name]
        if isfinite_number(value) and abs(value) > float(xp.finfo(model.dtype).max):
            raise ValueError(
                f"the number {name} is beyond the largest of {model.dtype}; expected a smaller "
                "one, or arrays of a wider dtype"
            )
        arguments[name] = float(value)
        lifted[name] = xp.asarray(arguments[name], dtype=model.dtype, device=device(model))
    return lifted


def isfinite_number(value: int | float) -> bool:
    """Whether a number is neither NaN nor infinite, however many digits an integer has."""
    return isinstance(value, int) or isfinite(value)


def _is_not_finite(value: Any) -> bool:
    xp = array_namespace(value)
    # A sum reads once and writes nothing; NaN and infinity pass through it.  That of finite numbers
    # may be infinite.
    with np.errstate(all="ignore"):
        if bool(xp.isfinite(xp.sum(value))):
            return False
    return bool(xp.any(~xp.isfinite(value)))


def _check_values(values: Arrays) -> None:
    """Everything is finite; eps and the running variance are not negative."""
    for name, value in values.items():
        xp = array_namespace(value)
        if _is_not_finite(value):
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
            f"{_given('y', y)} with batch axes {axes} has zero variance"
            f"{' (m = 1)' if single else ''}{_at(constant, axes)} and eps = 0, so sigma = 0 and z "
            "is undefined; expected sigma > 0: pass eps > 0, or "
            + ("a batch of m >= 2" if single else "leave those units out")
        )


def _check_running(variance: Any, eps: Any) -> None:
    xp, given = array_namespace(variance), _given("running_variance", variance)
    zero, overflow = variance + eps == 0, ~xp.isfinite(variance + eps)
    if bool(xp.any(zero)):
        raise ValueError(
            f"{given} has zero variance{_at(zero)} and eps = 0, so sigma = 0 and z is undefined; "
            "expected sigma > 0: pass eps > 0, or leave those units out"
        )
    if bool(xp.any(overflow)):
        raise ValueError(
            f"{given} and eps have a sum that overflows {variance.dtype}{_at(overflow)}; expected "
            "a finite one: scale the batch down, or cast it to a wider dtype"
        )


def _check_result(name: str, result: Any) -> None:
    """What finite arguments give is finite, or else beyond the format."""
    for part in result if isinstance(result, tuple) else (result,):
        if is_array_api_obj(part) and _is_not_finite(part):
            wrong = ~array_namespace(part).isfinite(part)
            raise ValueError(
                f"{name} overflows {part.dtype}{_at(wrong)}, in its result or on the way to it, "
                "though what it was given is finite; expected numbers that it can hold: scale them "
                "down, or cast them to a wider dtype"
            )


def _sizes(arguments: Mapping[str, Any]) -> Arrays:
    """The largest entries: of y for each unit, together with the root of eps; of g; of u."""
    found: Arrays = {}
    for name in BATCH:
        if name in arguments:
            value = arguments[name]
            found[name] = largest(value, arguments["axis"] if name == "y" else None)
    if "y" in found and "eps" in arguments:
        xp = array_namespace(found["y"])
        y = arguments["y"]
        eps = xp.abs(xp.asarray(arguments["eps"], dtype=y.dtype, device=device(y)))
        found["y"] = xp.maximum(found["y"], xp.sqrt(eps))
    return found


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
