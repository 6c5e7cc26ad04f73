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

Memory: each chunk is laid out as (row, column and example, channel), where the columns of a
rectangle are a slice of each row.  So no map is padded, and only short rows are copied for a shift;
for that, maps with more rows than columns are turned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import add
from typing import Any, NamedTuple, TypeVar

from array_api_compat import array_namespace

from theory.arithmetic.constants import zeros
from theory.arithmetic.operations import products
from theory.arithmetic.sums import total
from theory.convolution.windows import chunks

Summand = TypeVar("Summand", bound=Any)

_IN_A_CHAIN = 2**12
"""So many positions of a row are left to a library's product, which may add them in a chain."""


class _Pairs(NamedTuple):
    """Places z, of a range, and z + |distance| along an axis; the other way round if negative."""

    distance: int
    start: int
    stop: int


@dataclass(frozen=True)
class _Sums:
    """Sums over some pairs of rows, for each of the ranges of pairs of columns."""

    of: dict[_Pairs, Any]

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums({columns: block + other.of[columns] for columns, block in self.of.items()})


def blocks(h: Any, kernel: int, chunk: int | None = None) -> Iterator[tuple[int, int, Any]]:
    """Yield (i, j, block (c, c)) for entries i <= j of the kernel, numbered row by row.

    Those blocks are missing that vanish, because the map has fewer rows or columns than lie between
    i and j.
    """
    if h.shape[-2] > h.shape[-1]:
        turned = array_namespace(h).permute_dims(h, (0, 1, 3, 2))
        for i, j, block in blocks(turned, kernel, chunk):
            i, j = (place % kernel * kernel + place // kernel for place in (i, j))
            yield (i, j, block) if i <= j else (j, i, block.T)
        return
    count, c, r, s = h.shape
    totals: dict[_Pairs, _Sums] = {}
    for part in chunks(count, c * r * s, chunk):
        for rows, sums in _of_rows(h[part, ...], kernel):
            totals[rows] = totals[rows] + sums if rows in totals else sums
    for (t, u), sums in _entries(totals, r, kernel // 2):
        for (a, b), block in _entries(sums.of, s, kernel // 2):
            yield t * kernel + a, u * kernel + b, block


def _of_rows(h: Any, kernel: int) -> Iterator[tuple[_Pairs, _Sums]]:
    """Yield the sums over each of the ranges of pairs of rows."""
    xp, (count, c, r, s) = array_namespace(h), h.shape
    laid_out = zeros((r, s, count, c), h)
    laid_out[...] = xp.permute_dims(h, (2, 3, 0, 1))
    maps = xp.reshape(laid_out, (r, s * count, c))
    for rows in _needed(r, kernel):
        d, start, stop = rows
        upper, lower = maps[start:stop, ...], maps[start + d : stop + d, ...]
        sums = {}
        for e, first, last in _needed(s, kernel):
            low, high = (slice((first + x) * count, (last + x) * count) for x in (0, e))
            sums[_Pairs(e, first, last)] = _product(upper[:, low, :], lower[:, high, :])
            if d and e:
                sums[_Pairs(-e, first, last)] = _product(upper[:, high, :], lower[:, low, :])
        yield rows, _Sums(sums)


def _product(a: Any, b: Any) -> Any:
    """Return the sum of products a(z) b(z)' over positions z of (row, column and example, channel).

    Of rows one by one, which copies none but holds a product for each; of copies where those would
    be far larger than the rows.
    """
    xp, (rows, positions, c) = array_namespace(a), a.shape
    if rows == 1 or 4 * positions < c:
        return products(*(xp.reshape(part, (rows * positions, c)) for part in (a, b)))
    if positions > _IN_A_CHAIN:
        half = positions // 2
        front = _product(a[:, :half, :], b[:, :half, :])
        return front + _product(a[:, half:, :], b[:, half:, :])
    of_rows = xp.matmul(xp.matrix_transpose(a), b)
    return xp.astype(total(of_rows, 0), a.dtype, copy=False)[0, ...]


def _needed(length: int, kernel: int) -> Iterator[_Pairs]:
    """Yield the ranges of pairs that a block has all of or none of, for distances from zero on."""
    for d in range(min(kernel, length)):
        yield from chain(*_parts(length, d, kernel // 2))


def _parts(length: int, d: int, K: int) -> tuple[list[_Pairs], list[_Pairs], list[_Pairs]]:
    """Return the ranges of places z to be paired with z + |d|.

    Those at the beginning that may be missing, each by itself; all that are not; those at the end.
    Where every one may be, each is of the first.
    """
    edge, pairs = max(K - abs(d), 0), length - abs(d)

    def each(start: int, stop: int) -> list[_Pairs]:
        return [_Pairs(d, z, z + 1) for z in range(start, stop)]

    if pairs <= 2 * edge:
        return each(0, pairs), [], []
    return each(0, edge), [_Pairs(d, edge, pairs - edge)], each(pairs - edge, pairs)


def _entries(
    sums: Mapping[_Pairs, Summand], length: int, K: int
) -> Iterator[tuple[tuple[int, int], Summand]]:
    """Yield the kernel's entries along one axis and the sum over the pairs that they meet."""
    for d in dict.fromkeys(d for d, _, _ in sums):
        first, core, last = ([sums[part] for part in parts] for parts in _parts(length, d, K))
        if core:
            yield from _along(core[0], first, last, d, K)
        else:
            yield from _of_few(first, d, K, length)


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
