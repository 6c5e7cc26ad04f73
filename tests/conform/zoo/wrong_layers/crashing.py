"""Backward passes that end in an error: whoever trains the layer meets it, whoever calls it not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from channels import per_channel
from numpy_layers import plain_forward, projections_backward, projections_forward
from own_backward import (
    Recomputing,
    gradient_in_beta,
    gradient_in_gamma,
    gradient_in_x,
    standardize,
)
from own_forward_mode import Tangents, wrong_forward_mode
from torch import Tensor

from wrong_layers.fault import Fault


def gradients(ctx: Any, g: Tensor, eps: float) -> tuple[Tensor, ...]:
    """The right gradients in x, gamma and beta."""
    x, gamma = ctx.saved_tensors
    at = (*standardize(x, eps), per_channel(gamma, x), g)
    return gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at)


class NameOfAnotherContext(Recomputing):
    """The layer whose backward reads what its forward saved under another name."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Ask for epsilon, where eps was saved."""
        return *gradients(ctx, g, ctx.epsilon), None


def backward_with_a_wrong_name(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Raise an AttributeError in every backward."""
    return NameOfAnotherContext.apply(x, gamma, beta, eps)


class NoneForEpsForgotten(Recomputing):
    """The layer whose backward returns a gradient too few."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Forget eps, which has no gradient."""
        return gradients(ctx, g, ctx.eps)


def backward_of_three_gradients(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Return three gradients for four arguments."""
    return NoneForEpsForgotten.apply(x, gamma, beta, eps)


class SecondWithAWrongName(Recomputing):
    """The layer whose backward reads a wrong name where it is differentiated again."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Read what was never saved, where a second derivative is recorded."""
        return *gradients(ctx, g, ctx.epsilon if g.requires_grad else ctx.eps), None


def double_backward_with_a_wrong_name(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Raise an AttributeError in every second derivative."""
    return SecondWithAWrongName.apply(x, gamma, beta, eps)


@wrong_forward_mode
def tangent_with_a_wrong_name(
    yhat: Tensor, sigma: Tensor, gamma: Tensor, along: Tangents
) -> Tensor:
    """Take the gradient's name for the tangent's."""
    return gamma / sigma * along.dx  # type: ignore[attr-defined]  # the fault


def typo(g: np.ndarray, cache: Any) -> Any:
    """Call a function that NumPy does not have."""
    zeros = np.zeros_lik(g)  # type: ignore[attr-defined]  # the fault
    return zeros, *projections_backward(g, cache)[1:]


def in_x_alone(g: np.ndarray, cache: Any) -> Any:
    """Return the gradient in x, and no pair of others."""
    return projections_backward(g, cache)[0]


def two_of_three(g: np.ndarray, cache: Any) -> Any:
    """Forget the gradient in beta."""
    return projections_backward(g, cache)[:2]


def pair(backward: Any) -> SimpleNamespace:
    """The right forward, with its cache, and this backward."""
    return SimpleNamespace(
        forward=projections_forward, backward=backward, __name__=f"backward_{backward.__name__}"
    )


def jvp_with_a_typo(*_: Any) -> np.ndarray:
    """Call a name that there is not."""
    return tangents  # type: ignore[name-defined]  # noqa: F821  # the fault


with_its_own_jvp = SimpleNamespace(
    forward=plain_forward, jvp=jvp_with_a_typo, __name__="with_its_own_jvp"
)

FAULTS = (
    Fault(
        backward_with_a_wrong_name,
        r"AttributeError: .*epsilon.*crashing\.py, line",
        "gradient",
        "raises",
    ),
    Fault(backward_of_three_gradients, r"expected 4, got 3", "gradient", "raises"),
    Fault(double_backward_with_a_wrong_name, r"AttributeError: .*epsilon", "second rr", "raises"),
    Fault(tangent_with_a_wrong_name, r"AttributeError: .*dx", "jvp", "raises"),
    Fault(pair(typo), r"AttributeError: .*zeros_lik", "own gradient", "raises"),
    Fault(pair(in_x_alone), r"returns an array of shape .*dx, dgamma", "own gradient", "raises"),
    Fault(pair(two_of_three), r"returns 2 values; expected dx, dgamma", "own gradient", "raises"),
    Fault(with_its_own_jvp, r"NameError: .*tangents", "own jvp", "raises"),
)
