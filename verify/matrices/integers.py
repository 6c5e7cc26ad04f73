"""Matrices of small integers in exact arithmetic: where hints say, else drawn and shrunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial

from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Relation
from verify.cases.rounding import short
from verify.matrices import exact, floats, lattice
from verify.matrices.strata import FAR_SCALES, GENERIC, draw, random_subjects
from verify.matrices.subjects import Numbers
from verify.record import Record
from verify.settings import Settings
from verify.tolerance import Outcome
from verify.witnesses import exact as of_claims
from verify.witnesses.exact import Conversions
from verify.witnesses.search import (
    Searched,
    Space,
    attained_at_hints,
    drawn,
    examples_for,
    is_weak_bound,
    records,
    search,
)

FEW = {Kind.LAYER: 1, Kind.MAPS: 1, Kind.DESCENT: 3}
"""Random subjects of every stratum that say whether it is worth to look further; of descents so
many that the largest dimension is among them."""
OF_FAR_SCALES, OF_NONE = 12, 3
"""The same of one stratum; and for an equation, which is false of most if of any, of generic
numbers."""
A_FEW = 12
"""So many larger ones are drawn of each size."""
SPACES = {
    kind: Space(
        lattice.SIZES[kind],
        partial(lattice.letters, kind),
        made,
        exact.examined,
        partial(lattice.named, kind),
    )
    for kind, (_, made) in lattice.SUBJECTS.items()
}
LARGER = {
    kind: replace(space, sizes=lattice.LARGER[kind], together=0) for kind, space in SPACES.items()
}
"""For what holds of small subjects alone."""


def examine(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Search sizes in ascending order for a counterexample of each claim, and shrink it."""
    for together in floats.of_one_kind(claims):
        kind = together[0].subject
        hinted = {
            claim.id: Searched.violated_at(tuple(subject.size.values()), subject)
            for claim in together
            if (subject := first_looked_at(claim)) is not None
        }
        others = [claim for claim in together if claim.id not in hinted]
        searched = search(SPACES[kind], others, settings.budget.examples, settings.seed)
        left = [claim for claim in others if searched[claim.id].found is None]
        for name, further in _further(left, settings.seed):
            searched[name] += further
        weak = [claim for claim in left if is_weak_bound(claim)]
        for claim, subject in attained_at_hints(weak, _start, exact.examine):
            searched[claim.id].attained = subject
        yield from records(
            SPACES[kind], together, searched | hinted, exact.counterexample, exact.attained
        )


def first_looked_at(claim: MatrixClaim) -> Numbers | None:
    """Return a counterexample where a claim's hints say that there is one, chosen for a reader."""
    for hint in claim.attack:
        hinted: Numbers = hint(_start(claim))
        if _violates(claim, hinted):
            return hinted
    return None


def _start(claim: MatrixClaim) -> Numbers:
    """Return what a hint changes."""
    subject: Numbers = SPACES[claim.subject].simplest(lattice.SIZES[claim.subject][0])
    return subject


def _violates(claim: MatrixClaim, subject: Numbers) -> bool:
    return exact.examine(claim, subject).outcome is Outcome.VIOLATED


def _further(claims: Sequence[MatrixClaim], seed: int) -> Iterator[tuple[str, Searched]]:
    """Yield what is met beyond small subjects, where one of a few random ones violates."""
    if not claims:
        return
    kind = claims[0].subject
    far = [draw(kind, FAR_SCALES, seed, number) for number in range(FEW[kind], OF_FAR_SCALES)]
    few = [*random_subjects(kind, seed, FEW[kind]), *far]
    generic = [draw(kind, GENERIC, seed, number) for number in range(OF_NONE)]
    bounds = [claim for claim in claims if claim.relation is not Relation.EQUAL]
    equations = [claim for claim in claims if claim.relation is Relation.EQUAL]
    failing = [*_fail_in_floats(bounds, few, seed), *_fail_in_floats(equations, generic, seed)]
    larger = search(LARGER[kind], failing, A_FEW, seed)
    yield from larger.items()
    for claim in failing:
        if larger[claim.id].found is None:
            yield claim.id, _among_floats(claim, few)


def _fail_in_floats(
    claims: Sequence[MatrixClaim], subjects: Sequence[Numbers], seed: int
) -> Iterator[MatrixClaim]:
    names = floats.seem_violated(claims, subjects, seed) if claims else set()
    seeming = [claim for claim in claims if claim.id in names]
    found = floats.examine_together(seeming, subjects, seed) if seeming else {}
    return (claim for claim in seeming if any(met.violates for met in found[claim.id]))


def _among_floats(claim: MatrixClaim, few: Iterable[Numbers]) -> Searched:
    """Return the first of some random subjects that violates for certain, rounded if it can be."""
    tries = (one for it in few for one in (it.with_numbers(short, it.real()), it))
    found = next(filter(partial(_violates, claim), tries), None)
    return Searched() if found is None else Searched.violated_at(tuple(found.size.values()), found)


@cache
def is_defined_somewhere(claim: MatrixClaim, examples: int) -> bool:
    """Return whether a certificate is a real number at one of some subjects of integers."""
    sizes = SPACES[claim.subject].sizes
    tried = (known for size in sizes for known in _first(claim.subject, size, examples))
    return of_claims.certificate_exists(claim, tried)


def fails_somewhere(claim: MatrixClaim, size: lattice.Size, examples: int) -> bool:
    """Return whether one of the first integers that come to mind violates the statement."""
    tried = _first(claim.subject, size, examples)[: examples_for(claim, examples)]
    return any(of_claims.decided(claim, known).outcome is Outcome.VIOLATED for known in tried)


@cache
def _first(kind: Kind, size: lattice.Size, examples: int) -> tuple[Conversions, ...]:
    """Return the first integers of a size; what one statement computes there others know."""
    space = SPACES[kind]
    places = drawn(space, size, examples, 0)
    return tuple(exact.conversions(space.at(size, at)) for at in places)
