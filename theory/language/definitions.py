"""What the names and letters in a statement stand for."""

from __future__ import annotations

from collections.abc import Iterable

from theory.language.expression import Abbreviation, Expression, Says, walk
from theory.language.latex import latex, shown


def definitions(*said: Says) -> dict[str, str]:
    """Return the abbreviations in relations, and in their own definitions, as LaTeX.

    A name that is its definition, such as that of a gradient at y, is left out.
    """
    found: dict[str, str] = {}
    for node in walk(*_sides(said)):
        if isinstance(node, Abbreviation):
            found.setdefault(shown(node).text, latex(node.body))
    return {name: meaning for name, meaning in found.items() if name != meaning}


def meanings(*said: Says) -> list[str]:
    """Return what names in relations stand for, as LaTeX, then what their letters range over."""
    defined = [f"{name} = {meaning}" for name, meaning in definitions(*said).items()]
    letters = frozenset().union(*(side.free for side in _sides(said)))
    return [*defined, *sorted({letter.domain for letter in letters if letter.domain})]


def _sides(said: Iterable[Says]) -> list[Expression]:
    return [side for says in said for side in (says.actual, says.claimed)]
