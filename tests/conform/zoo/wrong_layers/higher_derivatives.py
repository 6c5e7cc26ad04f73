"""Faults that one mode or one order of differentiation shows; forward and gradients are right."""

from __future__ import annotations

from typing import Any

import torch
from channels import affine, batch_axes, mean, per_channel
from own_backward import Standardized, gradient_in_x, standardize, wrong_in_gamma, wrong_in_x
from own_forward_mode import Tangents, tangent, wrong_forward_mode, wrong_reverse_mode
from torch import Tensor

from wrong_layers.fault import LAYOUTS, Fault


def variance_about_a_constant(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Detach the mean in the variance only, where the first derivative does not need it."""
    centre = mean(x)
    spread = mean((x - centre.detach()) ** 2)
    return affine((x - centre) / torch.sqrt(spread + eps), gamma, beta)


def newton_step_on_a_constant(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Polish 1/sqrt by a Newton step whose start is detached: right to first order."""
    c = x - mean(x)
    guarded = mean(c**2) + eps
    start = torch.rsqrt(guarded).detach()
    return affine(c * start * (1.5 - 0.5 * guarded * start**2), gamma, beta)


def root_to_second_order(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Expand the root to second order about a constant: the third derivative is wrong."""
    c = x - mean(x)
    guarded = mean(c**2) + eps
    start = torch.sqrt(guarded).detach()
    step = (guarded - start**2) / start**2
    return affine(c / (start * (1 + step / 2 - step**2 / 8)), gamma, beta)


@wrong_in_x
def sigma_saved_as_a_number(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Differentiate the backward without the term through sigma."""
    return gradient_in_x(yhat, sigma.detach(), gamma, g)


@wrong_in_x
def yhat_saved_as_a_number(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Differentiate the backward without the terms through yhat."""
    return gradient_in_x(yhat.detach(), sigma, gamma, g)


@wrong_in_x
def statistics_saved_as_numbers(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Differentiate the backward in the cotangent and gamma only."""
    return gradient_in_x(yhat.detach(), sigma.detach(), gamma, g)


@wrong_in_x
def one_yhat_saved_as_a_number(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Differentiate yhat <yhat, g> in its first factor only."""
    return gamma / sigma * (g - mean(g) - yhat * mean(yhat.detach() * g))


@wrong_in_x
def gamma_saved_as_a_number(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Lose the mixed derivative in x and gamma on the way through the gradient in x."""
    return gradient_in_x(yhat, sigma, gamma.detach(), g)


@wrong_in_x
def cotangent_taken_as_a_number(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Lose what the loss bends: the gradient does not depend on its cotangent."""
    return gradient_in_x(yhat, sigma, gamma, g.detach())


@wrong_in_gamma
def yhat_a_number_for_gamma(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Lose the mixed derivative on the way through the gradient in gamma."""
    return (yhat.detach() * g).sum(batch_axes(g))


@wrong_in_x
def sigma_linearised(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Linearise sigma in sigma squared in the backward: the third derivative is wrong."""
    start = sigma.detach()
    return gradient_in_x(yhat, start + (sigma**2 - start**2) / (2 * start), gamma, g)


@wrong_forward_mode
def tangent_without_gamma(yhat: Tensor, sigma: Tensor, gamma: Tensor, along: Tangents) -> Tensor:
    """Forget in the jvp that gamma scales."""
    u, *others = along
    return tangent(yhat, sigma, gamma, (None if u is None else u / gamma, *others))


@wrong_forward_mode
def tangent_without_projection(
    yhat: Tensor, sigma: Tensor, gamma: Tensor, along: Tangents
) -> Tensor:
    """Leave <yhat, u> out of the jvp; the gradient has it."""
    u, *others = along
    if u is not None:
        u = u + yhat * mean(yhat * u) / (1 - mean(yhat**2)).clamp_min(torch.finfo(u.dtype).eps)
    return tangent(yhat, sigma, gamma, (u, *others))


@wrong_forward_mode
def tangent_of_gamma_missing(yhat: Tensor, sigma: Tensor, gamma: Tensor, along: Tangents) -> Tensor:
    """Leave gamma's tangent out of the jvp."""
    return tangent(yhat, sigma, gamma, (along[0], None, along[2]))


@wrong_forward_mode
def tangent_of_beta_missing(yhat: Tensor, sigma: Tensor, gamma: Tensor, along: Tangents) -> Tensor:
    """Leave beta's tangent out of the jvp."""
    return tangent(yhat, sigma, gamma, (along[0], along[1], None))


@wrong_reverse_mode
def gradient_unlike_the_tangent(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Have the right jvp, and a gradient with m + 1 for m."""
    return gamma / sigma * (g - mean(g) - yhat * mean(yhat * g) * len(g) / (len(g) + 1))


class VmapIntoTheBatch(Standardized):
    """Under vmap, the mapped axis is averaged over as well."""

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], x: Tensor, eps: float) -> tuple[Tensor, int]:
        """Merge the mapped axis with the batch."""
        mapped = x.movedim(in_dims[0], 0)
        return VmapIntoTheBatch.apply(mapped.flatten(0, 1), eps).reshape(mapped.shape), 0


def vmap_into_the_batch(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Share the statistics between the examples of a vmap."""
    return affine(VmapIntoTheBatch.apply(x, eps), gamma, beta)


def other_path_when_compiled(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Divide by m - 1 where a compiler looks."""
    correction = 1 if torch.compiler.is_compiling() else 0
    spread = x.var(batch_axes(x), keepdim=True, correction=correction)
    return affine((x - mean(x)) / torch.sqrt(spread + eps), gamma, beta)


def other_path_without_gradient(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Divide by m - 1 where nobody asks for a gradient."""
    correction = 0 if torch.is_grad_enabled() else 1
    spread = x.var(batch_axes(x), keepdim=True, correction=correction)
    return affine((x - mean(x)) / torch.sqrt(spread + eps), gamma, beta)


class GammaOnlyWithX(torch.autograd.Function):
    """Returns gamma's gradient where the input needs one too."""

    @staticmethod
    def forward(yhat: Tensor, gamma: Tensor) -> Tensor:
        """Scale."""
        return per_channel(gamma, yhat) * yhat

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Save both factors."""
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, Tensor | None]:
        """Ask about the wrong input."""
        yhat, gamma = ctx.saved_tensors
        if not ctx.needs_input_grad[0]:
            return None, torch.zeros_like(gamma)
        return per_channel(gamma, g) * g, (yhat * g).sum(batch_axes(g))


def gamma_frozen_with_the_input(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Give gamma no gradient where x, as in a first layer, needs none."""
    scaled = GammaOnlyWithX.apply(standardize(x, eps)[0], gamma)
    return scaled + per_channel(beta, x)


FAULTS = (
    Fault(variance_about_a_constant, r"second|mean detached", "second rr"),
    Fault(newton_step_on_a_constant, r"second|sigma", "second rr"),
    Fault(root_to_second_order, r"third", "third"),
    Fault(sigma_saved_as_a_number, r"ŷ cov\(u, γg\).*0 instead of -1.*2 instead of 3", "second rr"),
    Fault(yhat_saved_as_a_number, r"1 instead of 3.*u <ŷ, γg>.*0 instead of -1", "second rr"),
    Fault(statistics_saved_as_numbers, r"saved by the forward is held constant", "second rr"),
    Fault(one_yhat_saved_as_a_number, r"γg <ŷ, u>.*0 instead of -1", "second rr"),
    Fault(gamma_saved_as_a_number, r"gamma", "second rr"),
    Fault(cotangent_taken_as_a_number, r"second rr, g|held constant", "second rr"),
    Fault(yhat_a_number_for_gamma, r"saved by the forward is held constant", "second rr"),
    Fault(sigma_linearised, r"third", "third"),
    Fault(tangent_without_gamma, "1/gamma times its factor", "jvp"),
    Fault(tangent_without_projection, r"ŷ <ŷ, u>.*0 instead of -1", "jvp"),
    Fault(tangent_of_gamma_missing, r"a ŷ has the factor 0|left out", "jvp"),
    Fault(tangent_of_beta_missing, r"beta", "jvp", at=LAYOUTS),
    Fault(gradient_unlike_the_tangent, r"ŷ <ŷ, γg>.*instead of -1", "gradient"),
    Fault(vmap_into_the_batch, r"vmap", "vmap"),
    Fault(other_path_when_compiled, r"m - 1", "forward", asked={"compiled": True}),
    Fault(other_path_without_gradient, r"m - 1", "without gradient"),
    Fault(gamma_frozen_with_the_input, r"gamma is missing", "one at a time"),
)
