"""The symbolic witness proves for one batch size, and knows what holds for that size alone."""

from dataclasses import replace

import pytest
import sympy as sp
from slips import HESSIAN, RIGHT, SHARED_BOUND

from theory.claim import Reading
from theory.language.expression import equal
from theory.language.operations import dot, norm2
from theory.santurkar2018 import remarks, theorem_4_1
from theory.unit import g, grad, m, one, yhat
from verify.results import Proof
from verify.settings import PROFILES, Settings
from verify.witnesses import abstract, symbolic
from verify.witnesses.symbolic import sought

SETTINGS = Settings(PROFILES["default"])


@pytest.mark.parametrize("name", RIGHT)
def test_a_single_entry_has_a_sigma_with_epsilon_alone(name):
    claim = RIGHT[name]
    assert sought(claim, 1).finding == ("proved" if claim.reading.has_epsilon else "undefined")
    assert sought(replace(claim, reading=Reading.UNIT_VARIANCE), 1).finding == "undefined"


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_every_batch_of_real_numbers_is_a_value_of_the_generic_one(m):
    y = sp.Matrix(symbolic.generic(m, True, ()).y)
    letters = sorted(y.free_symbols, key=str)
    assert len(letters) == m
    assert y.jacobian(letters).det() != 0


def test_what_only_two_entries_force_is_proved_for_two():
    centred = g - dot(one, g) / m * one
    parallel = equal(centred * norm2(yhat), yhat * dot(yhat, centred))
    claim = replace(HESSIAN, says=parallel)
    assert [sought(claim, m).finding for m in (2, 3)] == ["proved", "not proved"]
    assert abstract.prove(claim) is None


def test_what_divides_by_zero_is_undefined():
    claim = replace(SHARED_BOUND, says=norm2(yhat) / norm2(yhat) <= 1, because=None)
    assert [sought(claim, m).finding for m in (1, 2)] == ["undefined", "proved"]


def test_a_statement_about_two_examples_is_proved_of_two_and_says_nothing_of_others():
    assert symbolic.examine(remarks.NO_GRADIENT, SETTINGS).proof == Proof(({"m": 2},))
    assert sought(remarks.NO_GRADIENT, 3).finding == "undefined"
    assert sought(replace(remarks.NO_GRADIENT, hypotheses=()), 3).finding == "not proved"


def test_that_two_examples_have_no_gradient_proves_nothing_of_more():
    longer = replace(theorem_4_1.SUPPLEMENT, says=(m - 5) ** 2 * norm2(grad) >= norm2(grad))
    few = Settings(replace(PROFILES["default"], sizes=(1, 2)))
    assert sought(longer, 2).finding == "proved"
    assert symbolic.examine(longer, few).proof is None
    assert symbolic.examine(remarks.NO_GRADIENT, few).proof == Proof(({"m": 2},))


def test_a_certificate_that_is_too_long_is_given_up_at_the_size_before_the_largest(monkeypatch):
    tried = []

    def sought(claim, m, most):
        tried.append(m)
        return search(claim, m, most)

    search = symbolic.sought
    monkeypatch.setattr(symbolic, "sought", sought)
    found = symbolic.examine(SHARED_BOUND, SETTINGS)
    assert found.proof == Proof(tuple({"m": m} for m in (1, 2, 3, 4)))
    assert tried == [3, 4, 2, 1]
    tried.clear()
    monkeypatch.setattr(symbolic, "GROWTH", symbolic.MOST)
    assert symbolic.examine(SHARED_BOUND, SETTINGS).proof is None
    assert tried == [3]
