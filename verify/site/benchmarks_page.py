"""The formulas' speed and memory next to others', from ``docs/measured/benchmarks.json``."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from verify.site.markup import harmless, raw, table, words

NOT_RUN = "**Not run.** `make bench` measures, and writes what this part is made from.\n"
COLUMNS = ("", "time", "memory", "relative error")


def page(measured: Path) -> str:
    """Return the part of the guide that says what was measured, as ratios to the first of each."""
    if not measured.exists():
        return NOT_RUN
    found: dict[str, Any] = json.loads(measured.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    made = f"Commit <code>{harmless(found['commit'])}</code>, {words(found['started'])}"
    return "\n".join([f"{made}; {words(versions)}.\n", *map(comparison, found["comparisons"])])


def comparison(found: dict[str, Any]) -> str:
    """Return the table of one comparison, as ratios to its first row."""
    count = found["threads"]
    threads = "one thread" if count == 1 else f"{count} threads"
    held = found["rows"][0]["megabytes"]
    rows = [
        (
            escape(row["name"]),
            f"{row['time']:.2f}",
            f"{row['megabytes'] / held:.2f}",
            "" if row["error"] is None else f"{row['error']:.1e}",
        )
        for row in found["rows"]
    ]
    title = f"**{words(found['job'])}**, {threads}\n"
    return f"{title}\n{raw(table(COLUMNS, rows, 'witnesses'))}"
