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
STORED = [(layout, library) for layout in LAYOUTS for library in ("numpy", "torch")]


def drawn(m, units, dtype, offset, seed=0):
    """A batch around an offset, and what it is less the offset, which is exact."""
    rng = np.random.default_rng(seed)
    y = (offset + rng.standard_normal((m, units))).astype(dtype)
    return y, y.astype(WIDE) - WIDE(offset)


def unit_of(y, axis=0):
    """The unit of each of a batch's units."""
    wider = y.astype(np.float64 if y.dtype == np.float32 else WIDE)
    return np.finfo(y.dtype).eps / 2 * condition(wider, 0, axis)


def in_units(found, expected, unit):
    """The largest error, relative to one or to what is larger."""
    error = np.abs(to_numpy(found) - expected) / np.maximum(1, np.abs(expected))
    return float(np.max(error / unit))


@pytest.fixture(
    scope="module",
    params=[(np.float32, 0.0), (np.float32, 2.0**18), (np.float64, 1000.0), (np.float64, 2.0**40)],
    ids=str,
)
def long(request):
    """A long batch, its offset and its unit; its statistics less the offset."""
    dtype, far = request.param
    y, near = drawn(50_001, 3, dtype, far)
    middle, variance = np.mean(near, 0), np.var(near, 0)
    yhat = (near - middle) / np.sqrt(variance)
    return y, far, unit_of(y), middle, variance, yhat, yhat.T @ yhat / len(y)


@pytest.mark.parametrize(("layout", "library"), [*STORED, ("rows", "strict")])
def test_statistics_of_long_batches(layout, library, long):
    y, far, unit, middle, variance, yhat, R = long
    given = LIBRARIES[library](LAYOUTS[layout](y))
    sigma = np.sqrt(variance)
    found = to_numpy(bnp.means(given)).astype(WIDE) - WIDE(far)
    assert in_units(found / sigma, middle / sigma, unit) <= UNITS
    assert in_units(to_numpy(bnp.variances(given)) / variance, 1, unit) <= UNITS
    assert in_units(theory.normalize(given), yhat, unit) <= UNITS
    assert in_units(bnp.correlations(given), R, unit) <= UNITS


def test_a_sum_from_one_end_to_the_other_is_seen(monkeypatch):
    """The comparison's own test: NumPy adds the rows of a matrix one by one."""
    monkeypatch.setattr(sums, "SHORT", 10**9)
    y, near = drawn(50_001, 3, np.float32, 1000.0)
    yhat = (near - np.mean(near, 0)) / np.std(near, 0)
    assert in_units(theory.normalize(y), yhat, unit_of(y)) > 5 * UNITS


@pytest.mark.parametrize(
    ("library", "channels_last"),
    [("numpy", False), ("numpy", True), ("torch", False), ("torch", True), ("strict", False)],
)
def test_statistics_of_large_maps(channels_last, library):
    shape, axes = (40, 3, 32, 48), (0, 2, 3)
    y, near = (a.reshape(shape) for a in drawn(40 * 3 * 32 * 48, 1, np.float32, 1000.0))
    given = np.ascontiguousarray(y.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    given = LIBRARIES[library](given if channels_last else y)
    near = near - np.mean(near, axes, keepdims=True)
    found = theory.normalize(given, axis=axes)
    assert in_units(found, near / np.std(near, axes, keepdims=True), unit_of(y, axes)) <= UNITS


@pytest.fixture(scope="module")
def many_rows():
    """Entries around zero; their normalised batch."""
    y = np.random.default_rng(0).standard_normal((1_000_000, 2), np.float32)
    wide = y.astype(np.float64)
    return y, wide, (wide - np.mean(wide, 0)) / np.std(wide, 0)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_correlations_and_hessians_of_a_million_rows(library, many_rows):
    """Products of matrices add up rows in a chain, in some libraries."""
    y, wide, yhat = many_rows
    given, unit = LIBRARIES[library](y), unit_of(y)
    assert in_units(theory.normalize(given), yhat, unit) <= UNITS
    assert in_units(bnp.correlations(given), yhat.T @ yhat / len(y), unit) <= UNITS
    found = to_numpy(bnp.unit_hessian(given, lambda V: V))[1:, 1:] / len(y)
    assert in_units(found, wide.T @ wide / len(y), unit) <= UNITS


DERIVATIVES = {
    "jvp": lambda y, g, u: theory.jvp(y, g, gamma=2),
    "gradient": lambda y, g, u: theory.gradient(y, g, gamma=2),
    "hvp": lambda y, g, u: theory.hvp(y, g, lambda w: w, u, gamma=2),
    "curvature": lambda y, g, u: theory.curvature(y, g, u, gamma=2),
}


@pytest.fixture(scope="module")
def far():
    """Three batches in float32, and the same less their offset."""
    return list(
        zip(*(drawn(50_000, 3, np.float32, 1000.0, seed) for seed in range(3)), strict=True)
    )


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_of_long_batches(name, library, far):
    """In float32 against the same in the wider format, whose own sums have no such error."""
    given, near = far
    expected = DERIVATIVES[name](*(x.astype(float) for x in near))
    found = DERIVATIVES[name](*(LIBRARIES[library](x) for x in given))
    size = np.sqrt(np.mean(expected**2, 0))
    # The direction and the gradient are as far from zero as the batch: each counts once.
    assert in_units(to_numpy(found) / size, expected / size, unit_of(given[0])) <= 3 * UNITS


def test_means_of_unfolded_maps_are_right_too():
    y, near = drawn(50_000, 9, np.float32, 1000.0)
    h = y.reshape(50_000, 1, 3, 3)
    unit = unit_of(h, (0, 2, 3))
    found = convolution.column_means(h, 1)[0, 0, 0] - WIDE(1000)
    assert in_units(found, np.mean(near), unit) <= UNITS
    variance = convolution.column_variances(h, 1)[0, 0, 0]
    assert in_units(variance, np.var(near), unit) <= UNITS


SHAPES = [
    ((1000,), 0),
    ((71, 3), 0),
    ((3, 71), -1),
    ((9, 3, 7, 8), (0, 2, 3)),
    ((2, 500, 3), 1),
    ((5, 40, 3, 1), (3, 1)),
    ((4, 700), (0, 1)),
    ((33, 0), 0),
]


@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_sums_of_whole_numbers_are_exact(shape, axis):
    values = np.random.default_rng(0).integers(-9, 9, shape)
    for dtype in (np.float32, np.complex64, np.int64, object):
        for layout in (values, values[..., ::-1], np.asfortranarray(values)):
            found = sums.total(layout.astype(dtype, order="K"), axis)
            np.testing.assert_array_equal(found, layout.sum(axis, keepdims=True))


@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((99_999, 50), 0),
        ((32, 2, 100, 100), (0, 2, 3)),
        ((4096, 2, 2, 2), (0, 2, 3)),
        ((8, 16, 4, 4), (0, 2, 3)),
        ((33, 2, 1, 5000), (0, 2, 3)),
    ],
)
def test_equal_terms_err_by_a_few_u_whether_they_take_one_call_or_several(
    shape, axes, channels_last
):
    """Equal terms all round alike, so that nothing averages out."""
    tenths = np.full(shape, 0.1, dtype=np.float32)
    if channels_last:
        tenths = np.moveaxis(np.ascontiguousarray(np.moveaxis(tenths, 1, -1)), -1, 1)
    exact = float(np.float32(0.1)) * (tenths.size // shape[1])
    found = sums.total(tenths, axes).astype(np.float64)
    assert np.max(np.abs(found - exact)) <= 8 * 2.0**-24 * exact


def test_derivatives_pass_through_a_long_sum():
    y = torch.linspace(0, 1, 1000, dtype=torch.float64).reshape(250, 4).requires_grad_()
    weights = torch.arange(250.0, dtype=torch.float64)[:, None]
    sums.total(weights * y, 0).sum().backward()
    torch.testing.assert_close(y.grad, weights.expand(250, 4))
