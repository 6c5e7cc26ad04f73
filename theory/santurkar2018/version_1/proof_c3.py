r"""The proof of Theorem C.3, line by line: equations (3) to (7).

(3) is "the normal case" and prints a hat that does not belong to it: with it :math:`m = 2,
x = y = (1, -1)` has 0 on the left and 2 on the right.  (4) to (7) hold for
:math:`\alpha = \langle x, \hat y\rangle`, inputs of mean zero and eps = 0.  (6) takes the squared
norm of yhat for m; with alpha as defined it falls already at (4).
"""

from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.batchnorm import variance
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1 import theorem_3_1
from theory.santurkar2018.version_1.weights import MEAN_ZERO, alpha, sensitivity


def left(network: Network) -> Any:
    """Return the sum of squares on the left."""
    return norm_squared(sensitivity(network, network.direction))


def line_3(network: Network, at: Letters) -> Sides:
    """With the hat."""
    return Sides(left(network), at.m * variance(network.direction))


def line_3_corrected(network: Network, at: Letters) -> Sides:
    """Without the hat."""
    x = network.derivative(lambda y: y, network.y, network.direction)
    return Sides(norm_squared(x), at.m * variance(network.direction))


def line_4(network: Network, at: Letters) -> Sides:
    """The derivative of Fact C.2 put in."""
    x = network.direction
    inside = (at.m * x - at.yhat * alpha(at, x)) / (at.m * at.sigma)
    return Sides(left(network), norm_squared(inside))


def line_4_as_defined(network: Network, at: Letters) -> Sides:
    """The same with alpha = <x, z>."""
    x = network.direction
    inside = (at.m * x - at.yhat * inner(x, network.y)) / (at.m * at.sigma)
    return Sides(left(network), norm_squared(inside))


def line_5(network: Network, at: Letters) -> Sides:
    """The square expanded; the sum extends over all three terms."""
    x, a = network.direction, alpha(at, network.direction)
    middle = 2 * a * inner(at.yhat, x) / at.m
    last = a**2 * norm_squared(at.yhat) / at.m**2
    return Sides(left(network), (norm_squared(x) - middle + last) / at.sigma**2)


def line_6(network: Network, at: Letters) -> Sides:
    """The sums put in."""
    a, total = alpha(at, network.direction), at.m * variance(network.direction)
    right = total - 2 * a**2 / at.m + a**2 * at.m / at.m**2
    return Sides(left(network), right / at.sigma**2)


def line_7(network: Network, at: Letters) -> Sides:
    """The end."""
    a, total = alpha(at, network.direction), at.m * variance(network.direction)
    return Sides(left(network), (total - a**2 / at.m) / at.sigma**2)


_LEFT = r"\sum_b\Big(\frac{\partial\hat y_j^{(b)}}{\partial W_{ij}}\Big)^2 = "


def _line(name: str, line: int, quote: str, sides: Any, right: str, **fields: Any) -> Claim:
    place = f"App. C, proof of Theorem C.3, eq. ({name.split('/')[0]})"
    settled = {
        "expected": Verdict.PROVED,
        "falsified_by": "one batch and one input of mean zero, alpha = <x, yhat>",
        **fields,
    }
    return Claim(
        id=f"S-v1-eq-{name}",
        row="S-v1-steps",
        locations=(version_1(line, place, quote),),
        statement=_LEFT + right,
        sides=sides,
        relation=Relation.EQUAL,
        hypotheses=(MEAN_ZERO,),
        **settled,
    )


THREE = _line(
    "3", 402, r"\right)^2 = \sum_{b=1}^{m} \left( x_i^{(b)} \right)^2", line_3,
    r"m\sigma(x_i)^2", expected=Verdict.REFUTED, falsified_by="one batch and one input",
)  # fmt: skip
FOUR = _line(
    "4", 407, r"\frac{m x_{i}^{(b)} - \alpha_{ij} \hat{y}_{j}^{(b)}}{m \sigma_{j}}", line_4,
    r"\sum_b\Big(\frac{m x_i^{(b)} - \alpha_{ij}\hat y_j^{(b)}}{m\sigma}\Big)^2",
)  # fmt: skip
FOUR_DEFINED = _line(
    "4/as-defined", 407, FOUR.locations[0].quote, line_4_as_defined,
    FOUR.statement.removeprefix(_LEFT) + r",\ \alpha_{ij} = \langle x_i, z_j\rangle",
    expected=Verdict.REFUTED, corrected_by=FOUR.id, falsified_by="one batch and one input",
)  # fmt: skip
FIVE = _line(
    "5", 410, r"\frac{1}{m} 2\alpha_{ij} \hat{y}_j^{(b)} x_i^{(b)}", line_5,
    r"\frac1{\sigma^2}\sum_b\Big((x_i^{(b)})^2 - \frac2m\alpha_{ij}\hat y_j^{(b)}x_i^{(b)}"
    r" + \frac1{m^2}\alpha_{ij}^2(\hat y_j^{(b)})^2\Big)",
)  # fmt: skip
SIX = _line(
    "6", 412, r"m \sigma_{xi}^2 - \frac{2}{m} \alpha_{ij}^2", line_6,
    r"\frac1{\sigma^2}\Big(m\sigma(x_i)^2 - \frac2m\alpha_{ij}^2 + \frac1{m^2}\alpha_{ij}^2 m\Big)",
)  # fmt: skip
SEVEN = _line(
    "7", 415, r"m\sigma_{xi}^2 - \frac{1}{m}\alpha_{ij}^2", line_7,
    r"\frac1{\sigma^2}\Big(m\sigma(x_i)^2 - \frac1m\alpha_{ij}^2\Big)",
)  # fmt: skip


def _with_epsilon(claim: Claim) -> Claim:
    right = theorem_3_1.CORRECTED.id
    return claim.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=right)


CLAIMS = [
    THREE,
    THREE.corrected(sides=line_3_corrected, statement=THREE.statement.replace(r"\hat y", " y")),
    FOUR,
    FOUR.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    FOUR_DEFINED,
    FIVE,
    FIVE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    SIX,
    _with_epsilon(SIX),
    SEVEN,
    _with_epsilon(SEVEN),
]
