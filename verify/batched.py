"""Many values of one array in one call: what is done to one is done to each of them.

The first axes of a :class:`Batched` count the values, and are hidden from functions that are
written for one of them.  Values of an outer batch meet those of an inner one, whose first axes
begin with the outer one's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from verify.operators import Namespace, Operand, entrywise, laid_out, library_of

ENTRYWISE = frozenset(
    ["abs", "exp", "imag", "log", "logaddexp", "real", "sqrt", "where", "zeros_like"]
)
"""Functions that look at nothing but entries of one place."""
METHODS = {"sum": "sum", "reshape": "reshape", "permute_dims": "transpose"}
"""Functions that are methods here."""


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

    def __bool__(self) -> bool:
        raise NotBatchedError("many values at once are neither true nor false")

    def __matmul__(self, other: Any) -> Batched:
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Batched:
        return _product(other, self)


def _product(a: Any, b: Any) -> Batched:
    """Return the product of vectors or matrices, of which one may be complex."""
    counts = max(getattr(value, "counts", 0) for value in (a, b))
    stacked = max(a.ndim, b.ndim) if min(a.ndim, b.ndim) > 1 else 0
    left, right = (laid_out(value, counts, max(stacked, value.ndim)) for value in (a, b))
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


def _joined(join: Callable[..., Any], values: Sequence[Any], axis: int = 0) -> Batched:
    """Return what a library's ``concat`` or ``stack`` makes of values, of which one is many."""
    counts = max(value.counts for value in values)
    arrays = [laid_out(value, counts, value.ndim) for value in values]
    xp = library_of(arrays[0])
    counted = np.broadcast_shapes(*(array.shape[:counts] for array in arrays))
    alike = [xp.broadcast_to(array, counted + array.shape[counts:]) for array in arrays]
    return Batched(join(alike, axis=counts + axis if axis >= 0 else axis), counts)


class _Functions(Namespace):
    """A library's functions of many values at once."""

    def __getattr__(self, name: str) -> Any:
        """Return a function or a constant."""
        found = getattr(self.functions, name)
        if name in ENTRYWISE:
            return partial(entrywise, found)
        if name == "astype":
            return lambda x, kind: x.like(found(x.array, kind))
        if name in METHODS:
            return getattr(Batched, METHODS[name])
        if name in ("concat", "stack"):
            return partial(_joined, found)
        if name == "matrix_transpose":
            return lambda x: x.T
        is_constant = not callable(found) or isinstance(found, type)
        if isinstance(found, ModuleType) or not (is_constant or name == "isdtype"):
            raise NotBatchedError(f"{name} is not evaluated at many values at once")
        return found
