r"""Numbers :math:`p + q\sqrt d` with rational p, q and d: a real quadratic field, decided exactly.

A batch with rational entries has a rational variance, and for three entries never a rational
:math:`\sigma`; with its :math:`\sigma` adjoined, everything that Batch Normalization computes from
it is a number of this kind.  Nothing is rounded, and signs are decided, not estimated.

>>> sigma = Quadratic(2).sqrt() / 3
>>> sigma, sigma * sigma, 1 / (1 + sigma)
(1/3*sqrt(2), 2/9, 9/7 - 3/7*sqrt(2))
>>> Fraction(4714045207, 10**10) < sigma < Fraction(4714045208, 10**10)
True
"""

from __future__ import annotations

from fractions import Fraction
from functools import total_ordering
from math import prod
from typing import Any

import numpy as np

from theory.arithmetic.operations import ROOTS
from theory.packages import missing

try:
    from flint import arb, ctx, fmpq, fmpz
except ModuleNotFoundError as error:
    raise missing(error, "verify") from error

_ZERO, _ONE = fmpq(0), fmpz(1)
_FACTORED_BITS = 120
"""Integers up to this size are factored completely, which takes a few hundredths of a second."""


class DifferentFieldsError(ValueError):
    """A result is exact, but not a number p + q*sqrt(d)."""


class NotRealError(ValueError):
    """A root is asked for of a negative number."""


@total_ordering
class Quadratic:
    r"""The number :math:`p + q\sqrt d`, with p and q rational.

    ``d`` is a positive integer without square factors (in one of more than 120 bits, large square
    factors are left in), and 1 for a rational number.  Numbers combine with each other, with
    int, Fraction, fmpz and fmpq; with a ball (arb) they make a ball.

    Args:
        p: rational.
        q: rational.
        d: rational, non-negative; it is brought into the form above.

    Raises:
        TypeError: p, q or d is not rational; a float is met in arithmetic.
        ValueError: d is negative.
        DifferentFieldsError: two numbers whose radicands are independent are combined, or a root is
            taken of a number whose root is not of this form.

    >>> Quadratic(fmpq(2, 3), 1, fmpq(1, 6)) - Quadratic(0, 1, 24)
    2/3 - 11/6*sqrt(6)
    """

    __slots__ = ("d", "p", "q")

    p: fmpq
    q: fmpq
    d: fmpz

    def __init__(self, p: Any, q: Any = 0, d: Any = 1):
        p, q, d = rational(p), rational(q), rational(d)
        if d < 0:
            raise NotRealError(f"the root of {d} is not real; give a radicand d >= 0")
        (k, above), (l, below) = _extract_square(d.p), _extract_square(d.q)
        self._set(p, q * k * l / d.q, above * below)

    def _set(self, p: fmpq, q: fmpq, d: fmpz) -> None:
        if d == 0 or q == 0:
            q, d = _ZERO, _ONE
        elif d == 1:
            p, q = p + q, _ZERO
        self.p, self.q, self.d = p, q, d

    @classmethod
    def _of(cls, p: fmpq, q: fmpq, d: fmpz) -> Quadratic:
        """Return p + q*sqrt(d) for a d that is already in the stored form."""
        if not q:
            return _from_rational(p)
        made = _made(cls)
        made.p, made.q, made.d = p, q, d
        return made

    def _shared(self, other: Quadratic) -> tuple[fmpq, fmpq, fmpz]:
        """Return q of both numbers, neither of them rational, over one radicand."""
        if self.d is other.d or self.d == other.d:
            return self.q, other.q, self.d
        product = self.d * other.d
        if not product.is_square():
            raise DifferentFieldsError(
                f"sqrt({self.d}) and sqrt({other.d}) lie in different quadratic fields, so a "
                "combination of them is not a number p + q*sqrt(d); use balls"
            )
        return self.q, other.q * product.isqrt() / self.d, self.d

    # Most numbers are rational, and those are known by their q: the one object _ZERO.

    def __add__(self, other: Any) -> Any:
        if type(other) is not Quadratic:
            if type(other) is int and self.q is _ZERO:
                return _from_rational(self.p + other)
            if isinstance(other, arb):
                return self.ball() + other
            if (other := coerced(other)) is None:
                return NotImplemented
        if other.q is _ZERO:
            if self.q is _ZERO:
                return _from_rational(self.p + other.p)
            return self._of(self.p + other.p, self.q, self.d)
        if self.q is _ZERO:
            return self._of(self.p + other.p, other.q, other.d)
        q, r, d = self._shared(other)
        return self._of(self.p + other.p, q + r, d)

    __radd__ = __add__

    def __neg__(self) -> Quadratic:
        if self.q is _ZERO:
            return _from_rational(-self.p)
        return self._of(-self.p, -self.q, self.d)

    def __sub__(self, other: Any) -> Any:
        if type(other) is Quadratic and self.q is _ZERO and other.q is _ZERO:
            return _from_rational(self.p - other.p)
        if isinstance(other, arb):
            return self.ball() - other
        return NotImplemented if (other := coerced(other)) is None else self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if type(other) is not Quadratic:
            if type(other) is int and self.q is _ZERO:
                return _from_rational(self.p * other)
            if isinstance(other, arb):
                return self.ball() * other
            if (other := coerced(other)) is None:
                return NotImplemented
        if other.q is _ZERO:
            if self.q is _ZERO:
                return _from_rational(self.p * other.p)
            return self._of(self.p * other.p, self.q * other.p, self.d)
        if self.q is _ZERO:
            return self._of(self.p * other.p, self.p * other.q, other.d)
        q, r, d = self._shared(other)
        return self._of(self.p * other.p + q * r * d, self.p * r + q * other.p, d)

    __rmul__ = __mul__

    def norm(self) -> fmpq:
        r"""Return :math:`p^2 - q^2 d`, which is rational, and zero for zero alone."""
        return self.p * self.p - self.q * self.q * self.d

    def _inverse(self) -> Quadratic:
        norm = self.norm()
        if norm == 0:
            raise ZeroDivisionError("division by an exact zero, as of a batch without variance")
        return self._of(self.p / norm, -self.q / norm, self.d)

    def __truediv__(self, other: Any) -> Any:
        if type(other) is not Quadratic:
            if isinstance(other, arb):
                return self.ball() / other
            if (other := coerced(other)) is None:
                return NotImplemented
        if self.q is _ZERO and other.q is _ZERO and other.p != 0:
            return _from_rational(self.p / other.p)
        return self * other._inverse()

    def __rtruediv__(self, other: Any) -> Any:
        return self._inverse() * other

    def __pow__(self, power: int) -> Any:
        if not isinstance(power, int):
            return NotImplemented
        base = self if power >= 0 else self._inverse()
        return prod([base] * abs(power), start=Quadratic(1))

    def __abs__(self) -> Quadratic:
        return -self if self.sign() < 0 else self

    def __bool__(self) -> bool:
        return self.sign() != 0

    def sign(self) -> int:
        """Return -1, 0 or 1, exactly."""
        if self.q is _ZERO:
            return _sign(self.p)
        return _sign_of_sum(_sign(self.p), _sign(self.q), _sign(self.norm()))

    def sqrt(self) -> Quadratic:
        r"""Return the non-negative square root.

        >>> Quadratic(fmpq(9, 4)).sqrt(), Quadratic(fmpq(2, 3)).sqrt(), Quadratic(3, 2, 2).sqrt()
        (3/2, 1/3*sqrt(6), 1 + sqrt(2))

        Raises:
            NotRealError: the number is negative.
            DifferentFieldsError: the root is not of the form :math:`a + b\sqrt d` with the same d.
        """
        if self.sign() < 0:
            raise NotRealError(f"the root of {self}, which is negative, is not real")
        if self.q == 0:
            return Quadratic(0, 1, self.p)
        # (a + b sqrt d)^2 = p + q sqrt d makes a^2 one of (p +- n)/2, where n^2 is the norm.
        if (n := rational_root(self.norm())) is not None:
            for square in ((self.p + n) / 2, (self.p - n) / 2):
                if (a := rational_root(square)) is not None and a != 0:
                    return abs(self._of(a, self.q / (2 * a), self.d))
        raise DifferentFieldsError(
            f"the root of {self} is not a number p + q*sqrt({self.d}); use balls"
        )

    def __eq__(self, other: object) -> bool:
        if (number := coerced(other)) is None:
            return NotImplemented
        return self.p == number.p and _signed_square(self) == _signed_square(number)

    def __lt__(self, other: Any) -> bool:
        if (other := coerced(other)) is None:
            return NotImplemented
        if self.q is _ZERO and other.q is _ZERO:
            return bool(self.p < other.p)
        # Written p + q sqrt(d) < r sqrt(e): both sides' squares lie in one field.
        left, right = self - other.p, self._of(fmpq(0), other.q, other.d)
        squares = left * left - right.q * right.q * right.d
        return _sign_of_sum(left.sign(), -right.sign(), squares.sign()) < 0

    def __hash__(self) -> int:
        return hash(self.p) if self.q == 0 else hash((self.p, _signed_square(self)))

    def ball(self) -> arb:
        """Return a ball around the number, at the precision in force."""
        return arb(self.p) + arb(self.q) * arb(self.d).sqrt()

    def __float__(self) -> float:
        with ctx.workprec(128):
            root = arb(self.q) * arb(self.d).sqrt()
            if self.p * self.q >= 0:
                return float(arb(self.p) + root)
            return float(arb(self.norm()) / (arb(self.p) - root))

    def __str__(self) -> str:
        if self.q == 0:
            return str(self.p)
        size = "" if abs(self.q) == 1 else f"{abs(self.q)}*"
        sign = "-" if self.q < 0 else "+"
        if self.p == 0:
            return f"{sign.strip('+')}{size}sqrt({self.d})"
        return f"{self.p} {sign} {size}sqrt({self.d})"

    __repr__ = __str__


ROOTS[fmpq] = lambda x: Quadratic(x).sqrt()
_made = Quadratic.__new__


def _from_rational(p: fmpq) -> Quadratic:
    number = _made(Quadratic)
    number.p, number.q, number.d = p, _ZERO, _ONE
    return number


def coerced(value: Any) -> Quadratic | None:
    """Return an exact number as a Quadratic, None for a value that is no number of this kind."""
    if type(value) is Quadratic:
        return value
    if type(value) is fmpq:
        return _from_rational(value)
    if type(value) is int:
        return _from_rational(fmpq(value))
    if isinstance(value, (float, np.floating)):
        raise TypeError(
            f"the float {value!r} met an exact number inside a formula, so something was rounded; "
            "make exact numbers of all input, with number() or rational_array()"
        )
    if isinstance(value, (int, np.integer, Fraction, fmpz, fmpq)):
        return _from_rational(rational(value))
    return None


def rational(value: Any) -> fmpq:
    """Return a rational number as an fmpq; raise TypeError for anything else."""
    if isinstance(value, fmpq):
        return value
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, (int, np.integer, fmpz)):
        return fmpq(int(value))
    raise TypeError(f"expected a rational number, got {value!r} of type {type(value).__name__}")


def _sign(x: fmpq) -> int:
    return (x > 0) - (x < 0)


def _sign_of_sum(a: int, b: int, larger: int) -> int:
    """Sign of a + b, from the signs of a, of b and of a^2 - b^2."""
    return (a or b) if a * b >= 0 else a * larger


def _signed_square(x: Quadratic) -> fmpq:
    return x.q * abs(x.q) * x.d


def _extract_square(n: fmpz) -> tuple[fmpz, fmpz]:
    """Return k and f with n = k^2 f and f free of squares, as far as n can be factored."""
    k, f = fmpz(1), fmpz(1)
    if n == 0:
        return k, n
    for prime, power in n.factor() if n.bit_length() <= _FACTORED_BITS else n.factor_smooth():
        k *= prime ** (power // 2)
        if power % 2:
            root = prime.isqrt()  # of a part that was left composite
            k, f = (k * root, f) if root * root == prime else (k, f * prime)
    return k, f


def rational_root(x: fmpq) -> fmpq | None:
    """Return the root of a rational number, None where it is not rational."""
    if x < 0 or not (x.p.is_square() and x.q.is_square()):
        return None
    return fmpq(x.p.isqrt(), x.q.isqrt())
