r"""A decision whether an expression with square roots vanishes identically.

The expression is made of rational numbers and real symbols with + - * / and square roots.  Each
distinct radicand R gets a letter s with :math:`s^2 = R`, and a whole number one for each of its
prime factors, which makes the expression one polynomial over products of others.  It vanishes if
the polynomial's remainder modulo the :math:`s^2 - R` does.

Conversely a remainder that is not zero is not a zero function, if the products of the letters are
independent over the rational functions.  They are where no product of radicands is a square, and
also where one radicand is the square of a polynomial that takes both signs, so that s is now plus
and now minus it: the variance for m = 2.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations, repeat
from math import prod
from typing import Any, NamedTuple

import numpy as np

from theory.arithmetic.quadratic import rational_root
from theory.packages import missing

try:
    import sympy as sp
    from flint import Ordering, arb, ctx, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpz
except ModuleNotFoundError as error:
    raise missing(error, "verify") from error

LARGEST = 100_000_000
"""Products of polynomials with more pairs of terms are not tried: many seconds, and gigabytes."""


class UndecidedError(ValueError):
    """The remainder is not zero and the roots not known to be independent, or it is too large."""


class UnreadableError(TypeError):
    """A number or function of a kind that is not read, such as an absolute value."""


def is_zero(expression: Any) -> bool:
    r"""Whether an expression, or every entry of an array, vanishes wherever it is defined.

    >>> x, y = sp.symbols("x y", real=True)
    >>> s = sp.sqrt(x**2 + y)
    >>> is_zero(1 / (s - x) - (s + x) / y), is_zero(1 / (s - x) - (s - x) / y)
    (True, False)

    Raises:
        UnreadableError: a number or function of another kind is met, such as a float.
        ZeroDivisionError: a denominator vanishes identically.
        UndecidedError: the roots are related, as those of :math:`\sqrt{ab} - \sqrt a\sqrt b` are,
            or the expression is too large.
    """
    entries = np.asarray(expression, dtype=object).ravel().tolist()
    expressions = [sp.sympify(entry) for entry in entries]
    if not _may_vanish(expressions):
        return False
    reader = _Reader(expressions)
    if all(reader.reduced(reader.read(e).numerator).is_zero() for e in expressions):
        return True
    if not reader.roots_are_independent():
        raise UndecidedError(
            "the expression may vanish, because the roots of these may be related: "
            f"{', '.join(map(str, reader.radicands))}; write one root by means of the others"
        )
    return False


def _may_vanish(expressions: list[sp.Expr]) -> bool:
    """Whether every expression's ball contains zero at one point; one that does not settles it."""
    parts = subexpressions(expressions)
    symbols = sorted((e for e in parts if isinstance(e, sp.Symbol)), key=str)
    with ctx.workprec(256):
        # Positive, as some symbols are, and without a pattern that could make a sum vanish.
        known: dict[sp.Expr, arb] = {s: 1 / (arb(2).sqrt() + k) for k, s in enumerate(symbols)}
        values = [_ball(e, known) for e in expressions]
    return all(0 in value or not value.is_finite() for value in values)


def _ball(e: sp.Expr, known: dict[sp.Expr, arb]) -> arb:
    """Return an enclosure of an expression's value, given those of its symbols."""
    if e not in known:
        parts = [_ball(part, known) for part in e.args]
        if isinstance(e, sp.Rational):
            known[e] = arb(fmpq(int(e.p), int(e.q)))
        elif isinstance(e, sp.Add):
            known[e] = sum(parts, arb(0))
        elif isinstance(e, sp.Mul):
            known[e] = prod(parts, start=arb(1))
        elif isinstance(e, sp.Pow) and isinstance(2 * e.exp, sp.Integer):
            known[e] = parts[0] ** parts[1]
        else:
            known[e] = arb("nan")
    return known[e]


def subexpressions(expressions: list[sp.Expr]) -> set[sp.Expr]:
    """Return every expression inside those given, each once: as a tree there are far more."""
    met: set[sp.Expr] = set()
    waiting = list(expressions)
    while waiting:
        if (e := waiting.pop()) not in met:
            met.add(e)
            waiting.extend(e.args)
    return met


class _Fraction(NamedTuple):
    """A polynomial over powers of the reader's denominators, which go by their number."""

    numerator: fmpq_mpoly
    powers: dict[int, int]


class _Reader:
    """Reads expressions as fractions; these are not cancelled, which would cost more than it saves.

    The polynomials' generators are a letter for each radicand and then the symbols.
    """

    def __init__(self, expressions: list[sp.Expr]):
        parts = subexpressions(expressions)
        symbols = sorted((e for e in parts if isinstance(e, sp.Symbol)), key=str)
        powers = (e for e in parts if isinstance(e, sp.Pow))
        bases = {power.base for power in powers if getattr(power.exp, "q", 1) == 2}
        self._whole = {base: _factors(base) for base in bases if isinstance(base, sp.Integer)}
        radicands = (bases - self._whole.keys()).union(*self._whole.values())
        # A root within a root has fewer operations, so it is read first.  Its letter comes later
        # in the lexicographic order, which makes s^2 the leading term of s^2 - R.
        self.radicands = sorted(radicands, key=lambda r: (sp.count_ops(r), str(r)))
        names = [f"s{i}" for i in range(len(radicands))] + [f"x{i}" for i in range(len(symbols))]
        self._context = fmpq_mpoly_ctx.get(names or ["x"], Ordering.lex)
        generators = list(self._context.gens())
        variables = generators[len(radicands) :]
        self._denominators = generators
        self._signs = [1] * len(radicands) + [_known_sign(s) for s in symbols]
        self._relations: dict[int, fmpq_mpoly] = {}  # the square of a letter, by its number
        self._roots: dict[sp.Expr, _Fraction] = {}
        self._known = {s: _Fraction(x, {}) for s, x in zip(symbols, variables, strict=False)}
        for letter, radicand in enumerate(self.radicands, start=1):
            self._roots[radicand] = self._root(self.read(radicand), len(radicands) - letter)
            self._known[radicand] = self._power(self._roots[radicand], 2)

    def read(self, e: sp.Expr) -> _Fraction:
        """Return an expression as a fraction."""
        if e not in self._known:
            self._known[e] = self._read(e)
        return self._known[e]

    def _read(self, e: sp.Expr) -> _Fraction:
        if isinstance(e, sp.Rational):
            return _Fraction(self._constant(fmpq(int(e.p), int(e.q))), {})
        if isinstance(e, sp.Add):
            return self._sum([self.read(a) for a in e.args])
        if isinstance(e, sp.Mul):
            return self._product([self.read(a) for a in e.args])
        if isinstance(e, sp.Pow) and isinstance(e.exp, sp.Integer):
            return self._power(self.read(e.base), int(e.exp))
        if isinstance(e, sp.Pow) and isinstance(2 * e.exp, sp.Integer):
            factors = self._whole.get(e.base, {e.base: 1})
            powers = [self._power(self._roots[f], power) for f, power in factors.items()]
            return self._power(self._product(powers), int(2 * e.exp))
        raise UnreadableError(
            f"{e} is a {type(e).__name__}; give rational numbers and symbols with + - * / and sqrt"
        )

    def _constant(self, c: Any) -> fmpq_mpoly:
        return self._context.constant(c)

    def _sum(self, terms: list[_Fraction]) -> _Fraction:
        common: dict[int, int] = {}
        for _, powers in terms:
            common |= {k: max(p, common.get(k, 0)) for k, p in powers.items()}
        total = self._constant(0)
        for numerator, powers in terms:
            lacking = {k: p - powers.get(k, 0) for k, p in common.items()}
            total += _times(numerator, self._monomial(lacking))
        return _Fraction(total, common)

    def _product(self, factors: list[_Fraction]) -> _Fraction:
        total: dict[int, int] = {}
        for _, powers in factors:
            total |= {k: p + total.get(k, 0) for k, p in powers.items()}
        return _Fraction(reduce(_times, (f.numerator for f in factors), self._constant(1)), total)

    def _monomial(self, powers: dict[int, int]) -> fmpq_mpoly:
        factors = (d for k, p in powers.items() for d in repeat(self._denominators[k], p))
        return reduce(_times, factors, self._constant(1))

    def _power(self, x: _Fraction, n: int) -> _Fraction:
        if n < 0:
            return self._power(self._inverse(x), -n)
        power = reduce(_times, repeat(x.numerator, n), self._constant(1))
        return _Fraction(power, {k: n * p for k, p in x.powers.items()})

    def _inverse(self, x: _Fraction) -> _Fraction:
        if self.reduced(x.numerator).is_zero():
            raise ZeroDivisionError("a denominator of the expression vanishes identically")
        factor, powers = self._factored(x.numerator)
        return _Fraction(self._monomial(x.powers) / factor, powers)

    def _factored(self, x: fmpq_mpoly) -> tuple[fmpq, dict[int, int]]:
        """Write a polynomial as a number times powers of denominators, a new one if need be."""
        if len(x) == 1:
            [(exponents, factor)] = x.terms()
            return factor, {k: int(p) for k, p in enumerate(exponents) if p}
        squares = [(k, 2, square) for k, square in self._relations.items()]
        for k, power, known in squares + [(k, 1, d) for k, d in enumerate(self._denominators)]:
            factor = x.leading_coefficient() / known.leading_coefficient()
            if x == known * factor:
                return factor, {k: power}
        self._denominators.append(x)
        return fmpq(1), {len(self._denominators) - 1: 1}

    def _root(self, x: _Fraction, letter: int) -> _Fraction:
        """Return the root of a fraction: a number times a root that is known, or else a letter."""
        if any(k >= len(self._signs) or self._signs[k] != 1 for k in x.powers):
            raise UnreadableError(
                "a radicand has a denominator that is not a positive symbol or a root"
            )
        odd = {k: p % 2 for k, p in x.powers.items()}
        powers = {k: (p + 1) // 2 for k, p in x.powers.items()}
        radicand = self.reduced(x.numerator * self._monomial(odd))
        if radicand.is_zero():
            return _Fraction(radicand, {})
        known = [(self._denominators[k], square) for k, square in self._relations.items()]
        for root, square in [(self._constant(1), self._constant(1)), *known]:
            factor = rational_root(radicand.leading_coefficient() / square.leading_coefficient())
            if factor is not None and radicand == square * factor**2:
                return _Fraction(root * factor, powers)
        self._relations[letter] = radicand
        return _Fraction(self._denominators[letter], powers)

    def reduced(self, x: fmpq_mpoly) -> fmpq_mpoly:
        """Return the remainder modulo s^2 - R for every letter s."""
        for letter, radicand in reversed(self._relations.items()):
            x %= self._denominators[letter] ** 2 - radicand
        return x

    def roots_are_independent(self) -> bool:
        """Whether the products of the roots are independent over the rational functions."""
        squares = list(self._relations.values())
        if any(any(square.degrees()[: len(self.radicands)]) for square in squares):
            return False  # a root within a root: its field is not that of the rational functions
        several = (c for size in range(2, len(squares) + 1) for c in combinations(squares, size))
        return all(_square_root(prod(c)) is None for c in several) and all(
            (root := _square_root(s)) is None or self._takes_both_signs(root) for s in squares
        )

    def _takes_both_signs(self, x: fmpq_mpoly) -> bool:
        degrees = enumerate(x.degrees())
        return x.total_degree() % 2 == 1 and all(not d or self._signs[k] == 0 for k, d in degrees)


def _factors(n: sp.Integer) -> dict[sp.Integer, int]:
    """Return the powers of a whole number's prime factors; large ones may stay together."""
    return {sp.Integer(int(f)): int(power) for f, power in fmpz(int(n)).factor_smooth()}


def _times(a: fmpq_mpoly, b: fmpq_mpoly) -> fmpq_mpoly:
    if len(a) * len(b) > LARGEST:
        raise UndecidedError(
            f"a product of polynomials of {len(a)} and {len(b)} terms is too large to try"
        )
    return a * b


def _known_sign(symbol: sp.Symbol) -> int:
    """Return 1 for a positive symbol, 0 for one of either sign, -1 for any other."""
    if symbol.is_positive:
        return 1
    return 0 if symbol.is_real and symbol.is_nonnegative is symbol.is_nonpositive is None else -1


def _square_root(x: Any) -> fmpq_mpoly | None:
    factor, factors = x.factor_squarefree()
    root = rational_root(factor)
    if root is None or any(power % 2 for _, power in factors):
        return None
    return prod((p ** (power // 2) for p, power in factors), start=x.context().constant(root))
