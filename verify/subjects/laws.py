r"""Laws of the entries of a random matrix, by name, each of mean 0 and variance 1.

The fourth moment is what matters: with one the norm of an :math:`N \times n` matrix is of the
order of :math:`\sqrt N + \sqrt n`, without one its largest entry alone is larger.  Student's t has
one above four degrees of freedom only.  The sparse laws are :math:`\pm 1/\sqrt p` with probability
p and else 0, where p shrinks as the matrix grows: one entry in a row or column, or in the whole
matrix, is what one expects not to be 0.  The doubling law is :math:`\pm 2^{k-1}` with probability
:math:`4 / 5^{k+1}`, for k = 0, 1, 2, ...; its tail, :math:`P(|g| \ge 2^{k-1}) = 5^{-k}`, needs no
integral.  Of log-normal entries with a large sigma one in a column is all of it: normalised, the
columns are nearly one-hot.  What is rectified is far above its mean at times, what has the beta law
far below; all others are symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log2, sqrt
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import Generator
from scipy import stats

from theory.expectation_claim import ExpectationClaim
from verify.results import Size
from verify.tolerance import Array

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Law:
    """How entries are drawn, and what is known of them, as functions of the size (N, n)."""

    draw: Callable[[Generator, Shape], Array]
    """A function of a generator of random numbers and the shape of the matrices, (count, N, n)."""
    fourth_moment: Callable[[int, int], float]
    largest: Callable[[int, int], float]
    is_fixed: bool = True
    order: float = inf
    """Below it every moment is finite."""


@dataclass(frozen=True)
class Entries:
    """A law at a size: see :class:`theory.expectation_claim.Entries`."""

    name: str
    law: Law
    N: int
    n: int

    @property
    def fourth_moment(self) -> float:
        """The mean of an entry's fourth power."""
        return self.law.fourth_moment(self.N, self.n)

    @property
    def largest(self) -> float:
        """What an entry's modulus never exceeds."""
        return self.law.largest(self.N, self.n)

    @property
    def is_fixed(self) -> bool:
        """Whether the law is the same at every size."""
        return self.law.is_fixed

    @property
    def order(self) -> float:
        """Below it every moment is finite."""
        return self.law.order

    @property
    def size(self) -> Size:
        """The size as a reader would name it."""
        return {"N": self.N, "n": self.n}

    def matrices(self, seed: int, count: int) -> Array:
        """Return independent matrices, (count, N, n), the same for the same seed."""
        rng = np.random.default_rng([seed, self.N, self.n, crc32(self.name.encode())])
        return self.law.draw(rng, (count, self.N, self.n))


def admits(claim: ExpectationClaim, entries: Entries) -> bool:
    """Whether a law at a size meets the hypotheses of a statement."""
    return all(h.sign.compare(float(h.quantity(entries)), 0) for h in claim.hypotheses)


def standardised(distribution: Any, order: float = inf) -> Law:
    """Return a continuous law of scipy.stats, shifted and scaled to mean 0 and variance 1."""
    mean, variance, excess = map(float, distribution.stats(moments="mvk"))
    deviation = sqrt(variance)
    largest = float(np.max(np.abs(np.subtract(distribution.support(), mean)))) / deviation

    def draw(rng: Generator, shape: Shape) -> Array:
        return (distribution.rvs(size=shape, random_state=rng) - mean) / deviation

    return Law(draw, lambda N, n: excess + 3, lambda N, n: largest, order=order)


def sparse(share: Callable[[int, int], float], is_fixed: bool = False) -> Law:
    r"""Return :math:`\pm 1/\sqrt p` with probability p, which is a function of the size, else 0."""

    def draw(rng: Generator, shape: Shape) -> Array:
        p = share(*shape[1:])
        signs = rng.choice([-1.0, 1.0], size=shape)
        return np.where(rng.random(shape) < p, signs / sqrt(p), 0.0)

    return Law(draw, lambda N, n: 1 / share(N, n), lambda N, n: 1 / sqrt(share(N, n)), is_fixed)


def doubling() -> Law:
    r"""Return :math:`\pm 2^{k-1}` with probability :math:`4 / 5^{k+1}`, for k = 0, 1, 2, ..."""

    def draw(rng: Generator, shape: Shape) -> Array:
        signs = rng.choice([-1.0, 1.0], size=shape)
        return signs * 2.0 ** (rng.geometric(4 / 5, size=shape) - 2)

    return Law(draw, lambda N, n: inf, lambda N, n: inf, order=log2(5))


def rectified() -> Law:
    """Return what ReLU makes of a normal number, standardised."""
    first, second, third, fourth = 1 / sqrt(2 * np.pi), 0.5, sqrt(2 / np.pi), 1.5
    variance = second - first**2
    central = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4

    def draw(rng: Generator, shape: Shape) -> Array:
        return (np.maximum(rng.normal(size=shape), 0) - first) / sqrt(variance)

    return Law(draw, lambda N, n: central / variance**2, lambda N, n: inf)


def log_normal(sigma: float) -> Law:
    r"""Return :math:`\pm\mathrm{e}^{\sigma Z - \sigma^2}` with Z normal.

    Every moment is finite, but a fourth one that no float holds counts as infinite.
    """

    def draw(rng: Generator, shape: Shape) -> Array:
        signs = rng.choice([-1.0, 1.0], size=shape)
        return signs * np.exp(sigma * rng.normal(size=shape) - sigma**2)

    with np.errstate(over="ignore"):
        fourth = float(np.exp(np.float64(4 * sigma**2)))
    order = inf if fourth < inf else 4
    return Law(draw, lambda N, n: fourth, lambda N, n: inf, order=order)


LAWS: dict[str, Law] = {
    "signs": sparse(lambda N, n: 1.0, is_fixed=True),
    "uniform": standardised(stats.uniform()),
    "normal": standardised(stats.norm()),
    "rectified normal": rectified(),
    "beta(1, 1/10)": standardised(stats.beta(1, 1 / 10)),
    "Student t, 5 degrees of freedom": standardised(stats.t(5), order=5),
    "Student t, 3 degrees of freedom": standardised(stats.t(3), order=3),
    "Student t, 2.5 degrees of freedom": standardised(stats.t(2.5), order=2.5),
    "doubling, ±2^(k-1) with probability 4/5^(k+1), k = 0, 1, ...": doubling(),
    "log-normal, sigma = 1": log_normal(1),
    "log-normal, sigma = 15": log_normal(15),
    "sparse, p = 1/max(N, n)": sparse(lambda N, n: 1 / max(N, n)),
    "sparse, p = 1/(Nn)": sparse(lambda N, n: 1 / (N * n)),
}
