r"""Fact C.2: the Jacobian of Batch Normalization, equations (1) and (2).

The Jacobian is an operator: both sides are applied to a generic direction.
"""

from theory.arithmetic import inner
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.texts import final, supplement


def normalized(network: Network, at: Letters) -> Sides:
    """Equation (1), the derivative of yhat."""
    u = network.direction
    printed = (u - inner(at.one, u) / at.m - at.yhat * inner(at.yhat, u) / at.m) / at.sigma
    return Sides(network.derivative(network.normalize, network.y, u), printed)


def scaled(network: Network, at: Letters) -> Sides:
    """Equation (2), the derivative of z."""
    u = network.direction
    printed = u - inner(at.one, u) / at.m - at.yhat * inner(at.yhat, u) / at.m
    return Sides(network.derivative(network.forward, network.y, u), at.gamma / at.sigma * printed)


ONE = Claim(
    id="S-fact-C2-eq-1",
    row="S-fact-C2",
    locations=(
        final(383, "App. C.1, eq. (1)", r"\frac{1}{m}\hat{y}^{(b)}\hat{y}^{(k)}"),
        supplement(133, "App. C.1, eq. (1)", r"\frac{1}{m} \hat{y}^{(b)} \hat{y}^{(k)}"),
    ),
    statement=r"\frac{\partial\hat y^{(b)}}{\partial y^{(k)}} = \frac1\sigma\Big("
    r"\mathbf 1[b=k] - \frac1m - \frac1m\hat y^{(b)}\hat y^{(k)}\Big)",
    sides=normalized,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
)

TWO = Claim(
    id="S-fact-C2-eq-2",
    row="S-fact-C2",
    locations=(
        final(387, "App. C.1, eq. (2)", r"\frac{\gamma}{\sigma}\left(\textbf{1}[b=k]"),
        supplement(137, "App. C.1, eq. (2)", r"\frac{\gamma}{\sigma} \left(\mathbf{I}[b=k]"),
    ),
    statement=r"\frac{\partial z^{(b)}}{\partial y^{(k)}} = \frac\gamma\sigma\Big("
    r"\mathbf 1[b=k] - \frac1m - \frac1m\hat y^{(b)}\hat y^{(k)}\Big)",
    sides=scaled,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
)

CLAIMS = [
    reading
    for claim in (ONE, TWO)
    for reading in (
        claim,
        claim.under(Reading.SHARED_EPSILON, Verdict.PROVED),
        claim.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=f"{claim.id}/eps"),
    )
]
