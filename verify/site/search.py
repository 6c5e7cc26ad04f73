"""What the search knows of pages that are not written again, which Sphinx forgets."""

from __future__ import annotations

from typing import Any


def _remember(app: Any, env: Any) -> None:
    """Give what pages are called to the index that a build begins with."""
    known = env._search_index_index_entries
    for page, entries in env.domains.index_domain.entries.items():
        known[page] = sorted({(name, target, main) for _, name, target, main, _ in entries})


def setup(app: Any) -> dict[str, Any]:
    """Connect after all pages are read, and before any is written."""
    app.connect("env-updated", _remember)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
