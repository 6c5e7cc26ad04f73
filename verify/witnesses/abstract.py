r"""The abstract witness: a proof for every batch size, or silence.

The batch is :math:`y = \mu 1 + c` with :math:`\langle 1, c\rangle = 0` and
:math:`\langle c, c\rangle = m v`; the loss is known by its 2-jet at the layer's output,
:math:`L(z + d) = \langle g, d\rangle + \langle d, Hd\rangle/2`, which is all that first and
second derivatives see.  With :math:`v = \sigma_0^2` and :math:`\epsilon = \sigma^2 - \sigma_0^2`
every square root that Batch Normalization takes is a symbol.

An equality is proved by a difference that vanishes.  An inequality is proved by its certificate:
terms that are visibly non-negative and that add up to its slack.
"""

from __future__ import annotations

import operator
from functools import cache, reduce
from typing import Any

import sympy as sp

from theory.arithmetic import abstract, sqrt
from theory.arithmetic.abstract import (
    AbstractVector,
    Space,
    UndeterminedError,
    is_zero,
    tidy,
)
from theory.arithmetic.quotients import VanishingError, factored
from theory.claim import Claim, Hypothesis, Term
from verify.cases.case import (
    Change,
    GenericCase,
    LosesGeneralityError,
    changed,
    imposed_by,
    numbers,
)
from verify.evidence import Record
from verify.network import Calculus, PrimitiveNetwork
from verify.results import EVERY_M, Proof
from verify.settings import Settings
from verify.witnesses import exact
from verify.witnesses.certificates import BIASED_DEVIATION, EPSILON, SIGMA, show
from verify.witnesses.jet import OutsideJetError, refuse_outside


def abstract_case(has_epsilon: bool) -> GenericCase:
    """Return a batch of symbolic length, any gamma and beta, and eps zero or non-negative."""
    space = Space({frozenset({abstract.ONE, "c"}): sp.Integer(0)})
    deviation = BIASED_DEVIATION if has_epsilon else SIGMA
    space.known[frozenset({"c"})] = space.m * deviation**2
    gamma, beta, mu = sp.symbols("gamma beta mu", real=True)
    return GenericCase(
        y=mu * space.one + space.vector("c"),
        gamma=gamma,
        beta=beta,
        eps=SIGMA**2 - BIASED_DEVIATION**2 if has_epsilon else sp.Integer(0),
        direction=space.vector("u"),
        other_direction=space.vector("v"),
        bound=sp.Symbol("lambda", positive=True),
    )


class AbstractNetwork(PrimitiveNetwork):
    """The network of an abstract case, differentiated by dual numbers."""

    def __init__(self, case: GenericCase):
        calculus = Calculus(sqrt, abstract.gradient, abstract.directional_derivative)
        super().__init__(**numbers(case), m=case.y.space.m, loss=self.jet, calculus=calculus)

    def jet(self, z: AbstractVector) -> Any:
        """Return the 2-jet of the loss at the layer's output."""
        d = z - self.z
        refuse_outside(d.coefficients.values(), is_zero)
        return self.y.space.vector("g").inner(d) + d.inner(d.apply_operator()) / 2

    def forward(self, y: AbstractVector) -> AbstractVector:
        """Return the primitive layer's output, tidied."""
        return super().forward(y).map(tidy)


@cache
def generic(has_epsilon: bool, imposed: tuple[Change, ...] = ()) -> AbstractNetwork:
    """Return the network of the generic case, changed as hypotheses want it.

    Statements share what is computed there.
    """
    return AbstractNetwork(changed(abstract_case(has_epsilon), imposed))


UNPROVABLE = OutsideJetError, LosesGeneralityError, UndeterminedError, VanishingError
"""What a statement asks for that the generic case does not have."""


def prove(claim: Claim) -> Proof | None:
    """Return a proof of the claim for every batch size, or None where none is found."""
    found = sought(claim)
    return found if isinstance(found, Proof) else None


@cache
def sought(claim: Claim) -> Proof | str:
    """Return a proof of the claim for every batch size, or why there is none."""
    if claim.certificate is None and exact.differ_somewhere(claim, m=3):
        return "its sides differ at whole numbers"
    try:
        return _derived(claim)
    except UNPROVABLE as error:
        return str(error)


def _derived(claim: Claim) -> Proof | str:
    imposed = imposed_by(claim) if claim.certificate is None else ()
    network = generic(claim.reading.has_epsilon, imposed)
    letters = claim.letters(network)
    actual, claimed = claim.sides(network, letters)
    slack = claim.relation.slack(actual, claimed)
    terms = [] if claim.certificate is None else claim.certificate(network, letters)
    rest = reduce(operator.sub, (term.value(network, letters) for term in terms), slack)
    if not is_zero(rest):
        added = "because= is not seen to add up to claimed - actual"
        return added if terms else "it is not seen from inner products"
    if not show(claim, terms):
        return "the terms of because= are not all seen to be of the sign that the relation needs"
    written = str(shown(slack)) if terms else "0"
    return Proof((EVERY_M,), written, tuple(_describe(term) for term in terms))


@cache
def shown(expression: sp.Expr) -> sp.Expr:
    """Return the expression factored, with sigma^2 - sigma_0^2 written as epsilon."""
    in_epsilon = sp.sympify(expression).subs(BIASED_DEVIATION, sp.sqrt(SIGMA**2 - EPSILON))
    return factored(in_epsilon)


def _describe(term: Term) -> str:
    def name(factor: Any) -> str:
        if isinstance(factor, Hypothesis):
            return f"[{factor.statement}]"
        if isinstance(factor, AbstractVector):
            return f"|{factor.map(shown)}|^2"
        return f"({shown(factor)})^2"

    return " * ".join([f"({shown(sp.sympify(term.weight))})", *map(name, term.factors)])


def examine(claim: Claim, settings: Settings) -> Record:
    """A proof for every batch size, or silence."""
    found = sought(claim)
    if isinstance(found, Proof):
        return Record(claim.id, "abstract", proof=found)
    return Record(claim.id, "abstract", notes=f"no proof found: {found}; says nothing")
