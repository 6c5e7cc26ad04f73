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

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn

import sympy as sp

from theory.arithmetic import abstract, sqrt
from theory.arithmetic.abstract import (
    AbstractVector,
    Space,
    UndeterminedError,
    is_zero,
    tidy,
)
from theory.arithmetic.dual import standard_part
from theory.arithmetic.quotients import factored
from theory.claim import Claim, Hypothesis, Relation, Term
from theory.statement import Statement
from verify.cases.case import imposed_by
from verify.evidence import Record
from verify.network import Calculus, PrimitiveNetwork
from verify.results import EVERY_M, Proof
from verify.settings import Settings
from verify.witnesses import exact
from verify.witnesses.jet import OutsideJetError

SIGMA = sp.Symbol("sigma", positive=True)
BIASED_DEVIATION = sp.Symbol("sigma_0", nonnegative=True)
EPSILON = sp.Symbol("epsilon", nonnegative=True)


class LosesGeneralityError(ValueError):
    """A hypothesis asked the generic case for a special loss."""


@dataclass(frozen=True)
class AbstractCase:
    """One unit with a batch of symbolic length; hypotheses may replace its fields."""

    y: AbstractVector
    gamma: Any
    beta: Any
    eps: Any
    direction: AbstractVector
    other_direction: AbstractVector
    bound: Any

    def with_isotropic_loss(self, linear: Any, curvature: Any) -> NoReturn:
        """Refuse: a proof for one loss is no proof."""
        raise LosesGeneralityError("an isotropic loss is a special case")

    def with_relu_network_loss(self) -> NoReturn:
        """Refuse, likewise."""
        raise LosesGeneralityError("a network is a special case")

    def with_later_batchnorm_loss(self) -> NoReturn:
        """Refuse, likewise."""
        raise LosesGeneralityError("a network is a special case")


def abstract_case(has_epsilon: bool) -> AbstractCase:
    """Return the generic case: any batch, any gamma and beta, and eps zero or non-negative."""
    space = Space({frozenset({abstract.ONE, "c"}): sp.Integer(0)})
    deviation = BIASED_DEVIATION if has_epsilon else SIGMA
    space.known[frozenset({"c"})] = space.m * deviation**2
    gamma, beta, mu = sp.symbols("gamma beta mu", real=True)
    return AbstractCase(
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

    def __init__(self, case: AbstractCase):
        super().__init__(
            case.y,
            case.y.space.m,
            case.gamma,
            case.beta,
            case.eps,
            case.direction,
            self.jet,
            Calculus(sqrt, abstract.gradient, abstract.directional_derivative),
            case.other_direction,
            case.bound,
        )

    def jet(self, z: AbstractVector) -> Any:
        """Return the 2-jet of the loss at the layer's output."""
        d = z - self.z
        if not all(is_zero(standard_part(c)) for c in d.coefficients.values()):
            raise OutsideJetError("the loss is known only near the layer's output z")
        return self.y.space.vector("g").inner(d) + d.inner(d.apply_operator()) / 2

    def forward(self, y: AbstractVector) -> AbstractVector:
        """Return the primitive layer's output, tidied."""
        return super().forward(y).map(tidy)


@cache
def generic(has_epsilon: bool, imposed: tuple[Callable[[Any], Any], ...] = ()) -> AbstractNetwork:
    """Return the network of the generic case, changed as hypotheses want it.

    Statements share what is computed there.
    """
    case = abstract_case(has_epsilon)
    for impose in imposed:
        case = impose(case)
    return AbstractNetwork(case)


@cache
def prove(claim: Claim) -> Proof | None:
    """Return a proof of the claim for every batch size, or None where none is found."""
    if claim.certificate is None and exact.differ_somewhere(claim, m=3):
        return None
    imposed = imposed_by(claim) if claim.certificate is None else ()
    try:
        network = generic(claim.reading.has_epsilon, imposed)
        letters = claim.letters(network)
        actual, claimed = claim.sides(network, letters)
    except (OutsideJetError, LosesGeneralityError, UndeterminedError):
        return None
    slack = claim.relation.slack(actual, claimed)
    if claim.certificate is None:
        return Proof((EVERY_M,), "0") if not claim.relation.is_strict and is_zero(slack) else None
    terms = claim.certificate(network, letters)
    total = sum((term.value(network, letters) for term in terms), start=sp.Integer(0))
    if not (is_zero(slack - total) and all(is_non_negative(term, claim) for term in terms)):
        return None
    if claim.relation.is_strict and not any(map(is_positive, terms)):
        return None
    if claim.relation is Relation.EQUAL and not all(map(is_zero_by_hypothesis, terms)):
        return None
    return Proof((EVERY_M,), str(shown(slack)), tuple(_describe(term) for term in terms))


def is_non_negative(term: Term, claim: Statement) -> bool:
    """Whether a term cannot be negative, by its symbols' signs and the claim's hypotheses alone."""
    hypotheses = [f for f in term.factors if isinstance(f, Hypothesis)]
    if not all(h in claim.hypotheses for h in hypotheses):
        return False
    if any(h.sign is Relation.EQUAL for h in hypotheses):
        return True
    if any(h.sign.bounds_above for h in hypotheses):
        return False
    numerator, denominator = _fraction(_roots_as_symbols(term.weight))
    return bool((numerator * denominator).is_nonnegative)


def _roots_as_symbols(weight: Any) -> sp.Expr:
    """Return a weight with its square roots as symbols: where they exist, none is negative."""

    def root(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        return sp.Symbol(f"sqrt({base})", nonnegative=True) ** (2 * exponent)

    return sp.sympify(weight).replace(
        lambda e: e.is_Pow and e.exp.is_Rational and e.exp.q == 2, lambda e: root(*e.args)
    )


def is_zero_by_hypothesis(term: Term) -> bool:
    """Whether a term has a factor that a hypothesis says is zero."""
    return any(isinstance(f, Hypothesis) and f.sign is Relation.EQUAL for f in term.factors)


def is_positive(term: Term) -> bool:
    """Whether a non-negative term cannot vanish: neither its weight nor its factors can."""
    strict = all(isinstance(f, Hypothesis) and f.sign is Relation.MORE_THAN for f in term.factors)
    return strict and bool(_fraction(term.weight)[0].is_nonzero)


def _fraction(weight: Any) -> tuple[sp.Expr, sp.Expr]:
    """Return the weight's numerator and denominator, in v and eps where it speaks of v."""
    in_variance = sp.sympify(weight).subs(SIGMA, sp.sqrt(BIASED_DEVIATION**2 + EPSILON))
    chosen = in_variance if sp.sympify(weight).has(BIASED_DEVIATION) else sp.sympify(weight)
    numerator, denominator = sp.fraction(sp.factor(chosen))
    return numerator, denominator


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
    proof = prove(claim)
    if proof is None:
        return Record(claim.id, "abstract", notes="no proof found; says nothing")
    return Record(claim.id, "abstract", proof=proof)
