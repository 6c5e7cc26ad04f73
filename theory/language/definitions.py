"""What the names and letters in a statement stand for."""

from __future__ import annotations

from theory.language.expression import Abbreviation, Expression, Says, walk
from theory.language.latex import latex, shown


def definitions(says: Says) -> dict[str, str]:
    """Return the abbreviations in a statement, and in their own definitions, as LaTeX.

    A name that is its definition, such as that of a gradient at y, is left out.
    """
    found: dict[str, str] = {}
    for node in walk(says.actual, says.claimed):
        if isinstance(node, Abbreviation):
            found.setdefault(shown(node).text, latex(node.body))
    return {name: meaning for name, meaning in found.items() if name != meaning}


def domains(*expressions: Expression) -> list[str]:
    """Return what letters range over, where a letter says it."""
    letters = frozenset().union(*(expression.free for expression in expressions))
    return sorted({letter.domain for letter in letters if letter.domain})


def meanings(says: Says, *hypotheses: Says) -> list[str]:
    """Return what a statement's names stand for, as LaTeX, then what its letters range over.

    So do those of its hypotheses; what their names stand for is left to their own words.
    """
    defined = [f"{name} = {meaning}" for name, meaning in definitions(says).items()]
    return [*defined, *domains(*(e for s in (says, *hypotheses) for e in (s.actual, s.claimed)))]
