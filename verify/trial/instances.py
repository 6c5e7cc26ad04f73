"""Small instances at which a statement of others is tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache, cached_property, lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from flint import arb

from theory.arithmetic.exact import number
from theory.claim import Claim
from theory.expectation_claim import Drawn
from theory.language.expression import Letter
from theory.language.letters import FREE, attribute_of
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Hypothesis, Statement
from verify.subjects import matrix_strata
from verify.subjects.calculus import EXACT, exact_entry
from verify.subjects.losses import Loss
from verify.subjects.matrices import BEHIND_LOSS, Numbers
from verify.subjects.unit import Case
from verify.subjects.unit_lattice import lattice_case
from verify.tolerance import Array
from verify.witnesses.batches import BATCHES, as_read, cases_of_constants, vanishing_cases
from verify.witnesses.batches import GROUNDS as BATCH_GROUNDS
from verify.witnesses.exact import adapted_exactly, each, network_of, rational_case, stands
from verify.witnesses.integers import Grounds, constants_of, ends_of
from verify.witnesses.matrices.exact import converted
from verify.witnesses.matrices.integers import GROUNDS
from verify.witnesses.matrices.special import special_subjects
from verify.witnesses.search import drawn
from verify.witnesses.series import ball

CASE = lattice_case(
    [1, 3, 1, 3], 3, 2, Fraction(3, 2), [1, -2, 0, 2], [1, 0, 2, -1, 1, 0, 2, 0, 1, -1],
    [1, 0, -1, 2], [2, 1, 1, -1], 2,
)  # fmt: skip
"""A batch whose deviation is rational, and so is the root of its size."""
SCALES = Fraction(3), Fraction(2)
"""The batch's gamma and beta, of which other signs are tried."""
BY_CHANCE = 200
"""Instances of small integers, of which some meet an equation."""
TENS = 10, 100, 1000
"""What numbers of small integers are multiplied by, for hypotheses that none of them meets."""
FAR = 1 / number(1000), 1000
"""What they are multiplied by for the ends of ranges."""
TYPICAL = {Kind.LAYER: 0, Kind.MAPS: 1, Kind.DESCENT: 5}
"""The drawn subject of each kind whose sizes, and n + 1, differ: what does not fit is seen."""
OF_LOSS = BEHIND_LOSS - {"factor"}
"""Numbers of matrices that nothing but the loss is made of."""
GRID = 8
"""Matrices are of multiples of one over this."""


@dataclass(frozen=True, eq=False)
class Tried:
    """An instance that a statement is tried at."""

    claim: Claim | MatrixClaim
    subject: Any

    @cached_property
    def case(self) -> Case:
        """The numbers of a unit's instance, which are known before its network is."""
        return adapted_exactly(self.subject, self.claim)  # type: ignore[arg-type]

    @cached_property
    def offered(self) -> Any:
        """What the statement's sides take, made once for all letters."""
        if isinstance(self.claim, Claim):
            return _offered_at(self.claim, self.case)
        return offered(self.claim, self.subject)

    def value_of(self, letter: Letter) -> Any:
        """Return what a letter is worth here, None where that is outside of the statement."""
        is_number = isinstance(self.claim, Claim) and attribute_of(letter) in Case.names()
        with suppress(Exception):  # another check says what else is wrong
            return letter.value(self.case if is_number else self.offered)  # type: ignore[misc]
        return None

    def is_meant(self) -> bool:
        """Whether it is one that the statement speaks of: it meets all hypotheses."""
        with suppress(Exception):  # another check says what is wrong
            return all(is_met(each, self.offered) for each in self.claim.hypotheses)
        return False


def instance(claim: Statement) -> tuple[Kind | str, Any]:
    """Return what a statement is about, and an instance as its sides take it."""
    if isinstance(claim, Claim):
        return "batch", offered(claim, rational_case(CASE))
    if isinstance(claim, MatrixClaim):
        return claim.subject, offered(claim, typical(claim.subject))
    return "matrix", Drawn(np.array([[1.0, -1.0], [-1.0, -1.0], [1.0, 1.0]]))


def offered(claim: Claim | MatrixClaim, subject: Any) -> Any:
    """Return an instance as a statement's sides take it."""
    if isinstance(claim, Claim):
        return _offered_at(claim, adapted_exactly(subject, claim))
    return converted(claim, subject)


def _offered_at(claim: Claim, case: Case) -> Any:
    return claim.read(network_of(rational_case(case), EXACT))


@cache
def typical(kind: Kind) -> Any:
    """Return a subject of matrices as most are."""
    return small(kind, TYPICAL[kind])


def small(kind: Kind, number: int) -> Any:
    """Return a subject of matrices whose entries have few digits."""
    drawn = matrix_strata.draw(kind, "gaussian", 0, number)
    return drawn.with_numbers(_to_grid, drawn.names())


def _to_grid(value: Any) -> Any:
    return np.round(np.asarray(value) * GRID) / GRID


def drawn_for(claim: Claim | MatrixClaim) -> Iterator[Any]:
    """Yield instances as a hypothesis may change them: of several signs, and of small integers.

    Among the latter are such as meet an equation by chance; last come special ones.
    """
    if isinstance(claim, Claim):
        for signs in product((1, -1), repeat=2):
            gamma, beta = (sign * part for sign, part in zip(signs, SCALES, strict=True))
            yield as_read(claim, replace(CASE, gamma=gamma, beta=beta))
    else:
        for number in range(3):
            yield small(claim.subject, number)
    yield from of_integers(claim)
    yield from special_for(claim)


def of_integers(claim: Claim | MatrixClaim) -> Iterator[Any]:
    """Yield instances of small integers."""
    if isinstance(claim, Claim):
        for places in drawn(BATCHES, 3, BY_CHANCE, 0):
            yield as_read(claim, BATCHES.at(3, places))
        return
    space = GROUNDS[claim.subject].small
    for size in (space.sizes[0], space.sizes[-2]):
        for places in drawn(space, size, BY_CHANCE, 0):
            yield space.at(size, places)


def special_for(claim: Claim | MatrixClaim) -> Iterator[Any]:
    """Yield instances that nothing random is like, of numbers that a statement names."""
    constants, ends = constants_of(claim.said), ends_of(claim.said)
    if isinstance(claim, Claim):
        for case in (*vanishing_cases(), *cases_of_constants(constants, ends)):
            yield as_read(claim, case)
    else:
        yield from special_subjects(GROUNDS[claim.subject].small, claim.subject, constants, ends)


def drawn_at_scales(claim: Claim | MatrixClaim, scales: Sequence[Any] = TENS) -> Iterator[Any]:
    """Yield the same, and their numbers times scales: powers of ten."""
    for subject in drawn_for(claim):
        yield subject
        for scale in scales:
            yield scaled(subject, scale)


def elsewhere(claim: Claim | MatrixClaim) -> Iterator[Any]:
    """Yield instances of other signs and scales than that of :func:`instance`."""
    if isinstance(claim, Claim):
        yield from drawn_at_scales(claim)
    else:
        known = typical(claim.subject)
        for scale in (*FAR, -1, *TENS):
            yield scaled(known, scale)
        positive = known.with_numbers(np.abs, known.real())
        yield from (positive, positive.with_numbers(np.negative, positive.real()))


def scaled(subject: Any, scale: Any) -> Any:
    """Return an instance with all its real numbers times a scale."""
    return subject.with_numbers(partial(_times, scale), subject.real())


def with_one_scaled(subject: Any, scales: Iterable[Any]) -> Iterator[Any]:
    """Yield an instance with one of its numbers, or arrays, times scales."""
    for name, scale in product(subject.real(), scales):
        yield subject.with_numbers(partial(_times, scale), [name])


def _times(scale: Any, value: Any) -> Any:
    """Return a number, or an array, times a number; exact, unless it is of floats."""
    array = np.asarray(value)
    if array.dtype.kind == "f":
        return array * in_floats(scale)
    return each(exact_entry, array * scale)


def grounds_of(claim: Claim | MatrixClaim) -> Grounds:
    """Return where counterexamples to a statement are looked for."""
    return BATCH_GROUNDS if isinstance(claim, Claim) else GROUNDS[claim.subject]


def without_hypotheses(claim: Claim | MatrixClaim) -> Claim | MatrixClaim:
    """Return a statement of every instance, whatever it assumes and why it holds."""
    return replace(claim, hypotheses=(), because=None)


def made_of(letter: Letter, claim: Claim | MatrixClaim) -> set[str]:
    """Return the names of an instance's numbers that change a letter's value, and its loss's."""
    return set().union(*(_made_at(letter, *around) for around in _around(claim)))


def _made_at(letter: Letter, here: Tried, moved: Iterable[tuple[str, Tried]]) -> set[str]:
    """Return what changes a letter's value at an instance."""
    if (value := here.value_of(letter)) is None:
        return set()
    others = ((name, tried.value_of(letter)) for name, tried in moved)
    return {
        "loss" if name in OF_LOSS else name
        for name, other in others
        if other is not None and not same(value, other)
    }


@lru_cache(maxsize=1)
def _around(claim: Claim | MatrixClaim) -> list[tuple[Tried, list[tuple[str, Tried]]]]:
    """Return two instances, each with those of which a number is another, by its name.

    All letters of a statement are tried at the same.
    """
    alone = without_hypotheses(claim)
    here: Any = rational_case(CASE) if isinstance(claim, Claim) else typical(claim.subject)
    return [
        (Tried(alone, base), [(name, Tried(alone, other)) for name, other in _moved(base)])
        for base in (here, scaled(here, -1))
    ]


def _moved(here: Any) -> Iterator[tuple[str, Any]]:
    """Yield an instance with other numbers of each name, or these turned."""
    for name, move in product(here.names(), (_elsewhere, np.negative)):
        if name != "free":
            yield name, here.with_numbers(move, [name])
    if isinstance(here, Case):
        parameters = tuple(map(_elsewhere, here.loss.parameters))
        yield "loss", replace(here, loss=replace(here.loss, parameters=parameters))
    else:
        for place in range(FREE):
            yield f"free[{place}]", _with_another(here, place)


def _with_another(subject: Numbers, place: int) -> Numbers:
    """Return a subject with another one of the numbers that nothing else is made of."""
    numbers = np.array(subject.free)
    numbers[place] = _elsewhere(numbers[place])
    return replace(subject, free=numbers)


def _elsewhere(value: Any) -> Any:
    """Return other numbers: not the same times a number, plus one, which the layer takes out."""
    array = np.asarray(value)
    steps = np.arange(1, array.size + 1).reshape(array.shape).astype(array.dtype)
    return array * 2 + steps if array.ndim else value * 2 + 1


def alike(subject: Any, other: Any) -> bool:
    """Whether two instances are of the same numbers, up to rounding."""
    return all(
        same(getattr(subject, field.name), getattr(other, field.name)) for field in fields(subject)
    )


def same(value: Any, other: Any) -> bool:
    """Whether two of an instance's values are the same numbers, up to rounding."""
    if value is other or isinstance(value, str):
        return True
    if isinstance(value, Loss):
        parameters = zip(value.parameters, other.parameters, strict=False)
        return value.function is other.function and all(same(a, b) for a, b in parameters)
    a, b = (np.squeeze(in_floats(x)) for x in (value, other))
    return a.shape == b.shape and bool(np.allclose(a, b))


def in_floats(values: Any) -> Array:
    """Return numbers of any arithmetic as an array of floats."""
    return np.vectorize(_as_float, otypes=[float])(values)


def _as_float(value: Any) -> float:
    if isinstance(value, float | int):
        return float(value)
    exactly = value if isinstance(value, arb) else number(value)
    if isinstance(exactly, arb) or exactly.q:
        return float(ball(value))
    return int(exactly.p.numerator) / int(exactly.p.denominator)


def floats_of(subject: Any) -> Iterator[float]:
    """Yield the floats among an instance's numbers."""
    for value in subject.numbers().values():
        for entry in np.ravel(np.asarray(value, dtype=object)):
            if isinstance(entry, float):
                yield float(entry)


def is_met(hypothesis: Hypothesis, subject: Any) -> bool:
    """Whether a hypothesis is met at an instance, for certain."""
    return holds(np.asarray(hypothesis.quantity(subject), dtype=object), hypothesis)


def holds(quantity: Any, hypothesis: Hypothesis) -> bool:
    """Whether a hypothesis's quantity, in all its entries, has the sign that it asks for."""
    return all(stands(number(entry), hypothesis.sign) for entry in quantity.ravel())
