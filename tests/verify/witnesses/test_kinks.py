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

NOWHERE = np.zeros(16, dtype=bool)


@pytest.fixture(scope="module")
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


def test_a_record_counts_the_kinks(monkeypatch, settings, maps, free):
    monkeypatch.setattr(kinks, "every_unit", lambda settings: [maps])
    (found,) = kinks.examine([GRADIENT], settings)
    assert (found.claim, found.witness) == (GRADIENT.id, "finite differences (trained)")
    assert (found.instances, found.violated, found.vacuous) == (16, 0, 0)
    assert found.undecided == 16 - free.sum()
    assert found.notes == f"kinks inside the difference: {found.undecided} of 16"


@pytest.mark.parametrize("name", [*SHIPPED, *EQUATIONS])
def test_formulas_are_decided_but_where_kinks_are(name, maps, free):
    claim = EQUATIONS.get(name) or {GRADIENT.id: GRADIENT, HESSIAN.id: HESSIAN}[name]
    outcomes = np.array(examine_units(claim, maps, ~free).outcomes)
    assert set(outcomes[free]) == {Outcome.VIOLATED if name in EQUATIONS else Outcome.HOLDS}
    assert set(outcomes[~free]) <= {Outcome.UNDECIDED}


@pytest.mark.parametrize("value", [1e-9, -1e-9])
def test_a_kink_inside_the_difference_is_counted_and_decides_nothing(maps, free, value):
    units = with_a_relu_input_at(maps, 5, value)
    found = has_kinks(units)
    assert found[5]
    others = np.arange(16) != 5
    assert (found != free)[others].all()
    assert examine_units(GRADIENT, units, found).outcomes[5] is Outcome.UNDECIDED


def test_a_kink_that_is_not_set_aside_would_be_taken_for_an_error(maps):
    found = examine_units(HESSIAN, with_a_relu_input_at(maps, 5, 1e-9), NOWHERE)
    assert found.outcomes[5] is not Outcome.HOLDS
    assert found.actual[5] > 2 * found.claimed[5]


def test_a_kink_outside_the_difference_is_none(maps):
    steps = kinks.STEP * maps.layer.gamma.abs() * kinks.instances(maps).direction[:, 7].abs()
    for factor, is_inside in ((0.4, True), (3, False)):
        moved = with_a_relu_input_at(maps, 5, factor * steps[5])
        assert has_kinks(Units(moved.layer, 0, torch.tensor([5])))[0] == is_inside


def test_a_difference_without_digits_decides_nothing(maps, monkeypatch):
    monkeypatch.setattr(kinks, "LARGEST_ERROR", 1e-12)
    assert set(examine_units(GRADIENT, maps, NOWHERE).outcomes) == {Outcome.UNDECIDED}


def test_it_is_for_the_two_shipped_formulas(maps):
    with pytest.raises(ValueError, match=r"S-thm-4\.1 is not examined by differences; only S-fact"):
        examine_units(CLAIMS[0], maps, NOWHERE)
