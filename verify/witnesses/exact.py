r"""The exact witness: rational inputs, and both sides as exact numbers.

Numbers are :math:`p + q\sqrt d` where one square root suffices.  Where two different roots meet
(the supplement's :math:`\sqrt m` next to :math:`\sigma`), balls of growing precision take over:
they certify the sign of a difference without a closed form of it.  The two differentiate in
different ways, dual numbers here and power series there.

A case refutes a claim only if it meets every hypothesis for certain.  At the edge of one, where its
quantity is zero, no ball tells; there the quantity is an expression with square roots, which
vanishes or not (:mod:`theory.arithmetic.radicals`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np
import sympy as sp
from flint import arb, ctx, fmpq

from theory.arithmetic import exact, sqrt, symbolic
from theory.arithmetic.exact import DifferentFieldsError, number, rational_array
from theory.arithmetic.formulas import UnreadableError
from theory.arithmetic.radicals import UndecidedError, is_zero
from theory.claim import Claim, Hypothesis, Reading, Relation, Sides
from verify.cases.case import Case, adapted, imposed_by
from verify.cases.lattice import lattice_case
from verify.network import Calculus, PrimitiveNetwork
from verify.tolerance import Outcome
from verify.witnesses import ball

CAP = 1024
"""Bits of precision at most."""
EXACT = Calculus(sqrt, exact.gradient, exact.derivative)
BALLS = Calculus(sqrt, ball.gradient, ball.derivative)
ROOTS = Calculus(sqrt, symbolic.gradient, symbolic.derivative)


@dataclass(frozen=True)
class Examined:
    """The outcome of one case and both sides, as exact numbers where they have a closed form."""

    outcome: Outcome
    sides: Sides | None = None
    arithmetic: str = "exact"

    @property
    def actual(self) -> str:
        """The actual side in words."""
        return "" if self.sides is None else side_in_words(self.sides.actual)

    @property
    def claimed(self) -> str:
        """The claimed side in words."""
        return "" if self.sides is None else side_in_words(self.sides.claimed)


def rational_case(case: Case) -> Case:
    """Return the case with every number rational; a float is the rational that it stores."""
    return _converted(case, rational_array, number)


class Networks:
    """The networks of one case, each made once: as claims want it, in numbers of several kinds.

    What is computed there for one claim is known to the next.
    """

    def __init__(self, case: Case):
        self.case = rational_case(case)
        self._made: dict[Any, PrimitiveNetwork] = {}

    def exact(self, claim: Claim) -> PrimitiveNetwork:
        """Return the network in exact numbers."""
        return self._once(claim, "exact", lambda: network_of(adapted(self.case, claim), EXACT))

    def in_balls(self, claim: Claim) -> PrimitiveNetwork:
        """Return the network in balls of the precision in force."""
        return self._once(
            claim, ctx.prec, lambda: network_of(adapted(_in_balls(self.case), claim), BALLS)
        )

    def in_roots(self, claim: Claim) -> PrimitiveNetwork:
        """Return the network in expressions with square roots."""
        return self._once(
            claim, "roots", lambda: network_of(adapted(_in_roots(self.case), claim), ROOTS)
        )

    def _once(
        self, claim: Claim, arithmetic: Any, make: Callable[[], PrimitiveNetwork]
    ) -> PrimitiveNetwork:
        key = claim.reading.has_epsilon, imposed_by(claim), arithmetic
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


def outcomes(claims: Sequence[Claim], case: Case) -> list[Outcome]:
    """Return what becomes of claims at one case: by balls where they suffice, else by numbers."""
    networks = Networks(case)
    return [_decided(claim, networks) for claim in claims]


def _decided(claim: Claim, networks: Networks) -> Outcome:
    quick = _examine_in_balls(claim, networks, 128, 128).outcome
    return _examine(claim, networks).outcome if quick is Outcome.UNDECIDED else quick


def examine(claim: Claim, case: Case) -> Examined:
    """Decide one case of rational numbers and a polynomial loss for certain.

    A case at which a side divides by an exact zero (1/gamma at gamma = 0, the direction of a yhat
    that is zero) lies outside the statement and is vacuous.
    """
    return _examine(claim, Networks(case))


def _examine(claim: Claim, networks: Networks) -> Examined:
    if not _is_defined(claim, networks.case):
        return Examined(Outcome.VACUOUS)
    try:
        return _examine_exactly(claim, networks.exact(claim))
    except DifferentFieldsError:
        return _examine_in_balls(claim, networks)
    except ZeroDivisionError:
        return Examined(Outcome.VACUOUS)


def examine_in_balls(claim: Claim, case: Case, bits: int = 128, cap: int = CAP) -> Examined:
    """Decide one case in balls whose precision is doubled until they are decided."""
    return _examine_in_balls(claim, Networks(case), bits, cap)


def _examine_in_balls(
    claim: Claim, networks: Networks, bits: int = 128, cap: int = CAP
) -> Examined:
    if not _is_defined(claim, networks.case):
        return Examined(Outcome.VACUOUS)
    shown: list[Sides] = []
    at_edge: list[Hypothesis] = []

    def sides() -> Sides:
        network = networks.in_balls(claim)
        letters = claim.letters(network)
        at_edge.clear()
        for h in claim.hypotheses:
            quantity = h.quantity(network, letters)
            met = ball.compare(quantity, 0, h.sign)
            if met is Outcome.VIOLATED:
                raise _VacuousError
            if not _is_finite(quantity):
                raise _UndefinedError
            if met is Outcome.UNDECIDED:
                at_edge.append(h)
        shown.append(claim.sides(network, letters))
        return shown[-1]

    try:
        outcome = ball.decide(sides, claim.relation, bits, cap).outcome
    except _VacuousError:
        return Examined(Outcome.VACUOUS, arithmetic="balls")
    except _UndefinedError:
        return Examined(Outcome.UNDECIDED, arithmetic="balls")
    if outcome is Outcome.VIOLATED:
        outcome = _where_met(claim, networks, at_edge)
    return Examined(outcome, shown[-1], "balls")


def _where_met(claim: Claim, networks: Networks, hypotheses: Sequence[Hypothesis]) -> Outcome:
    """Return what becomes of a case that violates a claim, if these hypotheses are met there."""
    try:
        met = {_is_met(hypothesis, claim, networks) for hypothesis in hypotheses}
    except ZeroDivisionError:
        return Outcome.VACUOUS
    if Outcome.VIOLATED in met:
        return Outcome.VACUOUS
    return Outcome.UNDECIDED if Outcome.UNDECIDED in met else Outcome.VIOLATED


def _is_met(hypothesis: Hypothesis, claim: Claim, networks: Networks) -> Outcome:
    """Return whether a hypothesis holds: in exact numbers, or else in balls and, at zero, roots."""

    def entries(network: PrimitiveNetwork) -> Any:
        return np.ravel(np.asarray(hypothesis.quantity(network, claim.letters(network)), object))

    with suppress(DifferentFieldsError):
        return meets(hypothesis, entries(networks.exact(claim)))
    with ctx.workprec(CAP):
        balls = entries(networks.in_balls(claim))
        met = meets(hypothesis, balls)
        if met is Outcome.UNDECIDED:
            with suppress(UndecidedError, UnreadableError):
                vanishes = each(is_zero, entries(networks.in_roots(claim)))
                met = meets(hypothesis, balls * (1 - vanishes))
    return met


def differ_somewhere(claim: Claim, m: int) -> bool:
    """Whether the sides differ for certain at one batch of m integers.

    Seen sooner than proved: hypotheses are imposed, and not checked.
    """
    random = Random(m)

    def entries(count: int) -> list[int]:
        return [random.randint(-9, 9) for _ in range(count)]

    case = lattice_case(
        entries(m), 3, 2, Fraction(3, 2), entries(m), entries(m * (m + 1) // 2), entries(m),
        entries(m), 2,
    )  # fmt: skip
    imposed = tuple(
        replace(hypothesis, quantity=lambda network, at: 1, sign=Relation.MORE_THAN)
        for hypothesis in claim.hypotheses
    )
    says = None if claim.says is None else replace(claim.says, relation=Relation.EQUAL)
    equation = replace(claim, says=says, relation=Relation.EQUAL, hypotheses=imposed)
    return examine_in_balls(equation, case, cap=128).outcome is Outcome.VIOLATED


class _VacuousError(Exception):
    """A hypothesis does not hold."""


class _UndefinedError(Exception):
    """A hypothesis divides by what may be zero: whether it holds, balls cannot tell."""


def _is_finite(quantity: Any) -> bool:
    entries = np.asarray(quantity, dtype=object).ravel()
    return all(not isinstance(x, arb) or x.is_finite() for x in entries)


def _examine_exactly(claim: Claim, network: PrimitiveNetwork) -> Examined:
    letters = claim.letters(network)
    met = (meets(h, h.quantity(network, letters)) for h in claim.hypotheses)
    if any(outcome is not Outcome.HOLDS for outcome in met):
        return Examined(Outcome.VACUOUS)
    sides = claim.sides(network, letters)
    return Examined(compared(*sides, claim.relation), sides)


def compared(actual: Any, claimed: Any, relation: Relation) -> Outcome:
    """Return whether one side stands in the relation to the other, entry by entry, for certain."""
    left, right = np.broadcast_arrays(np.asarray(actual, object), np.asarray(claimed, object))
    if has_balls(left) or has_balls(right):
        return ball.compare(each(to_ball, left), each(to_ball, right), relation)
    pairs = zip(left.ravel(), right.ravel(), strict=True)
    holds = all(stands(number(a) - number(b), relation) for a, b in pairs)
    return Outcome.HOLDS if holds else Outcome.VIOLATED


def meets(hypothesis: Hypothesis, quantity: Any) -> Outcome:
    """Return whether what a hypothesis is about stands in its relation to zero."""
    entries = np.ravel(np.asarray(quantity, dtype=object))
    return compared(entries, 0 * entries, hypothesis.sign)


def has_balls(side: Any) -> bool:
    """Whether an entry of a side is a ball."""
    return any(isinstance(entry, arb) for entry in np.ravel(np.asarray(side, dtype=object)))


def each(convert: Callable[[Any], Any], values: Any) -> Any:
    """Return every entry converted."""
    return np.frompyfunc(convert, 1, 1)(np.asarray(values, dtype=object))


def to_ball(value: Any) -> Any:
    """Return a number as a ball at the precision in force."""
    return value if isinstance(value, arb) else number(value).ball()


def stands(difference: Any, relation: Relation) -> bool:
    """Whether an exact difference stands in the relation to zero."""
    return bool(relation.compare(difference.sign(), 0))


def network_of(case: Case, calculus: Calculus) -> PrimitiveNetwork:
    """Return the network of a case, its numbers being of the calculus's arithmetic."""
    length = case.y[0] * 0 + len(case.y)
    return PrimitiveNetwork(
        case.y,
        length,
        case.gamma,
        case.beta,
        case.eps,
        case.direction,
        case.loss,
        calculus,
        case.other_direction,
        case.bound,
        case.later_normalizations,
    )


def _is_defined(claim: Claim, case: Case) -> bool:
    """Whether sigma is positive, and in the unit-variance reading the variance too."""
    spread = any(entry != case.y[0] for entry in case.y)
    has_epsilon = claim.reading.has_epsilon and case.eps != 0
    return spread or (has_epsilon and claim.reading is not Reading.UNIT_VARIANCE)


def _in_balls(case: Case) -> Case:
    """Return a rational case with balls for its numbers, at the precision in force."""
    return _converted(case, partial(each, to_ball), to_ball)


def _in_roots(case: Case) -> Case:
    """Return a rational case with expressions for its numbers."""
    return _converted(case, partial(each, _to_roots), _to_roots)


def _to_roots(value: Any) -> sp.Expr:
    p, q, d = (sp.Rational(int(x.p), int(x.q)) for x in map(fmpq, (value.p, value.q, value.d)))
    return p + q * sp.sqrt(d)


def _converted(
    case: Case, array: Callable[[Any], np.ndarray], scalar: Callable[[Any], Any]
) -> Case:
    convert = partial(_convert, array, scalar)

    def single(value: Any) -> Any:
        """Convert a number, also one that a hypothesis left in an array of its own."""
        return scalar(np.asarray(value, dtype=object).item())

    return replace(
        case,
        y=array(case.y),
        gamma=single(case.gamma),
        beta=single(case.beta),
        eps=single(case.eps),
        direction=array(case.direction),
        other_direction=array(case.other_direction),
        bound=single(case.bound),
        loss=replace(case.loss, parameters=tuple(map(convert, case.loss.parameters))),
    )


def _convert(array: Callable[[Any], np.ndarray], scalar: Callable[[Any], Any], value: Any) -> Any:
    return array(value) if np.ndim(value) else scalar(value)


def side_in_words(side: Any) -> str:
    """Return a side as text: a number, or its entries in brackets."""
    entries = [str(entry) for entry in np.asarray(side, dtype=object).ravel()]
    return entries[0] if len(entries) == 1 else f"({', '.join(entries)})"
