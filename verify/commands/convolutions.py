"""The command that examines convolutions of real networks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from verify.complaints import GOES_ON, NOT_KEPT, bad_input, interrupted
from verify.convolutions.findings import Keeper
from verify.convolutions.report import show
from verify.convolutions.run import describe, examine_all
from verify.evidence import EvidenceError
from verify.options import Options
from verify.settings import DEFAULT_EVIDENCE
from verify.subjects.convolutions import SHAPES
from verify.terminal import columns

WIDTH = 220
"""Of a table that goes to a file."""


def convolutions(
    profile: Annotated[str, typer.Option(help="smoke, default or deep.")] = "default",
    backend: Annotated[str, typer.Option(help="numpy, torch, cupy or array-api-strict.")] = "numpy",
    device: Annotated[str, typer.Option(help="The backend's device.")] = "",
    seed: Annotated[int, typer.Option(help="Where random layers start.")] = 0,
    evidence_folder: Annotated[
        Path | None, typer.Option("--evidence", help="Keep the evidence in this folder.")
    ] = None,
) -> None:
    """Examine Prop. 9, 10 and Theorem 4 at the convolutions of ResNet-18 and VGG-16."""
    options = Options(profile, backend, device, seed, evidence_folder or DEFAULT_EVIDENCE)
    try:
        options.settings()
        run = describe(options)
        keeper = Keeper(evidence_folder, run) if evidence_folder else None
    except (ValueError, RuntimeError) as error:
        raise bad_input(error) from None
    total, progress = len(SHAPES[profile]), Console(stderr=True)
    found = examine_all(options, run, keeper)
    try:
        findings = list(track(found, "convolving", total, console=progress, transient=True))
    except EvidenceError as error:
        raise bad_input(error) from None
    except KeyboardInterrupt:
        raise interrupted(GOES_ON if keeper else NOT_KEPT) from None
    show(findings, Console(width=columns(WIDTH)))
    if any(check.is_unexpected for finding in findings for check in finding.checks):
        raise typer.Exit(1)
