"""Many values of one array in one call: what is done to one is done to each of them.

The first axes of a :class:`Batched` count the values, and are hidden from functions that are
written for one of them.  Values of an outer batch meet those of an inner one, whose first axes
begin with the outer one's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, NoReturn

from verify.operators import Namespace, Operand, bare, library_of

ENTRYWISE = frozenset(
    ["abs", "exp", "imag", "log", "logaddexp", "real", "sqrt", "where", "zeros_like"]
)
"""Functions that look at nothing but entries of one place."""


class NotBatchedError(TypeError):
    """A function was asked for that is not evaluated at many values at once."""


class Batched(Operand):
    """Arrays of one shape, as if they were one array.

    Args:
        array: the library's own, of shape (*counts, *shape of one).
        counts: how many of its axes count.
    """

    def __init__(self, array: Any, counts: int):
        super().__init__(array)
        self.counts = counts

    def __array_namespace__(self, api_version: str | None = None) -> Namespace:
        """Return the library's functions, for arrays of this class."""
        return _Functions(library_of(self.array))

    def like(self, array: Any) -> Batched:
        """Return as many arrays as these."""
        return Batched(array, self.counts)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise NotBatchedError("many values at once are no array of NumPy")

    def __getitem__(self, key: Any) -> Batched:
        """Return what an index of one array chooses."""
        keys = key if isinstance(key, tuple) else (key,)
        return Batched(self.array[(slice(None),) * self.counts + keys], self.counts)

    def __bool__(self) -> bool:
        raise NotBatchedError("many values at once are neither true nor false")

    def __matmul__(self, other: Any) -> Batched:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Batched:
        return _product(other, self)


def _entrywise(function: Callable[..., Any], *values: Any) -> Any:
    """Apply a function of entries; arrays of fewer axes are repeated along the first ones."""
    batched = [value for value in values if isinstance(value, Batched)]
    if not batched:
        return function(*map(bare, values))
    counts = max(value.counts for value in batched)
    if len(batched) == 1 and all(v is batched[0] or isinstance(v, int | float) for v in values):
        return Batched(function(*map(bare, values)), counts)
    axes = max(getattr(value, "ndim", 0) for value in values)
    found = function(*(laid_out(value, counts, axes) for value in values))
    return Batched(found, counts)


def laid_out(value: Any, counts: int, axes: int) -> Any:
    """Return the library's array with so many axes that count, and so many others.

    What is not counted is returned as it is.
    """
    if not isinstance(value, Batched):
        return bare(value)
    array, own = value.array, value.array.shape
    if value.counts == counts and value.ndim == axes:
        return array
    counted = (*own[: value.counts], *[1] * (counts - value.counts))
    sizes = (*[1] * (axes - value.ndim), *own[value.counts :])
    return library_of(array).reshape(array, counted + sizes)


def _product(a: Any, b: Any) -> Batched:
    """Return the product of vectors or matrices, of which one may be complex."""
    counts = max(getattr(value, "counts", 0) for value in (a, b))
    left, right = laid_out(a, counts, a.ndim), laid_out(b, counts, b.ndim)
    xp = library_of(left)
    if left.dtype != right.dtype:
        left, right = xp.astype(left, xp.complex128), xp.astype(right, xp.complex128)
    if a.ndim == 1 and b.ndim == 1:
        return Batched((left[..., None, :] @ right[..., :, None])[..., 0, 0], counts)
    if b.ndim == 1:
        return Batched((left @ right[..., :, None])[..., 0], counts)
    if a.ndim == 1:
        return Batched((left[..., None, :] @ right)[..., 0, :], counts)
    return Batched(left @ right, counts)


for _name in ("add", "sub", "mul", "truediv", "pow", "lt", "le", "gt", "ge", "eq", "ne"):
    _function = getattr(operator, _name)

    def _method(self: Batched, other: Any, function: Any = _function) -> Any:
        return _entrywise(function, self, other)

    def _reflected(self: Batched, other: Any, function: Any = _function) -> Any:
        return _entrywise(function, other, self)

    setattr(Batched, f"__{_name}__", _method)
    setattr(Batched, f"__r{_name}__", _reflected)


class _Functions(Namespace):
    """A library's functions of many values at once."""

    def __getattr__(self, name: str) -> Any:
        """Return a function or a constant."""
        found = getattr(self.functions, name)
        if name in ENTRYWISE:
            return partial(_entrywise, found)
        if name == "astype":
            return lambda x, kind: _entrywise(lambda array: found(array, kind), x)
        if name in ("sum", "reshape"):
            return getattr(Batched, name)
        is_constant = not callable(found) or isinstance(found, type)
        if isinstance(found, ModuleType) or not (is_constant or name == "isdtype"):
            raise NotBatchedError(f"{name} is not evaluated at many values at once")
        return found
