"""The findings as a table for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from verify.convolutions import checks
from verify.convolutions.findings import Finding
from verify.report import titled
from verify.tolerance import Outcome

COLOURS = {
    Outcome.HOLDS: "green",
    Outcome.VIOLATED: "red",
    Outcome.UNDECIDED: "magenta",
    Outcome.VACUOUS: "dim",
}
CHECKS = {
    "Prop. 9": checks.PER_SAMPLE,
    "later BN": checks.LATER_WHOLE,
    "in blocks": checks.LATER_BLOCKS,
    "Prop. 10": "mean, as printed",
    "sharper": "mean, sharpened",
    "variance": "variance, ours",
    "Thm 4a": "centring",
    "Thm 4c": "scaling, printed",
}
"""The columns that show a check: their heads and its reading."""
NUMBERS = {
    "kappa": "kappa",
    "of U": "kappa centred",
    "of UD": "kappa preconditioned",
    "by channels": "kappa with channels",
}


WIDE = 170
"""Where a terminal is narrower, a column for each number would show none."""


def table(findings: Sequence[Finding], width: int = WIDE) -> Table:
    """Return one row for each layer; in a narrow terminal with the names beside the numbers."""
    if width < WIDE:
        return _narrow(findings)
    result = titled("Convolutions", "layer")
    for name in ("rows x columns", *CHECKS, *NUMBERS, "s", "MB"):
        result.add_column(name, justify="right", no_wrap=True)
    for finding in findings:
        shape, peak = finding.shape, finding.peak_bytes
        result.add_row(
            shape.name,
            f"{shape.rows(finding.batch):,} x {shape.columns:,}",
            *(_cell(finding, reading) for reading in CHECKS.values()),
            *(f"{finding.numbers[name]:.3g}" for name in NUMBERS.values()),
            f"{finding.seconds:.1f}",
            "" if peak is None else f"{peak / 1e6:,.0f}",
        )
    return result


def _narrow(findings: Sequence[Finding]) -> Table:
    result = titled("Convolutions", "layer", "checks", "condition numbers")
    for finding in findings:
        result.add_row(
            finding.shape.name,
            "\n".join(f"{name}: {_cell(finding, CHECKS[name])}" for name in CHECKS),
            "\n".join(f"{name}: {finding.numbers[NUMBERS[name]]:.3g}" for name in NUMBERS),
        )
    return result


def show(findings: Sequence[Finding], console: Console) -> None:
    """Print the table, where it was made, and what is not as expected."""
    console.print(table(findings, console.width))
    unexpected = [(f, check) for f in findings for check in f.checks if check.is_unexpected]
    for finding, check in unexpected:
        console.print(
            f"not as expected: {finding.shape.name}: {check.statement}, {check.reading}: "
            f"{check.value} against {check.allowed}, {check.outcome.value}",
            highlight=False,
        )
    machines = ", ".join(sorted({finding.machine for finding in findings}))
    gpus = ", ".join(sorted({finding.run.gpu for finding in findings}))
    checks = sum(len(finding.checks) for finding in findings)
    console.print(
        f"{len(findings)} layers, {checks} checks, {len(unexpected)} not as expected; "
        f"{machines}; GPU: {gpus}",
        highlight=False,
    )


def _cell(finding: Finding, reading: str) -> str:
    check = finding.check(reading)
    value = check.outcome.value if check.value is None else f"{check.value:.2g}"
    return f"[{COLOURS[check.outcome]}]{value}[/]"
