r"""The Hessian of one unit of a layer, :math:`\hat H^\top S\hat H`, and what P makes of it.

S, the loss's Hessian in the unit's outputs, is known by its products with vectors.  Where it is
diagonal - a dense layer with nothing after it that couples examples - two products with random
vectors show it, and give the diagonal.  Where S applied to the ones is zero, as below a Batch
Normalization, a bias does nothing and the Hessian is singular.  Else a product for each column is
needed; where there are too many, some are taken: the bias and weights at equal distances.  The
Hessian in these alone is a principal submatrix, and :math:`P^\top\hat H^\top S\hat HP` has the same
rows and columns of its own preconditioning, since P adds the bias's row and no other.

Source: Lange, Helfrich and Ye 2022, Prop. 2, Theorem 3 and Prop. 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from verify.audit import gramian
from verify.audit.conditioning import Conditioning
from verify.audit.second_order import SecondOrder

NOT_FULL_RANK = "not full rank: Theorem 4 does not apply"
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
    if not inputs.is_full_rank:
        return UnitHessian(unit, None, None, NOT_FULL_RANK)
    given, product = second.inputs[name], products_of(second, name, module, unit)
    draw = torch.Generator().manual_seed(0)
    probes = torch.randn(2, inputs.rows, generator=draw, dtype=torch.float64).to(given.device)
    images = [product(probe) for probe in probes]
    sizes = [image.norm() for image in images]
    if min(sizes) == 0:
        return UnitHessian(unit, None, None, "the loss is linear in the unit: no Hessian")
    roundoff = torch.finfo(given.dtype).eps
    ones = torch.ones_like(probes[0])
    if product(ones).norm() <= NOTHING * roundoff * min(sizes):
        return UnitHessian(unit, None, None, NO_BIAS)
    chosen = torch.arange(inputs.columns)
    diagonal = images[0] / probes[0]
    if (images[1] - diagonal * probes[1]).norm() <= DIAGONAL * sizes[1]:
        grams, _ = gramian.gram(module, given, diagonal)
        hessian, said, resolved = grams[inputs.group], "S is diagonal", RESOLVED
    else:
        if inputs.columns > most:
            if most < FEWEST:
                return UnitHessian(unit, None, None, "no time left for its products")
            chosen = _spaced(inputs.columns, min(most, SAMPLE))
        hessian, said = (
            _by_columns(module, given, inputs, product, chosen),
            "a product for each weight",
        )
        resolved = max(RESOLVED, len(chosen) * roundoff)
    hessian = (hessian + hessian.mT) / 2
    of_weights = (chosen[1:] - 1).to(inputs.mean.device)
    mean, deviation = inputs.mean[of_weights], inputs.deviation[of_weights]
    after = _kappa(gramian.preconditioned(hessian, mean, deviation), resolved)
    before = _kappa(hessian, resolved)
    if before is None or after is None:
        return UnitHessian(unit, None, None, NOT_FULL_RANK)
    sampled = None if len(chosen) == inputs.columns else len(chosen)
    return UnitHessian(unit, before, after, said, sampled)


def _spaced(columns: int, count: int) -> Tensor:
    """Return the first column and others at equal distances.

    >>> _spaced(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return torch.linspace(0, columns - 1, count).round().long()


def products_of(
    second: SecondOrder, name: str, module: nn.Module, unit: int
) -> Callable[[Tensor], Tensor]:
    """Return the function that applies S to a vector of rows."""
    gradient = second.gradient(name)
    assert gradient is not None
    is_linear = isinstance(module, nn.Linear)
    axis = -1 if is_linear else gradient.ndim - len(module.kernel_size) - 1  # type: ignore[arg-type]

    def product(vector: Tensor) -> Tensor:
        moved = torch.zeros_like(gradient)
        of_unit = moved.select(axis, unit)
        of_unit.copy_(vector.reshape(of_unit.shape))
        return second.output(name, moved).select(axis, unit).double().flatten()

    return product


def _by_columns(
    module: nn.Module,
    given: Tensor,
    inputs: Conditioning,
    product: Callable[[Tensor], Tensor],
    chosen: Tensor,
) -> Tensor:
    """Return the Hessian in some of the bias and weights."""
    units = torch.eye(inputs.columns, dtype=torch.float64)[chosen].to(given.device)
    images = torch.stack(
        [product(gramian.times(module, given, inputs.group, e[:, None])[:, 0]) for e in units],
        dim=1,
    )
    return gramian.transposed_times(module, given, inputs.group, images)[chosen.to(given.device)]


def _kappa(hessian: Tensor, resolved: float) -> float | None:
    """Return the condition number of a symmetric matrix, None if it is singular to rounding."""
    values = torch.linalg.eigvalsh(hessian).abs()
    is_singular = values.min() <= resolved * values.max()
    return None if is_singular else (values.max() / values.min()).item()
