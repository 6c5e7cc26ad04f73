r"""What a record depends on, as one short text: the same for what need not be examined again.

A record depends on the statement (its expression, its hypotheses and its certificate), on the
source of every formula that these call, on the witness's source, and on what the witness reads of
the settings: how hard it looks, from which seed, in which arrays.  A change of any of these makes
the record old; a change elsewhere, such as in another statement's file, does not.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from theory.expectation_claim import ExpectationClaim
from theory.language.expression import Apply, Expression, Letter, Says, walk
from theory.language.plain import plain
from theory.statement import Statement, Verdict
from verify.settings import Settings
from verify.sources import OURS, ROOT, digest, digest_of, sources
from verify.witnesses.witness import Later, Witness

PACKAGES = {
    "numpy": "numpy", "scipy": "scipy", "sympy": "sympy", "torch": "torch", "flint": "python-flint",
    "hypothesis": "hypothesis", "array_api_compat": "array-api-compat",
    "array_api_strict": "array-api-strict", "sklearn": "scikit-learn", "clarabel": "clarabel",
    "cupy": "cupy-cuda12x",
}  # fmt: skip
"""What computes, as it is imported and as it is installed: another version may find something else.
"""
INSTALLED = {"site-packages", "dist-packages"}
"""Folders of what others wrote, which may lie below one's own."""


def fingerprint(claim: Statement, witness: Witness, settings: Settings) -> str:
    """Return the fingerprint of what a witness finds of a statement.

    Of the settings only what the witness reads counts: who draws nothing finds the same from every
    seed.
    """
    return _digest([of_statement(claim), *_of_examination(witness, settings)])


@cache
def _of_examination(witness: Witness, settings: Settings) -> tuple[str, str, str]:
    read = _of_settings(settings.only(witness.reads))
    return of_code(witness.examine), read, repr(versions())


@cache
def of_statement(claim: Statement) -> str:
    """Return the fingerprint of a statement: of what it says, not of what is said about it."""
    texts = [claim.id, claim.reading.value, claim.relation.value, *map(str, _words(claim))]
    functions = map(of_code, _functions(claim))
    return _digest([*texts, *functions, "attack", *map(of_code, claim.attack)])


def of_code(function: Any) -> str:
    """Return the fingerprint of a function: its place, and the source of all that it may call.

    What it holds counts, too: its defaults, what is around it, and the numbers of an object.  Of
    another value, its text.
    """
    return _of_function(function) if type(function) is FunctionType else _of_value(function, ())


@cache
def _of_function(function: FunctionType) -> str:
    return _of_value(function, ())


def _of_value(value: Any, within: tuple[Any, ...]) -> str:
    """Return the fingerprint of a value, within others, which it may hold in turn."""
    if any(value is one for one in within):
        return ""
    inner = partial(_of_value, within=(*within, value))
    if isinstance(value, Later):
        return _digest([value.name, of_module(value.module)])
    if (parts := _parts(value)) is not None:
        return _digest(map(inner, parts))
    if isinstance(value, FunctionType):
        place = value.__qualname__, *_positions(value.__code__)
        held = value.__defaults__, value.__kwdefaults__, *_around(value)
        return _digest([repr(place), of_module(value.__module__), *map(inner, held)])
    if isinstance(value, type | ModuleType):
        name = value.__module__ if isinstance(value, type) else value.__name__
        return _digest([value.__name__, of_module(name)])
    kept = getattr(value, "__wrapped__", None)  # by what remembers its values
    if kept is not None and not _counts_by_version(value.__module__):
        return _digest([inner(type(value)), inner(kept)])
    if (name := getattr(value, "__qualname__", "")) and value.__module__:
        return f"{value.__module__}.{name}"  # of another package, whose version counts
    own = inner(vars(value)) if hasattr(value, "__dict__") else repr(value)
    return _digest([inner(type(value)), own])


def _parts(value: Any) -> Iterable[Any] | None:
    """Return what a value is made of, where that says all of it; None where it does not."""
    if isinstance(value, partial):
        return value.func, *value.args, *value.keywords.items()
    if isinstance(value, MethodType):
        return value.__func__, value.__self__
    if isinstance(value, Expression | Says):
        return plain(value), *_meanings(value)
    if isinstance(value, Mapping):
        return chain.from_iterable(value.items())
    return value if isinstance(value, list | tuple) else None


def _positions(code: CodeType) -> Iterator[Any]:
    """Yield what tells a function from others in one module, such as two without a name."""
    yield code.co_firstlineno
    yield from code.co_positions()


def _around(function: FunctionType) -> Iterator[Any]:
    """Yield what a function holds of the functions around it."""
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # it has no content yet
            yield cell.cell_contents


def of_module(name: str) -> str:
    """Return the fingerprint of a module: its source, and that of what it imports.

    Of what others wrote, the modules of the same package, or files of the same folder, count;
    packages that are neither theirs nor ours do not.
    """
    return digest(name) if name.split(".")[0] in OURS else digest_of(_theirs(name))


@cache
def of_everything() -> str:
    """Return the fingerprint of all source of ours."""
    return digest_of(path for name in OURS for path in (ROOT / name).rglob("*.py"))


def _theirs(name: str) -> set[Path]:
    """Return the files of a module of others, of what it imports of theirs, and of ours."""
    found: dict[str, Path] = {}
    ours: set[Path] = set()
    waiting = [name]
    while waiting:
        module = waiting.pop()
        if module in found or (path := _loaded(module)) is None:
            continue
        found[module] = path
        for imported in _imported_anywhere(module, path):
            if imported.split(".")[0] in OURS:
                ours |= sources(imported)
            elif _is_of_one_hand(imported, name):
                waiting.append(imported)
    return set(found.values()) | ours


def _loaded(name: str) -> Path | None:
    """Return the file of a loaded module of another package than those whose versions count."""
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None or not file.endswith(".py") or _counts_by_version(name):
        return None
    return Path(file)


def _counts_by_version(name: str) -> bool:
    """Whether a module is Python's, or of a package whose version counts."""
    root = name.split(".")[0]
    return root in sys.stdlib_module_names or root in PACKAGES


def _is_of_one_hand(name: str, other: str) -> bool:
    """Whether a module is of another's package, or its file in the other's folder or below."""
    if name.split(".")[0] == other.split(".")[0]:
        return True
    path, beside = _loaded(name), _loaded(other)
    if path is None or beside is None or not path.is_relative_to(beside.parent):
        return False
    return INSTALLED.isdisjoint(path.relative_to(beside.parent).parts)


def _imported_anywhere(name: str, path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, with those that may be named by "from"."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in statements(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            parts = [*above, node.module] if node.level else [node.module]
            module = ".".join(filter(None, parts))
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def statements(path: Path) -> Iterator[ast.AST]:
    """Yield a file's statements, those inside of others too; no expression has an import in it."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        yield node
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting.extend(getattr(node, part, ()))


def _words(claim: Statement) -> Iterator[Any]:
    """Yield what the statement says as text."""
    for says in _expressions(claim):
        yield plain(says)
    for hypothesis in claim.hypotheses:
        yield hypothesis.sign
        yield hypothesis.printed
    yield claim.expected is Verdict.SUPPORTED  # then more is drawn, until that is supported
    yield getattr(claim, "subject", "")
    yield getattr(claim, "fails_at", "")


def _expressions(claim: Statement) -> Iterator[Expression | Says]:
    yield from claim.said
    if claim.because is not None:
        yield claim.because


def _functions(claim: Statement) -> Iterator[Any]:
    """Yield the functions that a statement's values come from."""
    for says in _expressions(claim):
        yield from _meanings(says)
    if isinstance(claim, ExpectationClaim):
        yield claim.ceilings  # no expression says what they are
    yield from (h.impose for h in claim.hypotheses if h.impose is not None)


def _meanings(said: Expression | Says) -> Iterator[Any]:
    sides = (said.actual, said.claimed) if isinstance(said, Says) else (said,)
    for node in chain.from_iterable(map(walk, sides)):
        if isinstance(node, Letter) and node.value is not None:
            yield node.value
        if isinstance(node, Apply):
            yield node.operation.meaning


def _of_settings(settings: Settings) -> str:
    looked = {k: v for k, v in asdict(settings).items() if k not in ("cache", "claims")}
    return repr(looked)


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that compute."""
    return {"python": platform.python_version(), **dict(_installed(PACKAGES.values()))}


def _installed(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:20]
