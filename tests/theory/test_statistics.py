"""Means, variances and what is made of them, of long and far batches, in every layout.

What is right is computed from the offset's side: entries less the offset are small and exact, and
their sums are taken in a wider format.  The unit is u times the condition number of normalising,
1 + |mean|/sigma.
"""

from itertools import product

import array_api_strict
import numpy as np
import pytest
import torch
from test_operations import by_name, channels_last, to_numpy

import theory
from theory import bnp, convolution
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


def unit_of(y, axis=0):
    """The unit of each of a batch's units."""
    wider = y.astype(np.float64 if y.dtype == np.float32 else WIDE)
    mean, sigma = np.mean(wider, axis, keepdims=True), np.std(wider, axis, keepdims=True)
    return np.finfo(y.dtype).eps / 2 * (1 + np.abs(mean) / sigma)


def in_units(found, expected, unit):
    """The largest error, relative to one or to what is larger."""
    error = np.abs(to_numpy(found) - expected) / np.maximum(1, np.abs(expected))
    return float(np.max(error / unit))


@pytest.fixture(
    scope="module",
    params=[(np.float32, 1000.0), (np.float32, 2.0**18), (np.float64, 2.0**39.75)],
    ids=str,
)
def long(request):
    """A long batch, its offset and its unit; its statistics less the offset."""
    dtype, far = request.param
    y, near = drawn(50_001, 3, dtype, far)
    middle, variance = np.mean(near, 0), np.var(near, 0)
    yhat = (near - middle) / np.sqrt(variance)
    return y, far, unit_of(y), middle, variance, yhat, yhat.T @ yhat / len(y)


@pytest.mark.parametrize(
    ("layout", "library"), [*product(LAYOUTS, ("numpy", "torch")), ("rows", "strict")]
)
def test_statistics_of_long_batches(layout, library, long):
    y, far, unit, middle, variance, yhat, R = long
    given = LIBRARIES[library](LAYOUTS[layout](y))
    sigma = np.sqrt(variance)
    found = to_numpy(bnp.means(given)).astype(WIDE) - WIDE(far)
    assert in_units(found / sigma, middle / sigma, unit) <= UNITS
    assert in_units(to_numpy(bnp.variances(given)) / variance, 1, unit) <= UNITS
    assert in_units(theory.normalize(given), yhat, unit) <= UNITS
    assert in_units(bnp.correlations(given), R, unit) <= UNITS


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("stored", [lambda y: y, channels_last], ids=["rows", "channels last"])
def test_statistics_of_large_maps(stored, library):
    shape, axes = (40, 3, 32, 48), (0, 2, 3)
    y, near = (a.reshape(shape) for a in drawn(40 * 3 * 32 * 48, 1, np.float32, 1000.0))
    given = LIBRARIES[library](stored(y))
    near = near - np.mean(near, axes, keepdims=True)
    sigma, unit = np.std(near, axes, keepdims=True), unit_of(y, axes)
    assert in_units(theory.normalize(given, axis=axes), near / sigma, unit) <= UNITS
    variances = to_numpy(convolution.column_variances(given, 1)) / sigma[0] ** 2
    assert in_units(variances, 1, unit[0]) <= UNITS


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_correlations_and_hessians_of_a_million_rows(library):
    """Products of matrices add up rows in a chain, in some libraries."""
    y = np.random.default_rng(0).standard_normal((1_000_000, 2), np.float32)
    given, unit, wide = LIBRARIES[library](y), unit_of(y), y.astype(np.float64)
    yhat = (wide - np.mean(wide, 0)) / np.std(wide, 0)
    assert in_units(theory.normalize(given), yhat, unit) <= UNITS
    assert in_units(bnp.correlations(given), yhat.T @ yhat / len(y), unit) <= UNITS
    found = to_numpy(bnp.unit_hessian(given, lambda V: V))[1:, 1:] / len(y)
    assert in_units(found, wide.T @ wide / len(y), unit) <= UNITS


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["jvp", "gradient", "hvp", "curvature"])
def test_derivatives_of_long_batches(name, library):
    """In float32 against the same in the wider format, whose own sums have no such error."""

    def derivative(y, g, u):
        arguments = {"y": y, "g": g, "u": u, "gamma": 2, "hessian_of_loss": lambda w: w}
        return by_name(getattr(theory, name), arguments)

    far, near = zip(*(drawn(50_000, 3, np.float32, 1000.0, seed) for seed in range(3)), strict=True)
    expected = derivative(*(x.astype(float) for x in near))
    found = derivative(*(LIBRARIES[library](x) for x in far))
    size = np.sqrt(np.mean(expected**2, 0))
    # The direction and the gradient are as far from zero as the batch: each counts once.
    assert in_units(to_numpy(found) / size, expected / size, unit_of(far[0])) <= 3 * UNITS


@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((1000,), 0),
        ((99_999, 5), 0),
        ((3, 71), -1),
        ((5, 40, 3, 1), (3, 1)),
        ((4, 700), (0, 1)),
        ((33, 0), 0),
        ((32, 2, 100, 100), (0, 2, 3)),
        ((4096, 2, 2, 2), (0, 2, 3)),
        ((8, 16, 4, 4), (0, 2, 3)),
        ((33, 2, 1, 5000), (0, 2, 3)),
    ],
)
def test_sums_of_whole_numbers_are_exact_and_of_equal_ones_err_by_a_few_u(shape, axis):
    """Equal terms all round alike, so that nothing averages out."""
    whole, tenth = np.random.default_rng(0).integers(-9, 9, shape), np.float32(0.1)
    for layout in (whole, whole[..., ::-1], np.asfortranarray(whole), channels_last(whole)):
        for dtype in (np.float32, np.complex64, np.int64, object):
            found = sums.total(layout.astype(dtype, order="K"), axis)
            np.testing.assert_array_equal(found, layout.sum(axis, keepdims=True))
        equal = np.full_like(layout, tenth, dtype=np.float32)
        exact = np.sum(equal, axis, np.float64, keepdims=True)
        found = sums.total(equal, axis).astype(np.float64)
        assert np.all(np.abs(found - exact) <= 8 * 2.0**-24 * exact)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("steps", [(1, 0), (1, 1)], ids=["broadcast", "windows"])
@pytest.mark.parametrize("axis", [0, (0, 1)])
def test_sums_of_arrays_whose_entries_share_memory(axis, steps, library):
    """Which NumPy may add in a chain along the axis that looks like the last in memory."""
    y = torch.linspace(1, 2, 1_000_003).as_strided((1_000_000, 4), steps)
    exact = y.double().sum(axis, keepdim=True)
    given = y if library == "torch" else y.numpy()
    for found in (sums.total(given, axis), theory.gradient_beta(given, axis=axis)):
        np.testing.assert_allclose(found, exact, rtol=1e-6)


def test_derivatives_pass_through_a_long_sum():
    y = torch.linspace(0, 1, 1000, dtype=torch.float64).reshape(250, 4).requires_grad_()
    weights = torch.arange(250.0, dtype=torch.float64)[:, None]
    sums.total(weights * y, 0).sum().backward()
    torch.testing.assert_close(y.grad, weights.expand(250, 4))
