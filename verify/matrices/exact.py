"""The exact witness of statements about matrices: small integers, and both sides for certain."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from flint import arb, ctx
from hypothesis import find
from hypothesis.errors import NoSuchExample

from theory.arithmetic.exact import DifferentFieldsError, number
from theory.matrix_claim import MatrixClaim
from theory.statement import Hypothesis, Relation
from verify.evidence import Record
from verify.matrices import lattice
from verify.matrices.subjects import Numbers, Watched, written
from verify.search import examples_for, search_settings
from verify.settings import Settings
from verify.tolerance import Outcome
from verify.witnesses import ball
from verify.witnesses.exact import BALLS, EXACT, side_in_words, stands
from verify.witnesses.records import counted, in_words

CAP = 512
"""Bits of precision at most; beyond it two sides are taken for equal, or undecided."""


@dataclass(frozen=True)
class Decided:
    """The outcome of one subject, both sides, and which numbers they depend on."""

    outcome: Outcome
    subject: Numbers
    actual: str = ""
    claimed: str = ""
    arithmetic: str = "exact"
    seen: frozenset[str] = frozenset()

    def written(self) -> dict[str, Any]:
        """Return the numbers as strings, those that matter."""
        return {
            **written(self.subject, set(self.seen)),
            "actual": self.actual,
            "claimed": self.claimed,
            "arithmetic": self.arithmetic,
        }


def imposed(claim: MatrixClaim, subject: Numbers) -> Numbers:
    """Return the subject with the claim's hypotheses imposed."""
    for hypothesis in claim.hypotheses:
        if hypothesis.impose is not None:
            subject = hypothesis.impose(subject)
    return subject


def examine(claim: MatrixClaim, subject: Numbers) -> Decided:
    """Decide one subject of rational numbers for certain.

    Where a side divides by an exact zero, the subject lies outside of the statement.
    """
    subject = imposed(claim, subject).converted(_exactly, EXACT)
    try:
        return _decided(claim, subject, subject)
    except ZeroDivisionError:
        return Decided(Outcome.VACUOUS, subject)
    except DifferentFieldsError:
        return _in_balls(claim, subject)


def _in_balls(claim: MatrixClaim, subject: Numbers) -> Decided:
    bits = 128
    while True:
        with ctx.workprec(bits):
            try:
                decided = _decided(claim, subject, subject.converted(_ball, BALLS))
            except ZeroDivisionError:
                return Decided(Outcome.VACUOUS, subject)
        if decided.outcome is not Outcome.UNDECIDED or 2 * bits > CAP:
            return decided
        bits *= 2


def _decided(claim: MatrixClaim, subject: Numbers, arithmetic: Numbers) -> Decided:
    watched = Watched(arithmetic)
    met = [_meets(hypothesis, watched) for hypothesis in claim.hypotheses]
    if Outcome.VIOLATED in met:
        return Decided(Outcome.VACUOUS, subject)
    actual, claimed = claim.sides(watched)
    outcome = _compared(actual, claimed, claim.relation)
    if outcome is Outcome.VIOLATED and Outcome.UNDECIDED in met:
        outcome = Outcome.UNDECIDED  # nothing is refuted where a hypothesis may fail
    kind = "balls" if _has_balls(actual) or _has_balls(claimed) else "exact"
    sides = side_in_words(actual), side_in_words(claimed)
    return Decided(outcome, subject, *sides, kind, frozenset(watched.seen))


def _meets(hypothesis: Hypothesis, watched: Watched) -> Outcome:
    quantity = np.ravel(np.asarray(hypothesis.quantity(watched), dtype=object))
    return _compared(quantity, 0 * quantity, hypothesis.sign)


def _compared(actual: Any, claimed: Any, relation: Relation) -> Outcome:
    left, right = np.broadcast_arrays(np.asarray(actual, object), np.asarray(claimed, object))
    if _has_balls(left) or _has_balls(right):
        return ball.compare(_each(_ball, left), _each(_ball, right), relation)
    pairs = zip(left.ravel(), right.ravel(), strict=True)
    holds = all(stands(number(a) - number(b), relation) for a, b in pairs)
    return Outcome.HOLDS if holds else Outcome.VIOLATED


def _has_balls(side: Any) -> bool:
    return any(isinstance(entry, arb) for entry in np.ravel(np.asarray(side, dtype=object)))


def _each(convert: Any, values: Any) -> Any:
    return np.frompyfunc(convert, 1, 1)(np.asarray(values, dtype=object))


def _exactly(value: Any) -> Any:
    return _each(number, value)


def _ball(value: Any) -> Any:
    if np.ndim(value):
        return _each(_ball, value)
    return value if isinstance(value, arb) else number(value).ball()


def search(claim: MatrixClaim, settings: Settings) -> Record:
    """Search sizes in ascending order until a counterexample is found, and shrink it."""
    examples = examples_for(claim, settings.budget.examples)
    outcomes: dict[str, Counter[Outcome]] = {}
    found = None
    for size in lattice.SIZES[claim.subject]:
        found = _search_size(claim, size, examples, settings.seed, outcomes)
        if found is not None:
            break
    total = sum(outcomes.values(), Counter[Outcome]())
    return Record(
        claim=claim.id,
        witness="exact",
        **counted(total),
        sizes={size: in_words(counts) for size, counts in outcomes.items()},
        counterexample=found.written() if found else None,
    )


def fails_somewhere(claim: MatrixClaim, size: lattice.Size, examples: int) -> bool:
    """Return whether one of the first integers that come to mind violates the statement."""
    return _search_size(claim, size, examples, 0, {}) is not None


def _search_size(
    claim: MatrixClaim,
    size: lattice.Size,
    examples: int,
    seed: int,
    outcomes: dict[str, Counter[Outcome]],
) -> Decided | None:
    def violates(subject: Numbers) -> bool:
        outcome = examine(claim, subject).outcome
        outcomes.setdefault(subject.size, Counter())[outcome] += 1
        return outcome is Outcome.VIOLATED

    strategy = lattice.subjects(claim.subject, size)
    try:
        found = find(strategy, violates, settings=search_settings(examples), random=Random(seed))
    except NoSuchExample:
        return None
    return examine(claim, found)
