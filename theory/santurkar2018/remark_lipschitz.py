r"""The words before Theorem 4.1: "a better Lipschitz constant", without any assumptions.

"Without any assumptions on the specific weights or the loss": |dLhat/dy| <= |g| needs
gamma <= sigma, and sigma is the weights' (``lipschitz``); gamma = sigma alone is not enough for two
real networks (``two-networks``).  At eps = 0 no constant serves all y; with eps > 0 the best one is
|gamma|/sqrt(eps) (``global``).
"""

from dataclasses import replace

from theory import batchnorm
from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre
from theory.claim import (
    Hypothesis,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Term,
    Verdict,
    gradient_in_y,
)
from theory.santurkar2018.remark_growth import growth
from theory.santurkar2018.texts import final
from theory.santurkar2018.theorem_4_2_relative_norms import NOT_LONGER


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


SAME_SCALE = Hypothesis(
    r"\gamma = \sigma",
    lambda network, at: at.sigma**2 - at.gamma**2,
    Relation.EQUAL,
    impose=lambda case: replace(case, gamma=batchnorm.standard_deviation(case.y, case.eps)),
)

_LIPSCHITZ = (
    final(163, "Sect. 4.2", "Without any assumptions on the specific weights or the loss"),
)

LIPSCHITZ = growth(
    "lipschitz",
    r"\|\nabla_y\hat L\|^2 \le \|g\|^2",
    lipschitz,
    Verdict.REFUTED,
    relation=Relation.AT_MOST,
    locations=_LIPSCHITZ,
)

TWO = growth(
    "two-networks",
    r"\|\nabla_y\hat L(y)\|^2 \le \|\nabla_y L(y)\|^2",
    two_networks,
    Verdict.REFUTED,
    relation=Relation.AT_MOST,
    hypotheses=(SAME_SCALE,),
    locations=(final(163, "Sect. 4.2", "even when the scaling of BN is identical"),),
    corrected_by="S-remark-growth/lipschitz/corrected",
    falsified_by="two networks with the same weights, gamma = sigma, beta free",
)

GLOBAL = growth(
    "global",
    r"\|\nabla_y\hat L\|^2 \le \frac{\gamma^2}{\epsilon}\|\bar g\|^2",
    lipschitz_global,
    Verdict.PROVED,
    relation=Relation.AT_MOST,
    certificate=global_slack,
    locations=_LIPSCHITZ,
    remark="The slack vanishes on a constant batch, so that"
    " no smaller factor serves all y; at eps = 0 none does.",
)

_CONTRACTS = {"hypotheses": (NOT_LONGER,), "certificate": if_not_longer}
_EPS = Reading.SHARED_EPSILON

CLAIMS = [
    LIPSCHITZ,
    LIPSCHITZ.corrected(**_CONTRACTS),
    LIPSCHITZ.under(_EPS, Verdict.REFUTED),
    LIPSCHITZ.under(_EPS, Verdict.REFUTED).corrected(**_CONTRACTS),
    TWO,
    TWO.under(_EPS, Verdict.REFUTED, corrected_by="S-remark-growth/lipschitz/eps/corrected"),
    GLOBAL.under(_EPS, Verdict.PROVED),
]
