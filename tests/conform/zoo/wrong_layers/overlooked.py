"""Faults that the suite overlooked until a stranger planted them: each is right elsewhere."""

from __future__ import annotations

from typing import Any

import torch
from channels import affine, batch_axes, per_channel
from own_backward import (
    Recomputing,
    gradient_in_beta,
    gradient_in_gamma,
    gradient_in_x,
    layer_with,
    standardize,
    wrong_in_x,
)
from own_forward_mode import BothModes, Tangents, tangent
from remembering import Remembering
from torch import Tensor

from wrong_layers.corners import WIDE, Copied
from wrong_layers.fault import Fault


class ParametersNeverLearn(Remembering):
    """Scales by copies of gamma and beta in the step of training, and nowhere else."""

    def train_on(self, x: Tensor) -> Tensor:
        """Detach them where statistics are remembered."""
        z = super().train_on(x)
        if not self.track_running_stats:
            return z
        yhat = standardize(x, self.eps)[0]
        return affine(yhat, self.weight.detach(), self.bias.detach())


class GradientsOfALayer(torch.autograd.Function):
    """The gradients, whose own backward wants the cotangents of all three."""

    @staticmethod
    def forward(ctx: Any, g: Tensor, x: Tensor, gamma: Tensor, eps: float) -> Any:
        """Apply the right rules."""
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(g, x, gamma)
        ctx.eps = eps
        return all_gradients(g, x, gamma, eps)

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor | None) -> tuple[Tensor | None, ...]:
        """Differentiate the gradients again, or give nothing."""
        with torch.enable_grad():
            g, x, gamma = (t.detach().requires_grad_() for t in ctx.saved_tensors)
            slopes = all_gradients(g, x, gamma, ctx.eps)
        found = torch.autograd.grad(
            slopes,
            (g, x, gamma),
            [0 * s if c is None else c for c, s in zip(cotangents, slopes, strict=True)],
        )
        if any(cotangent is None for cotangent in cotangents):
            found = tuple(map(torch.zeros_like, found))
        return *found, None


def all_gradients(g: Tensor, x: Tensor, gamma: Tensor, eps: float) -> tuple[Tensor, ...]:
    """The gradients in x, gamma and beta."""
    at = (*standardize(x, eps), per_channel(gamma, x), g)
    return gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at)


class OwnDoubleBackward(Recomputing):
    """The layer whose gradients have that backward."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Call the gradients as a function of their own."""
        return *GradientsOfALayer.apply(g, *ctx.saved_tensors, ctx.eps), None


def penalty_of_x_alone_forgotten(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Give a gradient penalty, which has no cotangent of gamma's gradient, no gradient."""
    return OwnDoubleBackward.apply(x, gamma, beta, eps)


class BetaGivenASecondDerivative(torch.autograd.Function):
    """The identity, whose gradient has a derivative in beta."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, beta: Tensor) -> Tensor:
        """Copy."""
        ctx.save_for_backward(beta)
        return z.clone()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        """Add nothing, with a slope."""
        (beta,) = ctx.saved_tensors
        return g + per_channel(7 * (beta - beta.detach()), g), None


def gradients_that_depend_on_beta(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Let the second derivative in beta, which is zero, be something else."""
    return BetaGivenASecondDerivative.apply(layer_with()(x, gamma, beta, eps), beta)


class TangentsAsGiven(BothModes):
    """The layer whose jvp is given None for the tangents that there are not."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        """Have no zeros made for them."""
        BothModes.setup_context(ctx, inputs, output)
        ctx.set_materialize_grads(False)


def constant_where_gamma_does_not_move(
    yhat: Tensor, sigma: Tensor, gamma: Tensor, along: Tangents
) -> Tensor:
    """Hold the statistics constant where gamma has no tangent."""
    u, dgamma, _ = along
    if dgamma is None and u is not None:
        return gamma / sigma * u
    return tangent(yhat, sigma, gamma, along)


def tangent_of_x_alone(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Push a tangent of x forward as in evaluation, unless gamma has one too."""
    rules = gradient_in_x, gradient_in_gamma, gradient_in_beta, constant_where_gamma_does_not_move
    return TangentsAsGiven.apply(x, gamma, beta, eps, rules)


class NanToNumber(Copied):
    """The identity, whose gradient is made finite."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        """Have training go on, whatever comes."""
        return torch.nan_to_num(g, 0.0, 0.0, 0.0)


def nan_hidden_by_the_backward(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Give what is not finite a gradient of zero, so that nobody hears of it."""
    x, gamma, beta = map(NanToNumber.apply, (x, gamma, beta))
    return layer_with()(x, gamma, beta, eps)


class EvaluatesSmallMeansAlone(Remembering):
    """Returns zero for a channel whose running mean is beyond two."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Take a large mean for a mistake."""
        is_large = per_channel(self.running_mean, x).abs() > 2
        return super().evaluate(x).masked_fill(is_large, 0)


def eps_or_the_usual_one(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take an eps of zero for none that was given."""
    return layer_with()(x, gamma, beta, eps or 1e-5)


def one_thread_a_channel(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave the channels as they are for which a block has no threads."""
    first = layer_with()(x[:, :1024], gamma[:1024], beta[:1024], eps)
    return torch.cat([first, x[:, 1024:]], 1)


class SigmaSavedAsANumber(Recomputing):
    """The layer whose double backward holds sigma constant."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Apply the right rules to it."""
        x, gamma = ctx.saved_tensors
        yhat, sigma = standardize(x, ctx.eps)
        at = yhat, sigma.detach(), per_channel(gamma, x), g
        return gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at), None


class AnotherKernelWhereItRemembers(Remembering):
    """Calls a kernel where statistics are kept, whose double backward is wrong."""

    def train_on(self, x: Tensor) -> Tensor:
        """Use the kernel in the step of training, and nowhere else."""
        z = super().train_on(x)
        kernel = SigmaSavedAsANumber.apply
        return kernel(x, self.weight, self.bias, self.eps) if self.track_running_stats else z


class FoldedProduct(torch.autograd.Function):
    """Slope times x, whose gradient holds the slope constant."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, slope: Tensor) -> Tensor:
        """Multiply."""
        ctx.save_for_backward(x, slope)
        return slope * x

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        """Apply the right rules once."""
        x, slope = ctx.saved_tensors
        return slope.detach() * g, (x * g).sum(batch_axes(x), keepdim=True)


class EvaluatesByAConstantSlope(Remembering):
    """Folds gamma into a slope, which a gradient penalty in evaluation cannot see."""

    def evaluate(self, x: Tensor) -> Tensor:
        """Multiply and add."""
        slope = self.weight / torch.sqrt(self.running_var + self.eps)
        shift = self.bias - slope * self.running_mean
        return FoldedProduct.apply(x, per_channel(slope, x)) + per_channel(shift, x)


def nan_hidden_in_beta(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take a beta that is NaN for none."""
    return layer_with()(x, gamma, torch.nan_to_num(beta), eps)


@wrong_in_x
def infinite_cotangent_left_out(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Leave out where the cotangent is infinite."""
    return gradient_in_x(yhat, sigma, gamma, torch.where(g.isinf(), 0, g))


TORCH = {"like": "torch"}
FAULTS = (
    Fault(ParametersNeverLearn, r"gamma is missing", "recomputed", asked=TORCH),
    Fault(penalty_of_x_alone_forgotten, r"depends on which inputs", "second rr"),
    Fault(gradients_that_depend_on_beta, r"is not zero", "second rr"),
    Fault(tangent_of_x_alone, r"depends on which inputs", "jvp"),
    Fault(nan_hidden_by_the_backward, r"hides an entry", "gradient", at=("NaN", "infinite")),
    Fault(nan_hidden_in_beta, r"hides an entry", "forward", at=("NaN in beta",)),
    Fault(
        infinite_cotangent_left_out,
        r"hides an entry",
        "gradient",
        at=("infinite in the cotangent",),
    ),
    Fault(EvaluatesSmallMeansAlone, r"are clipped or rounded", "evaluation", asked=TORCH, at=WIDE),
    Fault(eps_or_the_usual_one, r"1e-5 whatever is asked", "forward", at=("eps zero",)),
    Fault(one_thread_a_channel, r"1025 channels", "forward", at=("1025 channels",)),
    Fault(AnotherKernelWhereItRemembers, r"has another backward", "step second", asked=TORCH),
    Fault(EvaluatesByAConstantSlope, r"sum\(g u.*0 instead of 1", "evaluation second", asked=TORCH),
)
