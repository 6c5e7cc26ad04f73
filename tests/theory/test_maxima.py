"""The maxima over bounded inputs, against brute force over X."""

import numpy as np
import pytest

from theory import maxima


def _random(seed: int, m: int):
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(m, m))
    return rng, half + half.T, rng.normal(size=m)


def _inputs(rng, m: int, d: int, bound: float, count: int = 4000):
    """Random X of norm at most the bound, of every rank, many of them on the boundary."""
    X = rng.normal(size=(count, m, d))
    u, s, w = np.linalg.svd(X, full_matrices=False)
    s = np.where(rng.uniform(size=s.shape) < 0.5, 1.0, rng.uniform(size=s.shape))
    return bound * np.einsum("nik,nk,nkj->nij", u, s, w)


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_no_input_exceeds_the_maxima_and_one_attains_them(m, d):
    for seed in range(4):
        rng, A, a = _random(seed, m)
        bound = float(np.exp(rng.normal()))
        found = maxima.largest_quadratic(A, a)
        best_gradient = maxima.largest_gradient(a, bound)[0]
        X = _inputs(rng, m, d, bound)
        gradients = np.sum(np.einsum("nij,i->nj", X, a) ** 2, axis=1)
        moved = np.einsum("nij,nkj,k->ni", X, X, a)
        quadratics = np.einsum("ni,ij,nj->n", moved, A, moved)
        assert np.all(gradients <= best_gradient * (1 + 1e-12))
        assert np.all(quadratics <= bound**4 * found.value + 1e-10 * bound**4 * abs(A).max())
        assert gradients.max() > 0.6 * best_gradient
        assert quadratics.max() > 0.5 * bound**4 * found.value
        for v, at in [(a, best_gradient)]:
            X = maxima.inputs_attaining(v, a, bound, d)
            assert np.linalg.norm(X, 2) <= bound * (1 + 1e-12)
            assert np.linalg.norm(X.T @ a) ** 2 == pytest.approx(at)
        if found.value > 0:
            X = maxima.inputs_attaining(found.v, a, bound, d)
            assert np.linalg.norm(X, 2) <= bound * (1 + 1e-12)
            moved = X @ X.T @ a
            assert moved @ A @ moved == pytest.approx(bound**4 * found.value)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_the_certificate_closes_the_gap(seed, m):
    _, A, a = _random(seed, m)
    found = maxima.largest_quadratic(A, a)
    assert found.v @ found.v <= found.v @ a + 1e-10
    assert found.residual < 1e-9
    assert found.bound == pytest.approx(found.value, abs=1e-9)


@pytest.mark.parametrize(
    ("A", "a", "value"),
    [
        (np.eye(3), [1.0, 2.0, 3.0], 14.0),
        (-np.eye(3), [1.0, 2.0, 3.0], 0.0),
        (np.zeros((2, 2)), [1.0, 0.0], 0.0),
        (np.eye(2), [0.0, 0.0], 0.0),
        (np.diag([2.0, 0.0]), [0.0, 1.0], 0.5),
        (np.diag([1.0, 1.0, -1.0]), [0.0, 0.0, 2.0], 0.5),
    ],
)
def test_maxima_known_by_hand(A, a, value):
    """The last two are hard cases: a has no part in the top eigenspace."""
    found = maxima.largest_quadratic(A, np.array(a))
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.bound == pytest.approx(value, abs=1e-9)


def test_along_a_direction_is_what_that_input_gives():
    rng, A, a = _random(1, 3)
    u, bound = rng.normal(size=3), 1.7
    X = bound * np.outer(u, [1.0, 0.0]) / np.linalg.norm(u)
    moved = X @ X.T @ a
    assert maxima.gradient_along(a, u, bound)[0] == pytest.approx(np.sum((X.T @ a) ** 2))
    along = maxima.quadratic_along(a, lambda u: u @ A @ u, u, bound)
    assert along[0] == pytest.approx(moved @ A @ moved)


@pytest.mark.parametrize("seed", range(10))
def test_the_batch_can_be_kept(seed):
    rng = np.random.default_rng(seed)
    y, w, a = rng.normal(size=3), rng.normal(size=2), rng.normal(size=3)
    bound = float(np.linalg.norm(y) / np.linalg.norm(w)) * (1 + rng.uniform())
    X = maxima.keeping_batch(y, w, a, bound)
    np.testing.assert_allclose(X @ w, y)
    assert np.linalg.norm(X, 2) <= bound * (1 + 1e-12)
    assert np.linalg.norm(X.T @ a) == pytest.approx(bound * np.linalg.norm(a))
