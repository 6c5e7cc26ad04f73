r"""Sums, means and variances of the columns of :math:`\mathcal H`, exact for every column.

A column is that of a kernel's entry (t, a) in channel p: what it meets in all N r' s' windows, the
zeros of the padding included.  Results have the shape ``(channel, k, k)``, indexed (p, t, a).
Only sums over the batch meet the windows, so the cost hardly depends on k.

Source: Lange, Helfrich and Ye 2022, eq. (19) and (20).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic import mean
from theory.arithmetic.sums import total
from theory.convolution.windows import Geometry, chunks, rows_of, windows


def column_sums(
    h: Any, kernel: int, *, stride: int = 1, dilation: int = 1, padding: str = "same"
) -> Any:
    r"""Return :math:`\mathcal H^\top e`, ``(channel, k, k)``."""
    xp = array_namespace(h)
    geometry = Geometry(kernel, stride, dilation, padding)
    over_batch = xp.astype(total(h, 0), h.dtype, copy=False)[0, ...]
    return _by_entry(geometry, (_sum(window) for window in windows(over_batch, geometry)))


def column_means(
    h: Any, kernel: int, *, stride: int = 1, dilation: int = 1, padding: str = "same"
) -> Any:
    r"""Return the mean of each column, ``(channel, k, k)``.

    .. math:: \mu(t, a, p) = \frac1{Nrs}\sum_{n=1}^N\sum_u\sum_v h^{(n)}(u, v, p)

    over the window of (t, a), h being zero outside of the map.

    Source: Lange, Helfrich and Ye 2022, eq. (19).

    >>> import numpy as np
    >>> column_means(np.array([[[[1.0, 2.0, 6.0]]]]), 3)[0, 1, :]  # the kernel's middle row
    array([1.        , 3.        , 2.66666667])
    """
    geometry = Geometry(kernel, stride, dilation, padding)
    return column_sums(h, **geometry._asdict()) / rows_of(h, geometry)


def column_variances(
    h: Any,
    kernel: int,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: str = "same",
    chunk: int | None = None,
) -> Any:
    r"""Return the biased variance of each column, ``(channel, k, k)``.

    .. math:: \sigma^2(t, a, p) = \frac1{Nrs}\sum_{n=1}^N\sum_u\sum_v
              (h^{(n)}(u, v, p) - \mu(t, a, p))^2

    computed as the variance within pixels plus that between them, of entries less the first
    example's: that rounds little beside an offset, and moves no column by more than its spread
    accounts for.  So an offset costs no digits but those that it has taken from h itself.

    Source: Lange, Helfrich and Ye 2022, eq. (20).

    >>> import numpy as np
    >>> 9 * column_variances(np.array([[[[1.0, 2.0, 6.0]]]]), 3)[0, 1, :]  # of 0 1 2, 1 2 6, 2 6 0
    array([ 6., 42., 56.])
    """
    geometry = Geometry(kernel, stride, dilation, padding)
    first = h[:1, ...]
    further: Any = 0  # how far the pixels' means are from the first example
    within: Any = 0
    parts = list(chunks(h.shape[0], prod(h.shape[1:]), chunk))
    for part in parts:
        further = further + total(h[part, ...] - first, 0) / h.shape[0]
    for part in parts:
        deviations = h[part, ...] - first - further
        within = within + total(deviations * deviations, 0) / h.shape[0]
    met = (windows(pixels[0, ...], geometry) for pixels in (first, further, within))
    return _by_entry(geometry, (_variance(*column) for column in zip(*met, strict=True)))


def _sum(window: Any) -> Any:
    """Sum row by row, and then the rows: PyTorch adds those of a view in one chain."""
    sums = total(total(window, -1), -2)
    return array_namespace(window).astype(sums, window.dtype, copy=False)[..., 0, 0]


def _variance(first: Any, further: Any, within: Any) -> Any:
    """The variance of a column from its pixels: the mean of each, in two parts, and the variance.

    No sum of the two parts is taken before an offset has left the first of them.
    """
    centred = first - first[..., :1, :1] + further
    centred = centred - mean(centred, (-2, -1))
    return mean(within + centred * centred, (-2, -1))[..., 0, 0]


def _by_entry(geometry: Geometry, channels: Iterable[Any]) -> Any:
    """Stack one number for each channel, (c,), over the kernel's entries: (c, k, k)."""
    stacked = list(channels)
    xp, k = array_namespace(stacked[0]), geometry.kernel
    return xp.reshape(xp.stack(stacked, axis=-1), (-1, k, k))
