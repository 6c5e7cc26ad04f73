"""Statements about matrices of rational numbers, decided for certain."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import ctx

from theory.arithmetic.exact import DifferentFieldsError, number
from theory.matrix_claim import MatrixClaim
from theory.statement import Sides
from verify.cases.case import imposed_by
from verify.matrices.subjects import Numbers, Watched, written
from verify.results import Counterexample
from verify.tolerance import Outcome
from verify.witnesses.exact import (
    BALLS,
    EXACT,
    compared,
    each,
    has_balls,
    meets,
    side_in_words,
    to_ball,
)

CAP = 512
"""Bits of precision at most; beyond it two sides are taken for equal, or undecided."""


@dataclass(frozen=True)
class Decided:
    """The outcome of one subject, both sides, and which numbers they depend on."""

    outcome: Outcome
    subject: Numbers
    sides: Sides | None = None
    seen: frozenset[str] = frozenset()

    def counterexample(self) -> Counterexample | None:
        """Return the numbers that matter and both sides as text; nothing where none is violated."""
        if self.sides is None or self.outcome is not Outcome.VIOLATED:
            return None
        actual, claimed = self.sides
        return Counterexample(
            self.subject.size,
            written(self.subject, set(self.seen)),
            side_in_words(actual),
            side_in_words(claimed),
            "balls" if has_balls(actual) or has_balls(claimed) else "exact",
        )


class Conversions:
    """One subject in exact numbers and in balls, each made once for all claims that want it so.

    What is computed there for one claim is known to the next.
    """

    def __init__(self, subject: Numbers):
        self.subject = subject
        self._made: dict[Any, Numbers] = {}

    def exact(self, claim: MatrixClaim) -> Numbers:
        """Return the subject with the claim's hypotheses imposed, in exact numbers."""
        key = imposed_by(claim)
        if key not in self._made:
            self._made[key] = imposed(claim, self.subject).converted(_exactly, EXACT)
        return self._made[key]

    def in_balls(self, claim: MatrixClaim) -> Numbers:
        """Return the same in balls of the precision in force."""
        key = imposed_by(claim), ctx.prec
        if key not in self._made:
            self._made[key] = self.exact(claim).converted(_in_ball, BALLS)
        return self._made[key]


def imposed(claim: MatrixClaim, subject: Numbers) -> Numbers:
    """Return the subject with the claim's hypotheses imposed."""
    for impose in imposed_by(claim):
        subject = impose(subject)
    return subject


def outcomes(claims: Sequence[MatrixClaim], subject: Numbers) -> list[Outcome]:
    """Return what becomes of claims at one subject."""
    conversions = Conversions(subject)
    return [_examine(claim, conversions).outcome for claim in claims]


def examine(claim: MatrixClaim, subject: Numbers) -> Decided:
    """Decide one subject of rational numbers for certain.

    Where a side divides by an exact zero, the subject lies outside of the statement.
    """
    conversions = Conversions(subject)
    decided = _examine(claim, conversions)
    return replace(decided, seen=_seen(claim, conversions.exact(claim)))


def _examine(claim: MatrixClaim, conversions: Conversions) -> Decided:
    subject = conversions.exact(claim)
    try:
        return _decided(claim, subject, subject)
    except ZeroDivisionError:
        return Decided(Outcome.VACUOUS, subject)
    except DifferentFieldsError:
        return _in_balls(claim, conversions)


def _in_balls(claim: MatrixClaim, conversions: Conversions) -> Decided:
    subject, bits = conversions.exact(claim), 128
    while True:
        with ctx.workprec(bits):
            try:
                decided = _decided(claim, subject, conversions.in_balls(claim))
            except ZeroDivisionError:
                return Decided(Outcome.VACUOUS, subject)
        if decided.outcome is not Outcome.UNDECIDED or 2 * bits > CAP:
            return decided
        bits *= 2


def _decided(claim: MatrixClaim, subject: Numbers, arithmetic: Numbers) -> Decided:
    met = [meets(h, h.quantity(arithmetic)) for h in claim.hypotheses]
    if Outcome.VIOLATED in met:
        return Decided(Outcome.VACUOUS, subject)
    sides = claim.sides(arithmetic)
    outcome = compared(*sides, claim.relation)
    if outcome is Outcome.VIOLATED and Outcome.UNDECIDED in met:
        outcome = Outcome.UNDECIDED  # nothing is refuted where a hypothesis may fail
    return Decided(outcome, subject, sides)


def _seen(claim: MatrixClaim, subject: Numbers) -> frozenset[str]:
    """Return the names of the numbers that a statement looks at."""
    watched = Watched(subject)
    with suppress(ZeroDivisionError, DifferentFieldsError):
        for hypothesis in claim.hypotheses:
            hypothesis.quantity(watched)
        claim.sides(watched)
    return frozenset(watched.seen)


def _exactly(value: Any) -> Any:
    return each(number, value)


def _in_ball(value: Any) -> Any:
    return each(to_ball, value) if np.ndim(value) else to_ball(value)
