"""l_p normalisation against its definition: in exact numbers, and through torch autograd."""

from itertools import pairwise
from math import inf

import array_api_strict
import numpy as np
import pytest
import sympy as sp
import torch
from test_operations import to_numpy, unit_norm

from theory import batchnorm, lp_normalization
from theory.arithmetic import size

EXPONENTS = (1, 2, inf)
UNIT_ROUNDOFF = 2.0**-53
LAYOUTS = {
    "one unit": ((5,), 0, ()),
    "units": ((6, 3), 0, (3,)),
    "maps": ((2, 3, 2, 2), (0, 2, 3), (1, 3, 1, 1)),
}
"""Shape of the batch, its axes, and the shape of a number for each unit."""


def draw(layout, seed=0, offset=0.4):
    """A batch with a mean, a cotangent, a direction, gamma and beta; the batch axes."""
    rng = np.random.default_rng(seed)
    shape, axis, units = LAYOUTS[layout]
    y, g, u = (rng.standard_normal(shape) for _ in range(3))
    return y + offset, g, u, rng.standard_normal(units) + 2, rng.standard_normal(units), axis


def roundings(p):
    """Each side is a chain of a few sums over the batch, and of one power."""
    return 16 * (1 if p == inf else p)


def assert_close(actual, expected, size_of_terms, m, p):
    """Compare up to roundings(p) * m * u * the size of the terms that are added."""
    error = np.abs(to_numpy(actual) - to_numpy(expected))
    allowed = roundings(p) * m * UNIT_ROUNDOFF * size_of_terms
    assert np.all(error <= allowed), f"differ by {np.max(error - allowed):.1e} more than allowed"


def sizes(y, v, p, gamma, eps, axis):
    """The sizes of the terms of a derivative along v; |mean| <= s_p, so that c is of y's size."""
    norm = lp_normalization.power_mean(y, p, eps, axis)
    d = lp_normalization.slopes(y, p, eps, axis)
    along = unit_norm(y, axis) * unit_norm(d, axis) / (size(y, axis) * norm)
    return np.abs(gamma) / norm * unit_norm(v, axis) * (1 + along)


def primitive(y, p, gamma, beta, eps, axis):
    """The definition, literally, on torch's tensors."""
    if p == inf:
        norm = y.abs().amax(axis, keepdim=True) + eps
    else:
        norm = (y.abs().pow(p).mean(axis, keepdim=True) + eps).pow(1 / p)
    return gamma * (y - y.mean(axis, keepdim=True)) / norm + beta


def exact_jacobian(y, p, gamma, eps):
    """The Jacobian at a batch of whole numbers, as floats: of a smooth formula with its signs."""
    m = len(y)
    symbols = sp.symbols(f"y:{m}", real=True)
    sign = [int(np.sign(entry)) for entry in y]
    if p == inf:
        top = int(np.argmax(np.abs(y)))
        norm = sign[top] * symbols[top] + eps
    else:
        powers = sum((s * x) ** p for s, x in zip(sign, symbols, strict=True))
        norm = (powers / sp.Integer(m) + eps) ** sp.Rational(1, p)
    z = [gamma * (x - sum(symbols) / sp.Integer(m)) / norm for x in symbols]
    at = dict(zip(symbols, map(sp.Integer, y), strict=True))
    return np.array([[float(sp.diff(e, x).subs(at)) for x in symbols] for e in z])


@pytest.mark.parametrize("eps", [0, sp.Rational(1, 2)])
@pytest.mark.parametrize("p", [*EXPONENTS, 3])
def test_derivatives_are_those_of_the_definition_in_exact_numbers(p, eps):
    whole, gamma = [3, -1, 2, -7], sp.Rational(-3, 4)
    expected = exact_jacobian(whole, p, gamma, eps)
    y, identity = np.array(whole, dtype=float), np.eye(4)
    settings = {"p": p, "gamma": float(gamma), "eps": float(eps)}
    columns = [lp_normalization.jvp(y, e, **settings) for e in identity]
    rows = [lp_normalization.gradient(y, e, **settings) for e in identity]
    bound = sizes(y, identity[0], p, -0.75, float(eps), 0)
    assert_close(np.stack(columns, axis=1), expected, bound, 4, p)
    assert_close(np.stack(rows), expected, bound, 4, p)


@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.7])
@pytest.mark.parametrize("p", [*EXPONENTS, 1.5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_formulas_are_what_autograd_computes(layout, p, eps):
    y, g, u, gamma, beta, axis = draw(layout)
    tensors = [torch.asarray(a) for a in (y, g, u, gamma, beta)]
    m = size(y, axis)

    def z(y, gamma=tensors[3]):
        return primitive(y, p, gamma, tensors[4], eps, axis)

    norm = lp_normalization.power_mean(y, p, eps, axis)
    actual = lp_normalization.forward(y, p, gamma, beta, eps, axis)
    bound = np.abs(gamma) * unit_norm(y, axis) / norm + np.abs(beta)
    assert_close(actual, z(tensors[0]), bound, m, p)

    value, forward_derivative = torch.func.jvp(z, (tensors[0],), (tensors[2],))
    actual = lp_normalization.jvp(y, u, p, gamma, eps, axis)
    assert_close(actual, forward_derivative, sizes(y, u, p, gamma, eps, axis), m, p)

    _, pull_back = torch.func.vjp(z, tensors[0], tensors[3])
    in_y, in_gamma = pull_back(tensors[1])
    actual = lp_normalization.gradient(y, g, p, gamma, eps, axis)
    assert_close(actual, in_y, sizes(y, g, p, gamma, eps, axis), m, p)
    actual = lp_normalization.gradient_gamma(y, g, p, eps, axis)
    bound = unit_norm(g, axis) * unit_norm(y, axis) / norm
    assert_close(actual, in_gamma.reshape(actual.shape), bound, m, p)
    assert value.shape == y.shape


def parts(y, p, eps):
    c = batchnorm.centre(y)
    return c, lp_normalization.power_mean(y, p, eps), lp_normalization.slopes(y, p, eps), len(y)


MISTAKES = {
    "sign of the second term": lambda v, c, s, d, m: v - v.mean() + d * (c @ v) / (m * s),
    "second term dropped": lambda v, c, s, d, m: v - v.mean(),
    "not centred": lambda v, c, s, d, m: v - d * (c @ v) / (m * s),
    "1/m dropped": lambda v, c, s, d, m: v - v.mean() - d * (c @ v) / s,
    "symmetric, like BN": lambda v, c, s, d, m: v - v.mean() - c / s * (d @ v) / m,
    "d of BN": lambda v, c, s, d, m: v - v.mean() - c / s * (c @ v) / (m * s),
    "norm of the centred batch": lambda v, c, s, d, m: (
        v - v.mean() - d * (c @ v) / (m * np.abs(c).mean())
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("p", EXPONENTS)
def test_a_planted_mistake_in_the_gradient_is_seen(p, mistake):
    y, g, _, _, _, _ = draw("one unit")
    c, s, d, m = parts(y, p, 0)
    wrong = MISTAKES[mistake](g, c, s, d, m) / s
    bound = sizes(y, g, p, 1, 0, 0)
    right = lp_normalization.gradient(y, g, p)
    with pytest.raises(AssertionError, match="differ by"):
        assert_close(wrong, right, bound, m, p)


def test_a_planted_mistake_in_the_norm_is_seen():
    y, _, _, _, _, _ = draw("one unit")
    wrong = {
        "sum for mean": lambda p: np.sum(np.abs(y) ** p) ** (1 / p),
        "1/m outside of the root": lambda p: np.sum(np.abs(y) ** p) ** (1 / p) / 5,
        "root forgotten": lambda p: np.mean(np.abs(y) ** p),
        "of the centred batch": lambda p: np.mean(np.abs(y - y.mean()) ** p) ** (1 / p),
    }
    for norm in wrong.values():
        for p in (2, 3):
            right = lp_normalization.power_mean(y, p)
            with pytest.raises(AssertionError, match="differ by"):
                assert_close(norm(p), right, unit_norm(y), 5, p)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_p_2_is_batch_normalization_with_the_squared_mean_in_its_epsilon(layout):
    y, _, _, gamma, beta, axis = draw(layout)
    mu, m = batchnorm.mean(y, axis), size(y, axis)
    actual = lp_normalization.forward(y, 2, gamma, beta, 0.3, axis)
    expected = batchnorm.forward(y, gamma, beta, 0.3 + mu**2, axis)
    norm = lp_normalization.power_mean(y, 2, 0.3, axis)
    bound = np.abs(gamma) * unit_norm(y, axis) / norm + np.abs(beta)
    assert_close(actual, expected, bound, m, 2)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_p_2_of_a_centred_batch_is_batch_normalization(layout):
    """The other reading of the paper: the norm of the centred batch."""
    y, g, u, gamma, beta, axis = draw(layout)
    c, m = batchnorm.centre(y, axis), size(y, axis)
    bound = np.abs(gamma) * unit_norm(y, axis) / batchnorm.standard_deviation(y, 0.3, axis)
    actual = lp_normalization.forward(c, 2, gamma, beta, 0.3, axis)
    expected = batchnorm.forward(y, gamma, beta, 0.3, axis)
    assert_close(actual, expected, bound + np.abs(beta), m, 2)

    actual = batchnorm.centre(lp_normalization.gradient(c, g, 2, gamma, 0.3, axis), axis)
    expected = batchnorm.gradient(y, g, gamma, 0.3, axis)
    assert_close(actual, expected, sizes(y, g, 2, gamma, 0.3, axis), m, 2)

    actual = lp_normalization.jvp(c, batchnorm.centre(u, axis), 2, gamma, 0.3, axis)
    expected = batchnorm.jvp(y, u, gamma, 0.3, axis)
    assert_close(actual, expected, sizes(y, u, 2, gamma, 0.3, axis), m, 2)


def test_the_power_mean_grows_with_p_from_the_size_of_the_mean_to_the_largest_entry():
    y, *_ = draw("units")
    means = [lp_normalization.power_mean(y, p) for p in (1, 2, 3, 40, inf)]
    assert np.all(np.abs(batchnorm.mean(y)) <= means[0])
    for lower, higher in pairwise(means):
        assert np.all(lower < higher)


def test_positive_factors_of_the_batch_are_taken_away_and_offsets_are_not():
    y, *_ = draw("one unit")
    for p in EXPONENTS:
        z = lp_normalization.normalize(y, p)
        np.testing.assert_array_equal(lp_normalization.normalize(4 * y, p), z)
        assert np.max(np.abs(lp_normalization.normalize(y + 1, p) - z)) > 0.1


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
    np.testing.assert_array_equal(lp_normalization.slopes(y, p, eps), slopes)

    def norm(y):
        return y.abs().amax() + eps if p == inf else (y.abs().pow(p).mean() + eps).pow(1 / p)

    np.testing.assert_allclose(
        len(y) * torch.func.grad(norm)(torch.asarray(y)), slopes, rtol=4 * UNIT_ROUNDOFF
    )


@pytest.mark.parametrize("p", EXPONENTS)
def test_at_a_kink_the_slope_lies_between_the_one_sided_ones(p):
    y, h = np.array([0.0, -2.0, 2.0, 0.0]), 2.0**-20
    d = lp_normalization.slopes(y, p)
    for u in np.eye(4):
        ahead = (lp_normalization.power_mean(y + h * u, p) - lp_normalization.power_mean(y, p)) / h
        behind = (lp_normalization.power_mean(y, p) - lp_normalization.power_mean(y - h * u, p)) / h
        assert behind - h <= d @ u / 4 <= ahead + h


@pytest.mark.parametrize("p", EXPONENTS)
def test_one_entry_and_a_constant_batch_give_beta_and_no_gradient(p):
    for y in (np.array([-3.0]), np.array([2.0, 2.0, 2.0])):
        g = np.arange(1.0, len(y) + 1)
        np.testing.assert_array_equal(lp_normalization.forward(y, p, 2.0, 0.7), 0.7 + 0 * y)
        np.testing.assert_array_equal(
            lp_normalization.gradient(y, g, p), (g - g.mean()) / abs(y[0])
        )
        np.testing.assert_array_equal(lp_normalization.jvp(y, y, p), 0 * y)


@pytest.mark.parametrize("p", EXPONENTS)
def test_two_entries_that_are_opposite_keep_only_their_signs(p):
    """There the layer is constant, like Batch Normalization of any two."""
    y = np.array([-1.5, 1.5])
    np.testing.assert_array_equal(lp_normalization.normalize(y, p), [-1.0, 1.0])


@pytest.mark.parametrize("convert", [torch.asarray, array_api_strict.asarray, np.float32])
@pytest.mark.parametrize("p", [*EXPONENTS, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_library_gives_what_numpy_gives(layout, p, convert):
    y, g, u, gamma, beta, axis = draw(layout)
    other = [convert(a) for a in (y, g, u, gamma, beta)]
    values = {
        "forward": lambda y, g, u, a, b: lp_normalization.forward(y, p, a, b, 1e-5, axis),
        "jvp": lambda y, g, u, a, b: lp_normalization.jvp(y, u, p, a, 1e-5, axis),
        "gradient": lambda y, g, u, a, b: lp_normalization.gradient(y, g, p, a, 1e-5, axis),
        "gamma": lambda y, g, u, a, b: lp_normalization.gradient_gamma(y, g, p, 1e-5, axis),
    }
    for name, formula in values.items():
        result, expected = formula(*other), formula(y, g, u, gamma, beta)
        assert result.dtype == other[0].dtype, name
        accuracy = 1e-4 if convert is np.float32 else 1e-13
        np.testing.assert_allclose(to_numpy(result), expected, rtol=0, atol=accuracy, err_msg=name)
