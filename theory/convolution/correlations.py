r"""The structure of :math:`\mathcal H^\top\mathcal H`: correlations of maps, and their ends.

The block of the kernel's entries at offsets a and b from the middle is the sum over outputs x of
:math:`h(x + a)\,h(x + b)^\top`, a matrix c x c.  If x could stand anywhere, h being zero outside,
that were the correlation at the shift :math:`d = b - a`, one of :math:`(2k-1)^2`; and opposite
shifts are transposes.  Along one axis the block is the sum of the pairs :math:`h(z)\,h(z + d)^\top`
over all z, unless a and b have the same sign; then the pairs at one end are missing.  What no
block misses is summed once, the pairs at the ends each by itself, and a block adds up its own:
nothing is subtracted, so that no digits are lost where an end is far larger than the inside.

Applied to rows, and inside of them to columns, that takes :math:`(2k-1)^2/2` large products of
c x c where the definition takes :math:`k^4`, and a few small ones for the ends.  Of an axis that
is no longer than both ends together every pair is summed by itself.

Memory: each chunk is laid out as (row, example, column, channel), with K zeros at both ends of
the columns.  So rows of all examples are one matrix (positions, c), a shift of columns is a shift
of positions, and no shifted copy is made; of one copy the columns at the ends are zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from math import prod
from operator import add
from typing import Any, TypeVar

from array_api_compat import array_namespace

from theory.arithmetic.constants import zeros
from theory.convolution.windows import chunks

Summand = TypeVar("Summand", bound=Any)


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
    """Rows of the maps of a chunk, rows outermost, with K zeros at both ends of the columns.

    ``maps`` are (row, example, K + column + K, channel); ``inner`` are the same, with zeros for
    the first and the last K columns; ``columns`` is the number of columns.
    """

    maps: Any
    inner: Any
    columns: int

    @classmethod
    def of(cls, h: Any, K: int) -> _Rows:
        """Lay out maps (example, channel, row, column)."""
        xp = array_namespace(h)
        count, c, r, s = h.shape
        maps = zeros((r, count, s + 2 * K, c), h)
        maps[:, :, K : K + s, :] = xp.permute_dims(h, (2, 0, 3, 1))
        inner = zeros(maps.shape, h)
        inner[:, :, 2 * K : s, :] = maps[:, :, 2 * K : s, :]
        return cls(maps, inner, s)

    def rows(self, start: int, stop: int) -> _Rows:
        """Return some of the rows."""
        return _Rows(self.maps[start:stop, ...], self.inner[start:stop, ...], self.columns)

    def strip(self, start: int, stop: int) -> Any:
        """Return (row and example, some columns' channels)."""
        rows, count, padded, channels = self.maps.shape
        K = (padded - self.columns) // 2
        columns = self.maps[:, :, K + start : K + stop, :]
        return array_namespace(columns).reshape(columns, (rows * count, (stop - start) * channels))


@dataclass(frozen=True)
class _Sums:
    """Sums over some pairs of rows: of pairs of columns that no block misses, and at the ends.

    ``shifts`` has the former by their distance; ``ends`` are matrices of the first and the last K
    columns, (K c, K c), or one of all columns where they are 2 K or fewer.
    """

    shifts: dict[int, Any]
    ends: tuple[Any, ...]
    width: int
    """The number of columns that each of the ends has."""

    @classmethod
    def over(cls, upper: _Rows, lower: _Rows, kernel: int) -> _Sums:
        """Sum over pairs of rows, one of each."""
        K, s = kernel // 2, upper.columns
        if s <= 2 * K:
            return cls({}, (upper.strip(0, s).T @ lower.strip(0, s),), s)
        shifts = {d: _shifted(upper, lower, d, K) for d in range(min(kernel, s))}
        for d in range(1, min(kernel, s)):
            shifts[-d] = shifts[d].T if upper is lower else _shifted(lower, upper, d, K).T
        first = upper.strip(0, K).T @ lower.strip(0, K)
        last = upper.strip(s - K, s).T @ lower.strip(s - K, s)
        return cls(shifts, (first, last), K)

    def __add__(self, other: _Sums) -> _Sums:
        shifts = {d: shift + other.shifts[d] for d, shift in self.shifts.items()}
        return _Sums(shifts, tuple(map(add, self.ends, other.ends)), self.width)

    def blocks_of_columns(self, kernel: int) -> Iterator[tuple[tuple[int, int], Any]]:
        """Yield the kernel's columns (t, a) and their block."""
        K = kernel // 2
        if not self.shifts:
            (every,), most = self.ends, min(kernel, self.width)
            for d in range(1 - most, most):
                yield from _of_few(self._pairs(every, d), d, K, self.width)
        for d, core in self.shifts.items():
            first, last = (self._pairs(end, d) for end in self.ends)
            yield from _along(core, first, last, d, K)

    def _pairs(self, end: Any, d: int) -> list[Any]:
        """Return the products of the pairs of columns z and z + d that one of the ends has."""
        c = end.shape[0] // max(self.width, 1)
        places = range(max(0, -d), self.width - max(0, d))
        return [end[z * c : (z + 1) * c, (z + d) * c : (z + d + 1) * c] for z in places]


def _shifted(x: _Rows, y: _Rows, d: int, K: int) -> Any:
    """Sum over the pairs of columns z and z + d, but for those that a block may miss."""
    whole = d >= K
    a, b = _matrix(x.maps), _matrix(y.maps if whole else y.inner)
    total = a[: a.shape[0] - d, :].T @ b[d:, :]
    if whole or d == 0:
        return total
    s, c = x.columns, x.maps.shape[-1]
    left, right = (
        array_namespace(a).reshape(strip, (-1, c))
        for strip in (x.strip(s - K - d, s - K), y.strip(s - K, s - K + d))
    )
    return total + left.T @ right


def _blocks_of_rows(
    h: Any, kernel: int, chunk: int | None
) -> Iterator[tuple[tuple[int, int], _Sums]]:
    """Yield the kernel's rows t <= u and the sums over the pairs of rows that they meet."""
    K, (count, c, r, s) = kernel // 2, h.shape
    totals: dict[tuple[int, int, int], _Sums] = {}
    for part in chunks(count, c * r * (s + 2 * K), chunk):
        maps = _Rows.of(h[part, ...], K)
        for d in range(min(kernel, r)):
            for start, stop in chain(*_rows_needed(r, d, K)):
                upper = maps.rows(start, stop)
                lower = maps.rows(start + d, stop + d) if d else upper
                sums, key = _Sums.over(upper, lower, kernel), (d, start, stop)
                totals[key] = totals[key] + sums if key in totals else sums
    for d in range(min(kernel, r)):
        first, core, last = (
            [totals[d, start, stop] for start, stop in part] for part in _rows_needed(r, d, K)
        )
        if core:
            yield from _along(core[0], first, last, d, K)
        else:
            yield from _of_few(first, d, K, r)


Ranges = list[tuple[int, int]]


def _rows_needed(r: int, d: int, K: int) -> tuple[Ranges, Ranges, Ranges]:
    """Return the ranges of rows z to be paired with z + d.

    Those at the beginning that may be missing, each by itself; all that are not; those at the end.
    Where every one may be, each is of the first.
    """
    edge, pairs = max(K - d, 0), r - d
    if pairs <= 2 * edge:
        return _each(0, pairs), [], []
    return _each(0, edge), [(edge, pairs - edge)], _each(pairs - edge, pairs)


def _each(start: int, stop: int) -> Ranges:
    return [(z, z + 1) for z in range(start, stop)]


def _along(
    core: Summand, first: Sequence[Summand], last: Sequence[Summand], d: int, K: int
) -> Iterator[tuple[tuple[int, int], Summand]]:
    """Yield the kernel's entries (K + a, K + a + d) and the sum over their pairs.

    Args:
        core: the sum over the pairs that none of them misses.
        first: the products of the pairs at the beginning, in their order.
        last: those at the end.
        d: the distance of both.
        K: half the kernel.
    """
    low, high = min(0, -d), max(0, -d)
    without_last = [*accumulate(first, add, initial=core)][-1]
    without_first = [*accumulate(last, add, initial=core)][-1]
    from_end = [*accumulate(reversed(first), add, initial=without_first)]
    from_start = [*accumulate(last, add, initial=without_last)]
    for a in range(max(low, high - K), min(high, low + K) + 1):
        yield (K + a, K + a + d), from_end[-1]
    for missing in range(1, len(first) + 1):
        yield (K + high + missing, K + high + missing + d), from_end[len(first) - missing]
    for missing in range(1, len(last) + 1):
        yield (K + low - missing, K + low - missing + d), from_start[len(last) - missing]


def _of_few(
    pairs: Sequence[Summand], d: int, K: int, count: int
) -> Iterator[tuple[tuple[int, int], Summand]]:
    """Yield the same where every pair may be missing: those of positions z and z + d in order."""
    begin = max(0, -d)
    for a in range(max(-K, -K - d), min(K, K - d) + 1):
        start, stop = max(a - begin, 0), min(count + a - begin, len(pairs))
        if start < stop:
            yield (K + a, K + a + d), [*accumulate(pairs[start:stop], add)][-1]


def _matrix(rows: Any) -> Any:
    """Return (all positions, last axis)."""
    return array_namespace(rows).reshape(rows, (prod(rows.shape[:-1]), rows.shape[-1]))
