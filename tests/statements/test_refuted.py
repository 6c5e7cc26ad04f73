"""A refuted statement is refuted as it stands in the text, and by numbers that two parties find."""

from dataclasses import replace

import pytest
from pinned import REFUTED, misses, pins
from wrong_variants import wrong

from theory.language.plain import plain
from theory.santurkar2018 import theorem_4_4

THE_SAME = {("L-lemma-A1/zeros", "n")}
"""With all columns but one scaled to zero the condition number that the variant lacks is one."""


def ids(claim):
    return claim.id


def test_every_refuted_statement_is_kept_and_no_other():
    assert list(pins()) == [claim.id for claim in REFUTED], "python tests/statements/pinned.py"


@pytest.mark.parametrize("claim", REFUTED, ids=ids)
def test_its_counterexample_is_found_again_without_exact_arithmetic(claim):
    assert not misses(claim, claim.says, pins()[claim.id])


@pytest.mark.parametrize("claim", REFUTED[::8], ids=ids)
def test_another_right_side_is_not_what_was_refuted(claim):
    for variant in list(wrong(claim))[:3]:
        is_other = (claim.id, plain(variant.claimed)) not in THE_SAME
        assert bool(misses(claim, variant, pins()[claim.id])) is is_other


def test_a_number_at_the_counterexample_that_is_off_by_a_little_is_seen():
    claim = theorem_4_4.PRINTED
    pin = pins()[claim.id]
    sides = pin["counterexample"]
    for name in ("actual", "claimed"):
        other = sides | {name: f"{sides[name]} + 1/1000000"}
        assert name in misses(claim, claim.says, pin | {"counterexample": other})


def test_a_variant_that_differs_at_generic_instances_only_is_seen():
    claim = theorem_4_4.PRINTED
    twice = replace(claim.says, claimed=claim.says.claimed + claim.says.claimed)
    assert misses(claim, twice, pins()[claim.id])
