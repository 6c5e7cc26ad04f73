"""Where a bound is attained: what is told is an equality, of numbers that are not zero."""

from dataclasses import replace
from functools import cache

import pytest

from theory.lange2022 import CLAIMS as LANGE
from theory.language.expression import number
from theory.santurkar2018 import CLAIMS as SANTURKAR
from theory.statement import Relation
from verify.ledger import as_json, entry
from verify.matrices import integers as matrices
from verify.results import EVERY_M, Proof
from verify.settings import PROFILES, Settings
from verify.show import shown_entry
from verify.site.findings import attained
from verify.witnesses import integers

SMOKE = Settings(PROFILES["smoke"])
BY_ID = {claim.id: claim for claim in (*SANTURKAR, *LANGE)}
OF_UNITS = ("S-thm-4.1", "S-thm-4.2a/bending", "S-eq-10/sharpened", "S-v1-eq-64/sharpened")
OF_MATRICES = ("L-thm-4a", "L-norm-Ghat/at-most", "L-norm-Ghat/at-least", "L-thm-4c/tight")


def witness_of(name):
    return integers if name.startswith("S") else matrices


def found(claim):
    [record] = witness_of(claim.id).examine([claim], SMOKE)
    return record


found_of = cache(lambda name: found(BY_ID[name]))


def looser(claim, factor):
    """Return a bound that is larger by a factor where it is positive, and proved by nothing."""
    says = claim.says
    sides = {"claimed": says.claimed * factor}
    if claim.relation is Relation.AT_LEAST:
        sides = {"actual": says.actual * factor}
    return replace(claim, says=replace(says, **sides), because=None, certificate=None)


@pytest.mark.parametrize("name", [*OF_UNITS, *OF_MATRICES])
def test_a_bound_that_is_attained_is_told_with_both_sides(name):
    told = found_of(name).attained
    assert told.actual == told.claimed != "0"


@pytest.mark.parametrize("name", [*OF_UNITS, *OF_MATRICES])
def test_a_bound_that_is_looser_by_a_thousandth_is_attained_nowhere(name):
    assert found(looser(BY_ID[name], number(1001) / 1000)).attained is None


def test_zero_on_both_sides_is_no_bound_that_is_attained():
    claim = BY_ID["S-thm-4.1"]
    nothing = looser(claim, number(0))
    nothing = replace(nothing, says=replace(nothing.says, actual=nothing.says.actual * 0))
    assert found(nothing).attained is None


@pytest.mark.parametrize("name", ["S-thm-4.1/two-networks", "S-thm-C1/kappa/at-most", "L-q-conv"])
def test_what_is_refuted_is_told_to_be_attained_nowhere(name):
    record = found_of(name)
    assert record.counterexample is not None
    assert entry(BY_ID[name], [record]).attained is None


def test_of_several_subjects_the_largest_is_told():
    assert found_of("L-norm-Ghat/at-most").attained.size == {"N": 3, "n": 2, "p": 2}


def test_a_reader_is_told_on_the_terminal_on_the_page_and_in_json():
    claim = BY_ID["S-thm-4.2a/bending"]
    known = entry(claim, [replace(found_of(claim.id), proof=Proof((EVERY_M,)))])
    lines = shown_entry(known).splitlines()
    assert lines[lines.index("attained at") + 1 :][:2] == ["  m = 4", "  y = (-1, -1, 1, 1)"]
    page = attained(known)
    assert page.startswith("**Attained.** <i>m</i> = 4, <i>y</i> = (−1, −1, 1, 1)")
    assert page.endswith("Then both sides are 576.\n")
    assert as_json(known)["attained"]["actual"] == "576"
