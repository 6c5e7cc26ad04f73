r"""Theorem C.4 in the readings that fall.

Any epsilon > 0, as printed; c the cosine; two real networks, c and the gradient on the right those
of the network without the layer.  With the largest epsilon that the condition allows the
conclusion is the inequality of Theorem 3.2.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Relation,
    Sides,
    Verdict,
)
from theory.santurkar2018.version_1 import theorem_3_2_readings
from theory.santurkar2018.version_1.theorem_c4 import CONDITION, SQUARE, products
from theory.santurkar2018.version_1.weights import (
    loss_gradient,
    tenfold,
    vanilla_gradient,
    weight_gradient,
)


def cosine_largest(network: Network, at: Letters) -> Sides:
    """With c the cosine, and the largest epsilon that the condition allows."""
    return theorem_3_2_readings.cosine(network, at)


def two_networks(network: Network, at: Letters) -> Sides:
    """With the loss less a linear function, which makes its gradient at y the input itself.

    Then c = 1, and the largest epsilon that the condition allows is 1 - 4/sigma^2.
    """
    x = network.direction
    linear = vanilla_gradient(network) - x

    def normalized_loss(y: Any) -> Any:
        return network.normalized_loss(y) - inner(linear, network.normalize(y))

    left = network.derivative(normalized_loss, network.y, x) ** 2
    return Sides(left, 4 / at.sigma**2 * norm_squared(x) ** 2)


def any_epsilon(network: Network, at: Letters) -> Sides:
    """With epsilon the case's bound, and the right side multiplied out."""
    p, n = products(network, loss_gradient(at))
    left = weight_gradient(network, network.direction) ** 2
    return Sides(left, p**2 - network.bound * n**2)


def cosine_margin(network: Network, at: Letters) -> Any:
    """Return, for c the cosine, the largest epsilon that the condition allows, times |x||g|."""
    p, n = products(network, loss_gradient(at))
    return at.sigma**2 * p - (sqrt(n) + sqrt(p)) ** 2


def any_epsilon_margin(network: Network, at: Letters) -> Any:
    """Return the condition for c the square of the cosine and epsilon the case's bound."""
    p, n = products(network, loss_gradient(at))
    c = p**2 / n**2
    return at.sigma**2 - (1 + p / n) ** 2 / (c - network.bound)


_LARGEST = r",\ \varepsilon > 0 \text{ the largest such}"
COSINE_CONDITION = Hypothesis(
    CONDITION + _LARGEST, cosine_margin, Relation.MORE_THAN, impose=tenfold
)
TWO_NETWORKS_CONDITION = Hypothesis(
    r"\sigma^2 > 4,\ c = 1",
    lambda network, at: at.sigma**2 - 4,
    Relation.MORE_THAN,
    impose=tenfold,
)
ANY_EPSILON_CONDITION = Hypothesis(CONDITION + r",\ \varepsilon = \lambda", any_epsilon_margin)


def _reading(name: str, sides: Any, hypothesis: Hypothesis, falsified_by: str) -> Claim:
    return Claim(
        id=f"S-v1-thm-C4/{name}",
        row="S-v1-thm-C4",
        locations=SQUARE.locations,
        statement=SQUARE.statement,
        sides=sides,
        relation=Relation.AT_MOST,
        hypotheses=(hypothesis,),
        expected=Verdict.REFUTED,
        corrected_by=SQUARE.id,
        falsified_by=f"one batch, input and loss; {falsified_by}",
    )


ANY_EPSILON = _reading(
    "any-epsilon", any_epsilon, ANY_EPSILON_CONDITION, "any epsilon > 0, as printed"
)
COSINE = _reading("cosine", cosine_largest, COSINE_CONDITION, "c the cosine, epsilon in (0, c)")
TWO_NETWORKS = _reading(
    "two-networks", two_networks, TWO_NETWORKS_CONDITION,
    "c and the gradient on the right those of the network without the layer",
)  # fmt: skip

CLAIMS = [ANY_EPSILON, COSINE, TWO_NETWORKS]
