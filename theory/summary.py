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


class Section(StrEnum):
    """What a line is to its paper."""

    RESULTS = "Results"
    REMARKS = "Remarks"
    PROOFS = "Proofs and equations"


@dataclass(frozen=True)
class Line:
    """One statement of a paper."""

    result: str
    """The ``result`` that its entries belong to."""
    section: Section
    title: str
    parts: Mapping[str, str] = field(default_factory=dict)
    """The entries whose verdicts the line shows, by a few words that tell them apart; the first
    is displayed.  Without any, the verdicts of all that the text has are counted."""


OWN = {"": ""}
"""The one entry that a line shows, where it is the one that the result is named after."""


def lines_of(section: Section) -> Callable[..., Line]:
    """Return what makes lines of a section; identifiers are written without the result."""

    def line(result: str, title: str, parts: Mapping[str, str] | None = None) -> Line:
        shown = {words: result + end for words, end in (parts or {}).items()}
        return Line(result, section, title, shown)

    return line


def complaints(lines: Sequence[Line], claims: Sequence[Statement]) -> Iterator[str]:
    """Yield what is wrong with a table of lines for its statements, if anything is."""
    results = {claim.id: claim.result for claim in claims}
    for result, count in Counter(line.result for line in lines).items():
        if count > 1:
            yield f"{result}: {count} lines; keep one"
    for result in sorted(set(results.values()) - {line.result for line in lines}):
        yield f"{result}: has no line"
    for line in lines:
        for identifier in line.parts.values():
            if results.get(identifier) != line.result:
                yield f"{line.result}: shows {identifier}, which is none of its entries"
