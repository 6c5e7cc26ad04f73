"""What exact numbers of the evidence are in floats."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

SUPERSCRIPTS = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻", "+")
_SCIENTIFIC = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([-+]?\d+)(?!\w)")
_MINUS = re.compile(r"(?<![\w-])-(?=[\w(])| - ")
_PRIME = re.compile(r"(?<=(?<![A-Za-z'])[A-Za-z])'(?![A-Za-z'])")
_LEADING_ZERO = re.compile(r"(?<!\d)0(?=\.)")
SHORT = 6
"""Digits of a number above one that is written out."""


def typeset(text: str) -> str:
    """Return a text with a mathematician's powers of ten for a program's.

    >>> typeset("4.8e+02, 9.88e-05, 1e-6")
    '480, 9.88·10⁻⁵, 10⁻⁶'
    """
    return _SCIENTIFIC.sub(_power_of_ten, text)


def with_signs(text: str) -> str:
    """Return words with the minus signs and primes of their formulas, and the words as they are.

    >>> with_signs("near-optimal where -kW* and (1, -1) have (k - 1)/2, and G' is the units' own")
    "near-optimal where −kW* and (1, −1) have (k − 1)/2, and G′ is the units' own"
    """
    return _PRIME.sub("′", _MINUS.sub(lambda found: found[0].replace("-", "−"), text))


def tightly(numbers: Iterable[float]) -> str:
    """Return numbers as paths of a picture have them: a space where nothing else parts them.

    >>> tightly([0.5, -0.5, 12.0])
    '.5-.5 12'
    """
    return _LEADING_ZERO.sub("", " ".join(f"{number:g}" for number in numbers)).replace(" -", "-")


def _power_of_ten(found: re.Match[str]) -> str:
    if 0 <= int(found[2]) < SHORT:
        return f"{float(found[0]):.10g}"
    factor = "" if found[1] == "1" else f"{found[1]}·"
    return f"{factor}10{str(int(found[2])).translate(SUPERSCRIPTS)}"


def approximately(value: Any) -> float | None:
    """Return the value of an exact number in floats, or None where it is no single number.

    >>> approximately("1/2 + 2*sqrt(4)")
    4.5
    """
    try:
        return _value(ast.parse(str(value).replace("^", "**"), mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError):
        return None


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
