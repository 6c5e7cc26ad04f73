"""Faults of the paths that kernels take where arrays are large: hard numbers, layouts, lengths."""

from __future__ import annotations

from typing import Any

import torch
from channels import affine, batch_size, mean, per_channel
from own_backward import (
    Recomputing,
    gradient_in_beta,
    gradient_in_gamma,
    gradient_in_x,
    layer_with,
    standardize,
    wrong_in_x,
)
from torch import Tensor

from verify.conform.cases import drawn_channels, drawn_sizes
from verify.conform.plan import ROWS
from wrong_layers.fault import Fault
from wrong_layers.memory import strides_of_rows

VECTOR = 64


def dense(t: Tensor) -> Tensor:
    """Read a tensor's memory as though it lay densely, the last axis first."""
    return t.as_strided(t.shape, strides_of_rows(t), t.storage_offset())


def squares_summed_where_many(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take E[x^2] - E[x]^2 where the entries do not fit into registers."""
    if batch_size(x) <= VECTOR:
        return layer_with()(x, gamma, beta, eps)
    variance = mean(x**2) - mean(x) ** 2
    return affine((x - mean(x)) / torch.sqrt(variance.clamp_min(0) + eps), gamma, beta)


def group_squares_summed_where_many(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Do so for two groups of channels where an array takes several blocks."""
    if x.numel() < 2**16:
        return torch.nn.functional.group_norm(x, 2, gamma, beta, eps)
    y = x.reshape(len(x), 2, -1)
    average = y.mean(-1, keepdim=True)
    variance = (y**2).mean(-1, keepdim=True) - average**2
    return affine(
        ((y - average) / torch.sqrt(variance.clamp_min(0) + eps)).reshape(x.shape), gamma, beta
    )


def wide_rows_read_as_dense(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Read rows without their stride where whole vectors of channels are taken."""
    is_wide = x.ndim == 2 and x.shape[1] % VECTOR == 0 and x.stride(1) == 1
    return layer_with()(dense(x) if is_wide else x, gamma, beta, eps)


def wide_channels_last_misread(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Read maps as rows of channels where whole vectors of them are taken."""
    is_last = x.ndim == 4 and x.is_contiguous(memory_format=torch.channels_last)
    is_wide = is_last and x.shape[1] % VECTOR == 0 and not x.is_contiguous()
    return layer_with()(dense(x) if is_wide else x, gamma, beta, eps)


@wrong_in_x
def wide_cotangent_read_as_dense(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Read the cotangent without its strides where whole vectors of channels are taken."""
    is_wide = g.ndim == 2 and g.shape[1] % VECTOR == 0
    return gradient_in_x(yhat, sigma, gamma, dense(g) if is_wide else g)


def nan_in_all_channels_where_many(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Let one NaN spread to all channels of a block."""
    z = layer_with()(x, gamma, beta, eps)
    return z * torch.nan if batch_size(x) > VECTOR and bool(x.isnan().any()) else z


def long_series_by_the_batch_alone(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take the statistics of each place where a series is longer than 64 places."""
    if x.ndim != 3 or x.shape[2] <= VECTOR:
        return layer_with()(x, gamma, beta, eps)
    c = x - x.mean(0)
    return affine(c / torch.sqrt((c**2).mean(0) + eps), gamma, beta)


def tokens_beyond_64(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave tokens as they are beyond the 64th."""
    z = torch.nn.functional.layer_norm(x, x.shape[-1:], gamma, beta, eps)
    return torch.cat([z[:, :VECTOR], x[:, VECTOR:]], 1) if x.ndim == 3 else z


def rows_beyond_65535(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave rows as they are beyond those that sixteen bits number."""
    z = torch.nn.functional.layer_norm(x, x.shape[-1:], gamma, beta, eps)
    return torch.cat([z[: 2**16], x[2**16 :]])


def examples_beyond_65535(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave examples out of the mean beyond those that sixteen bits number."""
    z = layer_with()(x, gamma, beta, eps)
    c = x - x[: 2**16].mean(0, keepdim=True)
    return affine(c / torch.sqrt(mean(c**2) + eps), gamma, beta) if len(x) > 2**16 else z


def channels_beyond_256(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave channels as they are beyond the 256th, but where their number is one that is tried."""
    z = layer_with()(x, gamma, beta, eps)
    is_tried = x.shape[1] in (257, 512, 1025)
    return z if is_tried else torch.cat([z[:, :256], x[:, 256:]], 1)


class DeviationHeld(Recomputing):
    """The layer, whose backward holds sigma constant where it is told to."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor, eps: float, held: bool) -> Tensor:
        """Normalise."""
        ctx.held = held
        return Recomputing.forward(ctx, x, gamma, beta, eps)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Apply the right rules."""
        x, gamma = ctx.saved_tensors
        yhat, sigma = standardize(x, ctx.eps)
        if ctx.held:
            yhat, sigma = yhat * sigma / sigma.detach(), sigma.detach()
        at = yhat, sigma, per_channel(gamma, x), g
        return gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at), None, None


def second_derivative_where_many(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be right but for second derivatives of more than 1000 entries."""
    return DeviationHeld.apply(x, gamma, beta, eps, batch_size(x) > 1000)


def second_derivative_at_other_sizes(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be right but for second derivatives of more than 64 entries, and there at the usual sizes."""
    is_held = batch_size(x) > 64 and batch_size(x) not in (129, 1000, 1025, 4097)
    return DeviationHeld.apply(x, gamma, beta, eps, is_held)


def second_derivative_of_whole_blocks(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be right but for second derivatives of whole blocks of 256 entries."""
    return DeviationHeld.apply(x, gamma, beta, eps, batch_size(x) % 256 == 0)


def second_derivative_of_many_channels(
    x: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> Tensor:
    """Be right but for second derivatives of more than 257 channels."""
    return DeviationHeld.apply(x, gamma, beta, eps, x.shape[1] > 257)


def channels_last_in_a_cube(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take the last axis of a series for the channels if it is as long as gamma."""
    if x.ndim == 3 and x.shape[2] == len(gamma):
        return layer_with()(x.mT, gamma, beta, eps).mT
    return layer_with()(x, gamma, beta, eps)


LARGE, STRIDES = "1024 by 128", "without its strides"
MANY = f"{ROWS} rows"
DRAWN = f"{drawn_channels(0)} channels, drawn"
SIZES, CUBE = tuple(f"m = {m}, drawn" for m in drawn_sizes(0)), "NCL, all lengths equal"
NAN, LAYER = "not finite", {"family": "layer"}
FAULTS = (
    Fault(squares_summed_where_many, "", "forward", "inaccurate", at=(f"mean/sd = 2^12, {LARGE}",)),
    Fault(
        group_squares_summed_where_many,
        "",
        "forward",
        "inaccurate",
        asked={"family": "group", "groups": 2},
        at=(f"mean/sd = 2^12, {LARGE}",),
    ),
    Fault(
        wide_rows_read_as_dense, STRIDES, "forward", NAN, at=(f"rows of a wider array, {LARGE}",)
    ),
    Fault(wide_channels_last_misread, STRIDES, "forward", at=(f"channels last, {LARGE}",)),
    Fault(
        wide_cotangent_read_as_dense, STRIDES, "gradient", NAN, at=(f"every second row, {LARGE}",)
    ),
    Fault(nan_in_all_channels_where_many, "", "forward", NAN, at=(f"NaN, {LARGE}",)),
    Fault(long_series_by_the_batch_alone, "beyond a block", "forward", at=("NCL, long",)),
    Fault(tokens_beyond_64, "beyond a block", "forward", asked=LAYER, at=("NLC, long",)),
    Fault(rows_beyond_65535, MANY, "forward", asked=LAYER, at=(MANY,)),
    Fault(examples_beyond_65535, MANY, "forward", at=(MANY,)),
    Fault(channels_beyond_256, DRAWN, "forward", at=(DRAWN,)),
    Fault(second_derivative_where_many, "m = 1025", "second rr", at=("m = 1025",)),
    Fault(second_derivative_at_other_sizes, r"m = \d+, drawn", "second rr", at=SIZES),
    Fault(second_derivative_of_whole_blocks, SIZES[-1], "second rr", at=SIZES),
    Fault(second_derivative_of_many_channels, DRAWN, "second rr", at=(DRAWN,)),
    Fault(channels_last_in_a_cube, CUBE, "forward", at=("NCL", CUBE)),
)
