"""Theorem 4 at the best scaling there is: an ascent refutes a smaller factor; a lost solver."""

from dataclasses import replace

import numpy as np
import pytest

from theory.lange2022 import theorem_4
from theory.layer import KAPPA_NORMALIZED, KAPPA_SCALED, n
from theory.matrix_claim import Kind
from verify.settings import PROFILES, Settings
from verify.subjects.matrix_strata import draw
from verify.witnesses.matrices import best_scaling, scaling_ascent
from verify.witnesses.matrices.scaling_ascent import correlations, layer, objective, rebuild

pytest.importorskip("clarabel", reason="the best scaling needs clarabel: pip install clarabel")

(HALF,) = (c for c in theorem_4.CLAIMS if c.id == "L-thm-4c/half-n/five-features")
SMOKE = Settings(PROFILES["smoke"])


def test_the_bound_holds_at_the_best_scaling_and_not_without_its_factor():
    bare = replace(theorem_4.SCALED, id="bare", says=KAPPA_NORMALIZED <= KAPPA_SCALED)
    found, refuted = best_scaling.examine([theorem_4.SCALED, bare], SMOKE)
    assert found.violated == 0 < found.instances - found.vacuous
    assert "largest relative gap" in found.notes
    assert refuted.violated > 0


def test_dependent_columns_have_no_best_scaling():
    single = draw(Kind.LAYER, "gaussian", 0, 0)
    assert best_scaling.at_best(single)[1].gap < 1e-5
    assert best_scaling.at_best(replace(single, H=np.column_stack([single.H, single.H]))) is None


def test_a_missing_solver_is_said(monkeypatch):
    monkeypatch.setattr(best_scaling, "SOLVER", "no_such_solver")
    (found,) = best_scaling.examine([theorem_4.SCALED], SMOKE)
    assert found.instances == 0
    assert found.notes.startswith("not run: no_such_solver is missing; pip install")


def test_the_ascent_comes_near_half_of_n_and_refutes_a_smaller_factor(monkeypatch):
    """2n/5 in place of n/2."""
    monkeypatch.setattr(scaling_ascent, "SIZES", (3,))
    steps = Settings(replace(PROFILES["smoke"], steps=40))
    smaller = replace(HALF, id="two fifths of n", says=2 * n * KAPPA_SCALED >= 5 * KAPPA_NORMALIZED)
    wrong, right = scaling_ascent.examine([smaller, HALF], steps)
    assert wrong.violated > 0
    assert (right.violated, right.vacuous, right.undecided) == (0, 0, 0)
    assert 0.9 < right.worst_ratio <= 1


def test_the_slope_is_that_of_the_quotient():
    rng = np.random.default_rng(0)
    F, direction = rng.normal(size=(2, 4, 4))
    slope = objective(F)[1] @ direction.ravel()
    rise = objective(F + 1e-5 * direction)[0] - objective(F - 1e-5 * direction)[0]
    assert rise / 2e-5 == pytest.approx(slope, rel=1e-3)


def test_the_layer_has_the_correlations_and_its_token_rebuilds_it():
    R = correlations(np.random.default_rng(1).normal(size=(4, 4)))
    made = layer(R)
    np.testing.assert_allclose(np.corrcoef(made.H.T), R, atol=1e-12)
    np.testing.assert_array_equal(rebuild(made.token).H, made.H)


@pytest.mark.parametrize("token", ["scaling:a,b,c", "scaling:0.1,0.2", "scaling:2.0"])
def test_tokens_of_no_correlations_are_refused(token):
    with pytest.raises(ValueError, match="expected scaling:R21"):
        rebuild(token)
