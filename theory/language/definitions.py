"""What the names and letters in a statement stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate

from theory.language.expression import Abbreviation, Expression, Says, walk
from theory.language.latex import latex, shown

BRACKETED = re.compile(r"\\left\((.*)\\right\)|\((.*)\)")
BRACKET = re.compile(r"[()]")


def definitions(said: Iterable[Says]) -> dict[str, list[str]]:
    """Return the names in relations, and in their own definitions, with what they stand for.

    All is LaTeX; a name for two things has both.  A name that is its definition, such as that of a
    gradient at y, is left out.
    """
    found: dict[str, list[str]] = {}
    for node in walk(*sides_of_each(said)):
        if isinstance(node, Abbreviation):
            name, meaning = without_brackets(shown(node).text), latex(node.body)
            if name != meaning and meaning not in found.setdefault(name, []):
                found[name].append(meaning)
    return found


def without_brackets(name: str) -> str:
    r"""Return a name without the brackets that are around all of it.

    >>> print(without_brackets(r"\left(\nabla L\right)"), without_brackets("(a)(b)"))
    \nabla L (a)(b)
    """
    if (around := BRACKETED.fullmatch(name)) is None:
        return name
    inner = around.group(1) or around.group(2)
    depths = accumulate(1 if bracket == "(" else -1 for bracket in BRACKET.findall(inner))
    return name if min(depths, default=0) < 0 else inner


def domains(said: Iterable[Says]) -> dict[str, str]:
    """Return what the letters of relations range over, where they say it, by the letters."""
    letters = frozenset().union(*(side.free for side in sides_of_each(said)))
    ranging = sorted((letter.domain, letter.latex) for letter in letters if letter.domain)
    return {letter: domain for domain, letter in ranging}


def sides_of_each(said: Iterable[Says]) -> list[Expression]:
    """Return both sides of each relation."""
    return [side for says in said for side in (says.actual, says.claimed)]
