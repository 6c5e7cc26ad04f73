"""What the library's formulas must give: pairs with what NumPy, PyTorch and literal sums give."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.autograd.functional import hessian, jacobian
from torch.nn import functional

import theory.claim
from theory import batchnorm, convolution, preconditioning, running
from theory.claim import Reading, letters_of
from theory.convolution import correlations, gramian, moments, unfolded, windows
from verify.witnesses.autograd import TorchNetwork

Pairs = Iterator[tuple[Any, Any]]
"""What a formula gives, and what it must give."""
RNG = np.random.default_rng(7)


def numbers(*shape: int) -> Any:
    """Random numbers, no two alike."""
    return RNG.normal(size=shape) + 0.25


ROWS = ([3, -1, 2, 0], [1, -2, 3, 1], [-3, 3, -1, 2], [2, 1, -3, -1], [1, 2, 3, 4])
"""A batch, two directions, and the coefficients of a loss; no two numbers of them alike."""
batch, direction, other, linear, quartic = (torch.tensor(r, dtype=torch.float64) for r in ROWS)
curved = torch.outer(direction, direction) + torch.diag(other * other)
Y, U = batch.numpy(), direction.numpy()
GAMMA, BETA, EPS = -1.5, 0.5, 0.75


def loss(z: Any) -> Any:
    """A loss of the layer's output."""
    return linear @ z + z @ curved @ z / 2 + quartic @ z**4


def layer(y: Any, eps: float = EPS) -> Any:
    """The layer's output."""
    return GAMMA * (y - y.mean()) / torch.sqrt(torch.var(y, correction=0) + eps) + BETA


OUTPUT = layer(batch)
YHAT, SIGMA = ((OUTPUT - BETA) / GAMMA).numpy(), np.sqrt(np.var(Y) + EPS)
G, H = jacobian(loss, OUTPUT).numpy(), hessian(loss, OUTPUT).numpy()
J = jacobian(layer, batch).numpy()
HESSIAN = hessian(lambda y: loss(layer(y)), batch).numpy()


def of_batchnorm() -> Pairs:
    """One unit."""
    yield batchnorm.centre(Y), Y - np.mean(Y)
    yield batchnorm.variance(Y), np.var(Y)
    yield batchnorm.standard_deviation(Y, EPS), SIGMA
    yield batchnorm.normalize(Y, EPS), YHAT
    yield batchnorm.forward(Y, GAMMA, BETA, EPS), OUTPUT
    yield batchnorm.jvp(Y, U, GAMMA, EPS), J @ U
    yield batchnorm.gradient(Y, G, GAMMA, EPS), J.T @ G
    yield batchnorm.hvp(Y, G, lambda w: H @ w, U, GAMMA, EPS), HESSIAN @ U
    yield batchnorm.curvature(Y, G, U, GAMMA, EPS), J @ H @ J @ U - HESSIAN @ U
    yield batchnorm.gradient_gamma(Y, G, EPS), G @ YHAT
    yield batchnorm.gradient_beta(G), np.sum(G)


def of_running() -> Pairs:
    """One unit in evaluation mode."""
    mean, variance = 0.5, 2.0
    slope = GAMMA / np.sqrt(variance + EPS)
    yield running.update(mean, variance, 0.1), mean - 0.1 * mean + 0.1 * variance
    yield running.forward(Y, mean, variance, GAMMA, BETA, EPS), slope * (Y - mean) + BETA
    yield running.gradient(G, variance, GAMMA, EPS), slope * G
    yield running.hvp(lambda w: H @ w, U, variance, GAMMA, EPS), slope**2 * H @ U


def of_letters() -> Pairs:
    """The papers' letters, in each reading."""
    for reading in Reading:
        eps = 0.0 if reading is Reading.NO_EPSILON else EPS
        in_yhat = 0.0 if reading is Reading.UNIT_VARIANCE else eps
        unit = map(torch.tensor, (GAMMA, BETA, eps))
        letters = letters_of(TorchNetwork(batch, *unit, direction, loss), reading)
        z = layer(batch, eps)
        yield (letters.m, letters.gamma, letters.beta), (len(Y), GAMMA, BETA)
        yield letters.sigma, np.sqrt(np.var(Y) + eps)
        yield letters.one, np.ones(len(Y))
        yield letters.yhat, (Y - np.mean(Y)) / np.sqrt(np.var(Y) + in_yhat)
        yield letters.g, jacobian(loss, z)
        yield letters.H(direction), hessian(loss, z) @ direction


FEATURES, W, b, S = numbers(5, 3), numbers(2, 3), numbers(2), numbers(5, 5)
SCALE, SHIFT, MEAN, DEVIATION = numbers(3), numbers(3), numbers(3), RNG.uniform(0.5, 2, 3)
AUGMENTED = np.column_stack([np.ones(5), FEATURES])
CENTRING = np.eye(4)
CENTRING[0, 1:] = -MEAN
SCALING = np.diag([1, *(1 / DEVIATION)])
P = CENTRING @ SCALING
GRADIENTS = numbers(2), numbers(2, 3)
STEP = P @ P.T @ np.vstack([GRADIENTS[0], GRADIENTS[1].T]) / 3


def of_preconditioning() -> Pairs:
    """A dense layer behind Batch Normalization."""
    yield preconditioning.augmented(FEATURES), AUGMENTED
    yield preconditioning.means(FEATURES), np.mean(FEATURES, 0)
    yield preconditioning.variances(FEATURES), np.var(FEATURES, 0)
    deviations = np.sqrt(np.var(FEATURES, 0) + EPS)
    yield preconditioning.standard_deviations(FEATURES, EPS), deviations
    yield preconditioning.centring(MEAN), CENTRING
    yield preconditioning.scaling(DEVIATION), SCALING
    yield preconditioning.preconditioner(MEAN, DEVIATION), P
    normalized = np.array([[(h[j] - MEAN[j]) / DEVIATION[j] for j in range(3)] for h in FEATURES])
    yield preconditioning.features(FEATURES, MEAN, DEVIATION), normalized
    yield preconditioning.normalized(FEATURES, MEAN, DEVIATION), AUGMENTED @ P
    yield preconditioning.correlations(FEATURES), np.corrcoef(FEATURES.T)
    for curvature, matrix in ((S[0], np.diag(S[0])), (S, S), (lambda V: S @ V, S)):
        found = preconditioning.unit_hessian(FEATURES, curvature)
        yield found, AUGMENTED.T @ matrix @ AUGMENTED
    variance = DEVIATION**2
    bias, weights = preconditioning.preconditioned_gradient(*GRADIENTS, MEAN, variance, q_squared=3)
    yield np.vstack([bias, weights.T]), STEP
    found = preconditioning.regularized_variance(variance, 0.25, 0.125)
    yield found, [v + 0.25 * max(variance) + 0.125 for v in variance]
    found = preconditioning.regularized_variance(variance)
    yield found, [v + 0.01 * max(variance) + 0.0001 for v in variance]
    yield preconditioning.running(MEAN, SCALE, 0.75), MEAN + (SCALE - MEAN) / 4
    yield preconditioning.running(MEAN, SCALE), MEAN + (SCALE - MEAN) / 100
    yield preconditioning.scale_factor(4.0, 6.0), 1.5
    yield preconditioning.scale_factor(6.0, 4.0), 1
    weights, bias = preconditioning.folded(W, b, SCALE, SHIFT, MEAN, DEVIATION)
    yield FEATURES @ weights.T + bias, (SCALE * normalized + SHIFT) @ W.T + b


IMAGES, BIAS, OUT, STACKED = numbers(3, 2, 6, 5), numbers(4), numbers(3, 4, 6, 5), numbers(19, 3)
WHOLE = RNG.integers(-9, 10, (3, 2, 6, 5)).astype(float)
"""Numbers that an offset leaves as they are: what it must not cost the variances is a digit."""
KERNELS = {3: numbers(4, 2, 3, 3), 5: numbers(4, 2, 5, 5)}
GEOMETRIES: tuple[tuple[int, dict[str, Any], int | None], ...] = (
    (3, {}, None),
    (3, {}, 1),
    (5, {}, None),
    (3, {"stride": 2}, None),
    (3, {"dilation": 2}, None),
    (5, {"padding": "valid"}, None),
)
"""The kernel, how it moves, and how many examples are taken at once."""


def rows_of(maps: Any) -> Any:
    """Maps as (batch * height * width, channel)."""
    return maps.transpose(0, 2, 3, 1).reshape(-1, maps.shape[1])


@cache
def unfolded_by_torch(k: int, stride: int = 1, dilation: int = 1, padding: str = "same") -> Any:
    """The unfolded matrix with its column of ones."""
    margin = k // 2 * dilation if padding == "same" else 0
    columns = functional.unfold(torch.tensor(IMAGES), k, dilation, margin, stride)
    rows = columns.transpose(1, 2).flatten(0, 1).numpy()
    return np.column_stack([np.ones(len(rows)), rows])


def of_convolution() -> Pairs:
    """Convolutions as products with the unfolded matrix."""
    yield windows.Geometry(5, padding="valid").output(2), 0
    yield windows.pad(IMAGES, 1, 2), np.pad(IMAGES, ((0, 0), (0, 0), (1, 1), (2, 2)))
    weights, bias = convolution.unflatten(STACKED, 3)
    yield np.vstack([bias, weights.reshape(3, -1).T]), STACKED
    for k, place, chunk in GEOMETRIES:
        matrix, kernel, chunked = (
            unfolded_by_torch(k, **place),
            KERNELS[k],
            {**place, "chunk": chunk},
        )
        stacked = np.vstack([BIAS, kernel.reshape(4, -1).T])
        yield convolution.flatten(kernel, BIAS), stacked
        yield convolution.unfold(IMAGES, k, **place), matrix
        output = convolution.apply(IMAGES, kernel, BIAS, **chunked)
        yield rows_of(output), matrix @ stacked
        upstream = OUT[:, :, : output.shape[2], : output.shape[3]]
        weights, bias = convolution.apply_transposed(IMAGES, upstream, k, **chunked)
        yield np.vstack([bias, weights.reshape(4, -1).T]), matrix.T @ rows_of(upstream)
        yield convolution.gram(IMAGES, k, **chunked), matrix.T @ matrix
        diagonal = upstream[:, :1]
        for S in (diagonal[:, 0], lambda maps, by=diagonal: maps * by):
            found = convolution.weighted_gram(IMAGES, S, k, **chunked)
            yield found, matrix.T @ (rows_of(diagonal) * matrix)
        entries = matrix[:, 1:].reshape(-1, 2, k, k)
        yield convolution.column_sums(IMAGES, k, **place), entries.sum(0)
        yield convolution.column_means(IMAGES, k, **place), entries.mean(0)
        yield convolution.column_variances(IMAGES, k, **chunked), entries.var(0)
    inside = np.lib.stride_tricks.sliding_window_view(WHOLE, (4, 3), (2, 3))
    found = convolution.column_variances(WHOLE + 2.0**40, 3, padding="valid")
    yield found, inside.var((0, 4, 5))


OF_MODULES = {
    batchnorm: of_batchnorm,
    running: of_running,
    theory.claim: of_letters,
    preconditioning: of_preconditioning,
    **dict.fromkeys((unfolded, gramian, moments, windows, correlations), of_convolution),
}


def differs(found: Any, expected: Any, within: float = 1e-9) -> bool:
    """Whether two values differ in numbers or in shape, axes of length one apart."""
    a, b = (np.squeeze(np.asarray(value)) for value in (found, expected))
    return a.shape != b.shape or not np.allclose(a, b, rtol=within, atol=within)
