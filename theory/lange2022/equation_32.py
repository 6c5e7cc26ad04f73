r"""The proof of Theorem 4, equation (32) and the two cases of the smallest eigenvalue.

All steps hold, at a generic vector z = (t, x), but for a number: line 621 announces (29) where (28)
is used.  In the second case, line 633, the numerator must not be negative; it is
:math:`z^\top\hat H^\top\hat H z` at (s, x), so it is not, which the text needs and does not say.
Both cases are replaced by one line of :mod:`theory.lange2022.theorem_4_centring_steps`.
"""

from typing import Any

from theory.lange2022.equations_28_31 import LINE_28, along, line, line_29, parts
from theory.lange2022.spectral import augmented, centred_and_ones, form, stacked
from theory.matrix_claim import Layer
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def line_621(layer: Layer) -> Sides:
    """The numerator of the smallest eigenvalue's quotient, by (29)."""
    return Sides(form(centred_and_ones(layer.H), layer.direction), line_29(layer).claimed)


def numerator(layer: Layer, t: Any) -> Any:
    """The right side of (28) at (t, x)."""
    N, _, m, square = parts(layer)
    return N * (t**2 - m**2) + square


def completed(layer: Layer, t: Any) -> Any:
    """The numerator of the quotient before centring at (t, x)."""
    N, _, m, square = parts(layer)
    return N * (t + m) ** 2 - N * m**2 + square


def line_32(layer: Layer) -> Sides:
    """The quotient's numerator with t replaced by -t, and with x by -x."""
    t, x = layer.direction[0], layer.direction[1:]
    F = centred_and_ones(layer.H)
    flipped = stacked(form(F, stacked(-t, x)), stacked(form(F, stacked(t, -x)), x[:0]))
    return Sides(flipped, form(F, layer.direction))


def square(layer: Layer) -> Any:
    """The squared length of x."""
    return layer.direction[1:] @ layer.direction[1:]


def first_case(layer: Layer) -> Sides:
    """Line 628."""
    t = layer.direction[0]
    length = t**2 + square(layer)
    return Sides(numerator(layer, t) / length, completed(layer, t) / length)


def first_case_slack(layer: Layer) -> list[Term]:
    """N times -m(2t + m)."""
    length = layer.direction[0] ** 2 + square(layer)
    return [Term(layer.H.shape[0] / length, (MEAN_BELOW, MEAN_ABOVE_MINUS_2T))]


def mirrored(layer: Layer) -> Any:
    """The number s."""
    return -layer.direction[0] - along(layer)


def second_case_numerators(layer: Layer) -> Sides:
    """Line 632: the same numerator with s."""
    return Sides(numerator(layer, layer.direction[0]), completed(layer, mirrored(layer)))


def second_case(layer: Layer) -> Sides:
    """Line 633: the larger denominator."""
    s, top = mirrored(layer), completed(layer, mirrored(layer))
    return Sides(top / (layer.direction[0] ** 2 + square(layer)), top / (s**2 + square(layer)))


def second_case_slack(layer: Layer) -> list[Term]:
    """The numerator, which is a square, times m(2t + m), over both lengths."""
    s, x = mirrored(layer), layer.direction[1:]
    weight, r = 1 / (layer.direction[0] ** 2 + square(layer)), 1 / (s**2 + square(layer))
    image = augmented(layer.H) @ stacked(s, x)
    return [Term(weight, (r, part, image, MEAN_BELOW, MEAN_BELOW_MINUS_2T)) for part in (s, x)]


MEAN_BELOW = Hypothesis(r"x^\top\mu_H \le 0", lambda layer: -along(layer))
MEAN_ABOVE_MINUS_2T = Hypothesis(
    r"x^\top\mu_H \ge -2t", lambda layer: 2 * layer.direction[0] + along(layer)
)
MEAN_BELOW_MINUS_2T = Hypothesis(
    r"x^\top\mu_H \le -2t", lambda layer: -2 * layer.direction[0] - along(layer)
)

QUOTIENT = (
    r"\frac{{N({0} + x^\top\mu_H)^2 - N(x^\top\mu_H)^2 + x^\top H^\top H x}}{{{1}^2 + x^\top x}}"
)
LEFT = r"\frac{Nt^2 - N(x^\top\mu_H)^2 + x^\top H^\top H x}{t^2 + x^\top x}"

CLAIMS = [
    line(
        "621",
        621,
        "First, using (29), we have",
        r"z^\top U^\top\hat H^\top\hat H U z = N(t^2 + 2t x^\top\mu_H) + x^\top H^\top H x",
        sides=line_621,
        expected=Verdict.REFUTED,
        corrected_by=LINE_28.id,
        remark="The number alone is wrong: the display that follows has the right side of (28).",
    ),
    line(
        "32",
        626,
        "holds since the function is not dependent on the sign of",
        r"f(-t, x) = f(t, -x) = f(t, x),\quad f(z) = z^\top U^\top\hat H^\top\hat H U z",
        sides=line_32,
    ),
    line(
        "628",
        628,
        r"\frac{Nt^{2}-N(x^{T}\mu_{H})^{2}+x^{T}H^{T}Hx}{t^{2}+x^{T}x}\geq",
        LEFT + r" \ge " + QUOTIENT.format("t", "t"),
        sides=first_case,
        relation=Relation.AT_LEAST,
        hypotheses=(MEAN_BELOW, MEAN_ABOVE_MINUS_2T),
        certificate=first_case_slack,
    ),
    line(
        "632",
        632,
        r"=\frac{N(s+x^{T}\mu_{H})^{2}",
        r"Nt^2 - N(x^\top\mu_H)^2 + x^\top H^\top H x"
        r" = N(s + x^\top\mu_H)^2 - N(x^\top\mu_H)^2 + x^\top H^\top H x,\ s = -t - x^\top\mu_H",
        sides=second_case_numerators,
    ),
    line(
        "633",
        633,
        r"\geq\frac{N(s+x^{T}\mu_{H})^{2}",
        QUOTIENT.format("s", "t") + r" \ge " + QUOTIENT.format("s", "s"),
        sides=second_case,
        relation=Relation.AT_LEAST,
        hypotheses=(MEAN_BELOW, MEAN_BELOW_MINUS_2T),
        certificate=second_case_slack,
        remark="The numerator is not negative, because it is a square at (s, x): not said.",
    ),
]
