"""Layers to examine, beside those of the zoo: wrong ones, with what must be said of them."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import batch_norm


def two_pass(x, gamma, beta, eps):
    c = x - x.mean(0)
    return gamma * c / torch.sqrt((c * c).mean(0) + eps) + beta


def variance_detached(x, gamma, beta, eps):
    c = x - x.mean(0)
    return gamma * c / torch.sqrt((c * c).mean(0).detach() + eps) + beta


def one_pass(x, gamma, beta, eps):
    mean = x.mean(0)
    return gamma * (x - mean) / torch.sqrt((x * x).mean(0) - mean * mean + eps) + beta


def first_half(x, gamma, beta, eps):
    part = x[: max(len(x) // 2, 1)]
    sigma = torch.sqrt(part.var(0, unbiased=False) + eps)
    return gamma * (x - part.mean(0)) / sigma + beta


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
    first_half: ("forward", "z", "wrong", "first half"),
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
