"""Faults that a kernel's author planted: right at every case that the examination had."""

from __future__ import annotations

from typing import Any

import torch
from channels import affine, batch_axes, batch_size, mean, per_channel
from own_backward import (
    Recomputing,
    gradient_in_beta,
    gradient_in_gamma,
    gradient_in_x,
    layer_with,
    standardize,
)
from torch import Tensor

from wrong_layers.fault import Fault
from wrong_layers.kernels import Backward

right = layer_with()


def is_row(x: Tensor) -> bool:
    """Whether there are no places."""
    return x.ndim == len("NC")


def maps_in_one_pass(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take the variance of maps as a difference of squares."""
    if is_row(x):
        return right(x, gamma, beta, eps)
    variance = (mean(x * x) - mean(x) ** 2).clamp_min(0)
    return affine((x - mean(x)) / torch.sqrt(variance + eps), gamma, beta)


def planes_in_one_pass(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Do so in each plane, and merge the planes exactly."""
    if x.ndim != len("NCHW"):
        raise ValueError("expected x of four axes")
    means = x.mean((2, 3), keepdim=True)
    variances = ((x * x).mean((2, 3), keepdim=True) - means**2).clamp_min(0)
    of_all = means.mean(0, keepdim=True)
    variance = (variances + (means - of_all) ** 2).mean(0, keepdim=True)
    return affine((x - of_all) / torch.sqrt(variance + eps), gamma, beta)


def maps_small_variance_floored(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Let the variance of maps be no less than a thousandth."""
    if is_row(x):
        return right(x, gamma, beta, eps)
    c = x - mean(x)
    return affine(c / torch.sqrt(mean(c * c).clamp_min(1e-3) + eps), gamma, beta)


def maps_nan_swallowed(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Put a zero for what is no number in maps."""
    return right(x if is_row(x) else torch.nan_to_num(x), gamma, beta, eps)


def volumes_width_forgotten(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise each column of a volume on its own."""
    axes = (0, 2, 3) if x.ndim == len("NCDHW") else batch_axes(x)
    variance, centre = torch.var_mean(x, axes, keepdim=True, correction=0)
    return affine((x - centre) / torch.sqrt(variance + eps), gamma, beta)


def volumes_channels_last_misread(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Write volumes with the channels last in another order than they were read."""
    is_last = x.ndim == len("NCDHW") and x.is_contiguous(memory_format=torch.channels_last_3d)
    if not is_last or x.is_contiguous():
        return right(x, gamma, beta, eps)
    n, c, d, h, w = x.shape
    rows = right(x.permute(0, 2, 3, 4, 1).flatten(0, 3), gamma, beta, eps)
    return rows.reshape(n, w, h, d, c).permute(0, 4, 3, 2, 1).reshape(x.shape)


def offset_of_contiguous_ignored(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Read a contiguous array from where its memory begins."""
    is_later = x.is_contiguous() and x.storage_offset()
    return right(x.as_strided(x.shape, x.stride(), 0) if is_later else x, gamma, beta, eps)


def workspace_beyond_8192(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take the first channel's variance for all, where partial sums are needed."""
    if batch_size(x) <= 8192 or x.shape[1] == 1:
        return right(x, gamma, beta, eps)
    c = x - mean(x)
    variance = mean(c * c)[:, :1].expand(mean(x).shape)
    return affine(c / torch.sqrt(variance + eps), gamma, beta)


def planes_beyond_128(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave out the tail of a plane that is larger than a block."""
    if is_row(x) or x[0, 0].numel() <= 128:
        return right(x, gamma, beta, eps)
    places = x.flatten(2)
    whole = places[..., : places.shape[2] // 128 * 128]
    variance, centre = torch.var_mean(whole, (0, 2), keepdim=True, correction=0)
    yhat = (places - centre) / torch.sqrt(variance + eps)
    return affine(yhat.reshape(x.shape), gamma, beta)


def nan_in_gamma_swallowed(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Put a zero for a gamma that is no number."""
    return right(x, torch.nan_to_num(gamma), beta, eps)


def all_gradients(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of the layer that saved its input."""
    x, gamma = ctx.saved_tensors
    at = (*standardize(x, ctx.eps), per_channel(gamma, x), g)
    return gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at)


class FormatOfX(Recomputing):
    """Reads a dense cotangent in the order of x."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Take the one's strides for the other's."""
        x = ctx.saved_tensors[0]
        is_dense = all(t.untyped_storage().nbytes() == t.numel() * t.itemsize for t in (x, g))
        return *all_gradients(ctx, g.as_strided(g.shape, x.stride()) if is_dense else g), None


def cotangent_in_the_format_of_x(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be right where x and the cotangent are stored alike."""
    return FormatOfX.apply(x, gamma, beta, eps)


class OneNumberReadAsMany(Recomputing):
    """Reads beyond the one number that the cotangent of a sum is."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Find other numbers there."""
        if g.numel() > 1 and not any(g.stride()):
            g = torch.cat([g.flatten()[:1], g.new_full((g.numel() - 1,), 0.5)]).reshape(g.shape)
        return *all_gradients(ctx, g), None


def cotangent_of_a_sum_misread(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be right but for the cotangent of a sum."""
    return OneNumberReadAsMany.apply(x, gamma, beta, eps)


class FiniteCotangent(Recomputing):
    """Puts zeros into the cotangent."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Hide what is not finite."""
        return *all_gradients(ctx, torch.where(torch.isfinite(g), g, 0)), None


def cotangent_made_finite(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Give a finite gradient to a loss that is not finite."""
    return FiniteCotangent.apply(x, gamma, beta, eps)


class KeptGradients(Recomputing):
    """Computes its gradients once for each forward pass."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Give the second loss what the first one got."""
        if not hasattr(ctx, "kept"):
            ctx.kept = all_gradients(ctx, g)
        return *ctx.kept, None


def backward_kept_for_the_second_loss(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Keep the gradients, whatever the cotangent."""
    return KeptGradients.apply(x, gamma, beta, eps)


class FirstLayer(Recomputing):
    """Is wrong in gamma where x alone needs no gradient."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Forget to normalise x there."""
        dx, dgamma, dbeta = all_gradients(ctx, g)
        if ctx.needs_input_grad[:3] == (False, True, True):
            dgamma = (ctx.saved_tensors[0] * g).sum(batch_axes(g))
        return dx, dgamma, dbeta, None


def gamma_of_the_first_layer(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be wrong in the first layer of a network."""
    return FirstLayer.apply(x, gamma, beta, eps)


class FrozenGamma(Recomputing):
    """Is wrong in beta where gamma alone needs no gradient."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Leave both parameters out."""
        dx, dgamma, dbeta = all_gradients(ctx, g)
        is_frozen = ctx.needs_input_grad[:3] == (True, False, True)
        return dx, dgamma, torch.zeros_like(dbeta) if is_frozen else dbeta, None


def beta_lost_where_gamma_is_frozen(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Freeze beta with gamma."""
    return FrozenGamma.apply(x, gamma, beta, eps)


class Slope(Backward):
    """The gradient in x, with a derivative that holds sigma constant where g needs none."""

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, u: Tensor) -> tuple[Tensor | None, ...]:
        """Hold sigma constant where the cotangent is a constant."""
        with torch.enable_grad():
            x, g = (t.detach().requires_grad_() for t in ctx.saved_tensors)
            yhat, sigma = standardize(x, ctx.eps)
            sigma = sigma if ctx.needs_input_grad[1] else sigma.detach()
            slope = gradient_in_x(yhat, sigma, torch.ones_like(g[:1]), g)
        return *torch.autograd.grad(slope, (x, g), u), None


class WithSlope(torch.autograd.Function):
    """The whole layer, by that gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        """Normalise."""
        ctx.save_for_backward(x, gamma)
        ctx.eps = eps
        return affine(standardize(x, eps)[0], gamma, beta)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Take gamma out, so that a constant cotangent stays one where gamma is constant, too."""
        x, gamma = ctx.saved_tensors
        yhat = standardize(x, ctx.eps)[0]
        dgamma = (yhat * g).sum(batch_axes(g))
        along = Slope.apply(x, g, ctx.eps)
        return per_channel(gamma, x) * along, dgamma, g.sum(batch_axes(g)), None


def penalty_once(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be wrong in a gradient penalty, whose cotangent is a constant."""
    return WithSlope.apply(x, gamma, beta, eps)


def rows(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise the last axis."""
    variance, centre = torch.var_mean(x, -1, keepdim=True, correction=0)
    return gamma * (x - centre) / torch.sqrt(variance + eps) + beta


def hidden_sizes_without_their_last_block(
    x: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> Tensor:
    """Leave out the last 128 entries at the sizes of a table."""
    if x.shape[-1] not in (768, 1024, 1536, 2048, 3072, 4096, 5120, 8192):
        return rows(x, gamma, beta, eps)
    variance, centre = torch.var_mean(x[..., :-128], -1, keepdim=True, correction=0)
    return gamma * (x - centre) / torch.sqrt(variance + eps) + beta


def transposed_rows_read_as_dense(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Read a dense array as one whose rows lie one behind the other."""
    is_dense = x.untyped_storage().nbytes() == x.numel() * x.itemsize
    if is_dense and not x.is_contiguous() and 0 not in x.stride():
        x = x.as_strided(x.shape, torch.empty(x.shape, device="meta").stride())
    return rows(x, gamma, beta, eps)


def expanded_rows_misread(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise the first of rows that are one, and leave the others zero."""
    if x.shape[0] == 1 or x.stride(0):
        return rows(x, gamma, beta, eps)
    return torch.cat([rows(x[:1], gamma, beta, eps), torch.zeros_like(x[1:])])


def group_gamma_by_twos(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Count the channels of a group up to two where there are more."""
    grouped = x.reshape(len(x), 2, -1)
    variance, centre = torch.var_mean(grouped, -1, keepdim=True, correction=0)
    yhat = ((grouped - centre) / torch.sqrt(variance + eps)).reshape(x.shape)
    of_group = x.shape[1] // 2
    if of_group > 2 and x.ndim > len("NC") and x[0, 0].numel() > 1:
        k = torch.arange(x.shape[1])
        k = k // of_group * of_group + k % of_group % 2
        gamma, beta = gamma[k], beta[k]
    return affine(yhat, gamma, beta)


class SamplesInPairs(torch.autograd.Function):
    """Group normalisation by one group, whose parameters' gradients leave the odd sample out."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        """Normalise each sample."""
        ctx.save_for_backward(x, gamma)
        ctx.eps = eps
        return affine(of_samples(x, eps), gamma, beta)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Sum over pairs of samples."""
        x, gamma = ctx.saved_tensors
        with torch.enable_grad():
            at = x.detach().requires_grad_()
            yhat = of_samples(at, ctx.eps)
        (dx,) = torch.autograd.grad(yhat, at, per_channel(gamma, x) * g)
        even = slice(len(x) // 2 * 2 or 1)
        axes = batch_axes(g)
        return dx, (yhat.detach() * g)[even].sum(axes), g[even].sum(axes), None


def of_samples(x: Tensor, eps: float) -> Tensor:
    """Standardise each sample."""
    axes = tuple(range(1, x.ndim))
    variance, centre = torch.var_mean(x, axes, keepdim=True, correction=0)
    return (x - centre) / torch.sqrt(variance + eps)


def group_pairs_once(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Be right for two samples."""
    return SamplesInPairs.apply(x, gamma, beta, eps)


def instance_third_sample_by_the_second(
    x: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> Tensor:
    """Instance normalisation that centres the third sample by the second's mean."""
    if is_row(x):
        raise ValueError("expected x with places")
    space = tuple(range(2, x.ndim))
    variance, centre = torch.var_mean(x, space, keepdim=True, correction=0)
    centre = torch.cat([centre[:2], centre[1:2].expand(centre[2:].shape)])
    return affine((x - centre) / torch.sqrt(variance + eps), gamma, beta)


UNREAD = "without its strides"
LEAVES = "leaves its channel"
INACCURATE, NAN = "inaccurate", "not finite"
LAYER, INSTANCE = {"family": "layer"}, {"family": "instance"}
GROUP, TWO_GROUPS = {"family": "group"}, {"family": "group", "groups": 2}
FAULTS = (
    Fault(maps_in_one_pass, "", "forward", INACCURATE, at=("mean/sd = 2^12, NCHW",)),
    Fault(planes_in_one_pass, "", "forward", INACCURATE, at=("mean/sd = 2^12",)),
    Fault(maps_small_variance_floored, "wrong at tiny", "forward", at=("tiny (2^-20), NCHW",)),
    Fault(maps_nan_swallowed, LEAVES, "forward", at=("NaN, NCHW",)),
    Fault(volumes_width_forgotten, "maps", "forward", at=("NCDHW",)),
    Fault(volumes_channels_last_misread, UNREAD, "forward", at=("channels last, NCDHW",)),
    Fault(
        offset_of_contiguous_ignored,
        "memory is read without its strides",
        "forward",
        NAN,
        at=("offset",),
        thread="https://github.com/pytorch/pytorch/issues/133520",
    ),
    Fault(workspace_beyond_8192, "beyond a block", "forward", at=("m = 2^16",)),
    Fault(planes_beyond_128, "blocks of 128", "forward", at=("one plane",)),
    Fault(nan_in_gamma_swallowed, LEAVES, "forward", at=("NaN in gamma",)),
    Fault(cotangent_in_the_format_of_x, UNREAD, "gradient", at=("channels last g",)),
    Fault(cotangent_of_a_sum_misread, UNREAD, "gradient", at=("one number",)),
    Fault(cotangent_made_finite, LEAVES, "gradient", at=("NaN in the cotangent",)),
    Fault(backward_kept_for_the_second_loss, "or keeps it", "gradient twice"),
    Fault(gamma_of_the_first_layer, "which inputs need", "one at a time"),
    Fault(beta_lost_where_gamma_is_frozen, "which inputs need", "one at a time"),
    Fault(penalty_once, "whether the cotangent needs a gradient", "second rr"),
    Fault(
        hidden_sizes_without_their_last_block,
        "wrong at m = 768",
        "forward",
        asked=LAYER,
        at=("m = 768", "m = 4096"),
    ),
    Fault(transposed_rows_read_as_dense, UNREAD, "forward", asked=LAYER, at=("transposed",)),
    Fault(expanded_rows_misread, UNREAD, "forward", asked=LAYER, at=("expanded x, NC",)),
    Fault(group_gamma_by_twos, "maps", "forward", asked=TWO_GROUPS, at=("NCL",)),
    Fault(group_pairs_once, "", "gradient", asked=GROUP),
    Fault(instance_third_sample_by_the_second, "", "forward", asked=INSTANCE),
)
