"""What a certificate shows: terms that add up to a statement's slack, and have a sign by sight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import sympy as sp

from theory.arithmetic.abstract import AbstractVector
from theory.arithmetic.quotients import factored
from theory.statement import Hypothesis, Relation, Statement, Term

SIGMA = sp.Symbol("sigma", positive=True)
BIASED_DEVIATION = sp.Symbol("sigma_0", nonnegative=True)
EPSILON = sp.Symbol("epsilon", positive=True)


WITHOUT_CERTIFICATE = "a bound is proved by because=, terms that add up to its slack; it has none"
DIFFER = "its sides differ at whole numbers"
UNUSED = (
    " (a hypothesis is used by impose= alone where there is no because=; write"
    " because=hypothesis.slack * what it is multiplied by)"
)
LONGEST = 160
"""Letters of what is left of a difference that a reader can make use of."""


def remainder(claim: Statement, left: str = "") -> str:
    """Return that what is left of a statement's slack, less its certificate, need not be zero."""
    told = f": {left}" if left and len(left) <= LONGEST else ""
    if claim.because is not None:
        return f"the slack less because= is not seen to vanish{told}"
    if claim.relation is not Relation.EQUAL:
        return WITHOUT_CERTIFICATE
    return f"the difference of its sides is not seen to vanish{told}{unused(claim)}"


def unused(claim: Statement) -> str:
    """Return that a statement without a certificate has hypotheses that nothing uses, if so."""
    return UNUSED if any(h.impose is None for h in claim.hypotheses) else ""


def shortcoming(claim: Statement, terms: Sequence[Term], subject: Any) -> str:
    """Return why terms that add up to a statement's slack do not show it, or nothing: they do.

    Without any the slack is zero.

    Args:
        claim: the statement.
        terms: of its certificate.
        subject: what the statement's sides are functions of.
    """
    if unreal := claim.unreal(_is_seen_not_negative, subject):
        parts = ", ".join(map(str, unreal))
        return f"because= has {parts}, which is not seen to be real wherever the statement speaks"
    if unseen := _unseen_divisors(claim, terms, subject):
        divisors = ", ".join(sorted(map(str, unseen)))
        return f"because= divides by {divisors}, which may be zero where a hypothesis of it holds"
    return _without_sign(claim, terms)


def _is_seen_not_negative(number: Any) -> bool:
    return bool(sp.sympify(number).is_nonnegative)


def _without_sign(claim: Statement, terms: Sequence[Term]) -> str:
    """Return which terms are not seen to have the sign that the relation needs; or nothing."""
    unseen = [term for term in terms if not _is_non_negative(term, claim)]
    if unseen:
        weight = str(unseen[0].weight)
        named = f"with the factor {weight} " if len(weight) <= LONGEST else ""
        return f"a term of because= {named}is not seen to be positive or zero"
    if claim.relation.is_strict and not any(map(_is_positive, terms)):
        return "no term of because= is seen to be positive, as a strict bound needs"
    if claim.relation is Relation.EQUAL and not all(term.is_zero for term in terms):
        return "a term of because= is not seen to be zero, as an equation needs"
    return ""


def _unseen_divisors(claim: Statement, terms: Sequence[Term], subject: Any) -> set[sp.Expr]:
    """Return what terms divide by, and may be zero where a hypothesis holds that they use.

    Where a hypothesis says that something is zero, or not negative, a divisor may vanish all over:
    (g / |u|^2) |u|^2 with u = 0 would be anything.  What other terms divide by vanishes on a thin
    set: near it they are not negative, those that a hypothesis makes zero are small, and the slack,
    which is continuous, is their sum: unless the statement itself speaks of a thin set.
    """
    dividing = claim.dividing(terms, _is_seen_not_negative, subject)
    found = {base for part in dividing for base in _divisors(part)}
    return found - _not_zero(claim, subject) if found else found


def _not_zero(claim: Statement, subject: Any) -> set[sp.Expr]:
    """Return what does not vanish where a statement is defined and its hypotheses hold."""
    strict = [h.quantity(subject) for h in claim.hypotheses if h.sign.is_strict]
    numbers = [*claim.divided_by(subject), *strict]
    entries = (entry for n in numbers for entry in np.ravel(np.asarray(n, dtype=object)))
    of_numbers = {base for entry in entries for base in _bases(_quotient(entry)[0])}
    of_sides = {base for side in claim.sides(subject) for base in _divisors(side)}
    return of_numbers | of_sides


def _divisors(value: Any) -> Iterator[sp.Expr]:
    """Yield the factors of the denominators of a number's, or of all coefficients or entries."""
    if isinstance(value, AbstractVector):
        value = list(value.coefficients.values())
    for number in np.ravel(np.asarray(value, dtype=object)):
        yield from _bases(_quotient(number)[1])


def _bases(product: sp.Expr) -> Iterator[sp.Expr]:
    """Yield the factors of a product, under roots and signs too, that are not seen positive."""
    for factor in sp.Mul.make_args(factored(product)):
        base, _ = factor.as_base_exp()
        if isinstance(base, sp.Abs):
            yield from _bases(base.args[0])
        elif base != factor and (base.is_Add or base.is_Mul):
            yield from _bases(base)
        elif not (base.is_number or base.is_positive):
            _, part = sp.expand(base).primitive()  # of equal letters, and no number before them
            yield max(part, -part, key=str)


def _is_non_negative(term: Term, claim: Statement) -> bool:
    """Whether a term cannot be negative, by its symbols' signs and the claim's hypotheses alone."""
    if not all(h in claim.hypotheses for h in term.hypotheses):
        return False
    if term.is_zero:
        return True
    numerator, denominator = _fraction(_roots_as_symbols(term.weight))
    return bool((numerator * denominator).is_nonnegative)


def _roots_as_symbols(weight: Any) -> sp.Expr:
    """Return a weight with its square roots as symbols: where they exist, none is negative."""

    def root(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        return sp.Symbol(f"sqrt({base})", nonnegative=True) ** (2 * exponent)

    return sp.sympify(weight).replace(
        lambda e: e.is_Pow and e.exp.is_Rational and e.exp.q == 2, lambda e: root(*e.args)
    )


def _is_positive(term: Term) -> bool:
    """Whether a non-negative term cannot vanish: neither its weight nor its factors can."""
    strict = all(isinstance(f, Hypothesis) and f.sign is Relation.MORE_THAN for f in term.factors)
    return strict and bool(_fraction(term.weight)[0].is_nonzero)


def _fraction(weight: Any) -> tuple[sp.Expr, sp.Expr]:
    """Return the weight's numerator and denominator, in v and eps where it speaks of v."""
    in_variance = sp.sympify(weight).subs(SIGMA, sp.sqrt(BIASED_DEVIATION**2 + EPSILON))
    return _quotient(in_variance if sp.sympify(weight).has(BIASED_DEVIATION) else weight)


def _quotient(number: Any) -> tuple[sp.Expr, sp.Expr]:
    """Return a number's numerator and denominator, factored, by sigma, which is positive."""
    numerator, denominator = sp.fraction(factored(sp.sympify(number)))
    return numerator, denominator
