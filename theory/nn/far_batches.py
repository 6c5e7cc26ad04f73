"""Batches so far from zero that sums, or squares, of finite entries overflow.

What comes of them as usual is looked at, one number for each unit, and computed again by the rules
of :mod:`theory.scaling` where it is not finite.  Derivatives pass.  In ``torch.compile`` and
``torch.vmap`` nobody can look, and squares overflow.

Index convention: the axes that are given are the batch's, and are kept with length one.
"""

from __future__ import annotations

import torch
from torch import Tensor

from theory import arithmetic, batchnorm
from theory.arithmetic.unbounded import constant
from theory.scaling import in_the_middle, largest, linear_in_the_middle


def mean(y: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return the mean of each unit."""
    middle: Tensor = arithmetic.mean(y, axes)
    if is_finite(middle):
        return middle
    sizes = {"a": largest(constant(y), axes)}
    found: Tensor = linear_in_the_middle(arithmetic.mean, {"a": y, "axis": axes}, sizes)
    return found


def standardize(y: Tensor, eps: float, axes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    r"""Return :math:`\hat y` and :math:`\sigma`, of which the latter is representable.

    An entry that is not finite makes all of its unit's NaN.
    """
    yhat, deviation = batchnorm.standardize(y, eps, axes)
    if is_finite(deviation):
        return yhat, deviation
    arguments, sizes = {"y": y, "eps": eps, "axis": axes}, {"y": largest(constant(y), axes)}
    return (
        in_the_middle(batchnorm.normalize, 0, arguments, sizes),
        in_the_middle(batchnorm.standard_deviation, 1, arguments, sizes),
    )


def quotient(y: Tensor, middle: Tensor, scale: Tensor) -> Tensor:
    """Return y less its unit's middle, over the unit's scale, where the difference may overflow.

    It can only if the middle is at least half a unit in the last place of the largest number; there
    the quotient is that of quarters.  In ``torch.compile`` and ``torch.vmap`` too.
    """
    limits = torch.finfo(y.dtype)
    is_far = middle.abs() >= limits.max * limits.eps / 4
    part = torch.where(is_far, 0.25, 1.0).to(y)
    return (y * part - middle * part) / (scale * part)


def is_finite(numbers: Tensor) -> bool:
    """Whether all numbers are; taken for granted where nobody can look at one."""
    if torch.compiler.is_compiling() or numbers.is_meta:
        return True
    try:
        return bool(numbers.isfinite().all())
    except RuntimeError as error:
        if "vmap" not in str(error):
            raise
        return True
