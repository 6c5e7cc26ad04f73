r"""Wrong formulas, made mechanically from the shipped source by a pass over its syntax tree.

A mutant is a module's source with one mistake (:mod:`mistakes`) in one expression of a
function that computes.  What only describes (docstrings, functions that return claims, the fields
of a claim) and what only checks (``if``, ``raise``) is left alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from mistakes import mistakes

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Mutant:
    """One mistake: where it is, what it is, and the module's whole source with it."""

    file: str
    function: str
    line: int
    kind: str
    description: str
    source: str = field(repr=False)

    @property
    def key(self) -> tuple[str, str, str]:
        """What names the mutant while lines move."""
        return self.file, self.function, self.description

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.function}: {self.description} ({self.kind})"


@cache
def mutants(file: str) -> list[Mutant]:
    """Return the mutants of a file, given by its path in the repository."""
    return mutants_of((ROOT / file).read_text(), file)


def functions(file: str) -> list[str]:
    """Return the names of a file's functions and hypotheses that can have mutants."""
    tree = ast.parse((ROOT / file).read_text())
    return list(dict.fromkeys(site.function for node in tree.body for site in sites(node)))


def mutants_of(source: str, file: str = "") -> list[Mutant]:
    """Return the mutants of a source text, each different from it and from every other."""
    tree = ast.parse(source)
    statements = [ast.unparse(statement) for statement in tree.body]
    seen = set(statements)
    counts: Counter[tuple[str, str]] = Counter()
    found = []
    for i, statement in enumerate(tree.body):
        for site in sites(statement):
            for kind, wrong in mistakes(site.node, site.parent, site.scope):
                mutated, description = site.planted(statement, wrong)
                if mutated in seen:
                    continue
                seen.add(mutated)
                counts[site.function, description] += 1
                number = counts[site.function, description]
                text = "\n".join([*statements[:i], mutated, *statements[i + 1 :]])
                words = description if number == 1 else f"{description} #{number}"
                found.append(Mutant(file, site.function, site.node.lineno, kind, words, text))
    return found


@dataclass(frozen=True)
class Site:
    """An expression in a function, the place where it hangs, and the names in scope."""

    function: str
    node: ast.expr
    parent: ast.AST
    attribute: str
    index: int | None
    scope: frozenset[str]

    def planted(self, statement: ast.stmt, wrong: ast.expr) -> tuple[str, str]:
        """Return a statement's source with another expression here, and the change in words."""
        is_leaf = isinstance(self.node, ast.Name | ast.Attribute | ast.Constant)
        in_context = is_leaf and isinstance(self.parent, ast.expr | ast.keyword)
        before = ast.unparse(self.parent if in_context else self.node)
        self._hang(wrong)
        after = ast.unparse(self.parent if in_context else wrong)
        source = ast.unparse(statement)
        self._hang(self.node)
        return source, f"{before} -> {after}"

    def _hang(self, node: ast.expr) -> None:
        if self.index is None:
            setattr(self.parent, self.attribute, node)
        else:
            getattr(self.parent, self.attribute)[self.index] = node


def sites(statement: ast.stmt) -> Iterator[Site]:
    """Yield the expressions of a function or method that computes, or of a hypothesis's lambda."""
    match statement:
        case ast.FunctionDef() if not _describes(statement):
            yield from _in_function(statement, statement.name, frozenset())
        case ast.ClassDef(body=body):
            for method in body:
                if isinstance(method, ast.FunctionDef) and not _describes(method):
                    yield from _in_function(method, method.name, frozenset())


def _describes(function: ast.FunctionDef) -> bool:
    """Whether a function makes claims or words rather than numbers."""
    returns = "" if function.returns is None else ast.unparse(function.returns)
    return any(word in returns for word in ("Claim", "str", "bool"))


def _in_function(function: ast.FunctionDef, name: str, scope: frozenset[str]) -> Iterator[Site]:
    scope |= _parameters(function)
    for statement in function.body:
        match statement:
            case ast.FunctionDef():
                yield from _in_function(statement, name, scope)
            case ast.Assign(targets=targets):
                yield from _in_expression(statement, "value", None, name, scope)
                scope |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            case ast.Return():
                yield from _in_expression(statement, "value", None, name, scope)


def _in_expression(
    parent: ast.AST, attribute: str, index: int | None, name: str, scope: frozenset[str]
) -> Iterator[Site]:
    place = getattr(parent, attribute)
    node = place if index is None else place[index]
    if isinstance(node, ast.Lambda):
        scope |= _parameters(node)
    yield Site(name, node, parent, attribute, index, scope)
    for field_name in _computed(node):
        value = getattr(node, field_name)
        for i in range(len(value)) if isinstance(value, list) else [None]:
            yield from _in_expression(node, field_name, i, name, scope)


def _computed(node: ast.AST) -> tuple[str, ...]:  # noqa: C901 (one case a kind of node)
    """Return the fields of an expression that hold numbers: neither names nor exponents."""
    match node:
        case ast.BinOp(op=ast.Pow()):
            return ("left",)
        case ast.BinOp():
            return ("left", "right")
        case ast.UnaryOp():
            return ("operand",)
        case ast.Call(func=ast.Attribute()):
            return ("func", "args", "keywords")
        case ast.Call():
            return ("args", "keywords")
        case ast.keyword() | ast.Starred() | ast.Subscript():
            return ("value",)
        case ast.Attribute(value=ast.Name() | ast.Attribute()):
            return ("value",)
        case ast.GeneratorExp() | ast.ListComp():
            return ("elt",)
        case ast.List() | ast.Tuple():
            return ("elts",)
        case ast.Lambda():
            return ("body",)
        case ast.IfExp():
            return ("body", "orelse")
    return ()


def _parameters(function: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    return frozenset(a.arg for a in (*function.args.args, *function.args.kwonlyargs))
