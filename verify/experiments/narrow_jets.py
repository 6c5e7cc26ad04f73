r"""The loss as one unit sees it, to second order, with its Hessian H on a few vectors only.

With V an orthonormal basis of those vectors and A = HV,

.. math:: L(z + d) \approx L(z) + \langle g, d\rangle + \tfrac12\langle d, S d\rangle, \qquad
          S = A V^\top + V A^\top - V (V^\top A) V^\top

S is symmetric and SV = HV: what is asked of the Hessian along these vectors is the network's own.
The whole H, m by m, would need a differentiation for each entry of the batch
(:mod:`verify.subjects.jets`); this needs one for each vector, so that batches may be as long as
they are.

Index convention: the first axis of every tensor counts units.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from verify import primitives
from verify.experiments.held_layer import HeldLayer


class NarrowJets(NamedTuple):
    """Point, value, gradient and Hessian on a few vectors, of each unit's loss."""

    z: Tensor
    """Where they are taken, (unit, m)."""
    value: Tensor
    """(unit,)."""
    g: Tensor
    """(unit, m)."""
    V: Tensor
    """An orthonormal basis, (unit, m, k); a column may be zero."""
    A: Tensor
    """The Hessian applied to it, (unit, m, k)."""


def loss(at: Tensor, z: Tensor, value: Tensor, g: Tensor, V: Tensor, A: Tensor) -> Tensor:
    """Return one unit's loss at a point, to second order around z."""
    d = at - z
    along, image = V.T @ d, A.T @ d
    return value + g @ d + along @ image - (along @ ((V.T @ A) @ along)) / 2


def taken(
    layer: HeldLayer, units: Tensor, gamma: Tensor, beta: Tensor, eps: Tensor, directions: Tensor
) -> NarrowJets:
    r"""Return the jets of some units, on the span of 1, y, the gradient and the directions.

    Args:
        layer: a layer of Batch Normalization, held.
        units: their numbers, (unit,).
        gamma: their scales, (unit,).
        beta: their shifts, (unit,).
        eps: what is added to their variances, (unit,).
        directions: two for each unit, (2, unit, m).
    """
    jets = [
        _jet(layer, int(unit), gamma[i], beta[i], eps[i], directions[:, i])
        for i, unit in enumerate(units)
    ]
    return NarrowJets(*(torch.stack(tensors) for tensors in zip(*jets, strict=True)))


def _jet(
    layer: HeldLayer, unit: int, gamma: Tensor, beta: Tensor, eps: Tensor, directions: Tensor
) -> tuple[Tensor, ...]:
    y = layer.y[:, unit]
    z = primitives.forward(y, len(y), gamma, beta, eps, torch.sqrt).requires_grad_()
    value = layer.loss_of_unit(z, unit)
    (g,) = torch.autograd.grad(value, z, create_graph=True)
    V = _basis(torch.stack([torch.ones_like(y), y, g.detach(), *directions]))
    images = [_hessian_times(g, z, v) for v in V.T]
    return z.detach(), value.detach(), g.detach(), V, torch.stack(images, dim=1)


def _hessian_times(g: Tensor, z: Tensor, v: Tensor) -> Tensor:
    if not g.requires_grad:  # the rest of the network is linear
        return torch.zeros_like(z)
    (image,) = torch.autograd.grad(g @ v, z, retain_graph=True, materialize_grads=True)
    return image


def _basis(vectors: Tensor) -> Tensor:
    """Return an orthonormal basis of the span of (k, m) as columns, (m, k), zeros where it ends.

    By Gram and Schmidt, twice for rounding's sake: the first vectors are left as they are.
    """
    basis: list[Tensor] = []
    for vector in vectors:
        length = torch.linalg.vector_norm(vector)
        rest = vector / length if length > 0 else vector
        for _ in range(2):
            for b in basis:
                rest = rest - (b @ rest) * b
        left = torch.linalg.vector_norm(rest)
        is_new = left > NEARLY_DEPENDENT
        basis.append(rest / left if is_new else torch.zeros_like(rest))
    return torch.stack(basis, dim=1)


NEARLY_DEPENDENT = 1e-8
"""What is left of a vector by less than this part of it, is rounding."""
