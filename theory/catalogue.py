"""What a list of statements must be before any of them is examined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from theory.language.binding import as_seen
from theory.language.definitions import sides_of_each
from theory.language.expression import (
    Abbreviation,
    Apply,
    Derivative,
    Expression,
    Letter,
    Number,
    Relation,
    Says,
    walk,
)
from theory.language.latex import AS_IT_IS, shown
from theory.language.letters import attribute_of
from theory.language.plain import plain
from theory.statement import (
    Form,
    Hypothesis,
    Paper,
    Reading,
    Statement,
    Verdict,
    letters_of,
    sign_of_slack,
)
from theory.unit import eps

IDENTIFIER = re.compile(r"(?!.*--)\w[\w.+-]*(/\w[\w.+-]*)*")
"""Of a statement; it names files too, where "--" stands for "/"."""


@dataclass(frozen=True)
class Complaint:
    """What is wrong with a statement, and what to do."""

    id: str
    says: str

    def __str__(self) -> str:
        return f"{self.id}: {self.says}"


class CatalogueError(ValueError):
    """A list of statements is wrong in itself; the message names the statement and says how."""

    def __init__(self, complaints: Sequence[Complaint]):
        super().__init__("\n".join(map(str, complaints)))
        self.complaints = tuple(complaints)


def checked(claims: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return the statements, if they are a catalogue.

    Raises:
        CatalogueError: a statement is wrong in itself, or two cannot be told apart.
    """
    complaints = [complaint for check in CHECKS for complaint in check(claims)]
    if complaints:
        raise CatalogueError(complaints)
    return tuple(claims)


def _misnamed(claims: Sequence[Statement]) -> Iterator[Complaint]:
    for claim in claims:
        if not IDENTIFIER.fullmatch(claim.id):
            yield Complaint(
                claim.id,
                "an identifier is of letters, digits and single . + - _, parts after the first "
                'behind a "/" each, such as "mine-2/corrected"',
            )
        for paper in dict.fromkeys(place.paper for place in claim.locations):
            if not IDENTIFIER.fullmatch(paper.key) or "/" in paper.key:
                yield Complaint(claim.id, f"the key of a paper is one word, not {paper.key!r}")


def _same_name(claims: Sequence[Statement]) -> Iterator[Complaint]:
    for name, count in Counter(claim.id for claim in claims).items():
        if count > 1:
            yield Complaint(name, f"{count} statements have this identifier; give each its own")


def _same_key(claims: Sequence[Statement]) -> Iterator[Complaint]:
    first: dict[str, Paper] = {}
    for claim in claims:
        for paper in (place.paper for place in claim.locations):
            if first.setdefault(paper.key, paper) != paper:
                yield Complaint(
                    claim.id,
                    f"stands in {paper.short!r}, whose key {paper.key!r} is that of "
                    f"{first[paper.key].short!r} too; give each paper a key of its own",
                )


def _same_display(claims: Sequence[Statement]) -> Iterator[Complaint]:
    alike: dict[tuple[object, ...], list[Statement]] = {}
    for claim in claims:
        if not claim.unreadable:
            hypotheses = frozenset(h.statement for h in claim.hypotheses)
            key = claim.statement, hypotheses, claim.reading, _subject(claim)
            alike.setdefault(key, []).append(claim)
    for few in alike.values():
        yield from _same_letters(few) if len(few) > 1 else ()


def _same_letters(alike: Sequence[Statement]) -> Iterator[Complaint]:
    """Complain of those whose names and letters, too, stand for the same."""
    seen: dict[tuple[str, ...], str] = {}
    for claim in alike:
        first = seen.setdefault(tuple(claim.where), claim.id)
        if first != claim.id:
            yield Complaint(
                claim.id,
                f"says what {first} says, under the same hypotheses and in the same reading; "
                "make them one statement in several places, or show what differs",
            )


def _subject(claim: Statement) -> str:
    return str(getattr(claim, "subject", type(claim).__name__))


def _speechless(claims: Sequence[Statement]) -> Iterator[Complaint]:
    for claim in claims:
        if claim.says is None and not claim.unreadable:
            yield Complaint(claim.id, "give says=, a relation of two expressions")


def _untitled(claims: Sequence[Statement]) -> Iterator[Complaint]:
    for claim in claims:
        if not claim.title:
            yield Complaint(claim.id, "give a title= of a few plain words")


def _nowhere(claims: Sequence[Statement]) -> Iterator[Complaint]:
    for claim in claims:
        if not claim.locations:
            yield Complaint(
                claim.id,
                "give the places where it stands, such as "
                'locations=(Location("notes", 1, "Sect. 2, eq. (3)", "a few words of it"),)',
            )


def _unread(claims: Sequence[Statement]) -> Iterator[Complaint]:
    """Complain where a statement speaks of epsilon, by any name, and is read without one."""
    for claim in claims:
        of_epsilon = [l.name for l in letters_of(claim) if source_of(l) == source_of(eps)]
        if of_epsilon and not claim.reading.has_epsilon:
            alias = "" if of_epsilon[0] == eps.name else f" as {of_epsilon[0]}"
            yield Complaint(
                claim.id,
                f"speaks of eps{alias}, which is 0 in its reading; give "
                f"reading=Reading.{Reading.SHARED_EPSILON.name}",
            )


def source_of(letter: Letter) -> Any:
    """Return the attribute that a letter reads, or the function that it is worth."""
    return attribute_of(letter) or letter.value


def _assumed(claims: Sequence[Statement]) -> Iterator[Complaint]:
    for claim in claims:
        if claim.says is not None and any(_implies(h, claim.says) for h in claim.hypotheses):
            yield Complaint(claim.id, "what it says is one of its hypotheses; leave that one out")


IMPLIED = {
    Relation.EQUAL: (Relation.EQUAL, Relation.AT_LEAST),
    Relation.MORE_THAN: (Relation.MORE_THAN, Relation.AT_LEAST),
    Relation.AT_LEAST: (Relation.AT_LEAST,),
}
"""What is known of a difference of sides by how a hypothesis relates it to zero."""


def _implies(hypothesis: Hypothesis, says: Says) -> bool:
    """Whether a hypothesis says what is said, in whatever order its sides stand, or more."""
    is_enough = sign_of_slack(says.relation) in IMPLIED.get(hypothesis.sign, ())
    if not is_enough:
        return False
    turned = Says(says.claimed, says.relation, says.actual)
    is_equation = hypothesis.sign is Relation.EQUAL
    return hypothesis.slack in ([says.slack, turned.slack] if is_equation else [says.slack])


def _ambiguous(claims: Sequence[Statement]) -> Iterator[Complaint]:
    for claim in claims:
        nodes = [*walk(*sides_of_each(claim.said))]
        for name in dict.fromkeys([*_displayed_alike(nodes), *_captured(nodes)]):
            yield Complaint(
                claim.id, f"displays {name} for two different things; give each a name of its own"
            )


def _displayed_alike(nodes: Sequence[Expression]) -> Iterator[str]:
    """Yield names and letters that something else in a statement is displayed as."""
    displayed: dict[str, dict[Expression, str]] = {}
    for node in nodes:
        if not (isinstance(node, Number) or _is_variable(node)):
            for text in _texts(node):
                displayed.setdefault(as_seen(text), {})[node] = text
    for alike in (nodes for nodes in displayed.values() if len(nodes) > 1):
        named = [text for node, text in alike.items() if isinstance(node, Letter | Abbreviation)]
        if named and len(set(map(_meaning, alike))) > 1:
            yield named[0]


def _captured(nodes: Sequence[Expression]) -> Iterator[str]:
    """Yield variables of derivatives that something else in their functions is displayed as."""
    for derivative in nodes:
        if isinstance(derivative, Derivative):
            body, variable = derivative.body, derivative.variable
            names = (node for node in walk(body) if isinstance(node, Abbreviation))
            own = {*map(as_seen, _texts(variable))}
            others = {*body.free, *names} - {variable}
            if any(not own.isdisjoint(map(as_seen, _texts(other))) for other in others):
                yield variable.latex


def _texts(node: Expression) -> list[str]:
    """Return how something is displayed: a letter as LaTeX and as text."""
    return [shown(node).text, *([node.name] if isinstance(node, Letter) else [])]


def _is_variable(node: Expression) -> bool:
    return isinstance(node, Letter) and node.value is None


def _meaning(node: Expression) -> Any:
    """Return what tells a node from others: where a letter's value is from, of others the text."""
    match node:
        case Letter():
            return source_of(node)
        case Abbreviation(body=body):
            return _meaning(body)
        case Apply(operation, (operand,)) if operation.latex == AS_IT_IS:
            return _meaning(operand)
    return plain(node)


def _lost_links(claims: Sequence[Statement]) -> Iterator[Complaint]:
    known = {claim.id: claim for claim in claims}
    for claim in claims:
        for field, target in (("amends", claim.amends), ("corrected_by", claim.corrected_by)):
            if target is not None and target not in known:
                yield Complaint(claim.id, f"{field} names {target}, which is no statement")
        right = known.get(claim.corrected_by or "")
        if right is not None and right.expected not in (Verdict.PROVED, Verdict.SUPPORTED):
            yield Complaint(
                claim.id,
                f"corrected_by names {right.id}, which is expected to be {right.expected.value}; "
                "name a statement that holds",
            )


def _misfiled(claims: Sequence[Statement]) -> Iterator[Complaint]:
    for claim in claims:
        is_amendment = claim.form in (Form.CORRECTED, Form.SHARPENED)
        if is_amendment and claim.amends is None:
            yield Complaint(claim.id, f"is {claim.form.value}; say of what with amends=")
        if claim.amends is not None and not is_amendment:
            yield Complaint(claim.id, "amends= is for what is corrected or sharpened")
        if bool(claim.unreadable) is not (claim.expected is Verdict.UNREADABLE):
            yield Complaint(
                claim.id, "unreadable= says why, and goes with expected=Verdict.UNREADABLE"
            )


Check = Callable[[Sequence[Statement]], Iterator[Complaint]]
CHECKS: tuple[Check, ...] = (
    _misnamed,
    _same_name,
    _same_key,
    _same_display,
    _speechless,
    _untitled,
    _nowhere,
    _unread,
    _assumed,
    _ambiguous,
    _lost_links,
    _misfiled,
)
