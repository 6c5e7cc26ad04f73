"""l_p normalisation against its definition, through torch autograd; what it refuses is beside."""

from math import inf

import array_api_strict
import numpy as np
import pytest
import torch
from test_operations import to_numpy, unit_norm

from theory import lp
from theory.arithmetic import size

EXPONENTS = (1, 2, inf)
UNIT_ROUNDOFF = 2.0**-53
LAYOUTS = {
    "one unit": ((5,), 0, ()),
    "units": ((6, 3), 0, (3,)),
    "maps": ((2, 3, 2, 2), (0, 2, 3), (1, 3, 1, 1)),
}
"""Shape of the batch, its axes, and the shape of a number for each unit."""
LIBRARIES = {"numpy": np.asarray, "torch": torch.asarray, "strict": array_api_strict.asarray}


def draw(layout, seed=0, offset=0.4):
    """A batch with a mean, a cotangent, a direction, gamma and beta; the batch axes."""
    rng = np.random.default_rng(seed)
    shape, axis, units = LAYOUTS[layout]
    y, g, u = (rng.standard_normal(shape) for _ in range(3))
    return y + offset, g, u, rng.standard_normal(units) + 2, rng.standard_normal(units), axis


def assert_close(actual, expected, size_of_terms, m, p):
    """Compare up to m * u * the size of the terms that are added, for each of a few roundings.

    Each side is a chain of a few sums over the batch, and of one power.
    """
    error = np.abs(to_numpy(actual) - to_numpy(expected))
    roundings = 16 * (1 if p == inf else p)
    allowed = roundings * m * UNIT_ROUNDOFF * size_of_terms
    assert np.all(error <= allowed), f"differ by {np.max(error - allowed):.1e} more than allowed"


def definition(p, eps, axis):
    """The average norm, and the normalised batch, literally, on torch's tensors."""

    def norm(y):
        if p == inf:
            return y.abs().amax(axis, keepdim=True) + eps
        return (y.abs().pow(p).mean(axis, keepdim=True) + eps).pow(1 / p)

    return norm, lambda y: (y - y.mean(axis, keepdim=True)) / norm(y)


def sizes(y, v, gamma, eps, axis, p):
    """The sizes of the terms of a derivative along v; |mean| <= s_p, so that c is of y's size."""
    norm, d = lp.power_mean(y, p, eps, axis), lp.slopes(y, p, eps, axis)
    along = unit_norm(y, axis) * unit_norm(d, axis) / (size(y, axis) * norm)
    return np.abs(gamma) / norm * unit_norm(v, axis) * (1 + along)


def by_autograd(y, g, u, gamma, beta, axis, p, eps):
    """Each formula's value, and the size of the terms that are added for it."""
    norm, yhat = definition(p, eps, axis)
    at, upstream, direction, scale, shift = map(torch.asarray, (y, g, u, gamma, beta))

    def z(y, gamma):
        return gamma * yhat(y) + shift

    s, forward = norm(at), z(at, scale)
    _, jvp = torch.func.jvp(lambda y: z(y, scale), (at,), (direction,))
    gradient, gradient_gamma = torch.func.vjp(z, at, scale)[1](upstream)
    slopes = size(y, axis) * torch.func.grad(lambda y: norm(y).sum())(at)
    of_y = unit_norm(y, axis) / to_numpy(s)
    along_u, along_g = (sizes(y, v, gamma, eps, axis, p) for v in (u, g))
    return {
        "power_mean": (s, to_numpy(s)),
        "slopes": (slopes, unit_norm(slopes, axis)),
        "normalize": (yhat(at), of_y),
        "forward": (forward, np.abs(gamma) * of_y + np.abs(beta)),
        "jvp": (jvp, along_u),
        "gradient": (gradient, along_g),
        "gradient_gamma": (gradient_gamma, unit_norm(g, axis) * of_y),
    }


@pytest.mark.parametrize("eps", [0.0, 0.7])
@pytest.mark.parametrize("p", [*EXPONENTS, 1.5])
@pytest.mark.parametrize(
    ("layout", "library"), [("one unit", "strict"), ("units", "torch"), ("maps", "numpy")]
)
def test_formulas_are_what_autograd_computes(layout, library, p, eps):
    *arrays, axis = draw(layout)
    expected = by_autograd(*arrays, axis, p, eps)
    y, g, u, gamma, beta = map(LIBRARIES[library], arrays)
    found = {
        "power_mean": lp.power_mean(y, p, eps, axis),
        "slopes": lp.slopes(y, p, eps, axis),
        "normalize": lp.normalize(y, p, eps, axis),
        "forward": lp.forward(y, p, gamma, beta, eps, axis),
        "jvp": lp.jvp(y, u, p, gamma, eps, axis),
        "gradient": lp.gradient(y, g, p, gamma, eps, axis),
        "gradient_gamma": lp.gradient_gamma(y, g, p, eps, axis),
    }
    for name, (value, size_of_terms) in expected.items():
        assert type(found[name]) is type(y), name
        value = value.reshape(found[name].shape)
        assert_close(found[name], value, size_of_terms, size(y, axis), p)


@pytest.mark.parametrize("p", EXPONENTS)
def test_planted_mistakes_are_seen(p):
    y, g, _, _, _, axis = draw("one unit")
    c, m, s, d = y - y.mean(), len(y), lp.power_mean(y, p), lp.slopes(y, p)
    centred = g - g.mean()
    for wrong in (
        centred + d * (c @ g) / (m * s),  # sign
        centred - d * (c @ g) / s,  # 1/m forgotten
        g - d * (c @ g) / (m * s),  # not centred
        centred - c / s * (d @ g) / m,  # symmetric, like Batch Normalization
        centred - d * (c @ g) / (m * np.abs(c).mean()),  # norm of the centred batch
    ):
        with pytest.raises(AssertionError, match="differ by"):
            assert_close(wrong / s, lp.gradient(y, g, p), sizes(y, g, 1, 0, axis, p), m, p)


@pytest.mark.parametrize(
    ("p", "y", "slopes"),
    [
        (1, [0.0, -2.0, 5.0, 0.0], [0.0, -1.0, 1.0, 0.0]),
        (inf, [3.0, -3.0, 1.0, 3.0], [4 / 3, -4 / 3, 0.0, 4 / 3]),
        (inf, [0.0, 0.0], [0.0, 0.0]),
        (2, [0.0, 0.0], [0.0, 0.0]),
    ],
)
def test_at_a_kink_the_slopes_are_those_of_automatic_differentiation(p, y, slopes):
    y, eps = np.array(y), 0.5
    np.testing.assert_array_equal(lp.slopes(y, p, eps), slopes)
    norm, _ = definition(p, eps, 0)
    by_autograd = len(y) * torch.func.grad(lambda y: norm(y).sum())(torch.asarray(y))
    np.testing.assert_allclose(by_autograd, slopes, rtol=4 * UNIT_ROUNDOFF)


@pytest.mark.parametrize("p", EXPONENTS)
def test_limits_are_what_the_documentation_says(p):
    for y in (np.array([-3.0]), np.array([2.0, 2.0, 2.0])):
        g = np.arange(1.0, len(y) + 1)
        np.testing.assert_array_equal(lp.forward(y, p, 2.0, 0.7), 0.7 + 0 * y)
        np.testing.assert_array_equal(lp.gradient(y, g, p), (g - g.mean()) / abs(y[0]))
        np.testing.assert_array_equal(lp.jvp(y, y, p), 0 * y)
    zeros = np.zeros((3, 2))
    np.testing.assert_array_equal(lp.forward(zeros, p, beta=0.5, eps=1e-5), zeros + 0.5)
