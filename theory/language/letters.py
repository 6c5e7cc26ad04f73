"""Letters with a value: what a subject has, by the name of its attribute, or a function of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

from theory.language.expression import Letter, Sort

Value = str | Callable[[Any], Any]
"""The name of an attribute, the letter's own if it is empty; or what a letter is worth."""
FREE = 5
"""So many numbers a subject has that nothing else is made of."""


@cache
def free(place: int) -> Callable[[Any], Any]:
    """Return what a letter is worth that is any real number: one that nothing else is made of."""
    return lambda subject: subject.free[place]


@cache
def positive(place: int) -> Callable[[Any], Any]:
    """Return what a letter is worth that is any positive number: made of a free one and the next.

    >>> from types import SimpleNamespace
    >>> positive(0)(SimpleNamespace(free=(2, 3)))
    0.5
    """

    def value(subject: Any) -> Any:
        above, below = subject.free[place], subject.free[place + 1]
        return (1 + above * above) / (1 + below * below)

    return value


def number_of(name: str, latex: str, value: Value = "", domain: str = "") -> Letter:
    """Return a letter for a number that a subject has."""
    return _letter(name, latex, Sort.NUMBER, value, domain)


def vector_of(name: str, latex: str, value: Value = "", domain: str = "") -> Letter:
    """Return a letter for a vector."""
    return _letter(name, latex, Sort.VECTOR, value, domain)


def matrix_of(name: str, latex: str, value: Value = "", domain: str = "") -> Letter:
    """Return a letter for a matrix."""
    return _letter(name, latex, Sort.MATRIX, value, domain)


def attribute_of(letter: Letter) -> str:
    """Return the name of the attribute that a letter reads; nothing if its value is another's.

    >>> attribute_of(number_of("s", "s", "deviation"))
    'deviation'
    """
    return letter.value.__reduce__()[1][0] if isinstance(letter.value, attrgetter) else ""


def _letter(name: str, latex: str, sort: Sort, value: Value, domain: str) -> Letter:
    worth = attrgetter(value or name) if isinstance(value, str) else value
    return Letter(name, latex, sort, worth, domain)
