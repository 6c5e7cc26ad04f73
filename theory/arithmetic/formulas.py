r"""Formulas in letters, kept as they are written: sums, products, powers and square roots.

A :class:`Formula` is a sum of rational multiples of products; a factor is a letter, a sum, or the
square root of one of them, to some power.  What is alike is collected and nothing else is done, so
that formulas of thousands of operations are made in no time; formulas that are alike are one
object.  Whether one vanishes is decided in :mod:`theory.arithmetic.radicals`; for people's eyes it
becomes an expression of sympy.

>>> x, y, p = letter("x"), letter("y"), letter("p", positive=True)
>>> (x + y) * (x - y) / x + x * 2 - x
x + (x - y)*(x + y)/x
>>> ((x + y) ** 2 + y * y).sqrt() ** 3 * (12 * p**2).sqrt()
2*sqrt(3)*p*(y**2 + (x + y)**2)**(3/2)
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache, lru_cache
from itertools import count
from math import prod
from typing import Any, TypeAlias
from weakref import WeakValueDictionary
from zlib import crc32

import numpy as np

from theory.arithmetic.quadratic import rational
from theory.packages import missing

try:
    import sympy as sp
    from flint import arb, ctx, fmpq, fmpz
except ModuleNotFoundError as error:
    raise missing(error, "verify") from error

BITS = 256
"""Precision of the ball that a formula has."""

_serials = count()


class UnreadableError(TypeError):
    """A number or function of a kind that is not read, such as a float or an exponential."""


class Letter:
    """A real number of which no more is known than perhaps its sign.

    Attributes:
        symbol: the letter as sympy's.
        sign: 1 if it is positive, 0 if it may have either sign, -1 if something else is known.
        ball: what it is where formulas are tried: positive, as some letters are, and irrational.
    """

    __slots__ = ("ball", "serial", "sign", "symbol")

    def __init__(self, symbol: sp.Symbol):
        self.symbol, self.sign, self.serial = symbol, _known_sign(symbol), next(_serials)
        with ctx.workprec(BITS):
            self.ball = arb(2).sqrt() + fmpq(crc32(str(symbol).encode()), 2**32)

    def __repr__(self) -> str:
        return str(self.symbol)

    @property
    def is_not_negative(self) -> bool:
        """Whether that is known."""
        return self.sign == 1


def _known_sign(symbol: sp.Symbol) -> int:
    if symbol.is_positive:
        return 1
    return 0 if symbol.is_real and symbol.is_nonnegative is symbol.is_nonpositive is None else -1


class Formula:
    """A sum of rational multiples of products.

    Attributes:
        terms: each product, by its factors and their powers in halves, with its multiple.
    """

    __slots__ = ("__weakref__", "_ball", "_is_not_negative", "serial", "terms")

    def __init__(self, terms: dict[Product, fmpq]):
        self.terms, self.serial = terms, next(_serials)
        self._ball: arb | None = None
        self._is_not_negative: bool | None = None

    @property
    def constant(self) -> fmpq | None:
        """The rational number that it is, or None."""
        if not self.terms:
            return _ZERO
        return self.terms.get(()) if len(self.terms) == 1 else None

    @property
    def is_not_negative(self) -> bool:
        """Whether that is seen of every number and factor."""
        if self._is_not_negative is None:
            self._is_not_negative = all(
                number > 0 and all(power % 4 != 2 or f.is_not_negative for f, power in product)
                for product, number in self.terms.items()
            )
        return self._is_not_negative

    @property
    def ball(self) -> arb:
        """A ball around its value where each letter is what its ball is; not finite for 1/0."""
        if self._ball is None:
            with ctx.workprec(BITS):
                terms = self.terms.items()
                self._ball = sum((_ball(product) * number for product, number in terms), arb(0))
        return self._ball

    def __add__(self, other: Any) -> Any:
        if (other := _coerced(other)) is None:
            return NotImplemented
        terms = dict(self.terms)
        for product, number in other.terms.items():
            terms[product] = terms.get(product, _ZERO) + number
            if not terms[product]:
                del terms[product]
        return _alike(terms)

    __radd__ = __add__

    def __neg__(self) -> Formula:
        return self._times(fmpq(-1))

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if (other := _coerced(other)) is None else self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if (other := _coerced(other)) is None:
            return NotImplemented
        for one, another in ((self, other), (other, self)):
            if (number := another.constant) is not None:
                return one._times(number)
        (a, x), (b, y) = self._as_term(), other._as_term()
        return _of_factors((*a, *b), x * y)

    __rmul__ = __mul__

    def _times(self, number: fmpq) -> Formula:
        terms = {product: n * number for product, n in self.terms.items()} if number else {}
        return _alike(terms)

    def _as_term(self) -> tuple[Product, fmpq]:
        """Return it as a multiple of one product: of itself, if it is a sum."""
        if len(self.terms) > 1:
            return ((self, 2),), _ONE
        return next(iter(self.terms.items()))

    def __pow__(self, power: int) -> Any:
        if not isinstance(power, int):
            return NotImplemented
        if not self.terms:
            if power < 0:
                raise ZeroDivisionError("division by a formula that is zero")
            return self if power else ONE
        product, number = self._as_term()
        return _of_factors([(factor, n * power) for factor, n in product], number**power)

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if (other := _coerced(other)) is None else self * other**-1

    def __rtruediv__(self, other: Any) -> Any:
        return self**-1 * other

    def sqrt(self) -> Formula:
        """Return the square root that is not negative, wherever it exists.

        Factors leave the root that are squares or are seen not to be negative.
        """
        if not self.terms:
            return self
        product, number = self._as_term()
        outside, inside = _root_of_number(abs(number)), ONE if number > 0 else -ONE
        for factor, power in product:
            if power % 4 != 2 or factor.is_not_negative:
                outside *= _root_of_power(factor, power)
            else:
                outside *= _absolute(factor) ** (power // 4)
                inside *= _of_factors([(factor, 2)])
        return outside if inside is ONE else outside * _of_factors([(_factor(inside), 1)])

    def __abs__(self) -> Formula:
        return self if self.is_not_negative else (self * self).sqrt()

    def __bool__(self) -> bool:
        return bool(self.terms)

    def __eq__(self, other: object) -> bool:
        return self is other or self is _coerced(other)

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> bool:
        return (self - other).sign() < 0

    def __le__(self, other: Any) -> bool:
        return (self - other).sign() <= 0

    def __gt__(self, other: Any) -> bool:
        return (self - other).sign() > 0

    def __ge__(self, other: Any) -> bool:
        return (self - other).sign() >= 0

    def sign(self) -> int:
        """Return -1, 0 or 1 for a number.

        Raises:
            UnreadableError: it has letters, or is too close to zero to be told from it.
        """
        if not self.terms:
            return 0
        if 0 in self.ball or _has_letters(self):
            raise UnreadableError(f"{self} may have either sign")
        return 1 if self.ball > 0 else -1

    def _sympy_(self) -> sp.Expr:
        return sp.Add(
            *(
                sp.Mul(_of_sympy(number), *(_as_sympy(f) ** sp.Rational(n, 2) for f, n in product))
                for product, number in self.terms.items()
            )
        )

    def __repr__(self) -> str:
        return str(sp.sympify(self))


Factor: TypeAlias = Letter | Formula
Product: TypeAlias = tuple[tuple[Factor, int], ...]

_ZERO, _ONE = fmpq(0), fmpq(1)
_known: WeakValueDictionary[frozenset[tuple[Product, fmpz, fmpz]], Formula] = WeakValueDictionary()


def _alike(terms: dict[Product, fmpq]) -> Formula:
    """Return the formula that has these terms, none of them zero: the same object each time."""
    # By numerator and denominator, whose hashes take an eighth of the time of the fraction's.
    key = frozenset((product, number.p, number.q) for product, number in terms.items())
    if (known := _known.get(key)) is None:
        known = _known[key] = Formula(terms)
    return known


def _number(value: fmpq) -> Formula:
    return _alike({(): value} if value else {})


ZERO, ONE = _number(_ZERO), _number(_ONE)


def _of_factors(factors: Iterable[tuple[Factor, int]], number: fmpq = _ONE) -> Formula:
    """Return a multiple of a product of factors to powers in halves.

    A factor to a whole power that is one term is multiplied out.
    """
    powers: dict[Factor, int] = {}
    for factor, power in factors:
        powers[factor] = powers.get(factor, 0) + power
    terms = [f for f in powers if isinstance(f, Formula) and len(f.terms) == 1]
    whole = prod((f ** (powers[f] // 2) for f in terms), start=ONE)
    powers |= {f: powers[f] % 2 for f in terms}
    found = sorted(((f, n) for f, n in powers.items() if n), key=lambda item: item[0].serial)
    if whole is not ONE:
        factors, more = whole._as_term()
        return _of_factors((*found, *factors), number * more)
    if len(found) == 1 and found[0][1] == 2 and isinstance(found[0][0], Formula):
        return found[0][0]._times(number)
    return _alike({tuple(found): number})


def _ball(product: Product) -> arb:
    factors = (
        factor.ball ** (power // 2) * (factor.ball.sqrt() if power % 2 else 1)
        for factor, power in product
    )
    return prod(factors, start=arb(1))


def _has_letters(factor: Factor) -> bool:
    if isinstance(factor, Letter):
        return True
    return any(_has_letters(inside) for product in factor.terms for inside, _ in product)


def _factor(inside: Formula) -> Factor:
    """Return what is inside of a root as a factor: a letter alone, or a formula."""
    match inside._as_term():
        case ((Letter() as alone, 2),), number if number == 1:
            return alone
    return inside


def _absolute(factor: Factor) -> Formula:
    """Return the absolute value of what may be negative: the root of its square."""
    return _of_factors([(_of_factors([(factor, 4)]), 1)])


def _root_of_power(factor: Factor, power: int) -> Formula:
    """Return the square root of a power, in halves, that is not negative."""
    if power % 2:
        return _of_factors([(_of_factors([(factor, 1)]), power)])
    if factor.is_not_negative:
        return _of_factors([(factor, power // 2)])
    return _absolute(factor) ** (power // 4)


def _root_of_number(number: fmpq) -> Formula:
    """Return the square root of a positive number: roots of primes, or of large numbers."""
    whole = number.p * number.q
    factors = [(_number(fmpq(f)), int(power)) for f, power in whole.factor_smooth()]
    return _of_factors(factors, 1 / fmpq(number.q))


def _coerced(value: Any) -> Formula | None:
    """Return a rational number as a formula; None for what answers for itself."""
    if type(value) is Formula:
        return value
    if isinstance(value, float):
        if value == 0:  # where an array of zeros was
            return ZERO
        raise UnreadableError(f"{value!r} is a float; give rational numbers")
    if isinstance(value, int | Fraction | np.integer | fmpz | fmpq):
        return _number(rational(value))
    return None


def letter(name: str, positive: bool = False) -> Formula:
    """Return a letter for a real number, or for a positive one."""
    return formula(sp.Symbol(name, positive=True) if positive else sp.Symbol(name, real=True))


def formula(value: Any) -> Formula:
    """Return a rational number or an expression of sympy as a formula.

    Raises:
        UnreadableError: it is a number or a function of another kind, such as a float.
    """
    return found if (found := _coerced(value)) is not None else _read(sp.sympify(value))


@cache
def _letter(symbol: sp.Symbol) -> Formula:
    return _alike({((Letter(symbol), 2),): _ONE})


@lru_cache(maxsize=2**14)
def _read(expression: sp.Expr) -> Formula:
    """Return an expression of sympy as a formula; parts that it has many times are read once."""
    match expression:
        case sp.Rational():
            return _number(fmpq(int(expression.p), int(expression.q)))
        case sp.Symbol():
            return _letter(expression)
        case sp.Add():
            return sum(map(_read, expression.args), start=ZERO)
        case sp.Mul():
            return prod(map(_read, expression.args), start=ONE)
        case sp.Pow(base=base, exp=sp.Integer() as power):
            return _read(base) ** int(power)
        case sp.Pow(base=base, exp=power) if isinstance(2 * power, sp.Integer):
            return _read(base).sqrt() ** int(2 * power)
        case sp.Abs(args=(inside,)) if inside.is_real:
            return abs(_read(inside))
    raise UnreadableError(
        f"{expression} is a {type(expression).__name__}; give rational numbers and symbols with "
        "+ - * / and sqrt"
    )


def _of_sympy(number: fmpq) -> sp.Rational:
    return sp.Rational(int(number.p), int(number.q))


def _as_sympy(factor: Factor) -> sp.Expr:
    return factor.symbol if isinstance(factor, Letter) else sp.sympify(factor)
