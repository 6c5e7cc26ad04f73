"""The preconditioner's formulas in every arithmetic, against matrices of rationals.

That they do what they are for is said, and proved, by the statements of Lange et al. 2022.
"""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch
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


def floats(convert=np.asarray):
    return SimpleNamespace(**{name: convert(x.astype(float)) for name, x in vars(EXACT).items()})


def pairs(c):
    """What each function gives, and the same by matrices of rationals, each written down."""
    is_exact = getattr(c.H.dtype, "kind", "") == "O"
    q2, eps_1, eps_2, rho = map(Fraction, ("3/2", "1/8", "1/64", "3/4"))
    q_squared, first, second, share = (x if is_exact else float(x) for x in (q2, eps_1, eps_2, rho))
    R = preconditioning.correlations(c.H)
    step = preconditioning.preconditioned_gradient(
        c.b, c.W, c.mean, c.variance, q_squared=q_squared
    )
    W, b = preconditioning.folded(c.W, c.b, c.gamma, c.beta, c.mean, c.deviation)

    e = EXACT
    Hhat, means = np.hstack([np.ones((5, 1), dtype=int), e.H]), e.H.sum(0) / 5
    D, U = np.diag([1, *(1 / e.deviation)]), 0 * e.S[:4, :4] + np.eye(4, dtype=int)
    U[0, 1:] = -e.mean
    G, C = Hhat @ U @ D, (e.H - means).T @ (e.H - means)
    sizes, scale = np.diag(C), np.diag(e.gamma / e.deviation)
    moved = U @ np.diag([1, *(1 / e.variance)]) @ U.T @ np.vstack([e.b, e.W.T]) / q2
    return {
        "augmented": (preconditioning.augmented(c.H), Hhat),
        "means": (preconditioning.means(c.H), means),
        "variances": (preconditioning.variances(c.H), sizes / 5),
        "deviations": (
            preconditioning.standard_deviations(c.H, first) ** 2, sizes / 5 + eps_1,
        ),
        "centring": (preconditioning.centring(c.mean), U),
        "scaling": (preconditioning.scaling(c.deviation), D),
        "preconditioner": (preconditioning.preconditioner(c.mean, c.deviation), U @ D),
        "features": (preconditioning.features(c.H, c.mean, c.deviation), G[:, 1:]),
        "normalized": (preconditioning.normalized(c.H, c.mean, c.deviation), G),
        "correlations": (R * abs(R), C * abs(C) / np.outer(sizes, sizes)),
        "diagonal S": (
            preconditioning.unit_hessian(c.H, c.curvature), Hhat.T @ np.diag(e.curvature) @ Hhat,
        ),
        "matrix S": (preconditioning.unit_hessian(c.H, c.S), Hhat.T @ e.S @ Hhat),
        "operator S": (preconditioning.unit_hessian(c.H, lambda V: c.S @ V), Hhat.T @ e.S @ Hhat),
        "step in b": (step[0], moved[0]),
        "step in W": (step[1], moved[1:].T),
        "regularized": (
            preconditioning.regularized_variance(c.variance, first, second),
            e.variance + eps_1 * 4 + eps_2,
        ),
        "running": (
            preconditioning.running(c.mean, c.deviation, share),
            rho * e.mean + (1 - rho) * e.deviation,
        ),
        "folded W": (W, e.W @ scale),
        "folded b": (b, e.b + e.W @ e.beta - e.W @ scale @ e.mean),
    }  # fmt: skip


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
    for found, expected in pairs(cases[arithmetic]).values():
        assert_same(found, expected)


def test_half_precision_is_kept():
    found = pairs(floats(lambda a: torch.asarray(a, dtype=torch.bfloat16)))
    assert {result.dtype for result, _ in found.values()} == {torch.bfloat16}


def test_correlations_are_symmetric_with_ones_on_the_diagonal():
    """Exactly, roots of different radicands standing in one matrix."""
    exact, found = (preconditioning.correlations(case.H) for case in (EXACT, floats()))
    assert np.all(exact == exact.T)
    assert np.all(np.diagonal(found) == 1)


def test_scale_factor():
    for N, n, expected in [(60, 100, Fraction(5, 3)), (100, 60, 1), (7, 7, 1)]:
        assert preconditioning.scale_factor(Fraction(N), n) == expected
        assert preconditioning.scale_factor(N, n) == float(expected)


def test_defaults_are_those_of_the_algorithm():
    variance = np.array([1.0, 4.0])
    assert_same(preconditioning.regularized_variance(variance), np.array([1.0401, 4.0401]))
    assert_same(preconditioning.running(variance, np.zeros(2)), 0.99 * variance)
    assert_same(preconditioning.standard_deviations(np.array([[0.0], [4.0]])), np.array([2.0]))
    ones = np.ones((1, 2))
    step = preconditioning.preconditioned_gradient(2 * ones[0, :1], ones, variance, variance)
    assert [part.tolist() for part in step] == [[2 + 1 + 7], [[-1, -7 / 4]]]
