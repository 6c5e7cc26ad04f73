"""What is left of Theorem 4's sharp factor: a maximum over two unit vectors, searched again."""

import numpy as np
import pytest
from scipy.optimize import minimize

from theory.lange2022.theorem_4 import near_root


def factor(beta, alpha, t):
    return (beta**2 * t).sum() * (alpha**2 / t).sum()


def orthonormal(x):
    beta, alpha = x.reshape(2, -1)
    beta = beta / np.linalg.norm(beta)
    alpha = alpha - beta * (beta @ alpha)
    return beta, alpha / np.linalg.norm(alpha)


def largest(n, upper, starts=6):
    """The largest factor of n features, of which the first have t at the upper end."""

    def objective(x):
        beta, alpha = orthonormal(x)
        t = np.where(np.arange(n) < upper, 1 - beta**2, alpha**2)
        return -factor(beta, alpha, np.maximum(t, 1e-12))

    rng = np.random.default_rng([n, upper])
    ends = (minimize(objective, rng.normal(size=2 * n), method="L-BFGS-B") for _ in range(starts))
    return max(-end.fun for end in ends)


@pytest.mark.parametrize(("n", "sharp"), [(2, 1), (3, 1.5), (5, 2.5), (6, 3.0224), (8, 4.3486)])
def test_the_factor_is_half_of_n_up_to_five_features_and_then_more(n, sharp):
    k = near_root(n)
    found = max(largest(n, upper) for upper in range(min(n, 4) + 1))
    assert found == pytest.approx(sharp, abs=1e-3)
    assert found <= n + 2 - k - n / k + 1 / 40


def correlations(F):
    R = F @ F.T
    size = np.sqrt(np.diag(R))
    return R / np.outer(size, size)


@pytest.mark.parametrize("seed", range(20))
def test_a_quotient_of_condition_numbers_is_at_most_the_factor_of_its_vectors(seed):
    """Every quantity of the docstring, at one batch and one scaling."""
    rng = np.random.default_rng(seed)
    R, d = correlations(rng.normal(size=(5, 5))), rng.uniform(0.5, 2, size=5)
    values, vectors = np.linalg.eigh(R)
    scaled = np.linalg.eigvalsh(R * np.outer(d, d))
    nu, y, W = values[0], vectors[:, 0], scaled[-1] / d**2
    rest, of_rest = (R - nu * np.eye(5)) / (1 - nu), (W - nu) / (1 - nu)
    root = np.sqrt(of_rest)
    M = rest / np.outer(root, root)
    principal = np.linalg.eigh(rest)
    mu, f = principal.eigenvalues[-1], (y * y * of_rest).sum()
    t, beta = np.diag(M), root * y / np.sqrt(f)
    alpha = np.sqrt(t) * principal.eigenvectors[:, -1] * np.sqrt(mu)
    assert factor(beta, alpha, t) == pytest.approx(mu / f)
    assert np.linalg.norm(beta) == pytest.approx(1)
    assert alpha @ beta == pytest.approx(0, abs=1e-12)
    assert np.linalg.norm(alpha) <= 1 + 1e-12
    assert np.all(alpha**2 <= t + 1e-12)
    assert np.all(t <= 1 - beta**2 + 1e-12)
    quotient = values[-1] / values[0] / (scaled[-1] / scaled[0])
    assert quotient <= max(1, mu / f) + 1e-12
