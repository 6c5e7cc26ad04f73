"""Theorem 4 at the minimum: the factor is needed, and a missing solver is said."""

from dataclasses import replace

import numpy as np
import pytest

from theory.lange2022 import theorem_4
from theory.layer import KAPPA_NORMALIZED, KAPPA_SCALED
from theory.matrix_claim import Kind
from verify.matrices import best_scaling
from verify.matrices.strata import draw
from verify.settings import PROFILES, Settings

CLAIM = theorem_4.SCALED
SMOKE = Settings(PROFILES["smoke"])


def test_the_bound_holds_at_the_best_scaling():
    (found,) = best_scaling.examine([CLAIM], SMOKE)
    assert found.violated == 0 < found.instances - found.vacuous
    assert "largest relative gap" in found.notes


def test_without_the_factor_it_does_not():
    bare = replace(CLAIM, says=KAPPA_NORMALIZED <= KAPPA_SCALED)
    (found,) = best_scaling.examine([bare], SMOKE)
    assert found.violated > 0


def test_dependent_columns_have_no_best_scaling():
    layer = draw(Kind.LAYER, "gaussian", 0, 0)
    twice = replace(layer, H=np.column_stack([layer.H, layer.H]))
    assert best_scaling.best(layer).gap < 1e-5
    assert best_scaling.best(twice) is None


def test_a_missing_solver_is_said(monkeypatch):
    monkeypatch.setattr(best_scaling, "SOLVER", "no_such_solver")
    (found,) = best_scaling.examine([CLAIM], SMOKE)
    assert found.instances == 0
    assert found.notes.startswith("not run: no_such_solver is missing; pip install")


pytest.importorskip("clarabel", reason="the best scaling needs clarabel: pip install clarabel")
