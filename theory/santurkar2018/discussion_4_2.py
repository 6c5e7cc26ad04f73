r"""What the text says after Theorem 4.2: when its conditions hold.

``descent`` reads "the negative gradient points towards the minimum of the loss" as: its inner
product with the way to the minimum is positive.  The minimum is the case's direction u, and gamma
is taken positive, as the text does when it calls gamma/sigma a scaling.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner
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
)
from theory.santurkar2018.texts import final


def sides(network: Network, at: Letters) -> Sides:
    """The inner product that the text wants positive."""
    return Sides(inner(at.yhat, at.g), 0 * inner(at.yhat, at.g))


def towards_minimum(network: Network, at: Letters) -> Any:
    r""":math:`\langle -g, u - z\rangle` for a minimum u."""
    return inner(at.g, network.z - network.direction)


def bowl_at_direction(case: Any) -> Any:
    """Give the case the loss half the squared distance to its direction."""
    return case.with_isotropic_loss(-1 * case.direction, 1)


def bowl_at_beta(case: Any) -> Any:
    """Give the case the loss half the squared distance to beta times the vector of ones."""
    return case.with_isotropic_loss(0 * case.y - case.beta, 1)


def positive_gamma(case: Any) -> Any:
    """Replace gamma by 1 + gamma^2."""
    return replace(case, gamma=1 + case.gamma**2)


TOWARDS_MINIMUM = Hypothesis(
    r"\langle -g, u - z\rangle > 0 \text{ for a minimum } u \text{ of the loss}",
    towards_minimum,
    Relation.MORE_THAN,
    impose=bowl_at_direction,
)
TOWARDS_BETA = Hypothesis(
    r"\langle -g, \beta\mathbf 1 - z\rangle > 0",
    lambda network, at: inner(at.g, network.z - at.beta),
    Relation.MORE_THAN,
    impose=bowl_at_beta,
    printed=False,
)
POSITIVE_GAMMA = Hypothesis(
    r"\gamma > 0",
    lambda network, at: at.gamma,
    Relation.MORE_THAN,
    impose=positive_gamma,
    printed=False,
)

DESCENT = Claim(
    id="S-thm-4.2-discussion/descent",
    row="S-thm-4.2-discussion",
    locations=(
        final(185, "Sect. 4.2, after Theorem 4.2", "pointing towards the minimum of the loss"),
    ),
    statement=r"\langle\hat y, g\rangle > 0",
    sides=sides,
    relation=Relation.MORE_THAN,
    hypotheses=(POSITIVE_GAMMA, TOWARDS_MINIMUM),
    expected=Verdict.REFUTED,
    falsified_by="a loss with minimum u, <-g, u - z> > 0 and <yhat, g> <= 0",
    remark="It holds when the minimum is at the layer's own centre, beta times the ones.",
)


def through_gamma(network: Network, at: Letters) -> list[Term]:
    r""":math:`\langle g, z - \beta 1\rangle = \gamma\langle g, \hat y\rangle`."""
    return [Term(1 / at.gamma**2, (POSITIVE_GAMMA, TOWARDS_BETA))]


SHARED = DESCENT.under(Reading.SHARED_EPSILON, Verdict.REFUTED)


def _right(claim: Claim) -> Claim:
    hypotheses = (POSITIVE_GAMMA, TOWARDS_BETA)
    return claim.corrected(hypotheses=hypotheses, certificate=through_gamma, remark="")


CLAIMS = [
    DESCENT,
    SHARED,
    _right(DESCENT),
    _right(SHARED),
]
