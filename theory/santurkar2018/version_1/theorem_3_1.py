r"""Theorem 3.1: Batch Normalization and the sensitivity of an output to a weight.

.. math:: \sum_l\Big(\frac{\partial\hat y_j^l}{\partial W_{ij}}\Big)^2 = \frac1{\sigma^2}\Big(
          \sum_l\Big(\frac{\partial y_j^l}{\partial W_{ij}}\Big)^2 - \frac1m\alpha_{ij}^2\Big)

It holds with :math:`\alpha = \langle x, \hat y\rangle`, x of mean zero and eps = 0.  As alpha is
defined, :math:`\langle x, y\rangle`, the right side can be negative: :math:`m = 2, x = (1, -1),
y = 2x` gives 0 on the left and :math:`\frac14(2 - 8)` on the right.  Without mean zero, or with
eps > 0, it is only a bound; the corrected statement has the two missing terms.
"""

from typing import Any

from theory.arithmetic import inner, mean, norm_squared
from theory.batchnorm import centre
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.weights import MEAN_ZERO, alpha, pearson, sensitivity


def printed(network: Network, at: Letters, alpha_ij: Any) -> Sides:
    """Return the theorem for one meaning of alpha; the derivative of y by the weight is x."""
    x = network.direction
    return Sides(
        norm_squared(sensitivity(network, x)),
        (norm_squared(x) - alpha_ij**2 / at.m) / at.sigma**2,
    )


def as_used(network: Network, at: Letters) -> Sides:
    """With alpha = <x, yhat>."""
    return printed(network, at, alpha(at, network.direction))


def as_defined(network: Network, at: Letters) -> Sides:
    """With alpha = <x, y>."""
    return printed(network, at, inner(network.direction, network.y))


def as_correlation(network: Network, at: Letters) -> Sides:
    """With alpha the correlation coefficient."""
    return printed(network, at, pearson(network.direction, network.y))


def corrected(network: Network, at: Letters) -> Sides:
    """With the mean of x and with eps."""
    x = network.direction
    lost = (1 + network.eps / at.sigma**2) * alpha(at, x) ** 2 / at.m
    right = norm_squared(x) - at.m * mean(x) ** 2 - lost
    return Sides(norm_squared(sensitivity(network, x)), right / at.sigma**2)


def by_correlation(network: Network, at: Letters) -> Sides:
    r"""What is left is what y does not explain of x: :math:`1 - \rho^2`."""
    x, y = centre(network.direction), centre(network.y)
    unexplained = norm_squared(x) - inner(x, y) ** 2 / norm_squared(y)
    return Sides(norm_squared(sensitivity(network, network.direction)), unexplained / at.sigma**2)


_LEFT = r"\sum_l\Big(\frac{\partial\hat y_j^l}{\partial W_{ij}}\Big)^2"
USED = Claim(
    id="S-v1-thm-3.1/as-used",
    row="S-v1-thm-3.1",
    locations=(
        version_1(155, "Sect. 3.3, Theorem 3.1", r"m^{-1} \alpha_{ij}^2"),
        version_1(159, "Sect. 3.3, after Theorem 3.1", "is the correlation between"),
    ),
    statement=_LEFT + r" = \frac1{\sigma(y_j)^2}\Big("
    r"\sum_l\Big(\frac{\partial y_j^l}{\partial W_{ij}}\Big)^2 - \frac1m\alpha_{ij}^2\Big),\quad"
    r" \alpha_{ij} = \langle x_i, \hat y_j\rangle",
    sides=as_used,
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.PROVED,
    falsified_by="one batch and one input of mean zero whose two sides differ",
)


def _reading(name: str, sides: Any, alpha_is: str, **fields: Any) -> Claim:
    return Claim(
        id=f"S-v1-thm-3.1/{name}",
        row="S-v1-thm-3.1",
        locations=USED.locations,
        statement=USED.statement.replace(r"\langle x_i, \hat y_j\rangle", alpha_is),
        sides=sides,
        relation=Relation.EQUAL,
        expected=Verdict.REFUTED,
        **fields,
    )


SHARED = USED.under(Reading.SHARED_EPSILON, Verdict.REFUTED, remark="True as a bound.")
CORRECTED = SHARED.corrected(
    sides=corrected,
    hypotheses=(),
    remark="",
    statement=_LEFT + r" = \frac1{\sigma(y_j)^2}\Big(\|x_i\|^2 - m\mu_{x_i}^2"
    r" - \big(1 + \tfrac{\epsilon}{\sigma(y_j)^2}\big)\frac1m"
    r"\langle x_i, \hat y_j\rangle^2\Big)",
)
DEFINED = _reading(
    "as-defined", as_defined, r"\langle x_i, y_j\rangle",
    hypotheses=(MEAN_ZERO,), corrected_by=USED.id,
    falsified_by="one batch and one input of mean zero, alpha as line 362 defines it",
)  # fmt: skip
CORRELATED = _reading(
    "correlation", as_correlation, r"\operatorname{corr}(x_i, y_j)",
    hypotheses=(MEAN_ZERO,), corrected_by=USED.id,
    falsified_by="one batch and one input of mean zero, alpha the correlation coefficient",
)  # fmt: skip
ANY_MEAN = _reading(
    "any-mean", as_used, r"\langle x_i, \hat y_j\rangle",
    corrected_by=CORRECTED.id,
    falsified_by="one batch and one input of any mean: line 149 assumes no whitening",
)  # fmt: skip

CLAIMS = [
    DEFINED,
    USED,
    CORRELATED,
    ANY_MEAN,
    SHARED,
    USED.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=CORRECTED.id),
    CORRECTED,
    USED.sharpened(
        "reduction",
        sides=by_correlation,
        hypotheses=(),
        statement=_LEFT + r" = \frac{m\sigma(x_i)^2}{\sigma(y_j)^2}\big(1 - \rho^2\big),\quad"
        r" \rho = \operatorname{corr}(x_i, y_j)",
        remark="So the sensitivity falls exactly when sigma(y)^2 > 1 - rho^2, which asks for"
        " less than sigma(y) >= 1.",
    ),
]
