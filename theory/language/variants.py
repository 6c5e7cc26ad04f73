r"""The wrong formulas next to a right one: each mistake that could be made in writing it, once.

A check that cannot tell a statement from its variants checks nothing.

>>> from theory.language.expression import Letter
>>> from theory.language.plain import plain
>>> x, y = Letter("x", "x"), Letter("y", "y")
>>> [plain(variant) for variant in variants(2 * x - y)]
['-y', '2*x', '-2*x - y', '2*x + y', '3*x - y', '2*x**2 - y', '2*x - y**2']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from theory.language.expression import (
    NEGATIVE,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    Abbreviation,
    Apply,
    Expression,
    Letter,
    Number,
    Operation,
    Sort,
)


def variants(expression: Expression) -> Iterator[Expression]:
    """Yield the expression with one mistake: here, or in one of its parts."""
    yield from mistakes(expression)
    if isinstance(expression, Abbreviation):
        return
    parts = expression.parts
    exponent_is_its_own = isinstance(expression, Apply) and expression.operation is POWER
    for place, part in enumerate(parts[:1] if exponent_is_its_own else parts):
        for wrong in variants(part):
            yield expression.with_parts(*parts[:place], wrong, *parts[place + 1 :])


def mistakes(expression: Expression) -> Iterator[Expression]:
    """Yield what an expression becomes by one mistake at its root."""
    match expression:
        case Apply(operation, operands) if operation is SUM:
            yield from _without_one(operands, SUM, operands)
            for place, term in enumerate(operands):
                yield SUM(*operands[:place], _negated(term), *operands[place + 1 :])
        case Apply(operation, operands) if operation is PRODUCT:
            composed = [f for f in operands if not isinstance(f, Number | Letter)]
            numbers = [f for f in composed if f.sort is Sort.NUMBER]
            yield from _without_one(operands, PRODUCT, numbers)
        case Apply(operation, (numerator, denominator)) if operation is QUOTIENT:
            yield denominator if numerator == Number(1) else numerator * denominator
        case Apply(operation, (base, Number(power))) if operation is POWER:
            yield base ** (power + 1)
        case Number(value) if value:
            yield Number(value + 1)
        case Letter(sort=Sort.NUMBER):
            yield expression**2


def _without_one(
    operands: tuple[Expression, ...], operation: Operation, left_out: Sequence[Expression]
) -> Iterator[Expression]:
    for place, operand in enumerate(operands):
        rest = operands[:place] + operands[place + 1 :]
        if operand in left_out:
            yield rest[0] if len(rest) == 1 else operation(*rest)


def _negated(term: Expression) -> Expression:
    is_negative = isinstance(term, Apply) and term.operation is NEGATIVE
    return term.operands[0] if is_negative and isinstance(term, Apply) else -term
