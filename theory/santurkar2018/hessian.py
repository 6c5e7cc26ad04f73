r"""The full Hessian of the network with Batch Normalization: equations (41) and (42).

An operator: both sides are applied to a generic direction.
"""

from typing import Any

from theory import batchnorm
from theory.arithmetic import inner
from theory.batchnorm import centre
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict, hessian_in_y
from theory.santurkar2018.texts import final, supplement


def project(at: Letters, u: Any) -> Any:
    r""":math:`(I - \tfrac1m\hat y\hat y^\top - \tfrac1m M) u`."""
    return u - at.yhat * inner(at.yhat, u) / at.m - at.one * inner(at.one, u) / at.m


def sides(network: Network, at: Letters) -> Sides:
    """The printed formula; the factor 1/gamma is multiplied out, so that gamma = 0 is allowed."""
    u, g = network.direction, centre(at.g)
    yhat_g = inner(at.g, at.yhat)
    bent = (
        g * inner(at.yhat, u)
        + at.yhat * inner(g, u)
        - at.yhat * (3 * yhat_g * inner(at.yhat, u) / at.m)
        + yhat_g * (u - at.one * inner(at.one, u) / at.m)
    )
    printed = (
        at.gamma**2 / at.sigma**2 * project(at, at.H(project(at, u)))
        - at.gamma / (at.m * at.sigma**2) * bent
    )
    return Sides(hessian_in_y(network, u), printed)


def shipped(network: Network, at: Letters) -> Sides:
    """The formula that this library ships, eps included."""
    u = network.direction
    return Sides(
        hessian_in_y(network, u),
        batchnorm.hvp(network.y, at.g, at.H, u, at.gamma, network.eps),
    )


PRINTED = Claim(
    id="S-eq-41-42",
    row="S-eq-41-42",
    locations=(
        final(509, "App. C.2, proof of Theorem 4.2, eq. (41)", r"-\frac{1}{m}\bm{M}\right)"),
        final(510, "App. C.2, proof of Theorem 4.2, eq. (42)", r"-\frac{3}{m}\bm{\hat{y}}_{j}"),
    ),
    statement=r"\frac{\partial\hat L}{\partial y\partial y} = \frac{\gamma^2}{\sigma^2}\Big["
    r"\big(I - \tfrac1m\hat y\hat y^\top - \tfrac1m M\big) H"
    r"\big(I - \tfrac1m\hat y\hat y^\top - \tfrac1m M\big) - \frac{1}{m\gamma}\Big("
    r"\bar g\hat y^\top + \hat y\bar g^\top - \tfrac3m\hat y g^\top\hat y\hat y^\top"
    r" + \langle g, \hat y\rangle\big(I - \tfrac1m M\big)\Big)\Big]",
    sides=sides,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    order=2,
)
SHARED = PRINTED.under(Reading.SHARED_EPSILON, Verdict.PROVED)
SUPPLEMENT = Claim(
    id="S-eq-41-42-supp",
    row="S-eq-41-42",
    locations=(
        supplement(309, "App. C.2, proof of Theorem 4.2, eq. (41)", r"- \frac{1}{m}\boldsymbol{M}"),
        supplement(311, "App. C.2, proof of Theorem 4.2, eq. (42)", r"\widehat{\boldsymbol{g}}"),
    ),
    statement=PRINTED.statement,
    sides=sides,
    relation=Relation.EQUAL,
    expected=Verdict.UNREADABLE,
    order=2,
    corrected_by=PRINTED.id,
    unreadable="The conversion ends line (41) with '- M/m )', a bracket that nothing opens, and has"
    " lost the bar over the first g of line (42); the last version prints both lines whole.",
)

CLAIMS = [
    PRINTED,
    SHARED,
    PRINTED.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=SHARED.id),
    SUPPLEMENT,
    SHARED.sharpened("shipped", sides=shipped),
]
