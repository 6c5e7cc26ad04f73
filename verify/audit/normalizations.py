r"""Which layers normalise, what each takes together, and its affine part.

All of them divide by :math:`\sigma = \sqrt{v + \epsilon}` over sets of m entries, the *units* here:
a channel of Batch Normalization over the batch; the features of one position (layer, RMS), a
channel of one example (instance), a group of channels of one example (group).  Batch Normalization
has one :math:`\gamma` for each unit.  The others multiply entry by entry after the division; there
a statement on a unit is about the output before that, with :math:`\gamma = 1`.

Index convention: rearranged, a batch is ``(before, unit, after)``: a unit's entries are on the
first and the last axis, of which one may have the length one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.instancenorm import _InstanceNorm

AXES = (0, 2)
"""Of the entries of a unit, in a batch that is rearranged."""
KINDS = (_BatchNorm, _InstanceNorm, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)


def is_normalization(module: nn.Module) -> bool:
    """Whether a module is a normalisation layer that can be examined.

    >>> is_normalization(nn.InstanceNorm2d(3)), is_normalization(nn.ReLU())
    (True, False)
    """
    return isinstance(module, KINDS)


@dataclass(frozen=True)
class Normalization:
    """One layer on one batch: how entries are taken together, and its numbers."""

    module: nn.Module
    shape: tuple[int, ...]
    """Of what it is given."""
    eps: float
    is_centred: bool
    arranged: tuple[int, int, int]
    words: tuple[str, ...]
    """What the parts of a unit's number are called."""
    parts: tuple[int, ...]
    """How many there are of each."""
    is_frozen: bool
    """Whether it divides by running statistics, not by the batch's."""

    @property
    def m(self) -> int:
        """Entries of a unit."""
        before, _, after = self.arranged
        return before * after

    @property
    def by_batch(self) -> bool:
        """Whether a unit has its entries from the whole batch, and one scale."""
        return isinstance(self.module, _BatchNorm)

    def rearranged(self, batch: Tensor) -> Tensor:
        """Return a batch as (before, unit, after)."""
        return batch.reshape(self.arranged)

    def scales(self) -> Tensor | None:
        """Return the scale of each unit in float64, ``(unit,)``; None if there is none of it."""
        return _double(self.module, "weight") if self.by_batch else None

    def steepest(self) -> Tensor | None:
        """Return the largest scale of each unit, ``(unit,)`` or ``(1,)``; None if there is none."""
        scales = _double(self.module, "weight")
        if scales is None or self.by_batch:
            return scales if scales is None else scales.abs()
        if isinstance(self.module, nn.LayerNorm | nn.RMSNorm):
            return scales.abs().amax().reshape(1)
        by_unit = scales.abs().reshape(self.parts[1], -1).amax(1)
        return by_unit.repeat(self.parts[0])

    def before_affine(self, gradient: Tensor) -> Tensor:
        """Return the gradient in what is multiplied entry by entry; that of a unit's output."""
        weight: Any = None if self.by_batch else getattr(self.module, "weight", None)
        if weight is None:
            return gradient
        if isinstance(self.module, nn.LayerNorm | nn.RMSNorm):
            return gradient * weight.detach()
        pixels = len(self.shape) - (1 if _is_one(self.module, self.shape) else 2)
        return gradient * weight.detach().reshape(-1, *[1] * pixels)

    def name_of(self, unit: int) -> str:
        """Return a unit's name."""
        found = []
        for word, count in zip(reversed(self.words), reversed(self.parts), strict=True):
            unit, place = divmod(unit, count)
            found.append(f"{word} {place}")
        return ", ".join(reversed(found))


def of(module: nn.Module, y: Tensor) -> Normalization:
    """Return how a layer takes a batch.

    >>> found = of(nn.GroupNorm(2, 6), torch.zeros(5, 6, 4, 4))
    >>> found.m, found.name_of(3)
    (48, 'example 1, group 1')
    """
    shape, size = tuple(y.shape), y.numel()
    eps: Any = getattr(module, "eps", None)
    if eps is None:  # RMSNorm's own choice
        eps = torch.finfo(y.dtype).eps
    is_centred = not isinstance(module, nn.RMSNorm)
    if isinstance(module, nn.LayerNorm | nn.RMSNorm):
        m = prod(module.normalized_shape)
        positions = shape[: len(shape) - len(module.normalized_shape)] or (1,)
        words = ("example", "position", "place", "place")[: len(positions)]
        words += ("place",) * (len(positions) - len(words))
        arranged, parts = (1, size // m, m), positions
    elif isinstance(module, nn.GroupNorm):
        words, parts = ("example", "group"), (shape[0], module.num_groups)
        arranged = (1, prod(parts), size // prod(parts))
    elif isinstance(module, _InstanceNorm):
        parts = (1, shape[0]) if _is_one(module, shape) else shape[:2]
        words = ("example", "channel")
        arranged = (1, prod(parts), size // prod(parts))
    else:
        words, parts = ("channel",), shape[1:2]
        arranged = (shape[0], shape[1], size // (shape[0] * shape[1]))
    is_frozen = getattr(module, "running_mean", None) is not None and not module.training
    return Normalization(
        module, shape, float(eps), is_centred, arranged, words, tuple(parts), is_frozen
    )


def running(module: nn.Module) -> tuple[Tensor, Tensor] | None:
    """Return copies of the running mean and variance in float64, ``(channel,)``.

    None where there are none, or none yet.
    """
    mean, variance = _double(module, "running_mean"), _double(module, "running_var")
    if (
        mean is None
        or variance is None
        or (bool((mean == 0).all()) and bool((variance == 1).all()))
    ):
        return None
    return mean, variance


def _double(module: nn.Module, name: str) -> Tensor | None:
    value = getattr(module, name, None)
    return None if value is None else value.detach().double().clone()


def _is_one(module: nn.Module, shape: tuple[int, ...]) -> bool:
    """Whether Instance Normalization is given one example, without the batch's axis."""
    if not isinstance(module, _InstanceNorm):
        return False
    rank: Callable[[], int] = module._get_no_batch_dim
    return len(shape) == rank()
