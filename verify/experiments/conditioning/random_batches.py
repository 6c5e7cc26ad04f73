r"""Does centring improve the condition number of random inputs, wide and tall?  A piece of its own.

Theorem 4 says :math:`\kappa(\hat H U) \le \kappa(\hat H)` where :math:`\hat H`, ``(N, n + 1)``, has
full column rank.  With the paper's batches of N = 60 and n = 100 it cannot have, and :math:`\kappa`
is over the nonzero singular values; there centring can hurt.

Index convention: H is ``(N, n)``; its columns have means of 1/100 to 3 deviations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from theory import preconditioning

SIZES = ((2, 8), (4, 8), (9, 8), (60, 100), (101, 100), (240, 100))
"""N and n: small ones and the paper's, each wide, just tall enough for Theorem 4, and taller."""

LAWS = ("normal", "rectified")
TOGETHER = 20
"""Batches of each size and law in a step."""

METHOD = "centring"
"""What the numbers are of, where trainings have their method."""


class RandomBatches:
    """A piece: how often, and by how much at most, centring makes random batches worse.

    Args:
        count: how many batches of each size and law, in steps of :data:`TOGETHER`.
    """

    name = "random batches"

    def __init__(self, count: int) -> None:
        self.steps, self.done = -(-count // TOGETHER), 0
        self.worse = dict.fromkeys(_keys(), 0)
        self.largest = dict.fromkeys(_keys(), 0.0)

    def step(self) -> None:
        """Draw some batches of each size and law."""
        for key in _keys():
            law, N, n = key
            rng = np.random.default_rng([self.done, N, n, LAWS.index(law)])
            for _ in range(TOGETHER):
                quotient = centring_quotient(drawn(rng, law, N, n))
                self.worse[key] += quotient > 1
                self.largest[key] = max(self.largest[key], quotient)
        self.done += 1

    def state_dict(self) -> dict[str, Any]:
        """Return what was counted."""
        counted = {"worse": list(self.worse.values()), "largest": list(self.largest.values())}
        return {"done": self.done, **counted}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""
        self.done = state["done"]
        self.worse = dict(zip(_keys(), state["worse"], strict=True))
        self.largest = dict(zip(_keys(), state["largest"], strict=True))

    def numbers(self) -> dict[str, Any]:
        """Return how many got worse, of how many, and the largest quotient, by law and N."""
        found = [
            {"law": law, "N": N, "n": n, "worse": worse, "largest": self.largest[law, N, n]}
            for (law, N, n), worse in self.worse.items()
        ]
        return {"method": METHOD, "count": self.done * TOGETHER, "found": found}


def drawn(rng: np.random.Generator, law: str, N: int, n: int) -> NDArray[np.float64]:
    """Return a batch of inputs, ``(N, n)``, whose columns' means are small or large."""
    H = rng.normal(size=(N, n)) + 10 ** rng.uniform(-2, 0.5) * rng.normal(size=n)
    return np.maximum(H, 0) if law == "rectified" else H


def centring_quotient(H: NDArray[np.float64]) -> float:
    r"""Return :math:`\kappa(\hat H U)/\kappa(\hat H)`, over the nonzero singular values.

    >>> centring_quotient(np.array([[1.25, 0.75], [-1.25, 0.75]]))
    1.25
    """
    before = preconditioning.augmented(H)
    after = preconditioning.augmented(H - preconditioning.means(H))
    return round(_kappa(after) / _kappa(before), 12)


def _kappa(A: NDArray[np.float64]) -> float:
    values = np.linalg.svd(A, compute_uv=False)
    nonzero = values[values > values[0] * max(A.shape) * np.finfo(float).eps]
    return float(nonzero[0] / nonzero[-1])


def _keys() -> list[tuple[str, int, int]]:
    return [(law, N, n) for law in LAWS for N, n in SIZES]
