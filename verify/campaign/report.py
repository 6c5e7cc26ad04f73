"""What a campaign found, as a table."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from verify.campaign.finding import Finding, count
from verify.report import titled

SHARES = (0.5, 0.99)
"""Of the quantiles that are shown."""


COUNTS = ("seeds", "instances", "violated", "undecided")
RATIOS = ("median", "99 %", "largest")
WIDE = 140
"""Where a terminal is narrower, a column for each number would show none."""


def table(found: Iterable[Finding], width: int = WIDE) -> Table:
    """Return a line for each statement and witness; in a narrow terminal with named numbers."""
    if width < WIDE:
        return _narrow(found)
    shown = Table(box=None, pad_edge=False)
    shown.add_column("statement", no_wrap=True)
    shown.add_column("witness", no_wrap=True)
    for name in (*COUNTS, *RATIOS):
        shown.add_column(name, justify="right")
    shown.add_column("worst", overflow="fold")
    for finding in sorted(found, key=lambda f: f.name):
        shown.add_row(*cells(finding))
    return shown


def _narrow(found: Iterable[Finding]) -> Table:
    shown = titled(None, "statement, witness", "found", "ratio", "worst")
    for finding in sorted(found, key=lambda f: f.name):
        statement, witness, *numbers, worst = cells(finding)
        said = dict(zip((*COUNTS, *RATIOS), numbers, strict=True))
        shown.add_row(
            f"{statement}\n{witness}",
            "\n".join(f"{name}: {said[name]}" for name in COUNTS),
            "\n".join(f"{name}: {said[name]}" for name in RATIOS if said[name]),
            worst,
        )
    return shown


def cells(finding: Finding) -> list[str]:
    """Return a line's cells."""
    worst = next(iter(finding.violations or finding.worst), None)
    numbers = (count(finding.seeds), finding.instances, finding.violated, finding.undecided)
    return [
        finding.claim,
        finding.witness,
        *(f"{number:,}" for number in numbers),
        *(_number(finding.quantile(share)) for share in SHARES),
        _number(finding.worst[0].ratio if finding.worst else None),
        "" if worst is None else worst.token or f"seed {worst.seed}",
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"
