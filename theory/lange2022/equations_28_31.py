r"""The proof of Theorem 4, equations (28) to (31), at a generic vector z = (t, x).

All of them hold, with the strictness that the text claims; strict inequalities are multiplied by
their denominators.
"""

from dataclasses import replace
from typing import Any

from theory.lange2022.spectral import (
    MEAN_NONZERO,
    augmented,
    centred,
    centred_and_ones,
    form,
    mean,
)
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def along(layer: Layer) -> Any:
    r""":math:`x^\top\mu_H`."""
    return layer.direction[1:] @ mean(layer)


def parts(layer: Layer) -> tuple[Any, Any, Any, Any]:
    r"""N, t, :math:`x^\top\mu_H` and :math:`x^\top H^\top H x`."""
    t, x = layer.direction[0], layer.direction[1:]
    return layer.H.shape[0], t, along(layer), form(layer.H, x)


def line_28(layer: Layer) -> Sides:
    """After centring."""
    N, t, m, square = parts(layer)
    return Sides(form(centred_and_ones(layer.H), layer.direction), N * (t**2 - m**2) + square)


def line_29(layer: Layer) -> Sides:
    """Before centring."""
    N, t, m, square = parts(layer)
    return Sides(form(augmented(layer.H), layer.direction), N * (t**2 + 2 * t * m) + square)


def line_602(layer: Layer) -> Sides:
    """Before centring, the square completed."""
    N, t, m, square = parts(layer)
    claimed = N * (t + m) ** 2 - N * m**2 + square
    return Sides(form(augmented(layer.H), layer.direction), claimed)


def line_30(layer: Layer) -> Sides:
    """N against the quotient at (1, mean)."""
    N, mu = layer.H.shape[0], mean(layer)
    top = N * (1 + 2 * (mu @ mu)) + form(layer.H, mu)
    return Sides(N + 0 * mu[0], top / (1 + mu @ mu))


def line_30_slack(layer: Layer) -> list[Term]:
    """Squares over 1 + the square of the mean, written as squares times its square."""
    N, mu = layer.H.shape[0], mean(layer)
    r, image = 1 / (1 + mu @ mu), layer.H @ mu
    return [
        Term(weight, (r, vector, *more))
        for weight, vector in ((N, mu), (1, image))
        for more in ((), (mu,))
    ]


def line_30_strict(layer: Layer) -> Sides:
    """Multiplied by the denominator."""
    N, mu = layer.H.shape[0], mean(layer)
    return Sides(N * (1 + mu @ mu), N * (1 + 2 * (mu @ mu)) + form(layer.H, mu))


def line_30_strict_slack(layer: Layer) -> list[Term]:
    """N times the square of the mean, and a square."""
    return [Term(layer.H.shape[0], (MEAN_NONZERO,)), Term(1, (layer.H @ mean(layer),))]


def line_31(layer: Layer) -> Sides:
    """The quotient of C against that of A's lower block."""
    x = layer.direction[1:]
    return Sides(form(centred(layer.H), x) / (x @ x), form(layer.H, x) / (x @ x))


def line_31_slack(layer: Layer) -> list[Term]:
    """N times the square of the mean along x."""
    x = layer.direction[1:]
    return [Term(layer.H.shape[0] / (x @ x), (along(layer),))]


def line_31_strict(layer: Layer) -> Sides:
    """Multiplied by the denominator."""
    x = layer.direction[1:]
    return Sides(form(centred(layer.H), x), form(layer.H, x))


def line_31_strict_slack(layer: Layer) -> list[Term]:
    """The hypothesis."""
    return [Term(layer.H.shape[0], (NOT_ORTHOGONAL,))]


NOT_ORTHOGONAL = Hypothesis(
    r"x^\top\mu_H \ne 0", lambda layer: along(layer) ** 2, Relation.MORE_THAN
)
LINE_28 = MatrixClaim(
    id="L-eq-28-32/28",
    row="L-eq-28-32",
    locations=at(594, "App. A, proof of Theorem 4, (28)", r"N(t^{2}-(x^{T}\mu_{H})^{2})"),
    statement=r"z^\top U^\top\hat H^\top\hat H U z = N(t^2 - (x^\top\mu_H)^2) + x^\top H^\top H x",
    sides=line_28,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one batch and vector",
)


def line(name: str, number: int, quote: str, statement: str, **changes: Any) -> MatrixClaim:
    """Return the claim of another line of the proof."""
    return replace(
        LINE_28,
        id=f"L-eq-28-32/{name}",
        locations=at(number, "App. A, proof of Theorem 4", quote),
        statement=statement,
        **changes,
    )


LINE_31 = line(
    "31",
    615,
    r"-N(x_{\max}^{T}\mu_{H})^{2}+x_{\max}^{T}H^{T}Hx_{\max}",
    r"\frac{x^\top(H - e\mu_H^\top)^\top(H - e\mu_H^\top)x}{x^\top x}"
    r" \le \frac{x^\top H^\top H x}{x^\top x}",
    sides=line_31,
    relation=Relation.AT_MOST,
    certificate=line_31_slack,
)
LINE_30 = line(
    "30",
    607,
    r"\leq\frac{N(1+2\mu_{H}^{T}\mu_{H})",
    r"N \le \frac{N(1 + 2\mu_H^\top\mu_H) + \mu_H^\top H^\top H\mu_H}{1 + \mu_H^\top\mu_H}",
    sides=line_30,
    relation=Relation.AT_MOST,
    certificate=line_30_slack,
)

CLAIMS = [
    LINE_28,
    line(
        "29",
        601,
        r"N(t^{2}+2tx^{T}\mu_{H})+x^{T}H^{T}Hx",
        r"z^\top\hat H^\top\hat H z = N(t^2 + 2t x^\top\mu_H) + x^\top H^\top H x",
        sides=line_29,
    ),
    line(
        "602",
        602,
        r"N(t+x^{T}\mu_{H})^{2}-N(x^{T}\mu_{H})^{2}",
        r"z^\top\hat H^\top\hat H z = N(t + x^\top\mu_H)^2 - N(x^\top\mu_H)^2 + x^\top H^\top H x",
        sides=line_602,
    ),
    LINE_30,
    line(
        "30-strict",
        611,
        "where the inequality (30) is strict if",
        r"N(1 + \mu_H^\top\mu_H) < N(1 + 2\mu_H^\top\mu_H) + \mu_H^\top H^\top H\mu_H",
        sides=line_30_strict,
        relation=Relation.LESS_THAN,
        hypotheses=(MEAN_NONZERO,),
        certificate=line_30_strict_slack,
    ),
    LINE_31,
    line(
        "31-strict",
        619,
        "where the inequality (31) is strict if",
        r"x^\top(H - e\mu_H^\top)^\top(H - e\mu_H^\top)x < x^\top H^\top H x",
        sides=line_31_strict,
        relation=Relation.LESS_THAN,
        hypotheses=(NOT_ORTHOGONAL,),
        certificate=line_31_strict_slack,
    ),
]
