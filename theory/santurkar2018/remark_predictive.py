r"""The remark after Theorem 4.2: the gradients are "more predictive".

Its two conditions are that the quadratic forms of H and <yhat, g> are non-negative.
"More predictive" can be read as a smaller second-order term (``smoothness``), or a smaller change
of the gradient, which is what the paper's figures measure (``gradient``).  Both are false, even
with gamma = sigma and beta = mean, where both networks give the same outputs: 4.2 bounds h'Hh h by
h'Hh, which exceeds g'Hg where the projection lengthens g in the norm of H; and for a linear loss
the standard network's gradient does not change at all.  The change Hh h always has the part
-|h|^2/(m sigma) yhat: the floor that the last entry proves.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Term,
    Verdict,
    gradient_in_y,
    hessian_in_y,
)
from theory.santurkar2018.second_derivative import bending, twice
from theory.santurkar2018.texts import final
from theory.santurkar2018.theorem_4_1 import IDENTITY_LAYER
from theory.santurkar2018.theorem_4_2_relative_norms import NOT_LONGER, POSITIVE, RATIO, from_ratio


def smoothness(network: Network, at: Letters) -> Sides:
    """The second-order terms of a step along either network's gradient."""
    h = gradient_in_y(network)
    return Sides(bending(network, h), inner(at.g, at.H(at.g)))


def smoothness_convex(network: Network, at: Letters) -> Sides:
    """The same for the convex loss <v, z - y>^2/2 + <u, z>, at z = y: g = u and H = vv'."""
    u, v = network.direction, network.other_direction

    def hat(y: Any) -> Any:
        z = network.forward(y)
        return inner(v, z - network.y) ** 2 / 2 + inner(u, z)

    h = network.gradient(hat, network.y)
    return Sides(twice(network, hat, network.y, h, h), inner(u, v) ** 2)


def gradient_change(network: Network, at: Letters) -> Sides:
    """The first-order change of either network's gradient along itself."""
    h = gradient_in_y(network)
    return Sides(norm_squared(hessian_in_y(network, h)), norm_squared(at.H(at.g)))


def floor(network: Network, at: Letters) -> Sides:
    """The change of the gradient, and the part along yhat that no loss removes."""
    h = gradient_in_y(network)
    right = norm_squared(h) ** 2 / (at.m * at.sigma**2)
    return Sides(norm_squared(hessian_in_y(network, h)), right)


def floor_slack(network: Network, at: Letters) -> list[Term]:
    """What of the change is orthogonal to yhat."""
    h = gradient_in_y(network)
    return [Term(1, (hessian_in_y(network, h) + at.yhat * (norm_squared(h) / (at.m * at.sigma)),))]


MEETS_CONVEX = Hypothesis(
    r"\langle\hat y, g\rangle \ge 0",
    lambda network, at: inner(at.yhat, network.direction),
)

MEETS = Hypothesis(r"\langle\hat y, g\rangle \ge 0", lambda network, at: inner(at.yhat, at.g))

MEETS_SIGNED = Hypothesis(
    r"\gamma\langle\hat y, g\rangle \ge 0",
    lambda network, at: at.gamma * inner(at.yhat, at.g),
    printed=False,
)

LINEAR = Hypothesis(
    r"L \text{ is linear, a convex loss with } H = 0",
    lambda network, at: norm_squared(at.H(at.g)),
    Relation.EQUAL,
    impose=lambda case: case.with_isotropic_loss(case.direction, 0),
    printed=False,
)


def if_isotropic(network: Network, at: Letters) -> list[Term]:
    """The slack of Theorem 4.2's second display, the scale, and the curvature of the layer."""
    w = gradient_in_y(network)
    return [
        *from_ratio(network, at),
        Term(1 / at.sigma**2, (POSITIVE, NOT_LONGER)),
        Term(1 / (at.m * at.sigma**2), (MEETS_SIGNED, w)),
    ]


def _predictive(name: str, statement: str, sides: Any, **fields: Any) -> Claim:
    return Claim(
        id=f"S-remark-predictive/{name}",
        row="S-remark-predictive",
        locations=(
            final(185, "Sect. 4.2, after Theorem 4.2", "as long as these two conditions hold, the"),
            final(185, "Sect. 4.2, after Theorem 4.2",
                  "are more predictive than those of the standard network"),
        ),
        statement=statement,
        sides=sides,
        relation=Relation.AT_MOST,
        expected=Verdict.REFUTED,
        order=2,
        falsified_by="one batch and a convex loss, both networks giving the same outputs",
        **fields,
    )  # fmt: skip


SMOOTHNESS = _predictive(
    "smoothness", r"h^\top\hat H h \le g^\top Hg", smoothness_convex,
    hypotheses=(IDENTITY_LAYER, MEETS_CONVEX),
)  # fmt: skip

CHANGE = _predictive(
    "gradient", r"\|\hat H h\|^2 \le \|Hg\|^2", gradient_change,
    hypotheses=(LINEAR, IDENTITY_LAYER, MEETS),
    corrected_by="S-remark-predictive/gradient/sharpened",
)  # fmt: skip

_EPS = Reading.SHARED_EPSILON

CLAIMS = [
    SMOOTHNESS,
    SMOOTHNESS.corrected(
        sides=smoothness, hypotheses=(RATIO, POSITIVE, NOT_LONGER, MEETS_SIGNED),
        certificate=if_isotropic,
        falsified_by="", remark="A multiple of the identity for H satisfies the first hypothesis.",
    ),
    SMOOTHNESS.under(_EPS, Verdict.REFUTED, corrected_by="S-thm-4.2a/eps/corrected"),
    CHANGE,
    CHANGE.sharpened(
        hypotheses=(), sides=floor, relation=Relation.AT_LEAST, certificate=floor_slack,
        corrected_by=None, statement=r"\|\hat H h\|^2 \ge \frac{\|h\|^4}{m\sigma^2}",
        falsified_by="one batch and loss, of any kind",
    ),
    CHANGE.under(_EPS, Verdict.REFUTED, corrected_by="S-thm-4.2a/eps/corrected"),
]  # fmt: skip
