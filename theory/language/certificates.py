r"""How the slack of an inequality shows its own sign: a sum of terms, none of which is negative.

A certificate is an expression.  Each of its terms is a product; its factors are read as

- the slack of a hypothesis, written as that hypothesis's ``slack``;
- a squared norm, or an even power of a number that is not a letter;
- anything else, which belongs to the weight, whose sign must be seen by its letters' signs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import reduce
from operator import mul

from theory.language.expression import (
    NEGATIVE,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    Apply,
    Derivative,
    Expression,
    Letter,
    Number,
    as_expression,
)
from theory.language.operations import SquaredNorm


@dataclass
class Product:
    """A term of a certificate."""

    weights: list[Expression] = field(default_factory=list)
    squares: list[Expression] = field(default_factory=list)
    """Numbers, of which the square counts, and vectors, of which the squared norm counts."""
    slacks: list[Expression] = field(default_factory=list)
    """Slacks of hypotheses."""

    @property
    def weight(self) -> Expression:
        """The product of what is neither a square nor a slack."""
        return reduce(mul, self.weights, as_expression(1)) if self.weights else as_expression(1)


def products(certificate: Expression, slacks: Collection[Expression]) -> list[Product]:
    """Return the terms of a certificate, the slacks of the hypotheses being known."""
    found = []
    for term in _terms(certificate, slacks):
        product = Product()
        _read(term, slacks, product)
        found.append(product)
    return found


def divisors(expression: Expression) -> Iterator[Expression]:
    """Yield what an expression divides by, except within a derivative."""
    parts = expression.parts[1:] if isinstance(expression, Derivative) else expression.parts
    if isinstance(expression, Apply) and expression.operation is QUOTIENT:
        yield parts[1]
    for part in parts:
        yield from divisors(part)


def _terms(expression: Expression, slacks: Collection[Expression]) -> Iterator[Expression]:
    is_sum = isinstance(expression, Apply) and expression.operation is SUM
    if is_sum and expression not in slacks:
        for operand in expression.parts:
            yield from _terms(operand, slacks)
    else:
        yield expression


def _read(factor: Expression, slacks: Collection[Expression], product: Product) -> None:
    """Sort a factor into the product that it belongs to."""
    match factor:
        case _ if factor in slacks:
            product.slacks.append(factor)
        case Apply(operation, operands) if operation is PRODUCT:
            for operand in operands:
                _read(operand, slacks, product)
        case Apply(operation, (numerator, denominator)) if operation is QUOTIENT:
            _read(numerator, slacks, product)
            product.weights.append(1 / denominator)
        case Apply(operation, (operand,)) if operation is NEGATIVE:
            product.weights.append(as_expression(-1))
            _read(operand, slacks, product)
        case Apply(SquaredNorm(), (vector,)):
            product.squares.append(vector)
        case Apply(operation, (base, Number(power))) if (
            operation is POWER and power % 2 == 0 and not isinstance(base, Letter)
        ):
            product.squares.extend([base] * (power // 2))
        case _:
            product.weights.append(factor)
