r"""Windows: the part of a padded map that one entry of a convolution kernel meets.

Index convention, for the whole package: maps ``h`` have the shape ``(batch, channel, r, s)``, the
kernel k x k is odd, and :math:`K = (k-1)/2`.  Entry (t, a) of the kernel, counted from 0, meets

.. math:: h(i \cdot \text{stride} + (t - K)\,\text{dilation},\;
            j \cdot \text{stride} + (a - K)\,\text{dilation})

to give the output at (i, j) with ``padding="same"``, where h is zero outside of the map and i, j
start at 0 and end where the middle of the kernel would leave it.  With ``"valid"`` K is to be
replaced by zero in this formula, and i, j start at 0 and end where an entry of the kernel would
leave the map.  The formulas take this geometry as ``kernel, stride, dilation, padding``.

Source: Lange, Helfrich and Ye 2022, sect. 4; stride, dilation and valid padding are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

from theory.arithmetic.constants import zeros

ENTRIES = 2**22
"""Of a temporary array, about: more save calls, fewer save memory."""


class Geometry(NamedTuple):
    """How a kernel moves over a map."""

    kernel: int
    stride: int = 1
    dilation: int = 1
    padding: str = "same"

    def margin(self) -> int:
        """Return the number of zeros on each side."""
        return self.kernel // 2 * self.dilation if self.padding == "same" else 0

    def output(self, n: int) -> int:
        """Return how many outputs stand along n entries.

        >>> Geometry(3).output(5), Geometry(3, padding="valid").output(5), Geometry(3, 2).output(5)
        (5, 3, 3)
        """
        reach = (self.kernel - 1) * self.dilation
        return max((n + 2 * self.margin() - reach - 1) // self.stride + 1, 0)

    def slices(self, n: int) -> list[slice]:
        """Return, for each entry of the kernel, what it meets along n entries and their margins."""
        last = (self.output(n) - 1) * self.stride
        starts = range(0, self.kernel * self.dilation, self.dilation)
        return [slice(start, start + last + 1, self.stride) for start in starts]


def pad(h: Any, rows: int, columns: int) -> Any:
    """Return the maps with zeros around them."""
    if rows == columns == 0:
        return h
    *batch, r, s = h.shape
    padded = zeros((*batch, r + 2 * rows, s + 2 * columns), h)
    padded[..., rows : rows + r, columns : columns + s] = h
    return padded


def windows(h: Any, geometry: Geometry) -> Iterator[Any]:
    """Yield what each entry of the kernel meets, row by row of the kernel: (..., r', s').

    >>> import numpy as np
    >>> h = np.array([[1, 2], [3, 4]])
    >>> list(windows(h, Geometry(3)))[0]  # the upper left entry of the kernel
    array([[0, 0],
           [0, 1]])
    """
    if geometry.padding == "same":  # as far apart as a map is long, all but the middle meet zeros
        most = max(*h.shape[-2:], 1)
        geometry = geometry._replace(dilation=min(geometry.dilation, most))
    padded = pad(h, geometry.margin(), geometry.margin())
    for rows in geometry.slices(h.shape[-2]):
        for columns in geometry.slices(h.shape[-1]):
            yield padded[..., rows, columns]


def outputs(h: Any, geometry: Geometry) -> tuple[int, int]:
    """Return the size of the output's maps, (r', s')."""
    return geometry.output(h.shape[-2]), geometry.output(h.shape[-1])


def chunks(count: int, entries_each: int, chunk: int | None = None) -> Iterator[slice]:
    """Yield the batch in parts of ``chunk`` examples, or of about :data:`ENTRIES` entries.

    >>> list(chunks(5, 2**21))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = chunk or max(ENTRIES // max(entries_each, 1), 1)
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


def rows_of(h: Any, geometry: Geometry) -> int:
    """Return the number of rows of the unfolded matrix, N r' s'."""
    return h.shape[0] * prod(outputs(h, geometry))
