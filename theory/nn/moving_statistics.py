r"""Moving averages of the mean and the standard deviation, and normalization by them.

.. math:: \mu \leftarrow \rho\mu + (1 - \rho)\mu_H, \qquad
          \sigma \leftarrow \rho\sigma + (1 - \rho)\sigma_H, \qquad
          \sigma_H = \sqrt{v_H + \epsilon}

from :math:`\mu = 0`, :math:`\sigma = 1`, with the biased variance :math:`v_H` of the batch.  They
are averages of deviations, not of variances as in ``torch.nn.BatchNorm1d``.

Index convention: ``(batch, unit)`` or ``(batch, channel, height, width)``; everything but axis 1 is
the batch.

Source: Lange, Helfrich and Ye 2022, sect. 2.
"""

from __future__ import annotations

import torch
from torch import Tensor, library, nn

from theory import preconditioning
from theory.nn import far_batches
from theory.nn.layout import (
    batch_axes,
    check_batch,
    check_features,
    decay,
    per_unit,
    positive,
    widened,
)


@library.custom_op("theory::snapshot", mutates_args=(), schema="(Tensor x) -> Tensor")
def _snapshot(x: Tensor) -> Tensor:
    """Return a copy that a compiled backward pass finds as it was made.

    PyTorch's compiler repeats what operators it knows, a clone too, in the backward pass, and
    reads buffers there that have moved by then (its pull request 197039); ours it does not know.
    """
    return x.clone()


_snapshot.register_fake(torch.empty_like)


class MovingStatistics(nn.Module):
    r"""The statistics of a layer's units over batches.

    Args:
        features: number of units or channels.
        eps: what is added to the batch's variance, > 0, for units that do not vary.
        rho: of the averages.
        layer: the name of the layer whose they are, for messages.
        letter: by which that calls its batch, for messages.

    Attributes:
        mean, deviation: mu and sigma, ``(features,)``.

    Raises:
        TypeError: eps or rho is no number.
        ValueError: eps or rho is out of its range.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        features: int,
        eps: float = 1e-5,
        rho: float = 0.99,
        layer: str = "MovingStatistics",
        letter: str = "y",
    ) -> None:
        super().__init__()
        check_features(features)
        self._layer, self._letter = layer, letter
        self.features, self.eps = features, positive("eps", eps, "units")
        self.rho = decay("rho", rho)
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("deviation", torch.ones(features))

    def standardized(self, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        r"""Return :math:`\hat y`, :math:`\mu_H` and :math:`\sigma_H` of a batch, axes kept.

        Those of half precision are in float32.

        Raises:
            TypeError: not floating.
            ValueError: wrong shape, or a single entry for each unit, of which nothing is left.
        """
        check_batch(y, self.features, self._layer, least=2, letter=self._letter)
        y = widened(y)
        yhat, deviation = far_batches.standardize(y, self.eps, batch_axes(y))
        return yhat, far_batches.mean(y, batch_axes(y)), deviation

    def before(self) -> tuple[Tensor, Tensor]:
        r"""Return :math:`\mu` and :math:`\sigma` for a formula of values before they move."""
        if torch.compiler.is_compiling():
            return _snapshot(self.mean), _snapshot(self.deviation)
        return self.mean, self.deviation

    @torch.no_grad()
    def take_in(self, middle: Tensor, deviation: Tensor) -> None:
        """Take the statistics of a batch into the averages."""
        for name, new in (("mean", middle), ("deviation", deviation)):
            old = getattr(self, name)
            old.copy_(preconditioning.running(old, new.flatten().to(old), self.rho))

    def normalize(self, y: Tensor) -> Tensor:
        r"""Return :math:`(y - \mu)/\sigma`, of half precision in float32.

        Raises:
            TypeError: not floating.
            ValueError: wrong shape.
        """
        check_batch(y, self.features, self._layer, letter=self._letter)
        middle, deviation = (per_unit(values, y) for values in (self.mean, self.deviation))
        return far_batches.quotient(widened(y), middle, deviation)

    def extra_repr(self) -> str:
        """Return what tells two of them apart, for the printed form."""
        return f"{self.features}, eps={self.eps}, rho={self.rho}"
