r"""Sums of arrays whose error does not grow with the number of terms.

A library may add along an axis from one end to the other, as NumPy does along every axis but the
last in memory; of m terms that errs by up to :math:`m u \sum|a|`, with u the unit roundoff.  Here a
long axis is cut into short runs, whose sums are added in the same way: an error of a few u, however
many terms there are.

Nothing but splitting, on views, and summing is asked of a library, so derivatives pass through.  A
library that adds row by row is given long rows, which is several times as fast where units are few.

Of a view in PyTorch whose rows do not follow one another in memory, such as some of the columns of
a map, the rows are added in a chain all the same.  It shows where they are short and many: of
66,000 rows of eight equal entries the sum errs by 10,000 u.  A contiguous copy is added as above.

Source: Higham 2002, "Accuracy and stability of numerical algorithms", Sect. 4.2 (pairwise
summation).

>>> import numpy as np
>>> tenths = np.full((1_000_000, 2), 0.1, dtype=np.float32)
>>> tenths.sum(axis=0).round(), total(tenths, 0).round()
(array([100958., 100958.], dtype=float32), array([[100000., 100000.]], dtype=float32))
"""

from __future__ import annotations

import sys
from math import prod
from typing import Any

from array_api_compat import array_namespace, is_numpy_array
from numpy import ndarray

SHORT = 32
"""The most terms that are added in one chain."""

RUN = 8
"""The terms of a chain where there are more."""

ABREAST = 4
"""So many parts of a run are added entry by entry where the sum is compiled."""

ROW = 1024
"""The entries, about, that are added to as many others in one call."""


def total(a: Any, axis: int | tuple[int, ...]) -> Any:
    """Return the sum over axes, which are kept with length one."""
    axes = (axis,) if isinstance(axis, int) else axis
    if is_tensor(a):
        return _total_of_tensor(a, axes)
    # Where NumPy's own sum will do, to ask which library it is takes longer than to add.
    if type(a) is ndarray and (a.size <= SHORT or a.dtype == object):
        return a.sum(axis=axes, keepdims=True)
    xp = array_namespace(a)
    if prod(a.shape[i] for i in axes) <= SHORT or not _is_rounded(xp, a):
        return xp.sum(a, axis=axes, keepdims=True)
    groups = neighbours(sorted(i % a.ndim for i in axes))
    if _are_added_in_pairs(a, groups):
        return xp.sum(a, axis=axes, keepdims=True)
    for together in groups:
        a = _alongneighbours(xp, a, together)
    return a


def is_tensor(a: Any) -> bool:
    """Whether an array is PyTorch's, which need not be imported to see it."""
    return hasattr(type(a), "addcmul")


def _total_of_tensor(a: Any, axes: tuple[int, ...]) -> Any:
    """Sum over neighbouring axes at a time: PyTorch adds in cascades along one or along such."""
    if prod([a.shape[i] for i in axes]) <= SHORT or not (a.is_floating_point() or a.is_complex()):
        return a.sum(axes, keepdim=True)
    groups = neighbours(sorted(i % a.ndim for i in axes))
    if len(axes) > 1 and _shares_memory(a):
        groups = [(i,) for i in axes]
    for together in groups:
        if is_compiling() and together[-1] != a.ndim - 1:
            rows = a.flatten(together[0], together[-1])
            a = _total_of_rows(rows, together[0]).unflatten(together[0], [1] * len(together))
        else:
            a = a.sum(together, keepdim=True)
    return a


def is_compiling() -> bool:
    """Whether PyTorch, which has been imported, compiles what calls this."""
    torch: Any = sys.modules["torch"]
    return bool(torch.compiler.is_compiling())


def _total_of_rows(a: Any, axis: int) -> Any:
    """Sum over an axis that a compiler goes along in one chain, a column at a time."""
    runs = a.shape[axis] // SHORT  # no divmod: compilers divide no symbols by it
    left = a.shape[axis] - runs * SHORT
    if runs < 2:
        return a.sum(axis, keepdim=True)
    in_runs = a.narrow(axis, 0, runs * SHORT).unflatten(axis, (runs, ABREAST, SHORT // ABREAST))
    first, *others = in_runs.unbind(axis + 1)  # each is read along its rows, a chain across them
    result = _total_of_rows(sum(others, first).sum(axis + 1), axis)
    if left:
        result = result + a.narrow(axis, runs * SHORT, left).sum(axis, keepdim=True)
    return result


def _shares_memory(a: Any) -> bool:
    """Whether a tensor is broadcast or a view of windows: there are no cascades along such axes."""
    steps = [step for step, length in zip(a.stride(), a.shape, strict=True) if length > 1]
    return len({0, *steps}) <= len(steps)


def _is_rounded(xp: Any, a: Any) -> bool:
    return bool(xp.isdtype(a.dtype, ("real floating", "complex floating")))


def neighbours(axes: list[int]) -> list[tuple[int, ...]]:
    """Return the axes that stand together, the last ones first.

    >>> neighbours([0, 2, 3])
    [(2, 3), (0,)]
    """
    found: list[tuple[int, ...]] = []
    for axis in reversed(axes):
        if found and found[-1][0] == axis + 1:
            found[-1] = (axis, *found[-1])
        else:
            found.append((axis,))
    return found


def _alongneighbours(xp: Any, a: Any, axes: tuple[int, ...]) -> Any:
    before, behind = a.shape[: axes[0]], a.shape[axes[-1] + 1 :]
    length = prod(a.shape[i] for i in axes)
    sums = _along(xp, xp.reshape(a, (*before, length, *behind)), axes[0])
    return xp.reshape(sums, (*before, *(1 for _ in axes), *behind))


def _along(xp: Any, a: Any, axis: int) -> Any:
    length = a.shape[axis]
    if length <= SHORT or _is_added_in_pairs(a, axis):
        return xp.sum(a, axis=axis, keepdims=True)
    before, behind = a.shape[:axis], a.shape[axis + 1 :]
    rows = max(1, min(length // RUN, ROW // max(prod(behind), 1)))
    runs = length // (RUN * rows)
    whole = runs * RUN * rows
    every = (slice(None),) * axis
    in_runs = xp.reshape(a[(*every, slice(whole), ...)], (*before, runs, RUN, rows, *behind))
    sums = xp.reshape(xp.sum(in_runs, axis=axis + 1), (*before, runs * rows, *behind))
    result = _along(xp, sums, axis)
    if whole < length:
        result = result + _along(xp, a[(*every, slice(whole, None), ...)], axis)
    return result


def _are_added_in_pairs(a: Any, groups: list[tuple[int, ...]]) -> bool:
    """Whether NumPy adds in pairs along the last axes in memory, and few of such sums."""
    last, *others = groups
    few = prod(a.shape[i] for group in others for i in group) <= SHORT
    return few and last[-1] == a.ndim - 1 and is_numpy_array(a) and a.flags.c_contiguous


def _is_added_in_pairs(a: Any, axis: int) -> bool:
    """Whether NumPy adds in pairs along an axis: one that alone is the last in memory.

    Where an array is broadcast, or a view of windows, other axes have steps no longer.
    """
    if not is_numpy_array(a) or a.strides[axis] != a.itemsize:
        return False
    steps = zip(a.strides, a.shape, strict=True)
    return sum(abs(step) <= a.itemsize for step, length in steps if length > 1) == 1
