r"""Batch Renormalization, for PyTorch.

.. math:: z = \gamma\Big(\frac{y - \mu_H}{\sigma_H}s + d\Big) + \beta, \qquad
          s = \frac{\sigma_H}{\sigma}, \quad d = \frac{\mu_H - \mu}{\sigma}

in training, with s and d held fixed in the backward pass, and
:math:`z = \gamma\,(y - \mu)/\sigma + \beta` in evaluation: the same values, but other gradients.
The training's gradient is that of Batch Normalization times s; for a batch of two it is zero in
every direction but for the epsilon, so next to nothing below the layer learns.

Index convention: ``(batch, unit)`` or ``(batch, channel, height, width)``; everything but axis 1 is
the batch.

Source: Lange, Helfrich and Ye 2022, (3).  What the text leaves open is as in Ioffe 2017:
:math:`\sigma_H` has the epsilon in it, in s too, or the two formulas would differ; s and d are of
the averages before this batch.  It has no bounds for s and d, nor are there any here.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from theory.nn import far_batches
from theory.nn.layout import like_both, per_unit
from theory.nn.moving_statistics import MovingStatistics


class BatchRenormalization(nn.Module):
    r"""Batch Renormalization.

    Args:
        features: number of units or channels.
        eps: what is added to the batch's variance, > 0.
        rho: of the moving averages.

    Attributes:
        weight, bias: gamma and beta, ``(features,)``, at first 1 and 0.
        running: the moving averages mu and sigma.

    Raises:
        TypeError: eps or rho is no number.
        ValueError: eps or rho is out of its range.

    >>> layer = BatchRenormalization(1)
    >>> layer(torch.tensor([[1.0], [2.0], [6.0]])).flatten().tolist()  # mu = 0 and sigma = 1
    [1.0, 2.0, 6.0]
    """

    def __init__(self, features: int, eps: float = 1e-5, rho: float = 0.99) -> None:
        super().__init__()
        self.running = MovingStatistics(features, eps, rho, type(self).__name__)
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))

    @property
    def eps(self) -> float:
        """What is added to the batch's variance."""
        return self.running.eps

    def forward(self, y: Tensor) -> Tensor:
        """Return the layer's output for a batch; same shape.

        An entry that is not finite makes all of its unit's NaN in training, as in
        ``torch.nn.BatchNorm1d``; in evaluation it has a part in itself alone.

        Raises:
            TypeError: not floating.
            ValueError: wrong shape, or in training mode a single entry for each unit, which would
                pass no gradient.
        """
        normalized = self._corrected(y) if self.training else self.running.normalize(y)
        z = per_unit(self.weight, y) * normalized + per_unit(self.bias, y)
        return like_both(z, y, self.weight)

    def _corrected(self, y: Tensor) -> Tensor:
        yhat, mean, deviation = self.running.standardized(y)
        with torch.no_grad():
            mu, sigma = (per_unit(values, y) for values in self.running.before())
            s, d = deviation / sigma, far_batches.quotient(mean, mu, sigma)
            # No entry of yhat is beyond the root of their number.
            largest = (y.numel() // y.shape[1]) ** 0.5 * s + d.abs()
            part = torch.where(largest.isfinite(), 1.0, 0.25).to(s)
        self.running.take_in(mean, deviation)
        return (yhat * (s * part) + d * part) / part
