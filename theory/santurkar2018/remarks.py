r"""The remarks after Theorems 4.1 and 4.2: "grows quadratically", "more predictive".

After 4.1.  <1, g>^2 = m^2 mu_g^2 is quadratic in the batch size m if the mean mu_g is bounded away
from zero; but the theorem subtracts <1, g>^2/m, which is linear like |g|^2 itself, so its share
does not grow.  With a mean over the batch for a loss (``mean-loss``) <1, g>^2 does not grow, and
nothing keeps it, or <g, yhat>^2, from being zero.  "Without any assumptions on the specific
weights or the loss ... a better Lipschitz constant": |dLhat/dy| <= |g| needs gamma <= sigma, and
sigma is the weights' (``lipschitz``); gamma = sigma alone is not enough for two real networks
(``two-networks``).  At eps = 0 no constant serves all y; with eps > 0 the best one is
|gamma|/sqrt(eps) (``global``).

After 4.2.  Its two conditions are that the quadratic forms of H and <yhat, g> are non-negative.
"More predictive" can be read as a smaller second-order term (``smoothness``), or a smaller change
of the gradient, which is what the paper's figures measure (``gradient``).  Both are false, even
with gamma = sigma and beta = mean, where both networks give the same outputs: 4.2 bounds h'Hh h by
h'Hh, which exceeds g'Hg where the projection lengthens g in the norm of H; and for a linear loss
the standard network's gradient does not change at all.  The change Hh h always has the part
-|h|^2/(m sigma) yhat: the floor that the last entry proves.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, mean, norm_squared
from theory.batchnorm import centre
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
from theory.santurkar2018.identification import IDENTITY_LAYER
from theory.santurkar2018.lemma_4_5 import off
from theory.santurkar2018.texts import final
from theory.santurkar2018.theorem_4_2_relative_norms import NOT_LONGER, POSITIVE, RATIO, from_ratio
from theory.santurkar2018.theorem_c1 import bending

HERE = "Sect. 4.2, after Theorem 4.1"


def square_of_sum(network: Network, at: Letters) -> Sides:
    r""":math:`\langle 1, g\rangle^2` and m^2 times the squared mean."""
    return Sides(inner(at.one, at.g) ** 2, at.m**2 * mean(at.g) ** 2)


def middle_term(network: Network, at: Letters) -> Sides:
    """The term that the theorem subtracts, to m^2 times the squared mean."""
    return Sides(inner(at.one, at.g) ** 2 / at.m, at.m**2 * mean(at.g) ** 2)


def middle_term_corrected(network: Network, at: Letters) -> Sides:
    """The same, to m times the squared mean."""
    return Sides(inner(at.one, at.g) ** 2 / at.m, at.m * mean(at.g) ** 2)


def share(network: Network, at: Letters) -> Sides:
    """The middle term and the whole."""
    return Sides(inner(at.one, at.g) ** 2 / at.m, norm_squared(at.g))


def centred(network: Network, at: Letters) -> list[Term]:
    """The centred gradient."""
    return [Term(1, (centre(at.g),))]


def of_mean_loss(network: Network) -> Any:
    """The gradient of the mean over the batch, L/m."""
    return network.gradient(lambda z: network.loss(z) / network.m, network.z)


def mean_loss(network: Network, at: Letters) -> Sides:
    """The squared sum of the mean loss's gradient, to m^2 times the squared mean slope."""
    return Sides(inner(at.one, of_mean_loss(network)) ** 2, at.m**2 * mean(at.g) ** 2)


def mean_loss_corrected(network: Network, at: Letters) -> Sides:
    """The same, to the squared mean slope."""
    return Sides(inner(at.one, of_mean_loss(network)) ** 2, mean(at.g) ** 2)


def sum_positive(network: Network, at: Letters) -> Sides:
    """The squared sum, to zero."""
    return Sides(inner(at.one, at.g) ** 2, 0 * norm_squared(at.g))


def last_positive(network: Network, at: Letters) -> Sides:
    """The last term, to zero."""
    return Sides(inner(at.g, at.yhat) ** 2, 0 * norm_squared(at.g))


def in_gamma(network: Network, at: Letters) -> Sides:
    """The derivative in gamma, squared: z moves along the normalised batch."""
    slope = network.derivative(network.loss, network.z, network.normalize(network.y))
    return Sides(inner(at.g, at.yhat) ** 2, slope**2)


def lipschitz(network: Network, at: Letters) -> Sides:
    """The gradients of the two networks, the loss's at the layer's output."""
    return Sides(norm_squared(gradient_in_y(network)), norm_squared(at.g))


def if_not_longer(network: Network, at: Letters) -> list[Term]:
    """The scale, and the two terms of Theorem 4.1."""
    weight, rest = at.gamma**2 / (at.m * at.sigma**2), network.eps / at.sigma**2
    return [
        Term(1 / at.sigma**2, (NOT_LONGER, at.g)),
        Term(weight, (inner(at.one, at.g),)),
        Term(weight, (inner(at.g, at.yhat),)),
        Term(weight * rest, (inner(at.g, at.yhat),)),
    ]


def two_networks(network: Network, at: Letters) -> Sides:
    """The gradients of the two networks, each at its own point."""
    g = network.gradient(network.loss, network.y)
    return Sides(norm_squared(gradient_in_y(network)), norm_squared(g))


def lipschitz_global(network: Network, at: Letters) -> Sides:
    """The largest factor over all y, gamma^2/eps."""
    right = at.gamma**2 / network.eps * norm_squared(centre(at.g))
    return Sides(norm_squared(gradient_in_y(network)), right)


def global_slack(network: Network, at: Letters) -> list[Term]:
    """The variance, and the last term of Theorem 4.1."""
    weight, eps = at.gamma**2 / at.sigma**2, network.eps
    return [
        Term(weight * (at.sigma**2 - eps) / eps, (centre(at.g),)),
        Term(weight * (1 + eps / at.sigma**2) / at.m, (inner(at.g, at.yhat),)),
    ]


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
    bent = network.derivative(lambda y: network.derivative(hat, y, h), network.y, h)
    return Sides(bent, inner(u, v) ** 2)


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


NOT_ZERO = Hypothesis(
    r"g \ne 0", lambda network, at: norm_squared(at.g), Relation.MORE_THAN, printed=False
)
BEST_SCALE = Hypothesis(
    r"\partial\hat L/\partial\gamma = 0",
    lambda network, at: inner(at.g, at.yhat),
    Relation.EQUAL,
    impose=lambda case: case.with_isotropic_loss(off(case.direction, centre(case.y)), 0),
    printed=False,
)
SAME_SCALE = Hypothesis(
    r"\gamma = \sigma",
    lambda network, at: at.sigma**2 - at.gamma**2,
    Relation.EQUAL,
    impose=lambda case: replace(IDENTITY_LAYER.impose(case), beta=case.beta),  # type: ignore[misc]
)
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


def _growth(name: str, statement: str, sides: Any, expected: Verdict, **fields: Any) -> Claim:
    settled = {"relation": Relation.EQUAL, "falsified_by": "one batch and loss"}
    return Claim(
        id=f"S-remark-growth/{name}",
        row="S-remark-growth",
        statement=statement,
        sides=sides,
        expected=expected,
        **{
            "locations": (final(171, HERE, "grows quadratically in the dimension, so the middle"),),
            **settled,
            **fields,
        },
    )


HOLDS, FALLS = Verdict.PROVED, Verdict.REFUTED
_SUM = r"\langle\mathbf 1, g\rangle^2"
SQUARE = _growth(
    "sum",
    _SUM + r" = m^2\mu_g^2",
    square_of_sum,
    HOLDS,
    remark="Quadratic in m for a mean that stays; nothing in it is the layer's width.",
)
MIDDLE = _growth("middle-term", r"\tfrac1m" + _SUM + r" = m^2\mu_g^2", middle_term, FALLS)
MEAN_LOSS = _growth(
    "mean-loss",
    _SUM + r" = m^2\,\overline{\ell'}^2,"
    r"\quad L = \tfrac1m\sum_b\ell(z_b)",
    mean_loss,
    FALLS,
    falsified_by="one batch and a loss that is a mean over the batch",
)
POSITIVE_SUM = _growth(
    "positive",
    _SUM + " > 0",
    sum_positive,
    FALLS,
    relation=Relation.MORE_THAN,
    hypotheses=(NOT_ZERO,),
    corrected_by="S-remark-growth/middle-term/sharpened",
    falsified_by="a gradient that is not zero and has no mean",
)
BOUNDED = _growth(
    "last-term",
    r"\langle g, \hat y\rangle^2 > 0",
    last_positive,
    FALLS,
    relation=Relation.MORE_THAN,
    hypotheses=(BEST_SCALE, NOT_ZERO),
    locations=(final(171, HERE, "expected to be bounded away from zero"),),
    falsified_by="a gradient that is not zero and orthogonal to yhat, as it is where gamma is"
    " trained to a stationary point",
)
_LIPSCHITZ = (
    final(163, "Sect. 4.2", "Without any assumptions on the specific weights or the loss"),
)
LIPSCHITZ = _growth(
    "lipschitz",
    r"\|\nabla_y\hat L\|^2 \le \|g\|^2",
    lipschitz,
    FALLS,
    relation=Relation.AT_MOST,
    locations=_LIPSCHITZ,
)
TWO = _growth(
    "two-networks",
    r"\|\nabla_y\hat L(y)\|^2 \le \|\nabla_y L(y)\|^2",
    two_networks,
    FALLS,
    relation=Relation.AT_MOST,
    hypotheses=(SAME_SCALE,),
    locations=(final(163, "Sect. 4.2", "even when the scaling of BN is identical"),),
    corrected_by="S-remark-growth/lipschitz/corrected",
    falsified_by="two networks with the same weights, gamma = sigma, beta free",
)
GLOBAL = _growth(
    "global",
    r"\|\nabla_y\hat L\|^2 \le \frac{\gamma^2}{\epsilon}\|\bar g\|^2",
    lipschitz_global,
    HOLDS,
    relation=Relation.AT_MOST,
    certificate=global_slack,
    locations=_LIPSCHITZ,
    remark="The slack vanishes on a constant batch, so that"
    " no smaller factor serves all y; at eps = 0 none does.",
)
_SCALE = {
    "sides": in_gamma, "relation": Relation.EQUAL, "hypotheses": (),
    "statement": r"\langle g, \hat y\rangle^2 = \Big(\frac{\partial\hat L}{\partial\gamma}\Big)^2",
    "falsified_by": "one batch and loss",
    "remark": "It is zero wherever gamma is trained to a stationary point, and so is the middle"
    " term, (dL/dbeta)^2/m, where beta is.",
}  # fmt: skip
_CONTRACTS = {"hypotheses": (NOT_LONGER,), "certificate": if_not_longer}


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
        expected=FALLS,
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
    SQUARE,
    MIDDLE,
    MIDDLE.corrected(statement=r"\tfrac1m" + _SUM + r" = m\mu_g^2", sides=middle_term_corrected),
    MIDDLE.sharpened(
        statement=r"\tfrac1m" + _SUM + r" \le \|g\|^2", sides=share, relation=Relation.AT_MOST,
        certificate=centred, remark="The slack is the centred gradient; both ends are attained.",
    ),
    MEAN_LOSS,
    MEAN_LOSS.corrected(statement=_SUM + r" = \overline{\ell'}^2", sides=mean_loss_corrected),
    POSITIVE_SUM,
    BOUNDED,
    BOUNDED.corrected(**_SCALE),
    BOUNDED.under(_EPS, FALLS),
    BOUNDED.under(_EPS, FALLS).corrected(**_SCALE),
    LIPSCHITZ,
    LIPSCHITZ.corrected(**_CONTRACTS),
    LIPSCHITZ.under(_EPS, FALLS),
    LIPSCHITZ.under(_EPS, FALLS).corrected(**_CONTRACTS),
    TWO,
    TWO.under(_EPS, FALLS, corrected_by="S-remark-growth/lipschitz/eps/corrected"),
    GLOBAL.under(_EPS, HOLDS),
    SMOOTHNESS,
    SMOOTHNESS.corrected(
        sides=smoothness, hypotheses=(RATIO, POSITIVE, NOT_LONGER, MEETS_SIGNED),
        certificate=if_isotropic,
        falsified_by="", remark="A multiple of the identity for H satisfies the first hypothesis.",
    ),
    SMOOTHNESS.under(_EPS, FALLS, corrected_by="S-thm-4.2a/eps/corrected"),
    CHANGE,
    CHANGE.sharpened(
        hypotheses=(), sides=floor, relation=Relation.AT_LEAST, certificate=floor_slack,
        corrected_by=None, statement=r"\|\hat H h\|^2 \ge \frac{\|h\|^4}{m\sigma^2}",
        falsified_by="one batch and loss, of any kind",
    ),
    CHANGE.under(_EPS, FALLS, corrected_by="S-thm-4.2a/eps/corrected"),
]  # fmt: skip
