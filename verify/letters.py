"""The letters of a statement: which it names, which are its own, and what those are worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from theory.arithmetic.exact import DifferentFieldsError
from theory.language.expression import Letter, Sort, walk
from theory.language.letters import attribute_of
from theory.statement import Statement, letters_of, values_of
from verify.grouping import grouped
from verify.subjects.unit_lattice import shown, shown_number

SHARED = ("theory.layer", "theory.maps")
"""Where letters are defined that follow from a subject in the same way in every statement."""
CONSTANT = ("I",)
"""Letters that mean the same to every reader."""
DERIVED = ("g",)
"""Attributes that follow from a subject and its loss: a letter of another name stands for any."""
_SYMBOL = re.compile(r"[A-Za-z]+(_\w+)?'*|[01]")
"""A letter or a number; other names are words for what is computed."""


def nodes(claim: Statement, kind: type[Any]) -> Iterator[Any]:
    """Yield the nodes of one kind in a statement and its hypotheses."""
    for says in claim.said:
        yield from (node for node in walk(says.actual, says.claimed) if isinstance(node, kind))


def readers(claim: Statement) -> dict[str, list[Letter]]:
    """Return the letters that are attributes of the subject, by the attributes' names."""
    return grouped(filter(attribute_of, letters_of(claim)), attribute_of)


def own(claim: Statement) -> dict[str, Letter]:
    """Return the letters whose worth was chosen for the statement, by their names."""
    return {letter.name: letter for letter in letters_of(claim) if _is_own(letter)}


def worth(claim: Statement, subject: Any) -> dict[Letter, Any]:
    """Return what a statement's own letters are worth for a subject, but for what is undefined."""
    found = {}
    for letter in own(claim).values():
        with suppress(ZeroDivisionError, DifferentFieldsError):
            found[letter] = values_of(subject)[letter]
    return found


def written(known: dict[Letter, Any]) -> dict[str, Any]:
    """Return what letters are worth as nested lists of strings, by their names.

    A number is left out that stands for each of several, such as an index that runs.
    """
    return {
        letter.name: shown_number(value) if letter.sort is Sort.NUMBER else shown(value)
        for letter, value in known.items()
        if not letter.name.isdigit() and (letter.sort is not Sort.NUMBER or np.size(value) == 1)
    }


def _is_own(letter: Letter) -> bool:
    if attribute := attribute_of(letter):
        return attribute in DERIVED and letter.name != attribute
    return (
        letter.value is not None
        and letter.name not in CONSTANT
        and letter.value.__module__ not in SHARED
        and _SYMBOL.fullmatch(letter.name) is not None
    )
