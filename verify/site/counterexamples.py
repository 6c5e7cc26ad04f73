"""A counterexample in plain text, to be checked with a pencil: the case, the loss, both sides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from theory.claim import Claim
from theory.language.expression import Apply, Letter, Primitive
from theory.statement import Statement
from verify.letters import attributes, nodes, own
from verify.results import Counterexample, in_words
from verify.site.markup import harmless
from verify.site.numbers import approximately

LONG = 24
"""Characters of an exact number; a longer one is rounded for a reader."""
STANDS_FOR = {"u": "direction", "v": "other_direction", "lambda": "bound"}
"""What the numbers of a case are called, by the attribute that a statement's letter reads."""
GREEK = {
    "gamma": "γ", "beta": "β", "lambda": "λ", "eps": "ϵ", "mu": "μ", "sigma": "σ",
    "theta": "θ", "alpha": "α", "mean": "μ", "deviation": "σ", "step": "α", "curvature": "s",
    "scaling": "d", "direction": "x", "epsilon": "ϵ", "varepsilon": "ε", "ell": "ℓ", "rho": "ρ",
    "Lambda": "Λ", "delta": "δ", "mathbf": "",
}  # fmt: skip
LOSS = {"loss", "parameters"}
MATRICES = {"H", "W"}
"""Where a statement takes a subject's matrices for others, its sizes say nothing."""
_COMMAND = re.compile(r"\\([A-Za-z]+) ?")
RELATIONS = {"=": "≠", "<=": "&gt;", ">=": "&lt;", "<": "≥", ">": "≤"}


def sentence(found: Counterexample, claim: Statement) -> str:
    """Return the case and both sides as one line of HTML."""
    found = harmless(found)
    size, case = "" if found.letters.keys() >= MATRICES else in_words([found.size]), []
    if is_of_a_batch(found):
        size, case = "", [f"<i>m</i> = {found.size['m']}"]
    case += [f"<i>{name}</i> = {plain(value)}" for name, value in numbers(found, claim)]
    loss = polynomial(found) if is_about_the_loss(claim) and "loss" in found.numbers else ""
    drawn = f"entries of the distribution {found.distribution}" if found.distribution else ""
    told = [size, drawn, ", ".join(case), f"<i>L</i>(<i>z</i>) = {loss}" if loss else ""]
    opening = "; ".join(part for part in told if part)
    compared = f"{plain(found.actual)} {RELATIONS[claim.relation.value]} "
    return f"{opening}. Then {compared}{plain(found.claimed)}."


def is_of_a_batch(found: Counterexample) -> bool:
    """Whether a counterexample is one unit's batch."""
    return "m" in found.size


def numbers(found: Counterexample, claim: Statement) -> Iterator[tuple[str, Any]]:
    """Yield the numbers that a statement speaks of, by its own letters for them."""
    letters = attributes(claim)
    for key, value in found.numbers.items():
        if key in LOSS or key in found.behind:
            continue
        if not is_of_a_batch(found):
            yield written(letters[key]) if key in letters else GREEK.get(key, key), thin(value)
        elif key in STANDS_FOR:
            if STANDS_FOR[key] in letters:
                yield written(letters[STANDS_FOR[key]]), value
        elif key == "y" or (key in ("gamma", "beta") and is_about_the_layer(claim)):
            yield GREEK.get(key, key), value
        elif key == "eps" and value != "0":
            yield "ϵ", value
    chosen = own(claim)
    for name, value in found.letters.items():
        yield written(chosen[name]) if name in chosen else name, thin(value)


def written(letter: Letter) -> str:
    """Return a letter as HTML."""
    text = _COMMAND.sub(lambda found: GREEK.get(found[1], found[1]), letter.latex)
    base, _, index = text.partition("_")
    return base + (f"<sub>{index}</sub>" if index else "")


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


def polynomial(found: Counterexample) -> str:
    """Return the loss written out in the entries of z, if it is a quadratic."""
    given = found.numbers["parameters"]
    if set(given) == {"a", "h"}:
        linear = list(_linear(given["a"]))
        curved = [] if _is_zero(given["h"]) else [_term(given["h"], "|z|²/2")]
        return _sum([*linear, *curved])
    if set(given) == {"a", "B"}:
        return square(given["a"], given["B"]) or _sum(
            [*_linear(given["a"]), *_quadratic(given["B"])]
        )
    told = ", ".join(f"<i>{name}</i> = {plain(value)}" for name, value in given.items())
    return f"{plain(found.numbers['loss'])} with {told}"


def square(linear: list[str], matrix: list[list[str]]) -> str:
    """Return the loss as half a square, up to a constant, if it is one.

    >>> square(["-2", "4"], [["1", "-2"], ["-2", "4"]]).replace("<i>z</i><sub>", "z").replace(
    ...     "</sub>", "")
    '(z1 − 2 z2 − 2)²/2'
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
    constant = [] if t == 0 else [plain(-t)]
    return f"({_sum([*_linear(w), *constant])})²/2" if is_square else ""


def _linear(entries: list[Any]) -> Iterator[str]:
    for k, entry in enumerate(entries, 1):
        if not _is_zero(entry):
            yield _term(entry, _z(k))


def _quadratic(matrix: list[list[Any]]) -> Iterator[str]:
    for i, row in enumerate(matrix, 1):
        for j, entry in enumerate(row[i - 1 :], i):
            if not _is_zero(entry):
                yield _term(entry, f"{_z(i)}²/2" if i == j else f"{_z(i)} {_z(j)}")


def _z(k: int) -> str:
    return f"<i>z</i><sub>{k}</sub>"


def _is_zero(value: Any) -> bool:
    return str(value) == "0"


def _term(coefficient: Any, what: str) -> str:
    text = plain(coefficient)
    if text in ("1", "−1"):
        return f"{text[:-1]}{what}"
    return f"({text}) {what}" if "+" in text or "−" in text[1:] else f"{text} {what}"


def _sum(terms: Iterable[str]) -> str:
    listed = list(terms)
    if not listed:
        return "0"
    joined = "".join(f" − {t[1:]}" if t.startswith("−") else f" + {t}" for t in listed)
    return joined[3:] if joined.startswith(" + ") else f"−{joined[3:]}"


def plain(value: Any) -> str:
    """Return a number, a vector or a matrix as text.

    >>> plain(["1/2", "-3*sqrt(2)"])
    '(1/2, −3√2)'
    >>> plain("[9.5 +/- 8.9e-17]")
    '9.5'
    """
    if isinstance(value, list):
        return f"({', '.join(map(plain, value))})"
    text = str(value)
    if (ball := re.fullmatch(r"\[(\S+) \+/- \S+\]", text)) is not None:
        return f"{float(ball[1]):.6g}".replace("-", "−")
    if len(text) > LONG and (about := approximately(text)) is not None:
        return f"about {about:.4g}".replace("-", "−")
    rooted = re.sub(r"\*?sqrt\((\d+)\)", r"√\1", text)
    fraction = re.sub(r"(\d+)/(\d+)√(\d+)", _over, rooted)
    return fraction.replace("-", "−").replace("*", "·").replace("<", "⟨").replace(">", "⟩")


def thin(value: Any) -> Any:
    """Return nested lists without the outer axes of length one that a matrix does not need.

    >>> thin([[["1", "2"]]])
    ['1', '2']
    """
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    return value


def _over(match: re.Match[str]) -> str:
    above = Fraction(int(match[1]))
    factor = "" if above == 1 else str(above)
    return f"{factor}√{match[3]}/{match[2]}"


def arithmetic(found: Counterexample) -> str:
    """Return how the comparison was decided."""
    found = harmless(found)
    if found.arithmetic == "exact":
        return "Both sides were computed in exact arithmetic."
    if found.distribution:
        return (
            f"Decided by sampling ({found.arithmetic}): the lower end of the interval holds with"
            " that confidence whatever the distribution, its upper end is Student's."
        )
    return (
        f"Decided in {found.arithmetic} arithmetic: an interval $a \\pm r$ is"
        " certain to hold the true value."
    )
