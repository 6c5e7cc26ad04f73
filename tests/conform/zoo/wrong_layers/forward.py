"""Faults in the forward: in the statistics, in eps, in the affine map."""

from __future__ import annotations

import torch
from channels import affine, batch_axes, mean, per_channel
from torch import Tensor

from wrong_layers.fault import LAYOUTS, Fault


def variance(x: Tensor) -> Tensor:
    """Biased variance of each channel, in two passes."""
    return mean((x - mean(x)) ** 2)


def unbiased_variance(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Divide by m - 1 where the batch is normalised."""
    sigma = torch.sqrt(x.var(batch_axes(x), keepdim=True, correction=1) + eps)
    return affine((x - mean(x)) / sigma, gamma, beta)


def deviation_and_eps(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Divide by torch.std + eps, which divides squares by m - 1."""
    axes = batch_axes(x)
    return affine((x - mean(x)) / (x.std(axes, keepdim=True) + eps), gamma, beta)


def deviation_alone(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Divide by torch.std."""
    return affine((x - mean(x)) / x.std(batch_axes(x), keepdim=True), gamma, beta)


def scaled_and_shifted_alone(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise nothing."""
    return affine(x, gamma, beta)


def handed_on(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Do nothing."""
    return x.clone()


def eps_outside_of_the_root(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Add eps to the standard deviation instead of the variance."""
    return affine((x - mean(x)) / (torch.sqrt(variance(x)) + eps), gamma, beta)


def eps_twice(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Add eps once to the variance, and again under the root."""
    guarded = variance(x) + eps
    return affine((x - mean(x)) * torch.rsqrt(guarded + eps), gamma, beta)


def eps_ignored(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Use 1e-5 whatever eps is asked for."""
    return affine((x - mean(x)) / torch.sqrt(variance(x) + 1e-5), gamma, beta)


def eps_left_out(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Guard nothing: a constant channel is 0/0."""
    return affine((x - mean(x)) / torch.sqrt(variance(x)), gamma, beta)


def eps_squared(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take eps for a standard deviation."""
    return affine((x - mean(x)) / torch.sqrt(variance(x) + eps**2), gamma, beta)


def eps_as_a_floor(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Let eps bound the variance from below instead of adding to it."""
    return affine((x - mean(x)) / torch.sqrt(variance(x).clamp_min(eps)), gamma, beta)


def one_pass_variance(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Mean of the squares less the square of the mean, kept from being negative."""
    centre = mean(x)
    spread = (mean(x**2) - centre**2).clamp_min(0)
    return affine((x - centre) / torch.sqrt(spread + eps), gamma, beta)


def one_pass_variance_not_clamped(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Mean of the squares less the square of the mean: negative when cancellation wins."""
    centre = mean(x)
    return affine((x - centre) / torch.sqrt(mean(x**2) - centre**2 + eps), gamma, beta)


def squares_about_zero(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Divide the centred batch by its root mean square about zero."""
    return affine((x - mean(x)) / torch.sqrt(mean(x**2) + eps), gamma, beta)


def variance_with_a_floor(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Keep the variance above 1e-4, which only a near-constant channel notices."""
    return affine((x - mean(x)) / torch.sqrt(variance(x).clamp_min(1e-4) + eps), gamma, beta)


def within_samples_only(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Average each sample's own variance, leaving out how the samples' means differ."""
    space = tuple(range(2, x.ndim))
    spread = mean(x.var(space, keepdim=True, correction=0)) if space else variance(x)
    return affine((x - mean(x)) / torch.sqrt(spread + eps), gamma, beta)


def every_other_entry(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Estimate the variance from every other sample."""
    return affine((x - mean(x)) / torch.sqrt(variance(x[::2]) + eps), gamma, beta)


def last_partial_block_dropped(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Sum whole blocks of 32 samples, and lose the rest of a longer batch."""
    whole = x if len(x) < 32 else x[: len(x) // 32 * 32]
    return affine((x - mean(whole)) / torch.sqrt(variance(whole) + eps), gamma, beta)


def statistics_of_the_first_thousand(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Let the first 1024 samples stand for all."""
    first = x[:1024]
    return affine((x - mean(first)) / torch.sqrt(variance(first) + eps), gamma, beta)


def channels_found_by_their_number(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take the first axis as long as gamma for the channels' axis."""
    channels = x.shape.index(len(gamma))
    others = tuple(axis for axis in range(x.ndim) if axis != channels)
    shape = [-1 if axis == channels else 1 for axis in range(x.ndim)]
    spread, centre = torch.var_mean(x, others, keepdim=True, correction=0)
    return gamma.reshape(shape) * (x - centre) / torch.sqrt(spread + eps) + beta.reshape(shape)


def gamma_on_the_samples(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Let gamma broadcast along the last axis wherever it fits there."""
    yhat = (x - mean(x)) / torch.sqrt(variance(x) + eps)
    fits = x.shape[-1] == len(gamma)
    return (gamma if fits else per_channel(gamma, x)) * yhat + per_channel(beta, x)


def gamma_without_its_sign(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Scale by the absolute value of gamma."""
    return affine((x - mean(x)) / torch.sqrt(variance(x) + eps), gamma.abs(), beta)


def gamma_kept_from_zero(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Scale by gamma + eps, so that the layer can be inverted."""
    return affine((x - mean(x)) / torch.sqrt(variance(x) + eps), gamma + eps, beta)


def beta_inside_of_gamma(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Add beta before gamma scales."""
    yhat = (x - mean(x)) / torch.sqrt(variance(x) + eps)
    return per_channel(gamma, x) * (yhat + per_channel(beta, x))


def nan_in_every_channel(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Spread the statistics with a matrix product, where 0 times NaN is NaN."""
    spread, centre = torch.var_mean(x, batch_axes(x), correction=0)
    identity = torch.eye(len(gamma), dtype=x.dtype)
    yhat = (x - per_channel(centre @ identity, x)) / torch.sqrt(per_channel(spread, x) + eps)
    return affine(yhat, gamma, beta)


def nan_swallowed(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Read a NaN as zero, so that a diverged network looks well."""
    known = torch.nan_to_num(x, nan=0.0)
    return affine((known - mean(known)) / torch.sqrt(variance(known) + eps), gamma, beta)


def rough_inverse_root(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """1/sqrt by the magic number and one Newton step: up to 0.17 per cent off."""
    guarded = variance(x) + eps
    whole, magic = {
        torch.float32: (torch.int32, 0x5F3759DF),
        torch.float64: (torch.int64, 0x5FE6EB50C7B537A9),
    }.get(x.dtype, (torch.int16, 0x59BA))
    rough = (magic - (guarded.detach().view(whole) >> 1)).view(x.dtype)
    return affine((x - mean(x)) * (rough * (1.5 - 0.5 * guarded * rough**2)), gamma, beta)


def batch_of_one_squeezed(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Squeeze the batch before averaging, so that one sample is averaged over its channels."""
    rows = x.movedim(1, -1).reshape(-1, x.shape[1]).squeeze()
    spread, centre = torch.var_mean(rows, 0, correction=0)
    yhat = (x - per_channel(centre, x)) / torch.sqrt(per_channel(spread, x) + eps)
    return affine(yhat, gamma, beta)


FAULTS = (
    Fault(unbiased_variance, r"m - 1", "forward"),
    Fault(deviation_and_eps, r"m - 1 .* eps outside of the root", "forward"),
    Fault(deviation_alone, r"m - 1 .* eps is missing", "forward"),
    Fault(scaled_and_shifted_alone, "x is not normalised", "forward"),
    Fault(handed_on, "x is returned as it is", "forward"),
    Fault(eps_outside_of_the_root, r"eps.*outside", "forward"),
    Fault(eps_twice, r"eps.*(twice|2)", "forward"),
    Fault(eps_ignored, r"eps", "forward"),
    Fault(eps_left_out, r"eps.*(missing|left out|0)", "forward", at=("constant",)),
    Fault(eps_squared, r"eps.*square", "forward"),
    Fault(eps_as_a_floor, r"eps", "forward"),
    Fault(
        one_pass_variance,
        "grows like .* beyond rounding",
        "forward",
        word="inaccurate",
        at=("mean/sd = 2^4", "mean/sd = 2^8", "mean/sd = 2^12"),
        thread="https://github.com/google/objax/issues/182",
    ),
    Fault(
        one_pass_variance_not_clamped,
        "right elsewhere, wrong at mean/sd",
        "forward",
        "not finite",
        at=("mean/sd = 2^12", "mean/sd = 2^18"),
        thread="https://github.com/google/flax/issues/1491",
    ),
    Fault(squares_about_zero, r"about zero|not centred|mean", "forward"),
    Fault(variance_with_a_floor, r"near constant", "forward", at=("near constant",)),
    Fault(within_samples_only, r"NCL", "forward", at=LAYOUTS),
    Fault(every_other_entry, "statistics of other numbers", "forward"),
    Fault(last_partial_block_dropped, r"block|multiple", "forward", at=("m = 1000",)),
    Fault(statistics_of_the_first_thousand, r"m = 4097", "forward", at=("m = 4097",)),
    Fault(
        channels_found_by_their_number,
        r"channel.*(equal|length|axis)",
        "forward",
        at=("channels = length",),
    ),
    Fault(gamma_on_the_samples, r"all lengths equal", "forward", at=LAYOUTS),
    Fault(gamma_without_its_sign, r"\|gamma\||sign", "forward"),
    Fault(gamma_kept_from_zero, r"gamma \+ eps for gamma", "forward"),
    Fault(beta_inside_of_gamma, r"beta", "forward"),
    Fault(nan_in_every_channel, r"infinite|NaN", "forward", "not finite", at=("infinite", "NaN")),
    Fault(nan_swallowed, r"NaN", "forward", at=("NaN",)),
    Fault(rough_inverse_root, r"sigma|root|factor", "forward"),
    Fault(batch_of_one_squeezed, r"m = 1|one sample|batch of one", "forward", at=("m = 1",)),
)
