r"""Where random batches come from: named strata, the nasty ones among them.

A stratum is a function of a random generator that returns a batch; gamma, beta, eps, the loss and
a generic direction are drawn alike for all.  A token ``random:STRATUM:SEED:INDEX`` rebuilds one
case on any machine with the same NumPy generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from verify.subjects.losses import Loss, general, separable
from verify.subjects.unit import Case
from verify.tolerance import Array


def generic(rng: Generator, m: int) -> Array:
    """Normal entries with a mean and a scale of order one."""
    return rng.normal() + np.exp(rng.normal()) * rng.normal(size=m)


def large_offset(rng: Generator, m: int) -> Array:
    """Mean over standard deviation from 1e2 to 1e8."""
    return rng.choice([-1, 1]) * 10 ** rng.uniform(2, 8) + rng.normal(size=m)


def near_constant(rng: Generator, m: int) -> Array:
    """Deviations of 1e-7 to 1e-3 around a mean of order one."""
    return rng.normal() + 10 ** rng.uniform(-7, -3) * rng.normal(size=m)


def duplicates(rng: Generator, m: int) -> Array:
    """Few distinct values."""
    values = rng.normal(size=2)
    return values[np.arange(m) % 2] if m < 4 else values[rng.integers(0, 2, size=m)]


def heavy_tails(rng: Generator, m: int) -> Array:
    """Student's t with one and a half degrees of freedom."""
    return np.asarray(rng.standard_t(1.5, size=m))


@dataclass(frozen=True)
class Stratum:
    """A name, how its batches are drawn, their length, the sign of gamma and all scales."""

    name: str
    batch: Callable[[Generator, int], Array]
    m: int
    gamma: float | None = None
    """What gamma is multiplied by; None leaves its sign to chance."""
    orders: float = 0
    """By so many powers of ten at most each number is made larger or smaller, on its own."""


ORDINARY = (
    Stratum("generic", generic, 8),
    Stratum("generic m=33", generic, 33),
    Stratum("m=1", generic, 1),
    Stratum("m=2", generic, 2),
    Stratum("m=3", generic, 3),
    Stratum("large offset", large_offset, 8),
    Stratum("near constant", near_constant, 8),
    Stratum("duplicates", duplicates, 8),
    Stratum("heavy tails", heavy_tails, 8),
    Stratum("gamma=0", generic, 8, gamma=0.0),
    Stratum("gamma<0", generic, 8, gamma=-1.0),
    Stratum("m=4", generic, 4),
)
LONG = (Stratum("m=256", generic, 256), Stratum("m=4096", generic, 4096))
"""Batches so long that a loss with a matrix of m by m numbers would take too much memory."""
FAR_SCALES = Stratum("far scales", generic, 8, orders=4)
"""Numbers of sizes that have nothing to do with each other, as units seldom fit."""
STRATA = (*ORDINARY, FAR_SCALES)
EVERY_STRATUM = (*ORDINARY, *LONG, FAR_SCALES)
LOSSES = ("quadratic", "quartic", "softplus")


def draw_loss(rng: Generator, kind: str, m: int) -> Loss:
    """Return a loss of that kind with generic parameters."""
    half = rng.normal(size=(m, m))
    linear, fourth, weight, slope = rng.normal(size=(4, m))
    return Loss(general, _parameters(kind, linear, half + half.T, fourth, weight, slope))


def draw_separable_loss(rng: Generator, kind: str, m: int) -> Loss:
    """Return the same for a long batch: a loss of each entry, and no matrix."""
    return Loss(separable, _parameters(kind, *rng.normal(size=(5, m))))


def _parameters(
    kind: str, linear: Array, curvature: Array, fourth: Array, weight: Array, slope: Array
) -> tuple[Array, ...]:
    """Return the parameters of a kind of loss, those that it has not being zero."""
    none = 0 * linear
    return {
        "quadratic": (linear, curvature, none, none, slope),
        "quartic": (linear, curvature, fourth, none, slope),
        "softplus": (none, 0 * curvature, none, weight, slope),
    }[kind]


def draw(stratum: Stratum, seed: int, index: int) -> Case:
    """Return one case of a stratum."""
    position = [s.name for s in EVERY_STRATUM].index(stratum.name)
    rng = np.random.default_rng((seed, position, index))
    draw_kind = draw_separable_loss if stratum in LONG else draw_loss
    gamma = rng.normal()
    if stratum.gamma is not None:
        gamma = stratum.gamma * abs(gamma)
    case = Case(
        y=stratum.batch(rng, stratum.m),
        gamma=np.float64(gamma),
        beta=np.float64(rng.normal()),
        eps=np.float64(10 ** rng.uniform(-6, 0)),
        loss=draw_kind(rng, LOSSES[index % len(LOSSES)], stratum.m),
        direction=rng.normal(size=stratum.m),
        other_direction=rng.normal(size=stratum.m),
        bound=np.float64(np.exp(rng.normal())),
        stratum=stratum.name,
        token=f"random:{stratum.name}:{seed}:{index}",
    )
    return scaled(case, rng, stratum.orders) if stratum.orders else case


def scaled(case: Case, rng: Generator, orders: float) -> Case:
    """Return a case with each number times another power of ten, up to so many up or down."""

    def times(number: Array) -> Array:
        return number * np.float64(10 ** rng.uniform(-orders, orders))

    return case.converted(times)


def random_cases(seed: int, count: int, strata: Sequence[Stratum] = STRATA) -> Iterator[Case]:
    """Yield ``count`` cases of every stratum."""
    for stratum in strata:
        for index in range(count):
            yield draw(stratum, seed, index)


def rebuild(token: str) -> Case:
    """Return the case that a token names; ValueError where it names none."""
    try:
        kind, name, seed, index = token.split(":")
        stratum = next(s for s in EVERY_STRATUM if s.name == name)
        if kind != "random":
            raise ValueError
        return draw(stratum, int(seed), int(index))
    except (ValueError, StopIteration):
        known = ", ".join(s.name for s in EVERY_STRATUM)
        raise ValueError(
            f"{token!r} names no random case; expected random:STRATUM:SEED:INDEX"
            f" with STRATUM one of: {known}"
        ) from None
