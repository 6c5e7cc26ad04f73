"""What a list of statements must be before any of them is examined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from theory.statement import Form, Statement, Verdict


class CatalogueError(ValueError):
    """A list of statements is wrong in itself; the message names the statement and says how."""


def checked(claims: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, if they are a catalogue.

    Raises:
        CatalogueError: a statement is wrong in itself, or two cannot be told apart.
    """
    complaints = [complaint for check in CHECKS for complaint in check(claims)]
    if complaints:
        raise CatalogueError("\n".join(complaints))
    return tuple(claims)


def _same_name(claims: Sequence[Statement]) -> Iterator[str]:
    for name, count in Counter(claim.id for claim in claims).items():
        if count > 1:
            yield f"{name}: {count} statements have this identifier; give each its own"


def _same_display(claims: Sequence[Statement]) -> Iterator[str]:
    seen: dict[tuple[object, ...], str] = {}
    for claim in claims:
        hypotheses = frozenset(h.statement for h in claim.hypotheses)
        key = claim.statement, hypotheses, claim.reading, _subject(claim)
        if not claim.unreadable and seen.setdefault(key, claim.id) != claim.id:
            yield (
                f"{claim.id}: says what {seen[key]} says, under the same hypotheses and in the "
                "same reading; make them one statement in several places, or show what differs"
            )


def _subject(claim: Statement) -> str:
    return str(getattr(claim, "subject", type(claim).__name__))


def _neither_expression_nor_words(claims: Sequence[Statement]) -> Iterator[str]:
    for claim in claims:
        if (claim.says is None) is not bool(claim.in_words) and not claim.unreadable:
            yield (
                f"{claim.id}: give either says= (an expression) or in_words= (why it is none, with "
                "statement=, sides= and relation=)"
            )


def _untitled(claims: Sequence[Statement]) -> Iterator[str]:
    yield from (f"{c.id}: give a title= of a few plain words" for c in claims if not c.title)


def _nowhere(claims: Sequence[Statement]) -> Iterator[str]:
    yield from (f"{c.id}: give the places where it stands" for c in claims if not c.locations)


def _lost_links(claims: Sequence[Statement]) -> Iterator[str]:
    names = {claim.id for claim in claims}
    for claim in claims:
        for field, target in (("of", claim.of), ("corrected_by", claim.corrected_by)):
            if target is not None and target not in names:
                yield f"{claim.id}: {field} names {target}, which is no statement"


def _unfalsifiable(claims: Sequence[Statement]) -> Iterator[str]:
    for claim in claims:
        is_printed = claim.form is Form.PRINTED and not claim.unreadable
        if is_printed and not claim.falsified_by and claim.expected is Verdict.SUPPORTED:
            yield f"{claim.id}: say in falsified_by= what would falsify it"


Check = Callable[[Sequence[Statement]], Iterator[str]]
CHECKS: tuple[Check, ...] = (
    _same_name,
    _same_display,
    _neither_expression_nor_words,
    _untitled,
    _nowhere,
    _lost_links,
    _unfalsifiable,
)
