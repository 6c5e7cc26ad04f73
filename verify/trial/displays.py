"""Whether what a statement of others displays is taken for something else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, combinations
from typing import Any

from theory import descent, layer, maps, unit
from theory.catalogue import Complaint, source_of
from theory.claim import Claim
from theory.expectation_claim import ExpectationClaim
from theory.language import arrays, operations
from theory.language.binding import as_seen
from theory.language.expression import Abbreviation, Apply, Expression, Letter, Operation
from theory.language.latex import AS_IT_IS
from theory.language.letters import attribute_of
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Statement, letters_of, values_of
from verify.grouping import grouped
from verify.letters import nodes
from verify.trial.instances import instance, same

MODULES: dict[Any, Any] = {
    None: unit, Kind.LAYER: layer, Kind.MAPS: maps, Kind.DESCENT: descent
}  # fmt: skip
"""Where our letters are: of one unit, and of each kind of subject."""
OURS = {
    module: [letter for letter in vars(module).values() if isinstance(letter, Letter)]
    for module in MODULES.values()
}
"""The letters that come with the language."""
ANYTHING = ("direction", "other_direction", "bound", "step", "q", "scaling", "curvature")
"""Attributes that are any number or vector: what reads them may be displayed as anything."""
SYMBOL = re.compile(r"(?=.*[A-Za-z])(?!-)[^=<>]*")
"""What a letter is displayed as; signs and numbers may stand in its index alone."""
INDEX = re.compile(r"_(?:\{[^{}]*\}|.)")
FORMULA = re.compile(r"[+\-/]|\^\{?\d|\\frac|\\cdot")
PLACE = re.compile(r"\{(\d)(?::\w+)?\}")
"""Where an operation's template has an operand."""
OPERATIONS = [
    operation
    for module in (operations, arrays, *OURS)
    for operation in vars(module).values()
    if isinstance(operation, Operation) and operation.latex
]
"""The operations that come with the language."""


def is_ours(letter: Letter) -> bool:
    """Whether a letter comes with the language."""
    return letter in chain(*OURS.values())


def is_theirs(operation: Operation) -> bool:
    """Whether an operation is a function that its author wrote."""
    return not getattr(operation.meaning, "__module__", "theory.").startswith("theory.")


def disguised(claim: Statement) -> Iterator[Complaint]:
    """Complain of an operation of theirs that is displayed as one of ours, or as its operand."""
    for operation in dict.fromkeys(node.operation for node in nodes(claim, Apply)):
        if operation in OPERATIONS or not is_theirs(operation):
            continue
        alike = [f"our {ours.name}" for ours in OPERATIONS if _looks_as(operation, ours)]
        if as_what := ["its operand"] if operation.latex == AS_IT_IS else alike:
            yield Complaint(
                claim.id,
                f"its operation {operation.name} is displayed as {as_what[0]}; give it a display"
                " of its own, or use ours",
            )


def _looks_as(operation: Operation, other: Operation) -> bool:
    """Whether two operations have one display, for what both take."""
    of_both = None in (operation.takes, other.takes) or operation.takes == other.takes
    return of_both and _template(operation) == _template(other)


def _template(operation: Operation) -> str:
    written = PLACE.sub(r"\1", operation.latex.replace("{{", "{").replace("}}", "}"))
    return as_seen(written)


def misleading(claim: Statement) -> Iterator[Complaint]:
    """Complain of a letter of theirs that is displayed as another one of ours, or as no letter."""
    if isinstance(claim, ExpectationClaim):
        return
    ours = OURS[MODULES[getattr(claim, "subject", None)]]
    for letter in letters_of(claim):
        if letter in ours or letter.value is None:
            continue
        if not _is_a_symbol(letter.latex):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is displayed as {letter.latex!r}, which reads as a"
                " number or a formula; write a symbol",
            )
        elif other := next((x for x in ours if _is_taken_for(letter, x)), None):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is displayed as our {other.name}, and is something else;"
                " write another symbol",
            )


def _is_a_symbol(tex: str) -> bool:
    without_index = INDEX.sub("", tex)
    return bool(SYMBOL.fullmatch(tex)) and not FORMULA.search(without_index)


def _is_taken_for(letter: Letter, ours: Letter) -> bool:
    """Whether a letter is displayed as one of ours that is not anything, and is another."""
    is_displayed = as_seen(letter.latex) == as_seen(ours.latex) and letter.sort is ours.sort
    is_fixed = not (ours.value is None or ours.domain or attribute_of(ours) in ANYTHING)
    return is_displayed and is_fixed and source_of(letter) != source_of(ours)


def sizes_left_out(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of sizes that no letter is told of: a proof at some would be one at all of them."""
    if not isinstance(claim, MatrixClaim) or claim.sizes is None:
        return
    if missing := set(claim.subject.sizes) - {*claim.sizes.values()}:
        yield Complaint(
            claim.id,
            f"its sizes= has no letter for {', '.join(sorted(missing))}, of which nothing would be"
            " told; name each of the subject's sizes, or leave sizes= out",
        )


def misnamed(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of a name of operands that stands for two functions.

    What one stands for, with the other's operands in place of its own, is what the other does.
    """
    of_operands = (node for node in nodes(claim, Abbreviation) if node.operands)
    for alike in grouped(dict.fromkeys(of_operands), lambda node: node.latex).values():
        for one, other in combinations(alike, 2):
            if len(one.operands) == len(other.operands) and _differ(one, other, claim):
                yield Complaint(
                    claim.id,
                    f"displays {one.latex} for two different functions, {one.body} and"
                    f" {other.body}; give each a name of its own",
                )
                break


def _differ(one: Abbreviation, other: Abbreviation, claim: Claim | MatrixClaim) -> bool:
    """Whether each with the operands of the other is seen to be worth something else."""
    _, here = instance(claim)
    with suppress(Exception):  # what has no value here is not seen
        values, pairs = values_of(here), ((one, other), (other, one))
        return not any(same(values[_at(a, b.operands)], values[b]) for a, b in pairs)
    return False


def _at(name: Abbreviation, operands: Sequence[Expression]) -> Expression:
    """Return what a name stands for, with other operands in place of its own."""
    return _with(name.body, dict(zip(name.operands, operands, strict=True)))


def _with(expression: Expression, changes: Mapping[Expression, Expression]) -> Expression:
    """Return an expression with some of its parts replaced."""
    if expression in changes:
        return changes[expression]
    parts = [_with(part, changes) for part in expression.parts]
    return expression.with_parts(*parts) if parts else expression
