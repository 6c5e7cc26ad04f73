"""What the layer's formulas and the claims' letters give, next to NumPy's and autograd's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp
import torch
from torch.autograd.functional import hessian, jacobian

from theory import batchnorm, running
from theory.arithmetic.abstract import Space
from theory.claim import Reading, letters_of
from verify.witnesses.autograd import TorchNetwork

Entry = tuple[Callable[[], Any], Any]
"""A formula as the library computes it, and what it must give."""

ROWS = ([3, -1, 2, 0], [1, -2, 3, 1], [-3, 3, -1, 2], [2, 1, -3, -1], [1, 2, 3, 4])
"""A batch, two directions, and the coefficients of a loss; no two numbers of them alike."""
batch, direction, other, linear, quartic = (torch.tensor(r, dtype=torch.float64) for r in ROWS)
curved = torch.outer(direction, direction) + torch.diag(other * other)
Y, U = batch.numpy(), direction.numpy()
GAMMA, BETA, EPS = -1.5, 0.5, 0.75
MEAN, VARIANCE = 0.5, 2.0
"""Running statistics of one unit."""
SLOPE = GAMMA / np.sqrt(VARIANCE + EPS)
"""What evaluation mode multiplies a batch by."""


def loss(z: Any) -> Any:
    """A loss of the layer's output."""
    return linear @ z + z @ curved @ z / 2 + quartic @ z**4


def layer(y: Any, eps: float = EPS) -> Any:
    """The layer's output."""
    return GAMMA * (y - y.mean()) / torch.sqrt(torch.var(y, correction=0) + eps) + BETA


OUTPUT = layer(batch)
YHAT, SIGMA = ((OUTPUT - BETA) / GAMMA).numpy(), np.sqrt(np.var(Y) + EPS)
G, H = jacobian(loss, OUTPUT).numpy(), hessian(loss, OUTPUT).numpy()
JACOBIAN = jacobian(layer, batch).numpy()
HESSIAN = hessian(lambda y: loss(layer(y)), batch).numpy()


def after(w: Any) -> Any:
    """The loss's own Hessian, applied."""
    return H @ w


OF_BATCHNORM: dict[str, Entry] = {
    "centre": (lambda: batchnorm.centre(Y), Y - np.mean(Y)),
    "variance": (lambda: batchnorm.variance(Y), np.var(Y)),
    "standard_deviation": (lambda: batchnorm.standard_deviation(Y, EPS), SIGMA),
    "normalize": (lambda: batchnorm.normalize(Y, EPS), YHAT),
    "forward": (lambda: batchnorm.forward(Y, GAMMA, BETA, EPS), OUTPUT),
    "jvp": (lambda: batchnorm.jvp(Y, U, GAMMA, EPS), JACOBIAN @ U),
    "gradient": (lambda: batchnorm.gradient(Y, G, GAMMA, EPS), JACOBIAN.T @ G),
    "hvp": (lambda: batchnorm.hvp(Y, G, after, U, GAMMA, EPS), HESSIAN @ U),
    "curvature": (
        lambda: batchnorm.curvature(Y, G, U, GAMMA, EPS),
        JACOBIAN @ H @ JACOBIAN @ U - HESSIAN @ U,
    ),
    "gradient_gamma": (lambda: batchnorm.gradient_gamma(Y, G, EPS), G @ YHAT),
    "gradient_beta": (lambda: batchnorm.gradient_beta(G), np.sum(G)),
}
OF_RUNNING: dict[str, Entry] = {
    "update": (lambda: running.update(MEAN, VARIANCE, 0.1), MEAN - 0.1 * MEAN + 0.1 * VARIANCE),
    "forward": (
        lambda: running.forward(Y, MEAN, VARIANCE, GAMMA, BETA, EPS),
        SLOPE * (Y - MEAN) + BETA,
    ),
    "gradient": (lambda: running.gradient(G, VARIANCE, GAMMA, EPS), SLOPE * G),
    "hvp": (lambda: running.hvp(after, U, VARIANCE, GAMMA, EPS), SLOPE**2 * H @ U),
}


def letters_in(reading: Reading) -> dict[str, Entry]:
    """Return the paper's letters in a reading; H is applied to the direction."""
    eps = 0.0 if reading is Reading.NO_EPSILON else EPS
    in_yhat = 0.0 if reading is Reading.UNIT_VARIANCE else eps
    numbers = (torch.tensor(x, dtype=torch.float64) for x in (GAMMA, BETA, eps))
    network = TorchNetwork(batch, *numbers, direction, loss)
    z = layer(batch, eps)

    def letter(name: str) -> Any:
        value = getattr(letters_of(network, reading), name)
        return value(direction) if name == "H" else value

    expected = {
        "m": len(Y),
        "gamma": GAMMA,
        "beta": BETA,
        "sigma": np.sqrt(np.var(Y) + eps),
        "yhat": (Y - np.mean(Y)) / np.sqrt(np.var(Y) + in_yhat),
        "g": jacobian(loss, z),
        "one": np.ones(len(Y)),
        "H": hessian(loss, z) @ direction,
    }
    return {
        f"{name}, {reading.value}": (lambda name=name: letter(name), value)
        for name, value in expected.items()
    }


OF_LETTERS = {name: entry for r in Reading for name, entry in letters_in(r).items()}


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
