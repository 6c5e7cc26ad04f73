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
from theory.language.unrounded import constant, is_inexact, is_rounded, of_indices


class Sides(NamedTuple):
    """The two sides of a statement: what the network does, and what the paper says of it."""

    actual: Any
    claimed: Any


class Values:
    """The values of expressions for one subject, each computed once.

    The subject supplies the letters' values, and ``gradient`` and ``differential`` of functions;
    ``like``, where it has it, is a number of its arithmetic.

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
            is_exact = not is_rounded(value, found)
            return value if is_exact else self._exactly(expression.operation, found, value)
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
        raise TypeError(f"{type(expression).__name__} has no value")

    def _exactly(self, operation: Operation, operands: Sequence[Any], rounded: Any) -> Any:
        """Return what an operation makes of whole numbers, where the subject's are not rounded."""
        like = self._like
        if is_inexact(like):
            return rounded
        if isinstance(rounded, np.ndarray):
            return of_indices(operation.meaning, operands)
        return operation.value(self.subject, *(constant(whole, like) for whole in operands))

    def _differentiate(self, derivative: Derivative) -> Any:
        if derivative.direction is None:
            return self.subject.gradient(*self._function_and_point(derivative))
        of = derivative.body, derivative.variable, derivative.point
        if of not in self._differentials:
            differential = self.subject.differential(*self._function_and_point(derivative))
            self._differentials[of] = differential
        return self._differentials[of](self._direction(derivative.direction, derivative.point))

    def _direction(self, direction: Expression, point: Expression) -> Any:
        """Return a direction of its point's shape, which a mean over a batch has."""
        value, like = self[direction], self._number(point)
        if isinstance(value, int | Fraction):
            return constant(value, like)
        is_smaller = len(getattr(value, "shape", ())) < len(getattr(like, "shape", ()))
        return value + 0 * like if is_smaller else value

    def _function_and_point(self, derivative: Derivative) -> tuple[Callable[[Any], Any], Any]:
        """Return what is differentiated, once all that does not depend on its variable is known."""
        body, variable, point = derivative.body, derivative.variable, self._number(derivative.point)
        self._compute_constants(body, frozenset({variable}))
        return (lambda x: Values(self.subject, {**self.bound, variable: x}, self)[body]), point

    def _number(self, expression: Expression) -> Any:
        """Return the value of an expression, a plain number as one of the subject's."""
        value = self[expression]
        return constant(value, self._like) if isinstance(value, int | Fraction) else value

    @property
    def _like(self) -> Any:
        """A number of the subject's arithmetic; a whole one, where it has none of its own."""
        return getattr(self.subject, "like", 0)

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
