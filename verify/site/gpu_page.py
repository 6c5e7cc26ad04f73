"""What was measured on a GPU, from ``docs/measured/gpu.json``; "not run" where nothing was."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from typing import Any

from verify.site.benchmarks_page import tables
from verify.site.markup import harmless, raw, table, words

NOT_RUN = (
    "**Not run.** No machine with CUDA was at hand. `make gpu` on one measures what is listed"
    " below and writes `docs/measured/gpu.json`, from which this part of the page is made.\n"
)


def page(measured: Path) -> str:
    """Return the part of the guide that says what was measured."""
    if not measured.exists():
        return NOT_RUN
    found: dict[str, Any] = json.loads(measured.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    rows = [
        (
            escape(step["what"]),
            f"<code>{escape(step['command'])}</code>",
            "ended well" if step["status"] == 0 else f"ended with {step['status']}",
            f"{step['seconds']:.0f}",
        )
        for step in found["steps"]
    ]
    outputs = "\n".join(
        f"<details><summary>{escape(step['what'])}</summary>"
        f"<pre>{escape(step['output'])}</pre></details>"
        for step in found["steps"]
    )
    return "\n".join(
        [
            f"On {words(found['device'])}, commit <code>{harmless(found['commit'])}</code>,"
            f" {words(found['started'])}; {words(versions)}.\n",
            raw(table(("what", "command", "status", "seconds"), rows, "witnesses")),
            *tables(found.get("comparisons", ())),
            raw(outputs),
        ]
    )
