r"""Sympy expressions as quotients of python-flint's polynomials: lowest terms and factors.

An expression is written in sympy, for people; its algebra is done here, many times faster.  Its
symbols are the polynomials' generators, and so are roots and absolute values, whose powers are
reduced by what their squares are.

>>> x, y = sp.symbols("x y", real=True)
>>> lowest_terms((x**2 - y**2) / (2 * x - 2 * y) + 1 / (x + y) - 1 / (y + x))
x/2 + y/2
>>> factored((x**2 + x * y) / (y**2 + x * y) + 2)
(x + 2*y)/y
>>> lowest_terms((sp.sqrt(x**2 + y) - x) * (sp.sqrt(x**2 + y) + x) + abs(x) ** 2)
x**2 + y
"""

from __future__ import annotations

from functools import lru_cache, reduce
from operator import attrgetter
from typing import NamedTuple

from theory.packages import missing

try:
    import sympy as sp
    from flint import Ordering, fmpz, fmpz_mpoly, fmpz_mpoly_ctx
except ModuleNotFoundError as error:
    raise missing(error, "verify") from error

REMEMBERED = 4096
"""Of how many expressions the lowest terms are known: proofs ask for most several times."""


class VanishingError(ZeroDivisionError):
    """A denominator is zero whatever its letters are worth."""

    def __init__(self) -> None:
        super().__init__("a denominator vanishes identically")


@lru_cache(REMEMBERED)
def lowest_terms(expression: sp.Expr) -> sp.Expr:
    """Return an expression over one denominator, both multiplied out, without common factor.

    Raises:
        VanishingError: a denominator vanishes identically.
    """
    reader, (numerator, denominator) = _read(expression)
    return reader.written(numerator) / reader.written(denominator)


def factored(expression: sp.Expr) -> sp.Expr:
    """Return an expression over one denominator, both as products of irreducible polynomials.

    Raises:
        VanishingError: a denominator vanishes identically.
    """
    reader, (numerator, denominator) = _read(expression)
    return reader.written_as_product(numerator) / reader.written_as_product(denominator)


def _read(expression: sp.Expr) -> tuple[_Reader, _Quotient]:
    """Return the quotient that an expression is, and what writes it as one again."""
    if expression.has(sp.zoo, sp.nan):  # sympy has divided by zero itself
        raise VanishingError
    tidy = _tidy_inside(expression)
    reader = _Reader(tidy)
    return reader, reader.quotient(tidy)


def _tidy_inside(expression: sp.Expr) -> sp.Expr:
    """Return an expression whose roots and absolute values are of factors: equal ones look so."""
    return expression.xreplace({e: _of_factors(e) for e in _parts(expression) if _has_a_square(e)})


def _of_factors(part: sp.Expr) -> sp.Expr:
    argument, *exponent = part.args
    factors = factored(argument)
    if exponent:
        return factors ** exponent[0]  # sympy takes squares out of roots
    return sp.Mul(*map(abs, sp.Mul.make_args(factors)))


class _Quotient(NamedTuple):
    """Two polynomials without common factor."""

    numerator: fmpz_mpoly
    denominator: fmpz_mpoly


class _Reader:
    """Reads an expression in generators of its own."""

    def __init__(self, expression: sp.Expr):
        self._generators = _generators(expression)
        names = [f"x{i}" for i in range(len(self._generators))]
        self._context = fmpz_mpoly_ctx.get(names or ["x"], Ordering.lex)
        self._known = {
            generator: _Quotient(polynomial, self._constant(1))
            for generator, polynomial in zip(self._generators, self._context.gens(), strict=False)
        }
        self._powers = {
            index: (int(power), self._read(value))
            for index, generator in enumerate(self._generators)
            if _has_a_square(generator)
            for power, value in [_known_power(generator)]
        }

    def _constant(self, number: int) -> fmpz_mpoly:
        return self._context.constant(number)

    def quotient(self, expression: sp.Expr) -> _Quotient:
        """Return the quotient that an expression is."""
        numerator, denominator = self._read(expression)
        for index, (power, value) in self._powers.items():
            above = self._with_low_powers(numerator, index, power, value)
            below = self._with_low_powers(denominator, index, power, value)
            numerator, denominator = _product(above, _inverse(below))
        return _Quotient(numerator, denominator)

    def _read(self, e: sp.Expr) -> _Quotient:
        if e not in self._known:
            self._known[e] = self._compute(e)
        return self._known[e]

    def _compute(self, e: sp.Expr) -> _Quotient:
        if isinstance(e, sp.Rational):
            return _Quotient(self._constant(int(e.p)), self._constant(int(e.q)))
        if isinstance(e, sp.Add):
            return reduce(_sum, map(self._read, e.args))
        if isinstance(e, sp.Mul):
            return reduce(_product, map(self._read, e.args))
        return _power(self._read(_base(e)), int(e.exp.p))

    def _with_low_powers(
        self, polynomial: fmpz_mpoly, index: int, power: int, value: _Quotient
    ) -> _Quotient:
        """Return a polynomial in which a generator's powers are less than one that is known."""
        parts: dict[int, dict[tuple[int, ...], fmpz]] = {}
        for exponents, number in polynomial.terms():
            times, rest = divmod(int(exponents[index]), power)
            lowered = (*exponents[:index], rest, *exponents[index + 1 :])
            parts.setdefault(times, {})[lowered] = number
        terms = (
            _product(
                _Quotient(self._context.from_dict(part), self._constant(1)), _power(value, times)
            )
            for times, part in parts.items()
        )
        return reduce(_sum, terms, _Quotient(self._constant(0), self._constant(1)))

    def written(self, polynomial: fmpz_mpoly) -> sp.Expr:
        """Return a polynomial as an expression."""
        terms = (
            sp.Mul(int(number), *(g**p for g, p in zip(self._generators, powers, strict=False)))
            for powers, number in polynomial.terms()
        )
        return sp.Add(*terms)

    def written_as_product(self, polynomial: fmpz_mpoly) -> sp.Expr:
        """Return a polynomial's irreducible factors as an expression."""
        number, factors = polynomial.factor()
        return sp.Mul(int(number), *(self.written(factor) ** int(p) for factor, p in factors))


def _generators(expression: sp.Expr) -> list[sp.Expr]:
    """Return the symbols, roots and absolute values; each before those that are inside of it."""
    parts = _parts(expression)
    if all(isinstance(part, sp.Symbol) for part in parts):  # nothing is inside of another
        return sorted(parts, key=attrgetter("name"))
    found: dict[sp.Expr, None] = {}
    waiting = sorted(parts, key=sp.count_ops)
    while waiting:
        part = waiting.pop()
        generator = _base(part) if isinstance(part, sp.Pow) else part
        if generator not in found:
            found[generator] = None
            inside = _parts(generator.args[0]) if _has_a_square(generator) else set()
            waiting = sorted({*waiting, *inside}, key=sp.count_ops)
    return sorted(found, key=lambda e: (-sp.count_ops(e), str(e)))


def _parts(expression: sp.Expr) -> set[sp.Expr]:
    """Return what an expression is a quotient of: symbols, powers of roots, absolute values."""
    if isinstance(expression, sp.Rational):
        return set()
    if isinstance(expression, sp.Add | sp.Mul):
        return set().union(*map(_parts, expression.args))
    if isinstance(expression, sp.Pow) and isinstance(expression.exp, sp.Integer):
        return _parts(expression.base)
    return {expression}


def _has_a_square(generator: sp.Expr) -> bool:
    """Whether a part is a root or an absolute value; any other, such as a sum, is a letter here."""
    return isinstance(generator, sp.Pow | sp.Abs)


def _base(power: sp.Pow) -> sp.Expr:
    """Return the root, or the expression, that a power is an integer power of."""
    return power.base ** sp.Rational(1, power.exp.q)


def _known_power(generator: sp.Expr) -> tuple[int, sp.Expr]:
    """Return a power of a root or an absolute value that is free of it."""
    if isinstance(generator, sp.Pow):
        return generator.exp.q, generator.base
    [argument] = generator.args
    return 2, argument**2


def _sum(a: _Quotient, b: _Quotient) -> _Quotient:
    common = a.denominator.gcd(b.denominator)
    mine, others = b.denominator / common, a.denominator / common
    return _reduced(a.numerator * mine + b.numerator * others, a.denominator * mine)


def _product(a: _Quotient, b: _Quotient) -> _Quotient:
    return _reduced(a.numerator * b.numerator, a.denominator * b.denominator)


def _inverse(a: _Quotient) -> _Quotient:
    return _reduced(a.denominator, a.numerator)


def _power(a: _Quotient, n: int) -> _Quotient:
    base = a if n >= 0 else _inverse(a)
    return _Quotient(base.numerator ** abs(n), base.denominator ** abs(n))


def _reduced(numerator: fmpz_mpoly, denominator: fmpz_mpoly) -> _Quotient:
    """Return a quotient in lowest terms whose denominator's first number is positive."""
    if denominator.is_zero():
        raise VanishingError
    common = numerator.gcd(denominator)
    if denominator.leading_coefficient() < 0:
        common = -common
    return _Quotient(numerator / common, denominator / common)
