"""What a campaign found, as a table."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from verify.campaign.finding import Finding, count

SHARES = (0.5, 0.99)
"""Of the quantiles that are shown."""


def table(found: Iterable[Finding]) -> Table:
    """Return a line for each statement and witness."""
    shown = Table(box=None, pad_edge=False)
    shown.add_column("statement", no_wrap=True)
    shown.add_column("witness", no_wrap=True)
    for name in ("seeds", "instances", "violated", "undecided", "median", "99 %", "largest"):
        shown.add_column(name, justify="right")
    shown.add_column("worst", overflow="fold")
    for finding in sorted(found, key=lambda f: f.name):
        shown.add_row(*cells(finding))
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
