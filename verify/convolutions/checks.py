r"""What one statement amounts to at one layer: a number, what rounding explains, an outcome.

Closeness is that of :mod:`verify.tolerance`: u times the condition times the size, where the
condition is either measured by perturbing every factor (:func:`equal_vectors`) or known to be one
(:func:`close`, :func:`at_most`): sums of terms of one sign, compared with the same sum of absolute
values.  The two sides sum the same terms in different orders, so both have the claimed side's
condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from theory.claim import Relation
from verify import tolerance
from verify.tolerance import Array, Outcome

PER_SAMPLE = "a loss of each example"
LATER_BLOCKS = "a later batch norm, S in blocks"
LATER_WHOLE = "a later batch norm, S whole"
"""Readings of Proposition 9."""


@dataclass(frozen=True)
class Check:
    """One reading of a statement at one layer."""

    statement: str
    """The paper's statement, by identifier."""
    reading: str
    value: float | None
    """The relative error of an equality, or actual over claimed; None where claimed is zero."""
    allowed: float | None
    """The largest value at which the statement holds here."""
    outcome: Outcome
    expected: Outcome = Outcome.HOLDS

    def __post_init__(self) -> None:
        """Leave out what is not finite."""
        for name in ("value", "allowed"):
            number = getattr(self, name)
            if number is not None and not isfinite(number):
                object.__setattr__(self, name, None)

    @property
    def is_unexpected(self) -> bool:
        """Whether it came out otherwise, or nothing was decided since numbers are not finite."""
        if self.outcome is Outcome.UNDECIDED:
            return self.value is None
        return self.outcome not in (self.expected, Outcome.VACUOUS)


def equal_vectors(
    actual: Array, claimed: Array, samples: Sequence[Array], terms: int
) -> tuple[float, float, Outcome]:
    """Compare vectors ``(direction, entry)``; return relative error, allowed and outcome.

    Args:
        actual: by autograd.
        claimed: by the closed form.
        samples: the closed form again, its factors perturbed by :data:`verify.tolerance.STEP`.
        terms: how many terms the longest sum has.
    """
    rounding = 2 * tolerance.condition_times_size(claimed, list(samples))
    allowed = tolerance.tolerance(rounding, terms)
    outcomes = tolerance.judge(actual, claimed, Relation.EQUAL, allowed)
    size = tolerance.norm(claimed)
    errors, relative = tolerance.norm(actual - claimed) / size, allowed / size
    outcome = gravest(outcomes)
    of_that = np.array([one is outcome for one in outcomes])
    worst = int(np.argmax(np.where(of_that, errors / relative, -np.inf)))
    return float(errors[worst]), float(relative[worst]), outcome


def gravest(outcomes: Iterable[Outcome]) -> Outcome:
    """Return what becomes of a whole check: violated if it is so anywhere, holds if all do.

    >>> str(gravest([Outcome.UNDECIDED, Outcome.VIOLATED, Outcome.HOLDS]))
    'violated'
    """
    found = set(outcomes)
    order = (Outcome.VIOLATED, Outcome.UNDECIDED, Outcome.HOLDS)
    return next(outcome for outcome in order if outcome in found)


def close(actual: Array, claimed: Array, size: Array, terms: int) -> tuple[float, float, Outcome]:
    """Compare entry by entry, relative to ``size``: sums of ``terms`` absolute values."""
    errors = np.abs(actual - claimed) / size
    error = float(np.max(errors))
    allowed = float(tolerance.tolerance(np.asarray(2.0), terms))
    if (errors > allowed).any():
        return float(np.nanmax(errors)), allowed, Outcome.VIOLATED
    return error, allowed, Outcome.HOLDS if error <= allowed else Outcome.UNDECIDED


def at_most(
    actual: Array, claimed: Array, size: Array, terms: int
) -> tuple[float | None, float, Outcome]:
    """Compare entries with bounds; return the worst ratio, 1, and the outcome.

    ``size`` bounds the sums of absolute values that ``actual`` is a difference of.
    """
    actual, claimed, size = (x.reshape(-1, 1) for x in np.broadcast_arrays(actual, claimed, size))
    allowed = tolerance.tolerance(2 * size[:, 0], terms)
    outcomes = tolerance.judge(actual, claimed, Relation.AT_MOST, allowed)
    ratios = tolerance.ratio(actual, claimed, Relation.AT_MOST, allowed)
    outcome = gravest(outcomes)
    is_finite = np.isfinite(actual).all() and np.isfinite(claimed).all()
    if np.all(np.isnan(ratios)) or (outcome is Outcome.UNDECIDED and not is_finite):
        return None, 1.0, outcome
    return float(np.nanmax(ratios)), 1.0, outcome
