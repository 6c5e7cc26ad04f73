"""What the names and letters in a statement stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from theory.language.expression import Abbreviation, Expression, Says, walk
from theory.language.latex import latex, shown


def meanings(*said: Says) -> dict[str, str]:
    """Return what names in relations stand for, as LaTeX, then what their letters range over.

    Both by the name or the letter.  A name that is its definition, such as that of a gradient at y,
    is left out.
    """
    names: dict[str, str] = {}
    for name, meaning in _definitions(said):
        names.setdefault(name, f"{name} = {meaning}")
    letters = frozenset().union(*(side.free for side in _sides(said)))
    ranging = sorted((letter.domain, letter.latex) for letter in letters if letter.domain)
    return names | {letter: domain for domain, letter in ranging}


def ambiguous(*said: Says) -> list[str]:
    """Return the names that stand for two things."""
    found = dict.fromkeys(_definitions(said))
    names = [name for name, _ in found]
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def _definitions(said: Iterable[Says]) -> Iterator[tuple[str, str]]:
    """Yield the names in relations, and in their own definitions, with what they stand for."""
    for node in walk(*_sides(said)):
        if isinstance(node, Abbreviation):
            name, meaning = shown(node).text, latex(node.body)
            if name != meaning:
                yield name, meaning


def _sides(said: Iterable[Says]) -> list[Expression]:
    return [side for says in said for side in (says.actual, says.claimed)]
