"""The mistakes that a formula can have: wrong expressions for a right one, each with its kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

ALIKE = (
    {"y", "u", "g", "c", "z", "w", "yhat", "off", "g_centred", "u_centred"},
    {"gamma", "beta", "sigma", "eps"},
    {"yhat_g", "yhat_u"},
    {"along_g", "along_u"},
    {"running_mean", "running_variance"},
)
"""Names that may be taken for each other where both are in scope."""
OTHER_NUMBERS = {0: (1,), 1: (2,), 2: (1, 3), 3: (1, 2)}
LOWER_POWER = {2: 1, 3: 2, 4: 2}
UNSQUARED = {"gamma", "sigma", "standard_deviation"}
"""What formulas square, or forget to."""

Found = Iterator[tuple[str, ast.expr]]


def mistakes(node: ast.expr, parent: ast.AST, scope: frozenset[str]) -> Found:
    """Yield wrong expressions in the place of one, given what it is part of and what is known."""
    if isinstance(parent, ast.Call) and node is parent.func:
        return
    match node:
        case ast.BinOp() if not _is_text(node):
            yield from _in_operation(node)
        case ast.UnaryOp(op=ast.USub(), operand=a):
            yield "sign", a
        case ast.Constant(value=value):
            yield from _in_constant(value)
        case ast.Subscript(value=pair, slice=ast.Constant(value=0 | 1 as index)):
            yield "swapped", ast.Subscript(pair, ast.Constant(1 - index))
        case ast.List(elts=terms):
            yield from (("dropped term", ast.List(rest)) for rest in _without_one(terms))
        case ast.Call() | ast.Name() | ast.Attribute():
            yield from _in_name(node, scope)
            if _name(node) in UNSQUARED and not _is_power(parent):
                yield "power", ast.BinOp(node, ast.Pow(), ast.Constant(2))


def _in_constant(value: object) -> Found:
    if isinstance(value, bool):
        yield "swapped", ast.Constant(not value)
    elif isinstance(value, int):
        yield from (("number", ast.Constant(n)) for n in OTHER_NUMBERS.get(value, ()))


def _in_operation(node: ast.BinOp) -> Found:
    a, b = node.left, node.right
    match node.op:
        case ast.Add():
            yield "sign", ast.BinOp(a, ast.Sub(), b)
            yield from (("dropped term", part) for part in (a, b))
        case ast.Sub():
            yield "sign", ast.BinOp(a, ast.Add(), b)
            yield from (("dropped term", part) for part in (a, ast.UnaryOp(ast.USub(), b)))
        case ast.Mult():
            yield from (("dropped factor", part) for part in (a, b))
        case ast.Div():
            yield "dropped divisor", a
            yield "dropped factor", ast.BinOp(ast.Constant(1), ast.Div(), b)
            yield "times for over", ast.BinOp(a, ast.Mult(), b)
        case ast.Pow() if isinstance(b, ast.Constant):
            power = LOWER_POWER[b.value]
            yield "power", a if power == 1 else ast.BinOp(a, ast.Pow(), ast.Constant(power))


def _in_name(node: ast.Call | ast.Name | ast.Attribute, scope: frozenset[str]) -> Found:
    name = _name(node)
    if name in ("m", "size"):
        yield "m - 1 for m", ast.BinOp(node, ast.Sub(), ast.Constant(1))
        yield "root of m for m", ast.Call(ast.Name("sqrt"), [node], [])
    match node:
        case ast.Call(args=[argument]) if name == "sqrt":
            yield "dropped root", argument
        case ast.Call(args=[argument, *_]) if name == "centre":
            yield "no centring", argument
        case ast.Call() if name == "mean":
            yield "no mean", ast.BinOp(ast.Constant(0), ast.Mult(), node)
        case ast.Name():
            others = {o for names in ALIKE if name in names for o in names & scope}
            yield from (("swapped", ast.Name(other)) for other in sorted(others - {name}))
            if name == "eps":
                yield "no eps", ast.Constant(0)


def _without_one(parts: list[ast.expr]) -> Iterator[list[ast.expr]]:
    if len(parts) > 1:
        yield from (parts[:i] + parts[i + 1 :] for i in range(len(parts)))


def _is_power(parent: ast.AST) -> bool:
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow)


def _is_text(node: ast.AST) -> bool:
    """Whether a sum joins words."""
    match node:
        case ast.BinOp(left=left, right=right):
            return _is_text(left) or _is_text(right)
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _name(node: ast.AST) -> str:
    """Return the name of a name, of a field, or of the function that is called."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Call(func=function):
            return _name(function)
    return ""
