"""An expression as plain text: as it is written in Python, for terminals and other programs.

>>> from theory.language.expression import Letter
>>> x = Letter("x", "x")
>>> plain(2 * (x - 1) ** 2)
'2*(x - 1)**2'
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from theory.language.expression import (
    MATRIX_PRODUCT,
    NEGATIVE,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    Abbreviation,
    Apply,
    Derivative,
    Expression,
    Letter,
    Number,
    Operation,
    Says,
    Written,
)
from theory.language.latex import AS_IT_IS, added

INFIX: dict[Operation, tuple[str, int]] = {
    PRODUCT: ("*", 1),
    MATRIX_PRODUCT: (" @ ", 1),
    QUOTIENT: ("/", 1),
    POWER: ("**", 2),
}
"""What stands between the operands, and how strongly it binds."""
WORD = re.compile(r"[\w']*(\(.*\))?")
"""A name that is none of what stands between operands, as the words of a name may be."""


def plain(expression: Written, least: int = 0) -> str:
    """Return an expression as text, in parentheses if it binds less than the least."""
    match expression:
        case Says(actual, relation, claimed):
            return f"{plain(actual)} {relation.value} {plain(claimed)}"
        case Number(value):
            return str(value) if value >= 0 else f"({value})"
        case Letter(name):
            return _wrapped(name, 3 if WORD.fullmatch(name) else 0, least)
        case Apply(operation, (operand,)) if operation is NEGATIVE:
            return _wrapped(f"-{plain(operand, 1)}", 0, least)
        case Apply(operation, operands) if operation is SUM:
            return _wrapped(added(map(plain, operands)), 0, least)
        case Apply(operation, operands) if operation in INFIX:
            sign, binding = INFIX[operation]
            first, *others = operands
            rest = (plain(o, binding + 1) for o in others)
            base = plain(first, binding + (operation is POWER))  # which Python reads from the right
            return _wrapped(sign.join([base, *rest]), binding, least)
        case Apply(operation, operands):
            return _applied(operation, operands, least)
        case Abbreviation():
            return plain(expression.body, least)
        case Derivative(body, variable, point, direction):
            name = "gradient" if direction is None else "derivative"
            along = "" if direction is None else f", along {plain(direction)}"
            place = "" if point == variable else f" = {plain(point)}"
            return f"{name}({plain(body)}, {variable.name}{place}{along})"
    raise TypeError(f"{type(expression).__name__} has no text")


def _applied(operation: Operation, operands: Sequence[Expression], least: int) -> str:
    """Return an operation's name with its operands in brackets, or what it is displayed as."""
    if operation.latex == AS_IT_IS:
        return plain(operands[0], least)
    return f"{operation.name}({', '.join(map(plain, operands))})"


def _wrapped(text: str, binding: int, least: int) -> str:
    return text if binding >= least else f"({text})"
