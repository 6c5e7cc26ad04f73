"""The best scaling and its bounds against closed forms; what is reported is proved or refused."""

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from certified_scaling import (
    certified_lower_bound,
    certified_upper_bound,
    confirm,
    is_positive_definite,
)
from scipy.linalg import block_diag

from theory.arithmetic.exact import rational_array
from verify.optimal_scaling import optimal_scaling
from verify.scaling_bounds import lower_bound, upper_bound

CLOSE = 1e-8
"""Of a minimum found by the solver, for condition numbers up to a thousand or so."""
SLACK = 4 * 2.0**-40 / 2
"""Of what is reported of four columns, times the square of kappa."""


def symmetric(B):
    return (B + B.T) / 2


def random_matrix(n):
    """The Gram matrix of generic columns, of sizes between 1/10 and 10."""
    rng = np.random.default_rng(n)
    F = rng.standard_normal((n + 2, n)) * 10 ** rng.uniform(-1, 1, n)
    return symmetric(F.T @ F)


def unit(B):
    """The scaling to unit diagonal, which is that of Theorem 4."""
    return 1 / np.sqrt(np.diagonal(B))


# ---- bounds ----


def two(r="1/2"):
    return rational_array([[1, r], [r, 1]])


def test_the_dual_of_two_columns_proves_their_minimum():
    """Unit diagonal is best there, (1 + r)/(1 - r); floats are what they store."""
    B, V, W = two("2/3"), rational_array([[1], [-1]]), rational_array([[1], [1]])
    assert certified_lower_bound(B, V, W) == 5
    above = certified_upper_bound(B, np.ones(2))
    assert 5 <= above < 5 * (1 + Fraction(1, 2**40))
    assert certified_upper_bound(two(1 - Fraction(1, 10**6)), [1, 1]) >= 2 * 10**6 - 1
    B, V, W = (matrix.astype(float) for matrix in (B, V, W))
    assert upper_bound(B, np.ones(2)) == pytest.approx(5)
    assert float(lower_bound(B, V, W)) == pytest.approx(5)
    assert certified_lower_bound(B, V, W) == pytest.approx(5)


@pytest.mark.parametrize(
    ("V", "W", "bound"),
    [
        ([1, -1], [7, 7], 3),
        ([7, -7], [1, 1], 3),
        ([1, -1], [1, 2], Fraction(7, 4)),
        ([1, -1], [1, 0], 1),
        ([1, 0], [1, 1], 0),
    ],
)
def test_rows_of_any_length_prove_what_is_left_when_they_fit(V, W, bound):
    """W may not be longer than V in any row, and may be shorter at a cost."""
    V, W = (rational_array([[entry] for entry in column]) for column in (V, W))
    assert certified_lower_bound(two(), V, W) == bound


def test_positive_definite():
    for tiny in (Fraction(1, 10**30), 0, Fraction(-1, 10**30)):
        assert is_positive_definite(two(1 - tiny)) == (tiny > 0)
    assert is_positive_definite([[2, 1, 0], [1, 2, 1], [0, 1, 1]])
    assert not is_positive_definite([[2, 1, 0], [1, 2, 2], [0, 2, 1]])
    assert not is_positive_definite([[0, 1], [1, 5]])


# ---- the solver ----


def solved(B):
    pytest.importorskip("clarabel", reason="needs the extra 'optimal'")
    found = optimal_scaling(B)
    confirm(B, found)
    return found


def squared_minimum(B):
    """The minimum of kappa^2, between its two confirmed bounds."""
    found = solved(B)
    assert -CLOSE < found.gap < CLOSE
    assert np.all(found.D0 > 0)
    return found.kappa**2


def alike(n, r):
    """Equal correlations: any best scaling, averaged over permutations, is a multiple of I."""
    return (1 - r) * np.eye(n) + r * np.ones((n, n))


ACROSS = np.array([[0.24, 0.32], [0.64, -0.48]])
CLOSED_FORMS = {
    "two columns": ([[4, -18], [-18, 100]], 19),
    "two columns, nearly parallel": ([[4, 19.98], [19.98, 100]], 1999),
    "two columns, which the solver leaves as they are": ([[31, 1e-15], [1e-15, 2]], 1),
    "property A": (np.block([[np.eye(2), ACROSS], [ACROSS.T, np.eye(2)]]), 9),
    "copies of one column": (alike(3, 0.5), 4),
    "near copies of one column": (alike(6, 0.99), 595),
    "columns that do not matter": (block_diag(alike(2, 0.9), np.eye(3)), 19),
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_unit_diagonal_is_best_where_that_is_known(name):
    """Two columns with correlation r: (1 + |r|)/(1 - |r|); property A: the same with K's norm."""
    B, expected = CLOSED_FORMS[name]
    B = symmetric(np.array(B).astype(float))
    scales = 2.0 ** np.arange(len(B))
    for scaled in (B, scales[:, None] * B * scales):
        assert squared_minimum(scaled) == pytest.approx(expected, rel=CLOSE)
        assert upper_bound(scaled, unit(scaled)) == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("n", [5, 20])
def test_unit_diagonal_is_not_best_for_a_random_matrix(n):
    B = random_matrix(n)
    assert upper_bound(B, unit(B)) > 1.001 * squared_minimum(B)


WRONG = {
    "scaling inverted": {"D0": lambda x: 1 / x},
    "dual transposed": {"V": lambda x: x.T, "W": lambda x: x.T},
    "a longer row": {"W": lambda x: x * np.array([2, 1, 1, 1])[:, None]},
    "a column of the dual left out": {"W": lambda x: x[:, :-1]},
    "kappa smaller than rounding explains": {"kappa": lambda x: x * (1 - 2 * SLACK * x**2)},
    "bound larger than that": {"lower_bound": lambda x: x * (1 + 2 * SLACK * x**2)},
}


@pytest.mark.parametrize("mistake", WRONG)
def test_what_is_not_proved_is_refused(mistake):
    """The slack is 2**-40 of the square, times n kappa^2; half of it passes, twice it does not."""
    B = random_matrix(4)
    found = solved(B)
    fields = {name: change(getattr(found, name)) for name, change in WRONG[mistake].items()}
    with pytest.raises(ValueError, match="is reported, but what is proved is"):
        confirm(B, replace(found, **fields))
    within = SLACK * found.kappa**2 / 2
    confirm(B, replace(found, kappa=found.kappa * (1 - within)))
    confirm(B, replace(found, lower_bound=found.lower_bound * (1 + within)))


ONES = rational_array([[1], [1]])


@pytest.mark.parametrize(
    ("call", "given", "message"),
    [
        (optimal_scaling, [[[1.0, 2.0], [0.0, 5.0]]], "is not symmetric"),
        (optimal_scaling, [[1.0, 2.0]], "is not symmetric"),
        (optimal_scaling, [[[1.0, 0.0], [0.0, 0.0]]], "diagonal entry that is not positive"),
        (optimal_scaling, [[[1.0, 1.0], [1.0, 1.0]]], "not positive definite to working precision"),
        (certified_lower_bound, [[[1, 1], [1, 1]], ONES, ONES], "not positive definite"),
        (certified_lower_bound, [[[1, 2], [0, 9]], ONES, ONES], "not symmetric"),
        (certified_lower_bound, [[[1, 2]], ONES, ONES], "not symmetric"),
        (certified_lower_bound, [two(), ONES, 0 * ONES], "W is zero"),
        (certified_upper_bound, [two(2), [1, 1]], "no bound is proved"),
        (certified_upper_bound, [two(1), [1, 1]], "no bound is proved"),
        (certified_upper_bound, [two(1 - Fraction(1, 10**18)), [1, 1]], "no bound is proved"),
    ],
)
def test_what_has_no_minimum_or_proves_nothing_is_refused(call, given, message):
    with pytest.raises(ValueError, match=message):
        call(*given)


def test_missing_solver_is_told_how_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'batchnorm-theory\[optimal\]'"):
        optimal_scaling(np.eye(2))
