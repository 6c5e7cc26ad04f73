"""Faults of the other normalisations: layer, group, instance, RMS."""

from __future__ import annotations

import torch
from channels import per_channel
from other_signatures import RootMeanSquare
from torch import Tensor

from wrong_layers.fault import Fault


def layer_eps_outside_of_the_root(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Layer normalisation by sd + eps."""
    variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
    return gamma * (x - mean) / (torch.sqrt(variance) + eps) + beta


def layer_unbiased(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Layer normalisation by the unbiased variance, which torch.std is."""
    variance, mean = torch.var_mean(x, -1, keepdim=True, correction=1)
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta


def layer_variance_detached(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Layer normalisation that treats its standard deviation as a constant."""
    variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
    return gamma * (x - mean) / torch.sqrt(variance + eps).detach() + beta


class GammaAfterTheProjection(torch.autograd.Function):
    """Layer normalisation whose backward projects before gamma scales the cotangent."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        """Normalise the last axis."""
        variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
        return gamma * (x - mean) / torch.sqrt(variance + eps) + beta

    @staticmethod
    def setup_context(ctx: object, inputs: tuple[object, ...], output: Tensor) -> None:
        """Save the inputs."""
        x, gamma, _, ctx.eps = inputs
        ctx.save_for_backward(x, gamma)

    @staticmethod
    def backward(ctx: object, g: Tensor) -> tuple[Tensor | None, ...]:
        """Scale last, as batch normalisation may."""
        x, gamma = ctx.saved_tensors
        variance, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
        sigma = torch.sqrt(variance + ctx.eps)
        yhat = (x - mean) / sigma
        along = (yhat * g).mean(-1, keepdim=True)
        dx = gamma / sigma * (g - g.mean(-1, keepdim=True) - yhat * along)
        rows = tuple(range(x.ndim - 1))
        return dx, (yhat * g).sum(rows), g.sum(rows), None


def layer_gamma_after_the_projection(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Treat gamma as constant along the axis that is averaged over."""
    return GammaAfterTheProjection.apply(x, gamma, beta, eps)


def rms_centred(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """RMS normalisation that takes the mean out of the square."""
    variance = x.var(-1, keepdim=True, correction=0)
    return gamma * x / torch.sqrt(variance + eps) + (0 if beta is None else beta)


def rms_eps_outside_of_the_root(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """RMS normalisation by rms + eps."""
    root = torch.sqrt((x**2).mean(-1, keepdim=True))
    return gamma * x / (root + eps) + (0 if beta is None else beta)


def rms_gamma_from_one(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """RMS normalisation that scales by 1 + gamma."""
    root = torch.sqrt((x**2).mean(-1, keepdim=True) + eps)
    return (1 + gamma) * x / root + (0 if beta is None else beta)


def rms_detached(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """RMS normalisation that treats its root mean square as a constant."""
    root = torch.sqrt((x**2).mean(-1, keepdim=True) + eps).detach()
    return gamma * x / root + (0 if beta is None else beta)


GROUPS = 2


def interleaved_groups(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Deal the channels to the groups like cards."""
    grouped = x.reshape(len(x), -1, GROUPS, *x.shape[2:])
    axes = tuple(axis for axis in range(grouped.ndim) if axis not in (0, 2))
    variance, mean = torch.var_mean(grouped, axes, keepdim=True, correction=0)
    yhat = ((grouped - mean) / torch.sqrt(variance + eps)).reshape(x.shape)
    return per_channel(gamma, x) * yhat + per_channel(beta, x)


def group_unbiased(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Group normalisation by the unbiased variance."""
    grouped = x.reshape(len(x), GROUPS, -1)
    variance, mean = torch.var_mean(grouped, -1, keepdim=True, correction=1)
    yhat = ((grouped - mean) / torch.sqrt(variance + eps)).reshape(x.shape)
    return per_channel(gamma, x) * yhat + per_channel(beta, x)


def instance_over_the_batch(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Instance normalisation whose mean is the batch's."""
    space = tuple(range(2, x.ndim))
    mean = x.mean((0, *space), keepdim=True)
    variance = x.var(space, keepdim=True, correction=0)
    yhat = (x - mean) / torch.sqrt(variance + eps)
    return per_channel(gamma, x) * yhat + per_channel(beta, x)


def rms_eps_forgotten_in_the_backward(x: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """RMS normalisation without beta, whose backward has no eps."""
    return RootMeanSquare.apply(x, gamma, eps, 0.0)


LAYER, RMS, INSTANCE = ({"family": name} for name in ("layer", "rms", "instance"))
GROUP = {"family": "group", "groups": GROUPS}
FAULTS = (
    Fault(
        layer_eps_outside_of_the_root,
        "eps outside of the root",
        "forward",
        asked=LAYER,
        thread="https://github.com/pyg-team/pytorch_geometric/pull/2917",
    ),
    Fault(layer_unbiased, r"m - 1", "forward", asked=LAYER),
    Fault(layer_variance_detached, r"variance is held constant", "gradient", asked=LAYER),
    Fault(layer_gamma_after_the_projection, "after the projections", "gradient", asked=LAYER),
    Fault(rms_centred, "the variance for the mean square", "forward", asked=RMS),
    Fault(
        rms_eps_outside_of_the_root,
        "eps outside of the root",
        "forward",
        asked=RMS,
        thread="https://github.com/allenai/OLMo/issues/281",
    ),
    Fault(rms_gamma_from_one, r"1 \+ gamma for gamma", "forward", asked=RMS),
    Fault(rms_eps_forgotten_in_the_backward, r"eps is missing", "gradient", asked=RMS),
    Fault(rms_detached, r"held constant", "gradient", asked=RMS),
    Fault(interleaved_groups, "different statistics", "forward", asked=GROUP),
    Fault(group_unbiased, r"m - 1", "forward", asked=GROUP),
    Fault(instance_over_the_batch, "statistics of other numbers", "forward", asked=INSTANCE),
)
