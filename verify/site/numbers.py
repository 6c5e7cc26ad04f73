r"""Numbers of the evidence as LaTeX: exact ones, certified intervals, vectors and matrices."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from verify.site.expressions import expression

_BALL = re.compile(r"\[(\S+) \+/- (\S+)\]")
_TUPLE = re.compile(r"\((.*,.*)\)")


def number(value: Any) -> str:
    r"""Return a number, a certified interval, a vector or a matrix as LaTeX.

    >>> number("(-3/16, 3/16)")
    '\\left(-\\tfrac{3}{16}, \\tfrac{3}{16}\\right)'
    >>> number("[9.5 +/- 8.9e-17]")
    '9.5 \\pm 8.9\\cdot 10^{-17}'
    """
    if isinstance(value, list):
        return _array(value)
    text = str(value).strip()
    if (ball := _BALL.fullmatch(text)) is not None:
        return rf"{decimal(ball[1])} \pm {decimal(ball[2])}"
    if (entries := _TUPLE.fullmatch(text)) is not None:
        return _array([entry.strip() for entry in entries[1].split(",")])
    return expression(text)


def decimal(value: float | str, digits: int | None = None) -> str:
    r"""Return a decimal number as LaTeX.

    >>> decimal("3.58e-14"), decimal(0.5, 3), decimal(1.0, 3)
    ('3.58\\cdot 10^{-14}', '0.5', '1')
    """
    text = str(value) if digits is None else f"{float(value):.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def approximately(value: Any) -> float | None:
    """Return the value of an exact number in floats, or None where it is no single number.

    >>> approximately("1/2 + 2*sqrt(4)")
    4.5
    """
    try:
        return _value(ast.parse(str(value).replace("^", "**"), mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError):
        return None


def _array(entries: Iterable[Any]) -> str:
    listed = list(entries)
    if listed and isinstance(listed[0], list):
        rows = r" \\ ".join(" & ".join(map(_entry, row)) for row in listed)
        return rf"\begin{{pmatrix}} {rows} \end{{pmatrix}}"
    return rf"\left({', '.join(map(_entry, listed))}\right)"


def _entry(value: Any) -> str:
    return number(value).replace(r"\frac", r"\tfrac")


_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: float(a**b),
}


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_value(inner)
        case ast.Call(func=ast.Name(id="sqrt"), args=[inner]):
            return math.sqrt(_value(inner))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_value(left), _value(right))
    raise ValueError(ast.dump(node))
