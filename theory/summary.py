"""A paper's statements, one line each, as its authors use them.

A statement has many entries: readings of its words, readings of epsilon, corrections, lines of a
proof.  A line names the few that a reader wants to know of; a table of lines stands next to a
paper's statements, in the order in which they are read: results, remarks, proofs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from theory.statement import Statement

__all__ = ["OWN", "Line", "Section", "complaints", "lines_of"]


class Section(StrEnum):
    """What a line is to its paper."""

    RESULTS = "Results"
    REMARKS = "Remarks"
    PROOFS = "Proofs and equations"


@dataclass(frozen=True)
class Line:
    """One statement of a paper."""

    row: str
    """The ``row`` that its entries have."""
    section: Section
    title: str
    parts: Mapping[str, str] = field(default_factory=dict)
    """The entries whose verdicts the line shows, by a few words that tell them apart; the first
    is displayed.  Without any, the verdicts of all that the text has are counted."""


OWN = {"": ""}
"""The one entry that a line shows, where it is the one that the row is named after."""


def lines_of(section: Section) -> Callable[..., Line]:
    """Return what makes lines of a section; of the identifiers of entries, the row is left out."""

    def line(row: str, title: str, parts: Mapping[str, str] | None = None) -> Line:
        return Line(row, section, title, {words: row + end for words, end in (parts or {}).items()})

    return line


def complaints(lines: Sequence[Line], claims: Sequence[Statement]) -> Iterator[str]:
    """Yield what is wrong with a table of lines for its statements, if anything is."""
    rows = {claim.id: claim.row for claim in claims}
    for row, count in Counter(line.row for line in lines).items():
        if count > 1:
            yield f"{row}: {count} lines; keep one"
    for row in sorted(set(rows.values()) - {line.row for line in lines}):
        yield f"{row}: has no line"
    for line in lines:
        for identifier in line.parts.values():
            if rows.get(identifier) != line.row:
                yield f"{line.row}: shows {identifier}, which is none of its entries"
