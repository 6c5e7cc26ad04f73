r"""Losses of one output channel, ``a (batch, 1, r', s')``: for autograd, and in closed form.

``value`` is written literally, for PyTorch; ``gradient`` and ``hessian`` are array code for any
backend, and share nothing with it.  ``hessian(a)`` is an operator on maps
``(batch, direction, r', s')``: the S of Prop. 9 of Lange et al. 2022.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from array_api_compat import array_namespace
from torch import Tensor

from theory import batchnorm
from verify import primitives
from verify.witnesses.stacks import softplus

EPS = 1e-5
FUNCTIONALS = 2
BATCH_AXES = (0, 2, 3)
Operator = Callable[[Any], Any]


@dataclass(frozen=True)
class SampleLoss:
    r"""The mean over the batch of a loss that couples the pixels of each example.

    .. math:: L(a) = \sum_l \log(1 + e^{\langle f_l, a\rangle})
              + \frac1{r's'}\sum_{i,j} \log(1 + e^{q_{ij} a_{ij}})

    Each block of S is a diagonal plus a matrix of rank :data:`FUNCTIONALS`, and varies with a.
    """

    functionals: Any
    """f, ``(l, batch, 1, r', s')``"""
    slopes: Any
    """q, ``(1, 1, r', s')``"""

    @classmethod
    def draw(cls, batch: int, size: int, seed: int) -> SampleLoss:
        """Return one at random, of NumPy arrays."""
        draw = np.random.default_rng([seed, batch, size])
        functionals = draw.normal(size=(FUNCTIONALS, batch, 1, size, size)) / size
        return cls(functionals, draw.uniform(-2, 2, (1, 1, size, size)))

    def map(self, convert: Callable[[Any], Any]) -> SampleLoss:
        """Return the loss with its parameters converted."""
        return replace(self, functionals=convert(self.functionals), slopes=convert(self.slopes))

    def value(self, a: Tensor) -> Tensor:
        """Return the mean over the batch, for PyTorch."""
        products = torch.einsum("lnoij,noij->ln", self.functionals, a)
        pixels = softplus(self.slopes * a).mean(dim=(1, 2, 3))
        return (softplus(products).sum(dim=0) + pixels).mean()

    def gradient(self, a: Any) -> Any:
        """Return the gradient of the mean, maps like a."""
        xp = array_namespace(a)
        total = self.slopes * _logistic(self.slopes * a) / _pixels(a)
        for number in range(self.functionals.shape[0]):
            f = self.functionals[number, ...]
            total = total + f * _logistic(xp.sum(f * a, axis=(1, 2, 3), keepdims=True))
        return total / a.shape[0]

    def hessian(self, a: Any) -> Operator:
        """Return S at a: (1/N) times a block for each example."""
        xp = array_namespace(a)
        diagonal = self.slopes**2 * _logistic_slope(self.slopes * a) / _pixels(a)
        functionals = [self.functionals[i, ...] for i in range(self.functionals.shape[0])]
        curvatures = [
            _logistic_slope(xp.sum(f * a, axis=(1, 2, 3), keepdims=True)) for f in functionals
        ]

        def apply(v: Any) -> Any:
            total = diagonal * v
            for f, curvature in zip(functionals, curvatures, strict=True):
                along = xp.sum(f * v, axis=(2, 3), keepdims=True)
                total = total + curvature * along * f
            return total / a.shape[0]

        return apply


@dataclass(frozen=True)
class LaterBatchNorm:
    """The same loss behind a Batch Normalization, which couples the examples."""

    loss: SampleLoss

    def value(self, a: Tensor) -> Tensor:
        """Return the loss of the normalised a, for PyTorch."""
        flat = a.reshape(-1)
        normalized = primitives.forward(flat, len(flat), 1.0, 0.0, EPS, torch.sqrt)
        return self.loss.value(normalized.reshape(a.shape))

    def hessian(self, a: Any) -> Operator:
        """Return the whole of S at a."""
        z = batchnorm.forward(a, eps=EPS, axis=BATCH_AXES)
        gradient, curved = self.loss.gradient(z), self.loss.hessian(z)
        return lambda v: batchnorm.hvp(a, gradient, curved, v, eps=EPS, axis=BATCH_AXES)


def block_diagonal(S: Operator) -> Operator:
    """Return S without what couples one example to another."""

    def apply(v: Any) -> Any:
        xp = array_namespace(v)
        result = xp.zeros_like(v)
        for number in range(v.shape[0]):
            alone = xp.zeros_like(v)
            alone[number, ...] = v[number, ...]
            result[number, ...] = S(alone)[number, ...]
        return result

    return apply


def _logistic(x: Any) -> Any:
    return (1 + array_namespace(x).tanh(x / 2)) / 2


def _logistic_slope(x: Any) -> Any:
    return (1 - array_namespace(x).tanh(x / 2) ** 2) / 4


def _pixels(a: Any) -> int:
    return a.shape[-2] * a.shape[-1]
