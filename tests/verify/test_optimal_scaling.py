"""The best scaling and its bounds against closed forms; what is reported is proved exactly."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag

from theory.arithmetic.exact import number, rational_array
from theory.arithmetic.spectra import eigenvalues
from verify.optimal_scaling import optimal_scaling
from verify.scaling_bounds import lower_bound, upper_bound

CLOSE = 1e-8
"""Of a minimum found by the solver, for condition numbers up to a thousand or so."""
SLACK = 2.0**-40
"""A reported square may differ from the proved one by that, relatively, times n kappa^2."""


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


@pytest.mark.parametrize(
    ("V", "W", "bound"),
    [
        ([1, -1], [7, 7], 3),
        ([7, -7], [1, 1], 3),
        ([1, -1], [1, 2], "7/4"),
        ([1, -1], [1, 0], 1),
        ([1, 0], [1, 1], 0),
    ],
)
def test_rows_of_any_length_prove_what_is_left_when_they_fit(V, W, bound):
    """W may not be longer than V in any row, and may be shorter at a cost."""
    B, V, W = map(rational_array, ([[1, "1/2"], ["1/2", 1]], [[v] for v in V], [[w] for w in W]))
    assert lower_bound(B, V, W) == number(bound)


# ---- the solver ----


def confirmed(B, found):
    """Return whether D0, V and W prove what is reported: floats are the numbers that they store."""
    exact, D0, V, W = map(rational_array, (B, found.D0, found.V, found.W))
    smallest, *_, largest = eigenvalues(D0[:, None] * exact * D0)
    slack = SLACK * len(B) * found.kappa**2
    return bool(
        largest / smallest <= found.kappa**2 * (1 + slack)
        and lower_bound(exact, V, W) >= number(found.lower_bound**2 * (1 - slack))
    )


def solved(B):
    pytest.importorskip("clarabel", reason="needs the extra 'optimal'")
    return optimal_scaling(B)


def squared_minimum(B):
    """The minimum of kappa^2, between its two confirmed bounds."""
    found = solved(B)
    assert confirmed(B, found)
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
    "kappa smaller than rounding explains": {"kappa": lambda x: x * (1 - 4 * SLACK * x**2)},
    "bound larger than that": {"lower_bound": lambda x: x * (1 + 4 * SLACK * x**2)},
}


@pytest.mark.parametrize("mistake", WRONG)
def test_what_is_not_proved_is_seen(mistake):
    B = random_matrix(4)
    found = solved(B)
    fields = {name: change(getattr(found, name)) for name, change in WRONG[mistake].items()}
    assert not confirmed(B, replace(found, **fields))


@pytest.mark.parametrize(
    ("call", "given", "message"),
    [
        (optimal_scaling, [[[1.0, 2.0], [0.0, 5.0]]], "is not symmetric"),
        (optimal_scaling, [[1.0, 2.0]], "is not symmetric"),
        (optimal_scaling, [[[1.0, 0.0], [0.0, 0.0]]], "diagonal entry that is not positive"),
        (optimal_scaling, [[[1.0, 1.0], [1.0, 1.0]]], "not positive definite to working precision"),
        (lower_bound, [np.eye(2), np.eye(2), np.zeros((2, 2))], "W is zero"),
    ],
)
def test_what_has_no_minimum_or_proves_nothing_is_refused(call, given, message):
    with pytest.raises(ValueError, match=message):
        call(*given)


def test_missing_solver_is_told_how_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'batchnorm-theory\[optimal\]'"):
        optimal_scaling(np.eye(2))
