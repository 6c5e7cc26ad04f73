"""Matrices of small integers in exact arithmetic: where hints say, else drawn and shrunk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from theory.matrix_claim import MatrixClaim
from theory.statement import Relation
from verify.evidence import Record
from verify.matrices import exact, floats, lattice
from verify.matrices.strata import random_subjects
from verify.matrices.subjects import Numbers
from verify.settings import Settings
from verify.tolerance import Outcome
from verify.witnesses.search import Searched, Space, records, search, violations

FEW = 1
"""Of every stratum so many random subjects say whether larger integers are worth a look."""
A_FEW = 12
"""So many larger ones are drawn of each size."""
SPACES = {
    kind: Space(
        lattice.SIZES[kind],
        partial(lattice.letters, kind),
        made,
        exact.outcomes,
        partial(lattice.named, kind),
    )
    for kind, (_, made) in lattice.SUBJECTS.items()
}
LARGER = {
    kind: replace(space, sizes=lattice.LARGER[kind], together=0) for kind, space in SPACES.items()
}
"""For bounds that hold of small subjects alone."""


def examine(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Search sizes in ascending order for a counterexample of each claim, and shrink it."""
    for kind, alike in groupby(claims, key=lambda claim: claim.subject):
        together = list(alike)
        hinted = {
            claim.id: Searched.violated_at(tuple(subject.size.values()), subject)
            for claim in together
            if (subject := first_looked_at(claim)) is not None
        }
        others = [claim for claim in together if claim.id not in hinted]
        drawn = search(SPACES[kind], others, settings.budget.examples, settings.seed)
        left = [claim for claim in others if drawn[claim.id].found is None]
        failing = fail_in_floats(left, settings.seed)
        for name, met in search(LARGER[kind], failing, A_FEW, settings.seed).items():
            drawn[name] += met
        yield from records(SPACES[kind], together, drawn | hinted, exact.counterexample)


def first_looked_at(claim: MatrixClaim) -> Numbers | None:
    """Return a counterexample where a claim's hints say that there is one, chosen for a reader."""
    for hint in claim.attack:
        smallest = lattice.SIZES[claim.subject][0]
        hinted: Numbers = hint(SPACES[claim.subject].simplest(smallest))
        if exact.examine(claim, hinted).outcome is Outcome.VIOLATED:
            return hinted
    return None


def fail_in_floats(claims: Sequence[MatrixClaim], seed: int) -> list[MatrixClaim]:
    """Return the bounds that one of a few random subjects seems to violate."""
    bounds = [claim for claim in claims if claim.relation is not Relation.EQUAL]
    if not bounds:
        return []
    few = floats.examine_together(bounds, random_subjects(bounds[0].subject, seed, FEW), seed)
    return [
        claim
        for claim in bounds
        if any(Outcome.VIOLATED in found.outcomes for found in few[claim.id])
    ]


def fails_somewhere(claim: MatrixClaim, size: lattice.Size, examples: int) -> bool:
    """Return whether one of the first integers that come to mind violates the statement."""
    return bool(
        violations(SPACES[claim.subject], size, [claim], examples, 0, {claim.id: Searched()})
    )
