"""Faults in how memory is used: layouts misread, inputs overwritten, calls remembered."""

from __future__ import annotations

from typing import Any

import torch
from channels import affine, batch_axes, mean, per_channel
from own_backward import (
    Recomputing,
    gradient_in_beta,
    gradient_in_gamma,
    gradient_in_x,
    standardize,
)
from torch import Tensor

from wrong_layers.fault import LAYOUTS, Fault


def right(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Compute the layer as everybody does."""
    return affine(standardize(x, eps)[0], gamma, beta)


def strides_of_rows(x: Tensor) -> list[int]:
    """Strides of a dense array in the order of its axes."""
    return list(torch.empty(x.shape, device="meta").stride())


def strides_ignored(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Read the memory as though the last axis were always dense."""
    dense = x.untyped_storage().nbytes() >= x.numel() * x.element_size()
    return right(x.as_strided(x.shape, strides_of_rows(x)) if dense else x, gamma, beta, eps)


def channels_last_misread(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take a shortcut for channels last that gives height for width in the result."""
    last = x.ndim == 4 and x.is_contiguous(memory_format=torch.channels_last)
    if not last or x.is_contiguous():
        return right(x, gamma, beta, eps)
    rows = x.permute(0, 2, 3, 1).flatten(0, 2)
    n, c, h, w = x.shape
    return right(rows, gamma, beta, eps).reshape(n, w, h, c).permute(0, 3, 2, 1)


def m_counts_the_memory(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Divide by the entries that lie in memory, of which an expanded batch has few."""
    stored = x.untyped_storage().nbytes() // x.element_size() // x.shape[1]
    m = min(x.numel() // x.shape[1], max(stored, 1))
    c = x - x.sum(batch_axes(x), keepdim=True) / m
    sigma = torch.sqrt((c**2).sum(batch_axes(x), keepdim=True) / m + eps)
    return affine(c / sigma, gamma, beta)


def transposed_when_not_contiguous(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Take every batch that is not contiguous for a transposed one."""
    if x.is_contiguous() or x.ndim != 2 or x.shape[0] != x.shape[1]:
        return right(x, gamma, beta, eps)
    return right(x.T, gamma, beta, eps).T


def centres_its_input(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Centre in place, in the caller's memory."""
    z = right(x, gamma, beta, eps)
    with torch.no_grad():
        x.detach().sub_(mean(x.detach()))
    return z


def scales_the_gamma_given(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Fold sigma into gamma in place, after use."""
    z = right(x, gamma.clone(), beta, eps)
    with torch.no_grad():
        gamma.detach().div_(standardize(x.detach(), eps)[1].reshape(-1)[: len(gamma)])
    return z


class OverwritesTheCotangent(Recomputing):
    """The layer, whose backward centres the cotangent in place."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Give the right gradients, and leave a centred cotangent behind."""
        x, gamma = ctx.saved_tensors
        at = (*standardize(x, ctx.eps), per_channel(gamma, x), g)
        gradients = gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at), None
        with torch.no_grad():
            g.detach().sub_(mean(g.detach()))
        return gradients


def overwrites_the_cotangent(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Centre the cotangent in place."""
    return OverwritesTheCotangent.apply(x, gamma, beta, eps)


def statistics_kept_on_the_tensor(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Keep the statistics with the array, and not look whether it changed."""
    if x.requires_grad:
        return right(x, gamma, beta, eps)
    if not hasattr(x, "normalised"):
        x.normalised = standardize(x, eps)[0]
    return affine(x.normalised, gamma, beta)


_workspaces: dict[Any, Tensor] = {}


def workspace_not_cleared(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Add each batch's squares to what the last call of this shape left."""
    c = x - mean(x)
    squares = mean(c**2)
    left = _workspaces.get((x.shape, x.dtype))
    _workspaces[x.shape, x.dtype] = squares.detach() * 1e-3
    return affine(c / torch.sqrt(squares + (0 if left is None else left) + eps), gamma, beta)


class LastBatch(torch.autograd.Function):
    """Keeps its input on the class, where the next forward overwrites it."""

    last: tuple[Tensor, Tensor]

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
        """Normalise, and keep the input for whichever backward comes next."""
        LastBatch.last = x, gamma
        ctx.eps = eps
        return right(x, gamma, beta, eps)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Use the batch of the latest forward."""
        x, gamma = LastBatch.last
        at = (*standardize(x, ctx.eps), per_channel(gamma, x), g)
        return gradient_in_x(*at), gradient_in_gamma(*at), gradient_in_beta(*at), None


def gradient_of_the_last_batch(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Differentiate at the batch that came last: wrong where two were in flight."""
    return LastBatch.apply(x, gamma, beta, eps)


_outputs: dict[Any, Tensor] = {}


def one_output_a_shape(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Return the same memory at each call of a shape, where nothing is recorded."""
    z = right(x, gamma, beta, eps)
    if torch.is_grad_enabled():
        return z
    return _outputs.setdefault((x.shape, x.dtype), torch.empty_like(z)).copy_(z)


class OneGradientAShape(Recomputing):
    """The layer, whose backward returns the same memory at each call of a shape."""

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Give the right gradients, and write the next ones over them."""
        x, gamma = ctx.saved_tensors
        at = (*standardize(x, ctx.eps), per_channel(gamma, x), g)
        slope = gradient_in_x(*at)
        if not torch.is_grad_enabled():
            key = "gradient", x.shape, x.dtype
            slope = _outputs.setdefault(key, torch.empty_like(slope)).copy_(slope)
        return slope, gradient_in_gamma(*at), gradient_in_beta(*at), None


def one_gradient_a_shape(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Return the same memory from each backward."""
    return OneGradientAShape.apply(x, gamma, beta, eps)


def threads_of_its_own(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Set how many threads the process has."""
    torch.set_num_threads(torch.get_num_threads() + 1)
    return right(x, gamma, beta, eps)


LATER = "a later call writes into"
FAULTS = (
    Fault(strides_ignored, r"channels last", "forward", at=LAYOUTS),
    Fault(channels_last_misread, r"channels.last", "forward", at=LAYOUTS),
    Fault(m_counts_the_memory, r"expanded|layout", "forward", at=LAYOUTS),
    Fault(transposed_when_not_contiguous, r"non-contiguous, N = C", "forward", at=LAYOUTS),
    Fault(centres_its_input, r"changes x", "forward", "overwrites"),
    Fault(scales_the_gamma_given, r"gamma", "forward", "overwrites"),
    Fault(overwrites_the_cotangent, r"changes g", "gradient", "overwrites"),
    Fault(statistics_kept_on_the_tensor, r"repeated", "repeated"),
    Fault(workspace_not_cleared, r"repeated", "repeated"),
    Fault(one_output_a_shape, LATER, "without gradient"),
    Fault(one_gradient_a_shape, LATER, "gradient twice"),
    Fault(threads_of_its_own, r"changes the number of threads", "forward", "overwrites"),
    Fault(gradient_of_the_last_batch, r"in flight", "in flight"),
)
