r"""Comparing the means of two variables, neither of them negative, from independent draws.

*Exact*, for any law.  Let :math:`X, Y \ge 0` and :math:`Y \le B`.  If
:math:`\mathbb{E} X \le c\, \mathbb{E} Y`, then for every :math:`f \in [0, 1]` each factor of

.. math:: \prod_i \left(1 + f\, \frac{X_i - c Y_i}{c B}\right)

is non-negative and has mean at most 1, and so has the product, and the average of such products
over several f.  By Markov's inequality the average exceeds :math:`10^6` with probability at most
:math:`10^{-6}`: where it does, :math:`\mathbb{E} X > c\, \mathbb{E} Y` with that confidence.  X
need not be bounded, so heavy tails do no harm.  (Betting: Waudby-Smith and Ramdas 2024, "Estimating
means of bounded random variables by betting", of which this is the plainest form.)

*Approximate*.  Where X has no bound, no such test can say that :math:`\mathbb{E} X` is small: rare
large values may not have been seen.  There Student's interval of :math:`X - cY` must lie below zero
at the same level, and a median of means too.  Heavy tails make the first optimistic, and the
second, which one large value does not move, is too low where they are on one side.
"""

from __future__ import annotations

from functools import cache
from math import log

import numpy as np
from scipy import optimize, stats

from verify.tolerance import Array

RISK = 1e-6
STAKES = np.linspace(0.05, 1, 20)
BLOCKS = 8
ROUNDING = 1e-9


def exceeds(larger: Array, smaller: Array, ceiling: float) -> bool:
    """Whether the mean of one variable exceeds that of another, never above ``ceiling``: exact.

    Raises:
        ValueError: a draw contradicts what the test needs.
    """
    if not 0 < ceiling < np.inf:
        return False
    refuse_negative(larger, smaller)
    if np.max(smaller) > ceiling * (1 + ROUNDING):
        raise ValueError(
            f"expected draws from below {ceiling}; got {np.max(smaller)}: correct the claim's"
            " ceilings"
        )
    gains = STAKES[:, None] * ((larger - smaller) / ceiling)
    with np.errstate(divide="ignore"):
        wealth = np.logaddexp.reduce(np.sum(np.log1p(np.maximum(gains, -1.0)), axis=1))
    return bool(wealth - log(len(STAKES)) > -log(RISK))


def refuse_negative(*sides: Array) -> None:
    """Refuse variables of which one has been negative, by more than rounding of the larger.

    Raises:
        ValueError: a draw is.
    """
    if np.min(sides) < -ROUNDING * np.max(np.abs(sides)):
        raise ValueError(
            f"of one draw a side is {np.min(sides)}; means of what may be negative are not"
            " compared: write the statement of a square or an absolute value"
        )


def lower_limit(X: Array, Y: Array, ceiling: float) -> float:
    """The largest c for which E X > c E Y is certain enough; Y never exceeds ``ceiling``: exact."""
    top = 2 * max(float(np.max(X)), 0.0) / float(np.mean(Y))

    def side(c: float) -> float:
        return 1.0 if c == 0 or exceeds(X, c * Y, c * ceiling) else -1.0

    if top == 0 or not np.isfinite(ceiling):
        return 0.0
    return 0.0 if side(top) > 0 else float(optimize.bisect(side, 0, top, rtol=1e-6))


def upper_limit(X: Array, Y: Array) -> float:
    """E X / E Y and Student's quantile of its standard errors: approximate."""
    ratio = float(np.mean(X) / np.mean(Y))
    spread = standard_error(X - ratio * Y) / float(np.mean(Y))
    return ratio + quantile(len(X)) * spread


def seems_below(X: Array, bound: Array) -> bool:
    """Whether Student's interval and the median of means of X - bound lie below zero."""
    difference = X - bound
    student = np.mean(difference) + quantile(len(X)) * standard_error(difference)
    return bool(student <= 0 and median_of_means(difference) <= 0)


@cache
def quantile(draws: int) -> float:
    """Student's quantile, how many standard errors a mean of draws is off at most: approximate."""
    return float(stats.t.isf(RISK, draws - 1))


def standard_error(values: Array) -> float:
    """The standard error of the mean of values."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))


def median_of_means(values: Array) -> float:
    """The median of the means of blocks, in the order of the draws."""
    return float(np.median([np.mean(block) for block in np.array_split(values, BLOCKS)]))
