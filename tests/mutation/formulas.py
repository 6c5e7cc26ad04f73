"""What the library's formulas give, next to what the layer's definition and torch autograd give."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
import torch
from paper_numbers import Numbers

from theory import batchnorm, running
from theory.arithmetic.abstract import Space
from theory.claim import Reading
from verify.witnesses.autograd import TorchNetwork

MEAN, VARIANCE = 0.5, 2.0
"""Running statistics of one unit."""


def jacobian(n: Numbers) -> Any:
    """The layer's Jacobian, by autograd."""
    return n.dense(n.layer, n.y)


def slope(n: Numbers) -> Any:
    """What evaluation mode multiplies a batch by."""
    return n.gamma / np.sqrt(VARIANCE + n.eps)


Values = tuple[Callable[[Numbers], Any], Callable[[Numbers], Any]]
FORMULAS: dict[str, Values] = {
    "centre": (lambda n: batchnorm.centre(n.y), lambda n: n.y - np.mean(n.y)),
    "variance": (lambda n: batchnorm.variance(n.y), lambda n: np.var(n.y)),
    "standard_deviation": (
        lambda n: batchnorm.standard_deviation(n.y, n.eps),
        lambda n: n.sigma,
    ),
    "normalize": (lambda n: batchnorm.normalize(n.y, n.eps), lambda n: n.yhat),
    "forward": (lambda n: batchnorm.forward(n.y, n.gamma, n.beta, n.eps), lambda n: n.z),
    "jvp": (
        lambda n: batchnorm.jvp(n.y, n.u, n.gamma, n.eps),
        lambda n: jacobian(n) @ n.u,
    ),
    "gradient": (
        lambda n: batchnorm.gradient(n.y, n.g, n.gamma, n.eps),
        lambda n: n.gradient,
    ),
    "hvp": (
        lambda n: batchnorm.hvp(n.y, n.g, lambda w: n.H @ w, n.u, n.gamma, n.eps),
        lambda n: n.hessian @ n.u,
    ),
    "curvature": (
        lambda n: batchnorm.curvature(n.y, n.g, n.u, n.gamma, n.eps),
        lambda n: jacobian(n) @ n.H @ jacobian(n) @ n.u - n.hessian @ n.u,
    ),
    "gradient_gamma": (
        lambda n: batchnorm.gradient_gamma(n.y, n.g, n.eps),
        lambda n: n.g @ n.yhat,
    ),
    "gradient_beta": (lambda n: batchnorm.gradient_beta(n.g), lambda n: np.sum(n.g)),
    "running.update": (
        lambda n: running.update(MEAN, VARIANCE, 0.1),
        lambda n: MEAN - 0.1 * MEAN + 0.1 * VARIANCE,
    ),
    "running.forward": (
        lambda n: running.forward(n.y, MEAN, VARIANCE, n.gamma, n.beta, n.eps),
        lambda n: slope(n) * (n.y - MEAN) + n.beta,
    ),
    "running.gradient": (
        lambda n: running.gradient(n.g, VARIANCE, n.gamma, n.eps),
        lambda n: slope(n) * n.g,
    ),
    "running.hvp": (
        lambda n: running.hvp(lambda w: n.H @ w, n.u, VARIANCE, n.gamma, n.eps),
        lambda n: slope(n) ** 2 * n.H @ n.u,
    ),
}
"""Each formula: as the library computes it, and as it must be."""
LETTERS: dict[str, Callable[[Numbers], Any]] = {
    "m": lambda n: n.m,
    "gamma": lambda n: n.gamma,
    "beta": lambda n: n.beta,
    "sigma": lambda n: n.sigma,
    "yhat": lambda n: n.yhat,
    "g": lambda n: n.g,
    "one": lambda n: n.one,
    "H": lambda n: n.H @ n.u,
}
"""The paper's letters as they must be; H is applied to the direction."""


def instance(reading: Reading) -> tuple[TorchNetwork, Numbers]:
    """Return one unit, no two numbers of it alike, as a network and in the paper's symbols."""
    y, u, v, a, quartic = (torch.tensor(row, dtype=torch.float64) for row in ROWS)
    B = torch.outer(u, u) + torch.diag(v * v)
    gamma, beta, bound = -1.5, 0.5, 5.0
    eps = 0.0 if reading is Reading.NO_EPSILON else 0.75

    def loss(z: torch.Tensor) -> torch.Tensor:
        return a @ z + z @ B @ z / 2 + quartic @ z**4

    numbers = (torch.tensor(x, dtype=torch.float64) for x in (gamma, beta, eps))
    network = TorchNetwork(y, *numbers, u, loss, v, torch.tensor(bound, dtype=torch.float64))
    in_yhat = 0.0 if reading is Reading.UNIT_VARIANCE else eps
    arrays = (x.numpy() for x in (u, v))
    return network, Numbers(y.numpy(), gamma, beta, eps, *arrays, loss, in_yhat, bound)


ROWS = ([3, -1, 2, 0], [1, -2, 3, 1], [-3, 3, -1, 2], [2, 1, -3, -1], [1, 2, 3, 4])
"""A batch, two directions, and the coefficients of a loss."""


def for_every_m(formula: Callable[..., Any]) -> tuple[Any, ...]:
    """Return a formula's values at vectors of symbolic length, named by its parameters."""
    space = Space()
    arguments = {name: _argument(space, name) for name in inspect.signature(formula).parameters}
    values = formula(**arguments)
    return values if isinstance(values, tuple) else (values,)


def _argument(space: Space, name: str) -> Any:
    if name == "axis":
        return 0
    if name == "hessian_of_loss":
        return lambda w: w.apply_operator()
    is_vector = name in ("y", "yhat", "g", "u")
    return space.vector(name) if is_vector else sp.Symbol(name, positive=True)
