r"""Batch Normalization with ghost batches, groups of channels, and the example at inference.

.. math:: z = \gamma\,\frac{y - \mu_S}{\sqrt{\sigma_S^2 + \epsilon}} + \beta

in training, with the mean and the biased variance over S: so many examples that follow one another
(a *ghost batch*), so many channels that do (a *group*), and all pixels.  One channel and all
examples are Batch Normalization, one example is Group Normalization.  A batch has as many ghost
batches as have at least that many examples, and at least one; some have one more than others.

In evaluation, of one example with :math:`m_i` and :math:`s_i`, the means of its group's entries and
of their squares, and with the averages m and s of these over training,

.. math:: \mu = \alpha m_i + (1 - \alpha) m, \qquad
          \sigma^2 = \alpha s_i + (1 - \alpha) s - \mu^2:

mean and variance of the mixture of the example and of what was met in training, of which the
example has the share :math:`\alpha`.  At :math:`\alpha = 0` it is Batch Normalization's inference,
but for the variance, which has in it that of the ghost batches' means; at 1 Group Normalization.

Weight decay of :math:`\gamma` and :math:`\beta` is the optimiser's:
:func:`theory.nn.normalization.decay_groups`.

Index convention: ``(batch, unit)`` or ``(batch, channel, height, width)``.

Source: Summers and Dinneen 2020, "Four things everyone should know to improve Batch Normalization",
which Lange, Helfrich and Ye 2022, sect. 5, calls BN with 4 things.  The biased variance is also
that of inference, and the averages start at a mean square of 1.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from theory import batchnorm, preconditioning
from theory.arithmetic.unbounded import constant, exponents_of, shifted
from theory.nn import far_batches, layout
from theory.nn.layout import (
    check_batch,
    check_features,
    decay,
    like_both,
    per_unit,
    positive,
    widened,
)
from theory.scaling import largest


class BatchGroupNormalization(nn.Module):
    r"""Normalise over ghost batches and groups of channels.

    Args:
        features: number of units or channels.
        examples: of a ghost batch; None for the whole batch.
        channels: of a group.
        eps: what is added to a variance, > 0.
        rho: of the moving averages, in [0, 1).
        share: :math:`\alpha`, the example's at inference, in [0, 1].

    Attributes:
        weight, bias: gamma and beta, ``(features,)``, at first 1 and 0.
        running_mean, running_var: the averages m and s - m^2, one a group, by PyTorch's names.
            The difference is what is kept, since next to a large mean nothing would be left of it
            in s.  It is infinite where the variance of a batch is beyond the format.

    Raises:
        TypeError: eps, rho or share is no number.
        ValueError: a number is out of its range or not whole, or the channels do not fill groups.

    >>> layer = BatchGroupNormalization(2, examples=1, channels=2, share=1.0)  # of each example
    >>> (2 * layer(torch.tensor([[1.0, 3.0], [7.0, 7.5]]))).round().tolist()
    [[-2.0, 2.0], [-2.0, 2.0]]
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(
        self,
        features: int,
        examples: int | None = None,
        channels: int = 1,
        *,
        eps: float = 1e-5,
        rho: float = 0.99,
        share: float = 0.0,
    ) -> None:
        super().__init__()
        _check(features, examples, channels)
        self.features, self.examples, self.channels = features, examples, channels
        self.eps, self.rho = positive("eps", eps, "groups"), decay("rho", rho)
        self.share = layout.share("share", share, "a number in [0, 1], the example's")
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features // channels))
        self.register_buffer("running_var", torch.ones(features // channels))

    @property
    def square(self) -> Tensor:
        """The average s of mean squares, one a group."""
        return self.running_var + self.running_mean.square()

    def forward(self, y: Tensor) -> Tensor:
        """Return the layer's output for a batch; same shape.

        Raises:
            TypeError: not floating.
            ValueError: wrong shape, an empty batch, or in training mode a ghost batch with a single
                entry for each group, of which nothing is left.
        """
        check_batch(y, self.features, type(self).__name__, least=1)
        groups = widened(y).reshape(y.shape[0], self.features // self.channels, -1)
        if self.training:
            ghosts = self._ghosts_of(groups, y)
            normalized = torch.cat([self._standardized(ghost) for ghost in ghosts])
        else:
            normalized = self._in_evaluation(groups)
        z = per_unit(self.weight, y) * normalized.reshape(y.shape) + per_unit(self.bias, y)
        return like_both(z, y, self.weight)

    def _ghosts_of(self, groups: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        """Part a batch, of groups ``(example, group, entry)``, into ghost batches."""
        ghosts = groups.tensor_split(max(1, len(groups) // (self.examples or len(groups))))
        smallest = min(len(ghost) for ghost in ghosts) * groups.shape[2]
        if smallest < 2:
            raise ValueError(
                f"{type(self).__name__} was given y of shape {tuple(y.shape)}, of which a ghost "
                f"batch has {smallest} entry for each group; expected at least 2: give larger "
                "batches, take more channels or examples together, or call eval()"
            )
        return ghosts

    def _standardized(self, ghost: Tensor) -> Tensor:
        """Return a ghost batch ``(example, group, entry)``, normalised, and take in its moments."""
        yhat, deviation = far_batches.standardize(ghost, self.eps, (0, 2))
        with torch.no_grad():
            middle, spread = far_batches.mean(ghost, (0, 2)), batchnorm.variance(ghost, (0, 2))
            spread = torch.where(spread.isfinite(), spread, deviation.square())
            self._take_in(middle.flatten(), spread.flatten())
        return yhat

    def _take_in(self, middle: Tensor, spread: Tensor) -> None:
        old = self.running_mean.to(middle), self.running_var.to(middle)
        variance = _of_mixture(1 - self.rho, (middle, spread), old)
        self.running_mean.copy_(preconditioning.running(old[0], middle, self.rho))
        self.running_var.copy_(variance)

    def _in_evaluation(self, groups: Tensor) -> Tensor:
        middle, variance = self.running_mean[:, None], self.running_var[:, None]
        centred, sigma = _of_examples(groups, middle, variance, self.share, self.eps)
        if not far_batches.is_finite(sigma):
            # Squares overflowed; the quotient is that of everything over powers of two.
            power = exponents_of(largest(constant(groups), 2))
            power = torch.where(sigma.isfinite(), torch.zeros_like(power), power)
            groups, middle = shifted(groups, -power), shifted(middle, -power)
            variance, eps = (shifted(value, -2 * power) for value in (variance, self.eps))
            centred, sigma = _of_examples(groups, middle, variance, self.share, eps)
        return centred / sigma

    def extra_repr(self) -> str:
        """Return what tells two of them apart, for the printed form."""
        return (
            f"{self.features}, examples={self.examples}, channels={self.channels}, eps={self.eps}, "
            f"rho={self.rho}, share={self.share}"
        )


def _of_examples(
    groups: Tensor, middle: Tensor, variance: Tensor, share: float, eps: Any
) -> tuple[Tensor, Tensor]:
    """Return groups less the mean of the mixture, and its deviation; all axes are kept."""
    own = far_batches.mean(groups, (2,)), batchnorm.variance(groups, 2)
    # Not less the mixture's mean: that is rounded to the digits of a large one.
    centred = groups - middle - share * (own[0] - middle)
    return centred, (_of_mixture(share, own, (middle, variance)) + eps).sqrt()


def _of_mixture(share: float, new: tuple[Tensor, Tensor], old: tuple[Tensor, Tensor]) -> Tensor:
    """Return the variance of a mixture, of which a share is new, from means and variances."""
    if share in (0, 1):
        return new[1] if share else old[1]
    apart = new[0] - old[0]
    return share * new[1] + (1 - share) * old[1] + share * (1 - share) * apart.square()


def _check(features: int, examples: int | None, channels: int) -> None:
    check_features(features)
    if examples is not None and (type(examples) is not int or examples < 1):
        raise ValueError(
            f"examples = {examples!r}; expected at least 1, or None for all of a batch, and whole"
        )
    if type(channels) is not int or channels < 1:
        raise ValueError(f"channels = {channels!r}; expected how many of a group, at least 1")
    if features % channels:
        raise ValueError(
            f"features = {features} cannot be parted into groups of channels = {channels}; "
            "expected a multiple: choose another number of either"
        )
