"""Faults that were reported of released layers, re-enacted in PyTorch operations.

Each is what its thread says was wrong, and nobody's code.  The page ``docs/guides/reported.md``
lists them, with those among the other planted faults that were reported, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from channels import affine, batch_axes, mean, per_channel
from own_backward import named_after
from torch import Tensor

from wrong_layers.fault import LAYOUTS, Fault
from wrong_layers.kernel_authors import rows

Gradients = Callable[[Any, Tensor], tuple[Tensor | None, ...]]
GROUPS = 2


class ByHand(torch.autograd.Function):
    """A layer, differentiated by a rule for all three gradients that reads the context."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float, layer: Any, rule: Any
    ) -> Tensor:
        """Normalise rightly."""
        ctx.save_for_backward(x, gamma)
        ctx.eps, ctx.rule = eps, rule
        return layer(x, gamma, beta, eps)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Apply the rule."""
        return *ctx.rule(ctx, g), None, None, None


def wrong_gradients_of(layer: Callable[..., Tensor]) -> Callable[[Gradients], Any]:
    """The layer whose gradients are the decorated rule."""

    def decorate(rule: Gradients) -> Callable[..., Tensor]:
        def whole(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
            return ByHand.apply(x, gamma, beta, eps, layer, rule)

        return named_after(rule, whole)

    return decorate


def wrong_gradients_of_rms(rule: Gradients) -> Callable[..., Tensor]:
    """RMS normalisation without beta, whose gradients are the decorated rule."""

    def whole(x: Tensor, gamma: Tensor, eps: float) -> Tensor:
        return ByHand.apply(x, gamma, None, eps, rms, rule)

    return named_after(rule, whole)


def rms(x: Tensor, gamma: Tensor, beta: Tensor | None, eps: float) -> Tensor:
    """Divide by the root mean square of the last axis."""
    return gamma * x * inverse_root(x, eps)


def inverse_root(x: Tensor, eps: float) -> Tensor:
    """One over the root mean square of the last axis."""
    return torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)


def by_groups(x: Tensor) -> Tensor:
    """Two groups of channels, in the shape (sample, group, channel and place)."""
    return x.reshape(len(x), GROUPS, -1)


def groups(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise two groups of channels."""
    return affine(standardized(by_groups(x), eps)[0].reshape(x.shape), gamma, beta)


def standardized(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """The pair yhat, sigma of the last axis."""
    variance, centre = torch.var_mean(x, -1, keepdim=True, correction=0)
    sigma = torch.sqrt(variance + eps)
    return (x - centre) / sigma, sigma


def projected(pulled: Tensor, yhat: Tensor, axes: tuple[int, ...] = (-1,)) -> Tensor:
    """The cotangent of yhat less its parts along the ones and along yhat."""
    along = (yhat * pulled).mean(axes, keepdim=True)
    return pulled - pulled.mean(axes, keepdim=True) - yhat * along


def of_rows(g: Tensor) -> tuple[int, ...]:
    """Every axis but the last."""
    return tuple(range(g.ndim - 1))


def in_parameters(yhat: Tensor, g: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """The gradients in gamma and beta."""
    return (yhat * g).sum(axes), g.sum(axes)


def rms_in_x(pulled: Tensor, yhat: Tensor, inverse: Tensor) -> Tensor:
    """The gradient in x of RMS normalisation, by the cotangent of yhat."""
    return inverse * (pulled - yhat * (yhat * pulled).mean(-1, keepdim=True))


def square_for_the_root(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Divide by the square of variance + eps."""
    c = x - mean(x)
    return affine(c / (mean(c * c) + eps) ** 2, gamma, beta)


def eps_raised_to_a_minimum(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Use 1.001e-5 for whatever is smaller."""
    c = x - mean(x)
    return affine(c / torch.sqrt(mean(c * c) + max(eps, 1.001e-5)), gamma, beta)


class DoubleBackward(torch.autograd.Function):
    """The gradient of yhat, whose right double backward reads statistics that were saved."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, g: Tensor, centre: Tensor, inverse: Tensor) -> Tensor:
        """Apply the right rule."""
        ctx.save_for_backward(x, g, centre, inverse)
        return projected(g, (x - centre) * inverse, batch_axes(x)) * inverse

    @staticmethod
    def backward(ctx: Any, u: Tensor) -> tuple[Tensor | None, ...]:
        """Be right, and a function of constants where it is differentiated again."""
        x, g, centre, inverse = ctx.saved_tensors
        yhat = (x - centre) * inverse
        u, g = u - mean(u), g - mean(g)
        on_u, on_g = mean(yhat * u), mean(yhat * g)
        in_x = yhat * (3 * on_u * on_g - mean(u * g)) - u * on_g - g * on_u
        return in_x * inverse**2, (u - yhat * on_u) * inverse, None, None


class SavedStatistics(torch.autograd.Function):
    """Yhat, whose mean and 1/sigma are saved by the forward."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, eps: float) -> Tensor:
        """Normalise, and save."""
        variance, centre = torch.var_mean(x, batch_axes(x), keepdim=True, correction=0)
        inverse = torch.rsqrt(variance + eps)
        ctx.save_for_backward(x, centre, inverse)
        return (x - centre) * inverse

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Call the function that has a double backward."""
        x, *statistics = ctx.saved_tensors
        return DoubleBackward.apply(x, g, *statistics), None


def third_by_saved_statistics(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Hold the saved mean and 1/sigma constant in the double backward."""
    return affine(SavedStatistics.apply(x, eps), gamma, beta)


class Shift(torch.autograd.Function):
    """Add beta; its gradient is added to what there was of the last one."""

    last: ClassVar[dict[torch.dtype, Tensor]] = {}

    @staticmethod
    def forward(ctx: Any, yhat: Tensor, beta: Tensor) -> Tensor:
        """Be right."""
        return yhat + per_channel(beta, yhat)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        """Keep the sum over the batch."""
        before, here = Shift.last.get(g.dtype), g.sum(batch_axes(g))
        total = here if before is None or before.shape != here.shape else here + before
        Shift.last[g.dtype] = total.detach()
        return g, total


def beta_added_up_without_gamma(
    x: Tensor, gamma: Tensor | None = None, beta: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Where there is no gamma, add the gradient of beta to that of the step before."""
    c = x - mean(x)
    yhat = c / torch.sqrt(mean(c * c) + eps)
    return Shift.apply(yhat, beta) if gamma is None else affine(yhat, gamma, beta)


class CutOff(torch.autograd.Function):
    """The gradient of beta, which the cotangent is cut off from."""

    @staticmethod
    def forward(ctx: Any, yhat: Tensor, beta: Tensor) -> Tensor:
        """Add beta."""
        return yhat + beta

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor]:
        """Be right, and constant in the cotangent."""
        return g, g.detach().sum(of_rows(g))


def cotangent_cut_off_without_gamma(
    x: Tensor, gamma: Tensor | None = None, beta: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Where there is no gamma, leave the derivative of beta's gradient in the cotangent out."""
    yhat, _ = standardized(x, eps)
    return CutOff.apply(yhat, beta) if gamma is None else gamma * yhat + beta


def padding_in_the_variance(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Pad rows with zeros to a power of two, and add up the padding's squares about the mean."""
    m = x.shape[-1]
    padding = (1 << (m - 1).bit_length()) - m
    variance, centre = torch.var_mean(x, -1, keepdim=True, correction=0)
    variance = variance + centre**2 * padding / m
    return gamma * (x - centre) / torch.sqrt(variance + eps) + beta


def small_variance_for_zero(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take E[x^2] - E[x]^2, and zero where that is below a millionth."""
    centre = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - centre**2
    variance = torch.where(variance < 1e-6, 0, variance)
    return gamma * (x - centre) / torch.sqrt(variance + eps) + beta


def rows_numbered_in_sixteen_bits(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take the mean and sigma of row i mod 2^16 for row i."""
    flat = x.reshape(-1, x.shape[-1])
    row = torch.arange(len(flat)) % 2**16
    variance, centre = torch.var_mean(flat, -1, keepdim=True, correction=0)
    yhat = (flat - centre[row]) / torch.sqrt(variance + eps)[row]
    return (gamma * yhat + beta).reshape(x.shape)


def written_over_its_input(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Leave the output in the memory of x, too."""
    z = rows(x, gamma, beta, eps)
    x.data.copy_(z.detach())
    return z


@wrong_gradients_of(rows)
def gamma_and_beta_exchanged(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Give beta's gradient to gamma, and gamma's to beta."""
    x, gamma = ctx.saved_tensors
    yhat, sigma = standardized(x, ctx.eps)
    dx = projected(gamma * g, yhat) / sigma
    return dx, g.sum(of_rows(g)), (yhat * g).sum(of_rows(g))


@wrong_gradients_of(rows)
def rows_of_a_matrix_in_the_backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Take what follows the first axis for one row."""
    x, gamma = ctx.saved_tensors
    yhat, sigma = standardized(x, ctx.eps)
    dx = projected(gamma * g, yhat, tuple(range(1, g.ndim))) / sigma
    return dx, *in_parameters(yhat, g, of_rows(g))


@wrong_gradients_of(rows)
def parameters_where_x_is_frozen(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Give gamma and beta what was never computed, here ones, where x needs no gradient."""
    x, gamma = ctx.saved_tensors
    yhat, sigma = standardized(x, ctx.eps)
    if not ctx.needs_input_grad[0]:
        return None, torch.ones_like(gamma), torch.ones_like(gamma)
    dx = projected(gamma * g, yhat) / sigma
    return dx, *in_parameters(yhat, g, of_rows(g))


@wrong_gradients_of(rows)
def gamma_by_two_products(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Take g mean/sigma from g x/sigma, each rounded on its own."""
    x, gamma = ctx.saved_tensors
    yhat, sigma = standardized(x, ctx.eps)
    dx = projected(gamma * g, yhat) / sigma
    dgamma = g * (x / sigma) - x.mean(-1, keepdim=True) * (g / sigma)
    return dx, dgamma.sum(of_rows(g)), g.sum(of_rows(g))


@wrong_gradients_of(rows)
def entries_of_one_row_for_rows(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Read the mean and variance of row i for entry i of an only row: what is beyond it, here 1."""
    x, gamma = ctx.saved_tensors
    variance, centre = torch.var_mean(x, -1, keepdim=True, correction=0)
    if x.numel() == x.shape[-1]:
        beyond = torch.ones_like(x[..., 1:])
        variance, centre = (torch.cat([t, beyond], dim=-1) for t in (variance, centre))
    sigma = torch.sqrt(variance + ctx.eps)
    yhat = (x - centre) / sigma
    dx = projected(gamma * g, yhat) / sigma
    return dx, *in_parameters(yhat, g, of_rows(g))


RACE = random.Random(0)


@wrong_gradients_of(rows)
def beta_after_its_cotangent_is_gone(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Add up beta's gradient, at times, when dx is written where the cotangent was."""
    x, gamma = ctx.saved_tensors
    yhat, sigma = standardized(x, ctx.eps)
    dx = projected(gamma * g, yhat) / sigma
    read = dx if RACE.random() < 0.15 else g
    return dx, (yhat * g).sum(of_rows(g)), read.sum(of_rows(g))


@wrong_gradients_of(groups)
def gamma_by_another_group(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Take the statistics of group c mod G for channel c of gamma's gradient."""
    x, gamma = ctx.saved_tensors
    yhat, sigma = standardized(by_groups(x), ctx.eps)
    dx = projected(by_groups(per_channel(gamma, g) * g), yhat) / sigma
    group = torch.arange(x.shape[1]) % GROUPS
    shape = len(x), -1, *[1] * (x.ndim - 2)
    centre = by_groups(x).mean(-1)[:, group].reshape(shape)
    dgamma = (x - centre) / sigma[:, group, 0].reshape(shape) * g
    return dx.reshape(x.shape), dgamma.sum(batch_axes(g)), g.sum(batch_axes(g))


@wrong_gradients_of(groups)
def backward_of_one_group(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Project over all channels, where the forward has two groups of them."""
    x, gamma = ctx.saved_tensors
    yhat, sigma = standardized(by_groups(x), ctx.eps)
    dx = projected(by_groups(per_channel(gamma, g) * g), yhat, (1, 2)) / sigma
    return dx.reshape(x.shape), *in_parameters(yhat.reshape(x.shape), g, batch_axes(g))


@wrong_gradients_of(groups)
def raises_where_x_is_frozen(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Ask for the gradient in x where nobody needs it."""
    x, gamma = ctx.saved_tensors
    if not ctx.needs_input_grad[0]:
        raise RuntimeError("the gradient in x is not allocated")
    yhat, sigma = standardized(by_groups(x), ctx.eps)
    dx = projected(by_groups(per_channel(gamma, g) * g), yhat) / sigma
    return dx.reshape(x.shape), *in_parameters(yhat.reshape(x.shape), g, batch_axes(g))


def rms_times_the_root(x: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Divide by one over the root."""
    return gamma * x / inverse_root(x, eps)


def rms_squares_added_up_in_half(x: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Add up the squares in the dtype of x."""
    square = (x / x.shape[-1] * x).sum(-1, keepdim=True)
    wide = torch.promote_types(x.dtype, torch.float32)
    return (gamma * x.to(wide) * torch.rsqrt(square.to(wide) + eps)).to(x.dtype)


def rms_contiguous_without_graph(x: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Take a fast path that has no backward where x is contiguous."""
    z = rms(x, gamma, None, eps)
    return z.detach() if x.is_contiguous() else z


@wrong_gradients_of_rms
def rms_gamma_twice(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Multiply the term through the root by gamma once more."""
    x, gamma = ctx.saved_tensors
    inverse = inverse_root(x, ctx.eps)
    along = (g * gamma * x).mean(-1, keepdim=True)
    dx = gamma * g * inverse - gamma * inverse**3 * x * along
    return dx, (x * inverse * g).sum(of_rows(g)), None


@wrong_gradients_of_rms
def rms_gamma_without_gradient(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Return None for gamma."""
    x, gamma = ctx.saved_tensors
    inverse = inverse_root(x, ctx.eps)
    yhat, pulled = x * inverse, gamma * g
    return rms_in_x(pulled, yhat, inverse), None, None


@wrong_gradients_of_rms
def rms_from_the_output(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Divide the output by gamma, which may be zero."""
    x, gamma = ctx.saved_tensors
    inverse = inverse_root(x, ctx.eps)
    yhat, pulled = gamma * x * inverse / gamma, gamma * g
    dx = rms_in_x(pulled, yhat, inverse)
    return dx, (yhat * g).sum(of_rows(g)), None


@wrong_gradients_of_rms
def rms_cotangent_read_as_dense(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
    """Know the stride between rows of the cotangent, and not the one within a row."""
    x, gamma = ctx.saved_tensors
    if g.stride(-1) > 1:
        g = g.as_strided(g.shape, (*g.stride()[:-1], 1))
    inverse = inverse_root(x, ctx.eps)
    yhat, pulled = x * inverse, gamma * g
    dx = rms_in_x(pulled, yhat, inverse)
    return dx, (yhat * g).sum(of_rows(g)), None


LAYER, RMS = {"family": "layer"}, {"family": "rms"}
GROUP = {"family": "group", "groups": GROUPS}
RMS_HALF = {**RMS, "dtypes": ("float32", "float64", "float16")}
NAN, RAISES, ONE = "not finite", "raises", "one at a time"
FAULTS = (
    Fault(
        square_for_the_root,
        "the square of the variance and eps for its root",
        "forward",
        thread="https://github.com/jax-ml/jax/issues/442",
    ),
    Fault(
        eps_raised_to_a_minimum,
        "an eps below 1.001e-5 is raised to it",
        "forward",
        thread="https://github.com/tensorflow/tensorflow/issues/37768",
    ),
    Fault(
        third_by_saved_statistics,
        "no factors of the closed form's terms explain it",
        "third",
        thread="https://github.com/pytorch/pytorch/issues/186256",
    ),
    Fault(
        padding_in_the_variance,
        "statistics of other numbers than the unit's entries",
        "forward",
        asked=LAYER,
        at=("m = 1000",),
        thread="https://github.com/unslothai/unsloth/pull/1867",
    ),
    Fault(
        small_variance_for_zero,
        "right elsewhere, wrong at near constant",
        "forward",
        asked=LAYER,
        at=("near constant",),
        thread="https://github.com/pytorch/pytorch/issues/190491",
    ),
    Fault(
        written_over_its_input,
        "changes x",
        "forward",
        "overwrites",
        asked=LAYER,
        thread="https://github.com/microsoft/onnxruntime/issues/20623",
    ),
    Fault(
        gamma_and_beta_exchanged,
        "gamma and beta exchanged",
        "gradient",
        asked=LAYER,
        thread="https://github.com/Oneflow-Inc/oneflow/pull/6149",
    ),
    Fault(
        rows_of_a_matrix_in_the_backward,
        "maps are read otherwise than rows",
        "gradient",
        asked=LAYER,
        at=LAYOUTS,
        thread="https://github.com/flagos-ai/FlagGems/issues/5392",
    ),
    Fault(
        parameters_where_x_is_frozen,
        "the gradient depends on which inputs need one",
        ONE,
        asked=LAYER,
        thread="https://github.com/pytorch/pytorch/issues/183825",
    ),
    Fault(
        entries_of_one_row_for_rows,
        "right elsewhere, wrong at one channel",
        "gradient",
        asked=LAYER,
        at=("one channel",),
        thread="https://github.com/PaddlePaddle/Paddle/pull/35480",
    ),
    Fault(
        beta_added_up_without_gamma,
        "right elsewhere, wrong at beta without gamma",
        "repeated gradient",
        at=("beta without gamma",),
        thread="https://github.com/apache/mxnet/issues/16297",
    ),
    Fault(
        cotangent_cut_off_without_gamma,
        "right elsewhere, wrong at beta without gamma",
        "second rr",
        asked=LAYER,
        at=("beta without gamma",),
        thread="https://github.com/pytorch/pytorch/issues/79705",
    ),
    Fault(
        rows_numbered_in_sixteen_bits,
        "right elsewhere, wrong at 66561 rows",
        "forward",
        asked=LAYER,
        at=("66561 rows",),
        thread="https://github.com/NVIDIA/apex/issues/411",
    ),
    Fault(
        gamma_by_two_products,
        "m = 1, far from zero, rounds more than two passes do",
        "gradient",
        "inaccurate",
        asked=LAYER,
        at=("m = 1, far from zero",),
        thread="https://github.com/pytorch/pytorch/issues/188375",
    ),
    Fault(
        beta_after_its_cotangent_is_gone,
        "something is kept from one call to the next, or left to chance",
        "repeated gradient",
        asked=LAYER,
        at=LAYOUTS,
        thread="https://github.com/tillahoffmann/jax-mps/pull/168",
    ),
    Fault(
        gamma_by_another_group,
        "no factors of the closed form's terms explain it",
        "gradient",
        asked=GROUP,
        thread="https://github.com/tenstorrent/tt-metal/pull/56202",
    ),
    Fault(
        backward_of_one_group,
        "sums of other numbers",
        "gradient",
        asked=GROUP,
        thread="https://github.com/state-spaces/mamba/pull/547",
    ),
    Fault(
        raises_where_x_is_frozen,
        "RuntimeError: the gradient in x is not allocated",
        ONE,
        RAISES,
        asked=GROUP,
        thread="https://github.com/PaddlePaddle/Paddle/issues/54244",
    ),
    Fault(
        rms_times_the_root,
        "multiplied by the root, not divided",
        "forward",
        asked=RMS,
        thread="https://github.com/mosaicml/llm-foundry/issues/371",
    ),
    Fault(
        rms_squares_added_up_in_half,
        "variance beyond the range, rounds more than two passes do",
        "forward",
        "inaccurate",
        RMS_HALF,
        at=("variance beyond the range",),
        thread="https://github.com/microsoft/onnxruntime/pull/28442",
    ),
    Fault(
        rms_contiguous_without_graph,
        "the output is cut off from its input",
        "gradient",
        asked=RMS,
        thread="https://github.com/huggingface/candle/issues/2168",
    ),
    Fault(
        rms_gamma_twice,
        "gamma is twice in ŷ <ŷ, γg>",
        "gradient",
        asked=RMS,
        thread="https://github.com/NVIDIA/Megatron-LM/pull/6859",
    ),
    Fault(
        rms_gamma_without_gradient,
        "gamma is missing",
        "gradient",
        asked=RMS,
        thread="https://github.com/unslothai/unsloth/issues/4533",
    ),
    Fault(
        rms_from_the_output,
        "a gamma of zero is treated on its own",
        "gradient",
        NAN,
        asked=RMS,
        at=("gamma zero",),
        thread="https://github.com/ServiceNow/Fast-LLM/issues/220",
    ),
    Fault(
        rms_cotangent_read_as_dense,
        "memory is read without its strides",
        "gradient",
        NAN,
        asked=RMS,
        at=LAYOUTS,
        thread="https://github.com/unslothai/unsloth/pull/10617",
    ),
)
