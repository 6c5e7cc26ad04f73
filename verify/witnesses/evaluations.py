"""What a claim is at several subjects, in floats, and what that says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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

    def rows(self, chosen: slice) -> Evaluation:
        """Return what a claim is at some of the subjects."""
        quantities = tuple(quantity[chosen] for quantity in self.quantities)
        errors = tuple(error[chosen] for error in self.errors)
        of_sides = self.actual[chosen], self.claimed[chosen]
        return Evaluation(*of_sides, quantities, self.error[chosen], errors)


def flat(
    claim: Statement, subject: Any, convert: Callable[[Any], Any], broadcast: Any
) -> list[Any]:
    """Return both sides, of one shape, and the hypotheses' quantities, as flat arrays.

    Args:
        claim: the claim.
        subject: what its sides are functions of.
        convert: makes an array of a number or an array.
        broadcast: gives two arrays one shape.
    """
    sides = broadcast(*map(convert, claim.sides(subject)))
    quantities = [convert(h.quantity(subject)) for h in claim.hypotheses]
    return [array.reshape(-1) for array in (*sides, *quantities)]


def nowhere(claim: Statement, count: int = 1) -> Evaluation:
    """Return what a claim is at so many subjects where it is not defined."""
    nothing = np.full((count, 1), np.nan)
    return Evaluation.of(nothing, nothing, *(nothing for _ in claim.hypotheses))


def in_rows(claim: Statement, found: Sequence[Evaluation | None]) -> tuple[Evaluation, Truths]:
    """Return what a claim is at subjects one by one as one evaluation, and where it is defined."""
    defined = np.array([one is not None for one in found])
    known = next((one for one in found if one is not None), nowhere(claim))
    missing = tree_map(lambda array: np.full_like(array, np.nan), known)
    rows = [missing if one is None else one for one in found]
    return tree_map(lambda *arrays: np.concatenate(arrays), *rows), defined


def parted(found: Evaluation, samples: int) -> list[Evaluation]:
    """Return the parts of an evaluation at copies of subjects, all first ones before the second."""
    size = len(found.actual) // samples
    return [found.rows(slice(first, first + size)) for first in range(0, samples * size, size)]


def judged(
    claim: Statement,
    found: Evaluation,
    moved: Sequence[Evaluation],
    defined: Truths,
    count: int,
    m: int,
    unmoved: Evaluation | None = None,
) -> Instances:
    """Judge a claim by how far rounding moves it.

    Args:
        claim: the claim.
        found: what it is at each subject.
        moved: what it is at copies of all subjects, in random arithmetic, once for each copy.
        defined: where it is defined; elsewhere it is vacuous.
        count: how many numbers are added up.
        m: the batch length, for plots.
        unmoved: what it is without the random roundings, if something else found that.
    """
    index = _nearest_to_failing(claim.relation, found)
    base, here, *samples = (_at(index, e) for e in (found, unmoved or found, *moved))
    rounding = rounding_of(here.sides, [sample.sides for sample in samples])
    outcomes = tolerance.judge_approximate(*base.sides, claim.relation, count, rounding, base.error)
    usable = np.max([base.error, *base.errors], axis=0) <= LARGEST_ERROR
    met = _met(claim, base, here, samples, count)
    allowed = tolerance.tolerance(rounding, count, base.error, rounding)
    ratios = tolerance.ratio(*base.sides, claim.relation, allowed)
    return Instances(
        outcomes=[*map(_outcome, outcomes, defined, usable, met)],
        ratios=np.where(defined & met, ratios, np.nan),
        actual=np.where(defined, tolerance.scalar(base.actual), np.nan),
        claimed=np.where(defined, tolerance.scalar(base.claimed), np.nan),
        m=m,
    )


def may_be_violated(relation: Relation, found: Evaluation, count: int) -> bool:
    """Whether :func:`judged` may find a violation, however far rounding moves the sides.

    Errors of one unit move a side by its own size at least, and what that explains is no violation.

    Args:
        relation: of the sides.
        found: what a claim is at each subject.
        count: how many numbers are added up.
    """
    base = _at(_nearest_to_failing(relation, found), found)
    least = tolerance.tolerance(rounding_of(base.sides, []), count)
    return Outcome.VIOLATED in tolerance.judge(*base.sides, relation, least)


def _outcome(outcome: Outcome, is_defined: bool, is_usable: bool, is_met: bool) -> Outcome:
    if not (is_defined and is_met):
        return Outcome.VACUOUS
    return outcome if is_usable else Outcome.UNDECIDED


def rounding_of(base: tuple[Array, ...], samples: Sequence[tuple[Array, ...]]) -> Array:
    """How much errors of one unit move both sides together, which come first in what is given."""
    actual, claimed = (
        tolerance.condition_times_size(base[i], [sample[i] for sample in samples]) for i in (0, 1)
    )
    return actual + claimed


def _nearest_to_failing(relation: Relation, full: Evaluation) -> NDArray[np.intp] | None:
    """Return which entry of an inequality between arrays is to be judged, None for all.

    What fails comes before what is undefined, and that before what holds.
    """
    if relation is Relation.EQUAL or full.actual.shape[1] <= 1:
        return None
    with np.errstate(invalid="ignore"):
        slack = relation.slack(*full.sides)
    return np.asarray(np.argmin(np.where(np.isnan(slack), 0, slack), axis=1)[:, None])


def _at(index: NDArray[np.intp] | None, evaluation: Evaluation) -> Evaluation:
    """Return one entry of the sides at each subject."""
    if index is None:
        return evaluation
    actual, claimed = (np.take_along_axis(side, index, axis=1) for side in evaluation.sides)
    return evaluation._replace(actual=actual, claimed=claimed)


def _met(
    claim: Statement, base: Evaluation, here: Evaluation, samples: Sequence[Evaluation], count: int
) -> Truths:
    """Return where no hypothesis fails, up to rounding where it is an equation or a bound.

    One whose derivatives have lost their digits fails nowhere.
    """
    met = np.ones(len(base.actual), dtype=bool)
    for number, hypothesis in enumerate(claim.hypotheses):
        moved = [sample.quantities[number] for sample in samples]
        rounding = tolerance.condition_times_size(here.quantities[number], moved)
        # Roundings of the entries add up like noise; the entries of a derivative may all err one
        # way, which by Cauchy and Schwarz is a root as much in an inner product with it.
        size = np.sqrt(count) * rounding
        slack = tolerance.tolerance(rounding, count, base.errors[number], size)
        value = base.quantities[number]
        stands = tolerance.stands(value, hypothesis.sign, slack[:, None]).all(axis=1)
        met &= stands | (base.errors[number] > LARGEST_ERROR)
    return met
