r"""The remark after Theorem 4.1: the middle term "grows quadratically in the dimension".

<1, g>^2 = m^2 mu_g^2 is quadratic in the batch size m if the mean mu_g is bounded away
from zero; but the theorem subtracts <1, g>^2/m, which is linear like |g|^2 itself, so its share
does not grow.  With a mean over the batch for a loss (``mean-loss``) <1, g>^2 does not grow, and
nothing keeps it, or <g, yhat>^2, from being zero.
"""

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
)
from theory.santurkar2018.convex_losses import off
from theory.santurkar2018.texts import final

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
    left = inner(at.one, at.g) ** 2
    return Sides(left, 0 * left)


def last_positive(network: Network, at: Letters) -> Sides:
    """The last term, to zero."""
    left = inner(at.g, at.yhat) ** 2
    return Sides(left, 0 * left)


def in_gamma(network: Network, at: Letters) -> Sides:
    """The derivative in gamma, squared: z moves along the normalised batch."""
    slope = network.derivative(network.loss, network.z, network.normalize(network.y))
    return Sides(inner(at.g, at.yhat) ** 2, slope**2)


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


def growth(name: str, statement: str, sides: Any, expected: Verdict, **fields: Any) -> Claim:
    """Return a claim of this remark, or of the words before Theorem 4.1."""
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

SQUARE = growth(
    "sum",
    _SUM + r" = m^2\mu_g^2",
    square_of_sum,
    HOLDS,
    remark="Quadratic in m for a mean that stays; nothing in it is the layer's width.",
)

MIDDLE = growth("middle-term", r"\tfrac1m" + _SUM + r" = m^2\mu_g^2", middle_term, FALLS)

MEAN_LOSS = growth(
    "mean-loss",
    _SUM + r" = m^2\,\overline{\ell'}^2,"
    r"\quad L = \tfrac1m\sum_b\ell(z_b)",
    mean_loss,
    FALLS,
    falsified_by="one batch and a loss that is a mean over the batch",
)

POSITIVE_SUM = growth(
    "positive",
    _SUM + " > 0",
    sum_positive,
    FALLS,
    relation=Relation.MORE_THAN,
    hypotheses=(NOT_ZERO,),
    corrected_by="S-remark-growth/middle-term/sharpened",
    falsified_by="a gradient that is not zero and has no mean",
)

BOUNDED = growth(
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

_SCALE = {
    "sides": in_gamma, "relation": Relation.EQUAL, "hypotheses": (),
    "statement": r"\langle g, \hat y\rangle^2 = \Big(\frac{\partial\hat L}{\partial\gamma}\Big)^2",
    "falsified_by": "one batch and loss",
    "remark": "It is zero wherever gamma is trained to a stationary point, and so is the middle"
    " term, (dL/dbeta)^2/m, where beta is.",
}  # fmt: skip

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
]  # fmt: skip
