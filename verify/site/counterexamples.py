"""A counterexample in plain text, to be checked with a pencil: the case, the loss, both sides."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from theory.language.expression import Letter
from theory.statement import Relation, Statement
from verify.counterexamples import is_of_a_batch, numbers, of_loss, point, sizes
from verify.results import Counterexample, in_words
from verify.site.markup import harmless
from verify.site.numbers import approximately

LONG = 24
"""Characters of an exact number; a longer one is rounded for a reader."""
FEW = 8
"""Of so many entries all are told, of more one at which two vectors differ."""
MATRIX = 2
"""Axes of a matrix."""
CERTAIN = 1e-6
"""A ball is told as a number if its radius is a smaller part of it."""
GREEK = {
    "gamma": "γ", "beta": "β", "lambda": "λ", "eps": "ϵ", "mu": "μ", "sigma": "σ",
    "theta": "θ", "alpha": "α", "mean": "μ", "deviation": "σ", "step": "α", "curvature": "s",
    "scaling": "d", "direction": "x", "epsilon": "ϵ", "varepsilon": "ε", "ell": "ℓ", "rho": "ρ",
    "Lambda": "Λ", "delta": "δ", "tau": "τ", "nu": "ν", "upsilon": "υ", "nabla": "∇", "mathbf": "",
}  # fmt: skip
ACCENTS = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304"}
_ACCENTED = re.compile(r"\\(tilde|hat|bar) ?(\\[A-Za-z]+|\w)")
_COMMAND = re.compile(r"\\([A-Za-z]+) ?")
_WORDS = re.compile(r"\\text\{([^{}]*)\}")
_INDEX = re.compile(r"_(?:\{([^{}]*)\}|(\w))")
_FLOAT = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_SYMBOL = re.compile(r"\b(theta|[Labstz])('?)(?:_([\d,]+))?(?!\w)")
_BALL = re.compile(rf"\[(-?{_FLOAT}) \+/- ({_FLOAT})\]")
DENIED = {"=": "≠", "<=": "&gt;", ">=": "&lt;", "<": "≥", ">": "≤"}
"""How sides do not compare where a relation fails."""


def sentence(found: Counterexample, claim: Statement) -> str:
    """Return the case and both sides as one line of HTML."""
    found = harmless(found)
    size = in_words([known]) if (known := sizes(found)) else ""
    case = [f"<i>{written(letter)}</i> = {plain(thin(v))}" for letter, v in numbers(found, claim)]
    if is_of_a_batch(found):
        size, case = "", [f"<i>m</i> = {found.size['m']}", *case]
    drawn = f"entries of the distribution {found.distribution}" if found.distribution else ""
    told = [size, drawn, ", ".join(case), polynomial(of_loss(found, claim)), plain(found.because)]
    opening = "; ".join(part for part in told if part)
    return f"{opening}. Then {compared(found.actual, found.claimed, claim.relation)}."


def compared(actual: str, claimed: str, relation: Relation) -> str:
    """Return how the sides do not compare; of vectors in order, or long ones, an entry that fails.

    >>> compared("(2, 1058)", "(32, 128)", Relation.AT_MOST)
    'in entry 2, 1058 &gt; 128'
    """
    sign = DENIED[relation.value]
    sides = [side.strip("()").split(", ") for side in (actual, claimed)]
    count = max(map(len, sides))
    if count > (FEW if relation is Relation.EQUAL else 1):
        pairs = zip(*(side * (count // len(side)) for side in sides), strict=True)
        for i, (x, y) in enumerate(pairs, 1):
            left, right = _middle(x), _middle(y)
            if left is not None and right is not None and relation.fails(left, right):
                return f"in entry {i}, {plain(x)} {sign} {plain(y)}"
    return f"{plain(actual)} {sign} {plain(claimed)}"


def _middle(text: str) -> float | None:
    return approximately(_BALL.sub(r"\1", text))


def written(letter: Letter | str) -> str:
    r"""Return a letter as HTML.

    >>> written(Letter("sigma", r"\tilde\sigma")), written(Letter("x_i", "x_i"))
    ('σ̃', 'x<sub>i</sub>')
    """
    if isinstance(letter, str):
        return GREEK.get(letter, letter)
    text = _WORDS.sub(r"\1", letter.latex)
    text = _ACCENTED.sub(lambda found: found[2] + ACCENTS[found[1]], text)
    text = _COMMAND.sub(lambda found: GREEK.get(found[1], f"{found[1]} "), text)
    text = text.replace(r"\#", "# ").replace("^2", "²").replace("^*", "*")
    return _INDEX.sub(r"<sub>\1\2</sub>", text)


def polynomial(loss: str) -> str:
    """Return a loss as HTML.

    >>> polynomial("L(z) = (z_1 - 2 z_2)^2/2")
    '<i>L</i>(<i>z</i>) = (<i>z</i><sub>1</sub> − 2 <i>z</i><sub>2</sub>)²/2'
    """
    return _SYMBOL.sub(_symbol, plain(loss)).replace("^2", "²").replace("^4", "⁴")


def _symbol(found: re.Match[str]) -> str:
    letter, mark, index = found.groups("")
    below = index and f"<sub>{index}</sub>"
    return f"<i>{GREEK.get(letter, letter)}</i>{mark}{below}"


def plain(value: Any) -> str:
    """Return a number, a vector or a matrix as text.

    >>> plain(["1/2", "-3*sqrt(2)"])
    '(1/2, −3√2)'
    >>> plain("[9.5 +/- 8.9e-17]"), plain("[0.9268 +/- 0.0062]")
    ('9.5', '0.9268 ± 0.0062')
    """
    if isinstance(value, list):
        return f"({', '.join(map(plain, value))})"
    text = point(str(value))
    if _BALL.search(text):
        return _BALL.sub(_ball, text).replace("-", "−")
    if len(text) > LONG and (about := approximately(text)) is not None:
        return f"about {about:.4g}".replace("-", "−")
    rooted = re.sub(r"\*?sqrt\((\d+)\)", r"√\1", text)
    fraction = re.sub(r"(\d+)/(\d+)√(\d+)", _over, rooted)
    return fraction.replace("-", "−").replace("*", "·").replace("<", "⟨").replace(">", "⟩")


def _ball(found: re.Match[str]) -> str:
    middle, radius = float(found[1]), float(found[2])
    if radius <= CERTAIN * abs(middle):
        return f"{middle:.6g}"
    return f"{middle:.6g} ± {radius:.2g}"


def thin(value: Any) -> Any:
    """Return nested lists without the axes of length one that a reader does not need.

    A matrix keeps those within it, which tell a column from a row.

    >>> thin([[["1", "2"]]]), thin([[["1"], ["2"]]])
    (['1', '2'], [['1'], ['2']])
    >>> thin([[[["0"], ["1"]]], [[["2"], ["3"]]]])
    [['0', '1'], ['2', '3']]
    """
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    return _squeezed(value) if _depth(value) > MATRIX else value


def _depth(value: Any) -> int:
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def _squeezed(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return _squeezed(value[0]) if len(value) == 1 else list(map(_squeezed, value))


def _over(match: re.Match[str]) -> str:
    above = Fraction(int(match[1]))
    factor = "" if above == 1 else str(above)
    return f"{factor}√{match[3]}/{match[2]}"


def arithmetic(found: Counterexample) -> str:
    """Return how the comparison was decided."""
    found = harmless(found)
    if found.because:
        return "Both bounds were compared in exact arithmetic, and agree with matrices drawn."
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
