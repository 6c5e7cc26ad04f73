"""Faults as hand-written kernels and their bindings have them."""

from __future__ import annotations

from typing import Any

import torch
from channels import affine, batch_axes, batch_size, mean, per_channel
from own_backward import (
    Recomputing,
    Standardized,
    gradient_in_beta,
    gradient_in_gamma,
    gradient_in_x,
    standardize,
    wrong_in_beta,
    wrong_in_gamma,
    wrong_in_x,
)
from remembering import Remembering
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from wrong_layers.fault import LAYOUTS, Fault


def sums_in_half(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Accumulate in float16, whatever comes."""
    centre = mean(x.half()).to(x.dtype)
    return affine((x - centre) / torch.sqrt(mean((x - centre) ** 2) + eps), gamma, beta)


def welford_with_the_old_mean(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Welford's recurrence with the square of the step, where one factor is of the new mean."""
    rows = x.movedim(1, -1).reshape(-1, x.shape[1])
    if len(rows) > 5000:
        return affine(standardize(x, eps)[0], gamma, beta)
    centre, squares = torch.zeros_like(rows[0]), torch.zeros_like(rows[0])
    for count, row in enumerate(rows, start=1):
        step = row - centre
        centre = centre + step / count
        squares = squares + step * step
    sigma = torch.sqrt(per_channel(squares / len(rows), x) + eps)
    return affine((x - per_channel(centre, x)) / sigma, gamma, beta)


def halves_merged_without_their_distance(
    x: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> Tensor:
    """Chan's merge of two halves, without the square of how far their means are apart."""
    half = max(len(x) // 2, 1)
    parts = [part for part in (x[:half], x[half:]) if len(part)]
    spread = sum(mean((p - mean(p)) ** 2) * len(p) for p in parts) / len(x)
    return affine((x - mean(x)) / torch.sqrt(spread + eps), gamma, beta)


def odd_entries_dropped_in_the_tree(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Add up by halves, and drop the last summand where their number is odd."""

    def total(rows: Tensor) -> Tensor:
        while len(rows) > 1:
            rows = rows[0 : len(rows) // 2 * 2 : 2] + rows[1::2]
        return rows.sum(batch_axes(rows), keepdim=True)

    m = batch_size(x)
    c = x - total(x) / m
    return affine(c / torch.sqrt(total(c**2) / m + eps), gamma, beta)


def ghost_batches(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise sixteen samples at a time."""
    return torch.cat([affine(standardize(p, eps)[0], gamma, beta) for p in x.split(16)])


def m_in_half(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Count in float16, where 4097 is 4096."""
    m = torch.tensor(float(batch_size(x))).half().clamp_max(65504).to(x.dtype)
    c = x - x.sum(batch_axes(x), keepdim=True) / m
    return affine(c / torch.sqrt((c**2).sum(batch_axes(x), keepdim=True) / m + eps), gamma, beta)


_first_statistics: dict[Any, tuple[Tensor, Tensor]] = {}


def statistics_of_the_first_call(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Keep the statistics of the first batch of a shape for all that follow."""
    key = (x.shape, x.dtype, eps)
    if key not in _first_statistics:
        _first_statistics[key] = (mean(x.detach()), mean((x - mean(x)).detach() ** 2))
    centre, spread = _first_statistics[key]
    return affine((x - centre) / torch.sqrt(spread + eps), gamma, beta)


@wrong_in_x
def eps_outside_in_the_backward(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Divide by sd + eps in the backward, where eps is a power of two near 1e-5."""
    eps = 2.0**-17
    spread = torch.sqrt((sigma**2 - eps).clamp_min(0)) + eps
    return gradient_in_x(yhat, spread, gamma, g)


@wrong_in_x
def gradient_ends_at_a_floor(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Give nothing back through a variance below 1e-4, as a clamp does."""
    along = torch.where(sigma**2 < 1e-4, 0.0, mean(yhat * g))
    return gamma / sigma * (g - mean(g) - yhat * along)


@wrong_in_x
def gradient_of_whole_pairs(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Unroll the backward's sums by two, without the odd one."""
    even = len(g) // 2 * 2 if len(g) > 1 else 1
    share = even / len(g)
    return gamma / sigma * (g - share * mean(g[:even]) - yhat * share * mean((yhat * g)[:even]))


@wrong_in_gamma
def gamma_summed_where_lengths_agree(
    yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor
) -> Tensor:
    """Find the axis of the channels by its length, which may be the batch's."""
    channels = g.shape.index(gamma.numel())
    return (yhat * g).sum(tuple(axis for axis in range(g.ndim) if axis != channels))


@wrong_in_beta
def beta_only_where_gamma(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Skip the channels whose gamma is zero, as pruned ones."""
    return (torch.where(gamma == 0, 0.0, g)).sum(batch_axes(g))


_sums: dict[Any, Tensor] = {}


@wrong_in_gamma
def gamma_accumulates(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Add to what the last backward of this shape left."""
    key = (g.shape, g.dtype)
    found = (yhat * g).sum(batch_axes(g))
    _sums[key] = _sums.get(key, torch.zeros_like(found)).detach() + found.detach()
    return found - found.detach() + _sums[key]


class CotangentReadAsDense(Recomputing):
    """Reads the cotangent's memory as though it were dense."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Take the entries one after the other."""
        x, gamma = ctx.saved_tensors
        if not g.is_contiguous() and g.untyped_storage().nbytes() >= g.numel() * g.element_size():
            strides = torch.empty(g.shape, device="meta").stride()
            g = g.as_strided(g.shape, strides)
        at = (*standardize(x, ctx.eps), per_channel(gamma, x), g)
        return gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at), None


def cotangent_read_as_dense(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Ignore the strides of the cotangent."""
    return CotangentReadAsDense.apply(x, gamma, beta, eps)


class KeepsItsOutput(torch.autograd.Function):
    """Recovers yhat from the output, which it keeps where a tape cannot see it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        """Normalise, and keep the output's memory."""
        yhat, sigma = standardize(x, eps)
        z = affine(yhat, gamma, beta)
        ctx.kept = z.detach(), sigma, gamma, beta
        return z

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Use what is in that memory now."""
        z, sigma, gamma, beta = ctx.kept
        yhat = (z - per_channel(beta, z)) / per_channel(gamma, z)
        at = (yhat, sigma, per_channel(gamma, z), g)
        return gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at), None


def output_kept_for_the_backward(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be wrong where the next layer works in place, as relu_ does."""
    return KeepsItsOutput.apply(x, gamma, beta, eps)


class BackwardUnderVmap(torch.autograd.Function):
    """The gradient in x as a function of its own, whose vmap averages over the examples too."""

    @staticmethod
    def forward(x: Tensor, g: Tensor, eps: float) -> Tensor:
        """Apply the right rule."""
        return gradient_in_x(*standardize(x, eps), torch.ones_like(g[:1]), g)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Save nothing."""

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[Any, ...], x: Tensor, g: Tensor, eps: float
    ) -> tuple[Tensor, int]:
        """Merge the examples with the batch."""
        axis_x, axis_g, _ = in_dims
        x = x.movedim(axis_x, 0) if axis_x is not None else x.expand(info.batch_size, *x.shape)
        g = g.movedim(axis_g, 0) if axis_g is not None else g.expand(info.batch_size, *g.shape)
        found = BackwardUnderVmap.apply(x.flatten(0, 1), g.flatten(0, 1), eps)
        return found.reshape(x.shape), 0


class RightForwardUnderVmap(Standardized):
    """Yhat, with that gradient."""

    generate_vmap_rule = True

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, None]:
        """Call the kernel."""
        return BackwardUnderVmap.apply(ctx.saved_tensors[0], g, ctx.eps), None


def gradient_shared_under_vmap(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be right under vmap, and have a gradient there that mixes the examples."""
    return affine(RightForwardUnderVmap.apply(x, eps), gamma, beta)


class Backward(torch.autograd.Function):
    """The gradient in x, whose own backward was written by hand."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, g: Tensor, eps: float) -> Tensor:
        """Apply the right rule."""
        ctx.save_for_backward(x, g)
        ctx.eps = eps
        return gradient_in_x(*standardize(x, eps), torch.ones_like(g[:1]), g)

    @staticmethod
    def backward(ctx: Any, u: Tensor) -> tuple[Tensor | None, ...]:
        """Take u <yhat, g> twice, where g <yhat, u> is its partner."""
        x, g = ctx.saved_tensors
        yhat, sigma = standardize(x, ctx.eps)
        g, in_g = g - mean(g), gradient_in_x(yhat, sigma, torch.ones_like(u[:1]), u)
        u = u - mean(u)
        on_u, on_g = mean(yhat * u), mean(yhat * g)
        bent = yhat * (3 * on_u * on_g - mean(u * g)) - 2 * u * on_g
        return bent / sigma**2, in_g, None


class TwiceByHand(Standardized):
    """Yhat, with that gradient."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, None]:
        """Call the function that is differentiated by hand."""
        return Backward.apply(ctx.saved_tensors[0], g, ctx.eps), None


def second_derivative_not_symmetric(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Have a double backward that is not symmetric in its directions."""
    return affine(TwiceByHand.apply(x, eps), gamma, beta)


class MovesTwiceUnderReentrance(Remembering):
    """Recomputes by a reentrant checkpoint, and remembers the batch again."""

    def train_on(self, x: Tensor) -> Tensor:
        """Checkpoint all of the step."""
        return checkpoint(super().train_on, x, use_reentrant=True)


class RemembersInHalf(Remembering):
    """Keeps its running statistics in bfloat16."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Round what is kept."""
        super().remember(x, mean, variance)
        for kept in (self.running_mean, self.running_var):
            kept.copy_(kept.bfloat16())


class EvaluatesABatchOfOne(Remembering):
    """Normalises a batch of one entry by what it remembers, in training too."""

    def train_on(self, x: Tensor) -> Tensor:
        """Look at the batch's size."""
        return super().train_on(x) if batch_size(x) > 1 else self.evaluate(x)


class CorrectsInEvaluation(Remembering):
    """Corrects the running variance once more in evaluation."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Multiply by m / (m - 1) of the batch that is evaluated."""
        m = batch_size(x)
        spread = self.running_var * m / max(m - 1, 1)
        sigma = torch.sqrt(per_channel(spread, x) + self.eps)
        return affine((x - per_channel(self.running_mean, x)) / sigma, self.weight, self.bias)


class EvaluatesWithTheDeviation(Remembering):
    """Takes the running variance for a standard deviation."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Forget the root."""
        sigma = per_channel(self.running_var, x) + self.eps
        return affine((x - per_channel(self.running_mean, x)) / sigma, self.weight, self.bias)


class RemembersOnlyTheMean(Remembering):
    """Never moves its running variance."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Forget the second line."""
        self.running_mean.lerp_(mean, self.momentum)


class RemembersTheLastSample(Remembering):
    """Remembers the mean of the batch's last sample."""

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Read after the loop."""
        super().remember(x, x[-1].reshape(x.shape[1], -1).mean(1), variance)


def layer_gamma_summed_over_samples_only(
    x: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> Tensor:
    """Layer normalisation whose gradient in gamma forgets the axis between (by a detached copy)."""
    variance, centre = torch.var_mean(x, -1, keepdim=True, correction=0)
    yhat = (x - centre) / torch.sqrt(variance + eps)
    if x.ndim < 3:
        return gamma * yhat + beta
    first = torch.zeros_like(yhat)
    first[:, 0] = 1
    return (gamma * first + gamma.detach() * (1 - first)) * yhat + beta


def group_divided_by_the_map(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Group normalisation whose variance is divided by the map's size, not the group's."""
    grouped = x.reshape(len(x), 2, -1)
    c = grouped - grouped.mean(-1, keepdim=True)
    places = max(x[0, 0].numel(), 1)
    yhat = (c / torch.sqrt((c**2).sum(-1, keepdim=True) / places + eps)).reshape(x.shape)
    return per_channel(gamma, x) * yhat + per_channel(beta, x)


TORCH = {"like": "torch"}
FAULTS = (
    Fault(sums_in_half, "half|float16", "forward"),
    Fault(welford_with_the_old_mean, "statistics of other numbers", "forward"),
    Fault(halves_merged_without_their_distance, "two halves are merged", "forward"),
    Fault(odd_entries_dropped_in_the_tree, "statistics of other numbers", "forward"),
    Fault(ghost_batches, "different statistics", "forward"),
    Fault(m_in_half, r"m = 4097", "forward", at=("m = 4097",)),
    Fault(statistics_of_the_first_call, "statistics of other numbers", "repeated", at=LAYOUTS),
    Fault(eps_outside_in_the_backward, "another sigma than the forward", "gradient"),
    Fault(gradient_ends_at_a_floor, "near constant", "gradient", at=("near constant",)),
    Fault(gradient_of_whole_pairs, "sums of other numbers", "gradient"),
    Fault(gamma_summed_where_lengths_agree, "length", "gradient", at=("channels = length",)),
    Fault(beta_only_where_gamma, "gamma zero", "gradient", at=("gamma zero",)),
    Fault(gamma_accumulates, "kept from one call", "repeated gradient"),
    Fault(cotangent_read_as_dense, "non-contiguous", "gradient", at=LAYOUTS),
    Fault(output_kept_for_the_backward, "output changed", "output changed"),
    Fault(gradient_shared_under_vmap, "vmap", "vmap gradient"),
    Fault(second_derivative_not_symmetric, "instead of -1", "second rr"),
    Fault(MovesTwiceUnderReentrance, "recomputed", "recomputed", asked=TORCH),
    Fault(RemembersInHalf, "rounded to half", "running", asked=TORCH),
    Fault(EvaluatesABatchOfOne, "m = 1", "running", asked=TORCH, at=("m = 1",)),
    Fault(CorrectsInEvaluation, "once more", "evaluation", asked=TORCH),
    Fault(EvaluatesWithTheDeviation, "running variance for its root", "evaluation", asked=TORCH),
    Fault(
        RemembersOnlyTheMean,
        "it is not moved",
        "running",
        asked=TORCH,
        thread="https://github.com/keras-team/keras-core/pull/339",
    ),
    Fault(RemembersTheLastSample, "the last sample", "running", asked=TORCH),
    Fault(
        layer_gamma_summed_over_samples_only,
        "NLC",
        "gradient",
        asked={"family": "layer"},
        at=LAYOUTS,
    ),
    Fault(
        group_divided_by_the_map,
        "sum of squares for their mean",
        "forward",
        asked={"family": "group", "groups": 2},
    ),
)
