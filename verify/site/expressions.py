r"""Expressions of the evidence as LaTeX.

Evidence holds expressions as plain text, such as ``<c, g>**2*epsilon/(m*sigma**4)``.  They are
parsed as Python's own grammar reads them, never run, and printed in the form that was found.
"""

from __future__ import annotations

import ast
import re

GREEK = {"epsilon", "gamma", "beta", "sigma", "mu", "lambda", "kappa", "alpha"}
VECTORS = {"one": r"\mathbf 1"}
FUNCTIONS = {"sqrt": (r"\sqrt{", "}"), "Abs": (r"\left|", r"\right|")}
"""What stands before and after an argument."""
_PRODUCT, _SUM, _ATOM = 2, 1, 3
_INNER = re.compile(r"<\s*([^<>,]+?)\s*,\s*([^<>]+?)\s*>")


class UnreadableExpressionError(ValueError):
    """Text that is not an expression of the kind that evidence holds."""


def expression(text: str) -> str:
    r"""Return an expression as LaTeX.

    >>> expression("<c, g>**2*epsilon*gamma**2/(m*sigma**6)")
    '\\frac{\\langle c, g\\rangle^{2}\\,\\epsilon\\,\\gamma^{2}}{m\\,\\sigma^{6}}'
    >>> expression("9/128 + 3*sqrt(5)")
    '\\frac{9}{128} + 3\\,\\sqrt{5}'
    >>> expression("gamma**(-2)")
    '\\frac{1}{\\gamma^{2}}'

    Raises:
        UnreadableExpressionError: the text is no expression.
    """
    names: dict[str, str] = {}

    def keep(latex: str) -> str:
        name = f"kept_{len(names)}"
        names[name] = latex
        return name

    plain = _INNER.sub(lambda match: keep(_inner(match[1], match[2])), text)
    plain = re.sub(r"\|([a-z])\|\^2", lambda match: keep(rf"\|{match[1]}\|^{{2}}"), plain)
    plain = re.sub(r"\blambda\b", "lambda_", plain.replace("^", "**"))
    plain = re.sub(r"\b([A-Za-z]) (?=kept_)", r"\1*", plain)
    try:
        tree = ast.parse(plain.strip(), mode="eval").body
        return _written(tree, names)[0]
    except (SyntaxError, KeyError, ValueError) as error:
        raise UnreadableExpressionError(f"not an expression: {text!r}") from error


def or_code(text: str) -> str:
    """Return an expression as inline mathematics, or as code where it cannot be read."""
    try:
        return f"${expression(text)}$"
    except UnreadableExpressionError:
        return f"`{text}`"


def _inner(left: str, right: str) -> str:
    return rf"\langle {_operand(left)}, {_operand(right)}\rangle"


def _operand(text: str) -> str:
    """A vector, or H applied to it some times."""
    *operators, name = text.split()
    if any(not re.fullmatch(r"[A-Za-z](\^\d+)?", operator) for operator in operators):
        raise UnreadableExpressionError(f"not a vector: {text!r}")
    return " ".join([*operators, VECTORS.get(name, _symbol(name))])


def _symbol(name: str) -> str:
    base, _, index = name.removesuffix("_").partition("_")
    shown = f"\\{base}" if base in GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    return f"{shown}_{{{index}}}" if index else shown


def _written(node: ast.expr, names: dict[str, str]) -> tuple[str, int]:
    """Return LaTeX and how tightly it binds."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return str(value), _ATOM
        case ast.Name(id=name):
            return names.get(name) or _symbol(name), _ATOM
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return f"-{_in(inner, names, _PRODUCT)}", _SUM
        case ast.Call(func=ast.Name(id=name), args=[inner]) if name in FUNCTIONS:
            opening, closing = FUNCTIONS[name]
            return f"{opening}{_written(inner, names)[0]}{closing}", _ATOM
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{_written(left, names)[0]} + {_in(right, names, _PRODUCT)}", _SUM
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return f"{_written(left, names)[0]} - {_in(right, names, _PRODUCT)}", _SUM
        case ast.BinOp(op=ast.Pow(), right=ast.UnaryOp(op=ast.USub())):
            return _fraction(node, names)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(left, right, names), _ATOM
        case ast.BinOp(op=ast.Mult() | ast.Div()):
            return _fraction(node, names)
    raise ValueError(ast.dump(node))


def _in(node: ast.expr, names: dict[str, str], tightness: int) -> str:
    text, own = _written(node, names)
    return text if own >= tightness else rf"\left({text}\right)"


def _power(base: ast.expr, exponent: ast.expr, names: dict[str, str]) -> str:
    return f"{_in(base, names, _ATOM)}^{{{_written(exponent, names)[0]}}}"


def _fraction(node: ast.expr, names: dict[str, str]) -> tuple[str, int]:
    """A product as one fraction, its sign in front."""
    above, below, negative = _factors(node)
    sign = "-" if negative else ""
    tight = _SUM if negative else _PRODUCT
    if not below:
        return sign + _product(above, names), tight
    top, bottom = _product(above, names, alone=True), _product(below, names, alone=True)
    return rf"{sign}\frac{{{top}}}{{{bottom}}}", tight


def _product(factors: list[ast.expr], names: dict[str, str], alone: bool = False) -> str:
    if alone and len(factors) == 1:
        return _written(factors[0], names)[0]
    return r"\,".join(_in(f, names, _PRODUCT) for f in factors) or "1"


def _factors(node: ast.expr) -> tuple[list[ast.expr], list[ast.expr], bool]:
    """Return the factors above and below the line, and whether the product is negative."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            above, below, left_sign = _factors(left)
            over, under, right_sign = _factors(right)
            if isinstance(op, ast.Div):
                over, under = under, over
            kept = [f for f in [*above, *over] if not _is_one(f)]
            return kept, [*below, *under], left_sign != right_sign
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            above, below, sign = _factors(inner)
            return above, below, not sign
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.UnaryOp(op=ast.USub(), operand=power)):
            return [], [ast.BinOp(base, ast.Pow(), power)], False
    return [node], [], False


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1
