r"""The ledger's statements on a unit, examined at the units of somebody's network.

What is measured stands for what a statement mentions: the batch by its inner products, the
gradients by those that the network's own backward pass gave.  Both sides are then the value of
the statement's own expression, and a statement applies if everything that it mentions was
measured.  Real layers have an epsilon, so the readings are those with one.  What rounding and
underflow explain is argued in :mod:`verify.tolerance.measured`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from theory.claim import Claim, Reading
from theory.language.expression import Derivative, Expression, Says, gradient, walk
from theory.language.values import Sides, Values
from theory.statement import NoLetterError, Relation, Statement
from theory.unit import L, Lhat, y, z
from verify import tolerance
from verify.audit.spanned import Array, Measured, NotMeasuredError, Space, Spanned
from verify.audit.units import Pair, Units
from verify.tolerance import Outcome, measured

NEARLY = 1e-6
"""Two vectors whose coefficients differ by less than this part are one."""
NEEDS_A_MINIMUM = "S-thm-4.2-discussion"
"""Of these statements the vector u is a minimum of the loss, which no pass finds."""


class MeasuredValues(Values):
    """The values of expressions at measured units; derivatives are looked up."""

    def _differentiate(self, derivative: Derivative) -> Any:
        body, x, point = derivative.body, derivative.variable, derivative.point
        if derivative.direction is None:
            if (body, point) == (Lhat(x), y):
                return self.subject.w
            if (body, point) == (L(x), z):
                return self.subject.g
            raise NotMeasuredError(str(derivative))
        along = self[derivative.direction]
        if (body, point) == (gradient(Lhat(x), x), y):
            return self.subject.second_in_y(along)
        if (body, point) == (gradient(L(x), x), z):
            return self.subject.second_in_z(along)
        raise NotMeasuredError(str(derivative))


class Unit(Measured):
    """Many units at once, as the statements' letters see them: arrays ``(unit,)``.

    Args:
        numbers: m, gamma, beta, mean, sigma, eps of each unit.
        products: inner products by pairs of names: one, yhat, g, w, and, where there are second
            derivatives along w, ``H`` for H times the layer's image of w, and ``hessian`` for that
            of the network with the layer.
    """

    values_of = MeasuredValues
    bound = np.float64(1)
    """The statements hold for every one."""

    def __init__(self, numbers: Mapping[str, Array], products: Mapping[Pair, Array]) -> None:
        self.numbers = numbers
        self.m, self.gamma, self.beta, self.eps, self.sigma = (
            numbers[name] for name in ("m", "gamma", "beta", "eps", "sigma")
        )
        space = Space(self.m, products)
        one, self._yhat, self.g, self.w = map(space.vector, ("one", "yhat", "g", "w"))
        self.y = numbers["mean"] * one + self.sigma * self._yhat
        self.z = self.gamma * self._yhat + self.beta * one
        self.direction = self.w
        self._space = space

    def second_in_y(self, along: Spanned) -> Spanned:
        """Return the Hessian of the network with the layer, applied to a multiple of w."""
        factor = along.coefficients.get("w", 0)
        self._must_be(along, factor * self.w)
        return factor * self._image("hessian")

    def second_in_z(self, along: Spanned) -> Spanned:
        """Return H applied to a multiple of the layer's image of w."""
        factor = along.coefficients.get("w", 0)
        w = self.w - self.w.mean()
        moved = w - self._yhat * (self._yhat.inner(self.w) / self.m)
        self._must_be(along, factor * moved)
        return factor * (self.sigma / self.gamma) * self._image("H")

    def _image(self, name: str) -> Spanned:
        self._space.inner(name, name)
        return self._space.vector(name)

    def _must_be(self, along: Spanned, expected: Spanned) -> None:
        difference = (along - expected).coefficients
        size = max(np.abs(c).max() for c in [np.float64(1), *along.coefficients.values()])
        if any(np.abs(c).max() > NEARLY * size for c in difference.values()):
            raise NotMeasuredError("a second derivative along another vector")


@dataclass
class Measurements:
    """Units with their inner products, the errors of these, and where each unit is from."""

    numbers: dict[str, Array]
    products: dict[Pair, Array]
    errors: dict[Pair, Array]
    places: list[str]
    """Of each unit: batch, call and unit, in words."""


@dataclass(frozen=True)
class Instances:
    """A statement at the units to which it applies."""

    statement: Statement
    actual: Array
    claimed: Array
    ratios: Array
    outcomes: list[Outcome]


class Examined(NamedTuple):
    """What was examined, and why the rest was not."""

    found: list[Instances]
    refused: dict[str, str]
    """Reasons by identifier."""


def measurements(
    units: Units, prefix: str, unit: int | None = None, more: Mapping[Pair, Any] = {}
) -> Measurements:
    """Return the units of a layer, or one of them with more inner products.

    Args:
        units: of one call.
        prefix: of the units' names, such as the batch.
        unit: the one that there is more of; None for all.
        more: its second derivatives' inner products, numbers.
    """
    numbers, products = numbers_of(units, unit)
    products |= {pair: np.array([value]) for pair, value in more.items()}
    first = 0 if unit is None else unit
    names = [units.normalization.name_of(first + i) for i in range(len(numbers["m"]))]
    return Measurements(
        numbers,
        products,
        measured.errors_of_products(numbers, products),
        [prefix + name for name in names],
    )


def numbers_of(units: Units, unit: int | None = None) -> tuple[dict[str, Array], dict[Pair, Array]]:
    """Return the numbers of a layer's units, or of one of them, and their inner products."""
    chosen = slice(None) if unit is None else slice(unit, unit + 1)

    def array(values: Any) -> Array:
        return np.asarray(values.cpu().numpy(), dtype=np.float64)[chosen]

    numbers = {
        "mean": array(units.mean),
        "sigma": array(units.sigma),
        "gamma": array(units.gamma),
    }
    alike = np.ones_like(numbers["mean"])
    numbers |= {"m": units.m * alike, "eps": units.normalization.eps * alike, "beta": 0 * alike}
    numbers |= {"roundoff": units.roundoff * alike, "least": units.least * alike}
    products = {pair: array(values) for pair, values in units.products.items()}
    deviation = numbers["sigma"] ** 2 - numbers["eps"]
    products |= {
        ("one", "yhat"): 0 * alike,
        ("yhat", "yhat"): units.m * deviation / numbers["sigma"] ** 2,
    }
    return numbers, products


def joined(parts: Sequence[Measurements]) -> Measurements:
    """Return the units of several layers as one."""

    def each(of: Any) -> dict[Any, Array]:
        return {key: np.concatenate([of(part)[key] for part in parts]) for key in of(parts[0])}

    return Measurements(
        each(lambda part: part.numbers),
        each(lambda part: part.products),
        each(lambda part: part.errors),
        [place for part in parts for place in part.places],
    )


def examine(claims: Sequence[Statement], found: Measurements) -> Iterator[Instances]:
    """Yield the statements that apply to the units, with both sides at each."""
    unit = Unit(found.numbers, found.products)
    moved = _moved(found)
    for claim in claims:
        if not isinstance(claim, Claim) or claim.reading is not Reading.SHARED_EPSILON:
            continue
        if claim.result == NEEDS_A_MINIMUM or not _is_of_the_loss(claim):
            continue
        try:
            with np.errstate(all="ignore"):
                yield _examined(claim, unit, moved, found)
        except NoLetterError:
            continue


def _moved(found: Measurements) -> Unit:
    """Return the units once for each inner product, which is moved by its own error there.

    All are one subject: to evaluate a statement takes as long for many units as for few.
    """
    times = len(found.errors), 1
    numbers = {name: np.tile(values, times) for name, values in found.numbers.items()}
    products = {pair: np.tile(values, times) for pair, values in found.products.items()}
    for moved, (pair, error) in enumerate(found.errors.items()):
        products[pair][moved] += error
    return Unit(numbers, products)


def _is_of_the_loss(claim: Claim) -> bool:
    """Whether a statement mentions what the network differentiated: others hold of any vectors."""
    if claim.unreadable:
        return False
    return any(isinstance(node, Derivative) for node in mentioned(claim.spoken))


@cache
def mentioned(says: Says) -> frozenset[Expression]:
    """Return both sides and everything that they are made of."""
    return frozenset(walk(says.actual, says.claimed))


def _examined(claim: Claim, unit: Unit, moved: Unit, found: Measurements) -> Instances:
    sides = claim.sides(claim.read(unit))
    count = len(found.places)
    if isinstance(sides.actual, Spanned) or isinstance(sides.claimed, Spanned):
        actual, claimed, excess, allowed = vectors(sides, found.numbers, found.products)
        size = np.maximum(actual, claimed)
        outcomes = tolerance.outcomes(
            excess, allowed, size, is_strict=False, blurred=measured.BLURRED
        )
    else:
        actual, claimed = (_full(side, count) for side in sides)
        changes = [
            np.abs(np.broadcast_to(side, (len(found.errors), count)) - base).sum(axis=0)
            for side, base in zip(claim.sides(claim.read(moved)), (actual, claimed), strict=True)
        ]
        allowed = changes[0] + changes[1]
        outcomes = judged(actual, claimed, allowed, claim.relation)
    met = np.ones(count, dtype=bool)
    for hypothesis in claim.hypotheses:
        met &= _is_met(claim, hypothesis, unit, count)
    ratios = tolerance.ratio(actual[:, None], claimed[:, None], claim.relation, allowed)
    for i in np.flatnonzero(_is_underflown(claim, found)):
        if outcomes[i] is Outcome.HOLDS:
            outcomes[i] = Outcome.UNDECIDED
    return Instances(
        claim,
        actual,
        claimed,
        np.where(met, ratios, np.nan),
        [o if ok else Outcome.VACUOUS for o, ok in zip(outcomes, met, strict=True)],
    )


def _is_underflown(claim: Claim, found: Measurements) -> Array:
    """Return at which units underflow may be a large part of the vectors that a claim mentions."""
    nodes = [node for node in mentioned(claim.spoken) if isinstance(node, Derivative)]
    names = ["w", *("hessian" for node in nodes if node.direction is not None)]
    return measured.is_underflown(names, found.numbers, found.products)


def vectors(
    sides: Sides, numbers: Mapping[str, Array], products: Mapping[Pair, Array]
) -> tuple[Array, Array, Array, Array]:
    """Return the norms of two vectors, that of their difference, and what rounding explains."""
    difference = sides.actual - sides.claimed
    actual, claimed, excess = (
        _full(np.sqrt(np.maximum(v.inner(v), 0)), len(numbers["m"]))
        for v in (sides.actual, sides.claimed, difference)
    )
    sizes = measured.norms(numbers, products)
    terms = [np.abs(c) * sizes[name] for vector in sides for name, c in vector.coefficients.items()]
    errors = measured.errors_of_vectors(numbers, products)
    allowed = measured.SMALLEST * sum(terms)
    for name, c in difference.coefficients.items():
        allowed = allowed + np.abs(c) * errors.get(name, 0)
    return actual, claimed, excess, allowed


def judged(actual: Array, claimed: Array, allowed: Array, relation: Relation) -> list[Outcome]:
    """Return the outcome of each unit; what rounding may have made decides nothing."""
    slack = relation.slack(actual, claimed)
    excess = np.abs(slack) if relation is Relation.EQUAL else -slack
    size = np.maximum(np.abs(actual), np.abs(claimed))
    return tolerance.outcomes(excess, allowed, size, relation.is_strict, measured.BLURRED)


def _is_met(claim: Claim, hypothesis: Any, unit: Unit, count: int) -> Any:
    quantity = _full(hypothesis.quantity(claim.read(unit)), count)
    return hypothesis.sign.compare(quantity, 0)


def _full(side: Any, count: int) -> Array:
    return np.broadcast_to(np.asarray(side, dtype=np.float64), (count,)).copy()
