"""A right layer with both modes of differentiation written by hand, to exchange one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from channels import per_channel
from own_backward import (
    OwnBackward,
    gradient_in_beta,
    gradient_in_gamma,
    gradient_in_x,
    named_after,
    standardize,
)
from torch import Tensor

Tangents = tuple[Tensor | None, Tensor | None, Tensor | None]


def tangent(yhat: Tensor, sigma: Tensor, gamma: Tensor, along: Tangents) -> Tensor:
    """gamma / sigma (u - mean(u) - yhat mean(yhat u)) + dgamma yhat + dbeta."""
    u, dgamma, dbeta = along
    out = torch.zeros_like(yhat)
    if u is not None:
        out = out + gradient_in_x(yhat, sigma, gamma, u)
    if dgamma is not None:
        out = out + per_channel(dgamma, yhat) * yhat
    if dbeta is not None:
        out = out + per_channel(dbeta, yhat)
    return out


class BothModes(OwnBackward):
    """The layer, differentiated backward by three rules and forward by a fourth."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Save what both directions need."""
        *given, (*rules, ctx.tangent) = inputs
        OwnBackward.setup_context(ctx, (*given, rules), output)
        ctx.save_for_forward(*inputs[:2])

    @staticmethod
    def jvp(ctx: Any, *along: Any) -> Tensor:
        """Apply the rule for tangents."""
        x, gamma = ctx.saved_tensors
        return ctx.tangent(*standardize(x, ctx.eps), per_channel(gamma, x), along[:3])


def layer_with(jvp: Any = tangent, x: Any = gradient_in_x) -> Callable[..., Tensor]:
    """The layer with this rule forward, and this one backward for x."""
    rules = (x, gradient_in_gamma, gradient_in_beta, jvp)

    def layer(y: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        return BothModes.apply(y, gamma, beta, eps, rules)

    return layer


def wrong_forward_mode(rule: Any) -> Callable[..., Tensor]:
    """The layer whose jvp is the decorated rule, and whose gradients are right."""
    return named_after(rule, layer_with(jvp=rule))


def wrong_reverse_mode(rule: Any) -> Callable[..., Tensor]:
    """The layer whose gradient in x is the decorated rule, and whose jvp is right."""
    return named_after(rule, layer_with(x=rule))
