"""What the kernel checked: one JSON line for each theorem, with what it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from verify import json_lines
from verify.evidence import lines_of, made

FILE = "kernel.jsonl"


class Axiom(NamedTuple):
    """An assumption of Coq's standard library."""

    path: str
    says: str


ALLOWED = {
    "sig_forall_dec": Axiom(
        "Coq.Reals.ClassicalDedekindReals.sig_forall_dec", "Coq's real numbers"
    ),
    "sig_not_dec": Axiom("Coq.Reals.ClassicalDedekindReals.sig_not_dec", "Coq's real numbers"),
    "functional_extensionality_dep": Axiom(
        "Coq.Logic.FunctionalExtensionality.functional_extensionality_dep",
        "functions with the same values are equal",
    ),
    "classic": Axiom(
        "Coq.Logic.Classical_Prop.classic",
        "either a proposition or its negation, in Coq's library of real functions",
    ),
}
"""What a theorem may rest on; anything else is a failure."""


class Outcome(StrEnum):
    """What became of a theorem."""

    CHECKED = "checked"
    FAILED = "failed"
    NOT_REACHED = "not reached"
    """A file that it needs failed, or its own file failed before it."""


@dataclass(frozen=True)
class Check:
    """What the kernel found of one theorem."""

    theorem: str
    file: str
    """Below the library's root."""
    statement: str
    statement_hash: str
    outcome: Outcome
    assumptions: tuple[str, ...] = ()
    """What the theorems that need the same libraries of Coq rest on, taken together."""
    seconds: float = 0.0
    coq: str = ""
    claim: str = ""
    """The statement that was exported; nothing for a theorem that is written by hand."""
    needs: str = ""
    """The digest of the files of the library that its file needs."""
    message: str = ""
    """Why it failed: Coq's first error, or the assumption that is not allowed."""

    @property
    def unexpected(self) -> tuple[str, ...]:
        """Assumptions that a theorem may not rest on."""
        return tuple(a for a in self.assumptions if a not in ALLOWED)


def write(folder: Path, checks: Iterable[Check]) -> Path:
    """Write what was found to a folder, each in place of what an earlier run found of it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    with FileLock(path.with_suffix(".lock")):
        found = {(c.file, c.theorem): c for c in (*read(folder), *checks)}
        json_lines.write(path, map(asdict, found.values()))
    return path


def read(folder: Path) -> list[Check]:
    """Return what a folder holds; nothing if no run was made.

    Raises:
        EvidenceError: a line, not the last one, is damaged, or one is of another form.
    """
    path = folder / FILE
    if not path.exists():
        return []
    return [made(Check, line, path) for line in lines_of(path, json_lines.object_in)]
