"""Evaluation mode against torch autograd, through F.batch_norm and through primitives."""

import numpy as np
import pytest
import torch
from test_operations import to_numpy
from torch.nn.functional import batch_norm

from theory import running

UNITS = {"units": (3,), "maps": (1, 3, 1, 1)}
SHAPES = {"units": (5, 3), "maps": (2, 3, 4, 2)}


def draw(layout, offset=0.0):
    """A batch, a cotangent, a direction; gamma, beta, running mean and variance."""
    rng = np.random.default_rng(0)
    y, g, u = (torch.asarray(rng.standard_normal(SHAPES[layout])) for _ in range(3))
    gamma, beta, centre, spread = (
        torch.asarray(a, dtype=y.dtype).reshape(UNITS[layout])
        for a in ([-0.7, 1.5, 0.0], [0.3, 0.0, -2.0], [0.1, -5.0, offset], [0.25, 9.0, 0.5])
    )
    return y + offset, g, u, gamma, beta, centre, spread


def fused(y, centre, spread, gamma, beta, eps):
    statistics = centre.flatten(), spread.flatten()
    return batch_norm(y, *statistics, gamma.flatten(), beta.flatten(), eps=eps)


def primitive(y, centre, spread, gamma, beta, eps):
    return gamma * (y - centre) / torch.sqrt(spread + eps) + beta


LAYERS = {"fused": fused, "primitive": primitive}


def assert_entrywise(actual, expected, size):
    """Each entry is a chain of at most eight roundings of terms of the given size, on two sides.

    ``torch`` folds the running mean into an offset, gamma*mean/sigma, so that its terms are as
    large as gamma*(abs(y) + abs(mean))/sigma + abs(beta).
    """
    allowed = to_numpy(16 * 2.0**-53 * size)
    error = np.abs(to_numpy(actual) - to_numpy(expected))
    assert np.all(error <= allowed), f"differ by {np.max(error - allowed):.1e} more than allowed"


def hessian(w):
    return torch.roll(w, 1, 0) + torch.roll(w, -1, 0)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("eps", [0.0, 1e-5, 1.0])
@pytest.mark.parametrize("layout", SHAPES)
@pytest.mark.parametrize("layer", LAYERS)
def test_formulas_are_what_autograd_computes(layer, layout, eps, offset):
    y, g, u, gamma, beta, centre, spread = draw(layout, offset)

    def z(y):
        return LAYERS[layer](y, centre, spread, gamma, beta, eps)

    def loss(y):
        d = z(y) - z(at)
        return (g * d).sum() + (d * hessian(d)).sum() / 2

    at = y.clone()
    slope = gamma.abs() / (spread + eps) ** 0.5
    forward = running.forward(y, centre, spread, gamma, beta, eps)
    assert_entrywise(forward, z(y), slope * (y.abs() + centre.abs()) + beta.abs())

    gradient = torch.func.grad(loss)
    actual = running.gradient(g, spread, gamma, eps)
    assert_entrywise(actual, gradient(y), slope * g.abs())

    expected = torch.func.jvp(gradient, (y,), (u,))[1]
    actual = running.hvp(hessian, u, spread, gamma, eps)
    assert_entrywise(actual, expected, slope**2 * hessian(u.abs()))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda y, centre, spread, gamma, beta: gamma * (y - centre) / spread + beta,
        lambda y, centre, spread, gamma, beta: gamma * (y + centre) / spread**0.5 + beta,
        lambda y, centre, spread, gamma, beta: gamma * (y - centre) / spread**0.5,
        lambda y, centre, spread, gamma, beta: gamma * (y - y.mean(0)) / spread**0.5 + beta,
    ],
    ids=["variance for deviation", "sign", "beta forgotten", "the batch's own mean"],
)
def test_comparison_sees_a_planted_mistake(wrong):
    y, _, _, gamma, beta, centre, spread = draw("units")
    size = gamma.abs() / spread**0.5 * (y.abs() + centre.abs()) + beta.abs()
    right = running.forward(y, centre, spread, gamma, beta)
    with pytest.raises(AssertionError, match="differ by"):
        assert_entrywise(wrong(y, centre, spread, gamma, beta), right, size)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("gradient", lambda g, s: g / s),
        ("gradient", lambda g, s: (g - g.mean(0)) / s**0.5),
        ("hvp", lambda u, s: hessian(u) / s**0.5),
        ("hvp", lambda u, s: hessian(u / s**0.5)),
    ],
)
def test_comparison_sees_a_planted_derivative(name, wrong):
    _, g, u, _, _, _, spread = draw("units")
    v = {"gradient": g, "hvp": u}[name]
    right = {
        "gradient": lambda: running.gradient(g, spread),
        "hvp": lambda: running.hvp(hessian, u, spread),
    }[name]()
    with pytest.raises(AssertionError, match="differ by"):
        assert_entrywise(wrong(v, spread), right, v.abs() / spread)


def mixing(w):
    """A symmetric Hessian that ties each unit to the next, differently."""
    couplings = torch.tensor([[2.0, 0.5, -1.0], [0.5, 1.0, 3.0], [-1.0, 3.0, 0.25]], dtype=w.dtype)
    return torch.einsum("ij,nj...->ni...", couplings, w)


@pytest.mark.parametrize("layout", SHAPES)
@pytest.mark.parametrize("layer", LAYERS)
def test_a_loss_may_tie_units_of_different_slopes(layer, layout):
    y, g, u, gamma, beta, centre, spread = draw(layout)
    gamma = gamma + 0.5  # no slope is zero, and no two are alike

    def z(y):
        return LAYERS[layer](y, centre, spread, gamma, beta, 1e-5)

    def loss(y):
        d = z(y) - z(at)
        return (g * d).sum() + (d * mixing(d)).sum() / 2

    at = y.clone()
    expected = torch.func.jvp(torch.func.grad(loss), (y,), (u,))[1]
    slope = gamma.abs() / (spread + 1e-5) ** 0.5
    size = slope * 4 * slope.max() * u.abs().max()
    assert_entrywise(running.hvp(mixing, u, spread, gamma, 1e-5), expected, size)
    outside_once = gamma**2 / (spread + 1e-5) * mixing(u)
    with pytest.raises(AssertionError, match="differ by"):
        assert_entrywise(outside_once, expected, size)


def test_numbers_may_stand_for_one_unit():
    y = np.array([1.0, 3.0])
    np.testing.assert_array_equal(running.forward(y, 1.0, 4.0, gamma=3, beta=1), [1.0, 4.0])
    np.testing.assert_array_equal(running.gradient(y, 4.0, gamma=2), y)
