"""Formulas: what is alike is collected, and roots are taken apart as sympy takes them."""

from fractions import Fraction

import pytest
import sympy as sp

from theory.arithmetic.formulas import UnreadableError, formula, letter

X, Y = letter("x"), letter("y")
P = letter("p", positive=True)
POINT = {"x": sp.Rational(-3, 7), "y": sp.Rational(5, 3), "p": sp.Rational(11, 4)}


def at_point(expression):
    written = sp.sympify(expression)
    return written.subs({symbol: POINT[str(symbol)] for symbol in written.free_symbols})


@pytest.mark.parametrize(
    "radicand",
    [P**2 * X, X**2 * P, X**3, X**-2, 8 * P / X**4, X**2 + Y**2, (X**2 + Y**2) ** 3 / 12,
     (X**2 + 1).sqrt() * P, (X * Y) ** 2, (X - Y) ** 6, -3 * P, -Y, formula(Fraction(9, 8))],
    ids=str,
)  # fmt: skip
def test_roots_are_those_of_sympy(radicand):
    """Of negative numbers, too: the one with positive imaginary part."""
    assert abs(at_point(radicand.sqrt()).n(30) - sp.sqrt(at_point(radicand)).n(30)) < 1e-25
    assert radicand.sqrt() ** 2 == radicand or radicand.sqrt() ** 2 / radicand == 1


def test_what_is_alike_is_one_object():
    assert (X + Y) ** 2 / P is (Y + X) * (X + Y) / P
    assert (X + Y) - (Y + X) == 0
    assert X * 2 - X is X
    assert (X**2).sqrt() is not X
    assert (P**2).sqrt() is P
    assert X + Y != X - Y


def test_signs_that_are_not_known_are_not_guessed():
    assert X + 1 > X
    assert 4 < 2 * formula(6).sqrt() < 5
    with pytest.raises(UnreadableError, match="either sign"):
        _ = X > 0
    with pytest.raises(ZeroDivisionError):
        _ = 1 / (X - X)
    with pytest.raises(UnreadableError, match="rational"):
        formula(0.5)
