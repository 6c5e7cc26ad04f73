"""Matrices of small integers in exact arithmetic, drawn and shrunk by Hypothesis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from theory.matrix_claim import Kind, MatrixClaim
from verify.evidence import Record
from verify.matrices import exact, lattice
from verify.search import Searched, Space, look, search
from verify.settings import Settings
from verify.witnesses.records import counted, in_words

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
            yield _record(claim, found[claim.id])


def fails_somewhere(claim: MatrixClaim, size: lattice.Size, examples: int) -> bool:
    """Return whether one of the first integers that come to mind violates the statement."""
    return not look(SPACES[claim.subject], size, [claim], examples, 0, {claim.id: Searched()})


def _record(claim: MatrixClaim, searched: Searched) -> Record:
    violates = None if searched.found is None else exact.examine(claim, searched.found)
    return Record(
        claim=claim.id,
        witness="exact",
        **counted(searched.total),
        sizes={
            lattice.named(claim.subject, size): in_words(met)
            for size, met in searched.outcomes.items()
        },
        counterexample=violates.written() if violates else None,
    )
