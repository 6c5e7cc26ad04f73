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


class Part(NamedTuple):
    r"""Gradients of a layer, or of one group of a convolution, and what changes them.

    ``bias`` is ``(p,)``, None where there is none; ``weight`` is that of the layer, None likewise;
    ``mean`` and :math:`\tilde\sigma^2` are ``(n,)``, those of each weight's input.
    """

    layer: str
    bias: Tensor | None
    weight: Tensor | None
    mean: Tensor
    variance: Tensor
    q_squared: float


def parts(
    layer: str,
    grad_b: Tensor | None,
    grad_W: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    q_squared: float,
    constants: Constants,
    groups: int = 1,
) -> list[Part]:
    """Return the parts that a layer's gradients have, one a group.

    Args:
        layer: its name, for messages.
        grad_b: ``(p,)``, None where there is none.
        grad_W: as the weight, None likewise.
        mean: one a channel or input, as the variance.
        variance: not yet regularized.
        q_squared: :math:`q^2`.
        constants: of the algorithms.
        groups: of a convolution.

    Raises:
        ValueError: a variance is zero and eps_1 and eps_2 do not help it.
    """
    if grad_W is None:
        return [Part(layer, grad_b, None, mean, variance, q_squared)]
    if groups == 1:
        return [_part(layer, grad_b, grad_W, mean, variance, q_squared, constants)]
    biases = [None] * groups if grad_b is None else grad_b.chunk(groups)
    statistics = mean.chunk(groups), variance.chunk(groups)
    return [
        _part(layer, b, W, m, v, q_squared, constants)
        for b, W, m, v in zip(biases, grad_W.chunk(groups), *statistics, strict=True)
    ]


def _part(
    layer: str,
    grad_b: Tensor | None,
    grad_W: Tensor,
    mean: Tensor,
    variance: Tensor,
    q_squared: float,
    constants: Constants,
) -> Part:
    if grad_b is None:
        variance = variance + mean.square()
    variance = preconditioning.regularized_variance(variance, constants.eps_1, constants.eps_2)
    if constants.eps_2 == 0 and not bool((variance > 0).all()):
        raise ValueError(
            f"a variance of {layer}, of shape {tuple(variance.shape)}, is zero at index "
            f"{int(variance.argmin())}, which the scaling divides by; give an eps_2 > 0"
        )
    entries = grad_W.numel() // (len(grad_W) * len(mean))
    if entries > 1:
        mean, variance = mean.repeat_interleave(entries), variance.repeat_interleave(entries)
    return Part(layer, grad_b, grad_W, mean, variance, q_squared)


def change(part: Part) -> None:
    """Change the gradients of a part in place, computing in the dtype of the statistics.

    Raises:
        OverflowError: a gradient leaves the range of float16.
    """
    dtype = part.mean.dtype
    bias = None if part.bias is None else part.bias.to(dtype)
    weight = None if part.weight is None else part.weight.flatten(start_dim=1).to(dtype)
    if weight is None:
        assert bias is not None
        bias.div_(part.q_squared)
    elif bias is None:
        weight.div_(part.q_squared * part.variance)
    else:
        steps_4_and_5(bias, weight, part.mean, part.variance, part.q_squared)
    for gradient, new in ((part.bias, bias), (part.weight, weight)):
        if gradient is not None and new is not None and new.data_ptr() != gradient.data_ptr():
            _write(part.layer, gradient, new.view(gradient.shape))


def steps_4_and_5(
    grad_b: Tensor, grad_W: Tensor, mean: Tensor, variance: Tensor, q_squared: float
) -> None:
    r"""Change gradients in place as :func:`theory.preconditioning.preconditioned_gradient` returns.

    The weights' gradient is read and written twice and read once, and nothing is allocated.

    Args:
        grad_b: ``(p,)``.
        grad_W: ``(p, n)``.
        mean: :math:`\mu`, ``(n,)``.
        variance: :math:`\tilde\sigma^2`, ``(n,)``.
        q_squared: :math:`q^2`.
    """
    grad_W.addcmul_(grad_b[:, None], mean, value=-1).mul_((q_squared * variance).reciprocal_())
    grad_b.addmv_(grad_W, mean, beta=1 / q_squared, alpha=-1)


def _write(layer: str, gradient: Tensor, new: Tensor) -> None:
    gradient.copy_(new)
    if gradient.dtype is torch.float16 and bool((gradient.isinf() & new.isfinite()).any()):
        raise OverflowError(
            f"the preconditioned gradient of {layer} is {float(new.abs().max()):.3g} at most, "
            f"beyond float16, {torch.finfo(torch.float16).max:.0f}; keep parameters in float32 "
            "and use torch.autocast"
        )
