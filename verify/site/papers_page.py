"""One page for each paper: its statements in the paper's order, with their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from theory.statement import Form, Paper
from verify.site.result_page import listed
from verify.site.statements import Group
from verify.wording import plural


def page(paper: Paper, statements: Sequence[Group]) -> str:
    """Return the paper's page as MyST text."""
    printings = {
        key: [s for s in statements if s.claim.locations[0].text == key] for key in paper.texts
    }
    parts = [f"# {paper.short}\n", f"{paper.citation}.\n"]
    for key, found in printings.items():
        if found:
            parts.append(f"## {paper.texts[key].capitalize()}\n")
            parts += _with_steps_folded(found)
    if not statements:
        parts.append("No statement of this paper is in the ledger yet.\n")
    return "\n".join(parts)


def _with_steps_folded(found: Sequence[Group]) -> Iterator[str]:
    steps = [group for group in found if group.claim.form is Form.STEP]
    if results := [group for group in found if group not in steps]:
        yield listed(results)
    if steps:
        summary = plural(len(steps), "line of proofs", "lines of proofs")
        yield f"<details><summary>{summary}</summary>\n\n{listed(steps)}\n</details>\n"
