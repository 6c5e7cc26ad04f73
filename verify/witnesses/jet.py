"""Which statements look at the loss only through its 2-jet at the layer's output.

A statement is evaluated at one batch in balls, given a loss that can be asked near there alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import combinations
from typing import Any

from theory.arithmetic import exact as dual_numbers
from theory.arithmetic import sqrt
from theory.arithmetic.dual import Dual, levels, standard_part
from theory.claim import Claim
from verify.subjects.calculus import Calculus
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.unit_lattice import lattice_case
from verify.witnesses.exact import each, network_of, rational_case
from verify.witnesses.series import ball

ORDER = 2
"""How often a jet can be differentiated."""
_derivative = partial(dual_numbers.derivative, entry=ball)
CALCULUS = Calculus(sqrt, partial(dual_numbers.entry_by_entry, _derivative), _derivative)


class OutsideJetError(ValueError):
    """The loss was asked for what its 2-jet does not say."""


def refuse_outside(offset: Iterable[Any], is_zero: Callable[[Any], bool]) -> None:
    """Refuse to say what the loss is elsewhere, or what a third derivative of it is.

    Args:
        offset: the numbers of a point less the layer's output.
        is_zero: whether a number vanishes.

    Raises:
        OutsideJetError: the point is not infinitely near, or the third power of the offset is not
            zero: three of its infinitesimal terms have no derivative in progress in common.
    """
    numbers = list(offset)
    if not all(is_zero(standard_part(number)) for number in numbers):
        raise OutsideJetError("the loss is known only near the layer's output z")
    if len(set().union(*map(levels, numbers))) > ORDER:
        terms = set().union(*(_terms(number, is_zero) for number in numbers))
        if any(_are_apart(some) for some in combinations(terms, ORDER + 1)):
            raise OutsideJetError("the loss is known by its first two derivatives only")


def _terms(number: Any, is_zero: Callable[[Any], bool]) -> set[frozenset[int]]:
    """Return of each term of a number that is not zero the levels that it has."""
    if not isinstance(number, Dual):
        return set() if is_zero(number) else {frozenset()}
    rates = {term | {number.level} for term in _terms(number.rate, is_zero)}
    return _terms(number.value, is_zero) | rates


def _are_apart(terms: Iterable[frozenset[int]]) -> bool:
    """Whether no two of several terms have a level in common, so that their product is not zero."""
    return all(one.isdisjoint(other) for one, other in combinations(terms, 2))


@cache
def needs_only_the_jet(claim: Claim) -> bool:
    """Whether a claim looks at the loss only through its 2-jet at the layer's output."""
    unit = claim.read(_generic(claim.reading.has_epsilon))
    try:
        claim.sides(unit)
        for hypothesis in claim.hypotheses:
            hypothesis.quantity(unit)
    except OutsideJetError:
        return False
    return True


@cache
def _generic(has_epsilon: bool) -> PrimitiveNetwork:
    """Return the network of one batch, whose loss refuses to be asked away from its output."""
    case = lattice_case(
        (4, -7, 1, 9), 3, 2, Fraction(3, 2), (1, -4, 2, 7), (2, -3, 5, 1, 1, -4, 2, 6, -5, 3),
        (3, -1, 4, 5), (-2, 7, 1, 6), 2,
    )  # fmt: skip
    in_balls = rational_case(case).converted(partial(each, ball))
    if not has_epsilon:
        in_balls = replace(in_balls, eps=0 * in_balls.eps)
    z = network_of(in_balls, CALCULUS).z
    return network_of(replace(in_balls, loss=_near(z, in_balls.loss)), CALCULUS)


def _near(z: Any, loss: Callable[[Any], Any]) -> Any:
    """Return a loss that is known near z alone."""

    def known(point: Any) -> Any:
        refuse_outside(point - z, lambda number: number.contains(0))
        return loss(point)

    return known
