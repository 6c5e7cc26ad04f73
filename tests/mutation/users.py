"""Which claims compute with a function, or with a hypothesis's or a claim's lambda."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from theory.claim import Claim, Hypothesis


class Place(NamedTuple):
    """Where a function's code lies: the title that its file was compiled with, and its lines."""

    title: str
    first: int
    last: int

    def holds(self, code: CodeType) -> bool:
        """Whether a piece of code begins there."""
        is_same_file = code.co_filename == self.title
        return is_same_file and self.first <= code.co_firstlineno <= self.last


def place_of(source: str, function: str, title: str) -> Place:
    """Return where a source text has a function, a method, or a name with lambdas."""
    (found,) = (node for node in _statements(ast.parse(source)) if function in _names_of(node))
    return Place(title, found.lineno, found.end_lineno or found.lineno)


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in tree.body:
        yield from node.body if isinstance(node, ast.ClassDef) else [node]


def _names_of(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def users(claims: Iterable[Claim], place: Place) -> list[Claim]:
    """Return those of some claims that compute with the code in a place."""
    return [claim for claim in claims if any(place.holds(code) for code in computed_with(claim))]


def computed_with(claim: Claim) -> set[CodeType]:
    """Return the code that a claim can run: all that its functions name, and what these name."""
    waiting: list[Any] = [claim.sides, claim.certificate, *claim.hypotheses]
    seen, names, classes = set(), {"__init__"}, []
    while waiting:
        value = waiting.pop()
        waiting += _parts(value)
        if isinstance(value, type):
            classes.append(value)
        elif _computes(value) and value not in seen:
            seen.add(value)
            named = _named(value.__code__)
            names |= named
            waiting += _meant(named, value.__globals__)
        if not waiting:
            methods = [vars(owner).get(name) for owner in classes for name in names]
            waiting = [method for method in methods if _computes(method) and method not in seen]
    return set().union(*(_inside(function.__code__) for function in seen))


def _computes(value: Any) -> bool:
    is_function = isinstance(value, FunctionType)
    return is_function and "santurkar2018" in value.__globals__["__name__"]


def _parts(value: Any) -> list[Any]:
    """Return what a value holds that may be run."""
    match value:
        case tuple() | list():
            return [*value]
        case Hypothesis():
            return [value.quantity, value.impose]
        case partial():
            return [value.func, *value.args, *value.keywords.values()]
        case FunctionType():
            return [cell.cell_contents for cell in value.__closure__ or ()]
    return []


def _meant(names: set[str], scope: dict[str, Any]) -> list[Any]:
    """Return what names mean in a module, or in a module that is named there as well."""
    found = [scope[name] for name in names if name in scope]
    modules = [module for module in found if isinstance(module, ModuleType)]
    return found + [vars(m)[name] for m in modules for name in names if name in vars(m)]


def _named(code: CodeType) -> set[str]:
    return set().union(*(set(each.co_names) for each in _inside(code)))


def _inside(code: CodeType) -> set[CodeType]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return {code}.union(*map(_inside, inner))
