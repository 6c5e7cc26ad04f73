"""The row of a layer: what is measured of its units and its inputs, in a few numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite, log10
from typing import Any

import numpy as np
import torch
from torch import Tensor

from verify.audit import backward
from verify.audit.conditioning import Conditioning
from verify.audit.first_order import FirstOrder
from verify.audit.normalizations import least_of, overridden
from verify.audit.report import Curvature, MapRow, NormalizationRow, Spread
from verify.audit.spanned import Array
from verify.audit.subclasses import hooks_gradients
from verify.audit.unit_hessian import UnitHessian
from verify.audit.units import Pair, Units
from verify.tolerance import UNIT_ROUNDOFF, factor
from verify.tolerance.measured import BLURRED

HALF_LARGEST = torch.finfo(torch.float16).max
HALF_LEAST = least_of(torch.finfo(torch.float16))
"""Half of it is zero in float16."""
Named = Sequence[tuple[str, Units]]
"""Units with what their names begin with."""


def normalization(
    layer: str, named: Named, calls: int, curvature: Curvature | None = None
) -> NormalizationRow:
    """Return the row of a layer from its units in every batch and call."""
    first = named[0][1]

    def over(value: Callable[[Units], Tensor], worst: str = "max") -> Spread:
        return spread(named, value, worst)

    def count(which: Callable[[Units], Tensor]) -> int:
        return max(int(which(units).sum()) for _, units in named)

    m, runs, layout = first.m, first.running is not None, first.normalization
    module: Any = layout.module
    is_tracked = getattr(module, "running_var", None) is not None
    nothing = Spread(None, None, "")
    return NormalizationRow(
        layer=layer,
        kind=layout.kind,
        m=m,
        units=len(first.mean),
        eps=layout.eps,
        calls=calls,
        is_centred=layout.is_centred,
        is_frozen=layout.is_frozen,
        is_another=layout.is_another,
        is_own=overridden(module) is not None,
        is_hooked=hooks_gradients(module),
        lipschitz=nothing if layout.is_another else over(lambda u: u.steepest / u.divisor),
        share_of_mean=over(lambda u: _share(u.products["one", "g"], u.m, u)),
        share_of_yhat=over(lambda u: _share(u.products["yhat", "g"], _yhat2(u), u)),
        left_of_gradient=over(
            lambda u: u.products["w", "w"] / _scale2(u) / u.products["g", "g"], "min"
        ),
        theorem_4_1=over(_actual_over_claimed) if layout.is_told_of else nothing,
        variance_over_eps=over(lambda u: u.variance / u.normalization.eps, "min"),
        mean_over_deviation=over(lambda u: u.offset),
        digits_lost=over(lambda u: (2 * u.offset.log10()).clamp(min=0)),
        beyond_half=count(beyond_half),
        constant=count(lambda u: u.is_constant),
        dead=0 if layout.is_another else count(lambda u: u.products["g", "g"] == 0),
        zero_gamma=first.zero_scales,
        drift_of_mean=over(_drift_of_mean) if runs else None,
        drift_of_deviation=over(_drift_of_deviation) if runs and m > 1 else None,
        by_batch=layout.by_batch,
        off_gradient=None if layout.is_another else over(backward.off),
        overflown=count(lambda u: u.m * u.variance > u.largest) if layout.is_told_of else 0,
        unbiased=m / (m - 1) if m > 1 and is_tracked else None,
        curvature=curvature,
    )


def curvature(
    unit: str, products: dict[Pair, float], units: Units, number: int
) -> Curvature | None:
    """Return the terms of Theorem 4.2 at a unit, None where no gradient is left, or no number."""
    m = units.m
    if products["w", "w"] == 0:
        return None
    gamma, sigma = units.gamma[number].item(), units.sigma[number].item()
    ratio = gamma / sigma
    mean = products["one", "w"] / m if units.normalization.is_centred else 0.0
    image = products["w", "H"] - mean * products["one", "H"]
    loss = ratio * (image - products["yhat", "w"] / m * products["yhat", "H"])
    actual = products["w", "hessian"]
    if not all(map(isfinite, (actual, loss, products["hessian", "hessian"]))):
        return None
    return Curvature(
        unit=unit,
        actual=actual,
        of_the_loss=loss,
        of_the_layer=actual - loss,
        smoothness=(products["hessian", "hessian"] / products["w", "w"]) ** 0.5,
    )


def linear(
    layer: str,
    module: torch.nn.Module,
    found: FirstOrder,
    condition: Conditioning | None,
    said: tuple[str, str],
    hessian: UnitHessian | None,
    shape: tuple[int, int],
    batch: int | None = None,
) -> MapRow:
    """Return the row of a linear or convolution layer.

    Args:
        layer: its name.
        module: the layer.
        found: what the first pass told.
        condition: of its inputs; None if it was not measured.
        said: what Theorem 4 and Proposition 10 say of it.
        hessian: of one unit; None if it was not measured.
        shape: rows and columns of its matrix.
        batch: the number of that which condition and Hessian are of.
    """
    gradients = found.gradients.get(layer)
    common: dict[str, Any] = {
        "layer": layer,
        "kind": type(module).__name__,
        "rows": shape[0] if condition is None else condition.rows,
        "columns": shape[1],
        "cosine": None if gradients is None else gradients.cosine,
        "useless_bias": module.bias is not None and layer in found.useless_biases,
        "normalized_by": found.normalized_by.get(layer, ""),
        "theorem_4": said[0],
        "proposition_10": said[1],
        "batch": batch,
    }
    if hessian is not None:
        common |= {
            "hessian": hessian.before,
            "hessian_preconditioned": hessian.after,
            "hessian_said": hessian.said,
            "hessian_columns": hessian.columns,
            "unit": hessian.unit,
        }
    if condition is not None:
        common |= {
            "rank": condition.plain.rank,
            "constant": condition.constant,
            "is_full_rank": condition.is_full_rank,
            "kappa": condition.plain.kappa,
            "kappa_centred": condition.centred.kappa,
            "kappa_normalized": condition.normalized.kappa,
            "kappa_scaling": condition.scaling,
            "gain": condition.gain,
        }
    return MapRow(**common)


def claimed_4_1(units: Units) -> Tensor:
    """Return the right side of Theorem 4.1, for each unit."""
    products, m = units.products, units.m
    of_mean = products["one", "g"] ** 2 if units.normalization.is_centred else 0.0
    return _scale2(units) * (products["g", "g"] - of_mean / m - products["yhat", "g"] ** 2 / m)


def _actual_over_claimed(units: Units) -> Tensor:
    """Return both sides' ratio, nothing where rounding is a large part of what is left of |g|."""
    claimed, whole = claimed_4_1(units), _scale2(units) * units.products["g", "g"]
    of_the_network = (factor(units.m) * units.roundoff * (1 + units.offset) / BLURRED) ** 2
    of_the_difference = factor(units.m) * UNIT_ROUNDOFF / BLURRED
    is_blurred = claimed <= whole * of_the_network.clamp(min=of_the_difference)
    return torch.where(is_blurred, torch.nan, units.products["w", "w"] / claimed)


def beyond_half(units: Units) -> Tensor:
    """Return which units have a number that float16 cannot hold."""
    largest = torch.maximum(units.low.abs(), units.high.abs())
    is_small = (units.variance < HALF_LEAST / 2) & (units.low != units.high)
    cubed = units.sigma**-3
    return (
        (units.variance > HALF_LARGEST)
        | is_small
        | (cubed > HALF_LARGEST)
        | (largest > HALF_LARGEST)
    )


def spread(named: Named, value: Callable[[Units], Tensor], worst: str) -> Spread:
    """Return the median and the worst of a number of each unit."""
    numbers = [value(units).double().cpu().numpy() for _, units in named]
    every: Array = np.concatenate(numbers)
    finite = every[~np.isnan(every)]
    if not len(finite):
        return Spread(None, None, "")
    signed = np.where(np.isnan(every), -np.inf, every if worst == "max" else -every)
    place = int(np.argmax(signed))
    return Spread(float(np.median(finite)), float(every[place]), _name_of(named, place))


def decades(number: float) -> float:
    """Return the logarithm, zero for what has none.

    >>> decades(1000.0), decades(0.0)
    (3.0, 0.0)
    """
    return log10(number) if 0 < number < float("inf") else 0.0


def _name_of(named: Named, place: int) -> str:
    for prefix, units in named:
        if place < len(units.mean):
            return prefix + units.normalization.name_of(place)
        place -= len(units.mean)
    raise IndexError(place)


def _scale2(units: Units) -> Tensor:
    return (units.gamma / units.divisor) ** 2


def _yhat2(units: Units) -> Tensor:
    return units.m * units.variance / units.sigma**2


def _share(product: Tensor, size: Tensor | int, units: Units) -> Tensor:
    """Return the share of |g|^2 along a vector of a squared norm."""
    return product**2 / size / units.products["g", "g"]


def _drift_of_mean(units: Units) -> Tensor:
    assert units.running is not None
    return (units.running.mean - units.mean).abs() / units.sigma


def _drift_of_deviation(units: Units) -> Tensor:
    assert units.running is not None
    unbiased = units.variance * units.m / (units.m - 1)
    return (units.running.variance.sqrt() - unbiased.sqrt()).abs() / units.sigma
