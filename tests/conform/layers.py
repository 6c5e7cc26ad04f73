"""Layers to examine: right ones of unusual make, and wrong ones with what must be said of them."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import batch_norm


def two_pass(x, gamma, beta, eps):
    c = x - x.mean(0)
    return gamma * c / torch.sqrt((c * c).mean(0) + eps) + beta


def shifted_one_pass(x, gamma, beta, eps):
    """One pass over the entries less the first of them."""
    d = x - x[:1].detach()
    mean = d.mean(0)
    c = d - mean
    variance = (d * d).mean(0) - mean * mean
    # The shift leaves a mean of the size of the deviation, so that nothing cancels.
    return gamma * c / torch.sqrt(variance + eps) + beta


def folded_affine(x, gamma, beta, eps):
    mean = x.mean(0)
    scale = gamma * torch.rsqrt(x.var(0, unbiased=False) + eps)
    return torch.addcmul(beta - mean * scale, x, scale)


def float64_inside(x, gamma, beta, eps):
    return two_pass(x.double(), gamma.double(), beta.double(), eps).to(x.dtype)


def chan_merge(x, gamma, beta, eps):
    """Statistics of two halves, merged as Chan, Golub and LeVeque do."""
    k, m = len(x) // 2, len(x)
    if k == 0:
        return two_pass(x, gamma, beta, eps)
    first, second = x[:k], x[k:]
    apart = second.mean(0) - first.mean(0)
    mean = first.mean(0) + apart * ((m - k) / m)
    squares = sum(((part - part.mean(0)) ** 2).sum(0) for part in (first, second))
    variance = (squares + apart * apart * (k * (m - k) / m)) / m
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta


def maps(x, gamma, beta, eps):
    """For (N, C) and for maps (N, C, ...)."""
    axes = tuple(k for k in range(x.ndim) if k != 1)
    shape = [1, -1, *[1] * (x.ndim - 2)]
    c = x - x.mean(axes, keepdim=True)
    yhat = c / torch.sqrt((c * c).mean(axes, keepdim=True) + eps)
    return gamma.reshape(shape) * yhat + beta.reshape(shape)


class Recomputing(torch.autograd.Function):
    """A backward that computes the forward once more, and can be differentiated."""

    @staticmethod
    def forward(ctx, x, gamma, beta, eps):
        ctx.save_for_backward(x, gamma)
        ctx.eps = eps
        return two_pass(x, gamma, beta, eps)

    @staticmethod
    def backward(ctx, g):
        x, gamma = ctx.saved_tensors
        c = x - x.mean(0)
        sigma = torch.sqrt((c * c).mean(0) + ctx.eps)
        yhat = c / sigma
        dx = gamma / sigma * (g - g.mean(0) - yhat * (g * yhat).mean(0))
        return dx, (g * yhat).sum(0), g.sum(0), None


def recomputing(x, gamma, beta, eps):
    return Recomputing.apply(x, gamma, beta, eps)


RIGHT = (
    two_pass,
    shifted_one_pass,
    folded_affine,
    float64_inside,
    chan_merge,
    maps,
    recomputing,
)


def variance_detached(x, gamma, beta, eps):
    c = x - x.mean(0)
    return gamma * c / torch.sqrt((c * c).mean(0).detach() + eps) + beta


def mean_detached(x, gamma, beta, eps):
    variance = x.var(0, unbiased=False)
    return gamma * (x - x.mean(0).detach()) / torch.sqrt(variance + eps) + beta


def unbiased(x, gamma, beta, eps):
    return gamma * (x - x.mean(0)) / torch.sqrt(x.var(0) + eps) + beta


def eps_outside(x, gamma, beta, eps):
    c = x - x.mean(0)
    return gamma * c / (torch.sqrt((c * c).mean(0)) + eps) + beta


def without_sign(x, gamma, beta, eps):
    return two_pass(x, gamma.abs(), beta, eps)


def in_single_precision(x, gamma, beta, eps):
    return two_pass(x.float(), gamma.float(), beta.float(), eps).to(x.dtype)


def one_pass(x, gamma, beta, eps):
    mean = x.mean(0)
    return gamma * (x - mean) / torch.sqrt((x * x).mean(0) - mean * mean + eps) + beta


def overwriting(x, gamma, beta, eps):
    z = two_pass(x, gamma, beta, eps)
    with torch.no_grad():
        x.mul_(2)
    return z


def first_half(x, gamma, beta, eps):
    part = x[: max(len(x) // 2, 1)]
    sigma = torch.sqrt(part.var(0, unbiased=False) + eps)
    return gamma * (x - part.mean(0)) / sigma + beta


def of_samples_only(x, gamma, beta, eps):
    """For maps, divides by the number of samples."""
    axes = tuple(k for k in range(x.ndim) if k != 1)
    shape = [1, -1, *[1] * (x.ndim - 2)]
    c = x - x.mean(axes, keepdim=True)
    variance = (c * c).sum(axes, keepdim=True) / len(x)
    return gamma.reshape(shape) * c / torch.sqrt(variance + eps) + beta.reshape(shape)


_seen: dict[int, torch.Tensor] = {}


def remembering(x, gamma, beta, eps):
    """Keeps the mean of a tensor by its identity."""
    mean = _seen.setdefault(x.data_ptr(), x.mean(0).detach().clone())
    if mean.shape != x.shape[1:] or mean.dtype != x.dtype:
        mean = _seen[x.data_ptr()] = x.mean(0).detach().clone()
    c = x - x.mean(0)
    return gamma * (x - mean) / torch.sqrt((c * c).mean(0) + eps) + beta


def fused(x, gamma, beta, eps):
    """PyTorch's own."""
    return batch_norm(x, None, None, gamma, beta, True, 0.0, eps)


WRONG = {
    variance_detached: ("gradient", "x", "wrong", "the variance is held constant"),
    mean_detached: ("gradient", "x", "wrong", "the mean is held constant"),
    unbiased: ("forward", "z", "wrong", "m - 1 for m"),
    eps_outside: ("forward", "z", "wrong", "eps outside of the root"),
    without_sign: ("forward", "z", "wrong", "|gamma|"),
    in_single_precision: ("forward", "z", "wrong", "single precision"),
    first_half: ("forward", "z", "wrong", "first half"),
    of_samples_only: ("forward", "z", "wrong", ""),
    one_pass: ("forward", "z", "inaccurate", ""),
    overwriting: ("forward", "inputs", "overwrites", ""),
    fused: ("third", "x", "wrong", ""),
}
"""For each wrong layer: mode and output where it shows, the word, and a part of the guess."""


def numpy_forward(x, gamma, beta, eps):
    c = x - x.mean(0)
    sigma = np.sqrt((c * c).mean(0) + x.dtype.type(eps))
    return gamma * (c / sigma) + beta, (c / sigma, sigma, gamma)


def numpy_backward(g, cache):
    yhat, sigma, gamma = cache
    dx = gamma / sigma * (g - g.mean(0) - yhat * (g * yhat).mean(0))
    return dx, (g * yhat).sum(0), g.sum(0)


def numpy_wrong_backward(g, cache):
    dx, dgamma, dbeta = numpy_backward(g, cache)
    return dx, dgamma, dbeta / len(g)
