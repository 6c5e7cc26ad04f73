"""Faults of precision: what is rounded where, and what type comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from channels import affine, batch_axes, batch_size, mean
from own_backward import layer_with, standardize
from torch import Tensor

from wrong_layers.fault import Fault
from wrong_layers.reported import inverse_root

HALF = {"dtypes": ("float32", "float64", "float16", "bfloat16")}


def single_precision_inside(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Compute in float32 whatever comes, and return the type that came."""
    yhat = standardize(x.float(), eps)[0].to(x.dtype)
    return affine(yhat, gamma, beta)


def single_precision_out(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Compute half precision in float32, and forget to go back."""
    wide = torch.promote_types(x.dtype, torch.float32)
    return affine(standardize(x.to(wide), eps)[0], gamma.to(wide), beta.to(wide))


def gradient_in_single_precision(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Send the cotangent of a float64 batch through float32."""
    return ThroughSingle.apply(layer_with()(x, gamma, beta, eps))


class ThroughSingle(torch.autograd.Function):
    """The identity, whose cotangent is rounded to float32."""

    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor) -> Tensor:
        """Return the same."""
        return z.clone()

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[Tensor], output: Tensor) -> None:
        """Save nothing."""

    @staticmethod
    def backward(ctx: object, g: Tensor) -> Tensor:
        """Round."""
        return g.float().to(g.dtype)


def halved_by_pairs(x: Tensor) -> Tensor:
    """Sum over the samples by pairs, each sum rounded to the type of the summands."""
    while len(x) > 1:
        rest = x[len(x) // 2 * 2 :]
        x = torch.cat([x[0 : len(x) - len(rest) : 2] + x[1::2], rest])
    return x.sum(batch_axes(x), keepdim=True)


def sums_in_half_precision(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Add up in the type of the input: half precision ends at 65504."""
    m = batch_size(x)
    c = x - halved_by_pairs(x) / m
    return affine(c / torch.sqrt(halved_by_pairs(c**2) / m + eps), gamma, beta)


def squares_in_half_precision(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Square in half precision, where 256 squared is infinite, and average in float32."""
    wide = torch.promote_types(x.dtype, torch.float32)
    c = x - mean(x.to(wide)).to(x.dtype)
    return affine(c / torch.sqrt(mean((c**2).to(wide)) + eps).to(x.dtype), gamma, beta)


def mean_rounded_to_bfloat16(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Keep the mean in bfloat16, with two digits and a half."""
    c = x - mean(x).to(torch.bfloat16).to(x.dtype)
    return affine(c / torch.sqrt(mean(c**2) + eps), gamma, beta)


def eps_in(dtype: torch.dtype) -> Callable[..., Tensor]:
    """The layer that converts eps to a narrower type."""

    def layer(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        return affine(standardize(x, float(torch.tensor(eps, dtype=dtype)))[0], gamma, beta)

    layer.__name__ = f"eps_in_{str(dtype).removeprefix('torch.')}"
    return layer


class AddedUpInHalf(torch.autograd.Function):
    """RMS normalisation whose gradient in gamma is added up in half precision, row by row."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, eps: float) -> Tensor:
        """Normalise in single precision."""
        ctx.save_for_backward(x, gamma)
        ctx.eps = eps
        return (gamma * x.float() * inverse_root(x.float(), eps)).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:
        """Be exact, but for the sum's type."""
        x, gamma = ctx.saved_tensors
        inverse = inverse_root(x.float(), ctx.eps)
        yhat, pulled = x.float() * inverse, g.float() * gamma.float()
        dx = (pulled - yhat * (yhat * pulled).mean(-1, keepdim=True)) * inverse
        products = (g.float() * yhat).to(x.dtype).reshape(-1, x.shape[-1])
        dgamma = torch.zeros_like(gamma)
        for row in products:
            dgamma = dgamma + row
        return dx.to(x.dtype), dgamma, None


def rms_gamma_added_up_in_half(x: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Add up row by row in the type of the input."""
    return AddedUpInHalf.apply(x, gamma, eps)


FAULTS = (
    Fault(single_precision_inside, r"float32|single", "forward"),
    Fault(single_precision_out, r"float32|dtype", "forward", asked=HALF),
    Fault(gradient_in_single_precision, r"float32|single", "gradient"),
    Fault(
        sums_in_half_precision,
        r"variance beyond the range",
        "forward",
        "inaccurate",
        HALF,
        at=("variance beyond the range",),
    ),
    Fault(
        squares_in_half_precision,
        r"variance beyond the range",
        "forward",
        "inaccurate",
        HALF,
        at=("variance beyond the range",),
    ),
    Fault(mean_rounded_to_bfloat16, "rounded to half", "forward"),
    Fault(eps_in(torch.float32), "eps is rounded to single precision", "forward"),
    Fault(eps_in(torch.float16), "eps is rounded to float16", "forward"),
    Fault(eps_in(torch.bfloat16), "eps is rounded to bfloat16", "forward"),
    Fault(
        rms_gamma_added_up_in_half,
        "66561 rows, rounds more than two passes do",
        "gradient",
        "inaccurate",
        {"family": "rms", "dtypes": ("float16", "bfloat16")},
        at=("66561 rows",),
    ),
)
