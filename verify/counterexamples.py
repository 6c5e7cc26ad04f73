"""A counterexample as its statement speaks of it: which numbers, by which letters, and the loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.language.expression import Apply, Letter, Primitive
from theory.statement import Statement
from verify.letters import nodes, own, readers
from verify.results import Counterexample, Size, in_words

ATTRIBUTES = {"u": "direction", "v": "other_direction", "lambda": "bound"}
"""Of a case: the attribute that a number is of, where it is called otherwise."""
LOSS = {"loss", "parameters"}
MATRICES = {"H", "W"}
"""Where a statement takes a subject's matrices for others, its sizes say nothing."""


def lines(found: Counterexample, claim: Statement) -> list[str]:
    """Return what a reader needs to check it, a line for each number.

    Args:
        found: the counterexample.
        claim: the statement that it violates.
    """
    told = [in_words([size])] if (size := sizes(found)) else []
    if found.distribution:
        told.append(f"entries of the distribution {found.distribution}")
    told += [f"{_name(letter)} = {_text(value)}" for letter, value in numbers(found, claim)]
    if loss := of_loss(found, claim):
        told.append(f"L(z) = {loss}")
    return [*told, f"actual = {found.actual}", f"claimed = {found.claimed}"]


def sizes(found: Counterexample) -> Size:
    """Return the sizes that the statement's own letters say nothing else of."""
    if found.letters.keys() >= MATRICES:
        return {}
    return {letter: n for letter, n in found.size.items() if letter not in found.letters}


def numbers(found: Counterexample, claim: Statement) -> Iterator[tuple[Letter | str, Any]]:
    """Yield the numbers that a statement speaks of, by its letters, or their names if it has none.

    Args:
        found: the counterexample.
        claim: the statement that it violates.
    """
    by_attribute = readers(claim)
    for key, value in found.numbers.items():
        if key in LOSS or key in found.behind:
            continue
        letters: Iterable[Letter | str] = by_attribute.get(ATTRIBUTES.get(key, key), ())
        if not letters and _is_needed(key, value, found, claim):
            letters = [key]
        yield from ((letter, value) for letter in letters)
    chosen = own(claim)
    yield from ((chosen.get(name, name), value) for name, value in found.letters.items())


def _is_needed(key: str, value: Any, found: Counterexample, claim: Statement) -> bool:
    """Whether a number matters to a statement that has no letter for it."""
    if not is_of_a_batch(found):
        return True
    if key in ("gamma", "beta"):
        return is_about_the_layer(claim)
    return key not in ATTRIBUTES and (key != "eps" or value != "0")


def is_of_a_batch(found: Counterexample) -> bool:
    """Whether a counterexample is one unit's batch."""
    return "m" in found.size


def primitives(claim: Statement) -> set[str]:
    """Return the names of the network's functions that a statement applies."""
    applied = (node.operation for node in nodes(claim, Apply))
    return {operation.name for operation in applied if isinstance(operation, Primitive)}


def is_about_the_loss(claim: Statement) -> bool:
    """Whether the loss of a case matters to a statement: it does not bring its own."""
    letters = {letter.name for letter in nodes(claim, Letter)}
    return not isinstance(claim, Claim) or claim.says is None or bool(
        {"L", "Lhat"} & primitives(claim) or "g" in letters
    )  # fmt: skip


def is_about_the_layer(claim: Statement) -> bool:
    """Whether scale and shift of a case matter to a statement."""
    letters = {letter.name for letter in nodes(claim, Letter)}
    return is_about_the_loss(claim) or bool(
        {"BN", "Lhat"} & primitives(claim) or {"gamma", "beta", "z"} & letters
    )


def of_loss(found: Counterexample, claim: Statement) -> str:
    """Return the loss written out in the entries of z, if it is a quadratic; nothing without one.

    Args:
        found: the counterexample.
        claim: the statement that it violates.
    """
    if "loss" not in found.numbers or not is_about_the_loss(claim):
        return ""
    given = found.numbers["parameters"]
    if set(given) == {"a", "h"}:
        curved = [] if _is_zero(given["h"]) else [_term(given["h"], "|z|^2/2")]
        return _sum([*_linear(given["a"]), *curved])
    if set(given) == {"a", "B"}:
        return square(given["a"], given["B"]) or _sum(
            [*_linear(given["a"]), *_quadratic(given["B"])]
        )
    return f"{found.numbers['loss']} with {_text(given)}"


def square(linear: list[str], matrix: list[list[str]]) -> str:
    """Return the loss as half a square, up to a constant, if it is one.

    >>> square(["-2", "4"], [["1", "-2"], ["-2", "4"]])
    '(z_1 - 2 z_2 - 2)^2/2'
    """
    try:
        a, rows = list(map(Fraction, linear)), [list(map(Fraction, row)) for row in matrix]
    except ValueError:
        return ""
    first = next((i for i, row in enumerate(rows) if row[i] == 1), None)
    if first is None:
        return ""
    w, t = rows[first], -a[first]
    is_square = rows == [[p * q for q in w] for p in w] and a == [-t * p for p in w]
    constant = [] if t == 0 else [str(-t)]
    return f"({_sum([*_linear(w), *constant])})^2/2" if is_square else ""


def _linear(entries: Iterable[Any]) -> Iterator[str]:
    for k, entry in enumerate(entries, 1):
        if not _is_zero(entry):
            yield _term(entry, f"z_{k}")


def _quadratic(matrix: list[list[Any]]) -> Iterator[str]:
    for i, row in enumerate(matrix, 1):
        for j, entry in enumerate(row[i - 1 :], i):
            if not _is_zero(entry):
                yield _term(entry, f"z_{i}^2/2" if i == j else f"z_{i} z_{j}")


def _is_zero(value: Any) -> bool:
    return str(value) == "0"


def _term(coefficient: Any, what: str) -> str:
    text = str(coefficient)
    if text in ("1", "-1"):
        return f"{text[:-1]}{what}"
    return f"({text}) {what}" if "+" in text or "-" in text[1:] else f"{text} {what}"


def _sum(terms: Iterable[str]) -> str:
    listed = list(terms)
    if not listed:
        return "0"
    joined = "".join(f" - {t[1:]}" if t.startswith("-") else f" + {t}" for t in listed)
    return joined[3:] if joined.startswith(" + ") else f"-{joined[3:]}"


def _name(letter: Letter | str) -> str:
    return letter.name if isinstance(letter, Letter) else letter


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_text(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return f"({', '.join(map(_text, value))})"
    return str(value)
