r"""A layer that normalizes what it is given: post-activation Batch Normalization, for PyTorch.

.. math:: a = W\,\mathcal B_{\beta,\gamma}(h) + b, \qquad
          \mathcal B_{\beta,\gamma}(h) = \gamma\,\frac{h - \mu_H}{\sqrt{\sigma_H^2 + \epsilon}}
          + \beta

with the statistics of the batch in training, and with their moving averages in evaluation, where
the layer equals a vanilla one, :meth:`PostActivation.vanilla`.

Index convention: ``(batch, unit)`` before a linear layer, ``(batch, channel, height, width)``
before a convolution; everything but axis 1 is the batch.

Source: Lange, Helfrich and Ye 2022, (2), Algorithm 1 and Prop. 7.
"""

from __future__ import annotations

from copy import deepcopy

import torch
from torch import Tensor, nn

from theory import preconditioning
from theory.nn.layout import like_both, per_unit
from theory.nn.moving_statistics import MovingStatistics


class PostActivation(nn.Module):
    r"""A linear layer or a convolution behind Batch Normalization.

    Args:
        layer: its weights W and b.
        eps: what is added to the batch's variance, > 0.
        rho: of the moving averages.

    Attributes:
        layer: as given.
        weight, bias: gamma and beta, one for each input or channel, at first 1 and 0.
        running: the moving averages of the mean and the deviation.

    Raises:
        TypeError: eps or rho is no number, or layer no such layer.
        ValueError: eps or rho is out of its range.

    >>> behind = PostActivation(nn.Linear(1, 1), rho=0.0)
    >>> h = torch.tensor([[1.0], [2.0], [6.0]])
    >>> in_training, in_evaluation = behind(h), behind.eval()(h)  # the averages are the batch's own
    >>> bool((in_training - in_evaluation).abs().max() < 1e-5)
    True
    >>> bool((in_evaluation - behind.vanilla()(h)).abs().max() < 1e-5)
    True
    """

    def __init__(self, layer: nn.Linear | nn.Conv2d, eps: float = 1e-5, rho: float = 0.99) -> None:
        super().__init__()
        if not isinstance(layer, nn.Linear | nn.Conv2d):
            raise TypeError(
                f"layer is a {type(layer).__name__}; expected torch.nn.Linear or torch.nn.Conv2d"
            )
        features = layer.in_features if isinstance(layer, nn.Linear) else layer.in_channels
        self.layer = layer
        self.running = MovingStatistics(features, eps, rho, type(self).__name__, "h")
        self.running.to(layer.weight)
        self.weight = nn.Parameter(torch.ones_like(self.running.mean))
        self.bias = nn.Parameter(torch.zeros_like(self.running.mean))

    @property
    def eps(self) -> float:
        """What is added to the batch's variance."""
        return self.running.eps

    def forward(self, h: Tensor) -> Tensor:
        """Return what the layer makes of the normalized batch.

        An entry that is not finite makes all of its unit's NaN in training, as in
        ``torch.nn.BatchNorm1d``, and so every output that the unit has a part in.

        Raises:
            TypeError: not floating.
            ValueError: wrong shape, or in training mode a single entry for each unit, of which
                nothing is left.
        """
        self._check_rank(h)
        if self.training:
            normalized, mean, deviation = self.running.standardized(h)
            self.running.take_in(mean, deviation)
        else:
            normalized = self.running.normalize(h)
        z = per_unit(self.weight, h) * normalized + per_unit(self.bias, h)
        return self.layer(like_both(z, h, self.weight))

    def _check_rank(self, h: Tensor) -> None:
        """The layer acts on the axis that is normalized: of units, or of channels of maps."""
        is_dense = isinstance(self.layer, nn.Linear)
        axes = ("batch", "unit") if is_dense else ("batch", "channel", "height", "width")
        if isinstance(h, Tensor) and h.ndim != len(axes):
            raise ValueError(
                f"PostActivation of {self.layer} was given h of shape {tuple(h.shape)}; expected "
                f"({', '.join(axes)}): reshape h, e.g. with flatten"
            )

    def vanilla(self) -> nn.Linear | nn.Conv2d:
        r"""Return the layer :math:`\hat W h + \hat b` that this one is in evaluation.

        .. math:: \hat W = W\operatorname{diag}(\gamma/\sigma), \qquad
                  \hat b = b + W(\beta - \gamma\mu/\sigma)

        Raises:
            ValueError: the layer is a convolution padded with zeros, which are normalized numbers
                here and others there.

        Source: Prop. 7, where W times the vector is printed as W times a diagonal matrix.
        """
        layer = deepcopy(self.layer)
        is_padded = isinstance(layer, nn.Conv2d) and any(layer._reversed_padding_repeated_twice)
        if is_padded and layer.padding_mode == "zeros":
            raise ValueError(
                f"{layer} pads its maps with zeros; in general no vanilla layer equals it"
            )
        weights = layer.weight.detach().flatten(start_dim=1)
        entries = layer.weight[0, 0].numel()
        bias = weights.new_zeros(len(weights)) if layer.bias is None else layer.bias.detach()
        of_inputs = (self.weight, self.bias, self.running.mean, self.running.deviation)
        of_columns = (value.detach().repeat_interleave(entries) for value in of_inputs)
        groups = getattr(layer, "groups", 1)  # of a convolution, each with channels of its own
        parts = zip(*(x.chunk(groups) for x in (weights, bias, *of_columns)), strict=True)
        found = [preconditioning.folded(*part) for part in parts]
        weights, bias = (torch.cat(both) for both in zip(*found, strict=True))
        layer.weight = nn.Parameter(weights.reshape(layer.weight.shape))
        layer.bias = nn.Parameter(bias)
        return layer
