r"""Fact C.2 of the first version: the Jacobian (1), and the derivative by a weight (2).

(2) says :math:`\frac{\partial\hat y}{\partial W_{ij}} = \frac1\sigma\big(x_i
- \frac{\alpha_{ij}}m\hat y\big)`.  With alpha as defined, :math:`\langle x, z\rangle`, it falls:
:math:`m = 2, x = (1, -1), z = 2x` has 0 on the left and :math:`\frac12(1 - 2)` on the right.
With :math:`\alpha = \langle x, \hat y\rangle` it needs x of mean zero, where the text (line 384)
says it only of z.  What holds always subtracts the mean of x.
"""

from collections.abc import Callable

from theory.arithmetic import inner, mean
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018 import fact_c2
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.weights import MEAN_ZERO, alpha, pearson, sensitivity, tilde


def as_used(network: Network, at: Letters) -> Sides:
    """Equation (2), alpha = <x, yhat>."""
    x = network.direction
    return Sides(sensitivity(network, x), tilde(at, x) / at.sigma)


def as_defined(network: Network, at: Letters) -> Sides:
    """Equation (2), alpha = <x, z>."""
    x = network.direction
    printed = x - at.yhat * (inner(x, network.y) / at.m)
    return Sides(sensitivity(network, x), printed / at.sigma)


def as_correlation(network: Network, at: Letters) -> Sides:
    """Equation (2), alpha the correlation coefficient."""
    x = network.direction
    printed = x - at.yhat * (pearson(x, network.y) / at.m)
    return Sides(sensitivity(network, x), printed / at.sigma)


def without_mean(network: Network, at: Letters) -> Sides:
    """Equation (2) with the mean of x subtracted."""
    x = network.direction
    right = x - mean(x) - at.yhat * (alpha(at, x) / at.m)
    return Sides(sensitivity(network, x), right / at.sigma)


ONE = Claim(
    id="S-v1-fact-C2-eq-1",
    row="S-v1-fact-C2",
    locations=(version_1(386, "App. C, eq. (1)", r"\frac{1}{m} - \frac{1}{m} y^{(b)} y^{(k)}"),),
    statement=fact_c2.ONE.statement,
    sides=fact_c2.normalized,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one batch whose Jacobian differs from the formula in one entry",
    remark="Without the text's restriction to batches of mean zero.",
)
TWO = Claim(
    id="S-v1-fact-C2-eq-2/as-used",
    row="S-v1-fact-C2",
    locations=(
        version_1(390, "App. C, eq. (2)", r"x_i^{(b)} - \frac{\alpha_{ij}}{m} y_j^{(b)}"),
        version_1(362, "App. C, definition of alpha", r"\sum_{b=1}^{m} x_i^{(b)} z_j^{(b)}"),
    ),
    statement=r"\frac{\partial\hat y_j^{(b)}}{\partial W_{ij}} = \frac1{\sigma_z}\Big("
    r"x_i^{(b)} - \frac{\alpha_{ij}}{m}\hat y_j^{(b)}\Big),\quad"
    r" \alpha_{ij} = \langle x_i, \hat y_j\rangle",
    sides=as_used,
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.PROVED,
    falsified_by="one batch and one input of mean zero whose derivative differs in one entry",
)
ANY_MEAN = Claim(
    id="S-v1-fact-C2-eq-2/any-mean",
    row="S-v1-fact-C2",
    locations=TWO.locations,
    statement=TWO.statement,
    sides=as_used,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    falsified_by="one batch and one input of any mean",
)
CORRECTED = ANY_MEAN.corrected(
    sides=without_mean,
    statement=r"\frac{\partial\hat y_j^{(b)}}{\partial W_{ij}} = \frac1{\sigma_z}\Big("
    r"x_i^{(b)} - \mu_{x_i} - \frac{\langle x_i, \hat y_j\rangle}{m}\hat y_j^{(b)}\Big)",
)


def _other_alpha(name: str, alpha_is: str, sides: Callable[[Network, Letters], Sides]) -> Claim:
    return Claim(
        id=f"S-v1-fact-C2-eq-2/{name}",
        row="S-v1-fact-C2",
        locations=TWO.locations,
        statement=TWO.statement.replace(r"\langle x_i, \hat y_j\rangle", alpha_is),
        sides=sides,
        relation=Relation.EQUAL,
        hypotheses=(MEAN_ZERO,),
        expected=Verdict.REFUTED,
        corrected_by=CORRECTED.id,
        falsified_by="one batch and one input of mean zero",
    )


DEFINED = _other_alpha("as-defined", r"\langle x_i, z_j\rangle", as_defined)
CORRELATED = _other_alpha("correlation", r"\operatorname{corr}(x_i, z_j)", as_correlation)

CLAIMS = [
    ONE,
    ONE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    ONE.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=f"{ONE.id}/eps"),
    DEFINED,
    TWO,
    TWO.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    TWO.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=f"{TWO.id}/eps"),
    CORRELATED,
    ANY_MEAN,
    CORRECTED,
    CORRECTED.under(Reading.SHARED_EPSILON, Verdict.PROVED),
]
