r"""The structure of :math:`\mathcal H^\top\mathcal H`: correlations of the maps, less their ends.

The block of the kernel's entries at offsets a and b from the middle is the sum over outputs x of
:math:`h(x + a)\,h(x + b)^\top`, a matrix c x c.  If x could stand anywhere, h being zero outside,
that were the correlation at the shift :math:`b - a`, one of :math:`(2k-1)^2`; and opposite shifts
are transposes.  Along one axis, of length n, the block is the whole correlation unless a and b
have the same sign; then the pairs at one end are missing,

.. math:: T_{a,b} = T_{a-1,b-1} - h(a-1)\,h(b-1)^\top \quad (a, b > 0), \qquad
          T_{a,b} = T_{a+1,b+1} - h(n+a)\,h(n+b)^\top \quad (a, b < 0).

Applied to rows, and inside of them to columns, that takes :math:`(2k-1)^2/2` large products of
c x c where the definition takes :math:`k^4`, and a few small ones for the ends.  Nothing is
assumed of n: with zeros beyond the ends it holds for maps smaller than the kernel too.

Memory: each chunk is laid out as (row, example, column, channel), with K zeros at both ends of
the rows and columns.  So rows of all examples are one matrix (positions, c), a shift of columns
is a shift of positions, and no shifted copy is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic.constants import zeros
from theory.convolution.windows import chunks


def blocks(h: Any, kernel: int, chunk: int | None = None) -> Iterator[tuple[int, int, Any]]:
    """Yield (i, j, block (c, c)) for entries i, j of the kernel, numbered row by row.

    Of (i, j) and (j, i), whose blocks are transposes, at least the one with i <= j; not those
    that vanish because the map has fewer rows or columns than lie between i and j.
    """
    for (t, u), sums in _blocks_of_rows(h, kernel, chunk):
        for (a, b), block in sums.blocks_of_columns(kernel):
            yield t * kernel + a, u * kernel + b, block


@dataclass(frozen=True)
class _Rows:
    """Rows of the maps of a chunk, rows outermost, with K zeros at both ends.

    ``maps`` are (row, example, K + column + K, channel); ``ends`` are (row, example, K channel),
    the first and the last K columns; ``columns`` is the number of columns.
    """

    maps: Any
    ends: tuple[Any, Any]
    columns: int

    @classmethod
    def of(cls, h: Any, K: int) -> _Rows:
        """Lay out maps (example, channel, row, column), with K rows of zeros at both ends."""
        xp = array_namespace(h)
        count, c, r, s = h.shape
        maps = zeros((r + 2 * K, count, s + 2 * K, c), h)
        maps[K : K + r, :, K : K + s, :] = xp.permute_dims(h, (2, 0, 3, 1))
        first, last = maps[:, :, K : 2 * K, :], maps[:, :, s : s + K, :]
        shape = (r + 2 * K, count, K * c)
        return cls(maps, (xp.reshape(first, shape), xp.reshape(last, shape)), s)

    def rows(self, start: int, stop: int) -> _Rows:
        """Return some of the rows."""
        first, last = (end[start:stop, ...] for end in self.ends)
        return _Rows(self.maps[start:stop, ...], (first, last), self.columns)

    def positions(self) -> Any:
        """Return (all positions, channel)."""
        return _matrix(self.maps)


@dataclass(frozen=True)
class _Sums:
    """Sums over some pairs of rows: correlations of columns by their shift, and at the ends.

    ``first`` and ``last`` are matrices (K c, K c) of the first and the last K columns.
    """

    shifts: dict[int, Any]
    first: Any
    last: Any

    @classmethod
    def over(cls, upper: _Rows, lower: _Rows, kernel: int) -> _Sums:
        """Sum over pairs of rows, one of each."""
        x, y = upper.positions(), lower.positions()
        most = min(kernel, upper.columns)  # columns farther apart do not exist
        shifts = {d: x[: x.shape[0] - d, :].T @ y[d:, :] for d in range(most)}
        for d in range(1, most):
            shifts[-d] = shifts[d].T if upper is lower else x[d:, :].T @ y[: y.shape[0] - d, :]
        first, last = (
            _matrix(a).T @ _matrix(b) for a, b in zip(upper.ends, lower.ends, strict=True)
        )
        return cls(shifts, first, last)

    def __add__(self, other: _Sums) -> _Sums:
        return self._with(other, lambda x, y: x + y)

    def __sub__(self, other: _Sums) -> _Sums:
        return self._with(other, lambda x, y: x - y)

    def _with(self, other: _Sums, both: Callable[[Any, Any], Any]) -> _Sums:
        return _Sums(
            {d: both(shift, other.shifts[d]) for d, shift in self.shifts.items()},
            both(self.first, other.first),
            both(self.last, other.last),
        )

    def blocks_of_columns(self, kernel: int) -> Iterator[tuple[tuple[int, int], Any]]:
        """Yield the kernel's columns (t, a) and their block."""
        for d, whole in self.shifts.items():
            yield from _along(whole, d, kernel // 2, self._pair_of_columns(d, kernel // 2))

    def _pair_of_columns(self, d: int, K: int) -> Callable[[int], Any]:
        c = self.shifts[0].shape[0]

        def pair(z: int) -> Any:
            end, i = (self.first, z) if z >= 0 else (self.last, K + z)
            return end[i * c : (i + 1) * c, (i + d) * c : (i + d + 1) * c]

        return pair


def _blocks_of_rows(
    h: Any, kernel: int, chunk: int | None
) -> Iterator[tuple[tuple[int, int], _Sums]]:
    """Yield the kernel's rows t <= u and the sums over the pairs of rows that they meet."""
    K, (count, c, r, s) = kernel // 2, h.shape
    totals: dict[tuple[int, int, int], _Sums] = {}
    for part in chunks(count, c * (r + 2 * K) * (s + 2 * K), chunk):
        maps = _Rows.of(h[part, ...], K)
        for d in range(min(kernel, r)):
            for start, stop in _rows_needed(r, d, K):
                upper = maps.rows(K + start, K + stop)
                lower = maps.rows(K + start + d, K + stop + d) if d else upper
                sums, key = _Sums.over(upper, lower, kernel), (d, start, stop)
                totals[key] = totals[key] + sums if key in totals else sums
    for d in range(min(kernel, r)):
        yield from _along(totals[d, 0, r - d], d, K, _single_rows(totals, d, r))


def _single_rows(
    totals: dict[tuple[int, int, int], _Sums], d: int, r: int
) -> Callable[[int], _Sums]:
    def pair(z: int) -> _Sums:
        start = z if z >= 0 else r + z
        return totals[d, start, start + 1]

    return pair


def _rows_needed(r: int, d: int, K: int) -> set[tuple[int, int]]:
    """Return the ranges of rows z to be paired with z + d: all, and those that may be missing."""
    single = [*range(K - d), *range(r - K, r - d)]
    return {(0, r - d), *((z, z + 1) for z in single)}


def _along(
    whole: Any, d: int, K: int, pair: Callable[[int], Any]
) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield the kernel's entries (K + a, K + a + d) and what the recursion makes of the whole.

    ``pair(z)`` is the product at positions z and z + d; negative ones count back from the end,
    -1 being the last.
    """
    low, high = min(0, -d), max(0, -d)
    for a in range(max(low, high - K), min(high, low + K) + 1):
        yield (K + a, K + a + d), whole
    value = whole
    for a in range(high + 1, low + K + 1):
        value = value - pair(a - 1)
        yield (K + a, K + a + d), value
    value = whole
    for a in range(low - 1, high - K - 1, -1):
        value = value - pair(a)
        yield (K + a, K + a + d), value


def _matrix(rows: Any) -> Any:
    """Return (all positions, last axis)."""
    return array_namespace(rows).reshape(rows, (prod(rows.shape[:-1]), rows.shape[-1]))
