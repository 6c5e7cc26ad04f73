r"""The convolution as a matrix product :math:`\hat a = \hat{\mathcal H}\hat w`, and its transpose.

.. math:: \hat{\mathcal H} = [e, \mathcal H], \qquad \hat w = [b; \omega]

Index convention: a row of :math:`\mathcal H` is an output (n, i, j), the last index fastest; a
column is an entry (p, t, a) of the kernel, of channel p, row t and column a, the last index
fastest: the order of ``torch.nn.functional.unfold`` and of a weight flattened.  The paper's vec
runs through rows first; its matrix is that of the maps with rows and columns interchanged,
``unfold(permute_dims(h, (0, 1, 3, 2)), k)``.  Shapes: weights ``(out, channel, k, k)``, bias
``(out,)``, outputs ``(batch, out, r', s')``.

Source: Lange, Helfrich and Ye 2022, eq. (16)-(18) and Lemma 8.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from theory.arithmetic.constants import zeros
from theory.arithmetic.sums import total
from theory.convolution.windows import Geometry, chunks, outputs, rows_of, windows


def unfold(
    h: Any, kernel: int, *, stride: int = 1, dilation: int = 1, padding: str = "same"
) -> Any:
    r"""Return :math:`\hat{\mathcal H} = [e, \mathcal H]` itself, ``(N r' s', k^2 c + 1)``.

    For small sizes: it holds each entry of the maps k^2 times.

    Source: Lange, Helfrich and Ye 2022, eq. (18).

    >>> import numpy as np
    >>> unfold(np.array([[[[1, 2, 3]]]]), 3)[:, 4:7]  # the kernel's middle row
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 0]])
    """
    xp = array_namespace(h)
    geometry = Geometry(kernel, stride, dilation, padding)
    count = rows_of(h, geometry)
    stacked = xp.stack(list(windows(h, geometry)), axis=2)
    matrix = xp.reshape(xp.permute_dims(stacked, (0, 3, 4, 1, 2)), (count, -1))
    return xp.concat([xp.ones((count, 1), dtype=h.dtype, device=device(h)), matrix], axis=1)


def apply(
    h: Any,
    weights: Any,
    bias: Any,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: str = "same",
    chunk: int | None = None,
) -> Any:
    r"""Return :math:`\hat{\mathcal H}\hat w` as maps ``(N, out, r', s')``: the convolution.

    .. math:: a(i, j, d) = b_d + \sum_{p,t,a} h(i + t - K, j + a - K, p)\, w(t, a, p, d)

    ``chunk`` is the number of examples taken at once.

    Source: Lange, Helfrich and Ye 2022, Lemma 8.
    """
    xp = array_namespace(h, weights, bias)
    geometry = Geometry(weights.shape[-1], stride, dilation, padding)
    d, size = weights.shape[0], outputs(h, geometry)
    entries = _entries(weights)
    result = zeros((h.shape[0], d, *size), h)
    for part in chunks(h.shape[0], (h.shape[1] + d) * size[0] * size[1], chunk):
        total = xp.reshape(bias, (1, d, 1))
        for w, window in zip(entries, windows(h[part, ...], geometry), strict=True):
            total = total + w @ _flat(window)
        result[part, ...] = xp.reshape(total, (-1, d, *size))
    return result


def apply_transposed(
    h: Any,
    v: Any,
    kernel: int,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: str = "same",
    chunk: int | None = None,
) -> tuple[Any, Any]:
    r"""Return :math:`\hat{\mathcal H}^\top v` as weights and bias, for maps ``v (N, out, r', s')``.

    With v the loss's gradient in the outputs, these are its gradients in the weights and the bias.

    Source: Lange, Helfrich and Ye 2022, proof of Prop. 9.
    """
    xp = array_namespace(h, v)
    geometry = Geometry(kernel, stride, dilation, padding)
    c, d = h.shape[1], v.shape[1]
    entries = [zeros((d, c), h) for _ in range(kernel**2)]
    for part in chunks(h.shape[0], (c + d) * v.shape[2] * v.shape[3], chunk):
        upstream = _examples_inside(v[part, ...])
        for i, window in enumerate(windows(h[part, ...], geometry)):
            entries[i] = entries[i] + upstream @ _examples_inside(window).T
    weights = xp.reshape(xp.stack(entries, axis=2), (d, c, kernel, kernel))
    return weights, xp.astype(total(v, (0, 2, 3)), v.dtype, copy=False)[0, :, 0, 0]


def flatten(weights: Any, bias: Any) -> Any:
    r"""Return :math:`\hat w = [b; \omega]`, one column for each output: ``(k^2 c + 1, out)``.

    Source: Lange, Helfrich and Ye 2022, eq. (17).
    """
    xp = array_namespace(weights, bias)
    d = weights.shape[0]
    return xp.concat([xp.reshape(bias, (1, d)), xp.reshape(weights, (d, -1)).T], axis=0)


def unflatten(vector: Any, kernel: int) -> tuple[Any, Any]:
    """Return the weights and the bias of which ``vector`` is the :func:`flatten`."""
    xp = array_namespace(vector)
    weights = xp.reshape(vector[1:, :].T, (vector.shape[1], -1, kernel, kernel))
    return weights, vector[0, :]


def _entries(weights: Any) -> list[Any]:
    """Return one matrix (out, channel) for each entry of the kernel, in the windows' order."""
    k = weights.shape[-1]
    return [weights[:, :, t, a] for t in range(k) for a in range(k)]


def _flat(maps: Any) -> Any:
    """Return (batch, channel, r' s')."""
    return array_namespace(maps).reshape(maps, (*maps.shape[:2], -1))


def _examples_inside(maps: Any) -> Any:
    """Return (channel, batch r' s')."""
    xp = array_namespace(maps)
    return xp.reshape(xp.permute_dims(maps, (1, 0, 2, 3)), (maps.shape[1], -1))
