"""How to differentiate in each arithmetic, and subjects that know how to in theirs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

from flint import fmpq

from theory.arithmetic import exact, sqrt
from theory.arithmetic.exact import number
from theory.language.values import Values


class Calculus(NamedTuple):
    """What a witness brings: a square root and two kinds of derivative, in its arithmetic.

    ``gradient(f, x)`` is that of a scalar function, ``derivative(f, x, u)`` that of any function
    along u.
    """

    sqrt: Callable[[Any], Any]
    gradient: Callable[[Callable[[Any], Any], Any], Any]
    derivative: Callable[[Callable[[Any], Any], Any, Any], Any]
    values_of: Callable[..., Values] = Values
    """What evaluates expressions."""
    meter: Any = None
    """What remembers the errors of derivatives that are approximate."""

    def differential(self, f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
        """Return the derivative of f at x as a function of the direction."""
        return partial(self.derivative, f, x)


class Differentiating:
    """What is of one arithmetic, with a calculus that differentiates functions there."""

    calculus: Calculus

    @property
    def values_of(self) -> Callable[..., Values]:
        """What evaluates expressions."""
        return self.calculus.values_of

    def gradient(self, f: Callable[[Any], Any], x: Any) -> Any:
        """Return the gradient of a scalar function at x."""
        return self.calculus.gradient(f, x)

    def derivative(self, f: Callable[[Any], Any], x: Any, u: Any) -> Any:
        """Return the derivative of a function at x along u."""
        return self.calculus.derivative(f, x, u)

    def differential(self, f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
        """Return the derivative of a function at x, as a function of the direction."""
        return self.calculus.differential(f, x)


def exact_entry(value: Any) -> Any:
    """Return an exact number; a rational one as python-flint's own, which is faster."""
    if type(value) is fmpq:
        return value
    if type(value) is int:
        return fmpq(value)
    if type(value) is float and isfinite(value):
        return fmpq(*value.as_integer_ratio())
    found = number(value)
    return found if found.q else found.p


EXACT = Calculus(
    sqrt, partial(exact.gradient, entry=exact_entry), partial(exact.derivative, entry=exact_entry)
)
