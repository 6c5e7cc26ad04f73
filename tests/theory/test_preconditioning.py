"""The preconditioner's formulas against index loops, in every arithmetic, and against autograd."""

from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
import sympy as sp
import torch
from array_api_compat import device
from preconditioning_cases import (
    EXACT,
    FORMULAS,
    LITERAL,
    WRONG,
    algorithm,
    assert_same,
    by_matrices,
    floats,
)

from theory import preconditioning

STRICT = array_api_strict.__array_namespace_info__()
DOUBLE_DEVICES = [d for d in STRICT.devices() if "float64" in STRICT.dtypes(device=d)]


ARITHMETICS = {
    "exact": lambda: EXACT,
    "numpy": floats,
    "torch": lambda: floats(torch.asarray),
}


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize("name", FORMULAS)
def test_formula_is_what_loops_give(name, arithmetic):
    assert_same(FORMULAS[name](ARITHMETICS[arithmetic]()), LITERAL[name](EXACT))


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
@pytest.mark.parametrize(("name", "mistake"), WRONG)
def test_comparison_sees_a_planted_mistake(name, mistake, arithmetic):
    with pytest.raises(AssertionError):
        assert_same(FORMULAS[name](ARITHMETICS[arithmetic]()), WRONG[name, mistake](EXACT))


def test_algorithm_2_is_the_product_with_the_preconditioner():
    assert_same(algorithm(EXACT), by_matrices(EXACT))
    P = preconditioning.preconditioner(EXACT.mean, EXACT.deviation)
    G = preconditioning.preconditioned_gradient(EXACT.b, EXACT.W, EXACT.mean, EXACT.deviation**2)
    assert_same(np.vstack([G[0], G[1].T]), P @ P.T @ np.vstack([EXACT.b, EXACT.W.T]))


def test_batch_statistics_leave_the_identity_and_the_correlations():
    """Theorem 3: the Gram matrix of the normalized inputs is N diag(1, R)."""
    H = floats().H
    Ghat = preconditioning.normalized(
        H, preconditioning.means(H), preconditioning.standard_deviations(H)
    )
    expected = np.eye(4)
    expected[1:, 1:] = np.corrcoef(H.T)
    assert_same(Ghat.T @ Ghat / len(H), expected)
    assert_same(preconditioning.correlations(H), expected[1:, 1:])
    assert_same(preconditioning.standard_deviations(H, 0.5), np.sqrt(np.var(H, axis=0) + 0.5))
    assert np.all(np.diagonal(preconditioning.correlations(H)) == 1)


def test_every_entry_has_its_own_root():
    """Roots of different radicands stand in one matrix, exactly."""
    R = preconditioning.correlations(EXACT.H)
    assert np.all(R == R.T)
    assert len({str(entry.d) for entry in R.ravel()}) == 4
    assert_same(R.astype(float), np.corrcoef(floats().H.T))


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


def test_symbols_prove_it_for_two_examples_and_two_inputs():
    H = np.array(sp.symbols("h:4")).reshape(2, 2)
    W = np.array(sp.symbols("w:2")).reshape(1, 2)
    b, mean, s = (np.array(sp.symbols(names)) for names in ("b:1", "mu:2", "s:2"))
    P = preconditioning.preconditioner(mean, s)
    G_b, G_W = preconditioning.preconditioned_gradient(b, W, mean, s * s)
    differences = [
        preconditioning.augmented(H) @ P - preconditioning.normalized(H, mean, s),
        P - preconditioning.centring(mean) @ preconditioning.scaling(s),
        P @ P.T @ np.vstack([b, W.T]) - np.vstack([G_b, G_W.T]),
    ]
    assert all(sp.simplify(entry) == 0 for matrix in differences for entry in matrix.ravel())
    spread = preconditioning.variances(H) - (H[0] - H[1]) ** 2 / 4
    assert [sp.expand(entry) for entry in spread] == [0, 0]


@pytest.mark.parametrize("where", DOUBLE_DEVICES, ids=str)
def test_strict_arrays_keep_their_device_and_give_what_numpy_gives(where):
    c, plain = floats(lambda a: array_api_strict.asarray(a, device=where)), floats()
    for name, formula in FORMULAS.items():
        if name not in ("algorithm 2", "algorithm 2, q = 1", "folded"):
            compare_strict(formula(c), formula(plain), where)
    for function, arguments in [
        (preconditioning.preconditioned_gradient, ("b", "W", "mean", "variance")),
        (preconditioning.folded, ("W", "b", "gamma", "beta", "mean", "deviation")),
    ]:
        results = function(*(getattr(c, name) for name in arguments))
        expected = function(*(getattr(plain, name) for name in arguments))
        for result, other in zip(results, expected, strict=True):
            compare_strict(result, other, where)


def compare_strict(result, expected, where):
    assert device(result) == where
    assert result.dtype == array_api_strict.float64
    assert_same(np.asarray(result.to_device(STRICT.default_device())), expected)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_torch_keeps_its_dtype(dtype):
    c = floats(lambda a: torch.asarray(a, dtype=dtype))
    results = [
        FORMULAS[name](c) for name in FORMULAS if "algorithm" not in name and name != "folded"
    ]
    results += preconditioning.preconditioned_gradient(c.b, c.W, c.mean, c.variance, q_squared=1.5)
    results += preconditioning.folded(c.W, c.b, 1, 0, c.mean, c.deviation)
    assert {result.dtype for result in results} == {dtype}
