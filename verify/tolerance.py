r"""The one place where closeness of floating-point numbers is defined.

Two sides that agree in exact arithmetic differ in floating point by at most a modest multiple of

.. math:: u \cdot (\text{condition} \cdot \text{size})

with u the unit roundoff.  The factor in brackets is measured, not assumed, in two ways, and the
larger of them counts.

*Twins*: both sides are evaluated again on cases whose batch is multiplied entrywise by
:math:`1 \pm \delta` and whose loss gets the tilt :math:`\delta\langle\pm g, z\rangle`.  A backward
stable evaluation gives the exact answer for such a perturbed case with :math:`\delta` a few u, so
the change over :math:`\delta` is what the inputs' last bits decide: a large offset (entries of size
:math:`|\mu|` carry errors of :math:`u|\mu|`), cancellation in the gradient.
:math:`\delta = 2^{-36}` is far above u, so that rounding does not blur the measurement, and below
the reciprocal of the largest offset (1e8), so that the change is linear.

*Single precision*: both sides are evaluated in float32 and compared to float64 on the same inputs.
The difference over the unit roundoff of float32 is what intermediate roundings do, also where the
exact answer is zero for every input (m = 2, or an identity such as M gbar = 0) and twins see
nothing.

Constant.  Random signs see the root mean square of the m entries' influences, the worst signs up
to :math:`\sqrt m` times as much; each entry passes through at most 16 roundings on its way through
mean, deviation, square root, quotient and product.  Hence :math:`16\sqrt m`.

A derivative that is itself approximate (a finite difference) brings its own relative error; it is
added, times the degree in which derivatives enter a side (at most :data:`DEGREE`).
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from theory.claim import Relation

UNIT_ROUNDOFF = 2.0**-53
SINGLE_ROUNDOFF = 2.0**-24
TWIN_STEP = 2.0**-36
ROUNDINGS = 16
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
    """Euclidean norm over all axes but the first, which counts instances."""
    return np.sqrt(np.sum(np.square(side.reshape(len(side), -1)), axis=1))


def condition_times_size(side: Array, twins: list[Array], singles: list[Array]) -> Array:
    """How much rounding moves a side, in units of roundoff; at least the side's own norm.

    ``twins`` are the side on perturbed inputs, ``singles`` its differences between float32 and
    float64.  Single precision that overflows or loses the batch's spread says nothing.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        moved = [norm(twin - side) / TWIN_STEP for twin in twins]
        blurred = [np.nan_to_num(norm(s), posinf=0.0) / SINGLE_ROUNDOFF for s in singles]
    return np.max([norm(side), *moved, *blurred], axis=0)


def tolerance(
    rounding: Array, m: int, relative_error: Array | float = 0.0, size: Array | float = 0.0
) -> Array:
    """Largest difference that rounding and approximate derivatives explain.

    ``rounding`` is the sum of both sides' :func:`condition_times_size`, ``relative_error`` the
    derivatives' own and ``size`` the sum of both sides' norms.
    """
    return ROUNDINGS * np.sqrt(m) * UNIT_ROUNDOFF * rounding + DEGREE * relative_error * size


def judge(actual: Array, claimed: Array, relation: Relation, allowed: Array) -> list[Outcome]:
    """Return the outcome of each instance, given the difference that rounding explains."""
    if relation is Relation.EQUAL:
        excess, ties_decide = norm(actual - claimed), True
    else:
        sign = -1 if relation in (Relation.AT_LEAST, Relation.MORE_THAN) else 1
        excess = sign * (actual - claimed).reshape(len(actual))
        ties_decide = relation in (Relation.AT_MOST, Relation.AT_LEAST)
    size = np.maximum(norm(actual), norm(claimed))
    blurred = (allowed > ILL_CONDITIONED * UNIT_ROUNDOFF * size) & (size > allowed)
    violated = excess > allowed
    undecided = ~np.isfinite(excess) | (~violated & (blurred | (~ties_decide & (excess > -allowed))))
    return [
        Outcome.UNDECIDED if u else Outcome.VIOLATED if v else Outcome.HOLDS
        for u, v in zip(undecided, violated, strict=True)
    ]


def ratio(actual: Array, claimed: Array, relation: Relation, allowed: Array) -> Array:
    """Actual over claimed where the claimed side is positive and above rounding, else NaN."""
    if relation is Relation.EQUAL:
        top, bottom = norm(actual), norm(claimed)
    else:
        top, bottom = actual.reshape(len(actual)), claimed.reshape(len(claimed))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom > allowed, top / bottom, np.nan)
