"""The ledger's entries as the site groups them: one page for each statement of a paper.

A claim's identifier begins with its statement's, ``S-thm-4.1/eps/corrected`` with ``S-thm-4.1``;
readings and corrections of a statement share its page, each at an anchor of its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from theory.statement import Form, Paper, Reading, Statement
from verify.grouping import grouped
from verify.headlines import LINES, Headline
from verify.ledger import Entry
from verify.site.numbers import with_signs

_WORD = re.compile(r"(a|[a-z][a-z'-]+)(?![^\s:,;])")
"""What a title may begin with that is no symbol."""
TITLES = {line.result: line.title for line in LINES}
FIRST = {line.result: next(iter(line.parts.values())) for line in LINES if line.parts}
"""The entry that the ledger's line shows, by the line's name."""


@dataclass(frozen=True)
class Group:
    """One statement as printed, with its readings, corrections and sharper forms."""

    name: str
    entries: tuple[Entry, ...]
    where: str = ""
    """Its equation, where another statement is called alike."""

    @property
    def claim(self) -> Statement:
        """The claim that stands for the statement: the first."""
        return self.entries[0].claim

    @cached_property
    def paper(self) -> Paper:
        """The paper that prints it."""
        return paper_of(self.claim)


def statements(entries: Iterable[Entry]) -> list[Group]:
    """Return the entries grouped by statement, each paper's in the paper's order."""
    by_name = grouped(entries, lambda entry: name_of(entry.claim.id))
    groups = [Group(name, tuple(_printed_first(found))) for name, found in by_name.items()]
    known = papers(groups)
    alike = Counter(map(heading, groups))
    groups = [replace(g, where=_equation(g.claim)) if alike[heading(g)] > 1 else g for g in groups]
    return sorted(groups, key=lambda s: (known.index(s.paper), place_in_order(s.claim)))


def _equation(claim: Statement) -> str:
    """Return the last part of a statement's place, and the text if it is not the paper's main one.

    >>> from theory.santurkar2018.theorem_4_1 import PRINTED, SUPPLEMENT
    >>> _equation(PRINTED), _equation(SUPPLEMENT)
    ('Theorem 4.1', 'Theorem 4.1, supplement')
    """
    first = claim.locations[0]
    main, *_ = first.paper.texts or [first.text]
    text = "" if first.text == main else f", {first.paper.texts.get(first.text, first.text)}"
    return first.place.rpartition(", ")[2] + text


def papers(grouped: Iterable[Group]) -> list[Paper]:
    """Return the papers that statements stand in, in the order in which they are met."""
    return list(dict.fromkeys(group.paper for group in grouped))


def _printed_first(entries: Sequence[Entry]) -> list[Entry]:
    """Order what the ledger's line shows first, epsilon last, a correction after what it corrects.

    Where no line shows one of them, the first is the one that the page is named after.
    """

    def place(entry: Entry) -> tuple[bool, bool, int]:
        claim, name = entry.claim, name_of(entry.claim.id)
        return (claim.id != FIRST.get(name, name), claim.reading.has_epsilon, _depth(claim))

    return sorted(entries, key=place)


def _depth(claim: Statement) -> int:
    return list(Form).index(claim.form)


def place_in_order(claim: Statement) -> tuple[int, int]:
    """Return what sorts the claims of one paper in its order."""
    first = claim.locations[0]
    texts = list(first.paper.texts)
    return texts.index(first.text) if first.text in texts else len(texts), first.line


def name_of(identifier: str) -> str:
    """Return the statement's part of a claim's identifier."""
    return identifier.partition("/")[0]


def page_of(line: Headline) -> str:
    """Return the page that a line of the ledger leads to: that of what it shows, or a list."""
    own = {name_of(entry.claim.id) for entry in line.entries}
    return name_of(line.first.claim.id) if line.name in own else line.name


def address(identifier: str) -> str:
    """Return a claim's permanent address from the root of the site.

    >>> address("S-thm-4.1/eps")
    'statements/S-thm-4.1.html#S-thm-4.1/eps'
    """
    return f"statements/{name_of(identifier)}.html#{identifier}"


def paper_of(claim: Statement) -> Paper:
    """Return the paper that a claim stands in first."""
    return claim.locations[0].paper


def plain_title(claim: Statement) -> str:
    """Return what a claim is about as a heading has it; a symbol that it begins with stays.

    >>> from theory.santurkar2018.lemma_4_5 import CLAIMS
    >>> next(plain_title(claim) for claim in CLAIMS if "gives" in claim.title)
    'kW* gives the outputs of W*'
    """
    told = with_signs(claim.title) or claim.id
    return told[:1].upper() + told[1:] if _WORD.match(told) else told


def heading(group: Group) -> str:
    """Return what a page is about.

    Where the ledger's line shows the statement that the page begins with, it is the line's title;
    where another page would be called alike, with the equation.
    """
    own = plain_title(group.claim)
    is_elsewhere = FIRST.get(group.name, group.claim.id) != group.claim.id
    told = own if is_elsewhere else TITLES.get(group.name, own)
    return f"{told}, {group.where}" if group.where else told


def reading_in_short(reading: Reading) -> str:
    """Return what a reading makes of epsilon, in a few characters."""
    return {
        Reading.NO_EPSILON: "ϵ = 0",
        Reading.SHARED_EPSILON: "ϵ > 0",
        Reading.UNIT_VARIANCE: "ϵ > 0, ŷ of unit variance",
    }[reading]


FORMS = {
    Form.PRINTED: "As printed",
    Form.STEP: "In the proof",
    Form.READING: "As read",
    Form.BOUNDARY: "Not claimed",
    Form.CORRECTED: "Corrected",
    Form.SHARPENED: "Sharpened",
}


def title(claim: Statement) -> str:
    """Return what a claim is to its statement: its form and its reading.

    >>> from theory.santurkar2018.theorem_4_1 import SUPPLEMENT_SHARED
    >>> title(SUPPLEMENT_SHARED)
    'As read, ϵ > 0'
    """
    reading = f", {reading_in_short(claim.reading)}" if claim.reading.has_epsilon else ""
    return FORMS[claim.form] + reading


def section_title(claim: Statement, others: Iterable[Statement]) -> str:
    """Return what tells a claim from the others of its statement.

    Where titles and forms do not, the words of its identifier do.

    >>> from theory.santurkar2018.theorem_4_1 import PRINTED, TWO_NETWORKS
    >>> section_title(PRINTED, [PRINTED, TWO_NETWORKS])
    "The gradient's norm with and without the layer (as printed)"
    >>> section_title(TWO_NETWORKS, [TWO_NETWORKS, TWO_NETWORKS])
    "The norms of two networks' gradients, each at its own point, “two networks” (as read)"
    """
    told = claim.title, title(claim)
    alike = sum((other.title, title(other)) == told for other in others) > 1
    known = {"eps", "eps-unit", "corrected", "sharpened", *{p.lower() for p in Form}}
    names = [part for part in claim.id.split("/")[1:] if part not in known]
    which = f", “{', '.join(names).replace('-', ' ')}”" if names and alike else ""
    return f"{plain_title(claim)}{which} ({title(claim).lower()})"
