"""The wrong functions next to a right one: each mistake that could be made in its source, once.

Mistakes are made where a function computes: in what it returns and in what it assigns.  What only
describes or checks (docstring, defaults, ``if``, ``raise``) is left alone, and so is what is asked
for no more than its shape.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType

PARTS: dict[type[ast.AST], tuple[str, ...]] = {
    **dict.fromkeys((ast.FunctionDef, ast.For, ast.Lambda), ("body",)),
    **dict.fromkeys((ast.If, ast.IfExp), ("body", "orelse")),
    **dict.fromkeys((ast.Assign, ast.AugAssign, ast.Return), ("value",)),
    **dict.fromkeys((ast.keyword, ast.Starred, ast.Subscript), ("value",)),
    **dict.fromkeys((ast.GeneratorExp, ast.ListComp), ("elt",)),
    **dict.fromkeys((ast.List, ast.Tuple), ("elts",)),
    ast.BinOp: ("left", "right"),
    ast.UnaryOp: ("operand",),
    ast.Call: ("args", "keywords"),
}
"""Where mistakes are looked for in a node: neither in names of functions nor in exponents."""
OF_SHAPES = ("size", "array_namespace", "_identity", "device")
"""Functions that ask an array for its shape and its library only, which all of a formula share."""
ALIKE = (
    {"y", "u", "g", "c", "z", "w", "yhat", "off", "gbar", "ubar"},
    {"gamma", "beta", "sigma", "eps"},
    {"along_g", "along_u"},
    {"running_mean", "running_variance"},
)
"""Names that may be taken for each other."""
OF_OPERATIONS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Add: ("({0}) - ({1})", "{0}", "{1}"),
    ast.Sub: ("({0}) + ({1})", "{0}", "-({1})"),
    ast.Mult: ("{0}", "{1}"),
    ast.Div: ("{0}", "1 / ({1})", "({0}) * ({1})"),
}
"""What operations become."""
OF_NUMBERS = {0: (1,), 1: (2,), 2: (1, 3), 3: (1, 2)}
OF_NAMES = {
    **dict.fromkeys(("m", "size"), ("{0} - 1", "({0}) ** 0.5")),
    **dict.fromkeys(("gamma", "sigma", "standard_deviation"), ("({0}) ** 2",)),
    "eps": ("0",),
}
OF_CALLS = {"sqrt": "{1}", "centre": "{1}", "mean": "0 * {0}"}
"""What the call of a function, with this first argument, becomes."""


@dataclass(frozen=True)
class Mutant:
    """A function with one mistake: the line that has it, and the code."""

    function: FunctionType
    line: str
    code: CodeType

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Make the mistake in the live function for a while, whoever imported it."""
        right = self.function.__code__
        self.function.__code__ = self.code
        try:
            yield
        finally:
            self.function.__code__ = right


def functions(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions and methods that a module's file defines."""
    owners = [module, *(value for value in vars(module).values() if isinstance(value, type))]
    for owner in owners:
        for value in vars(owner).values():
            function = getattr(value, "__func__", value)
            code = getattr(function, "__code__", None)
            if code is not None and code.co_filename == module.__file__:
                yield function


def mutants(function: FunctionType) -> Iterator[Mutant]:
    """Yield a live function's mutants, each different from it and from every other."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    [definition] = tree.body
    definition.decorator_list = []
    right = ast.unparse(definition)
    seen = {right}
    names = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    for wrong in variants(definition, names):
        text = ast.unparse(wrong)
        if text not in seen:
            seen.add(text)
            pairs = zip(right.splitlines(), text.splitlines(), strict=True)
            line = next(after.strip() for before, after in pairs if before != after)
            module = compile(text, str(function), "exec", dont_inherit=True)
            code = next(c for c in module.co_consts if isinstance(c, CodeType))
            yield Mutant(function, line, code)


def variants(node: ast.AST, names: set[str]) -> Iterator[ast.AST]:
    """Yield a node with one mistake, here or in one of its parts, given the names in scope."""
    for text in mistakes(node, names):
        yield ast.parse(text, mode="eval").body
    is_negative_number = isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)
    if is_negative_number or (isinstance(node, ast.Call) and name_of(node) in OF_SHAPES):
        return
    for field in PARTS.get(type(node), ()):
        value = getattr(node, field)
        is_list = isinstance(value, list)
        for place, part in enumerate(value if is_list else [value]):
            for wrong in variants(part, names):
                other = copy(node)
                found = [*value[:place], wrong, *value[place + 1 :]] if is_list else wrong
                setattr(other, field, found)
                yield other


def mistakes(node: ast.AST, names: set[str]) -> Iterator[str]:
    """Yield what a node becomes by one mistake at its root."""
    match node:
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=power)):
            yield f"({ast.unparse(base)}) ** {power - 1}"
        case ast.BinOp(left=a, op=operation, right=b):
            for wrong in OF_OPERATIONS.get(type(operation), ()):
                yield wrong.format(ast.unparse(a), ast.unparse(b))
        case ast.UnaryOp(op=ast.USub(), operand=a):
            yield ast.unparse(a)
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            yield from map(str, OF_NUMBERS.get(value, ()))
        case ast.Subscript(value=pair, slice=ast.Constant(value=0 | 1 as index)):
            yield f"{ast.unparse(pair)}[{1 - index}]"
        case ast.List(elts=[_, _, *_] as terms):
            for left_out in terms:
                yield ast.unparse(ast.List([term for term in terms if term is not left_out]))
        case ast.Call() | ast.Name() | ast.Attribute():
            yield from of_name(node, name_of(node), names)


def of_name(node: ast.expr, name: str, names: set[str]) -> Iterator[str]:
    """Yield what a name becomes, or the call of a function of that name."""
    for wrong in OF_NAMES.get(name, ()):
        yield wrong.format(ast.unparse(node))
    if isinstance(node, ast.Call) and name in OF_CALLS:
        yield OF_CALLS[name].format(ast.unparse(node), ast.unparse(node.args[0]))
    if isinstance(node, ast.Name):
        others = {other for alike in ALIKE if name in alike for other in alike & names}
        yield from sorted(others - {name})


def name_of(node: ast.AST) -> str:
    """Return the name of a name, of a field, or of the function that is called."""
    node = getattr(node, "func", node)
    return getattr(node, "id", getattr(node, "attr", ""))
