r"""Checks of maps, weights and geometry, in the words of :mod:`theory.validate`.

Limits that are allowed, because the formulas are right there: a map smaller than the kernel with
``padding="same"`` (columns of :math:`\mathcal H` are zero where a side is at most (k - 1)/2 times
the dilation), a kernel of one entry, and a batch of one.  The formulas in the modules of
:mod:`theory.convolution` are total and unguarded; they are the ones to use for integers and exact
numbers, and inside ``torch.compile`` and ``torch.vmap``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from theory.convolution.windows import Geometry, outputs
from theory.guard import (
    P,
    R,
    Taken,
    arrays_of,
    behind,
    check_axes,
    check_finite,
    given,
    guarded_operator,
)

TAKEN = {
    "h": Taken(("batch channel row column",)),
    "weights": Taken(("out channel k k",)),
    "bias": Taken(("out",)),
    "v": Taken(("batch out row' column'",)),
    "S": Taken(("batch row' column'",), or_function=True),
    "vector": Taken(("k^2*channel+1 out",)),
}
"""What functions take by each name, sizes aside; primes are the outputs'."""

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
            arguments["S"] = guarded_operator("S", arguments["S"])

    return behind(check_all, function)


def check(arguments: Mapping[str, Any]) -> None:
    """Raise an error if arguments, bound by name, cannot be given to a formula.

    Known names are those of :data:`TAKEN` and ``kernel``, ``stride``, ``dilation``, ``padding``
    and ``chunk``.

    Raises:
        TypeError: not an array, not floating, mixed libraries or dtypes, a size that is no
            integer.
        ValueError: mixed devices, wrong rank or shape, an empty batch, NaN or infinity, an even
            kernel, a map smaller than the kernel with valid padding.
    """
    arrays = arrays_of(arguments, TAKEN, ELSEWHERE)
    check_axes(arrays, TAKEN)
    sizes = _sizes(arguments)
    if "vector" in arrays:
        _check_rows(arrays["vector"], sizes["kernel"])
    if "h" in arrays:
        geometry = Geometry(**{name: sizes[name] for name in Geometry._fields if name in sizes})
        _check_outputs(arrays, geometry)
    check_finite(arrays)


def _sizes(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return kernel, stride, dilation and padding, as far as they are given."""
    sizes = {name: arguments[name] for name in Geometry._fields if name in arguments}
    if "weights" in arguments:
        weights = arguments["weights"]
        sizes["kernel"] = weights.shape[-1]
        if sizes["kernel"] % 2 == 0:
            raise ValueError(
                f"{given('weights', weights)}; expected (out, channel, k, k) with k odd"
            )
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


def _check_rows(vector: Any, kernel: int) -> None:
    """A vector has a bias and all entries of kernels."""
    rows = vector.shape[0]
    if rows == 1 or (rows - 1) % kernel**2:
        raise ValueError(
            f"{given('vector', vector)} does not fit kernel = {kernel}; expected a bias and "
            f"{kernel**2} entries for each channel along the first axis"
        )


def _check_outputs(arrays: dict[str, Any], geometry: Geometry) -> None:
    """The outputs exist, and what is given for each of them is there."""
    h = arrays["h"]
    size = outputs(h, geometry)
    if 0 in size:
        reach = (geometry.kernel - 1) * geometry.dilation + 1
        raise ValueError(
            f"{given('h', h)} has maps smaller than a kernel of {reach} x {reach} (kernel = "
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
                f"{given(name, value)} does not match {given('h', h)}; expected {expected}, "
                f"as the outputs are for {geometry}"
            )
