"""The witnesses, from those that prove to those that measure."""

from __future__ import annotations

from functools import partial

from theory.claim import Claim
from theory.expectation_claim import ExpectationClaim
from theory.language.expression import Relation
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Statement
from verify.witnesses.witness import Applies, Later, Witness, each, timed

TOGETHER = 256
"""So many statements share the derivatives of a case."""
AT_BEST_SCALING = (
    "L-thm-4c", "L-thm-4c/sqrt-n", "L-thm-4c/by-correlation", "L-thm-4c/half-n/five-features",
    "L-thm-4c/sharp",
)  # fmt: skip
"""The statements that speak of the minimum over diagonal matrices."""
SHIPPED = ("S-fact-C1/eps/shipped", "S-eq-41-42/eps/shipped")
"""The gradient and the Hessian that the library ships."""


MET_BY_UNITS = (
    "S-thm-4.2b/order", "S-thm-4.2b/order/eps", "S-thm-4.2-discussion/descent",
    "S-thm-4.2-discussion/descent/eps", "S-thm-4.2-discussion/descent/corrected",
    "S-thm-4.2-discussion/descent/eps/corrected", "S-thm-4.2-discussion/psd",
    "S-thm-4.2-discussion/kink", "S-thm-4.2-discussion/later-batchnorm",
    "S-v1-lemma-3.3/any-epsilon", "S-v1-lemma-3.3/any-epsilon/corrected",
)  # fmt: skip
"""Statements whose hypotheses are imposed on drawn batches, and met by units as they are."""
UNMET_BY_NETWORKS = (
    "S-thm-4.2b/direct", "S-thm-4.2b/direct/eps", "S-thm-4.2b/direct/eps-unit",
    "S-v1-remark-always/output", "S-v1-remark-always/output/eps",
    "S-v1-remark-resnet/reduction", "S-v1-remark-resnet/reduction/eps",
    "S-v1-thm-C4/square", "S-v1-thm-C4/square/eps", "S-v1-proof-C4/gain",
    "S-v1-thm-3.4/any-constants", "S-v1-thm-3.4/shrinks", "S-v1-remark-always/one-weight",
    "S-v1-remark-spectral", "S-v1-thm-C6/same-weight", "S-v1-thm-C6/same-unit",
    "S-v1-thm-C6/two-units", "S-remark-growth/last-term/two-examples",
    "S-remark-growth/last-term/two-examples-hessian",
    "L-thm-4b/two-features", "L-thm-4b/only-if", "L-thm-4c/improves/two-features",
    "L-thm-4c/half-n/five-features",
    "L-lemma-A1/two-columns", "L-proof-thm-4/smallest-first-case",
)  # fmt: skip
"""Statements that assume what no layer of the trained networks has, such as two features."""
WHAT_IS_ZERO = ("S-remark-growth/last-term", "S-remark-growth/last-term/eps")
"""Statements that what is zero is positive: in floats that is left open."""
NOUGHT_DERIVATIVES = (
    "L-LN-GN/whole-matrix", "L-LN-GN/of-BN", "L-LN-GN/every-group", "L-LN-GN/examples/of-LN",
    "L-LN-GN/examples/every-group", "L-prop-2/later-BN", "L-def-minimiser", "L-thm-1",
    "L-thm-1/softmax", "L-thm-1/softmax/corrected", "S-lemma-4.5/no-bias/corrected",
    "S-lemma-4.5/no-bias/eps/corrected", "S-remark-growth/last-term/two-examples-hessian",
)  # fmt: skip
"""Statements on derivatives that are zero: no digit of a difference quotient is right there."""


TWICE = 2
"""How deep difference quotients and complex steps together nest derivatives."""


def of_a_batch(claim: Statement) -> bool:
    """Whether a statement is about one unit's batch."""
    return isinstance(claim, Claim)


def bounds_a_batch(claim: Statement) -> bool:
    """Whether a statement about a batch bounds one side by the other."""
    return of_a_batch(claim) and claim.relation is not Relation.EQUAL


def is_of_first_order(claim: Statement) -> bool:
    """Whether complex steps can decide a statement about a batch."""
    return isinstance(claim, Claim) and claim.order == 1 and is_measurable(claim)


def is_measurable(claim: Statement) -> bool:
    """Whether floats can decide a statement about a batch."""
    return of_a_batch(claim) and claim.id not in WHAT_IS_ZERO


def is_differentiable_by_differences(claim: Statement) -> bool:
    """Whether difference quotients can decide a statement: of a complex step, and no further."""
    is_near = not isinstance(claim, Claim) or claim.order <= TWICE
    return is_near and claim.id not in (*WHAT_IS_ZERO, *NOUGHT_DERIVATIVES)


def of_a_unit(claim: Statement) -> bool:
    """Whether units of trained networks can meet a batch's hypotheses, or be changed so."""
    return is_measurable(claim) and claim.id not in UNMET_BY_NETWORKS


def of_matrices(claim: Statement) -> bool:
    """Whether a statement is about matrices of numbers."""
    return isinstance(claim, MatrixClaim)


def of_a_layer(claim: Statement) -> bool:
    """Whether a statement is about a dense layer."""
    return isinstance(claim, MatrixClaim) and claim.subject is Kind.LAYER


def of_a_network(claim: Statement) -> bool:
    """Whether a statement about matrices has subjects in trained networks."""
    is_of_a_layer = isinstance(claim, MatrixClaim) and claim.subject is not Kind.DESCENT
    return is_of_a_layer and claim.id not in UNMET_BY_NETWORKS


def at_best_scaling(claim: Statement) -> bool:
    """Whether a statement speaks of the minimum over diagonal matrices."""
    return claim.id in AT_BEST_SCALING


def of_expectations(claim: Statement) -> bool:
    """Whether a statement is about expectations of random matrices."""
    return isinstance(claim, ExpectationClaim)


def _each(name: str, applies: Applies, module: str, *reads: str) -> Witness:
    """Return a witness that examines statements one by one."""
    examine = partial(each, Later(f"verify.witnesses.{module}", "examine"))
    return Witness(name, applies, examine, reads=reads)


def _together(name: str, applies: Applies, module: str, *reads: str) -> Witness:
    """Return a witness whose statements share what is computed for a case."""
    examine = partial(timed, Later(f"verify.witnesses.{module}", "examine"))
    return Witness(name, applies, examine, TOGETHER, reads)


NETWORKS = ("seed", "stages")
IN_ARRAYS = ("seed", "differences", "backend", "device")

OF_A_BATCH = (
    _each("abstract", of_a_batch, "abstract"),
    _together("polynomial", of_a_batch, "polynomial"),
    _together("exact", of_a_batch, "batches", "seed", "examples"),
    _each("symbolic", of_a_batch, "symbolic", "sizes"),
    _together("ascent", bounds_a_batch, "ascent", "seed", "restarts", "steps"),
    _together("autograd", is_measurable, "autograd", "seed", "random"),
    _together("complex step", is_of_first_order, "complex_step", *IN_ARRAYS),
    _together(
        "finite differences",
        lambda c: of_a_batch(c) and is_differentiable_by_differences(c),
        "finite_differences",
        *IN_ARRAYS,
    ),
    _together("trained", of_a_unit, "trained", *NETWORKS),
    _together("finite differences (trained)", lambda c: c.id in SHIPPED, "kinks", *NETWORKS),
)
OF_MATRICES = (
    _each("abstract", of_a_layer, "matrices.abstract"),
    _together("exact", of_matrices, "matrices.integers", "seed", "examples"),
    _each("symbolic", of_matrices, "matrices.symbolic", "sizes"),
    _together("autograd", of_matrices, "matrices.floats", "seed", "random"),
    _together(
        "array library",
        lambda c: of_matrices(c) and is_differentiable_by_differences(c),
        "matrices.libraries",
        *IN_ARRAYS,
    ),
    _together("trained", of_a_network, "matrices.trained", *NETWORKS),
    _together("best scaling", at_best_scaling, "matrices.best_scaling", *NETWORKS, "random"),
    _together(
        "scaling ascent", at_best_scaling, "matrices.scaling_ascent", "seed", "restarts", "steps"
    ),
)
OF_EXPECTATIONS = (
    _together("monte carlo", of_expectations, "expectations.examine", "seed", "random"),
)
WITNESSES = (*OF_A_BATCH, *OF_MATRICES, *OF_EXPECTATIONS)
