r"""Steps 2 to 5 of Algorithms 2 and 3 on all layers of a network of PyTorch at once.

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

from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple

import torch
from torch import Tensor

from theory import preconditioning
from theory.nn.batch_statistics import CHAIN

ROUNDINGS = CHAIN // 8
"""The most, relative to a mean of equal entries, that the deviation computed of them came to: in
chains of 2 to CHAIN entries, in float32 and float64."""


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
    ``mean`` and ``variance`` have an entry for each input or channel.
    """

    layer: str
    bias: Tensor | None
    weight: Tensor | None
    mean: Tensor
    variance: Tensor
    q_squared: float

    def groups(self, count: int) -> list[Part]:
        """Return the parts of a convolution in groups, each a layer of its own."""
        if self.weight is None or count == 1:
            return [self]
        biases = [None] * count if self.bias is None else self.bias.chunk(count)
        arrays = self.weight.chunk(count), self.mean.chunk(count), self.variance.chunk(count)
        return [
            Part(self.layer, bias, weight, mean, variance, self.q_squared)
            for bias, weight, mean, variance in zip(biases, *arrays, strict=True)
        ]


class Matrices(NamedTuple):
    r"""A part in the dtype of its statistics, as Algorithm 2 has it.

    ``bias`` is ``(p,)``, None where there is none, ``weight`` ``(p, n)``, views where they can be;
    ``mean`` and ``variance`` are ``(n,)``, or ``(c,)`` for the channels of a convolution.
    """

    bias: Tensor | None
    weight: Tensor
    mean: Tensor
    variance: Tensor
    q_squared: float


Steps = Callable[[Sequence[Matrices], Constants], None]
"""Change gradients in place."""


def change(parts: Sequence[Part], constants: Constants, steps: Steps) -> None:
    """Change the gradients of all parts in place, computing in the dtype of the statistics.

    Args:
        parts: with their running statistics.
        constants: of the algorithms.
        steps: :func:`steps_3_to_5`, or :func:`steps_3_to_5_by_layer`, which is for a compiler.

    Raises:
        ValueError: a variance is zero and eps_1 and eps_2 do not help it.
        OverflowError: a gradient leaves the range of float16.
    """
    weights = [part for part in parts if part.weight is not None]
    if weights:
        matrices = list(map(_matrices, weights))
        if constants.eps_2 < max(torch.finfo(m.variance.dtype).tiny for m in matrices):
            _check_positive(weights, regularized([m.variance for m in matrices], constants))
        steps(matrices, constants)
        for part, new in zip(weights, matrices, strict=True):
            _write(part.layer, part.weight, new.weight)
            _write(part.layer, part.bias, new.bias)
    for part in parts:
        if part.weight is None and part.bias is not None:
            part.bias.div_(part.q_squared)


def running(old: list[Tensor], new: list[Tensor], rho: float) -> None:
    """Change old statistics in place as :func:`theory.preconditioning.running` returns them."""
    torch._foreach_lerp_(old, new, 1 - rho)


def regularized(variances: list[Tensor], constants: Constants) -> list[Tensor]:
    """Return :func:`theory.preconditioning.regularized_variance` of each layer's."""
    largest = [variance.amax() for variance in variances]
    sums = torch._foreach_add(variances, largest, alpha=constants.eps_1)
    torch._foreach_add_(sums, constants.eps_2)
    return list(sums)


def steps_3_to_5(parts: Sequence[Matrices], constants: Constants) -> None:
    """Change the gradients of all layers in place, by a few calls for all that is small."""
    variances = regularized([p.variance for p in parts], constants)
    steps_4_and_5([_by_column(p, v) for p, v in zip(parts, variances, strict=True)])


def steps_3_to_5_by_layer(parts: Sequence[Matrices], constants: Constants) -> None:
    """Do the same by the formulas of :mod:`theory.preconditioning`, to be compiled.

    Uncompiled they would make three copies of a weight's gradient.
    """
    for part in parts:
        (variance,) = regularized([part.variance], constants)
        bias, weight, mean, variance, q2 = _by_column(part, variance)
        if bias is None:
            weight.div_(q2 * variance)
            continue
        with torch.autocast(weight.device.type, enabled=False):  # wherever the caller stands
            new_bias, new_weight = preconditioning.preconditioned_gradient(
                bias, weight, mean, variance, q_squared=q2
            )
        bias.copy_(new_bias)
        weight.copy_(new_weight)


def steps_4_and_5(parts: Sequence[Matrices]) -> None:
    r"""Change gradients in place as :func:`theory.preconditioning.preconditioned_gradient` returns.

    A weight's gradient is read and written twice and read once, and no copy of it is made.  Without
    a gradient of the bias it is scaled alone.
    """
    scales = torch._foreach_mul([p.variance for p in parts], [p.q_squared for p in parts])
    torch._foreach_reciprocal_(scales)
    for part in parts:
        if part.bias is not None:
            part.weight.addcmul_(part.bias[:, None], part.mean, value=-1)
    torch._foreach_mul_([part.weight for part in parts], scales)
    for part in parts:
        if part.bias is not None:
            part.bias.addmv_(part.weight, part.mean, beta=1 / part.q_squared, alpha=-1)


def _matrices(part: Part) -> Matrices:
    """Return views of a part's gradients; without a bias, D is of the mean square about 0."""
    assert part.weight is not None
    mean, variance = part.mean, part.variance
    weight, bias = part.weight, part.bias
    # What is in place already is not asked for: in small batches a call of PyTorch's is dear.
    if weight.ndim > 2:
        weight = weight.flatten(start_dim=1)
    if weight.dtype is not mean.dtype:
        weight = weight.to(mean.dtype)
    if bias is None:
        variance = variance + mean.square()
    elif bias.dtype is not mean.dtype:
        bias = bias.to(mean.dtype)
    return Matrices(bias, weight, mean, variance, part.q_squared)


def _by_column(part: Matrices, variance: Tensor) -> Matrices:
    """Return a part with statistics for each column, all entries of a kernel having a channel's."""
    entries = part.weight.shape[1] // len(variance)
    if entries == 1:
        return part._replace(variance=variance)
    mean, variance = (x.repeat_interleave(entries) for x in (part.mean, variance))
    return part._replace(mean=mean, variance=variance)


def _check_positive(parts: Sequence[Part], variances: list[Tensor]) -> None:
    """Raise an error for a variance that is zero, or may be but the rounding of equal entries."""
    for part, variance in zip(parts, variances, strict=True):
        rounding = ROUNDINGS * torch.finfo(variance.dtype).eps * part.mean
        is_zero = ~(variance > rounding.square())
        if bool(is_zero.any()):
            raise ValueError(
                f"a variance of {part.layer}, of shape {tuple(variance.shape)}, is zero at index "
                f"{int(is_zero.nonzero()[0])}, up to the rounding of its mean, and the scaling "
                "divides by it; give an eps_2 > 0"
            )


def _write(layer: str, gradient: Tensor | None, new: Tensor | None) -> None:
    """Copy a gradient back where its new values are in no view of it."""
    if gradient is None or new is None or new.data_ptr() == gradient.data_ptr():
        return
    new = new.view(gradient.shape)
    gradient.copy_(new)
    if gradient.dtype is torch.float16 and bool((gradient.isinf() & new.isfinite()).any()):
        raise OverflowError(
            f"the preconditioned gradient of {layer} is {float(new.abs().max()):.3g} at most, "
            f"beyond float16, {torch.finfo(torch.float16).max:.0f}; keep parameters in float32 "
            "and use torch.autocast"
        )
