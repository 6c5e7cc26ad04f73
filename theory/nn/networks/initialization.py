r"""How the papers' networks are drawn before training.

Every weight of a linear or convolution layer is drawn in the order of the model's modules, every
bias is zero; :math:`\gamma = 1` and :math:`\beta = 0` stay as they are.  Weights come before the
seeds of noisy layers, so that networks that differ in their normalisation alone start from the
same weights.

Source: Santurkar et al. 2018, App. A.1, "standard Glorot initialization"; Lange et al. 2022,
App. B, "Glorot Uniform ... with the biases initialized as zero" and "He-Normal weight
initialization scaled by 0.1".
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from theory.nn.noisy_batch_normalization import ActivationNoise


def glorot(model: nn.Module, generator: torch.Generator | None = None) -> None:
    r"""Draw weights uniformly on :math:`\pm\sqrt{6/(n_\text{in} + n_\text{out})}`, in place.

    The variance is :math:`2/(n_\text{in} + n_\text{out})`; for a kernel of k by k weights
    :math:`n_\text{in}` and :math:`n_\text{out}` are :math:`k^2` times the channels.

    Args:
        model: whose layers are drawn.
        generator: where from; None for PyTorch's global one.

    Source: Glorot and Bengio 2010, eq. (16).
    """

    def draw(weight: Tensor) -> None:
        nn.init.xavier_uniform_(weight, generator=generator)

    _draw(model, draw, generator)


def he(model: nn.Module, scale: float = 1.0, generator: torch.Generator | None = None) -> None:
    r"""Draw weights normally, with deviation :math:`\sqrt{2/n_\text{in}}` times a scale, in place.

    Args:
        model: whose layers are drawn.
        scale: what the weights are multiplied by afterwards.
        generator: where from; None for PyTorch's global one.

    Raises:
        ValueError: scale is not positive.

    Source: He et al. 2015, eq. (10).  "Scaled by 0.1" could be said of the variance; it is read
    here as of the weights.
    """
    if not scale > 0:
        raise ValueError(f"scale = {scale}; expected a positive factor of the weights")

    def draw(weight: Tensor) -> None:
        nn.init.kaiming_normal_(weight, nonlinearity="relu", generator=generator)
        with torch.no_grad():
            weight.mul_(scale)

    _draw(model, draw, generator)


def _draw(
    model: nn.Module, draw: Callable[[Tensor], None], generator: torch.Generator | None
) -> None:
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d):
            draw(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    for module in model.modules():
        if isinstance(module, ActivationNoise):
            module.seed(generator)
