"""The theorems of a Coq file: their names, their statements, and a hash of each statement."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LEXEME = re.compile(r'"[^"]*"|\(\*|\*\)')
"""What opens or closes a comment, and strings, in which nothing does."""
THEOREM = re.compile(r"^Theorem\s+([\w']+)(.*?)\.\s*^Proof\.", re.MULTILINE | re.DOTALL)

REQUIRED = re.compile(r"From BatchNorm((?:\.\w+)*) Require (?:Import |Export )?([\w\s]+)\.")
"""Files of the library that a file needs."""


@dataclass(frozen=True)
class Theorem:
    """A theorem as a Coq file states it."""

    name: str
    statement: str
    """Everything after the name, white space made one."""
    start: int
    """Where it begins in the file, in bytes, as Coq counts."""
    line: int

    @property
    def hash(self) -> str:
        """What changes when the statement does, but not with its layout."""
        return hashlib.sha256(self.statement.encode()).hexdigest()[:16]


def theorems(source: str) -> Iterator[Theorem]:
    r"""Yield the theorems of a file's text; lemmas are steps on the way and are not listed.

    >>> [found] = theorems("(* A. *)\nTheorem truth :\n  True.\nProof. exact I. Qed.\n")
    >>> found.name, found.statement, found.line
    ('truth', ': True', 2)
    """
    text = without_comments(source)
    for match in THEOREM.finditer(text):
        start = match.start()
        yield Theorem(
            match.group(1),
            " ".join(match.group(2).split()),
            len(source[:start].encode()),
            source.count("\n", 0, start) + 1,
        )


def without_comments(source: str) -> str:
    r"""Return the text with comments blanked out, nested ones too, each character in its place.

    >>> without_comments('a (* b (* "*)" *) *) "(*" c')
    'a                    "(*" c'
    """
    kept, at, depth = [], 0, 0
    for lexeme in LEXEME.finditer(source):
        end = lexeme.start() if depth == 0 else lexeme.end()
        kept.append(source[at:end] if depth == 0 else _blank(source[at:end]))
        at = end
        depth = max(0, depth + {"(*": 1, "*)": -1}.get(lexeme.group(), 0))
    return "".join([*kept, source[at:]])


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def sources(folder: Path) -> dict[str, str]:
    """Return the texts below a folder by their paths there."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*.v"))
    }


def needed(source: str, library: Mapping[str, str]) -> dict[str, str]:
    """Return the files of the library that a text needs, at any remove."""
    found: dict[str, str] = {}
    waiting = [*_needed(source)]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found[file] = library[file]
            waiting += _needed(library[file])
    return found


def digest_with_needed(source: str, library: Mapping[str, str]) -> str:
    """Return what changes when a text does, or a file of the library that it needs."""
    files = needed(source, library)
    texts = "\0".join([source, *(files[file] for file in sorted(files))])
    return hashlib.sha256(texts.encode()).hexdigest()[:16]


@cache
def _needed(source: str) -> tuple[str, ...]:
    every = REQUIRED.findall(without_comments(source))
    named = [(folder.replace(".", "/"), name) for folder, names in every for name in names.split()]
    return tuple(f"{folder}/{name}.v".lstrip("/") for folder, name in named)
