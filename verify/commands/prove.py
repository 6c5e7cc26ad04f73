"""The command that has Coq check the theorems, and says what was found."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from theory.claim import Claim
from theory.statement import Statement
from verify import engine, trial
from verify.commands.shared import Claims, Folder, whose
from verify.complaints import bad_input
from verify.evidence import EvidenceError, writing
from verify.kernel import coq, evidence
from verify.kernel.compilation import Found, UnprovedError, forget_limits
from verify.kernel.coq import Coq
from verify.kernel.evidence import Check, Outcome
from verify.kernel.export import BUILDS
from verify.kernel.planted import UNEDITED, ask, planted
from verify.kernel.proving import checks, exportable, needed
from verify.kernel.theorems import sources
from verify.options import evidence_of


def prove(
    identifiers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TARGET|ID",
            help="Export only statements whose identifiers begin so; the first word may be a TARGET"
            " as for --claims.",
        ),
    ] = None,
    evidence_folder: Folder = None,
    builds: Annotated[Path, typer.Option(help="Folder of compiled files.")] = BUILDS,
    workers: Annotated[
        int, typer.Option(min=0, help="Files that are compiled at once; 0 for one per core.")
    ] = 0,
    is_planted: Annotated[
        bool, typer.Option("--planted", help="Also hand Coq wrong variants, which it is to refuse.")
    ] = False,
    target: Claims = "",
) -> None:
    """Have Coq check the theorems that are stated from the definitions.

    Of others' statements it checks these, with no more of the library than they need.

    The exit status is 1 if a theorem written by hand is not accepted, or any rests on other axioms.

    An exported statement that Coq does not accept is listed; it means only that no proof was found.
    """
    try:
        target, words = whose(identifiers, target)
        chosen = _chosen(words, target)
        statements = exportable(chosen)
    except (ValueError, RuntimeError) as error:
        raise bad_input(error) from None
    folder = evidence_folder or evidence_of(target)
    start = time.perf_counter()
    compiled: list[Found] = []
    progress = Progress(console=Console(stderr=True), transient=True)
    try:
        installed = coq.find()
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with writing(builds, "compiled files"), progress as bar:
            if identifiers:
                forget_limits(builds, (exported.file for exported in statements.values()))
            library = needed(statements) if target else sources(coq.LIBRARY)
            task = bar.add_task("checking proofs", total=len(library) + len(statements))

            def tell(found: Found) -> None:
                compiled.append(found)
                bar.update(task, advance=1, description=found.file)

            at_once = workers or os.cpu_count() or 1
            found = checks(installed, builds, library, statements, at_once, tell)
        with writing(folder):
            path = evidence.write(folder, found)
    except (coq.CoqMissingError, EvidenceError, UnprovedError) as error:
        raise bad_input(error) from None
    console = Console()
    asked = [check for check in found if check.claim or not target]
    console.print(_table(asked))
    for rests_on, count in Counter(c.assumptions for c in asked if _is_checked(c)).items():
        console.print(f"{count} rest on {_explained(rests_on)}")
    by_hand = [check for check in asked if not check.claim]
    console.print(
        f"{'' if target else _counted('theorems written by hand', by_hand) + '; '}"
        f"{_counted('exported statements', [c for c in found if c.claim])}; "
        f"{sum(f.is_new for f in compiled)} of {len(compiled)} files compiled now, in "
        f"{time.perf_counter() - start:.0f} s, by Coq {installed.version}; written to {path}"
    )
    if not statements:
        console.print("no statement about a unit that is expected to be proved has words in Coq")
    errors = [f for f in compiled if f.error and not f.file.startswith("exported/")]
    for file in errors:
        console.print(f"{file.file}: {file.error}", style="bold")
    if is_planted:
        proved = {c.claim for c in found if _is_checked(c)}
        _plant(installed, builds, [c for c in chosen if c.id in proved], workers, console)
    if errors or any(c.unexpected or not (c.claim or _is_checked(c)) for c in found):
        raise typer.Exit(1)


def _chosen(words: Sequence[str], target: str) -> list[Claim]:
    """Return a target's statements about a unit whose identifiers begin so; all, if nothing is.

    Raises:
        ValueError: a beginning fits no statement, or one of others is not fit to be examined.
    """
    claims, beginnings = engine.statements(target), tuple(words or [""])
    if target:
        trial.refuse_unfit(claims, target)
    unknown = [b for b in beginnings if not any(claim.id.startswith(b) for claim in claims)]
    if unknown:
        every = engine.how_to_list(target)
        raise ValueError(f"no statement begins with {', '.join(unknown)}; {every}")
    return [c for c in claims if isinstance(c, Claim) and c.id.startswith(beginnings)]


def _plant(
    installed: Coq, builds: Path, chosen: Iterable[Statement], workers: int, console: Console
) -> None:
    """Have Coq judge edited statements with the proofs of the right ones."""
    asked = [planted(claim) for claim in chosen if isinstance(claim, Claim)]
    refused = accepted = 0
    for one, answers in ask(installed, builds, asked, workers or os.cpu_count() or 1):
        wrong = {words: answer for words, answer in answers.items() if words != UNEDITED}
        refused += sum(not answer for answer in wrong.values())
        accepted += sum(wrong.values())
        for words in (words for words, answer in wrong.items() if answer):
            console.print(f"{one.claim}: true as well, {words}", highlight=False, markup=False)
        if not answers.get(UNEDITED):
            console.print(f"{one.claim}: not accepted as it stands; its edits say nothing")
    console.print(
        f"{refused + accepted} edits of {len(asked)} statements: {refused} refused, {accepted} "
        "accepted, which are true as well"
    )


def _is_checked(check: Check) -> bool:
    return check.outcome is Outcome.CHECKED


def _table(found: Iterable[Check]) -> Table:
    table = Table(box=None)
    for name in ("theorem", "file", "outcome", "s"):
        table.add_column(name, justify="right" if name == "s" else "left", overflow="fold")
    for check in found:
        said = f"{check.outcome}: {check.message}" if check.message else str(check.outcome)
        table.add_row(check.claim or check.theorem, check.file, said, f"{check.seconds:.1f}")
    return table


def _explained(assumptions: tuple[str, ...]) -> str:
    words = (f"{name} ({_said_of(name)})" for name in assumptions)
    return ", ".join(words) or "Coq's logic alone"


def _counted(what: str, found: list[Check]) -> str:
    accepted = sum(map(_is_checked, found))
    return f"{accepted} of {len(found)} {what} checked"


def _said_of(assumption: str) -> str:
    known = evidence.ALLOWED.get(assumption)
    return known.says if known else "not allowed"
