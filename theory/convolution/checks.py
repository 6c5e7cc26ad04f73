r"""Checks of maps, weights and geometry, in the words of :mod:`theory.validate`.

Limits that are allowed, because the formulas are right there: a map smaller than the kernel with
``padding="same"`` (some columns of :math:`\mathcal H` are zero), a kernel of one entry, and a
batch of one.  The formulas in the modules of :mod:`theory.convolution` are total and unguarded;
they are the ones to use for integers and exact numbers, and inside ``torch.compile``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from array_api_compat import array_namespace, is_array_api_obj

from theory.convolution.windows import Geometry, outputs
from theory.validate import _check_alike, _check_values, _given, behind, check_dense

P = ParamSpec("P")
R = TypeVar("R")

AXES = {
    "h": "(batch, channel, row, column)",
    "weights": "(out, channel, k, k)",
    "bias": "(out,)",
    "v": "(batch, out, row, column)",
    "S": "(batch, row, column)",
    "vector": "(k^2 channels + 1, out)",
}
"""The arrays that functions take, by name; for S a function is another choice."""

LARGEST = 2**16
"""Of a kernel, a stride and a dilation; the zeros around a map are as many."""

ELSEWHERE = "for exact values call the unguarded formula in the modules of theory.convolution"


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function behind :func:`check`; name, signature and docstring are kept.

    >>> import numpy as np
    >>> from theory.convolution import gram
    >>> gram(np.zeros((1, 1, 5, 5)), 4)
    Traceback (most recent call last):
    ...
    ValueError: kernel = 4; expected an odd one, which has an entry in the middle: 3 or 5
    """

    def check_all(arguments: dict[str, Any]) -> None:
        check(arguments)
        if callable(arguments.get("S")):
            arguments["S"] = _guarded_operator(arguments["S"])

    return behind(check_all, function)


def check(arguments: Mapping[str, Any]) -> None:
    """Raise an error if arguments, bound by name, cannot be given to a formula.

    Known names are those of :data:`AXES` and ``kernel``, ``stride``, ``dilation``, ``padding``
    and ``chunk``.

    Raises:
        TypeError: not an array, not floating, mixed libraries or dtypes, a size that is no
            integer.
        ValueError: mixed devices, wrong rank or shape, an empty batch, NaN or infinity, an even
            kernel, a map smaller than the kernel with valid padding.
    """
    arrays = _arrays(arguments)
    _check_alike(arrays)
    _check_ranks(arrays)
    sizes = _sizes(arguments)
    _check_shapes(arrays, sizes)
    if "h" in arrays:
        geometry = Geometry(**{name: sizes[name] for name in Geometry._fields if name in sizes})
        _check_outputs(arrays, geometry)
    _check_values(arrays)


def _arrays(arguments: Mapping[str, Any]) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    for name, value in arguments.items():
        if name not in AXES or (name == "S" and callable(value)):
            continue
        given, choice = f"{name} is a {type(value).__name__}", " or a function" * (name == "S")
        if not is_array_api_obj(value):
            raise TypeError(
                f"{given}; expected an array of floats {AXES[name]}{choice}: convert it, e.g. "
                f"with numpy.asarray({name}, dtype=float); {ELSEWHERE}"
            )
        if not array_namespace(value).isdtype(value.dtype, ("real floating", "complex floating")):
            raise TypeError(
                f"{_given(name, value)} has dtype {value.dtype}; expected real or complex "
                f"floating: convert it, e.g. to float64; {ELSEWHERE}"
            )
        check_dense(name, value)
        arrays[name] = value
    return arrays


def _check_ranks(arrays: dict[str, Any]) -> None:
    for name, value in arrays.items():
        rank = AXES[name].count(",") + (not AXES[name].endswith(",)"))
        if value.ndim != rank:
            raise ValueError(
                f"{_given(name, value)} has {value.ndim} axes; expected {rank}, {AXES[name]}"
            )
        if 0 in value.shape:
            raise ValueError(
                f"{_given(name, value)} is empty; expected at least one entry along each axis"
            )


def _sizes(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return kernel, stride, dilation and padding, as far as they are given."""
    sizes = {name: arguments[name] for name in Geometry._fields if name in arguments}
    if "weights" in arguments:
        weights = arguments["weights"]
        k, given = weights.shape[-1], _given("weights", weights)
        if weights.shape[-2] != k or k % 2 == 0:
            raise ValueError(f"{given}; expected {AXES['weights']} with k odd")
        sizes["kernel"] = k
    counts: dict[str, Any] = {
        name: sizes[name] for name in ("kernel", "stride", "dilation") if name in sizes
    }
    if arguments.get("chunk") is not None:
        counts["chunk"] = arguments["chunk"]
    for name, value in counts.items():
        if type(value) is not int:
            raise TypeError(f"{name} = {value!r}; expected an int")
        if value < 1:
            raise ValueError(f"{name} = {value}; expected at least 1")
        if name != "chunk" and value > LARGEST:
            raise ValueError(f"{name} is beyond {LARGEST}; expected one that maps may have")
    kernel = sizes.get("kernel", 1)
    if kernel % 2 == 0:
        raise ValueError(
            f"kernel = {kernel}; expected an odd one, which has an entry in the middle: "
            f"{kernel - 1} or {kernel + 1}"
        )
    _check_padding(sizes.get("padding", "same"))
    return sizes


def _check_padding(padding: Any) -> None:
    if not isinstance(padding, str):
        raise TypeError(f"padding is a {type(padding).__name__}; expected 'same' or 'valid'")
    if padding not in ("same", "valid"):
        raise ValueError(f"padding = {padding!r}; expected 'same' or 'valid'")


def _check_shapes(arrays: dict[str, Any], sizes: dict[str, Any]) -> None:
    """Weights, bias and vector fit each other and the maps' channels."""
    weights, bias, vector = (arrays.get(name) for name in ("weights", "bias", "vector"))
    if weights is not None and bias is not None and bias.shape[0] != weights.shape[0]:
        raise ValueError(
            f"{_given('bias', bias)} does not match {_given('weights', weights)}; expected one "
            f"number for each output, ({weights.shape[0]},)"
        )
    if weights is not None and "h" in arrays and weights.shape[1] != arrays["h"].shape[1]:
        raise ValueError(
            f"{_given('weights', weights)} does not match {_given('h', arrays['h'])}; expected "
            f"{arrays['h'].shape[1]} channels, the second axis of both"
        )
    rows = None if vector is None else vector.shape[0]
    if rows is not None and (rows == 1 or (rows - 1) % sizes["kernel"] ** 2):
        raise ValueError(
            f"{_given('vector', vector)} does not fit kernel = {sizes['kernel']}; expected a "
            f"bias and {sizes['kernel'] ** 2} entries for each channel along the first axis"
        )


def _check_outputs(arrays: dict[str, Any], geometry: Geometry) -> None:
    """The outputs exist, and what is given for each of them is there."""
    h = arrays["h"]
    size = outputs(h, geometry)
    if 0 in size:
        reach = (geometry.kernel - 1) * geometry.dilation + 1
        raise ValueError(
            f"{_given('h', h)} has maps smaller than a kernel of {reach} x {reach} (kernel = "
            f"{geometry.kernel}, dilation = {geometry.dilation}), so padding = 'valid' leaves no "
            "output; expected larger maps, a smaller kernel, or padding = 'same'"
        )
    for name, other in (("v", slice(1, 2)), ("S", slice(1, 1))):
        value = arrays.get(name)
        if value is None:
            continue
        expected = (h.shape[0], *value.shape[other], *size)
        if tuple(value.shape) != expected:
            raise ValueError(
                f"{_given(name, value)} does not match {_given('h', h)}; expected {expected}, "
                f"as the outputs are for {geometry}"
            )


def _guarded_operator(operator: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return S, refusing a result that is not maps like those it was given."""

    @wraps(operator)
    def guarded(maps: Any) -> Any:
        result = operator(maps)
        shape = getattr(result, "shape", type(result).__name__)
        if shape != maps.shape:
            raise ValueError(
                f"S returned {shape} for maps of shape {tuple(maps.shape)}; expected maps of the "
                "same shape"
            )
        return result

    return guarded
