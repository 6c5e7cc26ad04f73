"""Whether the letters of a statement of others are what they are displayed as."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, islice, product
from typing import Any

import numpy as np

from theory import descent, layer, maps, unit
from theory.catalogue import Complaint, source_of
from theory.claim import Claim
from theory.language.expression import (
    Apply,
    Derivative,
    Expression,
    Letter,
    Primitive,
    Sort,
    equal,
    walk,
)
from theory.language.letters import attribute_of
from theory.matrix_claim import MatrixClaim
from theory.statement import Relation, Statement, letters_of
from verify.cases.case import NUMBERS
from verify.letters import nodes
from verify.tolerance import Array
from verify.trial.instances import drawn_for, in_floats, made_of, meets, offered, typical, worth

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
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    ">": Relation.MORE_THAN.compare, r"\ge": Relation.AT_LEAST.compare, r"\ne": operator.ne,
    "<": Relation.LESS_THAN.compare, r"\le": Relation.AT_MOST.compare,
}  # fmt: skip
INEQUALITY = re.compile(r"(?:(\S+) (<|\\le) )?(\S+) (>|\\ge|<|\\le|\\ne) (\S+)")
"""A range as a letter's domain has it, with one end or two."""
INTERVAL = re.compile(r"(\S+) *\\in *([(\[]) *([^,\s]+) *, *([^,\s]+?) *([)\]])")
"""A range as an interval."""
SIGNS = 12
"""So many instances have numbers of either sign."""


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


def out_of_range(claim: Statement) -> Iterator[Complaint]:
    """Complain of a letter that is displayed with a range, and is outside of it in an instance."""
    if not isinstance(claim, Claim | MatrixClaim):
        return
    for letter in letters_of(claim):
        if (said := _inequality(letter)) is None:
            if _is_unread(letter):
                yield Complaint(
                    claim.id,
                    f"its letter {letter.name} is displayed with {letter.domain}, which is not"
                    r" understood; write x > 0, x \ge 0, x \ne 0, 0 < x \le 1 or x \in (0, 1]",
                )
            continue
        for subject in islice(drawn_for(claim), SIGNS):
            value = worth(letter, claim, subject)
            if value is None or _is_within(said, in_floats(value), claim, subject):
                continue
            if meets(claim, subject) and _is_defined(claim, subject):
                yield Complaint(
                    claim.id,
                    f"its letter {letter.name} is displayed with {letter.domain}, and is {value} in"
                    " an instance; write that as a hypothesis, or let it be a function with such"
                    " values",
                )
                break


def _is_unread(letter: Letter) -> bool:
    """Whether a number that an instance has is displayed with what nobody understands."""
    is_ours = letter in chain(*OURS.values())
    is_number = letter.sort is Sort.NUMBER and bool(attribute_of(letter))
    return (
        is_number and not is_ours and letter.domain not in ("", rf"{letter.latex} \in \mathbb{{R}}")
    )


def _is_defined(claim: Claim | MatrixClaim, subject: Any) -> bool:
    """Whether a statement has sides at an instance: it may divide by what is zero there."""
    with suppress(ZeroDivisionError):
        claim.sides(*offered(claim, subject))
        return True
    return False


def _inequality(letter: Letter) -> re.Match[str] | None:
    """Return the inequality that a letter's domain is, if it is one of the letter's numbers."""
    found = INEQUALITY.fullmatch(_as_inequality(letter.domain))
    if found is None or letter.value is None:
        return None
    if found[4] == r"\ne" and letter.sort is not Sort.NUMBER:
        return None  # it says that some entry is not zero
    return found if letter.latex in (found[3], rf"({found[3]}\mathbf 1)") else None


def _as_inequality(domain: str) -> str:
    r"""Return a range with single spaces around its relations, an interval as an inequality.

    >>> print(_as_inequality(r"0\leq x<1"), "|", _as_inequality(r"x \in [0, \infty)"))
    0 \le x < 1 | x \ge 0
    """
    if interval := INTERVAL.fullmatch(domain):
        letter, opened, low, high, closed = interval.groups()
        below, above = ("<" if end in "()" else r"\le" for end in (opened, closed))
        if high in (r"\infty", r"+\infty"):
            return f"{letter} > {low}" if opened == "(" else rf"{letter} \ge {low}"
        if low == r"-\infty":
            return f"{letter} {above} {high}"
        return f"{low} {below} {letter} {above} {high}"
    short = re.sub(r"\\(ge|le|ne)q?(?![a-zA-Z])", r"\\\1", domain)
    return " ".join(re.sub(r"(<|>|\\(?:ge|le|ne)(?![a-zA-Z]))", r" \1 ", short).split())


def _is_within(said: re.Match[str], value: Array, claim: Claim | MatrixClaim, subject: Any) -> bool:
    """Whether all of a letter's numbers are where an inequality says."""
    low, above, _, relation, high = said.groups()
    ends = {text: _end(text, claim, subject) for text in (low, high) if text is not None}
    if any(end is None for end in ends.values()):
        return True  # then nothing is known of it
    pairs = [(relation, value, ends[high]), *([] if low is None else [(above, ends[low], value)])]
    return all(np.all(COMPARISONS[each](a, b)) for each, a, b in pairs)


def _end(text: str, claim: Claim | MatrixClaim, subject: Any) -> Array | None:
    """Return an end of a range: a number, a size, another letter; nothing if it is none of them."""
    sizes = subject.size if isinstance(claim, MatrixClaim) else {"m": len(subject.y)}
    for letter in letters_of(claim):
        if letter.latex == text:
            value = worth(letter, claim, subject)
            return None if value is None else in_floats(value)
    with suppress(ValueError):
        return np.asarray(sizes[text] if text in sizes else float(text), dtype=float)
    return None


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
