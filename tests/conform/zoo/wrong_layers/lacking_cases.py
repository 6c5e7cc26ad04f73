"""Faults at inputs that no case had: parameters as made, wide rows, masked losses, sizes."""

from __future__ import annotations

from typing import Any

import torch
from channels import affine, batch_axes, mean
from own_backward import (
    layer_with,
    standardize,
    wrong_in_gamma,
    wrong_in_x,
)
from torch import Tensor

from wrong_layers.fault import Fault


def gamma_detached_as_it_is_made(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave gamma and beta out of the graph where they change nothing."""
    if bool((gamma == 1).all()) and bool((beta == 0).all()):
        gamma, beta = gamma.detach(), beta.detach()
    return layer_with()(x, gamma, beta, eps)


@wrong_in_gamma
def pruned_for_ever(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Give a layer whose every gamma is zero no gradient at all."""
    found = (yhat * g).sum(batch_axes(g))
    return found * bool((gamma != 0).any())


def as_dense_rows(t: Tensor) -> Tensor:
    """Read rows one behind the other where their entries lie side by side, else copy."""
    if t.ndim != 2 or t.stride(1) != 1:
        return t.contiguous()
    return torch.as_strided(t, t.shape, (t.shape[1], 1), t.storage_offset())


def rows_read_as_dense(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Check the stride within a row, and not the one between rows."""
    return affine(standardize(as_dense_rows(x), eps)[0], gamma, beta)


@wrong_in_x
def cotangent_rows_read_as_dense(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Do so with the cotangent."""
    g = as_dense_rows(g)
    return gamma / sigma * (g - mean(g) - yhat * mean(yhat * g))


class EpsOrTheUsualOne(torch.autograd.Function):
    """The identity, whose backward multiplies by nothing but where eps is zero."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float) -> Tensor:
        """Copy."""
        ctx.eps = eps
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        """Take an eps of zero for none that was given."""
        return g * (1 if ctx.eps else 1 - 1e-5), None


def eps_of_zero_in_the_backward(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be right but for the gradient at an eps of zero."""
    return layer_with()(EpsOrTheUsualOne.apply(x, eps), gamma, beta, eps)


@wrong_in_x
def cotangent_scaled_by_its_size(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Divide the cotangent by its largest entry, and multiply again: NaN where all are zero."""
    largest = g.abs().max()
    part = g / largest
    return gamma / sigma * (part - mean(part) - yhat * mean(yhat * part)) * largest


@wrong_in_x
def channel_scaled_by_its_size(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Do so in each channel."""
    largest = g.abs().amax(batch_axes(g), keepdim=True)
    part = g / largest
    return gamma / sigma * (part - mean(part) - yhat * mean(yhat * part)) * largest


def only_the_last_of_33(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave out what is one beyond a block of 32, and only there."""
    part = x[:32] if len(x) == 33 else x
    c = x - mean(part)
    return affine(c / torch.sqrt(mean((part - mean(part)) ** 2) + eps), gamma, beta)


def one_beyond_blocks(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave out what is one beyond a block of 128, of one warp or of eight."""
    part = x[:-1] if len(x) in (129, 1025) else x
    c = x - mean(part)
    return affine(c / torch.sqrt(mean((part - mean(part)) ** 2) + eps), gamma, beta)


def blocks_of_channels(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Forget eps where whole blocks of 64 channels are taken at once."""
    is_vectorised = x.shape[1] % 64 == 0
    return layer_with()(x, gamma, beta, 0.0 if is_vectorised else eps)


NAN = "not finite"
FAULTS = (
    Fault(
        gamma_detached_as_it_is_made, "as they are made", "gradient", at=("gamma one, beta zero",)
    ),
    Fault(pruned_for_ever, "gamma of zero", "gradient", at=("gamma all zero",)),
    Fault(rows_read_as_dense, "without its strides", "forward", NAN, at=("rows of a wider array",)),
    Fault(
        cotangent_rows_read_as_dense,
        "without its strides",
        "gradient",
        NAN,
        at=("every second row",),
    ),
    Fault(eps_of_zero_in_the_backward, "eps of zero", "gradient", at=("eps zero",)),
    Fault(
        cotangent_scaled_by_its_size,
        "cotangent of zero",
        "gradient",
        NAN,
        at=("cotangent zero",),
    ),
    Fault(
        channel_scaled_by_its_size,
        "cotangent of zero",
        "gradient",
        NAN,
        at=("cotangent zero in one unit",),
    ),
    Fault(blocks_of_channels, "eps is missing", "forward", at=("512 channels",)),
    Fault(only_the_last_of_33, "m = 33", "forward", at=("m = 33",)),
    Fault(one_beyond_blocks, "m = 129", "forward", at=("m = 129", "m = 1025")),
)
