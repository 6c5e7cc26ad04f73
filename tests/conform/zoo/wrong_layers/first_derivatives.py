"""Faults in the first derivatives; the forward is right."""

from __future__ import annotations

import torch
from channels import affine, batch_axes, batch_size, mean
from own_backward import standardize, wrong_in_beta, wrong_in_gamma, wrong_in_x
from torch import Tensor

from wrong_layers.fault import Fault


def variance_detached(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Treat the standard deviation as a constant."""
    c = x - mean(x)
    return affine(c / torch.sqrt(mean(c**2) + eps).detach(), gamma, beta)


def mean_detached(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Treat the mean as a constant."""
    c = x - mean(x).detach()
    return affine(c / torch.sqrt(mean(c**2) + eps), gamma, beta)


def statistics_detached(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Treat mean and standard deviation as constants, as in evaluation."""
    yhat, sigma = standardize(x.detach(), eps)
    centre = x.detach() - sigma * yhat
    return affine((x - centre) / sigma, gamma, beta)


def gamma_detached(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Scale by a copy of gamma that the graph does not know."""
    return affine(standardize(x, eps)[0], gamma.detach(), beta)


@wrong_in_x
def projection_on_yhat_missing(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Leave out the term in <yhat, g>."""
    return gamma / sigma * (g - mean(g))


@wrong_in_x
def projection_on_ones_missing(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Leave out the mean of g."""
    return gamma / sigma * (g - yhat * mean(yhat * g))


@wrong_in_x
def projection_added(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Add the term in <yhat, g> that should be taken away."""
    return gamma / sigma * (g - mean(g) + yhat * mean(yhat * g))


@wrong_in_x
def projection_by_m_minus_one(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Divide <yhat, g> by m - 1 in the backward only."""
    along = (yhat * g).sum(batch_axes(g), keepdim=True) / max(batch_size(g) - 1, 1)
    return gamma / sigma * (g - mean(g) - yhat * along)


@wrong_in_x
def projection_halved(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Forget the 2 of the square's derivative in the variance."""
    return gamma / sigma * (g - mean(g) - yhat * mean(yhat * g) / 2)


@wrong_in_x
def projection_on_unit_vector(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Project on yhat as though its length were the root of m whatever eps is."""
    return gamma / sigma * (g - mean(g) - yhat * mean(yhat * g) / mean(yhat**2))


@wrong_in_x
def gradient_with_absolute_gamma(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Multiply the gradient by the absolute value of gamma."""
    return gamma.abs() / sigma * (g - mean(g) - yhat * mean(yhat * g))


@wrong_in_x
def gradient_without_gamma(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Forget that gamma scales the gradient."""
    return (g - mean(g) - yhat * mean(yhat * g)) / sigma


@wrong_in_x
def gradient_over_the_variance(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Divide by the variance in place of the standard deviation."""
    return gamma / sigma**2 * (g - mean(g) - yhat * mean(yhat * g))


@wrong_in_x
def gradient_of_opposite_sign(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Return minus the gradient."""
    return -gamma / sigma * (g - mean(g) - yhat * mean(yhat * g))


@wrong_in_x
def gradient_twice(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Accumulate the gradient twice."""
    return 2 * gamma / sigma * (g - mean(g) - yhat * mean(yhat * g))


@wrong_in_x
def gradient_clipped(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Clip the gradient to the interval from -1 to 1."""
    return (gamma / sigma * (g - mean(g) - yhat * mean(yhat * g))).clamp(-1, 1)


@wrong_in_x
def last_block_without_gradient(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Leave the samples after the last whole block of 32 out of both sums."""
    whole = len(g) if len(g) < 32 else len(g) // 32 * 32
    share = whole / len(g)
    along = mean((yhat * g)[:whole]) * share
    return gamma / sigma * (g - mean(g[:whole]) * share - yhat * along)


@wrong_in_x
def yhat_from_the_output(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Recover yhat from gamma yhat, which a gamma of zero makes 0/0."""
    yhat = gamma * yhat / gamma
    return gamma / sigma * (g - mean(g) - yhat * mean(yhat * g))


@wrong_in_gamma
def gamma_from_the_input(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Take the centred batch for the normalised one."""
    return (sigma * yhat * g).sum(batch_axes(g))


@wrong_in_gamma
def gamma_from_the_output(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Take gamma yhat for yhat."""
    return (gamma * yhat * g).sum(batch_axes(g))


@wrong_in_gamma
def gamma_averaged(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Average over the batch where the gradient is a sum."""
    return (yhat * g).mean(batch_axes(g))


@wrong_in_beta
def beta_averaged(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Average over the batch where the gradient is a sum."""
    return g.mean(batch_axes(g))


@wrong_in_beta
def beta_scaled(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Multiply the gradient in beta by gamma."""
    return (gamma * g).sum(batch_axes(g))


@wrong_in_beta
def beta_from_the_first_sample(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Believe that every sample has the first one's cotangent."""
    return g[:1].sum(batch_axes(g)) * len(g)


FAULTS = (
    Fault(variance_detached, r"variance is held constant", "gradient"),
    Fault(mean_detached, r"mean is held constant", "gradient"),
    Fault(
        statistics_detached,
        "mean and variance are held constant",
        "gradient",
        thread="https://github.com/facebookresearch/CrypTen/pull/143",
    ),
    Fault(gamma_detached, r"gamma", "gradient"),
    Fault(projection_on_yhat_missing, r"ŷ <ŷ, γg>.*0 instead of -1", "gradient"),
    Fault(projection_on_ones_missing, r"mean\(γg\).*0 instead of -1", "gradient"),
    Fault(projection_added, r"ŷ <ŷ, γg>.* 1 instead of -1", "gradient"),
    Fault(projection_by_m_minus_one, r"m - 1", "gradient"),
    Fault(projection_halved, r"ŷ <ŷ, γg>.*-0\.5 instead of -1", "gradient"),
    Fault(projection_on_unit_vector, "its factor, by the unit", "gradient"),
    Fault(gradient_with_absolute_gamma, r"\|gamma\|", "gradient"),
    Fault(gradient_without_gamma, r"gamma", "gradient"),
    Fault(gradient_over_the_variance, "divided by sigma twice", "gradient"),
    Fault(gradient_of_opposite_sign, r"-gamma|sign", "gradient"),
    Fault(gradient_twice, r"twice|2", "gradient"),
    Fault(gradient_clipped, r"clip|bounded|gradient", "gradient"),
    Fault(last_block_without_gradient, r"m = 1000", "gradient", at=("m = 1000",)),
    Fault(
        yhat_from_the_output, r"gamma.*(0|zero)", "gradient", word="not finite", at=("gamma zero",)
    ),
    Fault(gamma_from_the_input, r"gamma|sigma", "gradient"),
    Fault(gamma_from_the_output, r"gamma", "gradient"),
    Fault(gamma_averaged, r"1/m|mean|average", "gradient"),
    Fault(beta_averaged, r"1/m|mean|average", "gradient"),
    Fault(beta_scaled, r"γg stands for g", "gradient"),
    Fault(beta_from_the_first_sample, r"beta", "gradient"),
)
