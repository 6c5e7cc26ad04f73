"""The theorems of a Coq file: their names, their statements, and a hash of each statement."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

COMMENT = re.compile(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", re.DOTALL)
THEOREM = re.compile(r"^Theorem\s+(\w+)(.*?)\.\s*^Proof\.", re.MULTILINE | re.DOTALL)


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
