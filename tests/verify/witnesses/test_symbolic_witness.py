"""The symbolic witness proves for one batch size, and proves nothing that is wrong there."""

from dataclasses import replace

import pytest
import sympy as sp
from planted import HESSIAN, WRONG
from slips import RIGHT, SHARED_BOUND, SLIPS, VACUOUS, VACUOUSLY_PROVED

from theory.arithmetic import inner
from theory.claim import Hypothesis, Reading, Relation, Sides
from theory.santurkar2018 import remarks
from verify.results import Proof
from verify.settings import PROFILES, Settings
from verify.witnesses import abstract, symbolic
from verify.witnesses.symbolic import prove


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_statement_is_proved(name, m):
    claim = RIGHT[name]
    is_defined = m > 1 or claim.reading.has_epsilon
    assert prove(claim, m) == ("proved" if is_defined else "undefined")


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_every_batch_of_real_numbers_is_a_value_of_the_generic_one(m):
    y = sp.Matrix(symbolic.generic(m, True, ()).y)
    letters = sorted(y.free_symbols, key=str)
    assert len(letters) == m
    assert y.jacobian(letters).det() != 0


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_not_proved(name, m):
    assert prove(SLIPS[name], m) == "not proved"


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_wrong_formula_is_not_proved(name):
    assert prove(WRONG[name], 2) == "not proved"


def test_the_shipped_hessian_is_proved():
    assert prove(HESSIAN, 2) == "proved"


def test_what_only_two_entries_force_is_proved_for_two():
    def parallel(network, at):
        centred = at.g - inner(at.one, at.g) * at.one / at.m
        return Sides(centred * inner(at.yhat, at.yhat), at.yhat * inner(at.yhat, centred))

    claim = replace(HESSIAN, says=None, sides=parallel)
    assert [prove(claim, m) for m in (2, 3)] == ["proved", "not proved"]
    assert abstract.prove(claim) is None


def test_what_divides_by_zero_is_undefined():
    claim = replace(SHARED_BOUND, certificate=None, sides=divided_by_yhat)
    assert prove(claim, 1) == "undefined"
    assert prove(claim, 2) == "proved"


def divided_by_yhat(network, at):
    quotient = inner(at.yhat, at.yhat) / inner(at.yhat, at.yhat)
    return Sides(quotient, 1 + 0 * quotient)


def test_a_strict_inequality_of_equals_is_not_proved():
    claim = replace(SHARED_BOUND, certificate=None, sides=lambda network, at: Sides(at.m, at.m))
    assert prove(claim, 2) == "proved"
    for relation in (Relation.LESS_THAN, Relation.MORE_THAN):
        assert prove(replace(claim, relation=relation), 2) == "not proved"


def test_a_hypothesis_that_loses_generality_proves_nothing():
    bowl = Hypothesis("a bowl", lambda n, at: 1, impose=lambda c: c.with_isotropic_loss(c.y, 1))
    relu = Hypothesis("a network", lambda n, at: 1, impose=lambda c: c.with_relu_network_loss())
    later = Hypothesis("a layer", lambda n, at: 1, impose=lambda c: c.with_later_batchnorm_loss())
    claim = RIGHT["S-fact-C1/eps"]
    for hypothesis in (bowl, relu, later):
        assert prove(replace(claim, hypotheses=(hypothesis,)), 2) == "not proved"


def test_a_hypothesis_is_imposed():
    no_scale = Hypothesis(
        "gamma = 0", lambda n, at: at.gamma, Relation.EQUAL, lambda c: replace(c, gamma=0 * c.gamma)
    )

    def sides(network, at):
        return Sides(at.gamma * at.g, 0 * at.g)

    claim = replace(RIGHT["S-fact-C1/eps"], says=None, sides=sides)
    assert prove(claim, 2) == "not proved"
    assert prove(replace(claim, hypotheses=(no_scale,)), 2) == "proved"


def test_no_reading_without_eps_speaks_of_a_single_entry():
    assert prove(RIGHT["S-fact-C1"], 1) == "undefined"
    assert prove(replace(RIGHT["S-fact-C1"], reading=Reading.UNIT_VARIANCE), 1) == "undefined"


def test_without_a_certificate_what_is_vacuous_is_not_proved():
    assert prove(VACUOUS, 2) == "not proved"


def test_a_certificate_under_an_impossible_hypothesis_is_a_proof_of_nothing():
    assert prove(VACUOUSLY_PROVED, 2) == "proved"


def test_symbols_and_vectors_of_symbolic_length_agree():
    for claim in RIGHT.values():
        assert (abstract.prove(claim) is not None) == (symbolic.prove(claim, 2) == "proved")


def test_a_statement_about_two_examples_is_proved_of_two_and_says_nothing_of_others():
    found = symbolic.examine(remarks.NO_GRADIENT, Settings(PROFILES["default"]))
    assert found.proof == Proof(({"m": 2},))
    assert prove(remarks.NO_GRADIENT, 3) == "undefined"
    assert prove(replace(remarks.NO_GRADIENT, hypotheses=()), 3) == "not proved"


def test_a_certificate_that_is_too_long_is_given_up_at_the_size_before_the_largest(monkeypatch):
    claim, settings, tried = RIGHT["S-thm-4.1/eps"], Settings(PROFILES["default"]), []

    def proved(claim, m, most):
        tried.append(m)
        return prove(claim, m, most)

    monkeypatch.setattr(symbolic, "prove", proved)
    assert symbolic.examine(claim, settings).proof == Proof(tuple({"m": m} for m in (1, 2, 3, 4)))
    assert tried == [3, 4, 2, 1]
    tried.clear()
    monkeypatch.setattr(symbolic, "GROWTH", symbolic.MOST)
    assert symbolic.examine(claim, settings).proof is None
    assert tried == [3]
