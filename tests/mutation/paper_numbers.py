"""The paper's symbols for one case of numbers, computed with NumPy and torch autograd alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.autograd.functional import hessian, jacobian

Array = NDArray[np.float64]
Sides = tuple[Any, Any]


class Numbers:
    """The symbols of the paper for one case of numbers; ``L`` is the loss of a tensor."""

    def __init__(
        self,
        y: Array,
        gamma: float,
        beta: float,
        eps: float,
        u: Array,
        v: Array,
        L: Callable[[torch.Tensor], torch.Tensor],
        eps_in_yhat: float,
        bound: float,
    ):
        self.y, self.gamma, self.beta, self.eps = y, gamma, beta, eps
        self.u, self.v, self.L, self.bound = u, v, L, bound
        self.m, self.one, self.I = len(y), np.ones(len(y)), np.eye(len(y))
        variance = np.var(y)
        self.sigma = np.sqrt(variance + eps)
        self.yhat = (y - np.mean(y)) / np.sqrt(variance + eps_in_yhat)
        self.z = gamma * (y - np.mean(y)) / self.sigma + beta
        self.g, self.H = self.gradient_of_loss(self.z), self._dense(hessian, L, self.z)
        self.centred = self.g - np.mean(self.g)
        self.off_yhat = self.I - np.outer(self.yhat, self.yhat) / self.m
        self.off_mean = self.I - np.outer(self.one, self.one) / self.m
        self.P = self.off_yhat - np.outer(self.one, self.one) / self.m

    def gradient_of_loss(self, z: Array) -> Array:
        """The loss's gradient at any output."""
        return self._dense(jacobian, self.L, z)

    def normalize(self, y: torch.Tensor) -> torch.Tensor:
        """The normalised batch."""
        return (y - y.mean()) / torch.sqrt(torch.var(y, correction=0) + self.eps)

    def layer(self, y: torch.Tensor) -> torch.Tensor:
        """The layer's output."""
        return self.gamma * self.normalize(y) + self.beta

    def dense(self, f: Callable[[torch.Tensor], torch.Tensor], x: Array) -> Array:
        """The matrix of a function's derivative, or the gradient of a scalar one."""
        return self._dense(jacobian, f, x)

    def gradient_at(self, y: Array) -> Array:
        """The gradient in y of the loss behind the layer, at any y."""
        return self._dense(jacobian, lambda y: self.L(self.layer(y)), y)

    @cached_property
    def gradient(self) -> Array:
        """The same at the batch."""
        return self.gradient_at(self.y)

    @cached_property
    def hessian(self) -> Array:
        """The Hessian in y of the loss behind the layer."""
        return self._dense(hessian, lambda y: self.L(self.layer(y)), self.y)

    @cached_property
    def slope(self) -> Array:
        """The matrix of the normalised batch's derivative."""
        return self._dense(jacobian, self.normalize, self.y)

    def second(self, f: Callable[[torch.Tensor], torch.Tensor], x: Array) -> Array:
        """The matrix of a scalar function's second derivatives."""
        return self._dense(hessian, f, x)

    @staticmethod
    def _dense(differentiate: Callable[..., torch.Tensor], f: Any, x: Array) -> Array:
        return differentiate(f, torch.as_tensor(x)).numpy()
