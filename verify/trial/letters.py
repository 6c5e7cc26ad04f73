"""Whether the letters of a statement of others are what they are displayed as."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain, combinations, islice, product
from typing import Any

import numpy as np

from theory import descent, layer, unit
from theory.catalogue import Complaint, source_of
from theory.claim import Claim
from theory.expectation_claim import ExpectationClaim
from theory.language.definitions import sides_of_each
from theory.language.expression import (
    Apply,
    Derivative,
    Expression,
    Letter,
    Operation,
    Primitive,
    equal,
    walk,
)
from theory.language.letters import FREE, attribute_of, free, number_of
from theory.language.values import Values
from theory.matrix_claim import MatrixClaim
from theory.statement import Statement, letters_of, values_of
from verify.letters import nodes
from verify.subjects.unit import Case
from verify.trial.displays import OF_MATRICES, OURS, is_ours, is_theirs
from verify.trial.instances import (
    Tried,
    drawn_for,
    instance,
    made_of,
    typical,
    without_hypotheses,
)

ANY = [free(place) for place in range(FREE)]
"""What letters are worth that are any number of a layer, of maps or of a descent."""
RANGES = {
    "m": r"m \ge 1", "sigma": r"\sigma > 0", "one": r"\mathbf 1 = (1, \dots, 1)",
    "yhat": r"\hat y = (y - \mu)/\sigma", "eps": r"\epsilon \ge 0", "like": "q > 0",
    "z": r"z = \gamma\hat y + \beta",
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
NAME = r"(?<![a-zA-Z\\]){}(?![a-zA-Z])"
"""A letter's LaTeX in a longer text."""
OF_NO_LETTER = re.compile(r"\\mathbb *(?:\w|\{\w+\})(?:\^(?:\{[^{}]*\}|\w))?|\\text *\{[^{}]*\}")
"""What of a range is a space of numbers, or words."""
SLOPE = attribute_of(unit.g)
"""What may be any vector, as the loss may be any."""
LOSS = "loss"
FEW = 8
"""At so many instances functions of theirs are called."""
EQUATION = re.compile(r"(?<![<>])=")
"""What says that a letter is another, and does not only range by it."""


def told_apart(claim: Statement) -> Iterator[Complaint]:
    """Complain of letters that are displayed as two, and are one number, vector or matrix.

    Or that are displayed as one, where one of them is the variable of a derivative.
    """
    variables = [node.variable for node in nodes(claim, Derivative)]
    first: dict[Any, Letter] = {}
    for letter in letters_of(claim):
        if any(letter.latex == x.latex and letter != x for x in variables):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is displayed as the variable of a derivative is; write"
                " another letter",
            )
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
        if letter.value in (None, *ANY) or is_ours(letter) or letter in OF_MATRICES:
            continue
        attribute = attribute_of(letter)
        if letter.domain and isinstance(claim, ExpectationClaim) and is_own_function(letter):
            if not claim.in_words:
                yield Complaint(
                    claim.id,
                    f"its letter {letter.name} is displayed with {letter.domain}, which nobody"
                    " tests of a law; name the expression that it is, named(...), or say by"
                    " in_words= why it is told in words",
                )
        elif letter.domain:
            if _is_a_size(letter, claim) and "=" not in letter.domain:
                yield Complaint(
                    claim.id,
                    f"its letter {letter.name} is displayed with {letter.domain}, and is one number"
                    f" for each size; name what it is by the sizes, named('{letter.name}', ...)",
                )
        elif attribute in RANGES:
            yield Complaint(
                claim.id,
                f"its letter {letter.name} reads {attribute}, which has a range of its own, as in "
                f"{RANGES[attribute]}; write domain=, what {letter.name} ranges over",
            )
        elif not attribute.isidentifier() or isinstance(claim, ExpectationClaim):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} is a function of the instance, which is displayed as if "
                "it were anything; name the expression that it is, named(...), or write domain=,"
                " what it ranges over",
            )


def _is_a_size(letter: Letter, claim: Statement) -> bool:
    """Whether a letter is a number that an instance's sizes tell, and no index that runs."""
    if not isinstance(claim, Claim | MatrixClaim) or made_of(letter, claim):
        return False
    subject = next(drawn_for(claim))
    value = Tried(without_hypotheses(claim), subject).value_of(letter)
    return value is not None and np.ndim(value) == 0


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


def tied(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of a letter that is made of what else the statement is made of, and does not say so.

    So is a letter of another name for one of ours: it is displayed as any, and moves with what
    hangs on ours.
    """
    theirs = [x for x in letters_of(claim) if (is_own_function(x) and x.domain) or _is_renamed(x)]
    free = _of_any_loss(claim)
    letters = [x for x in letters_of(claim) if x not in free]
    slopes = [x for x in free if attribute_of(x) == SLOPE]
    apart = [x for x in letters if x in MADE or x in theirs or _is_made(x)]
    made = {x: made_of(x, claim) for x in {*letters, *theirs}} if apart or theirs else {}
    for one, two in combinations(letters, 2):
        letter, other = (one, two) if one in apart else (two, one)
        shared = made[letter] & made[other] if letter in apart else set()
        is_another = source_of(letter) != source_of(other)
        if shared and is_another and not _are_told(letter, other, made, theirs):
            yield Complaint(
                claim.id,
                f"its letters {letter.name} and {other.name} are not independent, as both are made "
                f"of {min(shared)}; write one of them by the other, or let one of them read"
                " another attribute",
            )
    for letter, slope in product(theirs, slopes):
        is_told = _is_told_of(letter, {SLOPE}, made[letter])
        if LOSS in made[letter] and not is_told and attribute_of(letter) != SLOPE:
            yield Complaint(
                claim.id,
                f"its letters {letter.name} and {slope.name} are not independent, as both are made"
                f" of the loss; write one by the other, or name the expression that {letter.name}"
                " is, named(...)",
            )
    for letter, (operation, changed_by) in product(theirs, _asked(claim).items()):
        shared = _asked_of(letter, made[letter], changed_by)
        if shared and not _is_told_of(letter, shared, made[letter]):
            yield Complaint(
                claim.id,
                f"its letter {letter.name} and {operation.name} are not independent, as both change"
                f" with {min(shared)}; name the expression that {letter.name} is, named(...), or"
                " let it read another attribute",
            )


def _is_renamed(letter: Letter) -> bool:
    """Whether a letter of another name reads what one of ours may."""
    return bool(attribute_of(letter)) and not is_ours(letter)


def _is_made(letter: Letter) -> bool:
    """Whether a letter is a function of the instance, of theirs or of the language's."""
    return letter.value not in (None, *ANY) and not attribute_of(letter) and not is_ours(letter)


def _are_told(
    letter: Letter, other: Letter, made: Mapping[Letter, set[str]], theirs: Collection[Letter]
) -> bool:
    """Whether one of two letters is displayed by the other, or the first by one of ours."""
    of_one, of_other = made[letter], made[other]
    by_ours = letter in theirs and _is_told_of(letter, of_one & of_other, of_one)
    by_other = _is_told(letter, other, of_one - of_other)
    return by_ours or by_other or _is_told(other, letter, of_other - of_one)


def _is_told(letter: Letter, other: Letter, beside: set[str]) -> bool:
    """Whether a letter is displayed by another: as equal to it, or as ranging by what is beside."""
    is_free = bool(beside) or EQUATION.search(letter.domain) is not None
    return is_free and _is_named(other, letter.domain)


def _is_told_of(letter: Letter, attributes: set[str], made: set[str]) -> bool:
    """Whether a letter is displayed by one of ours that reads an attribute, in the same way."""
    told = attributes | ({SLOPE} if LOSS in attributes else set())
    ours = (x for x in chain(*OURS.values()) if attribute_of(x) in told)
    return any(_is_told(letter, x, made - attributes) for x in ours)


def _is_named(letter: Letter, domain: str) -> bool:
    """Whether a range names a letter: as one, and not within a command, a space or words."""
    return bool(re.search(NAME.format(re.escape(letter.latex)), OF_NO_LETTER.sub(" ", domain)))


def _asked(claim: Claim | MatrixClaim) -> dict[Primitive, set[str]]:
    """Return what a statement asks of its subject, and what changes that at one place."""
    found: dict[Primitive, set[str]] = {}
    for operation, node in _asking(*sides_of_each(claim.said)):
        theirs = _changed_by(node, claim) if is_theirs(operation) else set()
        found.setdefault(operation, {*(operation.reads or ())}).update(theirs)
    return found


def _asked_of(letter: Letter, made: set[str], changed_by: set[str]) -> set[str]:
    """Return the attributes that change both a letter and what is asked of a subject."""
    if attribute_of(letter) == SLOPE:
        return {SLOPE} if LOSS in changed_by else set()
    return made & changed_by


def misread(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of an operation of theirs that changes with more than it says that it reads."""
    for operation, node in _asking(*sides_of_each(claim.said)):
        if operation.reads is None or not is_theirs(operation):
            continue
        if more := _changed_by(node, claim) - _declared(operation.reads, claim):
            yield Complaint(
                claim.id,
                f"its operation {operation.name} changes with {', '.join(sorted(more))}, which"
                " its reads= does not name",
            )


def _declared(reads: Iterable[str], claim: Claim | MatrixClaim) -> set[str]:
    """Return what is read, and what that is made of; of a descent the factor is its loss's."""
    letters = (number_of(name, name) for name in reads if name != LOSS)
    made = {*reads}.union(*(made_of(letter, claim) for letter in letters))
    return made | ({"factor"} if LOSS in made else set())


def _changed_by(node: Apply, claim: Claim | MatrixClaim) -> set[str]:
    """Return what of an instance changes an operation's value at the operands that they have.

    The variable of a derivative is where it is taken.
    """
    _, here = instance(claim)
    with suppress(Exception):  # another check says what is wrong
        points = {d.variable: values_of(here)[d.point] for d in nodes(claim, Derivative)}
        values = Values(here, {x: point for x, point in points.items() if x.value is None})
        fixed = [values[operand] for operand in node.operands]
        value = partial(_asked_at, node.operation, fixed)
        return made_of(Letter(node.operation.name, "", node.sort, value), claim)
    return set()


def _asked_at(operation: Operation, operands: Sequence[Any], subject: Any) -> Any:
    return operation.value(subject, *operands)


def _of_any_loss(claim: Statement) -> set[Letter]:
    """Return letters of a unit that are anything, as the loss is any: g, and z where it is asked.

    They are none where it is asked at another place too, which may be the same.
    """
    if not isinstance(claim, Claim):
        return set()
    met = set(_beside_the_loss(*sides_of_each(claim.said)))
    if any(isinstance(node, Apply) and node.operation is unit.L for node in met):
        return set()
    return {x for x in letters_of(claim) if attribute_of(x) == SLOPE} | ({unit.z} - met)


def _beside_the_loss(*expressions: Expression) -> Iterator[Expression]:
    """Yield what expressions are made of, but for the loss and its derivatives at the output."""
    for node in expressions:
        match node:
            case Apply(operation, (unit.z,)) if operation is unit.L:
                pass
            case Derivative(body, variable, unit.z, direction) if _is_of_the_loss(body, variable):
                yield from _beside_the_loss(*([] if direction is None else [direction]))
            case _:
                yield node
                yield from _beside_the_loss(*node.parts)


def _is_of_the_loss(body: Expression, variable: Letter) -> bool:
    return body.free == {variable} and set(_primitives(body)) == {unit.L}


def frozen(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of a derivative in whose function something stands that moves with the variable.

    A letter is a number, or a vector, of the instance: its derivative is zero, whatever that of
    what it is displayed as.  So is the derivative in what a primitive reads of the instance.
    """
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


def _primitives(*expressions: Expression) -> dict[Primitive, None]:
    """Return the operations of expressions that ask the subject, in their order, each once."""
    return dict.fromkeys(operation for operation, _ in _asking(*expressions))


def _asking(*expressions: Expression) -> Iterator[tuple[Primitive, Apply]]:
    """Yield what of expressions asks the subject, by its operation."""
    for node in walk(*expressions):
        if isinstance(node, Apply) and isinstance(node.operation, Primitive):
            yield node.operation, node


def working_in_place(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of a function of theirs that changes what it is given, which others read too."""
    alone = without_hypotheses(claim)
    some = [Tried(alone, subject) for subject in islice(drawn_for(claim), FEW)]
    calls = chain.from_iterable(_calls(claim, tried.offered) for tried in some)
    for name in dict.fromkeys(name for name, call, given in calls if _changes(call, given)):
        yield Complaint(
            claim.id,
            f"its {name} changes what it is given in place; let it work on a copy, such as 1 * x",
        )


def _calls(
    claim: Claim | MatrixClaim, here: Any
) -> Iterator[tuple[str, Callable[[], Any], list[Any]]]:
    """Yield calls of the functions of theirs at an instance, and the arrays that are given."""
    names = Case.names() if isinstance(claim, Claim) else here.names()
    numbers, values = [getattr(here, name) for name in names], values_of(here)
    for letter in filter(is_own_function, letters_of(claim)):
        yield f"letter {letter.name}", partial(_worth, letter, here), numbers
    for node in nodes(claim, Apply):
        if is_theirs(node.operation):
            with suppress(Exception):  # in a derivative; or another check says what is wrong
                operands = [values[operand] for operand in node.operands]
                call = partial(node.operation.value, here, *operands)
                yield f"operation {node.operation.name}", call, [*numbers, *operands]


def _worth(letter: Letter, here: Any) -> Any:
    return letter.value(here)  # type: ignore[misc]


def _changes(call: Callable[[], Any], given: Sequence[Any]) -> bool:
    """Whether a call leaves other numbers in the arrays that it is given."""
    before = [np.array(array) for array in given]
    with suppress(Exception):  # another check says what is wrong
        call()
    return not all(map(np.array_equal, before, given))


def _is_given(letter: Letter, claim: Claim | MatrixClaim) -> bool:
    """Whether a letter is one of the numbers that an instance consists of."""
    names = Case.names() if isinstance(claim, Claim) else typical(claim.subject).names()
    return attribute_of(letter) in names


def is_own_function(letter: Letter) -> bool:
    """Whether a letter is a function of the instance that its author wrote."""
    is_function = letter.value is not None and not attribute_of(letter).isidentifier()
    return is_function and not letter.value.__module__.startswith("theory.")
