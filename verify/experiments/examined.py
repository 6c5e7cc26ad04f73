"""What the statements that were examined along a run add up to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from theory.statement import Verdict
from verify.grouping import grouped

KEY = "theorems"
"""Under this, wherever it stands in the numbers, are results of :func:`theorems.examine`."""


@dataclass(frozen=True)
class Examined:
    """One statement over all layers and checkpoints of a run."""

    claim: str
    expected: Verdict
    instances: int
    violated: int
    undecided: int
    vacuous: int
    worst_ratio: float | None
    """The largest ratio of the sides; None where there is none."""

    @property
    def decided(self) -> int:
        """How many instances the statement says something of, and rounding leaves decided."""
        return self.instances - self.undecided - self.vacuous

    @property
    def is_unexpected(self) -> bool:
        """Whether something that is right was seen violated."""
        return self.violated > 0 and self.expected is not Verdict.REFUTED


def examined(pieces: Mapping[str, Any]) -> list[Examined]:
    """Return each statement that was examined anywhere in the numbers, in the order met."""
    found = grouped(_results(pieces, is_within=False), lambda one: one["claim"])
    return [_summed(claim, results) for claim, results in found.items()]


def _summed(claim: str, results: Sequence[Mapping[str, Any]]) -> Examined:
    counts = {name: sum(r[name] for r in results) for name in COUNTS}
    ratios = [r["worst_ratio"] for r in results if r["worst_ratio"] is not None]
    worst = max(ratios, default=None)
    return Examined(claim=claim, expected=_expected(claim), worst_ratio=worst, **counts)


def _results(numbers: object, is_within: bool) -> Iterator[Mapping[str, Any]]:
    if isinstance(numbers, Mapping):
        if is_within and numbers.keys() >= RESULT:
            yield numbers
            return
        for key, part in numbers.items():
            yield from _results(part, is_within or key == KEY)
    elif isinstance(numbers, list):
        for part in numbers:
            yield from _results(part, is_within)


@cache
def _every_expectation() -> dict[str, Verdict]:
    from verify.engine import CLAIMS

    return {claim.id: claim.expected for claim in CLAIMS}


def _expected(claim: str) -> Verdict:
    return _every_expectation().get(claim, Verdict.NOT_RUN)


COUNTS = ("instances", "violated", "undecided", "vacuous")
RESULT = {"claim", "worst_ratio", *COUNTS}
