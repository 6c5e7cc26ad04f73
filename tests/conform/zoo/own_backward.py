"""A right layer whose backward pass is written by hand, with any of its three rules exchanged.

The backward recomputes the statistics from the saved input, so it can be differentiated again: a
layer with a wrong rule has the derivatives of that wrong rule, and nothing else is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import torch
from channels import affine, batch_axes, mean, per_channel
from torch import Tensor

Rule = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def standardize(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """The pair yhat, sigma."""
    c = x - mean(x)
    sigma = torch.sqrt(mean(c**2) + eps)
    return c / sigma, sigma


def gradient_in_x(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """gamma / sigma (g - mean(g) - yhat mean(yhat g))."""
    return gamma / sigma * (g - mean(g) - yhat * mean(yhat * g))


def gradient_in_gamma(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """<yhat, g>."""
    return (yhat * g).sum(batch_axes(g))


def gradient_in_beta(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """<1, g>."""
    return g.sum(batch_axes(g))


class Recomputing(torch.autograd.Function):
    """The layer that saves its input, from which a backward recomputes the statistics."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        """Normalise."""
        ctx.save_for_backward(x, gamma)
        ctx.eps = eps
        return affine(standardize(x, eps)[0], gamma, beta)


class Standardized(torch.autograd.Function):
    """Yhat, with its right gradient."""

    @staticmethod
    def forward(x: Tensor, eps: float) -> Tensor:
        """Normalise."""
        return standardize(x, eps)[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Save the input."""
        x, ctx.eps = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, None]:
        """Apply the right rule."""
        (x,) = ctx.saved_tensors
        return gradient_in_x(*standardize(x, ctx.eps), torch.ones_like(g[:1]), g), None


class OwnBackward(torch.autograd.Function):
    """The layer, differentiated by the three rules that it is given."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, gamma: Tensor, beta: Tensor, eps: float, rules: Any) -> Tensor:
        """Normalise as everybody does."""
        return affine(standardize(x, eps)[0], gamma, beta)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Save what the rules need."""
        x, gamma, _, ctx.eps, ctx.rules = inputs
        ctx.save_for_backward(x, gamma)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Apply the rules to the recomputed statistics."""
        x, gamma = ctx.saved_tensors
        at = (*standardize(x, ctx.eps), per_channel(gamma, x), g)
        return *(rule(*at) for rule in ctx.rules), None, None


def layer_with(
    x: Rule = gradient_in_x, gamma: Rule = gradient_in_gamma, beta: Rule = gradient_in_beta
) -> Callable[..., Tensor]:
    """The layer with these rules for the gradients in x, gamma and beta."""

    def layer(y: Tensor, scale: Tensor, shift: Tensor, eps: float) -> Tensor:
        return OwnBackward.apply(y, scale, shift, eps, (x, gamma, beta))

    return layer


def named_after(rule: Callable[..., Any], layer: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The layer, under a rule's name and not with its arguments."""
    update_wrapper(layer, rule)
    del layer.__wrapped__  # type: ignore[attr-defined]  # update_wrapper made it
    return layer


def wrong_in_x(rule: Rule) -> Callable[..., Tensor]:
    """The layer whose gradient in x is the decorated rule."""
    return named_after(rule, layer_with(x=rule))


def wrong_in_gamma(rule: Rule) -> Callable[..., Tensor]:
    """The layer whose gradient in gamma is the decorated rule."""
    return named_after(rule, layer_with(gamma=rule))


def wrong_in_beta(rule: Rule) -> Callable[..., Tensor]:
    """The layer whose gradient in beta is the decorated rule."""
    return named_after(rule, layer_with(beta=rule))
