"""The witnesses, from those that prove to those that measure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from theory.claim import Claim
from theory.expectation_claim import ExpectationClaim
from theory.language.expression import Relation
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Statement
from verify.evidence import Record
from verify.witnesses.witness import Later, Witness, each, timed

RANDOM = "examine_random"
TOGETHER = 128
"""So many statements share the derivatives of a case."""
AT_BEST_SCALING = (
    "L-thm-4c", "L-thm-4c/sqrt-n", "L-thm-4c/by-correlation", "L-thm-4c/half-n",
)  # fmt: skip
"""The statements that speak of the minimum over diagonal matrices."""
SHIPPED = ("S-fact-C1/eps/shipped", "S-eq-41-42/eps/shipped")
"""The gradient and the Hessian that the library ships."""


def of_a_batch(claim: Statement) -> bool:
    """Whether a statement is about one unit's batch."""
    return isinstance(claim, Claim)


def bounds_a_batch(claim: Statement) -> bool:
    """Whether a statement about a batch bounds one side by the other."""
    return of_a_batch(claim) and claim.relation is not Relation.EQUAL


def is_of_first_order(claim: Statement) -> bool:
    """Whether a statement about a batch nests no derivatives."""
    return isinstance(claim, Claim) and claim.order == 1


def of_matrices(claim: Statement) -> bool:
    """Whether a statement is about matrices of numbers."""
    return isinstance(claim, MatrixClaim)


def of_a_layer(claim: Statement) -> bool:
    """Whether a statement is about a dense layer."""
    return isinstance(claim, MatrixClaim) and claim.subject is Kind.LAYER


def of_a_network(claim: Statement) -> bool:
    """Whether a statement about matrices has subjects in trained networks."""
    return isinstance(claim, MatrixClaim) and claim.subject is not Kind.DESCENT


def of_expectations(claim: Statement) -> bool:
    """Whether a statement is about expectations of random matrices."""
    return isinstance(claim, ExpectationClaim)


def _one(module: str, name: str = "examine") -> partial[Iterator[Record]]:
    return partial(each, Later(f"verify.{module}", name))


def _all(module: str, name: str = "examine") -> partial[Iterator[Record]]:
    return partial(timed, Later(f"verify.{module}", name))


OF_A_BATCH = (
    Witness("abstract", of_a_batch, _one("witnesses.abstract")),
    Witness("polynomial", of_a_batch, _all("witnesses.polynomial"), TOGETHER),
    Witness("exact", of_a_batch, _all("witnesses.integers"), TOGETHER),
    Witness("symbolic", of_a_batch, _one("witnesses.symbolic")),
    Witness("ascent", bounds_a_batch, _one("witnesses.ascent", "climb")),
    Witness("autograd", of_a_batch, _all("witnesses.autograd", RANDOM), TOGETHER),
    Witness("complex step", is_of_first_order, _all("witnesses.complex_step", RANDOM), TOGETHER),
    Witness(
        "finite differences", of_a_batch, _all("witnesses.finite_differences", RANDOM), TOGETHER
    ),
    Witness("trained", of_a_batch, _all("witnesses.trained"), TOGETHER),
    Witness("finite differences (trained)", lambda c: c.id in SHIPPED, _one("witnesses.kinks")),
)
OF_MATRICES = (
    Witness("abstract", of_a_layer, _one("matrices.abstract")),
    Witness("exact", of_matrices, _all("matrices.integers"), TOGETHER),
    Witness("symbolic", of_matrices, _one("matrices.symbolic")),
    Witness("autograd", of_matrices, _all("matrices.floats", RANDOM), TOGETHER),
    Witness("array library", of_matrices, _all("matrices.library", RANDOM), TOGETHER),
    Witness("trained", of_a_network, _all("matrices.trained"), TOGETHER),
    Witness("best scaling", lambda c: c.id in AT_BEST_SCALING, _one("matrices.best_scaling")),
    Witness("scaling ascent", lambda c: c.id in AT_BEST_SCALING, _all("matrices.scaling_ascent")),
)
OF_EXPECTATIONS = (Witness("monte carlo", of_expectations, _one("expectations.examine")),)
WITNESSES = (*OF_A_BATCH, *OF_MATRICES, *OF_EXPECTATIONS)
