r"""Statistics of what a layer meets between two steps of an optimiser.

Index convention: n features (inputs of a linear layer, channels of a convolution); ``mean`` and
``variance`` are ``(n,)``, the variance biased.  A linear layer sees each row of its input
``(..., n)`` as an example.  A convolution sees maps ``(batch, channel, height, width)``, or one map
without the first axis; its statistics run over the batch and the pixels of its input.

Source: Lange, Helfrich and Ye 2022, (13) for a dense layer, (21) and (22) for a convolution.

>>> first = input_statistics(nn.Linear(1, 1), torch.tensor([[0.0], [2.0]]))
>>> second = input_statistics(nn.Linear(1, 1), torch.tensor([[7.0]]))
>>> both = pooled(first, second)  # 0, 2, 7
>>> both.size, float(both.mean), round(float(3 * both.variance), 4)
(3, 3.0, 26.0)
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, distributed, nn

CHAIN = 512
"""Up to so many numbers of a feature are left on a CPU to PyTorch's kernel of the statistics of
Batch Normalization, which is three times as fast as means.  It adds rows one to the next: of a
million, 1000 deviations from zero, the variance came out as 80 times what it is."""


class BatchStatistics(NamedTuple):
    """How many numbers of each feature there were, their mean and their biased variance.

    The size is a number, or a tensor without axes.
    """

    size: int | Tensor
    mean: Tensor
    variance: Tensor


def input_statistics(layer: nn.Linear | nn.Conv2d, inputs: Tensor) -> BatchStatistics:
    """Return the statistics of one batch of inputs, in float32, or float64 for such weights."""
    inputs, dtype = inputs.detach(), torch.promote_types(layer.weight.dtype, torch.float32)
    if inputs.dtype is not dtype:
        inputs = inputs.to(dtype)
    feature = -1 if isinstance(layer, nn.Linear) else -3
    if inputs.ndim == 1:
        inputs = inputs[None]
    size = inputs.numel() // inputs.shape[feature]
    if not _has_kernel(inputs.device.type, size):
        axes = [axis for axis in range(inputs.ndim) if axis != feature % inputs.ndim]
        mean = inputs.mean(axes, keepdim=True)
        variance = (inputs - mean).square_().mean(axes)
        return BatchStatistics(size, mean.flatten(), variance)
    rows = inputs.flatten(end_dim=-2) if feature == -1 else inputs.reshape(-1, *inputs.shape[-3:])
    return BatchStatistics(size, *torch.batch_norm_update_stats(rows, None, None, 0.0))


def _has_kernel(device: str, size: int) -> bool:
    """Whether PyTorch has a kernel for the statistics of so many numbers; a compiler has none."""
    is_short = device == "cuda" or (device == "cpu" and size <= CHAIN)
    return is_short and not torch.compiler.is_compiling()


def pooled(a: BatchStatistics, b: BatchStatistics) -> BatchStatistics:
    r"""Return the statistics of two batches taken as one.

    .. math:: m = m_a + m_b, \quad \mu = \frac{m_a\mu_a + m_b\mu_b}{m}, \quad
              \sigma^2 = \frac{m_a\sigma_a^2 + m_b\sigma_b^2}{m}
              + \frac{m_a m_b}{m^2}(\mu_a - \mu_b)^2
    """
    share = b.size / (a.size + b.size)
    apart = b.mean - a.mean
    variance = a.variance + share * (b.variance - a.variance) + share * (1 - share) * apart.square()
    return BatchStatistics(a.size + b.size, a.mean + share * apart, variance)


def pooled_over_processes(own: BatchStatistics) -> BatchStatistics:
    """Return the statistics of the batches of all processes; of size 0 where there was none."""
    count = torch.as_tensor(own.size, device=own.mean.device).clone()
    distributed.all_reduce(count)
    total = int(count)
    share = int(own.size) / max(total, 1)
    mean = share * own.mean
    distributed.all_reduce(mean)
    variance = share * (own.variance + (own.mean - mean).square())
    distributed.all_reduce(variance)
    return BatchStatistics(total, mean, variance)
