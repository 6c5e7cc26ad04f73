"""What several commands share: their options, the records of today, and how they end."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated

import typer

from theory.statement import Statement
from verify import engine, ledger, others
from verify.complaints import complain
from verify.evidence import NoEvidenceError
from verify.ledger import Entry
from verify.options import evidence_of
from verify.record import Record
from verify.settings import DEFAULT_EVIDENCE
from verify.terminal import columns
from verify.wording import plural

WIDTH = 180
"""Of a table that goes to a file."""
QUICK = "smoke"
"""The profile that is no last word."""
FEW = 5
"""So many statements are named one by one."""
Folder = Annotated[
    Path | None,
    typer.Option(
        "--evidence",
        help="Folder of the evidence; else evidence, or with --claims evidence/claims/NAME.",
        show_default=False,
    ),
]
Cache = Annotated[
    Path | None, typer.Option(help="Folder of trained networks; else the user's cache folder.")
]
Json = Annotated[bool, typer.Option("--json", help="Print a list of JSON objects.")]
Claims = Annotated[
    str,
    typer.Option(
        "--claims",
        metavar="TARGET",
        help="Statements of others: package.module:CLAIMS, path/to/file.py, or an installed name.",
    ),
]


def whose(identifiers: Sequence[str] | None, target: str) -> tuple[str, list[str]]:
    """Return whose statements are meant, and which: the first word may say whose.

    Raises:
        ValueError: the target is none.
    """
    words = [*(identifiers or ())]
    if words and not target:
        if not any(words[0] == claim.id for claim in engine.CLAIMS):
            others.refuse_other_file(words[0])
        if others.is_target(words[0]):
            target, *words = words
    return others.resolved(target) if target else "", words


def known(
    folder: Path | None, target: str, asked: Collection[Statement] | None = None
) -> list[Record]:
    """Return today's records of a target's statements, after a word on older ones.

    Args:
        folder: of the evidence; the target's, if None.
        target: whose statements; the papers' if empty.
        asked: those that are asked for; all, if left out.

    Raises:
        EvidenceError: the evidence is damaged.
    """
    claims = engine.statements(target) if target else None
    names = None if asked is None else {claim.id for claim in asked}
    try:
        found = engine.known(folder or evidence_of(target), claims, names)
    except NoEvidenceError as error:
        wanted = [] if asked is None else [claim.id for claim in asked]
        complain(str(advised(error, target, folder, wanted)))
        return []
    quick = [claim for claim, run in found.heard.items() if run.profile == QUICK]
    for what, identifiers, advice in (
        ("changed since examined", found.outdated, "run"),
        ("half examined", found.unfinished, "to go on, or to read why not, run"),
        (f"looked at by the profile {QUICK} only", quick, "run"),
    ):
        if identifiers:
            again = examining(target, folder, [] if asked is None else identifiers)
            count = plural(len(identifiers), "statement")
            complain(f"{what}: {count}, {_listed(identifiers)}; {advice}: {again}")
    return found.records


def advised(
    error: NoEvidenceError, target: str, folder: Path | None, names: Sequence[str] = ()
) -> NoEvidenceError:
    """Return the error with the command that finds what is missing, or both that find all."""
    again = examining(target, folder, names)
    with_the_site = ", or in a checkout: make verify" if again == examining("", None) else ""
    return NoEvidenceError(f"{error}, or run: {again}{with_the_site}")


def examining(target: str, folder: Path | None, names: Sequence[str] = ()) -> str:
    """Return the command that examines a target's statements and keeps what is found.

    Args:
        target: whose statements; the papers' if empty.
        folder: of the evidence; the target's, if None.
        names: those that are asked for; a few are named, of many all are examined.

    >>> examining("", None), examining("", None, ["S-thm-4.1"])
    ('python -m verify pytest', 'python -m verify check S-thm-4.1 --evidence evidence')
    """
    named = list(names) if len(names) <= FEW else []
    kept = folder or (DEFAULT_EVIDENCE if named and not target else None)
    whose = ["check", *filter(None, [target]), *named] if target or named else ["pytest"]
    where = ["--evidence", str(kept)] if kept else []
    return shlex.join(["python", "-m", "verify", *whose, *where])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:FEW]) + (", ..." if len(names) > FEW else "")


def conclude(entries: Sequence[Entry], as_json: bool, every: bool = True) -> None:
    """Print the entries; the exit status says whether a verdict differs from the expected one."""
    if as_json:
        typer.echo(json.dumps([ledger.as_json(e) for e in entries], indent=1, allow_nan=False))
    else:
        from rich.console import Console

        from verify import report

        report.show(entries, Console(width=columns(WIDTH)), every)
    if any(entry.is_unexpected for entry in entries):
        raise typer.Exit(1)
