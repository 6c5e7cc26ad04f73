"""An exact counterexample as a reader can check it: its numbers, and both sides."""

from __future__ import annotations

from typing import Any

from theory.statement import Relation, Statement
from verify.site.expressions import UnreadableExpressionError, expression
from verify.site.markup import display
from verify.site.numbers import approximately, decimal, number

MATRICES = {
    "H": "H",
    "W": "W",
    "b": "b",
    "gamma": r"\gamma",
    "beta": r"\beta",
    "mean": r"\mu",
    "deviation": r"\sigma",
    "curvature": "s",
    "direction": "x",
    "scaling": "d",
    "h": "h",
    "w": "w",
    "theta": r"\theta",
    "factor": "F",
    "P": "P",
    "step": r"\alpha",
    "q": "q",
    "couples": r"\text{coupled}",
    "linear": r"\ell",
    "quadratic": "Q",
    "fourth": "f",
    "pooled": "t",
}
"""The numbers of layers, maps and descents, by the names that a claim has for them."""
LETTERS = {
    "y": "y",
    "gamma": r"\gamma",
    "beta": r"\beta",
    "eps": r"\epsilon",
    "u": "u",
    "v": "v",
    "lambda": r"\lambda",
}
ALWAYS = ("y", "gamma", "beta")
KNOWN = (*LETTERS, "m", "loss", "parameters", "actual", "claimed", "arithmetic")
NEGATED = {
    Relation.EQUAL: r"\ne",
    Relation.AT_MOST: ">",
    Relation.AT_LEAST: "<",
    Relation.LESS_THAN: r"\ge",
    Relation.MORE_THAN: r"\le",
}


def written(found: dict[str, Any], claim: Statement) -> str:
    """Return the counterexample as MyST text: the case, then both sides."""
    lines = [r",\quad ".join(part) for part in (_chosen(found), _given(found)) if part]
    stretch = r"\def\arraystretch{1.25}" if "tfrac" in "".join(lines) else ""
    stacked = r" \\[.4em] ".join(lines)
    shown = display(rf"\begin{{gathered}} {stretch} {stacked} \end{{gathered}}") if lines else ""
    return "\n".join([f"{_opening(found)}, with", "", shown, sides(found, claim)])


def _opening(found: dict[str, Any]) -> str:
    """Return the size, and what the case has besides numbers."""
    if "m" in found:
        return f"Batch size $m = {found['m']}$ and the loss {_loss(found['loss'])}"
    if is_measured(found):
        return f"Sizes ${found['size']}$ and entries of the distribution {found['distribution']}"
    return f"Sizes ${found['size']}$"


def case(found: dict[str, Any]) -> str:
    """Return the numbers of the case in one sentence."""
    given = ", ".join(f"${_small(text)}$" for text in _given(found))
    chosen = ", ".join(f"${_small(text)}$" for text in _chosen(found))
    if "m" not in found:
        return f"{_opening(found)}: {chosen}." if chosen else f"{_opening(found)}."
    where = f" with {given}" if given else ""
    return f"Batch size $m = {found['m']}$, {chosen}, and the loss {_loss(found['loss'])}{where}."


def _small(tex: str) -> str:
    """Return a matrix at the height of a line."""
    inner = tex.replace(r"\begin{pmatrix}", r"\big(\begin{smallmatrix}")
    return inner.replace(r"\end{pmatrix}", r"\end{smallmatrix}\big)")


def _chosen(found: dict[str, Any]) -> list[str]:
    """Return the batch and the layer, or the matrices, one equation each."""
    if "m" not in found:
        return [f"{tex} = {number(_thin(found[n]))}" for n, tex in MATRICES.items() if n in found]
    return [f"{LETTERS[n]} = {number(found[n])}" for n in LETTERS if _counts(found, n)]


def _given(found: dict[str, Any]) -> list[str]:
    """Return the loss's parameters, one equation each."""
    return [f"{letter} = {number(value)}" for letter, value in _parameters(found)]


def sides(found: dict[str, Any], claim: Statement) -> str:
    """Return both sides as a displayed comparison that contradicts the statement."""
    actual, claimed = found["actual"], found["claimed"]
    values = approximately(actual), approximately(claimed)
    shown = display(
        rf"\underbrace{{{number(actual)}}}_{{\text{{actual}}}} \;{NEGATED[claim.relation]}\;"
        rf" \underbrace{{{number(claimed)}}}_{{\text{{claimed}}}}"
    )
    if None in values or not any("/" in str(s) or "sqrt" in str(s) for s in (actual, claimed)):
        return shown
    first, second = (decimal(value, 4) for value in values if value is not None)
    return f"{shown}\nIn decimals: actual ${first}$, claimed ${second}$.\n"


def in_one_line(found: dict[str, Any], claim: Statement) -> str:
    """Return case and sides as one sentence."""
    return (
        f"{case(found).removesuffix('.')}: actual ${number(found['actual'])}$,"
        f" claimed ${number(found['claimed'])}$."
    )


def arithmetic(found: dict[str, Any]) -> str:
    """Return how the comparison was decided."""
    if found.get("arithmetic") == "exact":
        return "Both sides were computed in exact arithmetic."
    if is_measured(found):
        return (
            f"Decided by sampling ({found['arithmetic']}): the lower end of the interval holds with"
            " that confidence whatever the distribution, its upper end is Student's."
        )
    return (
        f"Decided in {found.get('arithmetic', 'certified')} arithmetic: an interval $a \\pm r$ is"
        " certain to hold the true value."
    )


def is_measured(found: dict[str, Any]) -> bool:
    """Whether a counterexample is an expectation, which sampling decides with some confidence."""
    return "distribution" in found


def _parameters(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the loss's parameters, whether they are grouped or beside the other numbers."""
    if "m" not in found:
        return []
    if "parameters" in found:
        return list(found["parameters"].items())
    return [(name, value) for name, value in found.items() if name not in KNOWN]


def _counts(found: dict[str, Any], name: str) -> bool:
    """Whether a letter is worth showing: a direction of zeros is one that the claim ignores."""
    value = found.get(name)
    if value is None or name in ALWAYS:
        return value is not None
    return value != "1" if name == "lambda" else any(v != "0" for v in _flat(value))


def _thin(value: Any) -> Any:
    """Return nested lists without the outer axes of length one that a matrix does not need."""
    while _depth(value) > 2 and len(value) == 1:
        (value,) = value
    return value


def _depth(value: Any) -> int:
    return 1 + _depth(value[0]) if isinstance(value, list) else 0


def _flat(value: Any) -> list[str]:
    return [v for entry in value for v in _flat(entry)] if isinstance(value, list) else [value]


def _loss(formula: str) -> str:
    try:
        return f"$L(z) = {expression(formula)}$"
    except UnreadableExpressionError:
        return f"L(z) = `{formula}`"
