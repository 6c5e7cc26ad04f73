"""A counterexample in plain text, to be checked with a pencil: the case, the loss, both sides."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from theory.language.expression import Letter
from theory.statement import Relation, Statement
from verify.counterexamples import is_of_a_batch, numbers, of_loss, point, sizes
from verify.results import Counterexample, Example, in_words
from verify.site.markup import harmless
from verify.site.numbers import SUPERSCRIPTS, approximately, typeset

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
_TOP = re.compile(r"\^\\top ?")
_COMMAND = re.compile(r"\\([A-Za-z]+) ?")
_WORDS = re.compile(r"\\text\{([^{}]*)\}")
_INDEX = re.compile(r"_(?:\{([^{}]*)\}|(\w))")
_FLOAT = r"\d+(?:\.\d+)?(?:e[-+]?\d+)?"
_SYMBOL = re.compile(r"\b(theta|[Labstz])('?)(?:_([\d,]+))?(?!\w)")
_DECIMAL = re.compile(r"(?<![\w./])\d+\.\d+(?:e[-+]?\d+)?")
_POWER = re.compile(r"\^([-−]?\d+)(?![\w.(])")
_HYPHENATED = re.compile(r"(?<=[A-Za-z])-(?=[A-Za-z])")
_ROOT = re.compile(r"sqrt\((\w)\)")
_TRANSPOSED = re.compile(r"(?<=[A-Z])'(?![A-Za-z])")
_BALL = re.compile(rf"\[(-?{_FLOAT}) \+/- ({_FLOAT})\]")
PRIME = "′"
"""Not the sign that a page's typography takes for a quotation mark."""
SIGNS = {
    ">=": "≥", "⟩=": "≥", "<=": "≤", "⟨=": "≤", " > ": " &gt; ", " ⟩ ": " &gt; ",
    " < ": " &lt; ", " ⟨ ": " &lt; ", "<": "⟨", ">": "⟩", "**": "^", "*": "·", "sqrt(": "√(",
}  # fmt: skip
"""Of comparisons, inner products, powers and products, as the evidence writes them."""
DENIED = {"=": "≠", "<=": "&gt;", ">=": "&lt;", "<": "≥", ">": "≤"}
"""How sides do not compare where a relation fails."""


def sentence(found: Counterexample, claim: Statement) -> str:
    """Return the case and both sides as one line of HTML."""
    sides = harmless(found)
    return f"{case(found, claim)}. Then {compared(sides.actual, sides.claimed, claim.relation)}."


def equality(found: Example, claim: Statement) -> str:
    """Return the case and both sides, which are equal, as one line of HTML."""
    return f"{case(found, claim)}. Then both sides are {_side(harmless(found).actual)}."


def case(found: Example, claim: Statement) -> str:
    """Return the case as HTML."""
    found = harmless(found)
    size = in_words([known]) if (known := sizes(found, claim)) else ""
    told = [f"<i>{written(letter)}</i> = {plain(thin(v))}" for letter, v in numbers(found, claim)]
    if is_of_a_batch(found):
        size, told = "", [f"<i>m</i> = {found.size['m']}", *told]
    law = prose(found.distribution)
    drawn = f"entries of the distribution {law}" if law else ""
    loss = polynomial(of_loss(found, claim))
    return "; ".join(filter(None, [size, drawn, ", ".join(told), loss, prose(found.because)]))


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
                return f"in entry {i}, {_side(x)} {sign} {_side(y)}"
    return f"{_side(actual)} {sign} {_side(claimed)}"


def _side(text: str) -> str:
    """Return a side, decimals rounded as those of balls are.

    >>> _side("2.021728515625"), _side("[9.876543e-5 +/- 1.2e-15]")
    ('2.02173', '9.87654·10⁻⁵')
    """
    return plain(_DECIMAL.sub(lambda found: f"{float(found[0]):.6g}", text))


def _middle(text: str) -> float | None:
    return approximately(_BALL.sub(r"\1", text))


def written(letter: Letter | str) -> str:
    r"""Return a letter as HTML.

    >>> written(Letter("sigma", r"\tilde\sigma")), written(Letter("x_i", "x_i"))
    ('σ̃', 'x<sub>i</sub>')
    """
    if isinstance(letter, str):
        return GREEK.get(letter, letter)
    text = _TOP.sub("ᵀ", _WORDS.sub(r"\1", letter.latex))
    text = _ACCENTED.sub(lambda found: found[2] + ACCENTS[found[1]], text)
    text = _COMMAND.sub(lambda found: GREEK.get(found[1], f"{found[1]} "), text)
    text = text.replace(r"\#", "# ").replace("^2", "²").replace("^*", "*")
    text = text.replace("'", PRIME)
    return _INDEX.sub(r"<sub>\1\2</sub>", text)


def polynomial(loss: str) -> str:
    """Return a loss as HTML.

    >>> polynomial("L(z) = (z_1 - 2 z_2)^2/2")
    '<i>L</i>(<i>z</i>) = (<i>z</i><sub>1</sub> − 2 <i>z</i><sub>2</sub>)²/2'
    >>> polynomial("L(a) = a'_1^2/2")
    '<i>L</i>(<i>a</i>) = <i>a</i>′<sub>1</sub>²/2'
    """
    return _powers(_SYMBOL.sub(_symbol, plain(loss)))


def prose(text: str) -> str:
    """Return words and formulas of the evidence as HTML.

    >>> prose("numerator >= 2*n**2*(n - 1): the k-th power is tr (GG')^(k/2)")
    'numerator ≥ 2·n²·(n − 1): the k-th power is tr (GGᵀ)^(k/2)'
    """
    return _powers(_TRANSPOSED.sub("ᵀ", _typeset(text)))


def _powers(text: str) -> str:
    return _POWER.sub(lambda found: found[1].translate(SUPERSCRIPTS), text)


def _typeset(text: str) -> str:
    """Return a text with a mathematician's signs for a program's."""
    text = typeset(_ROOT.sub(r"√\1", text))
    for sign, written_ in SIGNS.items():
        text = text.replace(sign, written_)
    return _HYPHENATED.sub("\0", text).replace("-", "−").replace("\0", "-")


def _symbol(found: re.Match[str]) -> str:
    letter, mark, index = found.groups("")
    below = index and f"<sub>{index}</sub>"
    return f"<i>{GREEK.get(letter, letter)}</i>{mark and PRIME}{below}"


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
        return _typeset(_BALL.sub(_ball, text))
    if len(text) > LONG and (about := approximately(text)) is not None:
        return _typeset(f"about {about:.4g}")
    rooted = re.sub(r"\*?sqrt\((\d+)\)", r"√\1", text)
    return _typeset(re.sub(r"(\d+)/(\d+)√(\d+)", _over, rooted))


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


def arithmetic(found: Counterexample, told: str) -> str:
    """Return how the comparison was decided that a sentence tells."""
    found = harmless(found)
    if found.because:
        return "Both bounds were compared in exact arithmetic, and agree with matrices drawn."
    if found.arithmetic == "exact":
        rounded = "; what is told of them is rounded" if "about" in told else ""
        return f"Both sides were computed in exact arithmetic{rounded}."
    if found.distribution:
        return (
            f"Decided by sampling ({found.arithmetic}): the lower end of the interval holds with"
            " that confidence whatever the distribution, its upper end is Student's."
        )
    if "±" in told:
        return (
            "Decided in ball arithmetic: an interval $a \\pm r$ is certain to hold the true value."
        )
    return "Decided in ball arithmetic, which encloses both sides with certainty."
