r"""The Hessian of one unit of a layer, :math:`\hat H^\top S\hat H`, and what P makes of it.

S, the loss's Hessian in the unit's outputs, is known by its products with vectors.  Where it is
diagonal - a dense layer with nothing after it that couples examples - two products with random
vectors show it, and give the diagonal.  Where S applied to the ones is zero, as below a Batch
Normalization, a bias does nothing and the Hessian is singular.  Else a product for each column is
needed; where there are too many, some are taken: the bias and weights at equal distances.  The
Hessian in these alone is a principal submatrix, and :math:`P^\top\hat H^\top S\hat HP` has the same
rows and columns of its own preconditioning, since P adds the bias's row and no other.  It is that
which is built, from columns that are centred and scaled, and the Hessian from it.

Source: Lange, Helfrich and Ye 2022, Prop. 2, Theorem 3 and Prop. 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from verify.audit import gramian
from verify.audit.conditioning import Conditioning
from verify.audit.maps import channel_axis
from verify.audit.second_order import SecondOrder

NOT_FULL_RANK = "not full rank: Theorem 4 does not apply"
UNRESOLVED = "singular to rounding: an eigenvalue is not told from zero"
NOT_FINITE = "not finite: second derivatives are beyond the numbers of the network's own precision"
TOO_COARSE = "not resolved: second derivatives in half precision; audit the model in float32"
NOT_TAKEN = "not known: no second derivative is taken there"
OVERWRITTEN = "not known: what the layer is given is overwritten in place later in the pass"
SINGLE = 32
"""Bits of a number."""
NO_BIAS = "not full rank: a bias does nothing, Theorem 4 does not apply"
NOTHING = 2.0**8
"""A product that is zero in exact arithmetic, in units of roundoff times a generic one."""
DIAGONAL = 1e-4
"""Two products that differ by less, in units of their size, say that S is diagonal."""
RESOLVED = 2.0**-44
"""An eigenvalue that is a smaller part of the largest is not told from zero, in float64."""


@dataclass(frozen=True)
class UnitHessian:
    """Condition numbers of a unit's Hessian, or why there are none."""

    unit: int | None
    before: float | None
    after: float | None
    said: str
    """How it was found, or why not."""
    columns: int | None = None
    """Of how many of the bias and weights, where not of all."""


SAMPLE = 32
"""Columns that are taken where there are too many."""
FEWEST = 4


def unit_hessian(
    second: SecondOrder,
    name: str,
    module: nn.Module,
    inputs: Conditioning,
    unit: int,
    most: int,
) -> UnitHessian:
    """Return the condition numbers of a unit's Hessian before and after preconditioning.

    Args:
        second: a pass that can be differentiated once more.
        name: of the layer.
        module: the layer.
        inputs: their condition, of the unit's group.
        unit: its number.
        most: Hessian-vector products that there may be for all columns.
    """
    given, gradient = second.inputs.get(name), second.gradient(name)
    if why := _why_none(inputs, given, gradient):
        return UnitHessian(unit, None, None, why)
    assert given is not None
    assert gradient is not None
    precision = torch.finfo(gradient.dtype)
    product = products_of(second, name, module, unit)
    draw = torch.Generator().manual_seed(0)
    shape = 2, inputs.rows
    probes = torch.randn(shape, generator=draw, dtype=torch.float64, device="cpu").to(given.device)
    images = [product(probe) for probe in probes]
    sizes = [image.norm() for image in images]
    if min(sizes) == 0:
        return UnitHessian(unit, None, None, "the loss is linear in the unit: no Hessian")
    if product(torch.ones_like(probes[0])).norm() <= NOTHING * precision.eps * min(sizes):
        return UnitHessian(unit, None, None, NO_BIAS)
    diagonal = images[0] / probes[0]
    is_diagonal = bool((images[1] - diagonal * probes[1]).norm() <= DIAGONAL * sizes[1])
    chosen = _chosen(inputs.columns, inputs.columns if is_diagonal else most)
    if not len(chosen):
        return UnitHessian(unit, None, None, "no time left for its products")
    of_weights = (chosen[1:] - 1).to(given.device)
    statistics = inputs.mean[of_weights], inputs.deviation[of_weights]
    if is_diagonal:
        after = gramian.preconditioned(module, given, inputs.group, statistics, diagonal)
        said, resolved = "S is diagonal", RESOLVED
    else:
        columns = _columns(module, given, inputs.group, chosen, statistics)
        after = columns.mT @ torch.stack([product(column) for column in columns.mT], dim=1)
        said, resolved = "a product for each weight", max(RESOLVED, len(chosen) * precision.eps)
    sampled = None if len(chosen) == inputs.columns else len(chosen)
    return _of_matrix(unit, (after + after.mT) / 2, statistics, said, resolved, sampled)


def _why_none(inputs: Conditioning, given: Tensor | None, gradient: Tensor | None) -> str:
    """Return why a layer's Hessian is not looked at; nothing where it is."""
    reasons = {
        NOT_TAKEN: gradient is None,
        NOT_FULL_RANK: not inputs.is_full_rank,
        OVERWRITTEN: given is None,
        TOO_COARSE: gradient is not None and torch.finfo(gradient.dtype).bits < SINGLE,
    }
    return next((why for why, is_so in reasons.items() if is_so), "")


def _of_matrix(
    unit: int,
    after: Tensor,
    statistics: tuple[Tensor, Tensor],
    said: str,
    resolved: float,
    sampled: int | None,
) -> UnitHessian:
    """Return the condition numbers of a preconditioned Hessian and of that which it is made of."""
    if not after.isfinite().all():
        return UnitHessian(unit, None, None, NOT_FINITE)
    before = _kappa(gramian.without(after, *statistics), resolved)
    kappa = _kappa(after, resolved)
    if before is None or kappa is None:
        return UnitHessian(unit, None, None, UNRESOLVED)
    return UnitHessian(unit, before, kappa, said, sampled)


def _chosen(columns: int, most: int) -> Tensor:
    """Return which columns are taken with so many products at most; none if these are too few."""
    if columns <= most:
        return gramian.spaced(columns, columns)
    return gramian.spaced(columns, min(most, SAMPLE) if most >= FEWEST else 0)


def products_of(
    second: SecondOrder, name: str, module: nn.Module, unit: int
) -> Callable[[Tensor], Tensor]:
    """Return the function that applies S to a vector of rows."""
    gradient = second.gradient(name)
    assert gradient is not None
    axis = channel_axis(module, gradient)

    def product(vector: Tensor) -> Tensor:
        moved = torch.zeros_like(gradient)
        of_unit = moved.select(axis, unit)
        of_unit.copy_(vector.reshape(of_unit.shape))
        return second.output(name, moved).select(axis, unit).double().flatten()

    return product


def _columns(
    module: nn.Module,
    given: Tensor,
    group: int,
    chosen: Tensor,
    statistics: tuple[Tensor, Tensor],
) -> Tensor:
    r"""Return some columns of :math:`\hat G`, the ones first, ``(row, column)``."""
    features = [
        (gramian.column(module, given, group, number - 1) - mean) / deviation
        for number, mean, deviation in zip(chosen[1:].tolist(), *statistics, strict=True)
    ]
    return torch.stack([torch.ones_like(features[0]), *features], dim=1)


def _kappa(hessian: Tensor, resolved: float) -> float | None:
    """Return the condition number of a symmetric matrix, None if it is singular to rounding."""
    values = torch.linalg.eigvalsh(hessian).abs()
    is_singular = values.min() <= resolved * values.max()
    return None if is_singular else (values.max() / values.min()).item()
