"""Means, variances and what is made of them, of long and far batches, in every layout.

What is right is computed from the offset's side: entries less the offset are small and exact, and
their sums are taken in a wider format.  The unit is u times the condition number of normalising,
1 + |mean|/sigma.
"""

import array_api_strict
import numpy as np
import pytest
import torch
from test_operations import condition, to_numpy

import theory
from theory import batchnorm, bnp, convolution
from theory.arithmetic import sums

UNITS = 8
WIDE = np.longdouble

LIBRARIES = {
    "numpy": lambda y: y,
    "torch": torch.asarray,
    "strict": array_api_strict.asarray,
}
LAYOUTS = {
    "rows": lambda y: y,
    "columns (Fortran)": np.asfortranarray,
    "every other row": lambda y: np.repeat(y, 2, axis=0)[::2],
    "every other column": lambda y: np.repeat(y, 2, axis=1)[:, ::2],
    "a slice of wider rows": lambda y: np.pad(y, ((0, 0), (3, 2)))[:, 3:-2],
}


def drawn(m, units, dtype, offset, seed=0):
    """A batch around an offset, and what it is less the offset, which is exact."""
    rng = np.random.default_rng(seed)
    y = (offset + rng.standard_normal((m, units))).astype(dtype)
    return y, y.astype(WIDE) - WIDE(offset)


def offsets(dtype):
    u = np.finfo(dtype).eps / 2
    return {"no offset": 0.0, "1000": 1000.0, "u^(-3/4)": u**-0.75}


def in_units(found, expected, y, axis=0):
    """The largest error, relative to one or to what is larger, in u times the condition number."""
    u, y = np.finfo(y.dtype).eps / 2, y.astype(np.float64 if y.dtype == np.float32 else WIDE)
    error = np.abs(to_numpy(found) - expected) / np.maximum(1, np.abs(expected))
    return float(np.max(error / (u * condition(y, 0, axis))))


@pytest.mark.parametrize("offset", offsets(np.float32))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_statistics_of_long_batches(library, layout, dtype, offset):
    far = offsets(dtype)[offset]
    y, near = drawn(50_001, 3, dtype, far)
    given = LIBRARIES[library](LAYOUTS[layout](y))
    middle, variance = np.mean(near, 0), np.var(near, 0)
    sigma = np.sqrt(variance)

    found = to_numpy(bnp.means(given)).astype(WIDE) - WIDE(far)
    assert in_units(found / sigma, middle / sigma, y) <= UNITS
    assert in_units(to_numpy(bnp.variances(given)) / variance, 1, y) <= UNITS
    yhat = (near - middle) / sigma
    found = to_numpy(theory.normalize(given))
    assert in_units(found, yhat, y) <= UNITS
    R = to_numpy(bnp.correlations(given))
    assert in_units(R, yhat.T @ yhat / len(y), y) <= UNITS


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("channels_last", [False, True])
def test_statistics_of_large_maps(channels_last, dtype, library):
    y, near = drawn(40 * 3 * 64 * 48, 1, dtype, 1000.0)
    shape, axes = (40, 3, 64, 48), (0, 2, 3)
    y, near = y.reshape(shape), near.reshape(shape)
    given = np.ascontiguousarray(y.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    given = LIBRARIES[library](given if channels_last else y)
    near = near - np.mean(near, axes, keepdims=True)
    found = theory.normalize(given, axis=axes)
    assert in_units(found, near / np.std(near, axes, keepdims=True), y, axes) <= UNITS


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_ten_million_rows(library):
    """The bell curve's steps in place of draws, which would take longer than the test."""
    y = (
        1000 + np.resize(np.random.default_rng(0).standard_normal(99_991), (10_000_000, 2))
    ).astype(np.float32)
    near = y[:, 1].astype(np.float64) - 1000
    near -= np.mean(near)
    found = to_numpy(batchnorm.normalize(LIBRARIES[library](y)))[:, 1]
    assert in_units(found, near / np.std(near), y[:, 1]) <= UNITS


@pytest.mark.parametrize("name", ["jvp", "gradient", "hvp", "curvature"])
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_derivatives_of_long_batches(layout, library, name):
    """In float32 against the same in the wider format, whose own sums have no such error."""
    far = 1000.0
    y, near = drawn(100_000, 3, np.float32, far)
    g, u = (drawn(len(y), 3, np.float32, far, seed)[0] for seed in (1, 2))

    def of(y, g, u):
        if name == "hvp":
            return theory.hvp(y, g, lambda w: w, u, gamma=2)
        if name == "curvature":
            return theory.curvature(y, g, u, gamma=2)
        return getattr(theory, name)(y, g, gamma=2)

    expected = of(near.astype(float), g.astype(float), u.astype(float))
    found = of(*(LIBRARIES[library](LAYOUTS[layout](x)) for x in (y, g, u)))
    size = np.sqrt(np.mean(expected**2, 0))
    # The direction and the gradient are as far from zero as the batch: each counts once.
    assert in_units(to_numpy(found) / size, expected / size, y) <= 3 * UNITS


def test_a_sum_from_one_end_to_the_other_is_seen(monkeypatch):
    """The comparison's own test: NumPy adds the rows of a matrix one by one."""
    monkeypatch.setattr(sums, "SHORT", 10**9)
    y, near = drawn(1_000_000, 3, np.float32, 1000.0)
    yhat = (near - np.mean(near, 0)) / np.std(near, 0)
    assert in_units(theory.normalize(y), yhat, y) > 50 * UNITS


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int64, object])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1000,), 0), ((71, 3), 0), ((3, 71), 1), ((3, 71), -1), ((9, 3, 7, 8), (0, 2, 3)),
     ((2, 500, 3), 1), ((5, 40, 3, 1), (3, 1)), ((4, 700), (0, 1)), ((33, 0), 0)],
)  # fmt: skip
def test_sums_of_whole_numbers_are_exact(shape, axis, dtype):
    values = np.random.default_rng(0).integers(-9, 9, shape)
    for layout in (values, values[..., ::-1], np.asfortranarray(values)):
        found = sums.total(layout.astype(dtype, order="K"), axis)
        np.testing.assert_array_equal(found, layout.sum(axis, keepdims=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_terms_err_by_a_few_u(dtype):
    """Which all round alike, so that nothing averages out."""
    m, values = 99_999, np.random.default_rng(0).uniform(0.5, 1.0, 50).astype(dtype)
    found = sums.total(np.broadcast_to(values, (m, 50)), 0)[0]
    u = np.finfo(dtype).eps / 2
    assert np.max(np.abs(found / (m * values.astype(WIDE)) - 1)) <= UNITS * u


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_correlations_and_hessians_of_many_rows(library):
    """Products of matrices add up rows in a chain, in some libraries."""
    y, near = drawn(3_000_000, 2, np.float32, 0.0)
    given = LIBRARIES[library](y)
    near = near.astype(np.float64)
    near -= np.mean(near, 0)
    near /= np.std(near, 0)
    expected = near.T @ near / len(y)
    assert in_units(bnp.correlations(given), expected, y) <= UNITS
    found = to_numpy(bnp.unit_hessian(given, lambda V: V))[1:, 1:] / len(y)
    wide = y.astype(np.float64)
    assert in_units(found, wide.T @ wide / len(y), y) <= UNITS


def test_means_of_unfolded_maps_are_right_too():
    y, near = drawn(50_000, 9, np.float32, 1000.0)
    h = y.reshape(50_000, 1, 3, 3)
    found = convolution.column_means(h, 1)[0, 0, 0] - WIDE(1000)
    assert in_units(found, np.mean(near), h, (0, 2, 3)) <= UNITS
    variance = convolution.column_variances(h, 1)[0, 0, 0]
    assert in_units(variance, np.var(near), h, (0, 2, 3)) <= UNITS


def test_derivatives_pass_through_a_long_sum():
    y = torch.linspace(0, 1, 1000, dtype=torch.float64).reshape(250, 4).requires_grad_()
    weights = torch.arange(250.0, dtype=torch.float64)[:, None]
    sums.total(weights * y, 0).sum().backward()
    torch.testing.assert_close(y.grad, weights.expand(250, 4))


@pytest.mark.parametrize(
    "shape", [(32, 2, 100, 100), (4096, 2, 2, 2), (8, 16, 4, 4), (33, 2, 1, 5000)]
)
@pytest.mark.parametrize("channels_last", [False, True])
def test_maps_of_equal_terms_err_by_a_few_u_whether_they_take_one_call_or_several(
    shape, channels_last
):
    tenths = np.full(shape, 0.1, dtype=np.float32)
    if channels_last:
        tenths = np.moveaxis(np.ascontiguousarray(np.moveaxis(tenths, 1, -1)), -1, 1)
    exact = float(np.float32(0.1)) * (tenths.size // shape[1])
    found = sums.total(tenths, (0, 2, 3)).astype(np.float64)
    assert np.max(np.abs(found - exact)) <= 8 * 2.0**-24 * exact
