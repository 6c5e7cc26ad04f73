"""Proofs of statements about a layer for every number N of examples, or silence.

The inputs H are a matrix of symbolic height, known by the inner products of its columns
(:mod:`theory.arithmetic.tall`); what has no axis of examples is letters, for named numbers of
inputs and outputs.  A statement that looks at single examples, or at a loss of them, is left to
the other witnesses.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import SympifyError

from theory.arithmetic import tall
from theory.arithmetic.quadratic import DifferentFieldsError
from theory.arithmetic.radicals import UndecidedError, UnreadableError
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Statement
from verify.evidence import Record
from verify.ledger import EVERY_N
from verify.matrices import exact
from verify.matrices.subjects import Layer
from verify.matrices.symbolic import FIRST_TRIES, can_be_tried, follows, letters
from verify.witnesses.witness import Settings

WITNESS = "abstract"
SIZES = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1))
"""Numbers of inputs and outputs."""
FIRST_N = 3
"""So many examples have the integers that a statement must survive before a proof is tried."""

SILENT = (
    UndecidedError, UnreadableError, DifferentFieldsError, SympifyError, ZeroDivisionError,
    # What only single rows could answer: an index, a shape, a comparison of N, a loss.
    TypeError, AttributeError, ValueError,
)  # fmt: skip
"""What is met on the way to no proof."""


def applies(claim: Statement) -> bool:
    """Whether a statement is about a layer."""
    return isinstance(claim, MatrixClaim) and claim.subject is Kind.LAYER


def examine(claim: MatrixClaim, settings: Settings) -> Record:
    """Try a proof for every N, at every number of inputs and outputs."""
    if all(prove(claim, n, p) for n, p in SIZES):
        scopes = [f"{EVERY_N}, n = {n}, p = {p}" for n, p in SIZES]
        return Record(claim.id, WITNESS, proof={"scope": "; ".join(scopes)})
    return Record(claim.id, WITNESS, notes="no proof found; says nothing")


def prove(claim: MatrixClaim, n: int, p: int) -> bool:
    """Return whether the statement is proved for every layer of n inputs and p outputs."""
    if not can_be_tried(claim) or exact.fails_somewhere(claim, (FIRST_N, n, p), FIRST_TRIES):
        return False
    try:
        return follows(claim, layer(n, p))
    except SILENT:
        return False


def layer(n: int, p: int) -> Layer:
    """Return a layer on a batch of symbolic size, without a loss."""
    small = letters(Kind.LAYER, (FIRST_N, n, p))
    assert isinstance(small, Layer)
    inputs = tall.matrix("h", n)
    return replace(small, H=inputs, curvature=None, linear=None, quadratic=None, fourth=None)
