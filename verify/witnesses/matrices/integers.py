"""Where counterexamples to statements about matrices are looked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from theory.matrix_claim import Kind, MatrixClaim
from verify.record import Record
from verify.settings import Settings
from verify.subjects import matrix_lattice
from verify.subjects.matrices import Numbers
from verify.subjects.matrix_strata import FAR_SCALES, GENERIC, draw, random_subjects
from verify.subjects.rounding import short
from verify.witnesses import exact as of_claims
from verify.witnesses import integers
from verify.witnesses.exact import Conversions
from verify.witnesses.integers import Grounds, constants_of, ends_of, first, may_be_attained
from verify.witnesses.matrices import exact, floats
from verify.witnesses.matrices.special import special_subjects
from verify.witnesses.search import Searched, Space, drawn, examples_for

FEW = {Kind.LAYER: 1, Kind.MAPS: 1, Kind.DESCENT: 3}
"""Random subjects of every stratum that say whether it is worth to look further; of descents so
many that the largest dimension is among them."""
OF_FAR_SCALES, OF_NONE = 12, 3
"""The same of one stratum; and for an equation, which is false of most if of any, of generic
numbers."""


def _few(kind: Kind, seed: int) -> list[Numbers]:
    """Return random subjects of every stratum, and more of those whose scales are far apart."""
    far = [draw(kind, FAR_SCALES, seed, number) for number in range(FEW[kind], OF_FAR_SCALES)]
    return [*random_subjects(kind, seed, FEW[kind]), *far]


def _decidable(kind: Kind, seed: int) -> Iterator[Numbers]:
    for subject in _few(kind, seed):
        rounded = subject.with_numbers(short, subject.real())
        if all(np.all(getattr(rounded, name) > 0) for name in subject.positive):
            yield rounded
        yield subject


def _special(
    kind: Kind, claims: Sequence[MatrixClaim], settings: Settings
) -> Iterator[tuple[str, Searched]]:
    """Yield what is met at special subjects of claims that may fail nowhere else."""
    grounds, unsure = GROUNDS[kind], [claim for claim in claims if may_be_attained(claim)]
    said = [says for claim in unsure for says in claim.said]
    subjects = special_subjects(grounds.small, kind, constants_of(said), ends_of(said))
    for claim, subject in first(grounds.small, unsure, subjects):
        yield claim.id, grounds.violated_at(subject)


def fitted(start: Numbers, subject: Numbers) -> Numbers:
    """Return a subject in which what a hint left is plain where its size is another now.

    Raises:
        ValueError: what the hint gave is not of one size.
    """
    given = {name: np.asarray(getattr(subject, name), dtype=object) for name in subject.names()}
    arrays: dict[str, Any] = {name: value for name, value in given.items() if value.ndim}
    subject = replace(subject, **arrays)
    grounds = GROUNDS[subject.kind]
    plain = grounds.small.simplest(size := grounds.size_of(subject))
    unfit = [n for n in subject.names() if given[n].shape != np.shape(getattr(plain, n))]
    kept = {n: getattr(plain, n) for n in unfit if np.array_equal(given[n], getattr(start, n))}
    if wrong := [name for name in unfit if name not in kept]:
        here, there = given[wrong[0]].shape, np.shape(getattr(plain, wrong[0]))
        sized = matrix_lattice.named(subject.kind, size)
        raise ValueError(f"{wrong[0]} has the shape {here}, which for {sized} is {there}")
    return replace(subject, **kept)


def _grounds(kind: Kind) -> Grounds:
    made = matrix_lattice.MADE[kind]
    letters, named = partial(matrix_lattice.letters, kind), partial(matrix_lattice.named, kind)
    small = Space(matrix_lattice.SIZES[kind], letters, made, exact.examined, named)
    return Grounds(
        small=small,
        larger=replace(small, sizes=matrix_lattice.LARGER[kind], together=0),
        size_of=lambda subject: tuple(subject.size.values()),
        fitted=fitted,
        starts=lambda claim: map(small.simplest, small.sizes),
        few=partial(_few, kind),
        generic=lambda seed: [draw(kind, GENERIC, seed, number) for number in range(OF_NONE)],
        seem_violated=floats.seem_violated,
        in_floats=floats.examine_together,
        decidable=partial(_decidable, kind),
        special=partial(_special, kind),
        conversions=exact.conversions,
        written=exact.written_for,
    )


GROUNDS = {kind: _grounds(kind) for kind in Kind}


def examine(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Look for a counterexample of each claim."""
    for alike in floats.of_one_kind(claims):
        yield from integers.examine(GROUNDS[alike[0].subject], alike, settings)


@cache
def is_defined_somewhere(claim: MatrixClaim, examples: int) -> bool:
    """Return whether a certificate is a real number at one of some subjects of integers."""
    sizes = GROUNDS[claim.subject].small.sizes
    tried = (known for size in sizes for known in _first(claim.subject, size, examples))
    return of_claims.certificate_exists(claim, tried)


def fails_somewhere(claim: MatrixClaim, size: matrix_lattice.Size, examples: int) -> bool:
    """Return whether one of the first integers that come to mind violates the statement."""
    tried = _first(claim.subject, size, examples)[: examples_for(claim, examples)]
    return any(of_claims.decided(claim, known).is_violated for known in tried)


@cache
def _first(kind: Kind, size: matrix_lattice.Size, examples: int) -> tuple[Conversions, ...]:
    """Return the first integers of a size; what one statement computes there others know."""
    space = GROUNDS[kind].small
    places = drawn(space, size, examples, 0)
    return tuple(exact.conversions(space.at(size, at)) for at in places)
