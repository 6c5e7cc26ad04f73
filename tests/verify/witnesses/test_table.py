"""Which witness can say something of which statement, and that none looks in vain."""

from dataclasses import replace

import pytest

from theory.language.expression import along, equal
from theory.language.operations import norm2
from theory.matrix_claim import Kind
from theory.unit import u, variable, y
from verify.engine import CLAIMS, pairs
from verify.settings import FLOOR, PROFILES, Settings
from verify.subjects.matrix_strata import of_different_sizes
from verify.witnesses import autograd, table
from verify.witnesses.matrices import floats, integers, libraries

SMOKE = Settings(PROFILES["smoke"])
BY_ID = {claim.id: claim for claim in CLAIMS}
NAMES = {pair.name for pair in pairs(CLAIMS, table.WITNESSES)}


def test_what_the_table_lists_are_statements():
    listed = (table.MET_BY_UNITS, table.UNMET_BY_NETWORKS, table.WHAT_IS_ZERO)
    further = (table.NOUGHT_DERIVATIVES, table.AT_BEST_SCALING, table.SHIPPED)
    assert {name for names in (*listed, *further) for name in names} <= BY_ID.keys()


def test_networks_are_asked_about_hypotheses_that_must_be_imposed_as_well():
    centred = BY_ID["S-v1-eq-3"]
    assert any(h.impose for h in centred.hypotheses)
    assert {(centred.id, "autograd"), (centred.id, "trained")} <= NAMES
    assert ("S-thm-4.1", "trained") in NAMES


def test_every_statement_that_can_be_read_is_measured_by_two_witnesses():
    measuring = {"exact", "autograd", "complex step", "finite differences", "array library"}
    measuring |= {"trained", "monte carlo"}
    for claim in CLAIMS:
        asked = {witness for name, witness in NAMES if name == claim.id} & measuring
        is_alone = "monte carlo" in asked or claim.id in table.WHAT_IS_ZERO
        assert len(asked) >= (2 - is_alone if not claim.unreadable else 0), claim.id


def test_difference_quotients_are_not_asked_of_third_derivatives():
    def along_u(body):
        return along(body, variable, u)

    twice = BY_ID["S-fact-C1"]
    third = along(along_u(along_u(norm2(variable))), variable, u, at=y)
    assert table.is_differentiable_by_differences(twice)
    assert not table.is_differentiable_by_differences(replace(twice, says=equal(third, 0)))


def test_what_floats_are_not_asked_they_cannot_tell():
    claim = BY_ID["S-remark-growth/last-term"]
    (found,) = autograd.examine([claim], SMOKE)
    assert found.is_idle


@pytest.mark.parametrize("witness", [floats, libraries], ids=["autograd", "array library"])
def test_further_subjects_are_drawn_where_hypotheses_are_seldom_met(witness):
    rare = BY_ID["L-thm-4b/below"]
    (found,) = witness.examine([rare], SMOKE)
    assert len(found.decided_strata) >= FLOOR.strata
    assert found.vacuous > found.decided


def test_the_error_of_a_derivative_is_not_put_into_a_hypothesis_that_has_none():
    """As many subjects have the hypothesis as have it exactly, whatever the derivatives' errors."""
    claim = BY_ID["L-prop-2"]
    (found,) = libraries.examine([claim], SMOKE)
    coupled = [subject.couples for subject in of_different_sizes(Kind.LAYER, SMOKE.seed, 1)]
    assert found.vacuous == coupled.count(1)
    assert found.decided + found.undecided == coupled.count(0)
    assert found.vacuous * found.decided > 0


@pytest.mark.parametrize("name", ["L-thm-1/rate/corrected", "L-thm-4b/N-largest"])
def test_the_exact_search_goes_on_until_enough_supports_what_nothing_proves(name):
    (found,) = integers.examine([BY_ID[name]], SMOKE)
    assert found.decided >= FLOOR.instances
    assert found.counterexample is None


def test_an_equation_that_nothing_proves_is_examined_in_floats_until_enough_supports_it():
    """Balls leave an equation between eigenvalues open; this one is decided faster."""
    (found,) = floats.examine([BY_ID["L-thm-1/invariance/corrected"]], SMOKE)
    assert found.decided >= FLOOR.instances
    assert found.violated == 0
