"""The command line: the ledger, a check of chosen statements, one instance again."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from theory.statement import Statement
from verify import engine, evidence, ledger
from verify.complaints import bad_input, complain
from verify.evidence import EvidenceError, NoEvidenceError, Record, Writer
from verify.ledger import Entry
from verify.options import DEFAULT_EVIDENCE, Options
from verify.settings import Settings

WIDTH = 180
"""Of a table that goes to a file."""
app = typer.Typer(
    help="The theory of batch normalization, machine-checked.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
FEW = 24
"""So many pairs are examined sooner here than by processes that must start first."""
Folder = Annotated[Path, typer.Option("--evidence", help="Folder of the evidence.")]
Cache = Annotated[Path | None, typer.Option(help="Folder of trained networks.")]
Json = Annotated[bool, typer.Option("--json", help="Print a list of JSON objects.")]


def later(name: str, module: str, about: str) -> None:
    """Add a command whose module is imported, which takes seconds, only when it is asked for."""

    def run(context: typer.Context) -> None:
        command = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        command.command()(getattr(import_module(module), name))
        command(context.args, prog_name=f"python -m verify {name}")

    everything = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(name, help=about, context_settings=everything, add_help_option=False)(run)


later(
    "convolutions",
    "verify.convolutions.command",
    "Examine Prop. 9, 10 and Theorem 4 at the convolutions of ResNet-18 and VGG-16.",
)
later(
    "experiment",
    "verify.experiments.command",
    "Run an experiment of the papers, and say which of their observations appeared.",
)
later(
    "conform",
    "verify.conform.command",
    "Judge somebody's normalisation layer by the closed forms.",
)
later("audit", "verify.audit.command", "Say what the theorems say of somebody's network.")
later(
    "prove",
    "verify.kernel.command",
    "Check the theorems that Coq's kernel checks, from the definitions.",
)


@app.command("ledger")
def show_ledger(
    evidence_folder: Folder = DEFAULT_EVIDENCE,
    as_json: Json = False,
    every: Annotated[
        bool, typer.Option("--all", help="Each reading, correction and line of a proof.")
    ] = False,
) -> None:
    """Print the verdict of every statement, from the evidence of the last run."""
    try:
        records = _known(evidence_folder)
    except EvidenceError as error:
        raise bad_input(error) from None
    _conclude(ledger.ledger(engine.CLAIMS, records), as_json, every)


@app.command()
def show(
    identifiers: Annotated[list[str], typer.Argument(metavar="ID...", help="Which statements.")],
    evidence_folder: Folder = DEFAULT_EVIDENCE,
) -> None:
    """Print statements: what each says, where it stands, its verdict, and why."""
    from verify.show import shown_entry

    try:
        claims = engine.selected(engine.CLAIMS, identifiers)
        exactly = [c for c in claims if c.id in identifiers]
        records = _known(evidence_folder)
    except (ValueError, EvidenceError) as error:
        raise bad_input(error) from None
    typer.echo("\n\n".join(map(shown_entry, ledger.ledger(exactly or claims, records))))


@app.command()
def check(
    identifiers: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Claims or docket rows.")
    ] = None,
    profile: Annotated[str, typer.Option(help="smoke, default or deep.")] = "default",
    backend: Annotated[str, typer.Option(help="numpy, torch, cupy or array-api-strict.")] = "numpy",
    device: Annotated[str, typer.Option(help="The backend's device.")] = "",
    seed: Annotated[int, typer.Option(help="Where random cases start.")] = 0,
    evidence_folder: Annotated[
        Path | None, typer.Option("--evidence", help="Keep the evidence in this folder.")
    ] = None,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Examine statements now: all of them, or those that are named."""
    options = Options(profile, backend, device, seed, evidence_folder or DEFAULT_EVIDENCE, cache)
    try:
        settings = options.settings()
        claims = engine.selected(engine.CLAIMS, identifiers or [])
    except (ValueError, RuntimeError) as error:
        raise bad_input(error) from None
    from verify.training import TrainingError

    try:
        records = _examined(claims, settings, options.writer() if evidence_folder else None)
    except (EvidenceError, TrainingError) as error:
        raise bad_input(error) from None
    _conclude(ledger.ledger(claims, records), as_json)


@app.command()
def page(evidence_folder: Folder = DEFAULT_EVIDENCE) -> None:
    """Write the sources of the site from the evidence; `make docs` builds it."""
    from verify.site.build import write_pages

    try:
        count = write_pages(evidence_folder)
    except EvidenceError as error:
        raise bad_input(error) from None
    typer.echo(f"{count} files below docs/")


@app.command()
def prune(evidence_folder: Folder = DEFAULT_EVIDENCE) -> None:
    """Remove the evidence that changes have outdated."""
    try:
        run = evidence.read(evidence_folder)[0]
        options = Options(run.profile, run.backend, run.device, run.seed)
        kept, gone = evidence.prune(evidence_folder, engine.todays(options.settings()))
    except (EvidenceError, ValueError, RuntimeError) as error:
        raise bad_input(error) from None
    typer.echo(f"{gone} records removed, {kept} kept in {evidence_folder}")


@app.command()
def readme(
    evidence_folder: Folder = DEFAULT_EVIDENCE,
    is_check: Annotated[bool, typer.Option("--check", help="Only compare; write nothing.")] = False,
) -> None:
    """Write the README's ledger and pictures from the evidence, or compare them."""
    from verify.site import readme as part

    try:
        known = engine.known(evidence_folder)
        entries = ledger.ledger(engine.CLAIMS, known.records)
        if is_check:
            part.check(entries)
        else:
            typer.echo("\n".join(map(str, part.write(entries, known.run))))
    except (EvidenceError, part.ReadmeError) as error:
        raise bad_input(error) from None


@app.command()
def reproduce(
    token: Annotated[str, typer.Argument(help="A token from the evidence.")], cache: Cache = None
) -> None:
    """Rebuild one instance from its token and examine every statement there."""
    from verify.reproduce import reproduce as reproduced
    from verify.training import TrainingError

    try:
        lines = reproduced(token, cache)
    except (ValueError, TrainingError) as error:
        raise bad_input(error) from None
    for line in lines:
        typer.echo(line)


def _examined(
    claims: Sequence[Statement], settings: Settings, writer: Writer | None
) -> list[Record]:
    from rich.console import Console
    from rich.progress import track

    from verify import pool
    from verify.progress import prepare

    pairs = engine.pairs(claims, engine.WITNESSES)
    prepare(pairs, settings, Console(stderr=True))
    examine = engine.examine if len(pairs) <= FEW else pool.examine_all
    found = examine(pairs, settings, writer)
    console = Console(stderr=True)
    records = list(track(found, "examining", total=len(pairs), console=console, transient=True))
    if writer is not None:
        writer.close()
    return records


def _known(folder: Path) -> list[Record]:
    """Return the records that are today's, after a word on those that are not."""
    try:
        known = engine.known(folder)
    except NoEvidenceError as error:
        complain(str(error))
        return []
    if known.outdated:
        complain(_outdated(known.outdated))
    return known.records


def _outdated(names: Sequence[str]) -> str:
    listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
    return f"{len(names)} statements changed since they were examined: {listed}; run pytest verify"


def _conclude(entries: Sequence[Entry], as_json: bool, every: bool = True) -> None:
    """Print the entries; the exit status says whether a verdict differs from the expected one."""
    if as_json:
        typer.echo(json.dumps([ledger.as_json(e) for e in entries], indent=1, allow_nan=False))
    else:
        from rich.console import Console

        from verify import report

        report.show(entries, Console(width=None if sys.stdout.isatty() else WIDTH), every)
    if any(entry.is_unexpected for entry in entries):
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
