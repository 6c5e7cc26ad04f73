"""A released layer: the functions that call it, and lines that do so without this suite."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from verify.conform.subject import Subject


@dataclass(frozen=True)
class Implementation:
    """A layer of a library, and what is said of it on the page."""

    subject: Subject
    family: str
    distribution: str
    """The package whose version is printed."""
    dtypes: tuple[str, ...] = ()
    """The only ones that it takes; none: both of single and double precision."""
    threads: tuple[str, ...] = ()
    """Where its maintainers speak of what is found."""


def implementation(
    name: str,
    layer: Callable[..., Any],
    *,
    family: str = "batch",
    distribution: str,
    dtypes: tuple[str, ...] = (),
    threads: tuple[str, ...] = (),
    **parts: Any,
) -> Implementation:
    """Return an implementation whose reproduction is the source of its function.

    Args:
        name: the public name, as the library's documentation has it.
        layer: a plain function of a module, which uses only imported names.
        family: one of :data:`verify.conform.subject.FAMILIES`.
        distribution: the package that has it, whose version is printed.
        dtypes: the only ones that it takes.
        threads: links to its maintainers' discussions.
        parts: further fields of :class:`verify.conform.subject.Subject`.
    """
    subject = Subject(name, layer, script=standalone(layer), **parts)
    return Implementation(subject, family, distribution, dtypes, threads)


def by_function(*found: Implementation) -> SimpleNamespace:
    """Return implementations by the names of their functions, so that a target names each."""
    return SimpleNamespace(**{one.subject.layer.__name__: one for one in found})


def standalone(function: Callable[..., Any]) -> str:
    """Return a function's source as ``layer``, after the imports and helpers that it uses."""
    imports, helpers = _needs(function)
    lines = "\n".join(dict.fromkeys(imports))
    return "\n\n".join([lines, *dict.fromkeys(helpers), _source(function, "layer")])


def _needs(function: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """Return the import statements and the functions of this package behind a function's names."""
    names = {n.id for n in ast.walk(ast.parse(_source(function))) if isinstance(n, ast.Name)}
    module = ast.parse(inspect.getsource(inspect.getmodule(function) or function))
    statements = [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = {name: value for name, value in function.__globals__.items() if _is_ours(value)}
    used = [
        ast.unparse(node)
        for node in statements
        if (bound := _bound(node) & names) and not bound & ours.keys()
    ]
    helpers: list[str] = []
    for name in sorted(names & ours.keys()):
        more, theirs = _needs(ours[name])
        used, helpers = [*more, *used], [*helpers, *theirs, _source(ours[name])]
    return used, helpers


def _source(function: Callable[..., Any], name: str = "") -> str:
    """Return a function's statement without docstring and annotations."""
    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise TypeError(f"{function!r} comes of no def statement")
    definition.name, definition.returns = name or definition.name, None
    arguments = definition.args
    for argument in [*arguments.args, *filter(None, [arguments.vararg, arguments.kwarg])]:
        argument.annotation = None
    if ast.get_docstring(definition) is not None:
        del definition.body[0]
    return ast.unparse(definition)


def _is_ours(value: Any) -> bool:
    home = getattr(value, "__module__", None) or ""
    return inspect.isfunction(value) and home.startswith(__package__)


def _bound(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
