r"""Theorem 4.2, first display: the Hessian's quadratic form along the gradient.

At eps = 0 the two sides are equal.  With eps > 0 the gradient is no longer orthogonal to yhat,
and the sign of the difference is the loss's to choose; the corrected statement is an equality.
"""

from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Verdict,
    gradient_in_y,
    hessian_in_y,
)
from theory.santurkar2018.texts import final, supplement


def sides(network: Network, at: Letters) -> Sides:
    """The printed inequality; g and H are the loss's at the layer's output z."""
    w = gradient_in_y(network)
    bent = at.gamma / (at.m * at.sigma**2) * inner(at.g, at.yhat) * norm_squared(w)
    return Sides(
        inner(w, hessian_in_y(network, w)),
        at.gamma**2 / at.sigma**2 * inner(w, at.H(w)) - bent,
    )


def with_epsilon(network: Network, at: Letters) -> Sides:
    r"""The exact form, with the part :math:`b = \langle\hat y, w\rangle` that eps leaves."""
    w = gradient_in_y(network)
    b = inner(at.yhat, w)
    off = w - at.yhat * b / at.m
    yhat_g = inner(at.g, at.yhat)
    bent = 2 * inner(centre(at.g), w) * b + yhat_g * (norm_squared(w) - 3 * b**2 / at.m)
    return Sides(
        inner(w, hessian_in_y(network, w)),
        at.gamma**2 / at.sigma**2 * inner(off, at.H(off)) - at.gamma / (at.m * at.sigma**2) * bent,
    )


PRINTED = Claim(
    id="S-thm-4.2a",
    row="S-thm-4.2a",
    locations=(
        final(179, "Sect. 4.2, Theorem 4.2, first display", r"-\frac{\gamma}{m\sigma^{2}}"),
        supplement(222, "App. C.2, Theorem 4.2, first display", r"- \frac{\gamma}{m\sigma^2}"),
    ),
    statement=r"(\nabla_y\hat L)^\top\frac{\partial\hat L}{\partial y\partial y}(\nabla_y\hat L)"
    r" \le \frac{\gamma^2}{\sigma^2}\Big(\frac{\partial\hat L}{\partial y}\Big)^\top H"
    r"\Big(\frac{\partial\hat L}{\partial y}\Big) - \frac{\gamma}{m\sigma^2}"
    r"\langle g, \hat y\rangle\Big\|\frac{\partial\hat L}{\partial y}\Big\|^2",
    sides=sides,
    relation=Relation.AT_MOST,
    expected=Verdict.PROVED,
    order=2,
    falsified_by="one batch and loss, g and H the loss's at the layer's output",
)
SHARED = PRINTED.under(Reading.SHARED_EPSILON, Verdict.REFUTED)
CORRECTED = SHARED.corrected(
    sides=with_epsilon,
    relation=Relation.EQUAL,
    statement=r"w^\top\frac{\partial\hat L}{\partial y\partial y}w ="
    r" \frac{\gamma^2}{\sigma^2}v^\top H v - \frac{\gamma}{m\sigma^2}\Big("
    r"2 b\langle\bar g, w\rangle + \langle g, \hat y\rangle(\|w\|^2 - \tfrac3m b^2)\Big),\quad"
    r" w = \nabla_y\hat L,\ b = \langle\hat y, w\rangle,\ v = w - \tfrac bm\hat y",
)

CLAIMS = [
    PRINTED,
    SHARED,
    PRINTED.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=CORRECTED.id),
    CORRECTED,
    PRINTED.sharpened(
        "equality",
        relation=Relation.EQUAL,
        statement=PRINTED.statement.replace(r"\le", "="),
    ),
]
