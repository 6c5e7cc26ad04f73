"""Matrices of small integers in exact arithmetic, drawn and shrunk by Hypothesis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from theory.matrix_claim import Kind, MatrixClaim
from verify.evidence import Record
from verify.matrices import exact, lattice
from verify.settings import Settings
from verify.witnesses.search import Searched, Space, record, search, violations

SPACES = {
    kind: Space(
        lattice.SIZES[kind],
        partial(lattice.subjects, kind),
        exact.outcomes,
        partial(lattice.named, kind),
    )
    for kind in Kind
}


def examine(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Search sizes in ascending order for a counterexample of each claim, and shrink it."""
    for kind, alike in groupby(claims, key=lambda claim: claim.subject):
        together = list(alike)
        found = search(SPACES[kind], together, settings.budget.examples, settings.seed)
        for claim in together:
            searched = found[claim.id]
            violates = None if searched.found is None else exact.examine(claim, searched.found)
            written = violates.written() if violates else None
            yield record(SPACES[kind], claim, searched, written)


def fails_somewhere(claim: MatrixClaim, size: lattice.Size, examples: int) -> bool:
    """Return whether one of the first integers that come to mind violates the statement."""
    return bool(
        violations(SPACES[claim.subject], size, [claim], examples, 0, {claim.id: Searched()})
    )
