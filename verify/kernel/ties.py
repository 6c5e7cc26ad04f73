"""Which statements of the papers the theorems that are written by hand say.

A theorem that is exported says its statement by construction.  One that is written by hand was
compared with it by a reader; ``statements.toml``, next to the theorems, says when that holds.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from theory.statement import Statement
from verify.kernel.coq import LIBRARY
from verify.kernel.meaning import meaning
from verify.kernel.theorems import Theorem, sources, theorems

FILE = "statements.toml"


@dataclass(frozen=True)
class Tie:
    """A theorem written by hand, and the statements that it says, or that it refutes."""

    file: str
    theorem: str
    claims: tuple[str, ...]
    refutes: bool
    compared: str
    """The digest of their texts, and of what the theorem's words mean, when they were compared."""


def ties() -> Iterator[Tie]:
    """Yield what the library's table says."""
    for file, of_it in tomllib.loads((LIBRARY / FILE).read_text()).items():
        for theorem, tie in of_it.items():
            refutes = "refutes" in tie
            claims = tie["refutes" if refutes else "says"]
            yield Tie(file, theorem, tuple(claims), refutes, tie["compared"])


def outdated(claims: Mapping[str, Statement]) -> list[str]:
    """Return what is to be compared again, and the digest to write when that is done."""
    found, library = [], sources(LIBRARY)
    for tie in ties():
        missing = [identifier for identifier in tie.claims if identifier not in claims]
        theorem = theorem_of(tie, library)
        if missing or theorem is None:
            lost = ", ".join(missing) or tie.theorem
            found.append(f"{tie.file}, {tie.theorem}: there is no {lost} any more")
        elif (today := digest(tie, library, [claims[i] for i in tie.claims])) != tie.compared:
            says = ", ".join(tie.claims)
            found.append(
                f"{tie.file}, {tie.theorem}: compare it with {says} again; then compared = {today}"
            )
    return found


def theorem_of(tie: Tie, library: Mapping[str, str]) -> Theorem | None:
    """Return the theorem as it is stated today, if there is one."""
    stated = theorems(library.get(tie.file, ""))
    return next((theorem for theorem in stated if theorem.name == tie.theorem), None)


def digest(tie: Tie, library: Mapping[str, str], claims: Iterable[Statement]) -> str:
    """Return what changes when a theorem says, or means, something else, or a statement does."""
    theorem = theorem_of(tie, library)
    if theorem is None:
        return ""
    texts = [str(tie.refutes), theorem.statement, *meaning(theorem, tie.file, library)]
    for claim in claims:
        texts += [
            claim.id,
            claim.statement,
            *claim.where,
            claim.reading,
            *(text for h in claim.hypotheses for text in (h.statement, h.checked)),
        ]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
