"""Measure the expectations that a claim compares, for every law, at growing sizes.

The claim holds at a law and a size where the whole interval respects the bound, is violated where
the exact lower limit exceeds it, or Student's interval does, which refutes nothing, and else
undecided; :mod:`verify.witnesses.expectations.means` says what is exact.  Where the statement says
by which bounds of both means it fails, these are the counterexample.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan

import numpy as np

from theory.expectation_claim import Drawn, ExpectationClaim
from theory.statement import Sides
from verify.grouping import grouped
from verify.record import Record
from verify.results import Counterexample, in_words
from verify.settings import Settings
from verify.subjects.laws import LAWS, Entries, admits
from verify.tolerance import Array, Outcome
from verify.witnesses.expectations import exact, means
from verify.witnesses.instances import Instances
from verify.witnesses.records import record

WITNESS = "monte carlo"
SIZES = (
    *((1, 1), (1, 3), (4, 4), (10, 5), (1, 150), (150, 1), (2, 150), (4, 150), (150, 4)),
    *((25, 25), (8, 150), (150, 8), (15, 150), (150, 15), (50, 150), (100, 100)),
    *((150, 150), (400, 100), (200, 200), (400, 400)),
)
"""(N, n), in ascending order of N n."""
AREAS = {4: 100**2, 20: 150**2, 1000: 400**2}
"""The largest N n, by the number of random cases of a profile."""
DRAWS = ((20, 4096), (200, 512), (100**2, 120), (150**2, 60), (400**2, 40))
"""How many matrices for N n up to a number: of small ones so many that a factor of 3/2 is seen."""
FEW, FAR = 4, 20
"""How many matrices tell how a side grows, and from which power of two on."""
SAID = f"1 - {means.RISK:.0e}".replace("e-0", "e-")


@dataclass(frozen=True)
class Measured:
    """What was found for one law at one size."""

    entries: Entries
    outcome: Outcome
    ratio: float = float("nan")
    """(E X / E Y)^(1/k)."""
    low: float = float("nan")
    high: float = float("nan")
    """The limits of the ratio, where it exceeds the bound for certain."""
    bound: float = float("nan")
    is_exact: bool = False
    """Whether the outcome does not rest on Student's interval."""


def examine(claims: Sequence[ExpectationClaim], settings: Settings) -> Iterator[Record]:
    """Examine every law at sizes in ascending order, until a size where a claim is violated.

    The claims are measured on the same matrices.
    """
    found: dict[str, list[Measured]] = {claim.id: [] for claim in claims}
    failing = {claim.id: exact.counterexample(claim, settings.seed) for claim in claims}
    standing = list(claims)
    for N, n in sizes(settings):
        for name in LAWS:
            here = measure(standing, Entries(name, LAWS[name], N, n), settings.seed)
            for claim, measured in zip(standing, here, strict=True):
                found[claim.id].append(measured)
        standing = [claim for claim in standing if not _refuting(found[claim.id])]
    for claim in claims:
        yield summed_up(claim, found[claim.id], failing[claim.id])


def _refuting(found: list[Measured]) -> list[Measured]:
    return [m for m in found if m.outcome is Outcome.VIOLATED and m.is_exact]


def sizes(settings: Settings) -> list[tuple[int, int]]:
    """Return the sizes that a profile allows."""
    largest = max(area for count, area in AREAS.items() if count <= max(settings.budget.random, 4))
    return [size for size in SIZES if np.prod(size) <= largest]


def measure(
    claims: Sequence[ExpectationClaim], entries: Entries, seed: int = 0, count: int | None = None
) -> list[Measured]:
    """Measure one law at one size, on the same matrices for all claims.

    Outside of a statement are laws that its hypotheses exclude, those for which its bound is
    infinite, and those for which a matrix was drawn where a side divides by zero, such as the
    deviation of a constant column.
    """
    admitted = [admits(claim, entries) for claim in claims]
    if not any(admitted):
        return [Measured(entries, Outcome.VACUOUS) for _ in claims]
    drawn = Drawn(entries.matrices(seed, count or _draws(entries)))
    return [
        _measured(claim, entries, drawn) if is_admitted else Measured(entries, Outcome.VACUOUS)
        for claim, is_admitted in zip(claims, admitted, strict=True)
    ]


def _measured(claim: ExpectationClaim, entries: Entries, drawn: Drawn) -> Measured:
    try:
        X, Y = claim.sides_of_each(drawn)
    except ZeroDivisionError:
        return Measured(entries, Outcome.VACUOUS)
    if entries.order < inf and _degree(claim, drawn) >= entries.order:
        return Measured(entries, Outcome.UNDECIDED)  # a side's mean may be infinite
    return _judged(claim, entries, X, Y)


def _degree(claim: ExpectationClaim, drawn: Drawn) -> float:
    """Return the largest power of the entries as which a side grows where they are large."""
    large, larger = (Drawn(drawn.G[:FEW] * 2.0**power) for power in (FAR, 2 * FAR))
    with np.errstate(all="ignore"):
        grown = np.divide(claim.sides_of_each(larger), claim.sides_of_each(large))
        powers = np.log2(grown[grown > 0]) / FAR
    return round(float(max(powers, default=0)), 6)


def _judged(claim: ExpectationClaim, entries: Entries, X: Array, Y: Array) -> Measured:
    means.refuse_negative(X, Y)
    if not np.isfinite([X, Y]).all() or not np.mean(Y) > 0:
        return Measured(entries, Outcome.UNDECIDED)
    try:
        bound = float(claim.constant(entries))
    except ZeroDivisionError:
        return Measured(entries, Outcome.VACUOUS)
    if bound == inf:  # as a fourth moment may be: then nothing is said
        return Measured(entries, Outcome.VACUOUS)
    if isnan(bound):
        return Measured(entries, Outcome.UNDECIDED)
    ceilings = claim.limits(entries)
    outcome, is_exact = _compared(X, Y, bound, claim.root, ceilings)
    ratio = float(np.mean(X) / np.mean(Y)) ** (1 / claim.root)
    found = Measured(entries, outcome, ratio, bound=bound, is_exact=is_exact)
    if not _refuting([found]):
        return found
    limits = means.lower_limit(X, Y, ceilings.claimed), means.upper_limit(X, Y)
    low, high = (value ** (1 / claim.root) for value in limits)
    return replace(found, low=low, high=high)


def _compared(X: Array, Y: Array, bound: float, root: int, ceilings: Sides) -> tuple[Outcome, bool]:
    """Return whether the root of the means' ratio is at most a bound, and whether for certain."""
    if bound < 0:  # and the ratio is not
        return Outcome.VIOLATED, True
    claimed = bound**root
    is_above = means.exceeds(X, claimed * Y, claimed * ceilings.claimed)
    is_below = means.exceeds(claimed * Y, X, ceilings.actual)
    outcome = Outcome.UNDECIDED
    if is_above or means.seems_below(claimed * Y, X * (1 - means.ROUNDING)):
        outcome = Outcome.VIOLATED
    elif is_below or means.seems_below(X, claimed * Y):
        outcome = Outcome.HOLDS
    return outcome, is_above or is_below


def summed_up(
    claim: ExpectationClaim, found: list[Measured], failing: Counterexample | None = None
) -> Record:
    """Return what the measurements say together, with a counterexample that needs none."""
    decided = [m for m in found if m.outcome in (Outcome.HOLDS, Outcome.VIOLATED)]
    heights = grouped(found, lambda m: m.entries.N).items()
    return replace(
        record(claim, WITNESS, [_instances(N, group) for N, group in heights]),
        worst_token=None,
        sizes=_by_size(found),
        counterexample=failing or _sampled(_refuting(found)),
        notes=_notes(decided),
    )


def _instances(N: int, group: list[Measured]) -> Instances:
    """Return measurements at sizes of one height, a law at a size being an instance."""
    ratios, bounds = np.array([(m.ratio, m.bound) for m in group]).T
    return Instances(
        outcomes=[m.outcome for m in group],
        ratios=ratios / bounds,
        actual=ratios,
        claimed=bounds,
        tokens=[""] * len(group),
        strata=[m.entries.name for m in group],
        m=N,
    )


def _draws(entries: Entries) -> int:
    return next(count for area, count in DRAWS if entries.N * entries.n <= area)


def _by_size(found: list[Measured]) -> dict[str, str]:
    by_size = grouped(found, lambda measured: in_words([measured.entries.size]))
    return {size: _in_words(group) for size, group in by_size.items()}


def _in_words(group: list[Measured]) -> str:
    ratios = [m.ratio for m in group if isfinite(m.ratio)]
    if not ratios:
        return "no law meets the hypotheses"
    fails = sum(m.outcome is Outcome.VIOLATED for m in group)
    said = f"fails for {fails} of" if fails else "no violation in"
    return f"{said} {len(ratios)} laws, ratios {min(ratios):.3g} to {max(ratios):.3g}"


def _sampled(refuting: list[Measured]) -> Counterexample | None:
    """The clearest violation, with its interval; nothing where there is none."""
    if not refuting:
        return None
    worst = max(refuting, key=lambda m: m.low / m.bound)
    middle, radius = (worst.low + worst.high) / 2, (worst.high - worst.low) / 2
    return Counterexample(
        worst.entries.size,
        {},
        actual=f"[{middle:.4g} +/- {radius:.2g}]",
        claimed=f"{worst.bound:.4g}",
        arithmetic=f"measured, confidence {SAID}",
        distribution=worst.entries.name,
    )


def _notes(decided: list[Measured]) -> str:
    if not decided:
        return "no law at any size meets the hypotheses and is decided; says nothing"
    exact = sum(m.is_exact for m in decided)
    inexact = sum(m.outcome is Outcome.VIOLATED for m in decided if not m.is_exact)
    without = (
        f"{inexact} of them violations, which an exact test needs finite ceilings for"
        if inexact
        else "none a violation"
    )
    return (
        f"each at confidence {SAID}: {exact} of {len(decided)} by an exact test, the others,"
        f" {without}, by Student's interval and a median of means, which heavy tails make"
        " optimistic"
    )
