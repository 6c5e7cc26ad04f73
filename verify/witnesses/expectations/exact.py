"""Where an expectation fails by a pencil: bounds of both means compared, and set against draws.

Both bounds are exact numbers, enclosed in balls, so that the comparison is certain.  That they
bound the means is argued in words; draws that say otherwise are an error.
"""

from __future__ import annotations

from math import floor, isfinite
from types import SimpleNamespace

import numpy as np
from flint import arb

from theory.expectation_claim import Drawn, ExpectationClaim, FailsAt
from theory.language.expression import Expression
from theory.language.plain import plain
from theory.language.values import Values
from theory.statement import Sides
from verify.results import Counterexample
from verify.subjects.laws import LAWS, Entries, admits
from verify.witnesses.expectations import means
from verify.witnesses.series import ball

DRAWS, MOST_DRAWS, ENTRIES = 8, 4096, 100_000
"""How many matrices are drawn: of so many entries together, as far as these numbers allow."""
SHOWN = 1000
"""What is told of a number is a multiple of one over this."""


def counterexample(claim: ExpectationClaim, seed: int) -> Counterexample | None:
    """Return the law and the size where a statement says that it fails; nothing if it names none.

    Raises:
        ValueError: it does not fail there, or draws contradict a bound.
    """
    if (where := claim.fails_at) is None:
        return None
    if undecided := shortcoming(claim, seed):
        raise ValueError(undecided)
    return Counterexample(
        _entries(where).size,
        {},
        actual=f"at least {_rounded_down(_ratio(claim, where))}",
        claimed=plain(claim.spoken.claimed),
        distribution=where.law,
        because=where.reason,
    )


def shortcoming(claim: ExpectationClaim, seed: int = 0) -> str:
    """Return why where a statement says that it fails it does not, or what draws contradict."""
    if (where := claim.fails_at) is None:
        return ""
    if where.law not in LAWS:
        return f"fails_at names {where.law!r}; the laws are {', '.join(map(repr, LAWS))}"
    if not admits(claim, _entries(where)):
        return "fails_at names a law and a size that the hypotheses exclude"
    ratio, constant = _ratio(claim, where), _value(claim.spoken.claimed, where)
    if not ratio > constant:
        told = f"{_rounded_down(ratio)}, which is not above {plain(claim.spoken.claimed)}"
        return f"by the bounds of fails_at the left side is at least {told}"
    return _contradicted(claim, where, seed)


def _entries(where: FailsAt) -> Entries:
    return Entries(where.law, LAWS[where.law], where.N, where.n)


def _ratio(claim: ExpectationClaim, where: FailsAt) -> arb:
    actual, claimed = bounds(where)
    return (actual / claimed).root(claim.root)


def bounds(where: FailsAt) -> Sides:
    """Return what both means are bounded by, as balls."""
    return Sides(_value(where.actual, where), _value(where.claimed, where))


def _value(expression: Expression, where: FailsAt) -> arb:
    law = _entries(where)
    known = {name: _up_to_rounding(getattr(law, name)) for name in ("fourth_moment", "order")}
    sized = SimpleNamespace(
        N=arb(where.N), n=arb(where.n), like=arb(1), is_fixed=law.is_fixed, **known
    )
    return ball(Values(sized)[expression])


def _up_to_rounding(moment: float) -> arb:
    return arb(moment, means.ROUNDING * abs(moment) if isfinite(moment) else 0)


def _contradicted(claim: ExpectationClaim, where: FailsAt, seed: int) -> str:
    """Return which of the bounds of means draws contradict; nothing if they do not."""
    draws = min(max(ENTRIES // (where.N * where.n), DRAWS), MOST_DRAWS)
    X, Y = claim.sides_of_each(Drawn(_entries(where).matrices(seed, draws)))
    actual, claimed = map(float, bounds(where))
    if means.seems_below(X, np.full(len(X), actual * (1 - means.ROUNDING))):
        return f"draws of X are below fails_at's bound {plain(where.actual)} = {actual:.4g}"
    if means.seems_below(claimed * (1 + means.ROUNDING) - Y, np.zeros(len(Y))):
        return f"draws of Y are above fails_at's bound {plain(where.claimed)} = {claimed:.4g}"
    return ""


def _rounded_down(number: arb) -> str:
    return f"{floor(float((SHOWN * number).lower())) / SHOWN:g}"
