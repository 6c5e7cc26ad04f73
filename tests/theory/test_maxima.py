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


@pytest.mark.parametrize(
    ("m", "d", "seed"), [(1, 1, 0), (2, 1, 1), (2, 2, 2), (3, 2, 3), (3, 3, 1)]
)
def test_no_input_exceeds_the_maxima_and_one_attains_them(m, d, seed):
    rng, A, a = _random(seed, m)
    bound = float(np.exp(rng.normal()))
    best_gradient = maxima.largest_gradient(a, bound)[0]
    best_quadratic = bound**4 * maxima.largest_quadratic(A, a).value
    X = _inputs(rng, m, d, bound)
    gradients = np.sum(np.einsum("nij,i->nj", X, a) ** 2, axis=1)
    moved = np.einsum("nij,nkj,k->ni", X, X, a)
    quadratics = np.einsum("ni,ij,nj->n", moved, A, moved)
    assert np.all(gradients <= best_gradient * (1 + 1e-12))
    assert np.all(quadratics <= best_quadratic + 1e-10 * bound**4 * abs(A).max())
    assert gradients.max() > 0.6 * best_gradient
    assert quadratics.max() > 0.5 * best_quadratic


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_the_certificate_closes_the_gap_and_an_input_attains_it(m, seed):
    _, A, a = _random(seed, m)
    found, bound = maxima.largest_quadratic(A, a), 1.7
    assert found.v @ found.v <= found.v @ a + 1e-10
    assert found.residual < 1e-9
    assert found.bound == pytest.approx(found.value, abs=1e-9)
    X = maxima.inputs_attaining(found.v if found.value > 0 else a, a, bound, 2)
    assert np.linalg.norm(X, 2) <= bound * (1 + 1e-12)
    moved = X @ X.T @ a
    attained = moved @ A @ moved if found.value > 0 else np.sum((X.T @ a) ** 2)
    best = bound**4 * found.value or maxima.largest_gradient(a, bound)[0]
    assert attained == pytest.approx(best)


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


@pytest.mark.parametrize("seed", range(3))
def test_the_batch_can_be_kept(seed):
    rng = np.random.default_rng(seed)
    y, w, a = rng.normal(size=3), rng.normal(size=2), rng.normal(size=3)
    bound = float(np.linalg.norm(y) / np.linalg.norm(w)) * (1 + rng.uniform())
    X = maxima.keeping_batch(y, w, a, bound)
    np.testing.assert_allclose(X @ w, y)
    assert np.linalg.norm(X, 2) <= bound * (1 + 1e-12)
    assert np.linalg.norm(X.T @ a) == pytest.approx(bound * np.linalg.norm(a))
