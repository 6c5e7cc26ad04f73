r"""A decision whether an expression with square roots vanishes identically.

The expression is a formula (:mod:`theory.arithmetic.formulas`), or is read as one: rational numbers
and real letters with + - * / and square roots.  Each distinct radicand R gets a letter s with
:math:`s^2 = R`, which makes the expression one polynomial over products of others.  It vanishes if
the polynomial's remainder modulo the :math:`s^2 - R` does.  Their leading terms are :math:`s^2`, or
the square of a letter that R has and no other such relation, so they are a Groebner basis and the
remainder is unique; with the second, powers of a sum of squares never grow.

The square of a letter that all terms of R have leaves the root as the letter's absolute value, if
that is known: :math:`\sqrt{a^2 x + a^2 y} = |a|\sqrt{x + y}`.

Conversely a remainder that is not zero is not a zero function, if the products of the letters are
independent over the rational functions.  They are where no product of radicands is a square, and
also where one radicand is the square of a polynomial that takes both signs, so that s is now plus
and now minus it: the variance for m = 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, repeat
from math import prod
from typing import Any, NamedTuple

import numpy as np

from theory.arithmetic.formulas import Factor, Formula, Letter, Product, UnreadableError, formula
from theory.arithmetic.quadratic import rational_root
from theory.packages import missing

try:
    from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx
except ModuleNotFoundError as error:
    raise missing(error, "verify") from error

MOST = 50_000_000
"""A decision that takes more products of two terms is given up: many seconds, and gigabytes."""
LONGEST = 80
"""Of roots that may be related those are named whose radicands take so many characters at most."""


class UndecidedError(ValueError):
    """The remainder is not zero and the roots not known to be independent, or it is too large."""


def is_zero(expression: Any, most: int = MOST) -> bool:
    r"""Whether an expression, or every entry of an array, vanishes wherever it is defined.

    Args:
        expression: formulas, rational numbers, expressions of sympy.
        most: how many products of two terms it may take.

    >>> from theory.arithmetic.formulas import letter
    >>> x, y = letter("x"), letter("y")
    >>> s = (x**2 + y).sqrt()
    >>> is_zero(1 / (s - x) - (s + x) / y), is_zero(1 / (s - x) - (s - x) / y)
    (True, False)

    Raises:
        UnreadableError: a number or function of another kind is met, such as a float.
        ZeroDivisionError: a denominator vanishes identically.
        UndecidedError: the roots are related, as those of :math:`\sqrt{ab} - \sqrt a\sqrt b` are,
            or the expression is too large.
    """
    entries = np.asarray(expression, dtype=object).ravel().tolist()
    formulas = [formula(entry) for entry in entries]
    if not all(_may_vanish(f) for f in formulas):
        return False
    plain = _Reader(formulas, most)
    eliminable = plain.eliminable()
    reader = _Reader(formulas, most, eliminable) if eliminable else plain
    if all(reader.read(f).numerator.is_zero() for f in formulas):
        return True
    if not plain.roots_are_independent():
        raise UndecidedError(
            "the expression may vanish, because the roots of these may be related: "
            f"{_in_words(plain.radicands)}; write one root by means of the others"
        )
    return False


def _in_words(radicands: Iterable[Factor]) -> str:
    """Return radicands in an order that tells nothing of what was met before; long ones counted."""
    texts = sorted(map(str, radicands), key=lambda text: (len(text), text))
    named = [text for text in texts if len(text) <= LONGEST]
    others = len(texts) - len(named)
    return ", ".join([*named, *([f"{others} longer than can be shown"] if others else [])])


def _may_vanish(tried: Formula) -> bool:
    """Whether a formula's ball at one point contains zero; one that does not settles it."""
    return 0 in tried.ball or not tried.ball.is_finite()


def _parts(formulas: Iterable[Formula]) -> tuple[set[Factor], set[Factor]]:
    """Return every letter and sum inside of formulas, and those of them that are radicands."""
    met: set[Factor] = set()
    radicands: set[Factor] = set()
    waiting: list[Factor] = list(formulas)
    while waiting:
        if (part := waiting.pop()) not in met:
            met.add(part)
            products = part.terms if isinstance(part, Formula) else ()
            factors = [factor for product in products for factor in product]
            waiting.extend(factor for factor, _ in factors)
            radicands.update(factor for factor, power in factors if power % 2)
    return met, radicands


@dataclass(frozen=True)
class _Root:
    """The letter that stands for the square root of a radicand."""

    radicand: Factor
    sign: int = 1


class _Fraction(NamedTuple):
    """A polynomial over powers of the reader's denominators, which go by their number."""

    numerator: fmpq_mpoly
    powers: dict[int, int]


class _Reader:
    """Reads formulas as fractions; these are not cancelled, which would cost more than it saves.

    The polynomials' generators are the letters and the roots.

    Args:
        formulas: what will be read.
        most: how many products of two terms that may take.
        eliminated: letters whose squares lead the relations of these radicands, in place of the
            root's; what :meth:`eliminable` of another reader returns.
    """

    def __init__(
        self,
        formulas: list[Formula],
        most: int,
        eliminated: Mapping[Factor, Letter] | None = None,
    ):
        self._eliminated = {} if eliminated is None else eliminated
        parts, radicands = _parts(formulas)
        # A root within a root was made first, so it is read first; before both, absolute values.
        self.radicands = sorted(
            radicands, key=lambda radicand: (_has_sum(radicand), radicand.serial)
        )
        letters = sorted((e for e in parts if isinstance(e, Letter)), key=lambda e: str(e.symbol))
        self._order = self._leading_first(letters)
        self._places = {item: k for k, item in enumerate(self._order)}
        names = [f"x{k}" for k in range(len(self._order))]
        self._context = fmpq_mpoly_ctx.get(names or ["x"], Ordering.lex)
        self._denominators = list(self._context.gens())
        self._products, self._most = 0, most
        self._squares: dict[Factor, fmpq_mpoly] = {}  # radicands whose roots are letters
        self._relations: list[tuple[int, fmpq_mpoly]] = []  # with the number of what leads them
        self._roots: dict[Factor, _Fraction] = {}
        self._known: dict[Factor, _Fraction] = {
            item: _Fraction(self._denominators[k], {})
            for k, item in enumerate(self._order)
            if isinstance(item, Letter)
        }
        for radicand in self.radicands:
            self._roots[radicand] = self._root(radicand)
            self._known[radicand] = self._power(self._roots[radicand], 2)

    def _leading_first(self, letters: list[Letter]) -> list[_Root | Letter]:
        """Return roots and letters in the lexicographic order by which relations lead as they do.

        What leads a relation comes before everything else in it.
        """
        roots = [_Root(radicand) for radicand in reversed(self.radicands)]
        leading = [root for root in roots if root.radicand not in self._eliminated]
        chosen = [letter for letter in letters if letter in self._eliminated.values()]
        return list(dict.fromkeys([*leading, *chosen, *roots, *letters]))

    def eliminable(self) -> dict[Factor, Letter]:
        """Return letters that can be eliminated, by their radicands, which share no letter."""
        found: dict[Factor, Letter] = {}
        met: set[int] = set()
        for radicand, square in self._squares.items():
            inside = {k: self._order[k] for k, degree in enumerate(square.degrees()) if degree > 0}
            letters = {k: item for k, item in inside.items() if isinstance(item, Letter)}
            if letters == inside and met.isdisjoint(inside):
                squared = (item for k, item in letters.items() if _is_squared(square, k))
                if (letter := next(squared, None)) is not None:
                    found[radicand] = letter
                    met |= inside.keys()
        return found

    def read(self, part: Factor) -> _Fraction:
        """Return a formula or a letter as a fraction."""
        if part not in self._known:
            products = part.terms.items() if isinstance(part, Formula) else ()
            self._known[part] = self._sum([self._product(p, number) for p, number in products])
        return self._known[part]

    def _product(self, product: Product, number: fmpq) -> _Fraction:
        factors = [self._read_power(factor, power) for factor, power in product]
        total: dict[int, int] = {}
        for _, powers in factors:
            total |= {k: p + total.get(k, 0) for k, p in powers.items()}
        numerators = (factor.numerator for factor in factors)
        return _Fraction(reduce(self._times, numerators, self._constant(number)), total)

    def _read_power(self, factor: Factor, power: int) -> _Fraction:
        """Return a factor to a power in halves."""
        if power % 2:
            return self._power(self._roots[factor], power)
        return self._power(self.read(factor), power // 2)

    def _constant(self, c: Any) -> fmpq_mpoly:
        return self._context.constant(c)

    def _sum(self, terms: list[_Fraction]) -> _Fraction:
        common: dict[int, int] = {}
        for _, powers in terms:
            common |= {k: max(p, common.get(k, 0)) for k, p in powers.items()}
        total = self._constant(0)
        for numerator, powers in terms:
            lacking = {k: p - powers.get(k, 0) for k, p in common.items()}
            total += self._times(numerator, self._monomial(lacking))
        return _Fraction(total, common)

    def _monomial(self, powers: dict[int, int]) -> fmpq_mpoly:
        factors = (d for k, p in powers.items() for d in repeat(self._denominators[k], p))
        return reduce(self._times, factors, self._constant(1))

    def _power(self, x: _Fraction, n: int) -> _Fraction:
        if n < 0:
            return self._power(self._inverse(x), -n)
        if n == 1:
            return x
        power = reduce(self._times, repeat(x.numerator, n), self._constant(1))
        return _Fraction(power, {k: n * p for k, p in x.powers.items()})

    def _inverse(self, x: _Fraction) -> _Fraction:
        if x.numerator.is_zero():
            raise ZeroDivisionError("a denominator of the expression vanishes identically")
        factor, powers = self._factored(x.numerator)
        return _Fraction(self._monomial(x.powers) / factor, powers)

    def _factored(self, x: fmpq_mpoly) -> tuple[fmpq, dict[int, int]]:
        """Write a polynomial as a number times powers of denominators, a new one if need be."""
        for known, powers in self._known_denominators(x):
            factor = x.leading_coefficient() / known.leading_coefficient()
            if x == known * factor:
                return factor, powers
        self._denominators.append(x)
        return fmpq(1), {len(self._denominators) - 1: 1}

    def _known_denominators(self, x: fmpq_mpoly) -> Iterator[tuple[fmpq_mpoly, dict[int, int]]]:
        """Yield what a polynomial may be a multiple of, with the powers of denominators in it."""
        for radicand, square in self._squares.items():
            yield square, {self._places[_Root(radicand)]: 2}
        if len(x) == 1:
            powers = {k: power for k, power in enumerate(x.degrees()) if power}
            yield x / x.leading_coefficient(), powers
        yield from ((known, {k: 1}) for k, known in enumerate(self._denominators))

    def _root(self, radicand: Factor) -> _Fraction:
        """Return the root of a radicand: a number times a root that is known, or else a letter."""
        x = self.read(radicand)
        if any(k >= len(self._order) or self._order[k].sign != 1 for k in x.powers):
            raise UnreadableError(
                "a radicand has a denominator that is not a positive symbol or a root"
            )
        odd = {k: p % 2 for k, p in x.powers.items()}
        powers = {k: (p + 1) // 2 for k, p in x.powers.items()}
        square = self._times(x.numerator, self._monomial(odd))
        if square.is_zero():
            return _Fraction(square, {})
        size, square = self._without_squares(square)
        for root in (self._constant(1), *map(self._letter_of, self._squares)):
            known = self.reduced(root**2)
            factor = rational_root(square.leading_coefficient() / known.leading_coefficient())
            if factor is not None and square == known * factor**2:
                return _Fraction(self._times(size, root * factor), powers)
        return _Fraction(self._times(size, self._relate(radicand, square)), powers)

    def _without_squares(self, x: fmpq_mpoly) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        """Return a monomial that is not negative, and the polynomial divided by its square."""
        (powers,) = x.term_content().monoms()
        root = square = self._constant(1)
        for k, half in ((k, power // 2) for k, power in enumerate(powers) if power > 1):
            if (size := self._size(k)) is not None:
                root = self._times(root, size**half)
                square *= self._denominators[k] ** (2 * half)
        return root, x / square

    def _size(self, k: int) -> fmpq_mpoly | None:
        """Return the absolute value of a letter or root, where that is known."""
        x = self._denominators[k]
        if self._order[k].sign == 1:
            return x
        squares = self._squares.items()
        return next((self._letter_of(r) for r, square in squares if square == x**2), None)

    def _letter_of(self, radicand: Factor) -> fmpq_mpoly:
        return self._denominators[self._places[_Root(radicand)]]

    def _relate(self, radicand: Factor, square: fmpq_mpoly) -> fmpq_mpoly:
        """Return the root of a radicand, as a letter with this square."""
        root = self._letter_of(radicand)
        self._squares[radicand] = square
        if radicand in self._eliminated:
            leading = self._places[self._eliminated[radicand]]
            self._relations.append((leading, root**2 - square))
        else:  # used before those of letters, whose powers its radicand may have
            leading = self._places[_Root(radicand)]
            self._relations.insert(0, (leading, root**2 - square))
        return root

    def _times(self, a: fmpq_mpoly, b: fmpq_mpoly) -> fmpq_mpoly:
        if a.is_one() or b.is_one():
            return b if a.is_one() else a
        self._allow(len(a) * len(b))
        return self.reduced(a * b)

    def reduced(self, x: fmpq_mpoly) -> fmpq_mpoly:
        """Return the remainder modulo the relations."""
        degrees = x.degrees()
        for leading, relation in self._relations:
            if degrees[leading] > 1:
                high = x.derivative(leading).derivative(leading)  # of as many terms as are replaced
                self._allow(len(high) * len(relation))
                x %= relation
                degrees = x.degrees()
        return x

    def _allow(self, products: int) -> None:
        self._products += products
        if self._products > self._most:
            raise UndecidedError(
                f"the expression is too large: it takes over {self._most} products of two terms"
            )

    def roots_are_independent(self) -> bool:
        """Whether the products of the roots are independent over the rational functions."""
        squares = list(self._squares.values())
        roots = [k for k, item in enumerate(self._order) if isinstance(item, _Root)]
        if any(square.degrees()[k] for square in squares for k in roots):
            return False  # a root within a root: its field is not that of the rational functions
        several = (c for size in range(2, len(squares) + 1) for c in combinations(squares, size))
        return all(_square_root(prod(c)) is None for c in several) and all(
            (root := _square_root(s)) is None or self._takes_both_signs(root) for s in squares
        )

    def _takes_both_signs(self, x: fmpq_mpoly) -> bool:
        degrees = zip(self._order, x.degrees(), strict=False)
        return x.total_degree() % 2 == 1 and all(not d or item.sign == 0 for item, d in degrees)


def _has_sum(radicand: Factor) -> bool:
    """Whether a radicand is more than one term of letters: roots may be inside of it."""
    if isinstance(radicand, Letter):
        return False
    products = [*radicand.terms]
    return len(products) > 1 or any(isinstance(f, Formula) for f, _ in products[0])


def _is_squared(x: fmpq_mpoly, k: int) -> bool:
    """Whether a generator is in one term of a polynomial alone, a number times its square."""
    slope = x.derivative(k)
    return len(slope) == 1 and slope.degrees()[k] == slope.total_degree() == 1


def _square_root(x: Any) -> fmpq_mpoly | None:
    factor, factors = x.factor_squarefree()
    root = rational_root(factor)
    if root is None or any(power % 2 for _, power in factors):
        return None
    return prod((p ** (power // 2) for p, power in factors), start=x.context().constant(root))
