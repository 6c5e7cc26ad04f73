r"""Theorem 4.2, second display: "if H preserves the relative norms" of g and of the gradient.

The words can be read in three ways.  With w the gradient in y, and A = g'Hg, B = w'Hw:

- ``ratio``: the norm that H induces keeps the ratio of the two, B |g|^2 = A |w|^2;
- ``order``: it keeps their order, (|g|^2 - |w|^2)(A - B) >= 0;
- ``direct``: B <= A, which is what the proof uses.

The first two need that w is the shorter one, which gamma <= sigma gives and the text leaves out.
"""

from dataclasses import replace
from typing import Any

from theory import batchnorm
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
from theory.santurkar2018.texts import final, supplement


def sides(network: Network, at: Letters) -> Sides:
    """The second display; the factor 1/gamma is multiplied out, so that gamma = 0 is allowed."""
    w = gradient_in_y(network)
    bent = at.gamma / (at.m * at.sigma**2) * inner(at.g, at.yhat) * norm_squared(w)
    return Sides(
        inner(w, hessian_in_y(network, w)),
        at.gamma**2 / at.sigma**2 * inner(at.g, at.H(at.g)) - bent,
    )


def shortening(network: Network, at: Letters) -> Any:
    r""":math:`\|g\|^2 - \|w\|^2`."""
    return norm_squared(at.g) - norm_squared(gradient_in_y(network))


def gain(network: Network, at: Letters) -> Any:
    r""":math:`g^\top H g - w^\top H w`."""
    w = gradient_in_y(network)
    return inner(at.g, at.H(at.g)) - inner(w, at.H(w))


def ratio_defect(network: Network, at: Letters) -> Any:
    r""":math:`w^\top H w\|g\|^2 - g^\top H g\|w\|^2`."""
    w = gradient_in_y(network)
    return inner(w, at.H(w)) * norm_squared(at.g) - inner(at.g, at.H(at.g)) * norm_squared(w)


def isotropic(case: Any) -> Any:
    """Give the case a loss whose Hessian is a multiple of the identity, positive or zero."""
    return case.with_isotropic_loss(case.direction, (case.bound - 1) ** 2)


def contracting(case: Any) -> Any:
    r"""Give the case the scale :math:`\gamma = \sigma^2/(1 + \sigma^2) \le \sigma`."""
    v = batchnorm.variance(case.y) + case.eps
    return replace(case, gamma=v / (1 + v))


RATIO = Hypothesis(
    r"w^\top Hw/\|w\|^2 = g^\top Hg/\|g\|^2", ratio_defect, Relation.EQUAL, impose=isotropic
)
ORDER = Hypothesis(
    r"(\|g\|^2 - \|w\|^2)(g^\top Hg - w^\top Hw) \ge 0",
    lambda network, at: shortening(network, at) * gain(network, at),
    impose=isotropic,
)
DIRECT = Hypothesis(r"w^\top Hw \le g^\top Hg", gain)
POSITIVE = Hypothesis(
    r"g^\top Hg \ge 0", lambda network, at: inner(at.g, at.H(at.g)), printed=False
)
NOT_LONGER = Hypothesis(
    r"\gamma^2 \le \sigma^2",
    lambda network, at: at.sigma**2 - at.gamma**2,
    impose=contracting,
    printed=False,
)
SHORTER = Hypothesis(
    r"\|w\| < \|g\|", shortening, Relation.MORE_THAN, impose=contracting, printed=False
)


def from_ratio(network: Network, at: Letters) -> list[Term]:
    r"""The slack is :math:`\frac{\gamma^2}{\sigma^2} A(|g|^2 - |w|^2)/|g|^2`, term by term."""
    scale, g2 = at.gamma**2 / at.sigma**2, norm_squared(at.g)
    return [
        Term(-scale / g2, (RATIO,)),
        Term(scale / at.sigma**2, (POSITIVE, NOT_LONGER)),
        Term(scale**2 / (g2 * at.m), (POSITIVE, inner(at.one, at.g))),
        Term(scale**2 / (g2 * at.m), (POSITIVE, inner(at.yhat, at.g))),
    ]


def from_order(network: Network, at: Letters) -> list[Term]:
    r"""The slack is :math:`\frac{\gamma^2}{\sigma^2}(A - B)d\cdot d/d^2`, d the shortening."""
    d = shortening(network, at)
    return [Term(at.gamma**2 / at.sigma**2 / d**2, (ORDER, SHORTER))]


def from_gain(network: Network, at: Letters) -> list[Term]:
    """The slack is the hypothesis itself."""
    return [Term(at.gamma**2 / at.sigma**2, (DIRECT,))]


PRINTED = Claim(
    id="S-thm-4.2b/ratio",
    row="S-thm-4.2b",
    locations=(
        final(183, "Sect. 4.2, Theorem 4.2, second display", r"-\frac{1}{m\gamma}\left\langle"),
        supplement(226, "App. C.2, Theorem 4.2, second display", r"- \frac{1}{m\gamma}"),
    ),
    statement=r"(\nabla_y\hat L)^\top\frac{\partial\hat L}{\partial y\partial y}(\nabla_y\hat L)"
    r" \le \frac{\gamma^2}{\sigma^2}\Big(g^\top H g - \frac{1}{m\gamma}"
    r"\langle g, \hat y\rangle\Big\|\frac{\partial\hat L}{\partial y}\Big\|^2\Big)",
    sides=sides,
    relation=Relation.AT_MOST,
    hypotheses=(RATIO,),
    expected=Verdict.REFUTED,
    order=2,
    falsified_by="one batch and a loss with w'Hw/|w|^2 = g'Hg/|g|^2",
)
IN_ORDER = replace(
    PRINTED,
    id="S-thm-4.2b/order",
    hypotheses=(ORDER,),
    falsified_by="one batch and a loss for which |w|_H <= |g|_H exactly when |w| <= |g|",
)
DIRECTLY = replace(
    PRINTED,
    id="S-thm-4.2b/direct",
    hypotheses=(DIRECT,),
    certificate=from_gain,
    expected=Verdict.PROVED,
    falsified_by="one batch and a loss with w'Hw <= g'Hg",
)

CLAIMS = [
    PRINTED,
    IN_ORDER,
    DIRECTLY,
    PRINTED.corrected(hypotheses=(RATIO, POSITIVE, NOT_LONGER), certificate=from_ratio),
    IN_ORDER.corrected(hypotheses=(ORDER, SHORTER), certificate=from_order),
    PRINTED.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by="S-thm-4.2a/eps/corrected"),
    IN_ORDER.under(
        Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by="S-thm-4.2a/eps/corrected"
    ),
    DIRECTLY.under(
        Reading.SHARED_EPSILON,
        Verdict.REFUTED,
        certificate=None,
        corrected_by="S-thm-4.2a/eps/corrected",
    ),
]
