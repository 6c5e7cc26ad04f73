r"""Gram matrices :math:`\hat{\mathcal H}^\top\hat{\mathcal H}`, without the unfolded matrix.

Index convention as in :mod:`theory.convolution.unfolded`.

Source: Lange, Helfrich and Ye 2022, eq. (18) and Prop. 9.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from theory.arithmetic.constants import zeros
from theory.convolution.correlations import blocks
from theory.convolution.moments import column_sums
from theory.convolution.unfolded import apply_transposed, flatten, unfold
from theory.convolution.windows import Geometry, chunks, outputs, rows_of, windows


def gram(
    h: Any,
    kernel: int,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: str = "same",
    chunk: int | None = None,
) -> Any:
    r"""Return :math:`\hat{\mathcal H}^\top\hat{\mathcal H}`, ``(k^2 c + 1, k^2 c + 1)``.

    Exact in integers.  ``chunk`` is how many examples are taken at once.  With a stride, a dilation
    or valid padding each chunk is unfolded; and off the CPU, where hundreds of small products take
    longer than a large one.  Otherwise :mod:`theory.convolution.correlations` does with a fraction
    of the products.

    Source: Lange, Helfrich and Ye 2022, eq. (18).

    >>> import numpy as np
    >>> gram(np.array([[[[1, 2, 3]]]]), 3)[4:7, 4:7]  # of the kernel's middle row
    array([[ 5,  8,  3],
           [ 8, 14,  8],
           [ 3,  8, 13]])
    """
    geometry = Geometry(kernel, stride, dilation, padding)
    if geometry != Geometry(kernel) or not _is_on_cpu(h):
        return _unfolded_in_chunks(h, None, geometry, chunk)
    xp, c = array_namespace(h), h.shape[1]
    matrix = _square(h, kernel)
    sums = xp.reshape(column_sums(h, kernel), (-1,))
    matrix[0, 0] = rows_of(h, geometry)
    matrix[0, 1:] = sums
    matrix[1:, 0] = sums
    found = {(i, j): block for i, j, block in blocks(h, kernel, chunk)}
    nothing = zeros((c, c), h)
    for i in range(kernel**2):
        above = [found.get((j, i), nothing).T for j in range(i)]
        right = [found.get((i, j), nothing) for j in range(i, kernel**2)]
        matrix[1 + i :: kernel**2, 1:] = xp.reshape(xp.stack(above + right, axis=2), (c, -1))
    return matrix


def weighted_gram(
    h: Any,
    S: Any,
    kernel: int,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: str = "same",
    chunk: int | None = None,
) -> Any:
    r"""Return :math:`\hat{\mathcal H}^\top S\hat{\mathcal H}`, ``(k^2 c + 1, k^2 c + 1)``.

    With S the loss's Hessian in one channel of the outputs, this is the loss's Hessian in that
    channel's bias and weights.

    Args:
        h: maps ``(N, c, r, s)``.
        S: the diagonal as an array ``(N, r', s')``, or the operator as a function of maps
            ``(N, any, r', s')`` that returns such maps, acting on each channel alike; symmetric.
        kernel: k.
        stride: see :mod:`theory.convolution.windows`, like the next two.
        dilation: the distance of the kernel's entries on the map.
        padding: ``"same"`` or ``"valid"``.
        chunk: the number of examples taken at once; an operator takes all of them, k^2 + 1
            times in turn: the ones, in one channel, then c channels at once.

    Source: Lange, Helfrich and Ye 2022, Prop. 9.
    """
    geometry = Geometry(kernel, stride, dilation, padding)
    if not callable(S):
        return _unfolded_in_chunks(h, S, geometry, chunk)
    xp = array_namespace(h)
    matrix = _square(h, kernel)

    def columns(maps: Any) -> Any:
        return flatten(*apply_transposed(h, S(maps), **geometry._asdict(), chunk=chunk))

    ones = xp.ones((h.shape[0], 1, *outputs(h, geometry)), dtype=h.dtype, device=device(h))
    matrix[:, :1] = columns(ones)
    for i, window in enumerate(windows(h, geometry)):
        matrix[:, 1 + i :: kernel**2] = columns(window)
    return matrix


def _is_on_cpu(h: Any) -> bool:
    return "cpu" in str(device(h)).lower()


def _square(h: Any, kernel: int) -> Any:
    """Return the zeros that a Gram matrix is written over."""
    size = kernel**2 * h.shape[1] + 1
    return zeros((size, size), h)


def _unfolded_in_chunks(h: Any, diagonal: Any, geometry: Geometry, chunk: int | None) -> Any:
    xp = array_namespace(h)
    r, s = outputs(h, geometry)
    total = _square(h, geometry.kernel)
    for part in chunks(h.shape[0], geometry.kernel**2 * h.shape[1] * r * s, chunk):
        matrix = unfold(h[part, ...], **geometry._asdict())
        weighted = matrix
        if diagonal is not None:
            weighted = xp.reshape(diagonal[part, ...], (-1, 1)) * matrix
        total = total + matrix.T @ weighted
    return total
