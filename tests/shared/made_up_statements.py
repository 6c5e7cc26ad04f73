"""Statements that no paper makes: what they say and assume matters, and nothing else of them."""

from theory.claim import Claim, Paper, Verdict
from theory.matrix_claim import Kind, MatrixClaim

NOWHERE = (Paper("notes", "Notes", "A. Reader, *Notes*, 2026").at("Sect. 1"),)


def of_a_unit(says, *hypotheses, **more):
    """A statement about a unit's batch."""
    return made(Claim, says, hypotheses, more)


def of_matrices(says, *hypotheses, subject=Kind.LAYER, **more):
    """A statement about a layer, unless it is about maps or a descent."""
    return made(MatrixClaim, says, hypotheses, more | {"subject": subject})


def made(kind, says, hypotheses, more):
    given = {"id": "made-up", "locations": NOWHERE, "expected": Verdict.PROVED} | more
    return kind(says=says, hypotheses=hypotheses, **given)
