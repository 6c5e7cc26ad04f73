r"""The Gram matrix of the preconditioned :math:`\hat{\mathcal H}P`, P = UD.

U and D come from the means and deviations of the columns, (19) and (20), or from those of the
channels, (21) and (22).  With the columns' own every column but the first is centred and has the
norm of the first; with the channels' neither, if the kernel meets the padding or skips entries.

Source: Lange, Helfrich and Ye 2022, eq. (12)-(14), (19)-(23).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from verify.convolutions.arrays import ArrayLayer
from verify.convolutions.checks import Check, close
from verify.convolutions.statistics import Statistics
from verify.tolerance import Array, Outcome

COLUMNS = "L-eq-19-22"
CHANNELS = "L-alg-3"


def preconditioned(gram: Any, means: Any, deviations: Any, xp: Any) -> Any:
    r"""Return :math:`P^\top\hat{\mathcal H}^\top\hat{\mathcal H}P`, ``(n + 1, n + 1)``.

    Args:
        gram: of the unfolded matrix, ``(n + 1, n + 1)``.
        means: ``(n,)``; so many times the first column is taken from each other.
        deviations: ``(n,)``, by which those are divided.
        xp: the namespace of the arrays.

    >>> gram = np.array([[2.0, 4.0], [4.0, 10.0]])  # of the columns (1, 1) and (1, 3)
    >>> preconditioned(gram, np.array([2.0]), np.array([1.0]), np)
    array([[2., 0.],
           [0., 2.]])
    """
    columns = (gram[:, 1:] - gram[:, :1] * means[None, :]) / deviations[None, :]
    gram = xp.concat([gram[:, :1], columns], axis=1)
    rows = (gram[1:, :] - gram[:1, :] * means[:, None]) / deviations[:, None]
    return xp.concat([gram[:1, :], rows], axis=0)


def with_columns(gram: Any, found: Statistics, layer: ArrayLayer) -> Any:
    """Return the matrix with the columns' means and deviations."""
    return _with(gram, found.means, found.variances, layer)


def with_channels(gram: Any, found: Statistics, layer: ArrayLayer) -> Any:
    """Return the matrix with the channels' means and deviations, at every entry of the kernel."""
    alike = np.ones((1, layer.shape.kernel, layer.shape.kernel))
    means, variances = (
        x[:, None, None] * alike for x in (found.channel_means, found.channel_variances)
    )
    return _with(gram, means, variances, layer)


def centred(gram: Any, found: Statistics, layer: ArrayLayer) -> Any:
    r"""Return the Gram matrix of :math:`\hat{\mathcal H}U` alone."""
    return _with(gram, found.means, np.ones_like(found.variances), layer)


def examine(exact: Any, approximate: Any, found: Statistics, layer: ArrayLayer) -> list[Check]:
    """Return whether the columns are centred and of equal norm, of both matrices."""
    is_alike = layer.shape.kernel == layer.shape.stride == 1
    expected = Outcome.HOLDS if is_alike else Outcome.VIOLATED
    return [
        Check(COLUMNS, "columns centred, of one norm", *_alike(exact, found, layer)),
        Check(
            CHANNELS,
            "the same with the channels' statistics",
            *_alike(approximate, found, layer),
            expected,
        ),
    ]


def _with(gram: Any, means: Array, variances: Array, layer: ArrayLayer) -> Any:
    there, xp = layer.backend.asarray, layer.backend.namespace
    deviations = np.sqrt(variances)
    return preconditioned(gram, there(means.reshape(-1)), there(deviations.reshape(-1)), xp)


def _alike(gram: Any, found: Statistics, layer: ArrayLayer) -> tuple[float, float, Outcome]:
    """Compare the first row and the diagonal with those of centred columns of one norm."""
    to_numpy, xp = layer.backend.to_numpy, layer.backend.namespace
    first, diagonal = to_numpy(gram[0, 1:]), to_numpy(xp.linalg.diagonal(gram))[1:]
    actual = np.stack([first, diagonal]) / layer.rows
    claimed = np.stack([np.zeros_like(first), np.ones_like(first)])
    # What cancels: the second moment, over the variance that is left.
    size = (1 + found.means**2 / found.variances).reshape(-1)
    return close(actual, claimed, size, layer.rows)
