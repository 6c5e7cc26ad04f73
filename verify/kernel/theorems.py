"""The theorems of a Coq file: their names, their statements, and a hash of each statement."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

COMMENT = re.compile(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", re.DOTALL)
THEOREM = re.compile(r"^Theorem\s+(\w+)(.*?)\.\s*^Proof\.", re.MULTILINE | re.DOTALL)

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
    """Return the text with comments blanked out, nested ones too, each character in its place."""
    found = 1
    while found:
        source, found = COMMENT.subn(lambda m: re.sub(r"[^\n]", " ", m.group()), source)
    return source


def sources(folder: Path) -> dict[str, str]:
    """Return the texts below a folder by their paths there."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*.v"))
    }


def digest_of_needed(source: str, library: Mapping[str, str]) -> str:
    """Return what changes when a file of the library does that a text needs, at any remove."""
    needed: dict[str, str] = {}
    waiting = [*_needed(source)]
    while waiting:
        file = waiting.pop()
        if file not in needed:
            needed[file] = library[file]
            waiting += _needed(library[file])
    texts = "\0".join(needed[file] for file in sorted(needed))
    return hashlib.sha256(texts.encode()).hexdigest()[:16]


def _needed(source: str) -> Iterator[str]:
    for folder, names in REQUIRED.findall(without_comments(source)):
        yield from (f"{folder.replace('.', '/')}/{name}.v".lstrip("/") for name in names.split())
