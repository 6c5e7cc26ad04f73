"""One page for each paper: its statements in the paper's order, with their verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from theory.statement import Paper
from verify.site.markup import chip, formula_or_words, plural
from verify.site.statements import Group, title


def page(paper: Paper, statements: Sequence[Group]) -> str:
    """Return the paper's page as MyST text."""
    printings = {
        key: [s for s in statements if s.claim.locations[0].text == key] for key in paper.texts
    }
    parts = [f"# {paper.short}\n", f"{paper.citation}.\n"]
    for key, found in printings.items():
        if found:
            parts.append(f"## {paper.texts[key].capitalize()}\n")
            parts.extend(_item(statement) for statement in found)
    if not statements:
        parts.append("No statement of this paper is in the ledger yet.\n")
    return "\n".join(parts)


def _item(statement: Group) -> str:
    first, *others = statement.entries
    more = f"and {plural(len(others), 'reading or form', 'readings and forms')}" if others else ""
    line = " ".join(chip(e.verdict) for e in statement.entries[:1])
    titles = "; ".join(f"{title(e.claim).lower()}: {e.verdict.value}" for e in others)
    hint = f' <small title="{titles}">{more}</small>' if more else ""
    return (
        f'<p class="item"><a class="claim" href="{statement.name}.html">{statement.name}</a>'
        f" <span>{first.claim.locations[0].place}</span> {line}{hint}</p>\n\n"
        f"{formula_or_words(first.claim.statement, displayed=True)}\n"
    )
