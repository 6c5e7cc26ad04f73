"""What the notes say of minima and of Theorem C.1, recomputed; hypotheses that are needed."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theory import batchnorm
from theory.santurkar2018 import lemma_4_5, observation_4_3
from verify.cases.lattice import lattice_case
from verify.tolerance import Outcome
from verify.witnesses import abstract, exact


def slope(X, W, t, at, eps):
    """The gradient in the weights of |BN(XW) - t|^2/2 at W, gamma and beta as if W were ``at``."""
    y, optimum = X @ W, X @ at
    gamma, beta = batchnorm.standard_deviation(optimum, eps), optimum.mean()
    residual = batchnorm.forward(y, gamma, beta, eps) - t
    return X.T @ batchnorm.gradient(y, residual, gamma, eps)


def test_without_a_bias_a_minimum_is_not_kept():
    X = np.array([[1.0, 0], [0, 1], [0, 0]])
    W, t = np.array([1.0, 2]), np.array([1.0, 2, 1])
    np.testing.assert_allclose(X.T @ (X @ W - t), 0)
    np.testing.assert_allclose(slope(X, W, t, at=W, eps=0), [1 / 3, -1 / 6])


def test_with_a_bias_a_multiple_of_a_minimum_is_one_only_without_epsilon():
    X = np.array([[1.0, 0, 1], [0, 1, 1], [0, 0, 1], [1, 1, 1]])
    t = np.array([1.0, 2, 1, -1])
    W = np.linalg.lstsq(X, t, rcond=None)[0]
    np.testing.assert_allclose(slope(X, 2 * W, t, at=W, eps=0), 0, atol=1e-14)
    np.testing.assert_allclose(slope(X, W, t, at=W, eps=0.5), 0, atol=1e-14)
    assert np.abs(slope(X, 2 * W, t, at=W, eps=0.5)).max() > 0.01


def pencil():
    """X = (1 0; 0 1; 0 0), W* = (1, 2), t = (1, 2, 1): the batch, the residual and a column."""
    return lattice_case(
        y=[1, 2, 0],
        gamma=1,
        beta=0,
        ratio=Fraction(2),
        linear=[0, 0, 1],
        triangle=[0] * 6,
        direction=[0, 0, 1],
        other_direction=[1, 0, 0],
        bound=1,
    )


NEED_BIAS = [
    *(c for c in observation_4_3.CLAIMS if c.id.endswith("minima/fixed/corrected")),
    *(c for c in lemma_4_5.CLAIMS if c.id.endswith("fixed/corrected")),
]


@pytest.mark.parametrize("claim", NEED_BIAS, ids=lambda claim: claim.id)
def test_the_bias_is_needed(claim):
    _, in_batch, in_input = claim.hypotheses
    without = (replace(in_batch, impose=observation_4_3.stationary), in_input)
    unproved = replace(claim, hypotheses=without, because=None, certificate=None)
    assert abstract.prove(claim) is not None
    assert exact.examine(claim, pencil()).outcome is not Outcome.VIOLATED
    assert exact.examine(unproved, pencil()).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("name", ["no-bias/corrected", "no-bias/eps/corrected"])
def test_no_hypothesis_of_a_minimum_with_a_bias_can_go(name):
    (claim,) = (c for c in observation_4_3.CLAIMS if c.id.endswith(name))
    for hypothesis in claim.hypotheses:
        rest = tuple(h for h in claim.hypotheses if h is not hypothesis)
        assert abstract.prove(replace(claim, hypotheses=rest)) is None
    assert abstract.prove(claim) is not None


def test_the_notes_numbers():
    """y = (-1, 0, 1), gamma = sigma, g = (0, -2, 2), lambda^2 = 2: betahat at X = (1, -1, 0)'."""
    y = np.array([-1.0, 0.0, 1.0])
    sigma = np.sqrt(2 / 3)
    g = np.array([0.0, -2.0, 2.0])
    h = batchnorm.gradient(y, g, sigma)
    x = np.array([1.0, -1.0, 0.0])
    bent = batchnorm.hvp(y, g, lambda u: 0 * u, x, sigma)
    np.testing.assert_allclose(h, [1, -2, 1])
    np.testing.assert_allclose((x @ h) ** 2 * (x @ bent), 27 / 2)
