"""The ascent finds what is known of the factor at full rank, and a smaller one is refuted."""

from dataclasses import replace

import numpy as np
import pytest

from theory.lange2022 import theorem_4
from theory.layer import KAPPA_NORMALIZED, KAPPA_SCALED, n
from verify.matrices import scaling_ascent
from verify.matrices.scaling_ascent import (
    climbed,
    correlations,
    layer,
    near_half,
    objective,
    rebuild,
)
from verify.settings import PROFILES, Settings

pytest.importorskip("clarabel", reason="the best scaling needs clarabel: pip install clarabel")

(HALF,) = (c for c in theorem_4.CLAIMS if c.id == "L-thm-4c/half-n")
SMOKE = Settings(replace(PROFILES["smoke"], steps=40))


def test_the_slope_is_that_of_the_quotient():
    rng = np.random.default_rng(0)
    F, direction = rng.normal(size=(2, 4, 4))
    slope = objective(F)[1] @ direction.ravel()
    rise = objective(F + 1e-5 * direction)[0] - objective(F - 1e-5 * direction)[0]
    assert rise / 2e-5 == pytest.approx(slope, rel=1e-3)


def test_the_family_comes_near_half_of_n():
    end = climbed(near_half(np.random.default_rng([0, 3]), 3), 60)
    assert 1.4 < np.exp(-objective(np.linalg.cholesky(end))[0]) < 1.5


def test_the_layer_has_the_correlations_and_its_token_rebuilds_it():
    R = correlations(np.random.default_rng(1).normal(size=(4, 4)))
    made = layer(R)
    np.testing.assert_allclose(np.corrcoef(made.H.T), R, atol=1e-12)
    np.testing.assert_array_equal(rebuild(made.token).H, made.H)


@pytest.mark.parametrize("token", ["scaling:", "scaling:a,b,c", "scaling:0.1,0.2", "scaling:2.0"])
def test_tokens_of_no_correlations_are_refused(token):
    with pytest.raises(ValueError, match="expected scaling:R21"):
        rebuild(token)


def test_a_smaller_factor_is_refuted():
    """2n/5 in place of n/2."""
    smaller = replace(HALF, id="two fifths of n", says=2 * n * KAPPA_SCALED >= 5 * KAPPA_NORMALIZED)
    wrong, right = scaling_ascent.examine([smaller, HALF], SMOKE)
    assert wrong.violated > 0
    assert (right.violated, right.vacuous, right.undecided) == (0, 0, 0)
    assert 0.9 < right.worst_ratio <= 1
