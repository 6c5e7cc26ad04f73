"""Whether the letters of a statement of others are what they are displayed as."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, product
from typing import Any

from theory import descent, layer, maps, unit
from theory.catalogue import Complaint, source_of
from theory.claim import Claim
from theory.language.expression import (
    Apply,
    Derivative,
    Expression,
    Letter,
    Primitive,
    equal,
    walk,
)
from theory.language.letters import attribute_of
from theory.matrix_claim import MatrixClaim
from theory.statement import Statement, letters_of
from verify.cases.case import NUMBERS
from verify.letters import nodes
from verify.trial.instances import made_of, typical

OURS = {
    module: [letter for letter in vars(module).values() if isinstance(letter, Letter)]
    for module in (unit, layer, maps, descent)
}
"""The letters that come with the language."""
RANGES = {
    "m": r"m \ge 1", "sigma": r"\sigma > 0", "one": r"\mathbf 1 = (1, \dots, 1)",
    "yhat": r"\hat y = (y - \mu)/\sigma", "z": r"z = \gamma\hat y + \beta",
} | {
    attribute_of(letter): letter.domain
    for letter in chain(*OURS.values())
    if letter.domain and attribute_of(letter)
}  # fmt: skip
"""What is drawn of attributes that are not any number, in the words of our own letters."""
KINDS = {attribute_of(unit.later_normalizations), attribute_of(layer.couples)}
"""Attributes that say what kind of network it is."""
MADE = {
    letter
    for letter in OURS[layer] + OURS[descent]
    if letter.value is not None and not attribute_of(letter)
}
"""Our letters of a layer and of a descent that are functions of its numbers."""


def told_apart(claim: Statement) -> Iterator[Complaint]:
    """Complain of letters that are displayed as two, and are one number, vector or matrix."""
    first: dict[Any, Letter] = {}
    for letter in letters_of(claim):
        other = first.setdefault(source_of(letter), letter)
        if other.latex != letter.latex:
            yield Complaint(
                claim.id,
                f"its letters {other.name} and {letter.name} are the same in every instance: both "
                f"read {attribute_of(letter) or 'one function'}; write one letter, or let one of "
                "them read another attribute",
            )


def untold(claim: Statement) -> Iterator[Complaint]:
    """Complain of letters that are not any number, vector or matrix, and are displayed as such."""
    for letter in letters_of(claim):
        if letter.domain or letter.value is None or letter in chain(*OURS.values()):
            continue
        attribute = attribute_of(letter)
        if attribute in RANGES:
            yield Complaint(
                claim.id,
                f"its letter {letter.name} reads {attribute}, which has a range of its own, as in "
                f"{RANGES[attribute]}; write domain=, what {letter.name} ranges over",
            )
        elif not attribute.isidentifier():
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is a function of the instance, which is displayed as if "
                "it were anything; write domain=, what it is made of or ranges over",
            )


def of_its_kind(claim: Statement) -> Iterator[Complaint]:
    """Complain of what is said of a network's kind, but that nothing follows the layer."""
    none_follows = [equal(letter, 0) for letter in OURS[unit] + OURS[layer] if _is_of_kind(letter)]
    for says in claim.said:
        for letter in filter(_is_of_kind, says.letters):
            if says is claim.says or says not in none_follows:
                yield Complaint(
                    claim.id,
                    f"its letter {letter.name} tells networks apart, and a proof is of those of one"
                    f" kind; it may stand in one hypothesis, assume(equal({letter.name}, 0))",
                )


def _is_of_kind(letter: Letter) -> bool:
    return attribute_of(letter) in KINDS


def tied(claim: Statement) -> Iterator[Complaint]:
    """Complain of two letters that are made of the same numbers, and neither says so."""
    if not isinstance(claim, Claim | MatrixClaim):
        return
    letters = letters_of(claim)
    functions = [x for x in letters if x in MADE or (_is_own_function(x) and x.domain)]
    made = {x: made_of(x, claim) for x in letters} if functions else {}
    for letter, other in product(functions, letters):
        shared = made[letter] & made[other]
        is_told = other.latex in letter.domain or letter.latex in other.domain
        if shared and other is not letter and not is_told:
            yield Complaint(
                claim.id,
                f"its letters {letter.name} and {other.name} are not independent, as both are made "
                f"of {min(shared)}; write one of them by the other, or let one of them read"
                " another attribute",
            )


def frozen(claim: Statement) -> Iterator[Complaint]:
    """Complain of a derivative in whose function something stands that moves with the variable.

    A letter is a number, or a vector, of the instance: its derivative is zero, whatever that of
    what it is displayed as.  So is the derivative in what a primitive reads of the instance.
    """
    if not isinstance(claim, Claim | MatrixClaim):
        return
    found = (
        Complaint(claim.id, f"its derivative in {derivative.variable.name} {says}")
        for derivative in nodes(claim, Derivative)
        if derivative.variable.value is not None
        for says in _taken_for_constants(derivative, claim)
    )
    yield from dict.fromkeys(found)


def _taken_for_constants(derivative: Derivative, claim: Claim | MatrixClaim) -> Iterator[str]:
    """Yield what is wrong with a derivative in a letter that an instance has."""
    variable, body = derivative.variable, derivative.body
    moving = made_of(variable, claim)
    if not moving:
        yield "is in what no number of an instance changes, such as a size; name one that moves"
    for letter in body.free - {variable}:
        if not _is_given(letter, claim) and made_of(letter, claim) & moving:
            yield (
                f"takes {letter.name} for a constant, which changes with {variable.name}; write it"
                f" as a function of {variable.name}, as deviation(y), normalize(y), BN(y) and"
                " Lhat(y) are of y, or name another variable: along(f(variable), variable, u, at=y)"
            )
    for operation in _primitives(body):
        if operation.reads is None and moving:
            yield (
                f"may take for a constant what {operation.name} reads of the instance; give its"
                ' Primitive reads=, the names of the numbers that it changes with, such as ("gamma"'
                ",), or () for none"
            )
        elif moving.intersection(operation.reads or ()):
            yield (
                f"takes {operation.name} for a constant, which changes with {variable.name}; write"
                f" it as a function of {variable.name}, as gamma * normalize(y) + beta * one is for"
                " BN(y), L of that for Lhat(y), and sqrt(spread(y) + eps) for deviation(y), or name"
                " another variable: along(f(variable), variable, u, at=y)"
            )


def _primitives(body: Expression) -> dict[Primitive, None]:
    """Return the operations of an expression that ask the subject, in their order, each once."""
    operations = (node.operation for node in walk(body) if isinstance(node, Apply))
    return dict.fromkeys(found for found in operations if isinstance(found, Primitive))


def _is_given(letter: Letter, claim: Claim | MatrixClaim) -> bool:
    """Whether a letter is one of the numbers that an instance consists of."""
    names = NUMBERS if isinstance(claim, Claim) else typical(claim.subject).names()
    return attribute_of(letter) in names


def _is_own_function(letter: Letter) -> bool:
    """Whether a letter is a function of the instance that its author wrote."""
    is_function = letter.value is not None and not attribute_of(letter).isidentifier()
    return is_function and not letter.value.__module__.startswith("theory.")
