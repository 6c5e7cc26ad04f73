r"""Steps 3 to 5 of Algorithms 2 and 3, on the gradients of a weight of PyTorch.

.. math:: \tilde\sigma^2 = \sigma^2 + \epsilon_1\max\sigma^2 + \epsilon_2, \qquad
          q^2 = \max\{n/N, \sqrt{rs}\}, \qquad
          [G_b; G_W] \leftarrow \tfrac1{q^2} P P^\top [G_b; G_W]

What the text leaves open is answered so that there is a change of variables behind every step:

- Without a gradient of a bias there is nothing to centre with: U = I, and :math:`\sigma^2` is the
  mean square :math:`\sigma^2 + \mu^2`, so that D gives the columns of H one norm.  Without a
  gradient of the weight, P = 1.
- r s are the outputs of an example, the rows that it has in :math:`\hat{\mathcal H}`; in the text
  its inputs are as many.  So a kernel as large as the map is a dense layer.
- Each group of a grouped convolution is a layer of its own.

Index convention: weights ``(p, n)`` or ``(p, c, k, k')``, biases ``(p,)``; ``mean`` and
``variance`` have an entry for each input or channel, all groups' channels together.

Source: Lange, Helfrich and Ye 2022, (15), (23), Algorithms 2 and 3.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor

from theory import preconditioning


class Constants(NamedTuple):
    """The constants of Algorithms 2 and 3, with the paper's values."""

    eps_1: float = 1e-2
    eps_2: float = 1e-4
    rho: float = 0.99


def q_squared(fan_in: int, examples: int, rows: int) -> float:
    r"""Return :math:`q^2 = \max\{n/N, \sqrt{rs}\}`; r s = 1 for a dense layer.

    Args:
        fan_in: n, the weights of an output: k^2 c of a convolution.
        examples: N.
        rows: N r s.

    >>> q_squared(100, 50, 50), q_squared(9 * 16, 8, 8 * 16)
    (2.0, 18.0)
    """
    effective = sqrt(rows / examples)
    return effective * preconditioning.scale_factor(examples * effective, fan_in)


def preconditioned(
    grad_b: Tensor | None,
    grad_W: Tensor,
    mean: Tensor,
    variance: Tensor,
    q_squared: float,
    constants: Constants,
    groups: int = 1,
) -> tuple[Tensor | None, Tensor]:
    """Return both gradients as the algorithms change them, in the dtype of the statistics.

    Raises:
        ValueError: a variance is zero and eps_1 and eps_2 do not help it.
    """
    if groups == 1:
        bias, weight = _of_group(grad_b, grad_W, mean, variance, q_squared, constants)
        return bias, weight.reshape(grad_W.shape)
    parts = [
        _of_group(b, W, m, v, q_squared, constants)
        for b, W, m, v in zip(
            [None] * groups if grad_b is None else grad_b.chunk(groups),
            grad_W.chunk(groups),
            mean.chunk(groups),
            variance.chunk(groups),
            strict=True,
        )
    ]
    biases = [b for b, _ in parts if b is not None]
    weights = torch.cat([W for _, W in parts]).reshape(grad_W.shape)
    return (torch.cat(biases) if biases else None), weights


def _of_group(
    grad_b: Tensor | None,
    grad_W: Tensor,
    mean: Tensor,
    variance: Tensor,
    q_squared: float,
    constants: Constants,
) -> tuple[Tensor | None, Tensor]:
    weights = grad_W.flatten(start_dim=1).to(mean.dtype)
    has_bias = grad_b is not None
    if grad_b is None:
        mean, variance = torch.zeros_like(mean), variance + mean.square()
        grad_b = weights.new_zeros(len(weights))
    variance = preconditioning.regularized_variance(variance, constants.eps_1, constants.eps_2)
    if constants.eps_2 == 0 and not bool((variance > 0).all()):
        raise ValueError(
            f"a variance of shape {tuple(variance.shape)} is zero at index "
            f"{int(variance.argmin())}, which the scaling divides by; give an eps_2 > 0"
        )
    entries = weights.shape[1] // len(mean)
    bias, weights = preconditioning.preconditioned_gradient(
        grad_b.to(mean.dtype),
        weights,
        mean.repeat_interleave(entries),
        variance.repeat_interleave(entries),
        q_squared=q_squared,
    )
    return (bias if has_bias else None), weights
