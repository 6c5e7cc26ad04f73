r"""The remarks after Theorem 3.1: W close to the identity, and when the sensitivity falls.

Taken at W = I, where :math:`y_j = x_j`, "approximately" becomes an equality.  It holds for i = j
and :math:`\alpha = \langle x, \hat y\rangle` only, and is the text's own evidence that this alpha
is meant: as defined, :math:`\alpha = m\sigma^2` and :math:`\alpha^2 = m^2\sigma^4`.  What it makes
of the sensitivity is zero, not just less: the layer does not see the scale of its input.  Off the
diagonal it falls, because uncorrelated inputs have :math:`\alpha_{ij} = 0`; in general
:math:`\alpha_{ij}^2 = m^2\sigma(x_i)^2\operatorname{corr}(x_i, y_j)^2`.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre, variance
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Term, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.weights import (
    SPREAD_OUTPUT,
    alpha,
    pearson,
    sensitivity,
)


def diagonal(network: Network, at: Letters, alpha_ii: Any) -> Sides:
    """The remark at W = I for i = j, where the input is the batch itself."""
    return Sides(alpha_ii**2, at.m**2 * variance(network.y))


def off_diagonal(network: Network, at: Letters) -> Sides:
    """The remark at W = I for the i-th input and the j-th output, which is the j-th input."""
    return Sides(alpha(at, network.direction) ** 2, at.m**2 * variance(network.direction))


def off_diagonal_slack(network: Network, at: Letters) -> list[Term]:
    """Lagrange's identity, and what eps takes from the norm of yhat."""
    x, norm = centre(network.direction), norm_squared(at.yhat)
    off = x - at.yhat * (alpha(at, x) / norm)
    return [Term(norm, (off,)), Term(at.m * network.eps / at.sigma**2, (x,))]


def at_identity(network: Network, at: Letters) -> Sides:
    """The sensitivity at W = I, i = j."""
    return Sides(norm_squared(sensitivity(network, network.y)), 0 * at.sigma)


def falls(network: Network, at: Letters) -> Sides:
    """The sensitivity with and without the layer."""
    x = network.direction
    return Sides(norm_squared(sensitivity(network, x)), norm_squared(x))


def falls_slack(network: Network, at: Letters) -> list[Term]:
    """What Theorem 3.1 subtracts, and sigma >= 1."""
    x = network.direction
    lost = (1 + network.eps / at.sigma**2) / at.m
    return [
        Term(norm_squared(x) / at.sigma**2, (SPREAD_OUTPUT,)),
        Term(1 / (at.m * at.sigma**2), (inner(at.one, x),)),
        Term(lost / at.sigma**2, (alpha(at, x),)),
    ]


PLACE = version_1(161, "Sect. 3.3, after Theorem 3.1", r"$\alpha^2 \approx m^2 \sigma(x_i)^2$")


def _at_identity(
    name: str, sides: Any, expected: Verdict, falsified_by: str, corrected_by: str | None = None
) -> Claim:
    return Claim(
        id=f"S-v1-remark-resnet/{name}",
        row="S-v1-remark-resnet",
        locations=(PLACE,),
        statement=r"W = I:\ \alpha_{ij}^2 = m^2\sigma(x_i)^2",
        sides=sides,
        relation=Relation.EQUAL,
        expected=expected,
        falsified_by=falsified_by,
        corrected_by=corrected_by,
    )


USED = _at_identity(
    "as-used", lambda network, at: diagonal(network, at, alpha(at, network.y)),
    Verdict.PROVED, "one batch, i = j, alpha = <x, yhat>",
)  # fmt: skip
DEFINED = _at_identity(
    "as-defined", lambda network, at: diagonal(network, at, inner(network.y, network.y)),
    Verdict.REFUTED, "one batch, i = j, alpha = <x, y>", USED.id,
)  # fmt: skip
CORRELATED = _at_identity(
    "correlation", lambda network, at: diagonal(network, at, pearson(network.y, network.y)),
    Verdict.REFUTED, "one batch, i = j, alpha the correlation coefficient", USED.id,
)  # fmt: skip
ANY_PAIR = _at_identity(
    "any-pair", off_diagonal,
    Verdict.REFUTED, 'two inputs, alpha = <x_i, yhat_j>: the theorem is "for any i and j"',
)  # fmt: skip
SHARED = USED.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=f"{ANY_PAIR.id}/bound")
BOUND = ANY_PAIR.corrected(
    "bound",
    relation=Relation.AT_MOST,
    certificate=off_diagonal_slack,
    statement=r"\alpha_{ij}^2 \le m^2\sigma(x_i)^2",
    remark="Slack: the part of x_i that y_j does not explain, and eps.",
)
REDUCTION = Claim(
    id="S-v1-remark-resnet/reduction",
    row="S-v1-remark-resnet",
    locations=(
        version_1(161, "Sect. 3.3, after Theorem 3.1", "leads to reduction of the"),
        version_1(161, "Sect. 3.3, after Theorem 3.1", r"we expect  $\sigma(y_j) \geq 1$"),
    ),
    statement=r"\sigma(y_j) \ge 1 \Rightarrow"
    r" \sum_l\Big(\frac{\partial\hat y_j^l}{\partial W_{ij}}\Big)^2 \le"
    r" \sum_l\Big(\frac{\partial y_j^l}{\partial W_{ij}}\Big)^2",
    sides=falls,
    relation=Relation.AT_MOST,
    hypotheses=(SPREAD_OUTPUT,),
    certificate=falls_slack,
    expected=Verdict.PROVED,
    falsified_by="one batch with sigma >= 1 and one input whose sensitivity grows",
    remark="Slack: sigma^2 - 1, the mean of x, and alpha; there is no reduction only where all"
    " three vanish.",
)

CLAIMS = [
    USED,
    DEFINED,
    CORRELATED,
    ANY_PAIR,
    SHARED,
    BOUND,
    BOUND.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    USED.sharpened(
        "no-sensitivity",
        sides=at_identity,
        statement=r"W = I:\ \sum_l\Big(\frac{\partial\hat y_i^l}{\partial W_{ii}}\Big)^2 = 0",
    ),
    REDUCTION,
    REDUCTION.under(Reading.SHARED_EPSILON, Verdict.PROVED),
]
