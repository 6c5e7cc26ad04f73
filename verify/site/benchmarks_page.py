"""The formulas' speed and memory next to others', from ``docs/measured/benchmarks.json``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from verify.site.markup import harmless, raw, table, words
from verify.wording import plural

NOT_RUN = "**Not run.** `make bench` measures, and writes what this part is made from.\n"
Comparison = Mapping[str, Any]
"""What ``benchmarks/comparison.py`` writes of contenders for one job, at one size."""


def page(measured: Path) -> str:
    """Return the part of the guide that says what was measured, as ratios to the first of each."""
    if not measured.exists():
        return NOT_RUN
    found: dict[str, Any] = json.loads(measured.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    made = f"Commit <code>{harmless(found['commit'])}</code>, {words(found['started'])}"
    return "\n".join([f"{made}; {words(versions)}.\n", *tables(found["comparisons"])])


def tables(comparisons: Iterable[Comparison]) -> list[str]:
    """Return a table for each job: a row for each size, a column for each contender."""
    jobs = sorted(comparisons, key=_job)
    return [part for job, same in groupby(jobs, _job) for part in _table(job, list(same))]


def _job(found: Comparison) -> str:
    return str(found["job"]).partition(", ")[0]


def _table(job: str, comparisons: list[Comparison]) -> list[str]:
    names = list(dict.fromkeys(row["name"] for found in comparisons for row in found["rows"]))
    rows = []
    for found in comparisons:
        cells = {row["name"]: _cell(row, found["rows"][0]["megabytes"]) for row in found["rows"]}
        size = f"{found['job'].partition(', ')[2]}, {plural(found['threads'], 'thread')}"
        rows.append((escape(size), *(cells.get(name, "") for name in names)))
    header = ("", *map(escape, names))
    return [f"**{words(job)}**\n", raw(table(header, rows, "implementations benchmarks"))]


def _cell(row: Mapping[str, Any], held: float) -> str:
    """Return the time, and below it memory and relative error."""
    error = "" if row["error"] is None else f"<br>{row['error']:.1e}"
    memory = f"{row['megabytes'] / held:.2f}"
    return f'{row["time"]:.2f}<small class="unbroken">{memory}{error}</small>'
