"""Every mistake that could be made in writing a statement is noticed by its checks."""

from dataclasses import replace

import pytest
from wrong_variants import SAME, is_noticed, is_refuted, wrong

from theory.claim import Claim, Verdict
from theory.language.expression import Relation
from theory.language.plain import plain
from theory.matrix_claim import MatrixClaim
from verify.engine import CLAIMS
from verify.witnesses import abstract


def has_variants(claim):
    return next(wrong(claim), None) is not None


EXPRESSIONS = [c for c in CLAIMS if c.says is not None and isinstance(c, Claim | MatrixClaim)]
"""Expectations are measured: their statements are pinned by tests of their own."""
EQUATIONS = [c for c in EXPRESSIONS if c.relation is Relation.EQUAL and has_variants(c)]
PROVED_FOR_EVERY_M = [
    claim
    for claim in EXPRESSIONS
    if isinstance(claim, Claim) and claim.expected is Verdict.PROVED and has_variants(claim)
]
OF_A_DEVIATION = ("L-prop-7/through-statistics/corrected",)
"""A deviation sees neither the sign nor the shift of what it is taken of."""


def ids(claim):
    return claim.id


def unnoticed(claim):
    found = {plain(v.claimed) for v in wrong(claim) if not is_noticed(claim, v)}
    return {t for t in found if claim.id not in OF_A_DEVIATION or "deviation(" not in t}


def test_every_variant_is_noticed():
    found = {claim.id: unnoticed(claim) for claim in EXPRESSIONS}
    assert {name: texts for name, texts in found.items() if texts} == {
        name: set(texts) for name, texts in SAME.items()
    }


def proved(claim):
    """The first variant that says something else, where it is proved."""
    variant = next(v for v in wrong(claim) if plain(v.claimed) not in SAME.get(claim.id, {}))
    return abstract.prove(replace(claim, says=variant)) and plain(variant.claimed)


def test_no_variant_is_proved():
    found = {claim.id: proved(claim) for claim in PROVED_FOR_EVERY_M}
    assert {name: text for name, text in found.items() if text} == {}


@pytest.mark.parametrize("claim", EQUATIONS[::20], ids=ids)
def test_a_variant_of_an_equation_that_holds_is_refuted_by_numbers(claim):
    if claim.expected is Verdict.PROVED:
        bound = replace(next(wrong(claim)), relation=Relation.AT_MOST)
        other = replace(bound, relation=Relation.AT_LEAST)
        assert is_refuted(claim, bound) or is_refuted(claim, other)
