r"""The one place where closeness of floating-point numbers is defined.

Here for arrays that the suite draws; :mod:`verify.tolerance.measured` has what is known of the
units of a network that somebody else computed.

Two sides that agree in exact arithmetic differ in floating point by at most a modest multiple of

.. math:: u \cdot (\text{condition} \cdot \text{size})

with u the unit roundoff.  The factor in brackets is measured, not assumed: both sides are
evaluated again a few times in *random arithmetic*, where the inputs and the result of every
operation are multiplied by :math:`1 + \delta\xi`, :math:`|\xi| \le 1` random, and a matrix whose
eigenvalues are asked for is moved by a part of its largest entry
(:mod:`verify.witnesses.random_arithmetic`).  The change over :math:`\delta` is what errors of one
unit in every operation do: a large offset (entries of size :math:`|\mu|` carry errors of
:math:`u|\mu|`), cancellation in the gradient, and also what is left of an answer that is zero in
exact arithmetic (m = 2, or an identity such as M gbar = 0).

Constants.  :math:`\delta = 2^{-36}` is far above u, so that true rounding does not blur the
measurement, and below the reciprocal of the largest offset (1e8), so that the change is linear.
A sum of m terms rounds up to :math:`\log_2 m` times for each entry where random arithmetic
perturbs once.  :data:`SAFETY` covers that a few random samples may all be smaller than the one
rounding that happened: three samples all below a sixteenth of it have a chance of about
:math:`16^{-3}`, and of :math:`100^{-3}` below a hundredth.

A derivative that is itself approximate (a finite difference) brings its own relative error; it is
added, times the degree in which derivatives enter a side (at most :data:`DEGREE`).  That is its
effect where the side changes linearly.  The square of what vanishes changes with the square of an
error, e / :math:`\delta` times as much as its change by :math:`\delta` lets expect, and with the
square of the random numbers that measured this: where all are an eighth of what they might be, it
is a sixty-fourth, :data:`SAFETY`.  What only that explains is neither a violation nor none.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory.claim import Relation

UNIT_ROUNDOFF = 2.0**-53
STEP = 2.0**-36
SAMPLES = 3
SAFETY = 64
DEGREE = 4
ILL_CONDITIONED = 2.0**26
"""Beyond this condition half of the digits are gone and a case decides nothing."""

Array = NDArray[np.float64]


class Outcome(StrEnum):
    """What one instance says of a claim."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNDECIDED = "undecided"
    VACUOUS = "vacuous"


def norm(side: Array) -> Array:
    """Euclidean norm over all axes but the first, which counts instances; infinite if too large."""
    with np.errstate(over="ignore"):
        return np.sqrt(np.sum(np.square(in_floats(side).reshape(len(side), -1)), axis=1))


def in_floats(side: Array) -> Array:
    """Return a side in floats: what speaks of whole numbers alone may be of fractions."""
    return np.asarray(side, dtype=np.float64)


def scalar(side: Array) -> Array:
    """The side itself, or its norm where it is a vector."""
    return in_floats(side[:, 0]) if side.shape[1] == 1 else norm(side)


def condition_times_size(side: Array, samples: list[Array]) -> Array:
    """How much errors of one unit move a side; at least its own norm."""
    with np.errstate(invalid="ignore"):  # a side that is not finite decides nothing
        return np.max([norm(side), *(norm(sample - side) / STEP for sample in samples)], axis=0)


def tolerance(
    rounding: Array, m: int, relative_error: Array | float = 0.0, size: Array | float = 0.0
) -> Array:
    """Largest difference that rounding and approximate derivatives explain.

    ``rounding`` is the sum of both sides' :func:`condition_times_size`, ``relative_error`` the
    derivatives' own and ``size`` the sum of both sides' norms.
    """
    with np.errstate(invalid="ignore"):  # a side that is not finite decides nothing
        return factor(m) * UNIT_ROUNDOFF * rounding + DEGREE * relative_error * size


def factor(m: Any) -> Any:
    r""":math:`64(1 + \log_2 m)`, what m numbers that are added up may add to a measured change."""
    return SAFETY * (1 + np.log2(m))


def judge(actual: Array, claimed: Array, relation: Relation, allowed: Array) -> list[Outcome]:
    """Return the outcome of each instance, given the difference that rounding explains.

    What is not finite decides nothing.
    """
    actual, claimed = in_floats(actual), in_floats(claimed)
    with np.errstate(invalid="ignore"):
        slack = relation.slack(actual, claimed)
    excess = norm(slack) if relation is Relation.EQUAL else -slack.reshape(len(actual))
    size = np.maximum(norm(actual), norm(claimed))
    return outcomes(excess, allowed, size, relation.is_strict, ILL_CONDITIONED * UNIT_ROUNDOFF)


def outcomes(
    excess: Array, allowed: Array, size: Array, is_strict: bool, blurred: float
) -> list[Outcome]:
    """Return the outcome of each instance.

    Args:
        excess: by how much the relation fails; negative where there is room.
        allowed: the excess that rounding explains.
        size: of the larger side.
        is_strict: whether the relation fails where the excess is zero.
        blurred: the part of the size beyond which what rounding explains decides nothing.
    """
    violated = excess > allowed
    unclear = (allowed > blurred * size) & (size > allowed)
    undecided = ~(np.isfinite(excess) & np.isfinite(allowed)) | (
        ~violated & (unclear | (is_strict & (excess > -allowed)))
    )
    return [
        Outcome.UNDECIDED if u else Outcome.VIOLATED if v else Outcome.HOLDS
        for u, v in zip(undecided, violated, strict=True)
    ]


def judge_approximate(
    actual: Array, claimed: Array, relation: Relation, m: int, size: Array, relative_error: Array
) -> list[Outcome]:
    """Return the outcome of each instance whose derivatives have an error of their own.

    Args:
        actual: one side, as the other with a leading axis that counts instances.
        claimed: the other.
        relation: of the two.
        m: how many numbers are added up.
        size: the sum of both sides' :func:`condition_times_size`.
        relative_error: the derivatives', of each instance.
    """
    by_rounding = judge(actual, claimed, relation, tolerance(size, m))
    if not np.any(relative_error):
        return by_rounding
    linear, squared = (
        judge(actual, claimed, relation, tolerance(size, m, error, size))
        for error in (
            relative_error,
            relative_error * np.maximum(1, SAFETY * relative_error / STEP),
        )
    )
    return [
        Outcome.UNDECIDED
        if best is Outcome.UNDECIDED or (one is Outcome.VIOLATED and other is not one)
        else one
        for best, one, other in zip(by_rounding, linear, squared, strict=True)
    ]


def stands(value: Array, relation: Relation, allowed: Array) -> NDArray[np.bool_]:
    """Return which values stand in the relation to zero, given what rounding explains.

    What is strict stands only where rounding cannot explain it, anything else wherever it can.
    """
    value = in_floats(value)
    if relation is Relation.EQUAL:
        return np.abs(value) <= allowed
    margin = allowed if relation.is_strict else -allowed
    return np.asarray(relation.compare(value, margin if relation.bounds_below else -margin))


def ratio_in_words(relation: Relation) -> str:
    """Return what a ratio is of."""
    return "/".join(relation.in_order("actual", "claimed"))


def ratio(actual: Array, claimed: Array, relation: Relation, allowed: Array) -> Array:
    """Actual over claimed, of a lower bound claimed over actual: above one a bound fails.

    NaN where the side below is not positive and above rounding, and where a bound is zero.
    """
    if relation is Relation.EQUAL:
        sides = norm(actual), norm(claimed)
    else:
        sides = in_floats(actual).reshape(len(actual)), in_floats(claimed).reshape(len(claimed))
    top, bottom = relation.in_order(*sides)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((bottom > allowed) & (sides[1] != 0), top / bottom, np.nan)
