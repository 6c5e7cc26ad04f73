"""Inner product, mean, size and square root, for whatever kind of value is given.

A value that is not an array answers for itself: it has the methods of :class:`Vector`.  Anything
else is an array, and its own library does the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from math import prod
from typing import Any, Protocol, TypeGuard, runtime_checkable

from array_api_compat import array_namespace, is_array_api_obj

from theory.arithmetic.sums import is_compiling, is_tensor, total

Axes = int | tuple[int, ...]

_ROWS_AT_ONCE = 2**12
_ENTRIES_AT_ONCE = 2**19  # two megabytes in single precision


@runtime_checkable
class Vector(Protocol):
    """A vector that is not an array: it knows its inner products and its length."""

    def inner(self, other: Any) -> Any:
        """Return the inner product with another vector of the same space."""
        ...

    def length(self) -> Any:
        """Return the number of entries, which may be a symbol."""
        ...

    def mean(self) -> Any:
        """Return the average of the entries."""
        ...


def is_vector(value: Any) -> TypeGuard[Vector]:
    """Return whether a value answers for itself: no library's arrays have a ``length()``.

    An ``isinstance`` check of the protocol takes longer than most operations here.
    """
    return hasattr(value, "length")


def inner(a: Any, b: Any, axis: Axes = 0) -> Any:
    r"""Sum of products over the batch axes, :math:`\langle a, b \rangle = \sum_k a_k b_k`.

    Nothing is conjugated (unlike the standard's ``vecdot``), so that complex-step derivatives
    pass through; the summed axes are kept with length one.

    >>> import numpy as np
    >>> inner(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([11.])
    """
    if is_vector(a):
        return a.inner(b)
    return total(a * b, axis)


def products(a: Any, b: Any) -> Any:
    r"""Inner products of the columns of two matrices, :math:`A^\top B`.

    Of many rows, halves are taken one by one, since a library's product of matrices may add up
    their rows in a chain.

    >>> import numpy as np
    >>> products(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [1.0]]))
    array([[4.],
           [6.]])
    """
    if is_vector(a) or a.shape[0] <= _ROWS_AT_ONCE:
        return a.T @ b
    half = a.shape[0] // 2
    return products(a[:half, :], b[:half, :]) + products(a[half:, :], b[half:, :])


def summed(sums: Callable[..., tuple[Any, ...]], *arrays: Any, axis: Axes = 0) -> tuple[Any, ...]:
    r"""Sums over the batch of what is computed from arrays, of halves of a large batch one by one.

    What is computed on the way is then as large as a part, and still in a CPU's cache when it is
    added.

    Args:
        sums: the function of the arrays, which keeps the summed axes with length one.
        arrays: of one shape.
        axis: of the batch.

    >>> import numpy as np
    >>> summed(lambda a, b: (inner(a, b), inner(b, b)), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    (array([11.]), array([25.]))
    """
    if not _is_large(arrays[0]) or not _is_first_in_memory(arrays[0], axis):
        return sums(*arrays)
    halves = zip(*(a.tensor_split(2) for a in arrays), strict=True)
    front, behind = (summed(sums, *half, axis=axis) for half in halves)
    return tuple(a + b for a, b in zip(front, behind, strict=True))


def _is_first_in_memory(a: Any, axis: Axes) -> bool:
    """Whether halves of the batch are stretches of a CPU's memory."""
    axes = (axis,) if isinstance(axis, int) else axis
    return a.is_cpu and a.shape[0] > 1 and any(i % a.ndim == 0 for i in axes)


def _is_large(a: Any) -> bool:
    """Whether an array is PyTorch's, larger than a CPU's cache, and computed with at once.

    A compiler sees to memory itself; where a function is mapped, what is done in place is a loop.
    """
    if not is_tensor(a) or a.numel() <= _ENTRIES_AT_ONCE:
        return False
    return not is_compiling() and _is_one(a)


def _is_one(a: Any) -> bool:
    """Whether a tensor has memory of its own: it does not stand for others in a mapped function."""
    try:
        a.untyped_storage()
    except NotImplementedError:
        return False
    return True


def norm_squared(a: Any, axis: Axes = 0) -> Any:
    r"""The squared Euclidean norm :math:`\langle a, a\rangle` over the batch axes."""
    return inner(a, a, axis)


def square(a: Any) -> Any:
    """The square of a number, or the sum of the squares of all entries of a vector or a matrix.

    >>> import numpy as np
    >>> square(3), square(np.array([3, 4]))
    (9, np.int64(25))
    """
    if getattr(a, "ndim", 0):
        return (a * a).sum()
    return a.inner(a) if is_vector(a) else a * a


def combination(scale: Any, vector: Any, *terms: tuple[Any, Any]) -> Any:
    r"""A multiple of a vector plus multiples of others, :math:`s (x + \sum_i a_i x_i)`.

    One pass over memory for each term, where the library can multiply and add in one; in large
    tensors of PyTorch, sums are written over the first vector.

    Args:
        scale: a number for each unit.
        vector: the first, of the shape of the sum; made for this, as it may be written over.
        terms: pairs of a number for each unit and a vector.

    >>> import numpy as np
    >>> x, y, z = np.array([1.0, 1.0]), np.array([1.0, 3.0]), np.array([0.0, 1.0])
    >>> combination(2.0, x, (2.0, y), (-1.0, z))
    array([ 6., 12.])
    """
    if not is_tensor(vector):
        (number, other), *more = terms
        result = vector + number * other
        for number, other in more:
            result += number * other
        return scale * result
    if _is_large(vector) and {vector.dtype} == {scale.dtype, *(x.dtype for t in terms for x in t)}:
        for number, other in terms:
            vector.addcmul_(other, number)
        return vector.mul_(scale)
    for number, other in terms:
        vector = vector.addcmul(other, number)
    return scale * vector


def mean(a: Any, axis: Axes = 0) -> Any:
    """Average over the batch axes, which are kept with length one.

    >>> import numpy as np
    >>> mean(np.array([[1.0, 2.0], [3.0, 6.0]]))
    array([[2., 4.]])
    """
    if is_vector(a):
        return a.mean()
    return total(a, axis) / size(a, axis)


def size(a: Any, axis: Axes = 0) -> Any:
    """Number of entries over the batch axes: a whole number, or the symbol m.

    >>> import numpy as np
    >>> size(np.zeros((2, 3, 4, 5)), axis=(0, 2, 3))
    40
    """
    if is_vector(a):
        return a.length()
    axes = (axis,) if isinstance(axis, int) else axis
    return prod([a.shape[i] for i in axes])  # a list: compilers follow no generator


_zeros: ContextVar[list[Any] | None] = ContextVar("zeros", default=None)


@contextmanager
def taking_zeros() -> Iterator[list[Any]]:
    """Let :func:`none_zero` take values of which nobody can look at one.

    Whether one of them is zero is noted in the list that is yielded.
    """
    zeros: list[Any] = []
    token = _zeros.set(zeros)
    try:
        yield zeros
    finally:
        _zeros.reset(token)


def none_zero(values: Any, refusal: str) -> Any:
    """Return values of which none is zero.

    Raises:
        ZeroDivisionError: one is zero.

    >>> import numpy as np
    >>> none_zero(np.array([2, 3]), "a deviation is zero")
    array([2, 3])
    """
    is_zero = (values == 0).any()
    if (zeros := _zeros.get()) is not None:
        zeros.append(is_zero)
    elif is_zero:
        raise ZeroDivisionError(refusal)
    return values


def where_finite(function: Callable[[Any], Any], array: Any) -> Any:
    """Return a function of an array that refuses what is not finite.

    Where nobody can look at one value it is nan there: what divides by zero at one of several
    instances keeps no other from its own.
    """
    if _zeros.get() is None:
        return function(array)
    xp = array_namespace(array)
    is_finite = xp.all(xp.isfinite(array))
    return xp.where(is_finite, function(xp.where(is_finite, array, 0.0)), float("nan"))


def larger(a: Any, b: Any) -> Any:
    """Return the larger of two numbers; where one is a ball, a ball around it.

    >>> larger(2, 3)
    3
    """
    a, b = _alike(a, b)
    if hasattr(a, "maximum"):  # PyTorch
        return a.maximum(b)
    return a.max(b) if _is_ball(a) else max(a, b)


def smaller(a: Any, b: Any) -> Any:
    """Return the smaller of two numbers; where one is a ball, a ball around it."""
    a, b = _alike(a, b)
    if hasattr(a, "minimum"):  # PyTorch
        return a.minimum(b)
    return a.min(b) if _is_ball(a) else min(a, b)


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two numbers of one arithmetic: exact ones are not compared with balls."""
    return (a, b) if type(a) is type(b) else (a + 0 * b, b + 0 * a)


def _is_ball(x: Any) -> bool:
    return hasattr(x, "abs_upper")


def sqrt(x: Any) -> Any:
    """Non-negative square root, elementwise.

    A tensor, or a number that is exact or symbolic, is asked for its own root: its method ``sqrt``,
    or its power one half.
    """
    if not hasattr(x, "sqrt") and is_array_api_obj(x):
        if getattr(x.dtype, "kind", "") == "O":
            return _sqrt_of_objects(x)
        return array_namespace(x).sqrt(x)
    return _sqrt_of_number(x)


def _sqrt_of_number(x: Any) -> Any:
    if (root := ROOTS.get(type(x))) is not None:
        return root(x)
    return x.sqrt() if hasattr(x, "sqrt") else x ** Fraction(1, 2)


ROOTS: dict[type, Callable[[Any], Any]] = {}
"""The square roots of numbers that know only those of their own kind."""


def _sqrt_of_objects(x: Any) -> Any:
    import numpy as np

    return np.frompyfunc(_sqrt_of_number, 1, 1)(x)
