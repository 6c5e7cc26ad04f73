r"""The convolution of sect. 4 and its matrix, literally: entry by entry, from the text's indices.

Index convention: places (u, v) of a map are counted from 1, and a map is zero at every place
outside of it.  vec runs through rows first, as in the text.  Shapes: maps ``h (N, c, r, s)``,
weights ``w (d, c, k, k)``, bias ``b (d,)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from array_api_compat import array_namespace, device

Place = tuple[int, int]
OUTSIDE: Place = (0, 0)


def gathered(h: Any, places: Iterable[Place]) -> Any:
    """Return every map's entries at some places, ``(N, c, places)``."""
    xp, (N, c, r, s) = array_namespace(h), h.shape
    entries = xp.concat([xp.reshape(h, (N, c, r * s)), 0 * h[:, :, :1, 0]], axis=2)
    inside = ((1 <= u <= r and 1 <= v <= s, (u - 1) * s + v - 1) for u, v in places)
    return entries[:, :, [index if is_inside else r * s for is_inside, index in inside]]


def total(h: Any, places: Iterable[Place]) -> Any:
    """Return the sum over the batch and some places, a number for each channel, ``(c,)``."""
    # With a place outside even the sum over no place is a number of h's arithmetic.
    return gathered(h, [*places, OUTSIDE]).sum(2).sum(0)


def whole(h: Any) -> list[Place]:
    """Return the places of a map."""
    r, s = h.shape[2:]
    return [(u, v) for u in range(1, r + 1) for v in range(1, s + 1)]


def window(h: Any, k: int, t: int, a: int) -> list[Place]:
    r"""Return the places that :math:`w(t, a)` meets, the ranges of (19)."""
    (r, s), m = h.shape[2:], (k - 1) // 2
    return [(u, v) for u in range(t - m, r + t - m) for v in range(a - m, s + a - m)]


def taps(k: int) -> list[tuple[int, int]]:
    """Return (t, a) of every entry of the kernel, row by row."""
    return [(t, a) for t in range(1, k + 1) for a in range(1, k + 1)]


def by_tap(values: list[Any], k: int) -> Any:
    """Return numbers for each channel, listed by tap, as ``(c, k, k)``."""
    xp = array_namespace(values[0])
    return xp.reshape(xp.stack(values, axis=1), (-1, k, k))


def convolution(h: Any, w: Any, b: Any) -> Any:
    r"""Return the outputs ``(N, d, r, s)`` as defined before (16).

    .. math:: a(i, j, d) = b_d + \sum_{p,q}
              h\big(i - \tfrac{k+1}2 + p,\; j - \tfrac{k+1}2 + q\big)\, w(p, q)
    """
    (N, _, r, s), (d, _, k, _) = h.shape, w.shape
    middle = (k + 1) // 2
    outputs = b[:, None]
    for p, q in taps(k):
        met = gathered(h, [(i - middle + p, j - middle + q) for i, j in whole(h)])
        outputs = outputs + w[:, :, p - 1, q - 1] @ met
    return array_namespace(h).reshape(outputs, (N, d, r, s))


def vec(maps: Any) -> Any:
    """Return the vec of every map, one below the other: ``(N r s, d)``."""
    xp = array_namespace(maps)
    return xp.reshape(xp.permute_dims(maps, (0, 3, 2, 1)), (-1, maps.shape[1]))


def unvec(column: Any, h: Any) -> Any:
    """Return the maps, ``(N, 1, r, s)``, of which a column is the :func:`vec`."""
    xp, (N, _, r, s) = array_namespace(h), h.shape
    return xp.permute_dims(xp.reshape(column, (N, s, r, 1)), (0, 3, 2, 1))


def stacked(w: Any, b: Any) -> Any:
    r"""Return :math:`\hat w` of (17), one column for each output: ``(k^2 c + 1, d)``."""
    xp = array_namespace(w)
    omega = xp.reshape(xp.permute_dims(w, (1, 3, 2, 0)), (-1, w.shape[0]))
    return xp.concat([b[None, :], omega], axis=0)


def unstacked(column: Any, k: int) -> tuple[Any, Any]:
    r"""Return the weights ``(1, c, k, k)`` and the bias ``(1,)`` of one :math:`\hat w`."""
    xp = array_namespace(column)
    weights = xp.permute_dims(xp.reshape(column[1:], (1, -1, k, k)), (0, 1, 3, 2))
    return weights, column[:1]


def blocks(h: Any, k: int) -> Any:
    r"""Return :math:`H_p^{(i)}` by the block formula below (16), ``(N, c, r s, k^2)``."""
    (N, c, r, s), m = h.shape, (k - 1) // 2
    first = 1 - m
    places = [
        (first + a + b, u - m + (t - 1))
        for t in range(1, s + 1)
        for a in range(r)
        for u in range(1, k + 1)
        for b in range(k)
    ]
    return array_namespace(h).reshape(gathered(h, places), (N, c, r * s, k * k))


def augmented(h: Any, k: int) -> Any:
    r"""Return :math:`\hat{\mathcal H} = [e, \mathcal H]` of (18), ``(N r s, k^2 c + 1)``."""
    xp, N = array_namespace(h), h.shape[0]
    matrices = xp.permute_dims(blocks(h, k), (0, 2, 1, 3))
    matrix = xp.reshape(matrices, (N * matrices.shape[1], -1))
    one = xp.ones((matrix.shape[0], 1), dtype=h.dtype, device=device(h))
    return xp.concat([one, matrix], axis=1)
