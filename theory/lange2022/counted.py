"""Arrays of which only the shape is known, and that count what is done to them.

They run formulas made of + - * / and @: an operation between two arrays counts one for each entry
of the result.  A sum of k terms counts k - 1 additions, and an inner product of k terms, k products
and their sum, 2k operations; other conventions are a choice of :class:`Work`.  A square root, a
maximum, a sign and a computation with plain numbers count nothing.

>>> work = Work()
>>> H = Counted((3, 2), work)  # three examples of two features
>>> _ = (H - H.sum(0) / 3) * 2.0  # 2 * 2 additions, 2 divisions, 6 subtractions, 6 products
>>> work.done
18
>>> _ = H @ Counted((2,), work)  # 3 inner products
>>> work.done
30
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np


@dataclass
class Work:
    """How many operations were done, and how they are counted."""

    first_of_sums: int = 0
    """What the first term of a sum counts: nothing, or one where a sum starts from zero."""
    first_of_products: int = 1
    """The same of the sum in an inner product."""
    done: int = 0


class Counted:
    """An array of numbers that nobody looks at."""

    __array_ufunc__ = None
    """NumPy leaves the operations to this class."""

    def __init__(self, shape: tuple[int, ...], work: Work):
        self.shape, self.work = shape, work

    def __add__(self, other: Any) -> Counted:
        shape = np.broadcast_shapes(self.shape, getattr(other, "shape", ()))
        self.work.done += prod(shape)
        return Counted(shape, self.work)

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__

    def __neg__(self) -> Counted:
        return self

    def __matmul__(self, other: Any) -> Counted:
        shape, terms = self.shape[:-1] + other.shape[1:], self.shape[-1]
        self.work.done += prod(shape) * (2 * terms - 1 + self.work.first_of_products)
        return Counted(shape, self.work)

    def __getitem__(self, index: Any) -> Counted:
        return Counted(np.broadcast_to(0, self.shape)[index].shape, self.work)

    def sum(self, axis: int) -> Counted:
        """Return the sums along an axis."""
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        self.work.done += prod(shape) * (self.shape[axis] - 1 + self.work.first_of_sums)
        return Counted(shape, self.work)
