"""Views of the evidence: the ledger, one statement, the site, the README."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from theory.statement import Verdict
from verify import comparison, engine, evidence, ledger
from verify.commands.shared import Claims, Folder, Json, advised, conclude, examining, known
from verify.complaints import bad_input, complain
from verify.evidence import EvidenceError, NoEvidenceError
from verify.options import evidence_of
from verify.others import OthersError
from verify.settings import DEFAULT_EVIDENCE
from verify.terminal import columns
from verify.wording import plural


def show_ledger(
    evidence_folder: Folder = None,
    target: Claims = "",
    as_json: Json = False,
    every: Annotated[
        bool, typer.Option("--all", help="Each reading, correction and line of a proof.")
    ] = False,
) -> None:
    """Print the verdict of every statement, from the evidence of the last run."""
    try:
        claims = engine.statements(target)
        records = known(evidence_folder, target)
    except (OthersError, EvidenceError) as error:
        raise bad_input(error) from None
    conclude(ledger.ledger(claims, records), as_json, every)


def compare(
    before: Annotated[Path, typer.Argument(metavar="FILE", help="What `ledger --json` printed.")],
    evidence_folder: Folder = None,
    target: Claims = "",
) -> None:
    """Say what changed since a ledger was kept, in statements and verdicts.

    The exit status is 1 where something did.
    """
    try:
        kept = comparison.read(before)
        claims = engine.statements(target)
        entries = ledger.ledger(claims, known(evidence_folder, target))
    except (OthersError, EvidenceError, comparison.LedgerError) as error:
        raise bad_input(error) from None
    found = list(comparison.changes(kept, comparison.of_today(entries)))
    for change in found:
        typer.echo(change)
    typer.echo(f"{plural(len(found), 'change')} in {plural(len(entries), 'entry', 'entries')}")
    if found:
        raise typer.Exit(1)


def show(
    identifiers: Annotated[
        list[str], typer.Argument(metavar="ID", help="Which statements; `ledger --all` lists them.")
    ],
    evidence_folder: Folder = None,
    target: Claims = "",
) -> None:
    """Print statements: what each says, where it stands, its verdict, and why."""
    from verify.show import WIDTH, shown_entry

    try:
        named = engine.selected(engine.statements(target), identifiers, target)
        claims = [claim for claim in named if claim.id in identifiers] or named
        records = known(evidence_folder, target, claims)
    except (ValueError, EvidenceError) as error:
        raise bad_input(error) from None
    width = columns(WIDTH)
    entries = ledger.ledger(claims, records)
    typer.echo("\n\n".join(shown_entry(entry, width, target) for entry in entries))


def papers() -> None:
    """List the papers whose statements are known here, and how they are asked for."""
    from verify.others import installed

    for paper in engine.PAPERS:
        count = sum(claim.locations[0].paper == paper for claim in engine.CLAIMS)
        typer.echo(f"{paper.key}: {paper.short}, {count} entries")
    for name in installed():
        try:
            claims = engine.statements(name)
        except OthersError as error:
            typer.echo(f"--claims {name}: {error}")
            continue
        shorts = dict.fromkeys(claim.locations[0].paper.short for claim in claims)
        typer.echo(f"--claims {name}: {', '.join(shorts)}, {len(claims)} entries")


def page(
    evidence_folder: Folder = None,
    target: Claims = "",
    folder: Annotated[
        Path | None,
        typer.Option("--to", help="Where a site of others' statements goes; a folder of its own."),
    ] = None,
) -> None:
    """Write the sources of the site from the evidence; `make docs` builds it.

    With --claims: write and build a small site of those statements.
    """
    try:
        if target:
            from verify.site.others import OthersSite

            site = OthersSite.of(target, evidence_folder or evidence_of(target), folder)
            typer.echo(f"open {site.write()}")
            return
        from verify.site.build import DOCS, write_pages

        if not (DOCS / "conf.py").exists():
            complain(
                f"there is no {DOCS / 'conf.py'} here, and without it no site: call this in a "
                "checkout of this suite, or name statements of others by --claims"
            )
            raise typer.Exit(2)
        if folder is not None:
            complain(f"--to {folder}: is for a site of others' statements; name them by --claims")
            raise typer.Exit(2)
        found = evidence_folder or DEFAULT_EVIDENCE
        count = write_pages(found)
    except NoEvidenceError as error:
        raise bad_input(advised(error, target, evidence_folder)) from None
    except (OthersError, EvidenceError) as error:
        raise bad_input(error) from None
    if not (found / "evidence.jsonl").exists():
        typer.echo(f"no evidence in {found}: every statement is shown as not yet run")
    typer.echo(f"{count} files below docs/")


def prune(evidence_folder: Folder = None, target: Claims = "") -> None:
    """Remove the evidence that changes have outdated; that of other statements stays."""
    folder = evidence_folder or evidence_of(target)
    try:
        claims = engine.statements(target)
        names = {claim.id for claim in claims}
        todays = partial(engine.todays_of_run, claims=claims)
        kept, gone = evidence.prune(folder, todays, names.__contains__)
    except (EvidenceError, OthersError) as error:
        raise bad_input(error) from None
    typer.echo(f"{gone} records removed, {kept} kept in {folder}")


def readme(
    evidence_folder: Folder = None,
    is_check: Annotated[bool, typer.Option("--check", help="Only compare; write nothing.")] = False,
) -> None:
    """Write the README's ledger and pictures from the evidence, or compare them."""
    from verify.site import readme as part

    try:
        found = engine.known(evidence_folder or DEFAULT_EVIDENCE)
        entries = ledger.ledger(engine.CLAIMS, found.records)
        if missing := [e.claim.id for e in entries if e.verdict is Verdict.NOT_RUN]:
            raise part.ReadmeError(
                f"{plural(len(missing), 'statement')} not examined as they are today, such as"
                f" {missing[0]}; run: {examining('', evidence_folder, missing)}"
            )
        if is_check:
            part.check(entries)
        else:
            typer.echo("\n".join(map(str, part.write(entries, found))))
    except (EvidenceError, part.ReadmeError) as error:
        raise bad_input(error) from None
