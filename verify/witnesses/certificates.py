"""What a certificate shows: terms that add up to a statement's slack, and have a sign by sight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from theory.statement import Hypothesis, Relation, Statement, Term

SIGMA = sp.Symbol("sigma", positive=True)
BIASED_DEVIATION = sp.Symbol("sigma_0", nonnegative=True)
EPSILON = sp.Symbol("epsilon", nonnegative=True)


def show(claim: Statement, terms: Sequence[Term]) -> bool:
    """Whether terms that add up to a statement's slack show the statement.

    Without any the slack is zero.
    """
    if not all(_is_non_negative(term, claim) for term in terms):
        return False
    if claim.relation.is_strict:
        return any(map(_is_positive, terms))
    return claim.relation is not Relation.EQUAL or all(map(_is_zero_by_hypothesis, terms))


def _is_non_negative(term: Term, claim: Statement) -> bool:
    """Whether a term cannot be negative, by its symbols' signs and the claim's hypotheses alone."""
    hypotheses = [f for f in term.factors if isinstance(f, Hypothesis)]
    if not all(h in claim.hypotheses for h in hypotheses):
        return False
    if any(h.sign is Relation.EQUAL for h in hypotheses):
        return True
    if any(h.sign.bounds_above for h in hypotheses):
        return False
    numerator, denominator = _fraction(_roots_as_symbols(term.weight))
    return bool((numerator * denominator).is_nonnegative)


def _roots_as_symbols(weight: Any) -> sp.Expr:
    """Return a weight with its square roots as symbols: where they exist, none is negative."""

    def root(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        return sp.Symbol(f"sqrt({base})", nonnegative=True) ** (2 * exponent)

    return sp.sympify(weight).replace(
        lambda e: e.is_Pow and e.exp.is_Rational and e.exp.q == 2, lambda e: root(*e.args)
    )


def _is_zero_by_hypothesis(term: Term) -> bool:
    """Whether a term has a factor that a hypothesis says is zero."""
    return any(isinstance(f, Hypothesis) and f.sign is Relation.EQUAL for f in term.factors)


def _is_positive(term: Term) -> bool:
    """Whether a non-negative term cannot vanish: neither its weight nor its factors can."""
    strict = all(isinstance(f, Hypothesis) and f.sign is Relation.MORE_THAN for f in term.factors)
    return strict and bool(_fraction(term.weight)[0].is_nonzero)


def _fraction(weight: Any) -> tuple[sp.Expr, sp.Expr]:
    """Return the weight's numerator and denominator, in v and eps where it speaks of v."""
    in_variance = sp.sympify(weight).subs(SIGMA, sp.sqrt(BIASED_DEVIATION**2 + EPSILON))
    chosen = in_variance if sp.sympify(weight).has(BIASED_DEVIATION) else sp.sympify(weight)
    numerator, denominator = sp.fraction(sp.factor(chosen))
    return numerator, denominator
