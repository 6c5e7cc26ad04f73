"""The best scaling against closed forms and brute force; what it reports is proved or refused."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from theory import preconditioning
from verify.optimal_scaling import confirm, optimal_scaling
from verify.scaling_bounds import upper_bound

CLOSE = 1e-8
"""Of a minimum found by the solver, for condition numbers up to a thousand or so."""


@pytest.fixture(autouse=True)
def _solver():
    pytest.importorskip("clarabel", reason="needs the extra 'optimal'")


def random_matrix(n, seed=0, rows=None):
    """The Gram matrix of generic columns, of sizes between 1/10 and 10."""
    rng = np.random.default_rng(seed)
    F = rng.standard_normal((rows or n + 2, n)) * 10 ** rng.uniform(-1, 1, n)
    return gram(F)


def gram(F):
    B = F.T @ F
    return (B + B.T) / 2


def unit(B):
    """The scaling to unit diagonal, which is that of Theorem 4."""
    return 1 / np.sqrt(np.diagonal(B))


def squared_minimum(B):
    """The minimum of kappa^2, between its two confirmed bounds."""
    found = optimal_scaling(B)
    confirm(B, found)
    assert -CLOSE < found.gap < CLOSE
    assert np.all(found.D0 > 0)
    assert upper_bound(B, found.D0) == pytest.approx(found.kappa**2, rel=CLOSE)
    return found.kappa**2


@pytest.mark.parametrize("r", [0.5, -0.9, 0.0, 0.999])
def test_unit_diagonal_is_best_for_two_columns(r):
    B = np.array([[4.0, 20 * r], [20 * r, 100.0]])
    expected = (1 + abs(r)) / (1 - abs(r))
    assert squared_minimum(B) == pytest.approx(expected, rel=CLOSE)
    assert upper_bound(B, unit(B)) == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("shape", [(1, 2), (2, 2), (3, 2), (2, 4)])
def test_unit_diagonal_is_best_with_property_a(shape):
    rng = np.random.default_rng(sum(shape))
    K = rng.standard_normal(shape)
    K *= 0.8 / np.linalg.norm(K, 2)
    B = np.block([[np.eye(shape[0]), K], [K.T, np.eye(shape[1])]])
    scales = 10 ** rng.uniform(-2, 2, len(B))
    B = scales[:, None] * B * scales
    B = (B + B.T) / 2
    assert squared_minimum(B) == pytest.approx(9, rel=CLOSE)
    assert upper_bound(B, unit(B)) == pytest.approx(9, rel=CLOSE)


@pytest.mark.parametrize("n", [2, 3, 6])
@pytest.mark.parametrize("r", [0.5, 0.99])
def test_near_copies_of_one_column_are_best_left_alike(n, r):
    """Equal correlations: any best scaling, averaged over permutations, is a multiple of I."""
    B = (1 - r) * np.eye(n) + r * np.ones((n, n))
    assert squared_minimum(B) == pytest.approx((1 + (n - 1) * r) / (1 - r), rel=CLOSE)


@pytest.mark.parametrize(
    ("H", "kappa"),
    [
        ([[0, 0], [1, 0], [2, 1]], 2 + 3**0.5),
        ([[1, 10], [1, -10], [-1, 10], [-1, -10]], 1),
    ],
)
def test_normalized_inputs_of_two_features_are_scaled_best(H, kappa):
    """Theorem 4: for full rank and n <= 2 the factor sqrt(n + 1) is 1."""
    H = np.array(H, dtype=float)
    mean, deviation = preconditioning.means(H), preconditioning.standard_deviations(H)
    normalized = gram(preconditioning.normalized(H, mean, deviation))
    centred = gram(preconditioning.normalized(H, mean, np.ones(2)))
    assert squared_minimum(centred) == pytest.approx(kappa**2, rel=CLOSE)
    assert squared_minimum(normalized) == pytest.approx(kappa**2, rel=CLOSE)
    assert upper_bound(normalized, np.ones(3)) == pytest.approx(kappa**2, rel=CLOSE)


@pytest.mark.parametrize("seed", range(6))
def test_nelder_and_mead_find_the_same_for_three_columns(seed):
    B = random_matrix(3, seed, rows=3 + seed % 2)
    squared = squared_minimum(B)

    def kappa(logarithms):
        return upper_bound(B, unit(B) * np.exp([0, *logarithms]))

    options = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}
    starts = [(0.0, 0.0), (1.0, -1.0), (-0.5, 0.7)]
    runs = [minimize(kappa, x, method="Nelder-Mead", options=options).fun for x in starts]
    assert min(runs) == pytest.approx(squared, rel=1e-6)
    assert min(runs) >= squared * (1 - CLOSE)


@pytest.mark.parametrize(("n", "seed"), [(1, 0), (3, 7), (5, 1), (5, 2), (10, 3), (10, 4), (20, 5)])
def test_random_matrices(n, seed):
    B = random_matrix(n, seed)
    squared = squared_minimum(B)
    equal = upper_bound(B, unit(B))
    largest = np.linalg.eigvalsh(unit(B)[:, None] * B * unit(B))[-1]
    assert squared * (1 - CLOSE) <= equal <= squared * largest * (1 + CLOSE)
    if n >= 5:
        assert equal > squared * 1.001


def test_some_unit_diagonal_is_not_best():
    """So that the solver does something; the factor found by hand for three columns is 1.21."""
    ratios = [
        upper_bound(B, unit(B)) / squared_minimum(B) for B in map(random_matrix, [3] * 5, range(5))
    ]
    assert 1.01 < max(ratios) < 3


def test_columns_that_do_not_matter_leave_the_bound_alone():
    """The dual is zero there, up to the solver's accuracy."""
    B = np.eye(5)
    B[0, 1] = B[1, 0] = 0.9
    assert squared_minimum(B) == pytest.approx(19, rel=CLOSE)


@pytest.mark.parametrize("condition", [1e4, 1e6, 1e8])
def test_ill_conditioned(condition):
    n, rng = 6, np.random.default_rng(1)
    vectors = np.linalg.qr(rng.standard_normal((n, n)))[0]
    B = gram(np.sqrt(np.geomspace(1, condition, n))[:, None] * vectors)
    found = optimal_scaling(B)
    confirm(B, found)
    assert abs(found.gap) < 1e-14 * condition + CLOSE


def changed(found, **fields):
    return replace(found, **{name: change(getattr(found, name)) for name, change in fields.items()})


WRONG = {
    "kappa too small": {"kappa": lambda x: 0.999 * x},
    "bound too large": {"lower_bound": lambda x: 1.001 * x},
    "scaling of another matrix": {"D0": lambda x: x[::-1]},
    "scaling inverted": {"D0": lambda x: 1 / x},
    "dual transposed": {"V": lambda x: x.T, "W": lambda x: x.T},
    "a longer row": {"W": lambda x: x * np.array([2, 1, 1, 1])[:, None]},
    "a shorter row": {"V": lambda x: x * np.array([1, 1, 0.5, 1])[:, None]},
    "a column of the dual left out": {"W": lambda x: x[:, :-1]},
    "sign of one entry": {"V": lambda x: x * np.where(np.arange(16).reshape(4, 4) == 7, -1, 1)},
}


@pytest.mark.parametrize("mistake", WRONG)
def test_what_is_not_proved_is_refused(mistake):
    B = random_matrix(4, 11)
    found = optimal_scaling(B)
    confirm(B, found)
    with pytest.raises(ValueError, match="is reported, but what is proved is"):
        confirm(B, changed(found, **WRONG[mistake]))


def test_swapped_dual_is_refused():
    B = random_matrix(4, 11)
    found = optimal_scaling(B)
    with pytest.raises(ValueError, match=r"lower_bound = .* is reported"):
        confirm(B, replace(found, V=found.W, W=found.V))


@pytest.mark.parametrize(
    ("B", "message"),
    [
        ([[1.0, 2.0], [0.0, 5.0]], "is not symmetric"),
        ([1.0, 2.0], "is not symmetric"),
        ([[1.0, 0.0], [0.0, 0.0]], "diagonal entry that is not positive"),
        ([[1.0, 1.0], [1.0, 1.0]], "not positive definite to working precision"),
        ([[1.0, 2.0], [2.0, 1.0]], "not positive definite to working precision"),
    ],
)
def test_wrong_input_is_refused(B, message):
    with pytest.raises(ValueError, match=message):
        optimal_scaling(B)


def test_missing_solver_is_told_how_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'batchnorm-theory\[optimal\]'"):
        optimal_scaling(np.eye(2))


@pytest.mark.parametrize("name", ["kappa", "lower_bound"])
def test_what_is_reported_may_differ_from_the_proof_by_rounding_alone(name):
    """The slack is 2**-40 of the square, times n kappa^2: half of it passes, twice it does not."""
    found = optimal_scaling(random_matrix(3))
    allowed = 2.0**-40 * 3 * found.kappa**2
    better = -1 if name == "kappa" else 1
    for share, is_refused in ((0.5, False), (2.0, True)):
        told = replace(found, **{name: getattr(found, name) * (1 + better * share * allowed / 2)})
        if is_refused:
            with pytest.raises(ValueError, match=f"{name} = .* is reported, but what is proved"):
                confirm(random_matrix(3), told)
        else:
            confirm(random_matrix(3), told)


def test_where_the_solver_makes_no_progress_the_bounds_decide():
    assert squared_minimum(np.array([[31.0, 1e-15], [1e-15, 2.0]])) == pytest.approx(1, rel=CLOSE)
