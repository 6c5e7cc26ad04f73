r"""Theorem C.3: Theorem 3.1 as the appendix displays it.

The second half prints :math:`\alpha_{ij}^2` where Theorem 3.1 and the last line (7) of its own
proof have :math:`\frac1m\alpha_{ij}^2`: a slip, since :math:`m = 2, x = y = (1, -1)` gives 0 on
the left and :math:`2 - 4` on the right.  The first half needs x of mean zero.
"""

from typing import Any

from theory.arithmetic import inner, mean, norm_squared
from theory.batchnorm import variance
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1 import theorem_3_1
from theory.santurkar2018.version_1.weights import MEAN_ZERO, alpha, pearson, sensitivity


def vanilla(network: Network, at: Letters) -> Sides:
    """The first half: the network without the layer."""
    x = network.derivative(lambda y: y, network.y, network.direction)
    return Sides(norm_squared(x), at.m * variance(network.direction))


def vanilla_corrected(network: Network, at: Letters) -> Sides:
    """The first half with the mean of x."""
    x = network.direction
    left = network.derivative(lambda y: y, network.y, x)
    return Sides(norm_squared(left), at.m * variance(x) + at.m * mean(x) ** 2)


def normalized(network: Network, at: Letters, alpha_ij: Any) -> Sides:
    """The second half for one meaning of alpha."""
    x = network.direction
    right = at.m * variance(x) - alpha_ij**2
    return Sides(norm_squared(sensitivity(network, x)), right / at.sigma**2)


FIRST = Claim(
    id="S-v1-thm-C3-vanilla",
    row="S-v1-thm-C3",
    locations=(version_1(396, "App. C, Theorem C.3, first half", r"= m\sigma(x_i)^2"),),
    statement=r"\sum_l\Big(\frac{\partial y_j^l}{\partial W_{ij}}\Big)^2 = m\sigma(x_i)^2",
    sides=vanilla,
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.PROVED,
    falsified_by="one input of mean zero",
)
FIRST_ANY_MEAN = Claim(
    id="S-v1-thm-C3-vanilla/any-mean",
    row="S-v1-thm-C3",
    locations=FIRST.locations,
    statement=FIRST.statement,
    sides=vanilla,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    falsified_by="one input of any mean",
)
SECOND = Claim(
    id="S-v1-thm-C3/as-used",
    row="S-v1-thm-C3",
    locations=(
        version_1(396, "App. C, Theorem C.3, second half", r"m\sigma(x_i)^2 - \alpha_{ij}^2"),
    ),
    statement=r"\sum_l\Big(\frac{\partial\hat y_j^l}{\partial W_{ij}}\Big)^2 ="
    r" \frac1{\sigma(y_j)^2}\big(m\sigma(x_i)^2 - \alpha_{ij}^2\big)",
    sides=lambda network, at: normalized(network, at, alpha(at, network.direction)),
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.REFUTED,
    falsified_by="one batch and one input of mean zero, alpha = <x, yhat>",
    remark="Theorem 3.1 and line (7) of the proof have alpha^2/m.",
)


def _reading(name: str, alpha_is: str, sides: Any) -> Claim:
    return Claim(
        id=f"S-v1-thm-C3/{name}",
        row="S-v1-thm-C3",
        locations=SECOND.locations,
        statement=SECOND.statement,
        sides=sides,
        relation=Relation.EQUAL,
        hypotheses=(MEAN_ZERO,),
        expected=Verdict.REFUTED,
        corrected_by=f"{SECOND.id}/corrected",
        falsified_by=f"one batch and one input of mean zero, alpha {alpha_is}",
    )


DEFINED = _reading(
    "as-defined",
    "= <x, y>",
    lambda network, at: normalized(network, at, inner(network.direction, network.y)),
)
CORRELATED = _reading(
    "correlation",
    "the correlation coefficient",
    lambda network, at: normalized(network, at, pearson(network.direction, network.y)),
)
SHARED = SECOND.under(Reading.SHARED_EPSILON, Verdict.REFUTED)
RIGHT = {"hypotheses": (), "remark": "", "statement": theorem_3_1.CORRECTED.statement}

CLAIMS = [
    FIRST,
    FIRST_ANY_MEAN,
    FIRST_ANY_MEAN.corrected(
        sides=vanilla_corrected,
        statement=FIRST.statement + r" + m\mu_{x_i}^2",
    ),
    SECOND,
    DEFINED,
    CORRELATED,
    SHARED,
    SECOND.corrected(sides=theorem_3_1.corrected, **RIGHT),
    SHARED.corrected(sides=theorem_3_1.corrected, **RIGHT),
]
