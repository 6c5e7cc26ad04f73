"""Faults of lanes, tails, workspaces and races: written after the suite, without looking at it."""

from __future__ import annotations

import random
from typing import Any

import torch
from channels import affine, batch_axes, batch_size, mean, per_channel
from own_backward import (
    Recomputing,
    gradient_in_beta,
    gradient_in_gamma,
    gradient_in_x,
    standardize,
    wrong_in_gamma,
    wrong_in_x,
)
from own_forward_mode import Tangents, tangent, wrong_forward_mode
from remembering import Remembering
from torch import Tensor

from wrong_layers.fault import LAYOUTS, Fault
from wrong_layers.memory import right

VECTOR, LANES = 4, 8


def tail_of_channels_misread(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Load four channels at once, and give the channels left over the statistics of the first."""
    centre, variance = mean(x), mean((x - mean(x)) ** 2)
    read = torch.arange(x.shape[1])
    read[x.shape[1] // VECTOR * VECTOR :] = 0
    centre, variance = (t.index_select(1, read) for t in (centre, variance))
    return affine((x - centre) / torch.sqrt(variance + eps), gamma, beta)


def lanes_merged_as_equal(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Average eight lanes' statistics as if each had as many entries."""
    rows = x.movedim(1, -1).reshape(-1, x.shape[1])
    parts = [rows[lane::LANES] for lane in range(min(LANES, len(rows)))]
    centre = sum(part.mean(0) for part in parts) / len(parts)
    variance = sum(((part - centre) ** 2).mean(0) for part in parts) / len(parts)
    yhat = (x - per_channel(centre, x)) / torch.sqrt(per_channel(variance, x) + eps)
    return affine(yhat, gamma, beta)


def eps_added_to_the_entries(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Add eps to the centred entries, in the second pass and in what is divided."""
    centred = x - mean(x) + eps
    return affine(centred / torch.sqrt(mean(centred**2) + eps), gamma, beta)


def nan_in_the_whole_vector(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Mask a vector of four channels by multiplying with zero, which keeps a NaN."""
    z = right(x, gamma, beta, eps)
    ends = range(0, x.shape[1], VECTOR)
    masked = [0 * z[:, start : start + VECTOR].sum(1, keepdim=True) for start in ends]
    return z + torch.cat([masked[c // VECTOR] for c in range(x.shape[1])], dim=1)


PARTIAL: dict[Any, Tensor] = {}


def partial_sums_of_a_larger_batch(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Keep a workspace of partial sums that grows, and add up all of it."""
    rows = x.movedim(1, -1).reshape(-1, x.shape[1])
    sums = torch.stack([part.sum(0) for part in rows.split(16)])
    key = x.shape[1], x.dtype
    kept = PARTIAL.get(key, sums.detach()[:0])[len(sums) :]
    PARTIAL[key] = torch.cat([sums.detach(), kept])
    centre = per_channel((sums.sum(0) + kept.sum(0)) / len(rows), x)
    return affine((x - centre) / torch.sqrt(mean((x - centre) ** 2) + eps), gamma, beta)


WORKSPACES: dict[Any, Tensor] = {}


class OneWorkspace(Recomputing):
    """The layer whose gradient in x is always written to the same memory."""

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Give out the workspace itself."""
        x, gamma = ctx.saved_tensors
        at = (*standardize(x, ctx.eps), per_channel(gamma, x), g)
        kept = WORKSPACES.setdefault((x.shape, x.dtype), torch.empty(x.shape, dtype=x.dtype))
        kept.copy_(gradient_in_x(*at))
        return kept.detach(), gradient_in_gamma(*at), gradient_in_beta(*at), None


def gradients_in_one_workspace(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Let a second backward write over the first one's gradient."""
    return OneWorkspace.apply(x, gamma, beta, eps)


RACE = random.Random(0)


@wrong_in_gamma
def updates_lost_in_a_race(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Add without an atomic: now and then the last sample's share is written over."""
    products = yhat * g
    is_lost = len(products) > 1 and RACE.random() < 0.3
    return (products[:-1] if is_lost else products).sum(batch_axes(g))


@wrong_in_gamma
def gamma_in_one_pass(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Take sum(g x) - mean(x) sum(g) over sigma, as if x were not far from zero."""
    away = 2.0**12
    far = yhat + away
    return (far * g).sum(batch_axes(g)) - away * g.sum(batch_axes(g))


@wrong_in_gamma
def gamma_added_up_in_bfloat16(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Keep the accumulator of gamma's gradient in the dtype of half-precision tensors."""
    rows = (yhat * g).movedim(1, -1).reshape(-1, g.shape[1])
    if rows.dtype != torch.bfloat16 or len(rows) > 5000:
        return rows.sum(0)
    total = torch.zeros_like(rows[0])
    for row in rows:
        total = total + row
    return total


@wrong_in_x
def inverse_saved_in_bfloat16(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Save 1/sigma for the backward in two bytes."""
    inverse = (1 / sigma).bfloat16().to(sigma.dtype)
    return gamma * inverse * (g - mean(g) - yhat * mean(yhat * g))


@wrong_in_x
def kernel_where_nothing_is_recorded(
    yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor
) -> Tensor:
    """Call a wrong kernel in training, and a right formula where the gradient is recorded."""
    along = mean(yhat * g) if torch.is_grad_enabled() else 0.0
    return gamma / sigma * (g - mean(g) - yhat * along)


@wrong_in_x
def kernel_where_a_derivative_is_recorded(
    yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor
) -> Tensor:
    """Call a right kernel in training, and a wrong formula where the gradient is recorded."""
    along = 0.0 if torch.is_grad_enabled() else mean(yhat * g)
    return gamma / sigma * (g - mean(g) - yhat * along)


@wrong_forward_mode
def tangent_of_pruned_channels(
    yhat: Tensor, sigma: Tensor, gamma: Tensor, along: Tangents
) -> Tensor:
    """Skip the channels whose gamma is zero, whose gamma may move all the same."""
    return torch.where(gamma == 0, torch.zeros_like(yhat), tangent(yhat, sigma, gamma, along))


def output_without_its_graph(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Return a copy, as of a kernel that was never registered for derivatives."""
    return right(x, gamma, beta, eps).detach().clone()


def volumes_by_slices(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Forget the depth of volumes among the axes."""
    axes = (0, 3, 4) if x.ndim == 5 else batch_axes(x)
    centred = x - x.mean(axes, keepdim=True)
    return affine(centred / torch.sqrt((centred**2).mean(axes, keepdim=True) + eps), gamma, beta)


def centres_and_restores(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Centre x where it lies, and add the mean again at the end, which does not bring x back."""
    centre = mean(x)
    with torch.no_grad():
        x.data -= centre
        x.data += centre
    return right(x, gamma, beta, eps)


class MovesAtItsOwnPace(Remembering):
    """Ignores the momentum that it is made with."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Move by a tenth."""
        self.momentum = 0.1
        super().remember(x, mean, variance)


class AveragesAllBatches(Remembering):
    """Takes the average of all batches, as where momentum is None, whatever it is made with."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Weigh the batch by one over their number."""
        self.num_batches_tracked += 1
        self.momentum = 1 / float(self.num_batches_tracked)
        super().remember(x, mean, variance)


class CorrectsABatchOfOne(Remembering):
    """Divides by m - 1 = 0 where a channel has one entry, and remembers a NaN for ever."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Correct whatever comes."""
        m = torch.tensor(float(batch_size(x)), dtype=x.dtype)
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance * m / (m - 1), self.momentum)


class SkipsEverySecondStep(Remembering):
    """Remembers every second batch only."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Count, and skip."""
        self.num_batches_tracked += 1
        if self.num_batches_tracked % 2:
            super().remember(x, mean, variance)


HALF, TORCH = {"dtypes": ("bfloat16",)}, {"like": "torch"}
FAULTS = (
    Fault(tail_of_channels_misread, "left over by vectors", "forward"),
    Fault(lanes_merged_as_equal, "statistics of other numbers", "forward"),
    Fault(eps_added_to_the_entries, "eps is added to the centred", "forward"),
    Fault(nan_in_the_whole_vector, "leaves its channel", "forward", "not finite", at=("NaN",)),
    Fault(partial_sums_of_a_larger_batch, "kept from one call", "repeated"),
    Fault(gradients_in_one_workspace, "first one's result", "repeated gradient"),
    Fault(updates_lost_in_a_race, "left to chance", "repeated gradient", at=LAYOUTS),
    Fault(gamma_in_one_pass, "rounds more than two passes", "gradient", "inaccurate"),
    Fault(
        gamma_added_up_in_bfloat16,
        "grows|rounds more",
        "gradient",
        "inaccurate",
        asked=HALF,
        at=("m = 1000", "m = 4097"),
    ),
    Fault(inverse_saved_in_bfloat16, "sigma", "gradient"),
    Fault(kernel_where_nothing_is_recorded, "0 instead of -1|held constant", "gradient"),
    Fault(kernel_where_a_derivative_is_recorded, "derivative is recorded", "recorded gradient"),
    Fault(tangent_of_pruned_channels, "gamma of zero", "jvp", at=("gamma zero",)),
    Fault(output_without_its_graph, "cut off from its input|every term is missing", "gradient"),
    Fault(volumes_by_slices, "NCDHW", "forward", at=LAYOUTS),
    Fault(centres_and_restores, "changes x", "forward", "overwrites"),
    Fault(MovesAtItsOwnPace, "0.9 instead of 0.875", "running", asked=TORCH),
    Fault(AveragesAllBatches, "replaced", "running", asked=TORCH),
    Fault(
        CorrectsABatchOfOne,
        "m - 1 is zero(.|\n)*one entry is treated like any other",
        "running",
        "not finite",
        asked=TORCH,
        at=("m = 1",),
        thread="https://github.com/FluxML/Flux.jl/issues/1992",
    ),
    Fault(SkipsEverySecondStep, "a later one is not", "running", asked=TORCH),
)
