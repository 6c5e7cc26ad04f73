"""Arrays of any library with the few methods that statements, primitives and losses are written in.

A standard array has operators and a namespace of functions; NumPy's, CuPy's and PyTorch's have
``sum``, ``reshape`` and iteration besides.  :class:`Operand` supplies these, and its namespace
hands on to the library's.

All of it is continued off the real axis, so that a complex step may pass through: the absolute
value is x or -x by the sign of the real part, and a real matrix may meet a complex one.  What
cannot be continued, the decompositions, refuses complex numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from array_api_compat import array_namespace


class Operand:
    """An array of a library, as a value in statements, primitives and losses.

    Args:
        array: the library's own.
    """

    __array_ufunc__ = None  # NumPy's scalars leave operators to this class
    counts = 0
    """How many of the array's first axes count values: see :mod:`verify.batched`."""

    def __init__(self, array: Any):
        self.array = array

    def __array_namespace__(self, api_version: str | None = None) -> Namespace:
        """Return the library's functions, for arrays of this class."""
        return Namespace(library_of(self.array))

    def like(self, array: Any) -> Any:
        """Return an array of the library as a value of this kind."""
        return Operand(array)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return tuple(self.array.shape[self.counts :])

    @property
    def counted(self) -> tuple[int, ...]:
        """How many values it is, along each axis that counts them; empty if it is one."""
        return tuple(self.array.shape[: self.counts])

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.array.ndim) - self.counts

    @property
    def dtype(self) -> Any:
        """The kind of numbers."""
        return self.array.dtype

    @property
    def device(self) -> Any:
        """Where they are."""
        return self.array.device

    @property
    def T(self) -> Any:
        """The transpose of a matrix."""
        return self.like(library_of(self.array).matrix_transpose(self.array))

    def sum(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
        """Return the sum over the axes, all if none is named."""
        axes = range(self.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        behind = tuple(self.counts + a % self.ndim for a in axes)
        xp = library_of(self.array)
        return self.like(
            xp.sum(self.array, axis=behind, keepdims=keepdims) if behind else self.array
        )

    def min(self) -> Any:
        """Return the smallest entry."""
        return self._of_all_entries("min")

    def max(self) -> Any:
        """Return the largest entry."""
        return self._of_all_entries("max")

    def any(self) -> Any:
        """Return whether an entry is true."""
        return self._of_all_entries("any")

    def _of_all_entries(self, name: str) -> Any:
        own = tuple(range(self.counts, self.array.ndim))
        return self.like(getattr(library_of(self.array), name)(self.array, axis=own))

    def reshape(self, *shape: Any) -> Any:
        """Return the array in another shape, given apart or as a tuple."""
        sizes = shape[0] if isinstance(shape[0], tuple) else shape
        return self.like(library_of(self.array).reshape(self.array, self.counted + sizes))

    def transpose(self, *axes: Any) -> Any:
        """Return the array with its axes in another order, given apart or as a tuple."""
        order = axes[0] if isinstance(axes[0], tuple) else axes
        behind = (*range(self.counts), *(self.counts + axis for axis in order))
        return self.like(library_of(self.array).permute_dims(self.array, behind))

    def sqrt(self) -> Any:
        """Return the square root of every entry."""
        return self.like(library_of(self.array).sqrt(self.array))

    def __getitem__(self, key: Any) -> Any:
        """Return what a NumPy index chooses, with at most one list of integers in it."""
        array, axis, chosen = self.array, 0, []
        for part in _spelled_out(self._behind(key), array.ndim):
            if isinstance(part, list | np.ndarray):
                array, part = _taken(array, list(part), axis), slice(None)
            elif isinstance(part, slice):
                part = slice(*_inside(part, array.shape[axis]))
            chosen.append(bare(part))
            axis += part is not None
        return self.like(array[tuple(chosen)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[bare(self._behind(key))] = bare(value)

    def _behind(self, key: Any) -> tuple[Any, ...]:
        """Return an index behind the axes that count values."""
        return (slice(None),) * self.counts + (key if isinstance(key, tuple) else (key,))

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.array)

    def __abs__(self) -> Any:
        xp, x = library_of(self.array), self.array
        return self.like(xp.where(xp.real(x) < 0, -x, x) if is_complex(x) else xp.abs(x))

    def __neg__(self) -> Any:
        return self.like(-self.array)

    def __matmul__(self, other: Any) -> Any:
        return _product(self.array, bare(other))

    def __rmatmul__(self, other: Any) -> Any:
        return _product(bare(other), self.array)


def _spelled_out(parts: tuple[Any, ...], axes: int) -> list[Any]:
    """Return an index with a part for every axis."""
    places = [k for k, part in enumerate(parts) if part is ...] or [len(parts)]
    others = [part for part in parts if part is not ...]
    missing = axes - sum(part is not None for part in others)
    return [*others[: places[0]], *[slice(None)] * missing, *others[places[0] :]]


def _taken(array: Any, indices: list[int], axis: int) -> Any:
    xp = library_of(array)
    there = xp.asarray([int(i) for i in indices], dtype=xp.int64, device=array.device)
    return xp.take(array, there, axis=axis)


def _inside(part: slice, length: int) -> tuple[Any, ...]:
    """Return a slice that does not reach beyond the array, as the standard wants it."""
    start, stop, step = part.indices(length)
    return (start, stop if stop >= 0 else None, step)


def _product(a: Any, b: Any) -> Operand:
    """Return the product of matrices, of which one may be complex."""
    if a.dtype != b.dtype:
        xp = library_of(a)
        a, b = xp.astype(a, xp.complex128), xp.astype(b, xp.complex128)
    return Operand(a @ b)


def entrywise(function: Callable[..., Any], *values: Any) -> Any:
    """Apply a function of entries; arrays of fewer axes are repeated along the first ones."""
    operands = [value for value in values if isinstance(value, Operand)]
    if not operands:
        return function(*map(bare, values))
    outermost = max(operands, key=lambda value: value.counts)
    if len(operands) == 1 and all(v is outermost or isinstance(v, int | float) for v in values):
        return outermost.like(function(*map(bare, values)))
    axes = max(getattr(value, "ndim", 0) for value in values)
    return outermost.like(function(*(laid_out(v, outermost.counts, axes) for v in values)))


def laid_out(value: Any, counts: int, axes: int) -> Any:
    """Return the library's array with so many axes that count, and so many others.

    What is of another class is returned as it is.
    """
    if not isinstance(value, Operand):
        return bare(value)
    array, own = value.array, value.array.shape
    if value.counts == counts and value.ndim == axes:
        return array
    counted = (*own[: value.counts], *[1] * (counts - value.counts))
    sizes = (*[1] * (axes - value.ndim), *own[value.counts :])
    return library_of(array).reshape(array, counted + sizes)


def _alike(operand: Operand, other: Any) -> Any:
    """Return the other operand, integers and truths as numbers of the first one's kind."""
    if getattr(other, "dtype", operand.dtype) == operand.dtype:
        return other
    xp, array = library_of(operand.array), bare(other)
    if not hasattr(array, "dtype") or not xp.isdtype(array.dtype, ("integral", "bool")):
        return other
    found = xp.astype(array, operand.dtype)
    return other.like(found) if isinstance(other, Operand) else found


for _name in ("add", "sub", "mul", "truediv", "pow", "lt", "le", "gt", "ge", "eq", "ne"):
    _function = getattr(operator, _name)

    def _method(self: Operand, other: Any, function: Any = _function) -> Any:
        return entrywise(function, self, _alike(self, other))

    def _reflected(self: Operand, other: Any, function: Any = _function) -> Any:
        return entrywise(function, _alike(self, other), self)

    setattr(Operand, f"__{_name}__", _method)
    setattr(Operand, f"__r{_name}__", _reflected)


class Namespace:
    """A library's functions, which take and give :class:`Operand`.

    Among arguments of which some are many values at once it is those that know what to do.
    """

    def __init__(self, functions: Any):
        self.functions = functions

    def __getattr__(self, name: str) -> Any:
        """Return a function, a constant, or an extension such as ``linalg``."""
        found = getattr(self.functions, name)
        if name == "linalg":
            return Decompositions(found)
        if not callable(found) or isinstance(found, type):
            return found

        def function(*args: Any, **kwargs: Any) -> Any:
            many = _of_many_values(args)
            if many is not None:
                return getattr(many.__array_namespace__(), name)(*args, **kwargs)
            return wrapped(found(*map(bare, args), **{k: bare(v) for k, v in kwargs.items()}))

        return function


def _of_many_values(values: Iterable[Any]) -> Operand | None:
    """Return one of the values, or of those in a list, that is many values at once."""
    for value in values:
        if isinstance(value, Operand):
            found = value if value.counts else None
        else:
            found = _of_many_values(value) if isinstance(value, list | tuple) else None
        if found is not None:
            return found
    return None


class NotAnalyticError(TypeError):
    """A function was asked for a complex step that cannot be continued off the real axis."""


class Decompositions(Namespace):
    """A library's linear algebra; of complex matrices it would not be analytic."""

    def __getattr__(self, name: str) -> Any:
        """Return a function of real matrices."""
        decompose = super().__getattr__(name)

        def function(*args: Any, **kwargs: Any) -> Any:
            if any(isinstance(arg, Operand) and is_complex(arg.array) for arg in args):
                raise NotAnalyticError(f"linalg.{name} is not continued to complex matrices")
            return decompose(*args, **kwargs)

        return function


_LIBRARIES: dict[type, Any] = {}


def library_of(array: Any) -> Any:
    """Return the functions of an array's library, which has one kind of arrays."""
    kind = type(array)
    if kind not in _LIBRARIES:
        _LIBRARIES[kind] = array_namespace(array)
    return _LIBRARIES[kind]


def is_complex(array: Any) -> bool:
    """Return whether an array is complex."""
    return bool(array.dtype == library_of(array).complex128)


def bare(value: Any) -> Any:
    """Return the library's own arrays, of a value, a list or a tuple."""
    if isinstance(value, list | tuple):
        return type(value)(map(bare, value))
    if isinstance(value, np.generic):
        return value.item()
    return value.array if isinstance(value, Operand) else value


def wrapped(value: Any) -> Any:
    """Return the value with arrays in this class."""
    if hasattr(value, "_fields"):
        return type(value)(*map(wrapped, value))
    if isinstance(value, tuple):
        return tuple(map(wrapped, value))
    return Operand(value) if hasattr(value, "ndim") and hasattr(value, "dtype") else value
