"""What no proof holds in place is kept in numbers: refuted statements, and bounds."""

from dataclasses import replace

import pytest
from pinned import PINNED, misses, pins
from wrong_variants import SAME, wrong

from theory.language.plain import plain
from theory.santurkar2018 import theorem_4_4
from theory.statement import Verdict

BY_CLAIM = {claim.id: claim for claim in PINNED}


def ids(claim):
    return claim.id


def test_every_refuted_statement_and_bound_is_kept_and_no_other():
    assert list(pins()) == [claim.id for claim in PINNED], "python tests/statements/pinned.py"


def test_what_is_kept_of_each_is_enough_to_tell_an_edit():
    kept = pins().values()
    refuted = {pin["id"] for pin in kept if pin["counterexample"]}
    assert refuted == {c.id for c in PINNED if c.expected is Verdict.REFUTED}
    assert not [pin["id"] for pin in kept if not any(pin["generic"]) and pin["id"] not in refuted]


def test_their_sides_are_found_again_without_exact_arithmetic():
    missed = {claim.id: misses(claim, claim.says, pins()[claim.id]) for claim in PINNED}
    assert {name: words for name, words in missed.items() if words} == {}


@pytest.mark.parametrize("claim", PINNED[::10], ids=ids)
def test_another_right_side_is_not_what_was_examined(claim):
    for variant in list(wrong(claim))[:3]:
        is_other = plain(variant.claimed) not in SAME.get(claim.id, {})
        assert bool(misses(claim, variant, pins()[claim.id])) is is_other


@pytest.mark.parametrize("name", ["L-thm-4c/half-n", "L-norm-Ghat", "S-v1-lemma-3.3"])
@pytest.mark.parametrize("side", ["actual", "claimed"])
def test_a_bound_that_is_made_weaker_and_still_holds_is_seen(name, side):
    claim = BY_CLAIM[name]
    weaker = replace(claim.says, **{side: 9 * getattr(claim.says, side) / 10})
    assert misses(claim, weaker, pins()[name])


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
