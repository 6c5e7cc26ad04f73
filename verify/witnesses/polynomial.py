r"""The polynomial witness: a proof for every batch size in exact polynomials, or silence.

It proves what the abstract witness proves, and shares no code with it: numbers here are quotients
of python-flint's polynomials with rational coefficients, in lowest terms, where they are sympy
expressions there.  The generators are

- :math:`m, \gamma, \beta, \sigma, \epsilon, \lambda` and the batch's mean;
- a moment :math:`\langle a, H^k b\rangle` for each pair of vectors that is met, as
  :math:`y = \mu 1 + c` with :math:`\langle 1, c\rangle = 0` and
  :math:`\langle c, c\rangle = m(\sigma^2 - \epsilon)`;
- a root :math:`r \ge 0` with :math:`r^2` known, for each that is met.

A number is zero if its numerator is, once :math:`r^2` has been replaced by what it is: nothing is
simplified, and nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import count
from math import isqrt, prod
from typing import Any, NoReturn

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from theory.arithmetic import sqrt
from theory.arithmetic.dual import Dual, infinitesimal, levels, rate, standard_part
from theory.claim import Claim, Hypothesis, Relation, Term
from verify.record import Record
from verify.results import EVERY_M, Proof
from verify.settings import Settings
from verify.subjects.calculus import Calculus
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.unit import GenericCase, LosesGeneralityError, changed
from verify.witnesses import exact
from verify.witnesses.retractions import without_loss

LETTERS = ("m", "gamma", "beta", "sigma", "epsilon", "lambda", "mu", "L")
POSITIVE = ("m", "sigma", "epsilon", "lambda")
SPARE, ROOM = 160, 64
"""Generators kept for moments and roots; how many of them may be needed by one statement."""
ONE = "one"
Label = tuple[int, str]
"""The vector :math:`H^k a` is labelled ``(k, "a")``."""


class SilentError(ValueError):
    """Something was asked that inner products and polynomials do not determine."""


class EntriesError(SilentError, AttributeError):
    """An array was asked for, whose entries inner products do not determine."""


@dataclass(eq=False)
class Ring:
    """Polynomials in the letters, and in the moments and roots met so far."""

    roots: dict[int, fmpq_mpoly] = field(default_factory=dict)
    """The squares of the generators that are roots, in the order in which they were met."""
    taken: list[fmpq_mpoly] = field(default_factory=list)
    """What is not negative since a root of it exists."""
    not_negative: set[int] = field(default_factory=set)
    spare: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        names = [*LETTERS, *(f"x{i}" for i in range(SPARE))]
        self.context = fmpq_mpoly_ctx.get(names, "degrevlex")
        self.generators = self.context.gens()
        self.spare = list(reversed(range(len(LETTERS), len(names))))
        self.not_negative = {LETTERS.index(name) for name in POSITIVE}
        sigma, eps = self.letter("sigma").numerator, self.letter("epsilon").numerator
        biased = self.root_letter(sigma**2 - eps).numerator
        self.in_variance = LETTERS.index("sigma"), biased**2 + eps

    def letter(self, name: str) -> Rational:
        """Return a letter."""
        return self.generator(LETTERS.index(name))

    def generator(self, index: int) -> Rational:
        """Return a generator as a number."""
        return Rational(self, self.generators[index], self.one)

    @cached_property
    def one(self) -> fmpq_mpoly:
        """The polynomial 1."""
        return self.context.constant(1)

    def number(self, value: Any) -> Rational:
        """Return a number of this ring.

        Raises:
            SilentError: it is not exact.
        """
        if isinstance(value, Rational):
            return value
        if isinstance(value, int | Fraction):
            exact = fmpq(value.numerator, value.denominator)
            return Rational(self, self.context.constant(exact), self.one)
        raise SilentError(f"{value!r} is not an exact number")

    def take(self) -> int:
        """Return a generator that stands for nothing yet."""
        if not self.spare:
            raise SilentError(f"more than {SPARE} moments and roots")
        return self.spare.pop()

    def give_back(self, index: int) -> None:
        """Let a generator stand for nothing again."""
        self.not_negative.discard(index)
        self.spare.append(index)

    # ---- roots ----

    def root_of(self, number: Rational) -> Rational:
        """Return the root of a number that is not negative.

        It is the product of the roots of those factors that are seen not to be negative, and of
        the rest; even powers are taken out.  The rest may be negative where one of these is zero.
        """
        total, found, may_vanish = 1, self.number(1), False
        unknown: list[tuple[fmpq_mpoly, int]] = []
        for factor, power in factors(number):
            if not (sign := self.sign(factor, self.is_not_negative)):
                unknown.append((factor, power))
                continue
            may_vanish |= not self.sign(factor, self.is_positive)
            found *= Rational(self, factor * sign, self.one) ** (power // 2)
            if power % 2:
                total *= sign
                found *= self.root_letter(factor * sign)
        odd = [factor for factor, power in unknown if power % 2]
        for factor, power in unknown:
            absolute = factor * total if odd == [factor] else self.root_letter(factor**2).numerator
            found *= Rational(self, absolute, self.one) ** (power // 2)
        if not odd:
            return found
        rest = prod(odd, start=self.one) * total
        if not may_vanish and len(odd) == len(unknown):
            self.taken.append(rest)
        return found * self.root_letter(rest)

    def root_letter(self, square: fmpq_mpoly) -> Rational:
        """Return a number with that square which is not negative."""
        if square.is_constant():
            exact = square.leading_coefficient()
            if exact.p.is_square() and exact.q.is_square():
                return self.number(Fraction(isqrt(int(exact.p)), isqrt(int(exact.q))))
        for index, known in self.roots.items():
            if known == square:
                return self.generator(index)
        index = self.take()
        self.roots[index] = square
        self.not_negative.add(index)
        return self.generator(index)

    # ---- what is zero, and what is not negative ----

    def is_zero(self, polynomial: fmpq_mpoly) -> bool:
        """Whether a polynomial vanishes, the squares of the roots being what they are."""
        for index in reversed(self.roots):
            polynomial = self._without_squares(polynomial, index, self.roots[index])
        return polynomial.is_zero()

    def _without_squares(
        self, polynomial: fmpq_mpoly, index: int, square: fmpq_mpoly
    ) -> fmpq_mpoly:
        powers: dict[int, dict[tuple[int, ...], fmpq]] = {}
        for monomial, coefficient in polynomial.to_dict().items():
            half, odd = divmod(monomial[index], 2)
            rest = (*monomial[:index], odd, *monomial[index + 1 :])
            powers.setdefault(half, {})[rest] = coefficient
        if set(powers) <= {0}:
            return polynomial
        parts = (self.context.from_dict(part) * square**half for half, part in powers.items())
        return sum(parts, start=self.context.constant(0))

    def is_not_negative(self, polynomial: fmpq_mpoly, positive: Sequence[str] = POSITIVE) -> bool:
        """Whether no term can be negative, or a root of it exists, whatever is positive."""
        return polynomial in self.taken or self._has_no_negative_term(polynomial)

    def _has_no_negative_term(self, polynomial: fmpq_mpoly) -> bool:
        """Whether every term has a positive number and no odd power of what may be negative."""
        return all(
            coefficient > 0
            and all(power % 2 == 0 or i in self.not_negative for i, power in enumerate(monomial))
            for monomial, coefficient in polynomial.terms()
        )

    def is_positive(self, polynomial: fmpq_mpoly, positive: Sequence[str] = POSITIVE) -> bool:
        """Whether no term can be negative, and one is made of letters that cannot be zero."""
        letters = {LETTERS.index(name) for name in positive}
        return self._has_no_negative_term(polynomial) and any(
            all(power == 0 or i in letters for i, power in enumerate(monomial))
            for monomial in polynomial.monoms()
        )

    def sign(
        self, polynomial: fmpq_mpoly, sees: Callable[[fmpq_mpoly, Sequence[str]], bool]
    ) -> int:
        """Return 1 or -1 if the polynomial or its negative is seen to have a sign; else 0."""
        seen = (s for s in (1, -1) if any(sees(*form) for form in self._forms(polynomial * s)))
        return next(seen, 0)

    def _forms(self, polynomial: fmpq_mpoly) -> Iterator[tuple[fmpq_mpoly, Sequence[str]]]:
        r"""Yield ways to write it, and what is positive there.

        As it is; :math:`\sigma^2 = v + \epsilon`; each with m + 1 for m, which is at least one.
        """
        m = self.letter("m").numerator
        for form in (polynomial, self._without_squares(polynomial, *self.in_variance)):
            yield form, POSITIVE
            shifted = form.compose(*(m + 1, *self.generators[1:]), ctx=self.context)
            yield shifted, [name for name in POSITIVE if name != "m"]


def factors(number: Rational) -> Iterator[tuple[fmpq_mpoly, int]]:
    """Yield the factors of a quotient, a number among them, and their powers."""
    for polynomial, sign in ((number.numerator, 1), (number.denominator, -1)):
        constant, found = polynomial.factor()
        yield number.ring.context.constant(constant), sign
        yield from ((factor, sign * power) for factor, power in found)


class Rational:
    """A quotient of two polynomials in lowest terms."""

    __slots__ = ("denominator", "numerator", "ring")

    def __init__(self, ring: Ring, numerator: fmpq_mpoly, denominator: fmpq_mpoly):
        self.ring, self.numerator, self.denominator = ring, numerator, denominator

    @classmethod
    def reduced(cls, ring: Ring, numerator: fmpq_mpoly, denominator: fmpq_mpoly) -> Rational:
        """Return the quotient of two polynomials.

        Raises:
            SilentError: the denominator is zero.
        """
        if denominator.is_zero():
            raise SilentError("division by zero")
        if denominator.is_one():
            return cls(ring, numerator, denominator)
        common = numerator.gcd(denominator)
        numerator, denominator = numerator / common, denominator / common
        leading = denominator.leading_coefficient()
        return cls(ring, numerator / leading, denominator / leading)

    def _like(self, other: Any) -> Rational | None:
        return None if isinstance(other, Dual | Vector) else self.ring.number(other)

    def __add__(self, other: Any) -> Any:
        if (b := self._like(other)) is None:
            return NotImplemented
        if self.denominator == b.denominator:
            return self.reduced(self.ring, self.numerator + b.numerator, self.denominator)
        common = self.denominator.gcd(b.denominator)
        mine, others = b.denominator / common, self.denominator / common
        numerator = self.numerator * mine + b.numerator * others
        return self.reduced(self.ring, numerator, self.denominator * mine)

    __radd__ = __add__

    def __neg__(self) -> Rational:
        return Rational(self.ring, -self.numerator, self.denominator)

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if (b := self._like(other)) is None:
            return NotImplemented
        return self.reduced(
            self.ring, self.numerator * b.numerator, self.denominator * b.denominator
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if (b := self._like(other)) is None:
            return NotImplemented
        if b.is_zero:
            raise SilentError("division by zero")
        return self.reduced(
            self.ring, self.numerator * b.denominator, self.denominator * b.numerator
        )

    def __rtruediv__(self, other: Any) -> Any:
        return self.ring.number(other) / self

    def __pow__(self, power: int) -> Rational:
        base = self if power >= 0 else 1 / self
        return Rational(self.ring, base.numerator ** abs(power), base.denominator ** abs(power))

    def __gt__(self, other: Any) -> bool:
        raise SilentError("which of two numbers is the larger one is open")

    __lt__ = __ge__ = __le__ = __gt__

    def __abs__(self) -> Rational:
        return (self**2).sqrt()

    def sqrt(self) -> Rational:
        """Return the root that is not negative."""
        return self.ring.root_of(self) if not self.numerator.is_zero() else self

    @property
    def is_zero(self) -> bool:
        """Whether it vanishes."""
        return self.ring.is_zero(self.numerator)

    def is_not_negative(self) -> bool:
        """Whether that is seen, of each factor of odd power or of its negative."""
        sees = self.ring.is_not_negative
        signs = [self.ring.sign(factor, sees) for factor, power in factors(self) if power % 2]
        return self.numerator.is_zero() or prod(signs) > 0

    def is_positive(self) -> bool:
        """Whether that is seen, of each factor or of its negative; an even divisor is."""
        sees = self.ring.is_positive
        to_see = ((f, power) for f, power in factors(self) if power > 0 or power % 2)
        signs = [self.ring.sign(factor, sees) ** abs(power) for factor, power in to_see]
        return not self.numerator.is_zero() and prod(signs) > 0

    def __repr__(self) -> str:
        return f"({self.numerator})/({self.denominator})"


@dataclass(eq=False)
class Space:
    """Named vectors, and the generators that are their moments."""

    ring: Ring
    known: dict[tuple[int, str, str], Rational] = field(default_factory=dict)
    indices: dict[tuple[int, str, str], int] = field(default_factory=dict)

    def vector(self, name: str) -> Vector:
        """Return the vector of that name."""
        return Vector(self, {(0, name): self.ring.number(1)})

    def moment(self, power: int, a: str, b: str) -> Rational:
        r"""Return :math:`\langle a, H^k b\rangle` for two names."""
        key = (power, min(a, b), max(a, b))
        if key in self.known:
            return self.known[key]
        if key not in self.indices:
            self.indices[key] = self.ring.take()
            if a == b and power % 2 == 0:
                self.ring.not_negative.add(self.indices[key])
        return self.ring.generator(self.indices[key])

    def moments_with(self, name: str) -> dict[Label, int]:
        """Return the generators that are moments with a vector, by the other vector."""
        return {
            (power, b if a == name else a): index
            for (power, a, b), index in self.indices.items()
            if name in (a, b)
        }

    def forget(self, name: str) -> None:
        """Forget a vector that nothing is written in any more."""
        for key in [k for k in self.indices if name in k[1:]]:
            self.ring.give_back(self.indices.pop(key))


class Vector:
    """A combination of named vectors, and of H applied to them."""

    __array_ufunc__ = None

    def __init__(self, space: Space, coefficients: Mapping[Label, Any]):
        self.space, self.coefficients = space, coefficients

    def inner(self, other: Vector) -> Any:
        """Return the inner product."""
        terms = (
            x * y * self.space.moment(j + k, a, b)
            for (j, a), x in self.coefficients.items()
            for (k, b), y in other.coefficients.items()
        )
        return sum(terms, start=self.space.ring.number(0))

    __matmul__ = inner

    def sum(self) -> Any:
        """Return the sum of the entries."""
        return self.inner(self.space.vector(ONE))

    def mean(self) -> Any:
        """Return the average of the entries."""
        return self.sum() / self.length()

    def length(self) -> Rational:
        """Return m."""
        return self.space.ring.letter("m")

    def apply_operator(self) -> Vector:
        """Return H applied to it."""
        return Vector(self.space, {(k + 1, a): c for (k, a), c in self.coefficients.items()})

    def map(self, function: Callable[[Any], Any]) -> Vector:
        """Return the vector with each coefficient replaced."""
        return Vector(self.space, {k: function(c) for k, c in self.coefficients.items()})

    def __len__(self) -> NoReturn:
        raise SilentError("the length is the letter m")

    def __getattr__(self, name: str) -> NoReturn:
        raise EntriesError(f"single entries of a vector are not known, so it has no {name}")

    def __bool__(self) -> bool:
        return True

    def __add__(self, other: Any) -> Vector:
        if not isinstance(other, Vector):
            other = other * self.space.vector(ONE)
        total = dict(self.coefficients)
        for label, c in other.coefficients.items():
            total[label] = total[label] + c if label in total else c
        return Vector(self.space, total)

    __radd__ = __add__

    def __neg__(self) -> Vector:
        return self.map(lambda c: -c)

    def __sub__(self, other: Any) -> Vector:
        return self + -other

    def __rsub__(self, other: Any) -> Vector:
        return -self + other

    def __mul__(self, number: Any) -> Vector:
        if isinstance(number, Vector):
            raise SilentError("an elementwise product is not determined by inner products")
        return self.map(lambda c: c * number)

    __rmul__ = __mul__

    def __truediv__(self, number: Any) -> Vector:
        return self.map(lambda c: c / number)


# ---- differentiation ----

_fresh = count()


def directional_derivative(f: Callable[[Any], Any], x: Vector, u: Vector) -> Any:
    """Return the derivative of a function, of a number or a vector, at x along u."""
    t = infinitesimal()
    moved = f(x + t * u)
    return moved.map(lambda c: rate(c, t)) if isinstance(moved, Vector) else rate(moved, t)


def gradient(f: Callable[[Any], Any], x: Vector) -> Vector:
    """Return the vector whose inner product with any u is the derivative along u.

    The derivative along a fresh vector is linear in its moments; their coefficients are those of
    the gradient.
    """
    space, name = x.space, f"direction {next(_fresh)}"
    slope = directional_derivative(f, x, space.vector(name))
    found = space.moments_with(name)
    coefficients = {label: _part(slope, index) for label, index in found.items()}
    space.forget(name)
    return Vector(space, coefficients)


def _part(number: Any, index: int) -> Any:
    """Return the coefficient of a generator in what is linear in it."""
    if isinstance(number, Dual):
        return Dual(_part(number.value, index), _part(number.rate, index), number.level)
    if isinstance(number, int):
        return 0
    if number.denominator.degrees()[index]:
        raise SilentError("a derivative is not linear in its direction")
    return Rational.reduced(number.ring, number.numerator.derivative(index), number.denominator)


# ---- the generic case ----


def generic_case(has_epsilon: bool) -> GenericCase:
    """Return a batch of any length, any gamma and beta, and eps zero or non-negative."""
    ring = Ring()
    m, sigma = ring.letter("m"), ring.letter("sigma")
    eps = ring.letter("epsilon") if has_epsilon else ring.number(0)
    one_and_c = {
        (0, ONE, ONE): m,
        (0, "c", ONE): ring.number(0),
        (0, "c", "c"): m * (sigma**2 - eps),
    }
    space = Space(ring, one_and_c)
    return GenericCase(
        y=ring.letter("mu") * space.vector(ONE) + space.vector("c"),
        gamma=ring.letter("gamma"),
        beta=ring.letter("beta"),
        eps=eps,
        direction=space.vector("u"),
        other_direction=space.vector("v"),
        bound=ring.letter("lambda"),
    )


class PolynomialNetwork(PrimitiveNetwork):
    """The network of the generic case, whose loss is known by its 2-jet at the layer's output."""

    def __init__(self, case: GenericCase):
        calculus = Calculus(sqrt, gradient, directional_derivative)
        super().__init__(case, case.y.length(), self.jet, calculus)

    @property
    def ring(self) -> Ring:
        """What its numbers are quotients in."""
        return self.y.space.ring

    def jet(self, z: Vector) -> Any:
        """Return the 2-jet of the loss at the layer's output."""
        d = z - self.z
        if not all(is_zero(standard_part(c)) for c in d.coefficients.values()):
            raise SilentError("the loss is known only near the layer's output z")
        if len(set().union(*map(levels, d.coefficients.values()))) > 2:
            raise SilentError("the loss is known by its first two derivatives only")
        slope = self.y.space.vector("g").inner(d)
        return self.ring.letter("L") + slope + d.inner(d.apply_operator()) / 2


def is_zero(value: Any) -> bool:
    """Whether a number, or every coefficient of a vector, vanishes."""
    if isinstance(value, Vector):
        return all(map(is_zero, value.coefficients.values()))
    return value.is_zero if isinstance(value, Rational) else value == 0


# ---- proofs ----


def examine(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Yield a proof of each claim for every batch size, or silence."""
    networks: dict[bool, PolynomialNetwork] = {}
    for claim in claims:
        has_epsilon = claim.reading.has_epsilon
        if has_epsilon not in networks or len(networks[has_epsilon].ring.spare) < ROOM:
            networks[has_epsilon] = PolynomialNetwork(generic_case(has_epsilon))
        # A root says of its number that it is not negative, but to whom takes it alone.
        why = shortcoming(claim, None if claim.may_take_a_root else networks[has_epsilon])
        proof = None if why else Proof((EVERY_M,))
        yield Record(claim.id, "polynomial", proof=proof, unproved=why)


def shortcoming(claim: Claim, network: PolynomialNetwork | None = None) -> str:
    """Return why a claim is not proved for every batch size; nothing where it is.

    Args:
        claim: the claim.
        network: the generic network in the claim's reading, where statements share what is
            computed of it.
    """
    try:
        return _shortcoming(claim, network)
    except (SilentError, LosesGeneralityError) as error:
        return str(error)


def _shortcoming(claim: Claim, network: PolynomialNetwork | None) -> str:
    imposed = without_loss(claim)
    if network is None or imposed:
        network = PolynomialNetwork(changed(generic_case(claim.reading.has_epsilon), imposed))
    unit = claim.read(network)
    actual, claimed = claim.sides(unit)
    slack = claim.slack(actual, claimed)
    if claim.because is None:
        vanishes = not claim.relation.is_strict and is_zero(slack)
        return "" if vanishes else "its sides are not seen to be equal, and there is no because="

    def is_not_negative(number: Any) -> bool:
        return network.ring.number(number).is_not_negative()

    if claim.unreal(is_not_negative, unit):
        return "because= has a root of what is not seen to be positive or zero"
    if not exact.has_certificate_somewhere(claim):
        return "because= is a real number at none of the batches that were tried"
    terms = claim.terms(unit)
    if not is_zero(claim.left_over(unit, terms)):
        return "because= is not seen to add up to the slack"
    dividing = claim.dividing(terms, is_not_negative, unit)
    if unseen := _divisors(dividing, network.ring):
        strict = [h.quantity(unit) for h in claim.hypotheses if h.sign.is_strict]
        not_zero = [*claim.divided_by(unit), *strict]
        inverses = [1 / network.ring.number(number) for number in not_zero]
        if not unseen <= _divisors([actual, claimed, *inverses], network.ring):
            return "because= divides by what may be zero"
    return _without_sign(claim, terms, network)


def _without_sign(claim: Claim, terms: Sequence[Term], network: PolynomialNetwork) -> str:
    """Return which terms are not seen to have the sign that the relation needs; or nothing."""
    if not all(_is_not_negative(term, claim, network) for term in terms):
        return "a term of because= is not seen to be positive or zero"
    if claim.relation.is_strict and not any(_is_positive(term, network) for term in terms):
        return "no term of because= is seen to be positive"
    if claim.relation is Relation.EQUAL and not all(term.is_zero for term in terms):
        return "a term of because= is not seen to be zero"
    return ""


def _divisors(values: Iterable[Any], ring: Ring) -> set[str]:
    """Return what numbers, and coefficients of vectors, divide by, unless it is seen positive."""
    numbers = (
        ring.number(number)
        for value in values
        for number in (value.coefficients.values() if isinstance(value, Vector) else [value])
    )
    return {name for number in numbers for name in _unseen(number.denominator, ring)}


def _unseen(polynomial: fmpq_mpoly, ring: Ring) -> set[str]:
    """Return the factors that are not seen positive; of a root, those of its square."""
    unseen: set[str] = set()
    for factor, _ in polynomial.factor()[1]:
        root = next((i for i in ring.roots if ring.generators[i] == factor), None)
        if root is not None:
            unseen |= _unseen(ring.roots[root], ring)
        elif not ring.sign(factor, ring.is_positive):
            unseen.add(str(factor / factor.leading_coefficient()))
    return unseen


def _is_not_negative(term: Term, claim: Claim, network: PolynomialNetwork) -> bool:
    if not all(h in claim.hypotheses for h in term.hypotheses):
        return False
    if term.is_zero:
        return True
    return network.ring.number(term.weight).is_not_negative()


def _is_positive(term: Term, network: PolynomialNetwork) -> bool:
    strict = all(isinstance(f, Hypothesis) and f.sign is Relation.MORE_THAN for f in term.factors)
    return strict and network.ring.number(term.weight).is_positive()
