"""What one witness found of one statement: the value that witnesses give and folders keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from verify.grouping import grouped
from verify.results import Counterexample, Example, Proof, Theorem

Name = tuple[str, str]
"""A statement's identifier and a witness's name."""


@dataclass(frozen=True)
class Record:
    """What one witness found of one claim."""

    claim: str
    witness: str
    instances: int = 0
    violated: int = 0
    undecided: int = 0
    vacuous: int = 0
    worst_ratio: float | None = None
    worst_token: str | None = None
    strata: dict[str, dict[str, int]] = field(default_factory=dict)
    """Instances, violated, undecided and vacuous of each named stratum."""
    sizes: dict[str, str] = field(default_factory=dict)
    """What was found for single batch sizes."""
    proof: Proof | None = None
    counterexample: Counterexample | None = None
    attained: Example | None = None
    """Where the sides of a bound are equal, and not zero, if that is met."""
    theorem: Theorem | None = None
    points: list[dict[str, Any]] = field(default_factory=list)
    """Some instances with both sides, for the plots."""
    notes: str = ""
    unproved: str = ""
    """Why it found no proof, of a witness that seeks one."""
    seconds: float = 0.0
    fingerprint: str = ""
    """Of all that it depends on."""
    commit: str = ""
    """The commit that it was found at."""

    @property
    def name(self) -> Name:
        """Whom it is about, and who found it."""
        return self.claim, self.witness

    @property
    def decided(self) -> int:
        """How many instances the statement says something of, and rounding leaves decided."""
        return self.instances - self.vacuous - self.undecided

    @property
    def decided_strata(self) -> set[str]:
        """The named strata that have such an instance."""
        return {
            name
            for name, met in self.strata.items()
            if met.get("instances", 0) > met.get("vacuous", 0) + met.get("undecided", 0)
        }

    @property
    def decides(self) -> bool:
        """Whether it proves, refutes or measured anything at all."""
        return bool(self.decided or self.proof or self.counterexample or self.theorem)

    @property
    def is_idle(self) -> bool:
        """Whether it looked at instances, and not one of them decides anything."""
        return self.instances > 0 and not self.decides


def by_claim(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records of each statement, by its identifier."""
    return grouped(records, lambda record: record.claim)
