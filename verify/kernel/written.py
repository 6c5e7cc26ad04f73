"""Numbers and vectors that are written down instead of computed: the expressions of a formula.

Array code that is given them gives back what it says, so that a statement on a formula of the
library is exported as the formula is written there.

>>> from theory import batchnorm, unit
>>> batchnorm.jvp(Written(unit.y), Written(unit.u), Written(unit.gamma)).expression.sort.value
'a vector'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from theory import unit
from theory.language.expression import Expression, Sort, as_expression
from theory.language.operations import average, dot, sqrt


@dataclass(frozen=True, eq=False)
class Written:
    """An expression that answers like a number, or like a vector of any length.

    Code that asks how it compares, to do one thing or another, has no one expression.
    """

    expression: Expression

    def inner(self, other: Written) -> Written:
        """Return the inner product."""
        return Written(dot(self.expression, other.expression))

    def mean(self) -> Written:
        """Return the average of the entries."""
        return Written(average(self.expression))

    def length(self) -> Written:
        """Return m."""
        return Written(unit.m)

    def sqrt(self) -> Written:
        """Return the root."""
        return Written(sqrt(self.expression))

    def __bool__(self) -> bool:
        raise TypeError("whether a number that is written down is zero is not known")

    def __eq__(self, other: object) -> bool:
        raise TypeError("what a number that is written down is equal to is not known")

    def __neg__(self) -> Written:
        return Written(-self.expression)

    def __add__(self, other: Any) -> Written:
        return Written(Expression.__add__(*_alike(self.expression, expression_of(other))))

    def __radd__(self, other: Any) -> Written:
        return Written(Expression.__add__(*_alike(expression_of(other), self.expression)))

    def __sub__(self, other: Any) -> Written:
        return Written(Expression.__sub__(*_alike(self.expression, expression_of(other))))

    def __rsub__(self, other: Any) -> Written:
        return Written(Expression.__sub__(*_alike(expression_of(other), self.expression)))

    def __mul__(self, other: Any) -> Written:
        return Written(self.expression * expression_of(other))

    def __rmul__(self, other: Any) -> Written:
        return Written(expression_of(other) * self.expression)

    def __truediv__(self, other: Any) -> Written:
        return Written(self.expression / expression_of(other))

    def __rtruediv__(self, other: Any) -> Written:
        return Written(expression_of(other) / self.expression)

    def __pow__(self, power: int) -> Written:
        return Written(self.expression**power)


def expression_of(value: Any) -> Expression:
    """Return what is written, or a number as an expression."""
    if isinstance(value, Written):
        return value.expression
    if isinstance(value, Fraction):
        return as_expression(value.numerator) / value.denominator
    return as_expression(value)


def _alike(*terms: Expression) -> tuple[Expression, ...]:
    """Return two terms of a sum; a number is added to each entry of a vector."""
    if len({term.sort for term in terms}) == 1:
        return terms
    return tuple(x if x.sort is Sort.VECTOR else x * unit.one for x in terms)


def written(formula: Callable[..., Any], *operands: Expression) -> Expression:
    """Return what array code says of operands."""
    return expression_of(formula(*map(Written, operands)))
