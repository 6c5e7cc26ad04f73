r"""A proof of the abstract arithmetic as LaTeX.

A term of a certificate is written in the evidence as ``(weight) * factor * factor``, a factor
being ``(scalar)^2``, ``|vector|^2`` or ``[hypothesis]``.
"""

from __future__ import annotations

from typing import Any

from verify.site.expressions import expression

_OPENING, _CLOSING = "([", ")]"


def slack(proof: dict[str, Any]) -> str:
    """Return what the two sides differ by, as LaTeX."""
    return expression(proof.get("slack", "0"))


def terms(proof: dict[str, Any]) -> list[str]:
    """Return the terms that add up to the slack, as LaTeX, leaving out those that are zero."""
    return [term(text) for text in proof.get("terms", ()) if not text.startswith("(0) * ")]


def has_hypotheses(proof: dict[str, Any]) -> bool:
    """Whether a term rests on the sign of a hypothesis's quantity."""
    return any("* [" in text for text in proof.get("terms", ()))


def term(text: str) -> str:
    r"""Return one term as LaTeX.

    >>> term("(epsilon/m) * (<c, g>)^2 * [x \\le 1]")
    '\\frac{\\epsilon}{m}\\;\\langle c, g\\rangle^{2}\\;\\big[\\,x \\le 1\\,\\big]'
    """
    weight, *factors = split(text, " * ")
    shown = expression(weight[1:-1])
    kept = [] if shown == "1" else [shown if len(split(shown, " + ")) == 1 else f"({shown})"]
    return r"\;".join([*kept, *map(_factor, factors)])


def _factor(text: str) -> str:
    if text.startswith("["):
        return rf"\big[\,{text[1:-1]}\,\big]"
    if text.startswith("|"):
        return rf"\Big\|{_vector(text[1:-3])}\Big\|^2"
    inner = expression(text[1:-3])
    is_atom = inner.startswith(r"\langle") and inner.count(r"\rangle") == 1 == inner.count(",")
    return f"{inner}^{{2}}" if is_atom else rf"\Big({inner}\Big)^2"


def _vector(text: str) -> str:
    """A combination ``(coefficient)*name + ...``."""
    shown = []
    for part in split(text, " + "):
        coefficient, _, name = part.rpartition("*")
        scale = expression(coefficient[1:-1])
        symbol = name.replace("one", r"\mathbf 1")
        wrapped = rf"\Big({scale}\Big)" if _is_sum(coefficient[1:-1]) else scale
        shown.append(symbol if scale == "1" else rf"{wrapped}\,{symbol}")
    return " + ".join(shown)


def _is_sum(text: str) -> bool:
    return len(split(text, " + ")) > 1 or len(split(text, " - ")) > 1


def split(text: str, separator: str) -> list[str]:
    """Split where the separator stands outside of every bracket.

    >>> split("(a * b) * [c * d]", " * ")
    ['(a * b)', '[c * d]']
    """
    parts, depth, start, position = [], 0, 0, 0
    while position < len(text):
        depth += (text[position] in _OPENING) - (text[position] in _CLOSING)
        if depth == 0 and text.startswith(separator, position):
            parts.append(text[start:position])
            position = start = position + len(separator)
        else:
            position += 1
    return [*parts, text[start:]]
