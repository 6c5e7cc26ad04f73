r"""The exact witness: rational inputs, and both sides as exact numbers.

Numbers are :math:`p + q\sqrt d` where one square root suffices.  Where two different roots meet
(the supplement's :math:`\sqrt m` next to :math:`\sigma`), balls of growing precision take over:
they certify the sign of a difference without a closed form of it.  The two differentiate in
different ways, dual numbers here and power series there.

A subject refutes a claim only if it meets every hypothesis for certain.  At the edge of one, where
its quantity is zero, no ball tells; there the quantity is a formula with square roots, which
vanishes or not (:mod:`theory.arithmetic.radicals`).

The rules are the same for a unit's batch and for matrices
(:mod:`verify.witnesses.matrices.exact`): what a claim's sides are functions of is made once for
each kind of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx, fmpq

from theory.arithmetic import sqrt, symbolic
from theory.arithmetic.exact import DifferentFieldsError, NotRealError, Quadratic, number
from theory.arithmetic.formulas import Formula, UnreadableError, formula
from theory.arithmetic.radicals import UndecidedError, is_zero
from theory.claim import Claim, Hypothesis, Reading, Relation, Sides
from theory.language.expression import Number
from theory.statement import Statement
from verify import tolerance
from verify.subjects.calculus import EXACT, Calculus, exact_entry
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.unit import Case, adapted, imposed_by
from verify.subjects.unit_lattice import generic_integers
from verify.tolerance import Outcome
from verify.witnesses import series
from verify.witnesses.series import ball

CAP = 1024
"""Bits of precision at most; beyond it two sides are taken for equal, or undecided."""


BALLS = Calculus(sqrt, series.gradient, series.derivative)
ROOTS = Calculus(sqrt, symbolic.gradient, symbolic.derivative)


class Arithmetic(NamedTuple):
    """A kind of numbers: what makes one of a rational number, and how to differentiate."""

    number: Callable[[Any], Any]
    calculus: Calculus


def _to_root(value: Any) -> Formula:
    exactly = number(value)
    return formula(exactly.p) + formula(exactly.q) * formula(exactly.d).sqrt()


IN_NUMBERS = Arithmetic(exact_entry, EXACT)
IN_BALLS = Arithmetic(ball, BALLS)
IN_ROOTS = Arithmetic(_to_root, ROOTS)
"""Formulas with square roots."""


def each(convert: Callable[[Any], Any], values: Any) -> Any:
    """Return every entry converted, or a number."""
    return _of_entries(convert)(np.asarray(values, dtype=object))


@cache
def _of_entries(convert: Callable[[Any], Any]) -> np.ufunc:
    return np.frompyfunc(convert, 1, 1)


@dataclass(frozen=True)
class Examined:
    """The outcome of one subject and both sides, as exact numbers where they have a closed form."""

    outcome: Outcome
    sides: Sides | None = None
    at_edge: tuple[Hypothesis, ...] = ()
    """The hypotheses of which it is not certain that they are met."""

    @property
    def actual(self) -> str:
        """The actual side in words."""
        return "" if self.sides is None else side_in_words(self.sides.actual)

    @property
    def claimed(self) -> str:
        """The claimed side in words."""
        return "" if self.sides is None else side_in_words(self.sides.claimed)

    def ratio(self, relation: Relation) -> float | None:
        """Return the sides' ratio, as :mod:`verify.tolerance` does; nothing where it is none."""
        if self.sides is None:
            return None
        actual, claimed = map(_in_floats, self.sides)
        if relation is not Relation.EQUAL and (actual.size, claimed.size) != (1, 1):
            return None
        found = float(tolerance.ratio(actual, claimed, relation, np.zeros(1)).item())
        return found if np.isfinite(found) else None

    @property
    def is_violated(self) -> bool:
        """Whether the statement fails there for certain."""
        return self.outcome is Outcome.VIOLATED

    @property
    def is_equality(self) -> bool:
        """Whether the sides are equal for certain, and not zero, and the hypotheses met."""
        if self.sides is None or self.outcome is not Outcome.HOLDS or self.at_edge:
            return False
        is_zero = compared(self.sides.claimed, 0, Relation.EQUAL) is Outcome.HOLDS
        return not is_zero and compared(*self.sides, Relation.EQUAL) is Outcome.HOLDS

    @property
    def arithmetic(self) -> str:
        """The arithmetic of the sides in words."""
        has_balls = self.sides is not None and any(map(_has_balls, self.sides))
        return "balls" if has_balls else "exact"


class Conversions:
    """What claims are about at one subject, each made once: as they want it, in several numbers.

    What is computed there for one claim is known to the next.

    Args:
        make: the network, or the matrices, as a claim wants them, in an arithmetic.
        is_defined: whether the subject is what a claim speaks of.
    """

    def __init__(
        self,
        make: Callable[[Any, Arithmetic], Any],
        is_defined: Callable[[Any], bool] = lambda claim: True,
    ):
        self._make, self._is_defined = make, is_defined
        self._made: dict[Any, Any] = {}

    def __call__(self, claim: Statement, arithmetic: Arithmetic) -> Any:
        """Return what the claim's sides are functions of, at the precision in force.

        Raises:
            ZeroDivisionError: the subject lies outside of the statement.
        """
        if not self._is_defined(claim):
            raise ZeroDivisionError("sigma is zero")
        key = claim.reading.has_epsilon, imposed_by(claim), arithmetic, ctx.prec
        if key not in self._made:
            self._made[key] = self._make(claim, arithmetic)
        return claim.read(self._made[key])


def decided(claim: Statement, conversions: Conversions) -> Examined:
    """Decide a claim at one subject for certain: in exact numbers, or else in balls."""
    try:
        return _settled(claim, conversions, _looked_at(claim, conversions, IN_NUMBERS))
    except DifferentFieldsError:
        return decided_in_balls(claim, conversions)


def decided_in_balls(
    claim: Statement, conversions: Conversions, bits: int = 128, cap: int = CAP
) -> Examined:
    """Decide a claim at one subject in balls whose precision is doubled until it is decided."""
    with ctx.workprec(bits):
        examined = _looked_at(claim, conversions, IN_BALLS)
    if examined.outcome is Outcome.UNDECIDED and 2 * bits <= cap:
        return decided_in_balls(claim, conversions, 2 * bits, cap)
    return _settled(claim, conversions, examined)


def _looked_at(claim: Statement, conversions: Conversions, arithmetic: Arithmetic) -> Examined:
    """Return what becomes of a claim in one arithmetic, as if it were met where that is open."""
    at_edge: list[Hypothesis] = []
    try:
        subject = conversions(claim, arithmetic)
        for hypothesis in claim.hypotheses:
            quantity = hypothesis.quantity(subject)
            met = compared(quantity, 0, hypothesis.sign)
            if met is Outcome.VIOLATED:
                return Examined(Outcome.VACUOUS)
            if met is Outcome.UNDECIDED:
                if arithmetic is IN_BALLS and not _is_finite(quantity):
                    return Examined(met)  # it may divide by zero, which exact numbers would tell
                at_edge.append(hypothesis)
        sides = claim.sides(subject)
    except (ZeroDivisionError, NotRealError):
        return Examined(Outcome.VACUOUS)
    except series.NestingError:
        return Examined(Outcome.UNDECIDED)
    except DifferentFieldsError:
        if arithmetic is IN_NUMBERS:
            raise  # balls may do
        return Examined(Outcome.UNDECIDED)
    return Examined(compared(*sides, claim.relation), sides, tuple(at_edge))


def _settled(claim: Statement, conversions: Conversions, examined: Examined) -> Examined:
    """Return what was found; nothing is refuted where a hypothesis may fail."""
    if examined.outcome is not Outcome.VIOLATED:
        return examined
    try:
        met = {_is_met(hypothesis, claim, conversions) for hypothesis in examined.at_edge}
    except ZeroDivisionError:
        met = {Outcome.VIOLATED}
    if Outcome.VIOLATED in met:
        return Examined(Outcome.VACUOUS)
    return replace(examined, outcome=Outcome.UNDECIDED) if Outcome.UNDECIDED in met else examined


def _is_met(hypothesis: Hypothesis, claim: Statement, conversions: Conversions) -> Outcome:
    """Return whether a hypothesis holds: in exact numbers, or else in balls and, at zero, roots."""

    def entries(arithmetic: Arithmetic) -> Any:
        quantity = hypothesis.quantity(conversions(claim, arithmetic))
        return np.ravel(np.asarray(quantity, dtype=object))

    with suppress(DifferentFieldsError):
        return compared(entries(IN_NUMBERS), 0, hypothesis.sign)
    with ctx.workprec(CAP):
        balls = entries(IN_BALLS)
        met = compared(balls, 0, hypothesis.sign)
        if met is Outcome.UNDECIDED:
            with suppress(UndecidedError, UnreadableError, DifferentFieldsError):
                vanishes = each(is_zero, entries(IN_ROOTS))
                met = compared(balls * (1 - vanishes), 0, hypothesis.sign)
    return met


def compared(actual: Any, claimed: Any, relation: Relation) -> Outcome:
    """Return whether one side stands in the relation to the other, entry by entry, for certain.

    It does if it does so in every entry, and is violated if it is in one.  A comparison of balls is
    true only where every point of both agrees, so that it may be open; the equality of balls that
    are not single points is never certain.

    Raises:
        TypeError: an entry is a float, of which nobody knows what it was before it was rounded.
    """
    pairs = _pairs(actual, claimed)
    kinds = {type(entry) for pair in pairs for entry in pair}
    if any(issubclass(kind, float) for kind in kinds):
        _refuse_floats(pairs)
    if arb in kinds:
        return _compared_in_balls([(ball(a), ball(b)) for a, b in pairs], relation)
    if kinds <= _RATIONAL:
        holds = all(relation.compare(a, b) for a, b in pairs)
    else:
        holds = all(stands(number(a) - number(b), relation) for a, b in pairs)
    return Outcome.HOLDS if holds else Outcome.VIOLATED


def _compared_in_balls(pairs: Sequence[tuple[arb, arb]], relation: Relation) -> Outcome:
    if any(relation.fails(a, b) for a, b in pairs):
        return Outcome.VIOLATED
    return Outcome.HOLDS if all(relation.compare(a, b) for a, b in pairs) else Outcome.UNDECIDED


def _pairs(actual: Any, claimed: Any) -> list[tuple[Any, Any]]:
    if type(actual) in _SINGLE and type(claimed) in _SINGLE:
        return [(actual, claimed)]
    return [*np.broadcast(np.asarray(actual, object), np.asarray(claimed, object))]


def _refuse_floats(pairs: Sequence[tuple[Any, Any]]) -> None:
    rounded = next(entry for entry in chain.from_iterable(pairs) if isinstance(entry, float))
    raise TypeError(
        f"the float {rounded!r} is a side of an exact comparison, so something was rounded; "
        "make roots and powers of the language's operations"
    )


_RATIONAL = frozenset([int, fmpq])
_SINGLE = (int, fmpq, Quadratic, arb)


def stands(difference: Any, relation: Relation) -> bool:
    """Whether an exact difference stands in the relation to zero."""
    return bool(relation.compare(difference.sign(), 0))


def _in_floats(side: Any) -> Any:
    """Return a side as one instance of floats."""
    return np.array([[float(ball(entry)) for entry in np.ravel(np.asarray(side, dtype=object))]])


def _has_balls(side: Any) -> bool:
    return any(isinstance(entry, arb) for entry in np.ravel(np.asarray(side, dtype=object)))


def _is_finite(quantity: Any) -> bool:
    return all(ball(entry).is_finite() for entry in np.ravel(np.asarray(quantity, object)))


def side_in_words(side: Any) -> str:
    """Return a side as text: a number, or its entries in brackets."""
    entries = [str(entry) for entry in np.asarray(side, dtype=object).ravel()]
    return entries[0] if len(entries) == 1 else f"({', '.join(entries)})"


def networks(case: Case) -> Conversions:
    """Return the networks of one case; a float is the rational number that it stores.

    A case at which a side divides by an exact zero (1/gamma at gamma = 0, the direction of a yhat
    that is zero) lies outside the statement and is vacuous; so is one without a sigma.
    """
    rational = rational_case(case)

    def make(claim: Claim, arithmetic: Arithmetic) -> PrimitiveNetwork:
        wanted = _in_arithmetic(rational, claim, arithmetic)
        if imposed_by(claim) and not _is_defined(wanted, claim):
            raise ZeroDivisionError("sigma is zero, as is imposed")
        return network_of(wanted, arithmetic.calculus)

    return Conversions(make, partial(_is_defined, rational))


def _in_arithmetic(rational: Case, claim: Claim, arithmetic: Arithmetic) -> Case:
    """Return a case with a claim's hypotheses imposed: exactly, unless roots of two kinds meet."""
    if arithmetic is IN_NUMBERS:
        return adapted_exactly(rational, claim)
    with suppress(DifferentFieldsError):
        return adapted(rational, claim).converted(partial(each, arithmetic.number))
    return adapted(rational.converted(partial(each, arithmetic.number)), claim)


def adapted_exactly(rational: Case, claim: Claim) -> Case:
    """Return a case as a claim wants it; whole numbers and floats that it imposes are exact."""
    found = adapted(rational, claim)
    return rational_case(found) if imposed_by(claim) else found


def examined(claims: Sequence[Claim], case: Case) -> list[Examined]:
    """Return what becomes of claims at one case, as soon as it is certain.

    Inequalities are decided by balls where they suffice; equations by numbers, since two sides may
    be the same ball where an exact number in them divides by zero.
    """
    conversions = networks(case)
    return [_soon_decided(claim, conversions) for claim in claims]


def _soon_decided(claim: Claim, conversions: Conversions) -> Examined:
    if claim.relation is Relation.EQUAL:
        return decided(claim, conversions)
    quick = decided_in_balls(claim, conversions, 128, 128)
    return decided(claim, conversions) if quick.outcome is Outcome.UNDECIDED else quick


def differ_somewhere(claim: Claim, m: int) -> bool:
    """Whether the sides differ for certain at one batch of m integers.

    Seen sooner than proved: hypotheses are imposed, and not checked.
    """
    imposed = tuple(replace(h, says=Number(1) > 0) for h in claim.hypotheses)
    says = replace(claim.spoken, relation=Relation.EQUAL)
    equation = replace(claim, says=says, because=None, hypotheses=imposed)
    return decided_in_balls(equation, networks(generic_integers(m)), cap=128).is_violated


def certificate_exists(claim: Statement, tried: Iterable[Conversions]) -> bool:
    """Whether a claim's certificate is a real number at one of some subjects.

    One that divides by what vanishes everywhere proves nothing, however it is written.
    """

    def exists_at(conversions: Conversions) -> bool:
        try:
            with ctx.workprec(128):
                subject = conversions(claim, IN_BALLS)
                terms = claim.terms(subject)
                return all(_is_finite(term.value(subject)) for term in terms)
        except (ZeroDivisionError, NotRealError, series.NestingError):
            return False

    return any(map(exists_at, tried))


@cache
def has_certificate_somewhere(claim: Claim) -> bool:
    """The same at batches of two, three and four integers."""
    return certificate_exists(claim, (networks(generic_integers(m)) for m in (2, 3, 4)))


def network_of(case: Case, calculus: Calculus) -> PrimitiveNetwork:
    """Return the network of a case, its numbers being of the calculus's arithmetic."""
    length = case.y[0] * 0 + len(case.y)
    return PrimitiveNetwork(case, length, case.loss, calculus)


def _is_defined(case: Case, claim: Claim) -> bool:
    """Whether sigma is positive, and in the unit-variance reading the variance too."""
    spread = not all(entry == case.y[0] for entry in case.y)
    return spread or (claim.reading is Reading.SHARED_EPSILON and bool(case.eps != 0))


def rational_case(case: Case) -> Case:
    """Return the case with every number rational; a float is the rational that it stores."""
    return case.converted(partial(each, exact_entry))
