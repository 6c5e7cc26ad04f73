"""The command line: the ledger, a check of chosen statements, one instance again."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from theory.statement import Statement
from verify import engine, evidence, ledger, pool, report
from verify.complaints import bad_input, complain
from verify.conform.command import conform
from verify.convolutions.command import convolutions
from verify.evidence import EvidenceError, NoEvidenceError, Record, Writer
from verify.experiments.command import experiment
from verify.ledger import Entry
from verify.options import DEFAULT_EVIDENCE, Options
from verify.progress import prepare
from verify.reproduce import reproduce as reproduced
from verify.training import TrainingError
from verify.witnesses.table import WITNESSES
from verify.witnesses.witness import Settings

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


app.command()(conform)
app.command()(convolutions)
app.command()(experiment)


@app.command("ledger")
def show_ledger(evidence_folder: Folder = DEFAULT_EVIDENCE, as_json: Json = False) -> None:
    """Print the verdict of every statement, from the evidence of the last run."""
    try:
        _, records = evidence.read(evidence_folder)
    except NoEvidenceError as error:
        complain(str(error))
        records = []
    except EvidenceError as error:
        raise bad_input(error) from None
    _conclude(ledger.ledger(engine.CLAIMS, records), as_json)


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
def readme(
    evidence_folder: Folder = DEFAULT_EVIDENCE,
    is_check: Annotated[bool, typer.Option("--check", help="Only compare; write nothing.")] = False,
) -> None:
    """Write the README's ledger and pictures from the evidence, or compare them."""
    from verify.site import readme as part

    try:
        run, records = evidence.read(evidence_folder)
        entries = ledger.ledger(engine.CLAIMS, records)
        if is_check:
            part.check(entries)
        else:
            typer.echo("\n".join(map(str, part.write(entries, run))))
    except (EvidenceError, part.ReadmeError) as error:
        raise bad_input(error) from None


@app.command()
def reproduce(
    token: Annotated[str, typer.Argument(help="A token from the evidence.")], cache: Cache = None
) -> None:
    """Rebuild one instance from its token and examine every statement there."""
    try:
        lines = reproduced(token, cache)
    except (ValueError, TrainingError) as error:
        raise bad_input(error) from None
    for line in lines:
        typer.echo(line)


def _examined(
    claims: Sequence[Statement], settings: Settings, writer: Writer | None
) -> list[Record]:
    pairs = engine.pairs(claims, WITNESSES)
    prepare(pairs, settings, Console(stderr=True))
    examine = engine.examine if len(pairs) <= FEW else pool.examine_all
    found = examine(pairs, settings, writer)
    console = Console(stderr=True)
    records = list(track(found, "examining", total=len(pairs), console=console, transient=True))
    if writer is not None:
        engine.finish(writer, WITNESSES)
    return records


def _conclude(entries: Sequence[Entry], as_json: bool) -> None:
    """Print the entries; the exit status says whether a verdict differs from the expected one."""
    if as_json:
        typer.echo(json.dumps([ledger.as_json(e) for e in entries], indent=1, allow_nan=False))
    else:
        report.show(entries, Console(width=None if sys.stdout.isatty() else WIDTH))
    if any(entry.is_unexpected for entry in entries):
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
