r"""The layer that normalizes by the average l_p norm, for PyTorch.

In training mode it is :func:`theory.lp_normalization.forward` with the statistics of the batch,
through which the gradient passes; automatic differentiation does the rest.  In evaluation mode the
statistics are running averages and the layer is affine.

Index convention: ``(batch, unit)`` or ``(batch, channel, height, width)``; everything but axis 1 is
the batch.

Source: Santurkar et al. 2018, sect. 3.3; :mod:`theory.lp_normalization` says how it is read.  The
paper says nothing of evaluation: running averages are those of :class:`torch.nn.BatchNorm1d`.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor, nn

from theory.lp_normalization import power_mean, shares
from theory.nn.far_batches import mean, quotient
from theory.nn.layout import (
    batch_axes,
    check_batch,
    check_features,
    like_both,
    number,
    per_unit,
    share,
    widened,
)


class LpNormalization(nn.Module):
    r"""Normalization by the average l_p norm.

    .. math:: z = \gamma \frac{y - \mu}{s_p} + \beta, \qquad
              s_p = \Big(\frac1m \sum_b |y_b|^p + \epsilon\Big)^{1/p}

    Args:
        features: number of units or channels.
        p: the exponent, at least 1, or ``math.inf`` for the largest absolute value.
        eps: what is added to the mean of the powers, or to the largest absolute value.
        momentum: the share of the batch's statistics in the new running ones.

    Attributes:
        weight, bias: gamma and beta, ``(features,)``, at first 1 and 0.
        running_mean, running_norm: averages of mu and s_p over batches, ``(features,)``.

    Raises:
        TypeError: p, eps or momentum is no number.
        ValueError: p below 1, or a number that is out of its range.

    >>> layer = LpNormalization(1, p=1, eps=0.0)
    >>> layer(torch.tensor([[1.0], [2.0], [6.0]])).flatten().tolist()  # mean 3, average norm 3
    [-0.6666666865348816, -0.3333333432674408, 1.0]
    """

    running_mean: Tensor
    running_norm: Tensor

    def __init__(self, features: int, p: float, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__()
        check_features(features)
        self.features = features
        self.p = number("p", p, "an exponent >= 1, or math.inf", lambda x: x >= 1)
        added = "a number >= 0, added to the norm's power"
        self.eps = number("eps", eps, added, lambda x: 0 <= x < inf)
        self.momentum = share("momentum", momentum, "the batch's weight, in [0, 1]")
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_norm", torch.ones(features))

    def forward(self, y: Tensor) -> Tensor:
        """Return the layer's output for a batch; same shape.

        Raises:
            TypeError: not floating.
            ValueError: wrong shape, or in training mode a single entry for each unit, of which
                nothing is left, or a unit of zeros where eps is 0.
        """
        check_batch(y, self.features, "LpNormalization", least=2 if self.training else 1)
        wide = widened(y)
        middle, norm = self._statistics(wide)
        z = per_unit(self.weight, y) * quotient(wide, middle, norm) + per_unit(self.bias, y)
        return like_both(z, y, self.weight)

    def _statistics(self, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is subtracted and what is divided by; in training the averages move."""
        if not self.training:
            return per_unit(self.running_mean, y), per_unit(self.running_norm, y)
        axes = batch_axes(y)
        small, eps, unit = shares(y, self.p, self.eps, axes)
        middle, norm = mean(y, axes), unit * power_mean(small, self.p, eps, axes)
        if self.eps == 0 and bool((norm == 0).any()):
            raise ValueError(
                f"y of shape {tuple(y.shape)} has a unit of zeros and eps = 0, so there is nothing "
                "to divide by; expected eps > 0, or units that are not zero"
            )
        with torch.no_grad():
            self.running_mean.lerp_(middle.flatten().to(self.running_mean), self.momentum)
            self.running_norm.lerp_(norm.flatten().to(self.running_norm), self.momentum)
        return middle, norm

    def extra_repr(self) -> str:
        """Return what tells two layers apart, for the printed form."""
        return f"{self.features}, p={self.p}, eps={self.eps}, momentum={self.momentum}"
