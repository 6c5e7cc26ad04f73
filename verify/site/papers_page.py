"""One page for each paper: its statements in the paper's order, with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from theory.statement import Paper
from verify.site.row_page import listed
from verify.site.statements import Group


def page(paper: Paper, statements: Sequence[Group]) -> str:
    """Return the paper's page as MyST text."""
    printings = {
        key: [s for s in statements if s.claim.locations[0].text == key] for key in paper.texts
    }
    parts = [f"# {paper.short}\n", f"{paper.citation}.\n"]
    for key, found in printings.items():
        if found:
            parts.append(f"## {paper.texts[key].capitalize()}\n")
            parts.append(listed(found))
    if not statements:
        parts.append("No statement of this paper is in the ledger yet.\n")
    return "\n".join(parts)
