"""What a claim is at several subjects, in floats, and what that says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch.utils._pytree import tree_map

from theory.statement import Relation, Statement
from verify import tolerance
from verify.tolerance import Array, Outcome
from verify.witnesses.instances import Instances
from verify.witnesses.stacks import Truths

LARGEST_ERROR = tolerance.ILL_CONDITIONED * tolerance.UNIT_ROUNDOFF
"""Derivatives with a larger relative error have lost half of their digits and decide nothing."""


class Evaluation(NamedTuple):
    """What a claim is at subjects: every array has a row for each."""

    actual: Array
    claimed: Array
    quantities: tuple[Array, ...]
    """Of each hypothesis."""
    error: Array
    """The largest relative error of the derivatives in the sides."""
    errors: tuple[Array, ...]
    """The same of each hypothesis."""

    @classmethod
    def of(cls, actual: Array, claimed: Array, *quantities: Array) -> Evaluation:
        """Return an evaluation in which derivatives are exact but for rounding."""
        exact = np.zeros(len(actual))
        return cls(actual, claimed, quantities, exact, tuple(exact for _ in quantities))

    @property
    def sides(self) -> tuple[Array, Array]:
        """Both sides."""
        return self.actual, self.claimed


def nowhere(claim: Statement) -> Evaluation:
    """Return what a claim is at one subject where it is not defined."""
    nothing = np.full((1, 1), np.nan)
    return Evaluation.of(nothing, nothing, *(nothing for _ in claim.hypotheses))


def in_rows(claim: Statement, found: Sequence[Evaluation | None]) -> tuple[Evaluation, Truths]:
    """Return what a claim is at subjects one by one as one evaluation, and where it is defined."""
    defined = np.array([one is not None for one in found])
    known = next((one for one in found if one is not None), nowhere(claim))
    missing = tree_map(lambda array: np.full_like(array, np.nan), known)
    rows = [missing if one is None else one for one in found]
    return tree_map(lambda *arrays: np.concatenate(arrays), *rows), defined


def judged(
    claim: Statement,
    found: Evaluation,
    moved: Sequence[Evaluation],
    defined: Truths,
    count: int,
    m: int,
) -> Instances:
    """Judge a claim by how far rounding moves it.

    Args:
        claim: the claim.
        found: what it is at each subject.
        moved: what it is at copies of all subjects, in random arithmetic, once for each copy.
        defined: where it is defined; elsewhere it is vacuous.
        count: how many numbers are added up.
        m: the batch length, for plots.
    """
    index = _nearest_to_failing(claim.relation, found)
    base, samples = _at(index, found), [_at(index, sample) for sample in moved]
    rounding = rounding_of(base.sides, [sample.sides for sample in samples])
    outcomes = tolerance.judge_approximate(*base.sides, claim.relation, count, rounding, base.error)
    usable = base.error <= LARGEST_ERROR
    met = defined & _met(claim, base, samples, count)
    allowed = tolerance.tolerance(rounding, count, base.error, rounding)
    ratios = tolerance.ratio(*base.sides, claim.relation, allowed)
    return Instances(
        outcomes=[
            Outcome.VACUOUS if not holds else outcome if decides else Outcome.UNDECIDED
            for outcome, decides, holds in zip(outcomes, usable, met, strict=True)
        ],
        ratios=np.where(met, ratios, np.nan),
        actual=tolerance.scalar(base.actual),
        claimed=tolerance.scalar(base.claimed),
        m=m,
    )


def rounding_of(base: tuple[Array, ...], samples: Sequence[tuple[Array, ...]]) -> Array:
    """How much errors of one unit move both sides together, which come first in what is given."""
    actual, claimed = (
        tolerance.condition_times_size(base[i], [sample[i] for sample in samples]) for i in (0, 1)
    )
    return actual + claimed


def _nearest_to_failing(relation: Relation, full: Evaluation) -> NDArray[np.intp] | None:
    """Return which entry of an inequality between arrays is to be judged, None for all."""
    if relation is Relation.EQUAL or full.actual.shape[1] <= 1:
        return None
    return np.asarray(np.argmin(relation.slack(*full.sides), axis=1)[:, None])


def _at(index: NDArray[np.intp] | None, evaluation: Evaluation) -> Evaluation:
    """Return one entry of the sides at each subject."""
    if index is None:
        return evaluation
    actual, claimed = (np.take_along_axis(side, index, axis=1) for side in evaluation.sides)
    return evaluation._replace(actual=actual, claimed=claimed)


def _met(claim: Statement, base: Evaluation, samples: Sequence[Evaluation], count: int) -> Truths:
    """Return where every hypothesis is met, up to rounding where it is an equation or a bound."""
    met = np.ones(len(base.actual), dtype=bool)
    for number, hypothesis in enumerate(claim.hypotheses):
        value = base.quantities[number]
        rounding = tolerance.condition_times_size(value, [s.quantities[number] for s in samples])
        slack = tolerance.tolerance(rounding, count, base.errors[number], rounding)
        met &= tolerance.stands(value, hypothesis.sign, slack[:, None]).all(axis=1)
    return met
