"""What a numerical witness found on a group of instances."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from verify.tolerance import Array, Outcome


@dataclass
class Instances:
    """Outcomes, ratios of the sides, and both sides (or their norms), one an instance."""

    outcomes: list[Outcome]
    ratios: Array
    actual: Array
    claimed: Array
    tokens: list[str] = field(default_factory=list)
    strata: list[str] = field(default_factory=list)
    m: int = 0
    """The batch length, one for the group."""

    def worst(self) -> int | None:
        """Index of the instance whose ratio is largest among those that decided something.

        A violation outranks any ratio; None where no instance has one.
        """
        violated = np.array([o is Outcome.VIOLATED for o in self.outcomes])
        decided = violated | np.array([o is Outcome.HOLDS for o in self.outcomes])
        if not decided.any():
            return None
        lowest = np.finfo(np.float64).min
        ratios = np.nan_to_num(self.ratios, nan=lowest, neginf=lowest)
        return int(np.argmax(np.where(violated if violated.any() else decided, ratios, -np.inf)))
