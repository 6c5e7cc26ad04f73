"""The page of a statement that several pages tell of: a list of them, with their verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verify.headlines import Headline, headlines
from verify.site.front_page import verdicts
from verify.site.markup import raw as raw_html
from verify.site.markup import table, trail
from verify.site.statements import Group, heading


def page(headline: Headline, groups: Sequence[Group]) -> str:
    """Return the list as MyST text."""
    return (
        f"---\norphan: true\n---\n\n# {headline.title}\n\n"
        f'<p class="where">{trail(groups[0].paper)}</p>\n\n'
        f"Each of these has a page of its own.\n\n{listed(groups)}"
    )


def listed(groups: Iterable[Group]) -> str:
    """Return a table of pages: where each statement stands, what it is about, its verdicts.

    They are those of the ledger's line, as far as the page has them.
    """
    rows = (
        (
            g.claim.locations[0].place,
            f'<a href="{g.name}.html">{heading(g)}</a>',
            _verdicts(g),
        )
        for g in groups
    )
    return raw_html(table(("where", "statement", "verdict"), rows, "overview"))


def _verdicts(group: Group) -> str:
    [line] = headlines(e for e in group.entries if e.claim.result == group.claim.result)
    return verdicts(line)
