r"""What is measured of each unit of a normalisation layer: statistics and inner products.

With g the gradient in the unit's output and :math:`w = \partial\hat L/\partial y` the one in its
batch, by the network's own backward pass, the vectors :math:`1, \hat y, g, w` are known by their
inner products, in float64.  Nothing as large as the batch is kept.

Index convention: everything is ``(unit,)``; a batch is ``(before, unit, after)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from verify.audit.normalizations import AXES, Normalization, least_of

ENTRIES = 2**19
"""Of a batch that are brought to float64 at once, about."""
Pair = tuple[str, str]
PAIRS: tuple[Pair, ...] = (
    ("one", "g"),
    ("yhat", "g"),
    ("g", "g"),
    ("one", "w"),
    ("yhat", "w"),
    ("g", "w"),
    ("w", "w"),
)


class Running(NamedTuple):
    """Running statistics before the batch, ``(unit,)``."""

    mean: Tensor
    variance: Tensor


@dataclass(frozen=True)
class Units:
    """The units of one call of a layer on one batch."""

    normalization: Normalization
    roundoff: float
    """The unit roundoff of the network's own numbers."""
    least: float
    """The smallest of these above zero."""
    largest: float
    """The largest number in which statistics are computed: float16's are in float32."""
    mean: Tensor
    variance: Tensor
    """Biased."""
    low: Tensor
    high: Tensor
    gamma: Tensor
    steepest: Tensor
    """The largest scale of any entry."""
    zero_scales: int
    """Entries of its gamma that are zero."""
    products: dict[Pair, Tensor]
    """Inner products, by pairs of names."""
    running: Running | None = None

    @property
    def m(self) -> int:
        """Entries of a unit."""
        return self.normalization.m

    @property
    def sigma(self) -> Tensor:
        """The root of the variance plus epsilon."""
        return (self.variance + self.normalization.eps).sqrt()

    @property
    def divisor(self) -> Tensor:
        """What the layer divides by: sigma, or the same of the running variance if it is frozen."""
        if not self.normalization.is_frozen:
            return self.sigma
        variance = torch.ones_like(self.mean) if self.running is None else self.running.variance
        return (variance + self.normalization.eps).sqrt()

    @property
    def offset(self) -> Tensor:
        """The size of the mean in standard deviations, infinite for a constant unit."""
        size = self.mean if self.normalization.is_centred else torch.zeros_like(self.mean)
        return torch.where(size == 0, 0.0, size.abs() / self.variance.sqrt())

    @property
    def is_constant(self) -> Tensor:
        """Which units do not vary; which are zero, where no mean is subtracted."""
        is_centred = self.normalization.is_centred
        return (self.low == self.high) & (is_centred | (self.low == 0))


@torch.no_grad()
def measured(
    normalization: Normalization,
    y: Tensor,
    g: Tensor | None,
    w: Tensor | None,
    running: tuple[Tensor, Tensor] | None,
) -> Units:
    """Return the units of a layer.

    Args:
        normalization: how it takes its batch.
        y: what it was given.
        g: the gradient in its output, None where the loss does not depend on it.
        w: the gradient in what it was given, through the layer alone.
        running: its running mean and variance before the batch.
    """
    if normalization.is_another:  # what the gradients are of is not known
        g = w = None
    parts = [_part(normalization, *arrays) for arrays in _parts(normalization, y, g, w)]
    mean, variance, low, high, *products = map(torch.cat, zip(*parts, strict=True))
    scales, steepest = normalization.scales(), normalization.steepest()
    weight, precision = normalization.weight, torch.finfo(y.dtype)
    return Units(
        normalization=normalization,
        roundoff=max(precision.eps / 2, normalization.roundoff),
        least=least_of(precision),
        largest=max(precision.max, torch.finfo(torch.float32).max),
        mean=mean,
        variance=variance,
        low=low,
        high=high,
        gamma=torch.ones_like(mean) if scales is None else scales,
        steepest=torch.ones_like(mean) if steepest is None else steepest.expand_as(mean),
        zero_scales=0 if weight is None else int((weight == 0).sum()),
        products=dict(zip(PAIRS, products, strict=True)),
        running=_running(normalization, running, len(mean)),
    )


def _parts(
    normalization: Normalization, y: Tensor, g: Tensor | None, w: Tensor | None
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Yield some units after the other, in float64."""
    arranged = normalization.rearranged
    zero = torch.zeros((), dtype=y.dtype, device=y.device).expand(normalization.shape)
    batches = [arranged(y)]
    batches.append(arranged(zero if g is None else normalization.before_affine(g)))
    batches.append(arranged(zero if w is None else w))
    units, step = batches[0].shape[1], max(ENTRIES // normalization.m, 1)
    for start in range(0, units, step):
        some = slice(start, start + step)
        a, b, c = (batch[:, some].to(torch.float64, copy=True) for batch in batches)
        yield a, b, c


def _part(normalization: Normalization, y: Tensor, g: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    """Return what is measured of some units; y, a copy, is written into."""
    low, high = y.amin(AXES), y.amax(AXES)
    mean = y.mean(AXES)
    deviations = centred(y, AXES) if normalization.is_centred else y
    scratch = torch.empty_like(y)

    def inner(a: Tensor, b: Tensor) -> Tensor:
        return torch.mul(a, b, out=scratch).sum(AXES)

    variance = inner(deviations, deviations) / normalization.m
    # A constant unit has no deviations, whatever is left of them by the rounding of its mean.
    variance = torch.where((low == high) & normalization.is_centred, 0.0, variance)
    yhat = deviations.div_((variance + normalization.eps).sqrt()[:, None])
    vectors = {"yhat": yhat, "g": g, "w": w}
    products = [
        vectors[b].sum(AXES) if a == "one" else inner(vectors[a], vectors[b]) for a, b in PAIRS
    ]
    return (mean, variance, low, high, *products)


def centred(batch: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Return a batch, which is written into, less its mean over some axes.

    The mean of what an offset leaves of it is taken away too, which is the first mean's rounding.
    """
    for _ in range(2):
        batch -= batch.mean(axes, keepdim=True)
    return batch


def _running(
    normalization: Normalization, given: tuple[Tensor, Tensor] | None, units: int
) -> Running | None:
    """Return a channel's statistics for each of its units."""
    if given is None:
        return None
    repeats = units // len(given[0])
    return Running(*(statistic.repeat(repeats) for statistic in given))
