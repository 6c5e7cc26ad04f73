"""How hard to look, from which seed, and where to run."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

DEFAULT_EVIDENCE = Path("evidence")
"""The folder that evidence goes to and is read from, unless another is named."""


@dataclass(frozen=True)
class Budget:
    """How hard to look."""

    random: int
    """Random cases of every stratum for the autograd witness."""
    differences: int
    """Random cases of every stratum for finite differences and complex steps."""
    examples: int
    """Cases of small integers for every batch length."""
    restarts: int
    """Starts of the gradient ascent."""
    steps: int
    """Steps of the gradient ascent."""
    sizes: tuple[int, ...]
    """Batch lengths of the symbolic proofs."""
    stages: tuple[str, ...]
    """Stages of training at which the networks are examined."""


STAGES = ("initial", "midway", "trained")
"""Of training: before the first step; after ``Recipe.midway`` epochs; after all of them."""
NOTHING = Budget(0, 0, 0, 0, 0, (), ())
PROFILES = {
    "smoke": Budget(4, 1, 60, 8, 15, (2,), ("trained",)),
    "default": Budget(20, 1, 60, 8, 30, (1, 2, 3, 4), STAGES),
    "deep": Budget(1000, 20, 400, 64, 300, (1, 2, 3, 4), STAGES),
}


@dataclass(frozen=True)
class Floor:
    """What supports a statement that nothing proves, in every profile."""

    instances: int
    """So many are decided, by all witnesses together, or more;"""
    strata: int
    """they are of so many named strata, or more."""


FLOOR = Floor(instances=200, strata=5)
FLOOR_OF_EXPECTATIONS = Floor(instances=40, strata=5)
"""Of an expectation an instance is a law at one size, measured on dozens of matrices."""


@dataclass(frozen=True)
class Settings:
    """A budget and where to run."""

    budget: Budget
    seed: int = 0
    backend: str = "numpy"
    device: str = ""
    cache: Path | None = None
    claims: str = ""
    """Whose statements are examined, as :mod:`verify.others` finds them; the papers' if empty."""

    def only(self, read: Collection[str]) -> Settings:
        """Return what has these of the settings and of the budget, and zeros in place of others.

        Where the networks are kept and whose statements are examined stays: both are addresses.
        """
        of_budget = {name: getattr(self.budget, name) for name in BUDGET if name in read}
        of_these: dict[str, Any] = {name: getattr(self, name) for name in WHERE if name in read}
        budget = replace(NOTHING, **of_budget)
        return Settings(budget, **of_these, cache=self.cache, claims=self.claims)


WHERE = ("seed", "backend", "device")
BUDGET = tuple(field.name for field in fields(Budget))
READ = (*WHERE, *BUDGET)
"""All that a witness may read, but for where the networks are kept and whose the statements are."""


class TrainingError(RuntimeError):
    """Training ended without the accuracy that it should reach."""
