r"""Whether the letters of a statement of others have all the values that they are displayed with.

Of what a letter never is nothing is examined.  So a letter that is a function of the instance must
come near the ends of its range, and be at those that belong to it, and there must be an instance
for any value in between: one is looked for by Newton's steps.  A matrix that has rank one in every
instance, a vector of norm one, a number that is never 0 have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from typing import Any

import numpy as np

from theory.arithmetic.exact import number
from theory.catalogue import Complaint
from theory.claim import Claim
from theory.language.expression import Letter
from theory.matrix_claim import MatrixClaim
from theory.statement import letters_of
from verify.subjects.unit import Case
from verify.tolerance import Array
from verify.trial.displays import is_ours
from verify.trial.instances import (
    FAR,
    OF_LOSS,
    Tried,
    drawn_at_scales,
    in_floats,
    made_of,
    without_hypotheses,
)
from verify.trial.letters import LOSS
from verify.trial.newton import vanishes_near
from verify.trial.ranges import CLOSED, Bounds, bounds_of, end_of, is_not_zero
from verify.witnesses.exact import BALLS, each, network_of
from verify.witnesses.integers import constants_of
from verify.witnesses.series import ball

CLOSER = (FAR[0], 1 / number(10), 1 / number(3), 10, FAR[1])
"""What numbers of small integers are multiplied by, so that they come near all of a range."""
NEAR = 0.01
"""A part of a range that is near its end; of what has none, beyond 49 in size."""
ENOUGH = 60
"""So many instances are tried at least."""
NARROW = 0.02
"""A part of a range between two values that is looked at, if it is no smaller."""
MIDDLE = 0.5
"""Where in a range without ends zero is."""
PATTERNS = 4
"""So many vectors, or matrices, are looked for whose entries are anywhere in their range."""
MANY = 200
"""Instances have no more numbers, if there are such: each is moved for a derivative."""
LARGE = 16
"""Matrices have no more entries, if there are such."""
STARTS = 4
"""So many instances are started from that are near, and so many others."""
FARTHEST = 50
"""The largest logarithm."""
BESIDE = 0.1
"""So far from where it is a start is, as letters may have no slope at small integers."""
GAPS = 6
"""So many parts of a range between two values are looked at, the widest ones."""
DIGITS = 3
"""A value is told by so many digits."""


@dataclass(frozen=True, eq=False)
class Met:
    """An instance, what a letter is worth there, and where in its range that is."""

    tried: Tried
    values: Array
    shares: Array


def short_of_range(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of a letter that is never near an end of its range, or never what is within it."""
    for letter in letters_of(claim):
        bounds = None if is_ours(letter) else _bounds(letter, claim)
        if bounds is None or "=" in dict(bounds):
            continue
        if reach := _reach(letter, bounds, claim):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is displayed with {letter.domain}, and is {reach} in"
                " every instance that is tried; write domain=, what it ranges over, or name the"
                " expression that it is, named(...), or let it be any number of which a hypothesis"
                " says the range, assume(...)",
            )


def _bounds(letter: Letter, claim: Claim | MatrixClaim) -> Bounds | None:
    return [] if is_not_zero(letter) else bounds_of(letter, claim)


def _reach(letter: Letter, bounds: Bounds, claim: Claim | MatrixClaim) -> str:
    """Return how far a letter reaches, where that is less than its range."""
    met: list[Met] = []
    unmet = {relation: end for relation, end in bounds if relation in CLOSED}
    for found in _met(letter, bounds, claim):
        met.append(found)
        for relation, end in zip(CLOSED, (0, 1), strict=True):
            if relation in unmet and np.any(found.shares == end):
                del unmet[relation]
        if len(met) >= ENOUGH and not unmet:
            break
    if not met or any(found.shares.min() < 0 or found.shares.max() > 1 for found in met):
        return ""  # there is none, or it is out of its range
    if unmet:
        return f"other than {next(iter(unmet.values()))}"
    return _never(letter, bounds, claim, met)


def _met(letter: Letter, bounds: Bounds, claim: Claim | MatrixClaim) -> Iterator[Met]:
    """Yield the instances at which a letter is a number, or of numbers."""
    alone = without_hypotheses(claim)
    for subject in drawn_at_scales(claim, CLOSER):
        tried = Tried(alone, subject)
        if (value := tried.value_of(letter)) is None:
            continue
        values = in_floats(value)
        with np.errstate(all="ignore"):  # a range may be empty in an instance
            shares = _share(values, *_ends(bounds, tried))
        if values.size and np.isfinite(shares).all():
            yield Met(tried, np.broadcast_to(values, shares.shape), shares)


def _share(value: Array, low: Array | None, high: Array | None) -> Array:
    """Return where numbers are in a range, 0 at its low end and 1 at its high one."""
    if low is not None and high is not None:
        return (value - low) / (high - low)
    if low is not None:
        return (value - low) / (1 + abs(value - low))
    if high is not None:
        return 1 / (1 + abs(high - value))
    return (1 + value / (1 + abs(value))) / 2


def _value(share: Array, low: Array | None, high: Array | None) -> Array:
    """Return the numbers that are there in a range."""
    if low is not None and high is not None:
        return low + share * (high - low)
    if low is not None:
        return low + share / (1 - share)
    if high is not None:
        return high - (1 - share) / share
    return (2 * share - 1) / (1 - abs(2 * share - 1))


def _ends(bounds: Bounds, tried: Tried) -> tuple[Array | None, Array | None]:
    """Return the low and the high end of a range in an instance, None where it has none."""
    found = {relation: end_of(text, tried) for relation, text in bounds}
    return found.get(">", found.get(r"\ge")), found.get("<", found.get(r"\le"))


def _never(letter: Letter, bounds: Bounds, claim: Claim | MatrixClaim, met: Sequence[Met]) -> str:
    """Return what of its range a letter never is, if no instance is found for it."""
    names = made_of(letter, claim)
    met = [found for found in met if _count(found.tried.subject) <= MANY] or met
    shapes = sorted({found.shares.shape for found in met}, key=prod)
    shape = max((shape for shape in shapes if prod(shape) <= LARGE), key=prod, default=shapes[0])
    alike = [found for found in met if found.shares.shape == shape]
    for target in _numbers(alike, bounds, claim) if shape == () else _patterns(shape):
        if is_not_zero(letter) and np.all(target == MIDDLE):
            continue
        nearest = sorted(alike, key=lambda found: float(abs(found.shares - target).max()))
        starts = (*nearest[:STARTS], *nearest[STARTS :: 1 + len(nearest) // STARTS])
        moved = (_Moved(found.tried, names) for found in starts)
        missing = ((partial(_left, letter, bounds, target, x), x) for x in moved if x.arrays)
        if not any(vanishes_near(left, x.start) for left, x in missing):
            return _told(target, alike, _ends(bounds, nearest[0].tried))
    return ""


def _count(subject: Any) -> int:
    """Return how many numbers an instance has."""
    return sum(np.size(value) for value in subject.numbers().values())


def _told(target: Array, met: Sequence[Met], ends: tuple[Array | None, Array | None]) -> str:
    """Return what a letter is, or is not, that is never where it has to be in its range."""
    if np.all(target < min(found.shares.min() for found in met)):
        return f"at least {min(found.values.min() for found in met):.{DIGITS}g}"
    if np.all(target > max(found.shares.max() for found in met)):
        return f"at most {max(found.values.max() for found in met):.{DIGITS}g}"
    return f"never {_written(np.broadcast_to(_value(target, *ends), target.shape))}"


def _numbers(met: Sequence[Met], bounds: Bounds, claim: Claim | MatrixClaim) -> Iterator[Array]:
    """Yield where in its range a letter has to be: near its ends, between its values, as named."""
    yield from (np.asarray(NEAR), np.asarray(1 - NEAR))
    shares = np.sort([float(found.shares) for found in met])
    gaps = np.diff(shares)
    for place in sorted(np.flatnonzero(gaps >= NARROW), key=lambda place: -gaps[place])[:GAPS]:
        yield (shares[place] + shares[place + 1]) / 2
    excluded = {end for relation, end in bounds if relation == r"\ne"}
    named = (x for x in (0, *constants_of(claim.said)) if str(x) not in excluded)
    places = [_share(np.asarray(float(x)), *_ends(bounds, met[0].tried)) for x in named]
    yield from (place for place in places if 0 < place < 1 and place not in shares)


def _patterns(shape: tuple[int, ...]) -> Iterator[Array]:
    """Yield where in their range the entries of a vector, or of a matrix, have to be."""
    drawn = np.random.default_rng(0)
    yield np.full(shape, MIDDLE)
    yield from (drawn.uniform(NEAR, 1 - NEAR, shape) for _ in range(PATTERNS))


def _written(values: Array) -> str:
    """Return a number, or a list of numbers, in a few digits."""
    if values.ndim:
        return f"({', '.join(map(_written, values))})"
    return f"{values:.{DIGITS}g}"


class _InBalls(Tried):
    """An instance of balls, in which roots are taken up to rounding."""

    @cached_property
    def offered(self) -> Any:
        """What the statement's sides take."""
        if isinstance(self.claim, Claim):
            return self.claim.read(network_of(self.case, BALLS))
        return self.subject


class _Moved:
    """An instance of which the numbers are others that a letter is made of."""

    def __init__(self, tried: Tried, made: set[str]):
        subject = tried.subject
        whole = {name.partition("[")[0] for name in made} | (OF_LOSS if LOSS in made else set())
        self.claim = tried.claim
        self.names = [name for name in subject.real() if name in whole]
        self.is_positive = [name in subject.positive for name in self.names]
        of_loss = subject.loss.parameters if isinstance(subject, Case) and LOSS in made else ()
        self.arrays = [in_floats(x) for x in (*(getattr(subject, n) for n in self.names), *of_loss)]
        in_balls = partial(each, ball)
        is_batch = isinstance(subject, Case)
        self.base = subject.converted(in_balls, *([] if is_batch else [BALLS]))

    @property
    def start(self) -> Array:
        """Its own numbers, or almost: letters may have no slope at small integers."""
        parts = [array.ravel() for array in self.arrays]
        for place in np.flatnonzero(self.is_positive):
            parts[place] = np.log(parts[place])
        numbers = np.concatenate(parts)
        return numbers + BESIDE * np.sin(np.arange(1, numbers.size + 1))

    def at(self, numbers: Array) -> Tried:
        """Return the instance with other numbers; of positive ones they are the logarithms."""
        ends = np.cumsum([array.size for array in self.arrays])[:-1]
        parts = zip(np.split(numbers, ends), self.arrays, strict=True)
        moved = [part.reshape(array.shape) for part, array in parts]
        for place in np.flatnonzero(self.is_positive):
            moved[place] = np.exp(np.clip(moved[place], -FARTHEST, FARTHEST))
        in_balls = [each(ball, part) for part in moved]
        found = replace(self.base, **dict(zip(self.names, in_balls, strict=False)))
        if of_loss := in_balls[len(self.names) :]:
            found = replace(found, loss=replace(found.loss, parameters=tuple(of_loss)))
        return _InBalls(self.claim, found)


def _left(
    letter: Letter, bounds: Bounds, target: Array, moved: _Moved, numbers: Array
) -> Array | None:
    """Return what is missing of where a letter is to be in its range, None where it is nowhere."""
    tried = moved.at(numbers)
    if (value := tried.value_of(letter)) is None:
        return None
    with np.errstate(all="ignore"):
        shares = _share(in_floats(value), *_ends(bounds, tried))
    return np.ravel(shares - target) if np.isfinite(shares).all() else None
