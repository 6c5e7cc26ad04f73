"""What expressions are worth: evaluation in whatever arithmetic the subject's numbers are of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from theory.language.expression import (
    Abbreviation,
    Apply,
    Derivative,
    Expression,
    Letter,
    Number,
    Operation,
    Says,
)
from theory.language.unrounded import constant


class Sides(NamedTuple):
    """The two sides of a statement: what the network does, and what the paper says of it."""

    actual: Any
    claimed: Any


_FLOATS = (float, np.float64, np.ndarray)
_NUMBERS = ("q", "step", "gamma", "N")
"""A subject has one of these numbers."""


def _are_rounded(value: Any, operands: Sequence[Any]) -> bool:
    """Whether a value of whole numbers or fractions, such as a root, became a float."""
    if not all(map(_is_rational, operands)):
        return False
    return not isinstance(value, np.ndarray) or value.dtype.kind == "f"


def _is_rational(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iu"
    return isinstance(value, int | Fraction | np.integer)


def _is_inexact(number: Any) -> bool:
    """Whether a number is a float, or an array's, or a whole number, which tells no arithmetic."""
    if isinstance(number, int | float):
        return True
    return hasattr(number, "dtype") and number.dtype is not np.dtype(object)


def _in_fractions(operation: Operation, operands: Sequence[Any]) -> Any:
    """Return what an operation makes of arrays of whole numbers, which stay such where they can."""
    found = operation.meaning(*map(_fractions, operands))
    is_whole = all(entry.denominator == 1 for entry in found.flat)
    return found.astype(np.int64) if is_whole else found


def _fractions(whole: Any) -> Any:
    if not isinstance(whole, np.ndarray):
        return Fraction(whole)
    return np.vectorize(lambda entry: Fraction(int(entry)), otypes=[object])(whole)


class Values:
    """The values of expressions for one subject, each computed once.

    The subject supplies the letters' values, and ``gradient`` and ``differential`` of functions.

    Args:
        subject: what the letters and primitives are asked of.
        bound: values of the variables of derivatives in progress.
        outer: where what does not depend on them is known.
    """

    def __init__(
        self,
        subject: Any,
        bound: Mapping[Letter, Any] | None = None,
        outer: Values | None = None,
    ):
        self.subject, self.bound, self.outer = subject, dict(bound or {}), outer
        self.known: dict[Expression, Any] = {}
        self._differentials: dict[tuple[Expression, ...], Callable[[Any], Any]] = {}

    def __getitem__(self, expression: Expression) -> Any:
        """Return the value of an expression."""
        if self.outer is not None and expression.free.isdisjoint(self.bound):
            return self.outer[expression]
        if (value := self.known.get(expression)) is None:
            value = self.known[expression] = self._compute(expression)
        return value

    def _compute(self, expression: Expression) -> Any:
        if isinstance(expression, Apply):  # as nearly all are
            found = [self[operand] for operand in expression.operands]
            value = expression.operation.value(self.subject, *found)
            if type(value) in _FLOATS and _are_rounded(value, found):
                return self._exactly(expression.operation, found, value)
            return value
        match expression:
            case Number(value):
                return value
            case Letter() if expression in self.bound:
                return self.bound[expression]
            case Letter(value=value):
                if value is None:
                    raise ValueError(
                        f"the variable {expression.name} stands outside of a derivative"
                    )
                return value(self.subject)
            case Abbreviation(body=body):
                return self[body]
            case Derivative():
                return self._differentiate(expression)
        raise TypeError(f"{expression!r} has no value")

    def _exactly(self, operation: Operation, operands: Sequence[Any], rounded: Any) -> Any:
        """Return what an operation makes of whole numbers, where the subject's are not rounded."""
        like = next((getattr(self.subject, n) for n in _NUMBERS if hasattr(self.subject, n)), 0)
        if _is_inexact(like):
            return rounded
        if isinstance(rounded, np.ndarray):
            return _in_fractions(operation, operands)
        return operation.value(self.subject, *(constant(whole, like) for whole in operands))

    def _differentiate(self, derivative: Derivative) -> Any:
        if derivative.direction is None:
            return self.subject.gradient(*self._function_and_point(derivative))
        of = derivative.body, derivative.variable, derivative.point
        if of not in self._differentials:
            differential = self.subject.differential(*self._function_and_point(derivative))
            self._differentials[of] = differential
        return self._differentials[of](self[derivative.direction])

    def _function_and_point(self, derivative: Derivative) -> tuple[Callable[[Any], Any], Any]:
        """Return what is differentiated, once all that does not depend on its variable is known."""
        body, variable, point = derivative.body, derivative.variable, self[derivative.point]
        self._compute_constants(body, frozenset({variable}))
        return (lambda x: self._where({variable: x})[body]), point

    def _where(self, bound: Mapping[Letter, Any]) -> Values:
        """Return the values where variables have these, too."""
        return Values(self.subject, {**self.bound, **bound}, self)

    def _compute_constants(self, body: Expression, variables: frozenset[Letter]) -> None:
        """Compute what does not depend on the variables before a derivative is in progress."""
        if body.free.isdisjoint(variables):
            _ = self[body]
        elif isinstance(body, Derivative):
            function, *others = body.parts
            self._compute_constants(function, variables | {body.variable})
            for part in others:
                self._compute_constants(part, variables)
        else:
            for part in body.parts:
                self._compute_constants(part, variables)

    def sides(self, says: Says) -> Sides:
        """Return both sides of a statement; a plain number becomes one of the other side's kind."""
        actual, claimed = self[says.actual], self[says.claimed]
        if isinstance(claimed, int | Fraction):
            claimed = constant(claimed, actual)
        elif isinstance(actual, int | Fraction):
            actual = constant(actual, claimed)
        return Sides(actual, claimed)
