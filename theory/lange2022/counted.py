"""Arrays of which only the shape is known, and that count what is done to them.

They run formulas made of + - * / and @: an operation between two arrays counts one for each entry
of the result.  A sum of p terms counts p - 1 additions, or p where a sum starts from zero; a square
root, a maximum, a sign and a computation with plain numbers count nothing.

>>> work = Work()
>>> H = Counted((3, 2), work)  # three examples of two features
>>> _ = (H - H.sum(0) / 3) * 2.0  # 2 * 2 additions, 2 divisions, 6 subtractions, 6 products
>>> work.done
18
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np


@dataclass
class Work:
    """How many operations were done, and how sums are counted."""

    from_zero: bool = False
    """Whether a sum of p terms counts p additions, not p - 1."""
    done: int = 0

    def additions(self, terms: int) -> int:
        """Return the number of additions of a sum."""
        return terms if self.from_zero else terms - 1


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
        self.work.done += prod(shape) * (terms + self.work.additions(terms))
        return Counted(shape, self.work)

    def __getitem__(self, index: Any) -> Counted:
        return Counted(np.broadcast_to(0, self.shape)[index].shape, self.work)

    def sum(self, axis: int) -> Counted:
        """Return the sums along an axis."""
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        self.work.done += prod(shape) * self.work.additions(self.shape[axis])
        return Counted(shape, self.work)
