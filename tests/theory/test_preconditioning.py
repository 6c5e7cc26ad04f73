"""The preconditioner's formulas in every arithmetic, against matrices of rationals.

That they do what they are for is said, and proved, by the statements of Lange et al. 2022.
"""

from fractions import Fraction
from types import SimpleNamespace

import array_api_strict
import numpy as np
import pytest
import sympy as sp
import torch
from array_api_compat import device
from test_operations import to_numpy

from theory import preconditioning
from theory.arithmetic.exact import rational_array

ROUNDINGS = 64 * 2.0**-53
"""Sums of at most six terms of size one, a few in a row."""

NUMBERS = {
    "H": [[1, -2, "1/2"], [3, 5, -1], [4, "1/3", 7], [-2, 1, 2], ["5/2", 6, -3]],
    "mean": ["3/2", -4, "2/5"],
    "deviation": [2, "3/4", "7/3"],
    "variance": [4, "2/3", "5/7"],
    "W": [[2, -1, "4/3"], ["1/2", 3, -5]],
    "b": [7, "-3/2"],
    "gamma": ["-5/3", 2, "1/4"],
    "beta": [1, "8/3", -2],
    "curvature": ["1/5", -2, 3, "7/2", 1],
    "S": [[(3 * i + i * j) % 7 - 2 for j in range(2, 7)] for i in range(2, 7)],
}
EXACT = SimpleNamespace(**{name: rational_array(x) for name, x in NUMBERS.items()})
Q_SQUARED, EPS_1, EPS_2, RHO = Fraction(3, 2), Fraction(1, 8), Fraction(1, 64), Fraction(3, 4)
STRICT = array_api_strict.__array_namespace_info__()
DOUBLE_DEVICES = [d for d in STRICT.devices() if "float64" in STRICT.dtypes(device=d)]


def floats(convert=np.asarray):
    return SimpleNamespace(**{name: convert(x.astype(float)) for name, x in vars(EXACT).items()})


def like(number, c):
    """A rational number as the case's arithmetic has it."""
    return number if getattr(c.H.dtype, "kind", "") == "O" else float(number)


def results(c):
    """What each function gives; of correlations their squares with the sign, which are rational."""
    R = preconditioning.correlations(c.H)
    q_squared = like(Q_SQUARED, c)
    given = (c.b, c.W, c.mean, c.variance)
    step = preconditioning.preconditioned_gradient(*given, q_squared=q_squared)
    plain_step = preconditioning.preconditioned_gradient(*given)
    folded = preconditioning.folded(c.W, c.b, c.gamma, c.beta, c.mean, c.deviation)
    of_numbers = preconditioning.folded(c.W, c.b, 2, 3, c.mean, c.deviation)
    return {
        "augmented": preconditioning.augmented(c.H),
        "means": preconditioning.means(c.H),
        "variances": preconditioning.variances(c.H),
        "squared deviations": preconditioning.standard_deviations(c.H, like(EPS_1, c)) ** 2,
        "centring": preconditioning.centring(c.mean),
        "scaling": preconditioning.scaling(c.deviation),
        "preconditioner": preconditioning.preconditioner(c.mean, c.deviation),
        "features": preconditioning.features(c.H, c.mean, c.deviation),
        "normalized": preconditioning.normalized(c.H, c.mean, c.deviation),
        "correlations": R * abs(R),
        "diagonal S": preconditioning.unit_hessian(c.H, c.curvature),
        "matrix S": preconditioning.unit_hessian(c.H, c.S),
        "operator S": preconditioning.unit_hessian(c.H, lambda V: c.S @ V),
        "step in b": step[0],
        "step in W": step[1],
        "plain step in b": plain_step[0],
        "plain step in W": plain_step[1],
        "regularized": preconditioning.regularized_variance(
            c.variance, like(EPS_1, c), like(EPS_2, c)
        ),
        "running": preconditioning.running(c.mean, c.deviation, like(RHO, c)),
        "folded W": folded[0],
        "folded b": folded[1],
        "folded W of numbers": of_numbers[0],
        "folded b of numbers": of_numbers[1],
    }


def expected():
    """The same by matrices of rationals, each of them written down."""
    c = EXACT
    ones, means = np.ones((5, 1), dtype=int), c.H.sum(0) / 5
    Hhat, D, U = np.hstack([ones, c.H]), np.diag([1, *(1 / c.deviation)]), np.eye(4, dtype=object)
    U[0, 1:] = -c.mean
    U = U + 0 * D
    G, C = Hhat @ U @ D, (c.H - means).T @ (c.H - means)
    sizes = np.diag(C)
    PPt = U @ np.diag([1, *(1 / c.variance)]) @ U.T
    step, scale = PPt @ np.vstack([c.b, c.W.T]), c.gamma / c.deviation
    return {
        "augmented": Hhat,
        "means": means,
        "variances": sizes / 5,
        "squared deviations": sizes / 5 + EPS_1,
        "centring": U,
        "scaling": D,
        "preconditioner": U @ D,
        "features": G[:, 1:],
        "normalized": G,
        "correlations": C * abs(C) / np.outer(sizes, sizes),
        "diagonal S": Hhat.T @ np.diag(c.curvature) @ Hhat,
        "matrix S": Hhat.T @ c.S @ Hhat,
        "operator S": Hhat.T @ c.S @ Hhat,
        "step in b": step[0] / Q_SQUARED,
        "step in W": step[1:].T / Q_SQUARED,
        "plain step in b": step[0],
        "plain step in W": step[1:].T,
        "regularized": c.variance + EPS_1 * 4 + EPS_2,
        "running": RHO * c.mean + (1 - RHO) * c.deviation,
        "folded W": c.W @ np.diag(scale),
        "folded b": c.b + c.W @ c.beta - c.W @ np.diag(scale) @ c.mean,
        "folded W of numbers": c.W @ np.diag(2 / c.deviation),
        "folded b of numbers": c.b + 3 * c.W.sum(1) - c.W @ np.diag(2 / c.deviation) @ c.mean,
    }


EXPECTED = expected()


def assert_same(actual, expected):
    """Equal, as exact numbers; floats up to a few roundings of the largest entry."""
    actual = to_numpy(actual)
    assert actual.shape == expected.shape
    if actual.dtype == object:
        assert np.all(actual == expected), (actual, expected)
        return
    expected = expected.astype(float)
    error = np.max(np.abs(actual - expected))
    assert error <= ROUNDINGS * np.max(np.abs(expected)), f"differ by {error:.2e}"


@pytest.mark.parametrize("arithmetic", ["exact", "NumPy", "PyTorch"])
def test_formulas_give_what_matrices_give(arithmetic):
    cases = {"exact": EXACT, "NumPy": floats(), "PyTorch": floats(torch.asarray)}
    for name, found in results(cases[arithmetic]).items():
        assert_same(found, EXPECTED[name])


@pytest.mark.parametrize("where", DOUBLE_DEVICES, ids=str)
def test_strict_arrays_keep_their_device_and_give_what_numpy_gives(where):
    for name, found in results(floats(lambda a: array_api_strict.asarray(a, device=where))).items():
        assert device(found) == where, name
        assert found.dtype == array_api_strict.float64, name
        assert_same(np.asarray(found.to_device(STRICT.default_device())), EXPECTED[name])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_torch_keeps_its_dtype(dtype):
    found = results(floats(lambda a: torch.asarray(a, dtype=dtype)))
    assert {result.dtype for result in found.values()} == {dtype}


@pytest.mark.parametrize(("name", "part"), [("means", "variances"), ("centring", "scaling")])
def test_comparison_sees_another_formula_and_a_late_digit(name, part):
    for case in (EXACT, floats()):
        found = results(case)[name]
        late = like(Fraction(1, 10**13), case)
        for wrong in (results(case)[part], found * (1 + late), found.T[::-1]):
            with pytest.raises(AssertionError):
                assert_same(wrong, EXPECTED[name])


def test_correlations_have_a_root_for_every_entry_and_ones_on_the_diagonal():
    """Roots of different radicands stand in one matrix, exactly."""
    R = preconditioning.correlations(EXACT.H)
    assert np.all(R == R.T)
    assert len({str(entry.d) for entry in R.ravel()}) == 4
    assert_same(R.astype(float), np.corrcoef(floats().H.T))
    assert np.all(np.diagonal(preconditioning.correlations(floats().H)) == 1)


def test_symbols_pass():
    grad, mean, variance = sp.symbols("g mu v")
    b, W, *statistics = (np.array([x], dtype=object) for x in (grad, grad, mean, variance))
    (in_b,), ((in_W,),) = preconditioning.preconditioned_gradient(b, W[None], *statistics)
    assert sp.expand(in_W - (grad - grad * mean) / variance) == 0
    assert sp.expand(in_b - (grad - in_W * mean)) == 0


@pytest.mark.parametrize(
    ("N", "n", "expected"), [(60, 100, Fraction(5, 3)), (100, 60, 1), (7, 7, 1)]
)
def test_scale_factor(N, n, expected):
    assert preconditioning.scale_factor(Fraction(N), n) == expected
    assert preconditioning.scale_factor(N, n) == float(expected)


def test_defaults_are_those_of_the_algorithm():
    variance = np.array([1.0, 4.0])
    assert_same(preconditioning.regularized_variance(variance), np.array([1.0401, 4.0401]))
    assert_same(preconditioning.running(variance, np.zeros(2)), 0.99 * variance)
    assert_same(preconditioning.standard_deviations(np.array([[0.0], [4.0]])), np.array([2.0]))
