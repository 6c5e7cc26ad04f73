"""Which statements of the ledger an audit says nothing of, and why, in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from theory.claim import Claim
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Statement

IN_WORDS = "the text displays them in words, or cannot be read"
WITHOUT_EPSILON = (
    "they are of a layer without epsilon; the same with one are examined, where there are such"
)
OF_A_DESCENT = "they are about a minimisation from points of its own, not about a layer"
OF_CHANCE = "they are about random matrices"
OF_A_MINIMUM = "they are about a minimum of the loss, which no pass finds"
OF_NUMBERS = "they are about sizes, laws and constants, which no network changes"
OF_MORE = (
    "they ask for more of the loss than the passes gave: its values elsewhere, such as without the"
    " layer, its third derivatives, or its second ones in every direction"
)
NOWHERE_MET = "what they assume is met nowhere here"
NO_CHANNEL = (
    "they need the inputs below a Batch Normalization, entry by entry, and none was looked into"
)
NO_LAYER = "they need a layer's inputs and weights, entry by entry, and none was looked into"
NO_MAPS = (
    "they are about a convolution that moves by one over a map with zeros around, and none was"
    " looked into"
)


def left_out(
    claims: Sequence[Statement], examined: Collection[str], refused: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the identifiers of what was not examined, by the reason.

    Args:
        claims: of the ledger.
        examined: the identifiers of the statements with a row.
        refused: reasons that are known, by identifier.
    """
    found: dict[str, list[str]] = {}
    for claim in claims:
        if claim.id not in examined:
            found.setdefault(refused.get(claim.id) or _reason(claim), []).append(claim.id)
    return found


def _reason(claim: Statement) -> str:
    if claim.says is None:
        return IN_WORDS
    if isinstance(claim, Claim):
        return NO_CHANNEL if claim.reading.has_epsilon else WITHOUT_EPSILON
    if not isinstance(claim, MatrixClaim):
        return OF_CHANCE
    return {Kind.DESCENT: OF_A_DESCENT, Kind.LAYER: NO_LAYER, Kind.MAPS: NO_MAPS}[claim.subject]
