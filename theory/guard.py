r"""What the guards of public formulas have in common.

A guard looks at a formula's arguments, bound by name, before the formula does, and at its result.
Errors say what was given, what was expected and what to do.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_torch_array

from theory import half_precision

P = ParamSpec("P")
R = TypeVar("R")
Arrays = dict[str, Any]
Operator = Callable[[Any], Any]


class Taken(NamedTuple):
    """What a formula takes by a name: an array of floats, or what else there may be."""

    axes: tuple[str, ...] = ()
    """A letter for the size of each axis, ``"N n"``, of every rank that it may have."""
    or_number: bool = False
    """Whether one number may stand there, for all units,"""
    or_function: bool = False
    """or a function, an operator."""

    @property
    def words(self) -> str:
        """What is expected, in words."""
        others = "a number or " * self.or_number + "a function or " * self.or_function
        shape = f" {_tuple(self.axes[0])}" if self.axes else ""
        return f"{others}an array of floats{shape}"


def _tuple(axes: str) -> str:
    """Return the letters of axes as a shape.

    >>> _tuple("N n"), _tuple("N")
    ('(N, n)', '(N,)')
    """
    letters = axes.split()
    return f"({letters[0]},)" if len(letters) == 1 else f"({', '.join(letters)})"


Check = Callable[[dict[str, Any]], Any]
"""What raises what is wrong with arguments, bound by name, and may replace or add one of them."""


def behind(
    check: Check, function: Callable[P, R], look_closer: Check | None = None
) -> Callable[P, R]:
    """Return the function behind a check of its arguments, defaults included.

    A result that is not finite is an error; half precision is widened.

    Args:
        check: what every call begins with.
        function: the formula.
        look_closer: a check of what a result that is not finite came of, before the function is
            called once more; for a check that leaves something to be seen by its result.
    """
    signature = inspect.signature(function)

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"{function.__name__}: {error}; expected {_call(function.__name__, signature)}"
            ) from None
        bound.apply_defaults()
        bound.arguments.update({name: plain(x) for name, x in bound.arguments.items()})
        half = half_precision.dtype_of(bound.arguments)
        if half is not None:
            bound.arguments.update(half_precision.widened(bound.arguments, half))

        def found_after(check: Check) -> Any:
            with _advising(function):
                check(bound.arguments)
            result = function(**bound.arguments)  # type: ignore[call-arg]
            return result if half is None else half_precision.narrowed(result, half)

        with np.errstate(all="ignore"):  # what comes of it is looked at
            result = found_after(check)
            overflowing = _overflowing(result)
            if overflowing is not None and look_closer is not None:
                result = found_after(look_closer)
                overflowing = _overflowing(result)
        if overflowing is not None:
            raise _overflow(function.__name__, overflowing)
        return result

    return guarded


def _call(name: str, signature: inspect.Signature) -> str:
    """Return how a function is called, without types."""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return f"{name}{signature.replace(parameters=parameters, return_annotation=signature.empty)}"


@contextmanager
def _advising(function: Callable[..., Any]) -> Iterator[None]:
    """Say which function to call where PyTorch lets nobody look at numbers."""
    try:
        yield
    except RuntimeError as error:
        if "vmap" not in str(error):
            raise
        formula = f"{function.__module__}.{function.__name__}"
        raise RuntimeError(
            f"the check of {function.__name__} looks at numbers, which torch.vmap does not allow; "
            f"inside of it call {formula}, which checks nothing"
        ) from error


def arrays_of(arguments: Mapping[str, Any], taken: Mapping[str, Taken], elsewhere: str) -> Arrays:
    """Return the arrays among arguments: of one library, one floating dtype and one device.

    Args:
        arguments: by name.
        taken: what may be given by each name; what has another name is passed over.
        elsewhere: where to go with values of another kind.

    Raises:
        TypeError: neither an array nor what else may be there, an array with missing entries, not
            floating, mixed libraries or dtypes.
        ValueError: mixed devices.
    """
    arrays: Arrays = {}
    for name, value in arguments.items():
        if (kind := taken.get(name)) is None:
            continue
        if is_array_api_obj(value):
            check_dense(name, value)
            arrays[name] = value
        elif not (
            (kind.or_number and type(value) in (int, float))
            or (kind.or_function and callable(value))
        ):
            if value is None:
                raise TypeError(
                    f"{name} is None; expected {kind.words}: give one, or leave {name} out where "
                    "it has a default"
                )
            raise TypeError(
                f"{name} is a {type(value).__name__}; expected {kind.words}: convert it, e.g. with "
                f"numpy.asarray({name}, dtype=float); {elsewhere}"
            )
    if arrays:
        _check_alike(arrays, elsewhere)
    return arrays


def check_dense(name: str, value: Any) -> None:
    """Raise a TypeError for an array whose entries are not all there as plain numbers."""
    reason = ""
    if isinstance(value, np.ma.MaskedArray):
        reason = "leaves entries out; fill them, or take the rows without any"
    elif is_torch_array(value) and value.is_nested:
        raise TypeError(f"{name} has rows of several lengths; expected one array: pass each alone")
    elif is_torch_array(value) and str(value.dtype) == "torch.complex32":
        reason = "is of complex32, in which PyTorch does not compute; cast it to complex64"
    elif is_torch_array(value) and value.device.type == "meta":
        reason = "is on device meta and has no entries; make it on a device that has"
    elif is_torch_array(value) and str(value.layout) != "torch.strided":
        reason = f"is stored as {value.layout}; pass to_dense() of it"
    if reason:
        raise TypeError(f"{given(name, value)}, a {type(value).__name__}, {reason}")


def _check_alike(arrays: Arrays, elsewhere: str) -> None:
    """One library, one floating dtype, one device."""
    for name, value in arrays.items():
        if not array_namespace(value).isdtype(value.dtype, ("real floating", "complex floating")):
            raise TypeError(
                f"{given(name, value)} has dtype {value.dtype}; expected real or complex "
                f"floating: convert it, e.g. to float64; {elsewhere}"
            )
        if array_namespace(value).finfo(value.dtype).bits < 16:
            raise TypeError(
                f"{given(name, value)} has dtype {value.dtype}, which only stores numbers; "
                "expected 16 bits or more: convert it, e.g. to float32"
            )
    first, model = next(iter(arrays.items()))
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


def check_axes(arrays: Arrays, taken: Mapping[str, Taken]) -> None:
    """Raise a ValueError unless every axis has the size of its letter, the same in all arrays."""
    sizes: dict[str, tuple[int, str]] = {}
    for name, value in arrays.items():
        choices = taken[name].axes
        axes = next((c for c in choices if len(c.split()) == value.ndim), choices[0])
        letters = axes.split()
        if value.ndim != len(letters):
            raise ValueError(
                f"{given(name, value)} has {value.ndim} axes; expected {len(letters)}, "
                f"{_tuple(axes)}: reshape {name}"
            )
        check_not_empty(name, value)
        for letter, size in zip(letters, value.shape, strict=True):
            expected, model = sizes.setdefault(letter, (size, name))
            if size != expected:
                unlike = f" does not match {given(model, arrays[model])}" * (model != name)
                raise ValueError(
                    f"{given(name, value)}{unlike}; expected {_tuple(axes)} with {letter} = "
                    f"{expected}"
                )


def check_not_empty(name: str, value: Any) -> None:
    """Raise a ValueError for an array without entries."""
    if 0 in value.shape:
        raise ValueError(
            f"{given(name, value)} is empty; expected at least one entry along each axis"
        )


def check_finite(values: Arrays) -> None:
    """Raise a ValueError unless all entries are finite."""
    for name, value in values.items():
        if is_not_finite(value):
            raise ValueError(
                f"{given(name, value)} is NaN or infinite"
                f"{at(~array_namespace(value).isfinite(value))}; expected finite entries: remove "
                "them, or find the step that made them"
            )


def check_real(name: str, value: Any, because: str) -> None:
    """Raise a TypeError for complex numbers."""
    if array_namespace(value).isdtype(value.dtype, "complex floating"):
        raise TypeError(
            f"{given(name, value)} has dtype {value.dtype}; expected real numbers, since "
            f"{because}: pass its real part"
        )


def guarded_operator(name: str, operator: Operator) -> Operator:
    """Return an operator that refuses a result unlike what it is given, or not finite."""
    alike = alike_operator(name, operator)

    @wraps(operator, assigned=(), updated=())
    def guarded(w: Any) -> Any:
        result = alike(w)
        if is_not_finite(result):
            raise ValueError(
                f"{name} returned NaN or infinity{at(~array_namespace(w).isfinite(result))} for "
                "an array of finite entries; expected finite ones"
            )
        return result

    return guarded


def alike_operator(name: str, operator: Operator) -> Operator:
    """Return an operator that refuses a result of another library, dtype or shape."""

    @wraps(operator, assigned=(), updated=())
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
                f"{tuple(w.shape)}; expected one of that shape"
            )
        return result

    return guarded


def check_symmetric(name: str, matrices: Any) -> None:
    """Raise a ValueError unless matrices, along the first two axes, are symmetric.

    Differences up to the root of u, relative to the largest entry of a matrix, pass: an H that was
    itself computed is symmetric to its own rounding, which is not ours to know.
    """
    if bool(array_namespace(matrices).any(wrong := _is_asymmetric(matrices))):
        raise ValueError(
            f"{given(name, matrices)} is not symmetric{at(wrong)}; expected a Hessian: "
            f"pass ({name} + its transpose)/2"
        )


def form_of_symmetric(name: str, form: Callable[[Any, Any], Any], H: Any, S: Any) -> Any:
    r"""Return :math:`V^\top S V`, a V being made of H, if it is symmetric.

    As V is rectangular that is what can be seen of an operator S.  Its products are rounded in the
    dtype that it is given, and may cancel: differences pass up to the root of u, relative to
    :math:`|V|^\top |S V|`, entry by entry.

    Args:
        name: of S, for the message.
        form: the function of H and S, which calls an S in the same order every time, and with
            absolute values of H has those of V.
        H: what V is made of.
        S: an array, of which nothing is asked here, or a guarded operator, which may write into
            what it is given.

    Raises:
        ValueError: it is not symmetric.
    """
    if not callable(S):
        return form(H, S)
    matrix = form(H, lambda V: S(1 * V))
    if not bool(array_namespace(matrix).any(_is_asymmetric(matrix))):
        return matrix
    xp, sizes = array_namespace(matrix), []

    def noted(V: Any) -> Any:
        output = S(1 * V)
        sizes.append(xp.abs(output))
        return output

    form(H, noted)
    size = form(xp.abs(H), lambda _: sizes.pop(0))
    u = xp.finfo(half_precision.dtype_of_operator(S, H.dtype)).eps
    wrong = xp.abs(matrix - matrix.T) > u**0.5 * xp.maximum(size, size.T)
    if bool(xp.any(wrong)):
        raise ValueError(
            f"{name} is an operator S that is not symmetric: V^T S V is not{at(wrong)}, by more "
            "than its rounding; expected a Hessian: pass the average of it and its transpose"
        )
    return matrix


def _is_asymmetric(matrices: Any) -> Any:
    xp = array_namespace(matrices)
    apart = xp.abs(matrices - xp.permute_dims(matrices, (1, 0, *range(2, matrices.ndim))))
    largest = xp.max(xp.abs(matrices), axis=(0, 1), keepdims=True)
    return apart > xp.finfo(matrices.dtype).eps ** 0.5 * largest


def is_not_finite(value: Any) -> bool:
    """Whether some entry is NaN or infinite."""
    xp = array_namespace(value)
    # A sum reads once and writes nothing; NaN and infinity pass through it.  That of finite numbers
    # may be infinite.
    with np.errstate(all="ignore"):
        if bool(xp.isfinite(xp.sum(value))):
            return False
    return bool(xp.any(~xp.isfinite(value)))


def _overflowing(result: Any) -> Any:
    """Return the first array of a result that is not finite, or None."""
    parts = filter(is_array_api_obj, result if isinstance(result, tuple) else (result,))
    return next(filter(is_not_finite, parts), None)


def _overflow(name: str, part: Any) -> ValueError:
    """Return that what finite arguments give is beyond the format."""
    xp = array_namespace(part)
    wrong, is_complex = ~xp.isfinite(part), xp.isdtype(part.dtype, "complex floating")
    divides = ", or divides by a variance <c, c> without conjugation that is zero"
    return ValueError(
        f"{name} overflows {part.dtype}{at(wrong)}{divides if is_complex else ''}, in its"
        " result or on the way to it, though what it was given is finite; expected numbers"
        " that it can hold: scale them down, or cast them to a wider dtype"
    )


def plain(value: Any) -> Any:
    """Return a real number of NumPy's as one of Python's, which widens no array; others as given.

    >>> plain(np.float32(0.5)), plain(np.int64(3)), plain("three")
    (0.5, 3, 'three')
    """
    return value.item() if isinstance(value, np.floating | np.integer) else value


def given(name: str, value: Any) -> str:
    """Return what is called so and of which shape, in words."""
    return f"{name} of shape {tuple(value.shape)}" if value.ndim else f"the number {name}"


def at(wrong: Any, batch_axes: tuple[int, ...] = (), most: int = 5) -> str:
    """Return the indices at which a condition holds, without those of the batch, in words."""
    kept = [i for i in range(wrong.ndim) if i not in batch_axes]
    if not kept:
        return ""
    found = array_namespace(wrong).nonzero(wrong)
    count = found[0].shape[0]
    indices = [tuple(int(found[i][n]) for i in kept) for n in range(min(count, most))]
    named = ", ".join(str(index[0] if len(kept) == 1 else index) for index in indices)
    more = f" and {count - most} more" if count > most else ""
    return f" at {'unit' if batch_axes else 'index'} {named}{more}"
