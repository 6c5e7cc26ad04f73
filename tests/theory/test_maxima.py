"""The maximum over bounded inputs, against brute force over X."""

import numpy as np
import pytest

from theory.maxima import largest_gradient


def _inputs(rng, m: int, d: int, bound: float, count: int = 4000):
    """Random X of norm at most the bound, of every rank, many of them on the boundary."""
    X = rng.normal(size=(count, m, d))
    u, s, w = np.linalg.svd(X, full_matrices=False)
    s = np.where(rng.uniform(size=s.shape) < 0.5, 1.0, rng.uniform(size=s.shape))
    return bound * np.einsum("nik,nk,nkj->nij", u, s, w)


@pytest.mark.parametrize(
    ("m", "d", "seed"), [(1, 1, 0), (2, 1, 1), (2, 2, 2), (3, 2, 3), (3, 3, 1)]
)
def test_no_input_exceeds_the_maximum_and_one_attains_it(m, d, seed):
    rng = np.random.default_rng(seed)
    a, bound = rng.normal(size=m), float(np.exp(rng.normal()))
    best = largest_gradient(a, bound)[0]
    gradients = np.sum(np.einsum("nij,i->nj", _inputs(rng, m, d, bound), a) ** 2, axis=1)
    assert np.all(gradients <= best * (1 + 1e-12))
    assert gradients.max() > 0.6 * best
    X = np.outer(a, np.eye(d)[0]) * bound / np.linalg.norm(a)
    assert np.sum((X.T @ a) ** 2) == pytest.approx(best)
