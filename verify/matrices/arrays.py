"""Arrays of any library with the few methods that statements about matrices are written in.

A standard array has operators and a namespace of functions; NumPy's, CuPy's and PyTorch's have
``sum``, ``reshape`` and iteration besides.  :class:`Array` supplies these, and its namespace
hands on to the library's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from array_api_compat import array_namespace


class Array:
    """An array of a library, as a value in statements.

    Args:
        array: the library's own.
    """

    __array_ufunc__ = None  # NumPy's scalars leave operators to this class

    def __init__(self, array: Any):
        self.array = array

    def __array_namespace__(self, api_version: str | None = None) -> Namespace:
        """Return the library's functions, for arrays of this class."""
        return Namespace(array_namespace(self.array))

    def __getattr__(self, name: str) -> Any:
        """Return the array's own shape, dtype, device, T and the like."""
        return wrapped(getattr(self.array, name))

    def sum(self, axis: int | tuple[int, ...] | None = None) -> Any:
        """Return the sum over the axes, all if none is named."""
        return Array(array_namespace(self.array).sum(self.array, axis=axis))

    def reshape(self, *shape: Any) -> Any:
        """Return the array in another shape, given apart or as a tuple."""
        sizes = shape[0] if isinstance(shape[0], tuple) else shape
        return Array(array_namespace(self.array).reshape(self.array, sizes))

    def transpose(self, *axes: Any) -> Any:
        """Return the array with its axes in another order, given apart or as a tuple."""
        order = axes[0] if axes and isinstance(axes[0], tuple) else axes
        return Array(array_namespace(self.array).permute_dims(self.array, order))

    def min(self) -> Any:
        """Return the smallest entry."""
        return Array(array_namespace(self.array).min(self.array))

    def max(self) -> Any:
        """Return the largest entry."""
        return Array(array_namespace(self.array).max(self.array))

    def any(self) -> Any:
        """Return whether an entry is true."""
        return Array(array_namespace(self.array).any(self.array))

    def __getitem__(self, key: Any) -> Any:
        """Return what a NumPy index chooses, with at most one list of integers in it."""
        array, axis, chosen = self.array, 0, []
        for part in _spelled_out(key, array.ndim):
            if isinstance(part, list | np.ndarray):
                array, part = _taken(array, list(part), axis), slice(None)
            elif isinstance(part, slice):
                part = slice(*_inside(part, array.shape[axis]))
            chosen.append(bare(part))
            axis += part is not None
        return Array(array[tuple(chosen)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[bare(key)] = bare(value)

    def __len__(self) -> int:
        return int(self.array.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.array)

    def __matmul__(self, other: Any) -> Any:
        return _product(self.array, bare(other))

    def __rmatmul__(self, other: Any) -> Any:
        return _product(bare(other), self.array)


def _spelled_out(key: Any, axes: int) -> list[Any]:
    """Return an index with a part for every axis."""
    parts = list(key) if isinstance(key, tuple) else [key]
    places = [k for k, part in enumerate(parts) if part is ...] or [len(parts)]
    others = [part for part in parts if part is not ...]
    missing = axes - sum(part is not None for part in others)
    return [*others[: places[0]], *[slice(None)] * missing, *others[places[0] :]]


def _taken(array: Any, indices: list[int], axis: int) -> Any:
    xp = array_namespace(array)
    there = xp.asarray([int(i) for i in indices], dtype=xp.int64, device=array.device)
    return xp.take(array, there, axis=axis)


def _inside(part: slice, length: int) -> tuple[Any, ...]:
    """Return a slice that does not reach beyond the array, as the standard wants it."""
    start, stop, step = part.indices(length)
    return (start, stop if stop >= 0 else None, step)


def _product(a: Any, b: Any) -> Array:
    """Return the product of matrices, of which one may be complex."""
    if a.dtype != b.dtype:
        xp = array_namespace(a, b)
        a, b = xp.astype(a, xp.complex128), xp.astype(b, xp.complex128)
    return Array(a @ b)


def _operator(function: Callable[..., Any], *, reflected: bool = False) -> Callable[..., Any]:
    def applied(self: Array, *others: Any) -> Any:
        operands = (self.array, *(_alike(self.array, bare(other)) for other in others))
        return Array(function(*(reversed(operands) if reflected else operands)))

    return applied


def _alike(array: Any, other: Any) -> Any:
    """Return the other operand, integers and truths as numbers of the array's kind."""
    xp = array_namespace(array)
    is_whole = hasattr(other, "dtype") and xp.isdtype(other.dtype, ("integral", "bool"))
    return xp.astype(other, array.dtype) if is_whole else other


for _name in ("add", "sub", "mul", "truediv", "pow"):
    _function = getattr(operator, _name)
    setattr(Array, f"__{_name}__", _operator(_function))
    setattr(Array, f"__r{_name}__", _operator(_function, reflected=True))
for _name in ("neg", "pos", "abs", "lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Array, f"__{_name}__", _operator(getattr(operator, _name)))


class Namespace:
    """A library's functions, which take and give :class:`Array`."""

    def __init__(self, functions: Any):
        self.functions = functions

    def __getattr__(self, name: str) -> Any:
        """Return a function, a constant, or an extension such as ``linalg``."""
        found = getattr(self.functions, name)
        if name in ("linalg", "fft"):
            return Namespace(found)
        if not callable(found) or isinstance(found, type):
            return found

        def function(*args: Any, **kwargs: Any) -> Any:
            return wrapped(found(*map(bare, args), **{k: bare(v) for k, v in kwargs.items()}))

        return function


def bare(value: Any) -> Any:
    """Return the library's own arrays, of a value, a list or a tuple."""
    if isinstance(value, list | tuple):
        return type(value)(map(bare, value))
    if isinstance(value, np.generic):
        return value.item()
    return value.array if isinstance(value, Array) else value


def wrapped(value: Any) -> Any:
    """Return the value with arrays in this class."""
    if hasattr(value, "_fields"):
        return type(value)(*map(wrapped, value))
    if isinstance(value, tuple):
        return tuple(map(wrapped, value))
    return Array(value) if hasattr(value, "ndim") and hasattr(value, "dtype") else value
