"""Statements of others, tried at small instances before any witness looks at them.

What cannot be evaluated there (a letter of another subject, a function that knows floats only), a
certificate that does not add up, a letter that is not what it is displayed as or that a derivative
takes for a constant, and a hypothesis that shows no relation or changes what meets it are refused
with the line of their file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from theory.catalogue import Complaint
from theory.claim import Claim
from theory.matrix_claim import MatrixClaim
from theory.statement import Statement
from verify import engine, others
from verify.trial.displays import disguised, misleading, misnamed, sizes_mistold
from verify.trial.evaluation import unfit
from verify.trial.hypotheses import imposing_a_constant, imposing_too_much
from verify.trial.letters import (
    frozen,
    misread,
    of_its_kind,
    tied,
    told_apart,
    untold,
    working_in_place,
)
from verify.trial.ranges import misshapen, out_of_range
from verify.trial.reach import short_of_range


def refuse_unfit(claims: Sequence[Statement], target: str) -> None:
    """Refuse statements that cannot be evaluated, or are not what their certificates prove.

    Raises:
        OthersError: what is wrong, a line each, with the places in the target's files.
    """
    if complaints := [complaint for claim in claims for complaint in _complaints(claim)]:
        raise others.OthersError(others.with_places(complaints, claims, target))


def _complaints(claim: Statement) -> Iterator[Complaint]:
    of_any = (
        _of_the_papers,
        _read_as_a_unit,
        unfit,
        told_apart,
        disguised,
        misleading,
        untold,
        of_its_kind,
    )
    yield from (c for check in of_any for c in check(claim))
    if isinstance(claim, Claim | MatrixClaim):  # what is assumed of a law no instance shows
        at_instances = (
            working_in_place,
            out_of_range,
            short_of_range,
            misshapen,
            tied,
            misread,
            misnamed,
            sizes_mistold,
            frozen,
            imposing_a_constant,
            imposing_too_much,
        )
        yield from (c for check in at_instances for c in check(claim))


def _read_as_a_unit(claim: Statement) -> Iterator[Complaint]:
    """Complain of a reading of matrices, which have no epsilon but what is written out."""
    if claim.reading.has_epsilon and not isinstance(claim, Claim):
        yield Complaint(
            claim.id,
            "its reading= is displayed, and is of one unit's batch alone; write the epsilon out, as"
            " in deviation_eps(H, eps) of theory.layer",
        )


def _of_the_papers(claim: Statement) -> Iterator[Complaint]:
    """Complain of the identifier of another statement, whose evidence and page it would share."""
    if any(claim.id == known.id and claim != known for known in engine.CLAIMS):
        yield Complaint(claim.id, "a statement of the papers has this identifier; write another")
