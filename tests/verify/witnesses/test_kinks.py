"""Differences at units of trained networks, where kinks of the loss may be in the way."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from slips import EQUATIONS, GRADIENT, HESSIAN

from theory.santurkar2018 import CLAIMS
from verify.tolerance import Outcome
from verify.witnesses import kinks
from verify.witnesses.kinks import examine_units, has_kinks
from verify.witnesses.table import SHIPPED
from verify.witnesses.trained import Units


@pytest.fixture(scope="session")
def free(maps):
    """Where no kink is in the way."""
    free = ~has_kinks(maps)
    assert free.sum() >= 10
    return free


def with_a_relu_input_at(units, unit, value):
    """The units, one with its shift changed so that the ReLU after it is given this value."""
    beta = units.layer.beta.clone()
    beta[unit] += value - units.layer.z[7, unit]
    return replace(units, layer=replace(units.layer, beta=beta))


def test_the_shipped_gradient_holds_but_where_kinks_are(settings):
    (found,) = kinks.examine([GRADIENT], settings)
    assert (found.claim, found.witness) == (GRADIENT.id, "finite differences (trained)")
    assert (found.instances, found.violated, found.vacuous) == (224, 0, 0)
    assert found.undecided < 20
    assert found.notes == f"kinks inside the difference: {found.undecided} of 224"


def test_the_shipped_hessian_holds(maps, free):
    outcomes = np.array(examine_units(HESSIAN, maps, ~free).outcomes)
    assert set(outcomes[free]) == {Outcome.HOLDS}
    assert set(outcomes[~free]) <= {Outcome.UNDECIDED}


@pytest.mark.parametrize("name", EQUATIONS)
def test_a_wrong_formula_is_violated(name, maps, free):
    outcomes = np.array(examine_units(EQUATIONS[name], maps, ~free).outcomes)
    assert set(outcomes[free]) == {Outcome.VIOLATED}


@pytest.mark.parametrize("value", [1e-9, -1e-9])
def test_a_kink_inside_the_difference_is_counted_and_decides_nothing(maps, value):
    units = with_a_relu_input_at(maps, 5, value)
    found = has_kinks(units)
    assert found[5]
    others = torch.arange(16) != 5
    assert (found == has_kinks(maps))[others].all()
    assert examine_units(GRADIENT, units, found).outcomes[5] is Outcome.UNDECIDED


def test_a_kink_that_is_not_set_aside_would_be_taken_for_an_error(maps):
    units = with_a_relu_input_at(maps, 5, 1e-9)
    found = examine_units(HESSIAN, units, np.zeros(16, dtype=bool))
    assert found.outcomes[5] is not Outcome.HOLDS
    assert found.actual[5] > 2 * found.claimed[5]


def test_a_kink_outside_the_difference_is_none(maps):
    steps = kinks.STEP * maps.layer.gamma.abs() * kinks.instances(maps).direction[:, 7].abs()
    inside, outside = (with_a_relu_input_at(maps, 5, factor * steps[5]) for factor in (0.4, 3))
    quiet = Units(outside.layer, 0, torch.tensor([5]))
    assert has_kinks(Units(inside.layer, 0, torch.tensor([5])))[0]
    assert not has_kinks(quiet)[0]


def test_kinks_are_undecided_even_where_the_formula_is_wrong(maps):
    found = examine_units(EQUATIONS["gradient, a factor 2"], maps, np.ones(16, dtype=bool))
    assert set(found.outcomes) == {Outcome.UNDECIDED}


def test_a_difference_without_digits_decides_nothing(maps, monkeypatch):
    monkeypatch.setattr(kinks, "LARGEST_ERROR", 1e-12)
    found = examine_units(GRADIENT, maps, np.zeros(16, dtype=bool))
    assert set(found.outcomes) == {Outcome.UNDECIDED}


def test_it_is_for_the_two_shipped_formulas(maps):
    assert (GRADIENT.id, HESSIAN.id) == SHIPPED
    with pytest.raises(ValueError, match=r"S-thm-4\.1 is not examined by differences; only S-fact"):
        examine_units(CLAIMS[0], maps, np.zeros(16, dtype=bool))
