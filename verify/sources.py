"""The files of ours behind a module: what it imports, and what that does, without importing any."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

OURS = ("theory", "verify")
ROOT = Path(__file__).resolve().parent.parent
IMPORT = re.compile(r"^[ \t]*((?:from [\w.]+ )?import (?:\([^()]*\)|[^\n(]+))", re.M)
"""An import as we write it, on a line of its own; to parse whole files takes ten times as long."""


@cache
def sources(name: str) -> frozenset[Path]:
    """Return the files of a module and of all of ours that it imports, one by another."""
    found: dict[str, Path] = {}
    waiting = [name]
    while waiting:
        module = waiting.pop()
        if module in found or (path := path_of(module)) is None:
            continue
        found[module] = path
        waiting.extend(_imported(path))
    return frozenset(found.values())


@cache
def digest(name: str) -> str:
    """Return a digest of the files of a module and of all of ours that it imports."""
    return digest_of(sources(name))


def digest_of(files: Iterable[Path]) -> str:
    """Return a digest of files, whatever their order."""
    found = hashlib.sha256()
    for file in sorted(files):
        found.update(file.read_bytes() + b"\0")
    return found.hexdigest()[:20]


@cache
def path_of(name: str) -> Path | None:
    """Return the file of a module of ours, without importing anything."""
    if name.split(".")[0] not in OURS:
        return None
    place = ROOT.joinpath(*name.split("."))
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def imports(text: str) -> Iterator[ast.stmt]:
    """Yield the imports in a file of ours; what only looks like one in prose may be among them."""
    for found in IMPORT.finditer(text):
        with suppress(SyntaxError):
            yield from ast.parse(found[1]).body


@cache
def _imported(path: Path) -> tuple[str, ...]:
    """Return the modules that a file names in its imports: of a package, what is taken from it."""
    found: list[str] = []
    for node in imports(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in OURS:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.append(node.module if path_of(inner) is None else inner)
    return tuple(dict.fromkeys(found))
