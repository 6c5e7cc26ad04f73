r"""What a witness found of a statement from some seeds, small however many they are.

Counts are added, the worst cases and the counterexamples are kept with their tokens, and of the
sides' ratios there is a histogram whose bins are :math:`2^{1/64}` wide, so that a quantile
is off by 1.1 % at most.  Findings from other seeds are added in any order; one that is known
already changes nothing, so that what ran twice counts once.

>>> one, other = (of_record(Record("c", "w", instances=3, worst_ratio=0.5 + s), s) for s in (0, 1))
>>> both = one.plus(other)
>>> both.instances, both.seeds, both.worst[0].ratio
(6, ((0, 2),), 1.5)
>>> both.plus(one) == both
True
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from math import inf, log2
from typing import Any

from theory.claim import Relation
from verify.record import Name, Record
from verify.results import Counterexample

Intervals = tuple[tuple[int, int], ...]
"""Half-open, ascending, apart."""

KEPT = 20
"""So many of the worst cases are kept, and so many of the counterexamples."""
BINS = 64
"""Of the histogram, for each factor of two."""
FARTHEST = 40 * BINS
"""The last bins have all that is more than 2^40 from one."""


class OverlapError(ValueError):
    """Two findings have some seeds in common, but not all of one of them."""


@dataclass(frozen=True)
class Worst:
    """An instance as bad as any, the ratio of its sides, and the seed that it came from."""

    ratio: float
    seed: int
    token: str = ""
    counterexample: Counterexample | None = None


@dataclass(frozen=True)
class Finding:
    """What one witness found of one statement from some seeds."""

    claim: str
    witness: str
    seeds: Intervals
    instances: int = 0
    violated: int = 0
    undecided: int = 0
    vacuous: int = 0
    strata: dict[str, dict[str, int]] = field(default_factory=dict)
    ratios: dict[int, int] = field(default_factory=dict)
    """How many of the points that records keep have a ratio in each bin."""
    largest: dict[str, float] = field(default_factory=dict)
    """The largest ratio of these points in each stratum."""
    worst: tuple[Worst, ...] = ()
    """Those with the largest ratios, of which a seed has one."""
    violations: tuple[Worst, ...] = ()
    """Violations of the lowest seeds, one a seed."""
    violating_seeds: int = 0
    seconds: float = 0.0
    fingerprint: str = ""
    """Of all that it depends on but the seed."""

    @property
    def name(self) -> Name:
        """Whom it is about, and who found it."""
        return self.claim, self.witness

    def has(self, seed: int) -> bool:
        """Return whether a seed is among those that were examined."""
        return _has(self.seeds, seed)

    def plus(self, other: Finding) -> Finding:
        """Return what both say; what is known already is not added again.

        Raises:
            ValueError: they are of another statement, witness or fingerprint.
            OverlapError: they have some seeds in common, but neither has all of the other's.
        """
        if (self.name, self.fingerprint) != (other.name, other.fingerprint):
            raise ValueError(f"{self.name} and {other.name} are not findings of the same")
        small, large = sorted((self, other), key=lambda finding: count(finding.seeds))
        together = union(small.seeds, large.seeds)
        if together == large.seeds:
            return large
        if count(together) < count(small.seeds) + count(large.seeds):
            raise OverlapError(
                f"{self.name} was examined from the seeds {written(self.seeds)} and "
                f"{written(other.seeds)}, which overlap; expected seeds apart"
            )
        return replace(
            large,
            seeds=together,
            strata=_added_tables(large.strata, small.strata),
            ratios=_added(large.ratios, small.ratios),
            largest=_maxima((*large.largest.items(), *small.largest.items())),
            worst=_largest(large.worst + small.worst),
            violations=tuple(
                nsmallest(KEPT, large.violations + small.violations, key=lambda w: w.seed)
            ),
            **{name: getattr(large, name) + getattr(small, name) for name in ADDED},
        )

    def quantile(self, share: float) -> float | None:
        """Return the ratio that this share of the points does not exceed; None without points."""
        passed, total = 0, sum(self.ratios.values())
        for number, many in sorted(self.ratios.items()):
            passed += many
            if passed >= share * total:
                return min(2.0 ** (number / BINS), self.worst[0].ratio)
        return None


ADDED = ("instances", "violated", "undecided", "vacuous", "violating_seeds", "seconds")


def of_record(record: Record, seed: int, relation: Relation = Relation.AT_MOST) -> Finding:
    """Return what a record says of a statement with this relation, found from a seed."""
    ratio = record.worst_ratio
    met = Worst(-inf if ratio is None else ratio, seed, record.worst_token or "")
    violation = replace(met, ratio=0.0 if ratio is None else ratio)
    violation = replace(violation, counterexample=record.counterexample)
    points = list(_ratios(record, relation))
    is_violated = record.violated > 0 or record.counterexample is not None
    return Finding(
        record.claim,
        record.witness,
        ((seed, seed + 1),),
        record.instances,
        record.violated,
        record.undecided,
        record.vacuous,
        record.strata,
        dict(Counter(-FARTHEST if r <= 0 else _bin(log2(r)) for _, r in points)),
        _maxima(points),
        () if ratio is None else (met,),
        (violation,) if is_violated else (),
        int(is_violated),
        record.seconds,
    )


def union(one: Intervals, other: Intervals) -> Intervals:
    """Return the seeds of both.

    >>> union(((0, 2), (5, 6)), ((2, 4),))
    ((0, 4), (5, 6))
    """
    found: list[tuple[int, int]] = []
    for start, stop in sorted((*one, *other)):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(stop, found[-1][1]))
        else:
            found.append((start, stop))
    return tuple(found)


def count(seeds: Intervals) -> int:
    """Return how many seeds there are."""
    return sum(stop - start for start, stop in seeds)


def written(seeds: Intervals) -> str:
    """Return the seeds as the command line takes them."""
    return ", ".join(f"{start}:{stop}" for start, stop in seeds)


def _has(seeds: Intervals, seed: int) -> bool:
    at = bisect_right(seeds, (seed, inf)) - 1
    return at >= 0 and seed < seeds[at][1]


def _ratios(record: Record, relation: Relation) -> Iterator[tuple[str, float]]:
    """Yield stratum and ratio of a record's points, but of those that are lost in rounding.

    Theirs, of a side below that is, may be above the largest ratio that counts.
    """
    for point in record.points:
        top, bottom = relation.in_order(point["actual"], point["claimed"])
        if bottom > 0 and top <= (record.worst_ratio or 0.0) * bottom:
            yield point["stratum"], top / bottom


def _maxima(ratios: Iterable[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, ratio in ratios:
        found[name] = max(ratio, found.get(name, ratio))
    return found


def _bin(doublings: float) -> int:
    return max(-FARTHEST, min(FARTHEST, round(BINS * doublings)))


def _largest(cases: Iterable[Worst]) -> tuple[Worst, ...]:
    return tuple(nsmallest(KEPT, cases, key=lambda worst: (-worst.ratio, worst.seed)))


def _added(one: Mapping[Any, int], other: Mapping[Any, int]) -> dict[Any, int]:
    return dict(Counter(one) + Counter(other))


def _added_tables(
    one: Mapping[str, Mapping[str, int]], other: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    return {
        name: _added(one.get(name, {}), other.get(name, {}))
        for name in dict.fromkeys([*one, *other])
    }
