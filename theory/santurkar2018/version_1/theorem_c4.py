r"""Theorem C.4: Theorem 3.2 under a condition on sigma.

.. math:: \sigma^2 \ge \frac{(1 + \sqrt{|c|})^2}{|c| - \varepsilon} \Rightarrow
          \Big(\frac{\partial\hat L}{\partial W_{ij}}\Big)^2 \le \Big(1 - \frac\varepsilon{|c|}
          \Big)\Big(\frac{\partial L}{\partial W_{ij}}\Big)^2

"For some epsilon > 0" has to be less than |c|: above it the condition is empty and the right side
negative.  As in Theorem 3.2 the square of the cosine is meant; with it the theorem holds and a
quarter of the condition is enough, with the cosine it falls.  Every epsilon in (0, |c|) is
:math:`|c|/(1 + \lambda)` for a positive :math:`\lambda`, the case's bound; with the largest epsilon
that the condition allows the conclusion is the inequality of Theorem 3.2.  The text gets Theorem
3.2 from this one "by simple rearranging", which gives it only where its factor is below one.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
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
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1 import theorem_3_2
from theory.santurkar2018.version_1.weights import (
    absolute,
    length,
    loss_gradient,
    vanilla_gradient,
    weight_gradient,
)


def products(network: Network, g: Any) -> tuple[Any, Any]:
    """Return |<x, g>| and |x||g|."""
    x = network.direction
    return absolute(inner(x, g)), length(x) * length(g)


def kept(network: Network) -> Any:
    r"""Return :math:`1 - \varepsilon/|c|` for :math:`\varepsilon = |c|/(1 + \lambda)`."""
    return network.bound / (1 + network.bound)


def same_gradient(network: Network, at: Letters) -> Sides:
    """With the loss's gradient at the layer's output."""
    x = network.direction
    right = kept(network) * inner(x, loss_gradient(at)) ** 2
    return Sides(weight_gradient(network, x) ** 2, right)


def cosine_largest(network: Network, at: Letters) -> Sides:
    """With c the cosine, and the largest epsilon that the condition allows."""
    return theorem_3_2.cosine(network, at)


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


def margin(network: Network, g: Any, share: Any = 1) -> Any:
    """Return the condition for c the square of the cosine, times |x|^2 |g|^2."""
    p, n = products(network, g)
    return share * network.standard_deviation(network.y) ** 2 * kept(network) * p**2 - (n + p) ** 2


def cosine_margin(network: Network, at: Letters) -> Any:
    """Return, for c the cosine, the largest epsilon that the condition allows, times |x||g|."""
    p, n = products(network, loss_gradient(at))
    return at.sigma**2 * p - (sqrt(n) + sqrt(p)) ** 2


def any_epsilon_margin(network: Network, at: Letters) -> Any:
    """Return the condition for c the square of the cosine and epsilon the case's bound."""
    p, n = products(network, loss_gradient(at))
    c = p**2 / n**2
    return at.sigma**2 - (1 + p / n) ** 2 / (c - network.bound)


def tenfold(case: Any) -> Any:
    """Multiply the batch by ten, which loses nothing: y is any batch."""
    return replace(case, y=10 * case.y)


_CONDITION = r"\sigma^2 \ge \frac{(1 + \sqrt{|c|})^2}{|c| - \varepsilon}"
_EPSILON = r",\ \varepsilon = \frac{|c|}{1 + \lambda}"
_LARGEST = r",\ \varepsilon > 0 \text{ the largest such}"
SQUARE_CONDITION = Hypothesis(
    _CONDITION + _EPSILON, lambda network, at: margin(network, loss_gradient(at))
)
QUARTER_CONDITION = Hypothesis(
    _CONDITION.replace("{|c| -", "{4(|c| -").replace("varepsilon}", "varepsilon)}") + _EPSILON,
    lambda network, at: margin(network, loss_gradient(at), 4),
)
COSINE_CONDITION = Hypothesis(
    _CONDITION + _LARGEST, cosine_margin, Relation.MORE_THAN, impose=tenfold
)
TWO_NETWORKS_CONDITION = Hypothesis(
    r"\sigma^2 > 4,\ c = 1",
    lambda network, at: at.sigma**2 - 4,
    Relation.MORE_THAN,
    impose=tenfold,
)
ANY_EPSILON_CONDITION = Hypothesis(_CONDITION + r",\ \varepsilon = \lambda", any_epsilon_margin)


def square_slack(network: Network, at: Letters) -> list[Term]:
    """The condition, and the slack of Theorem 3.2."""
    return [Term(1 / at.sigma**2, (SQUARE_CONDITION,)), *theorem_3_2.four_fold_slack(network, at)]


def quarter_slack(network: Network, at: Letters) -> list[Term]:
    """The weaker condition, and the slack of the sharpened Theorem 3.2."""
    return [
        Term(1 / (4 * at.sigma**2), (QUARTER_CONDITION,)),
        *theorem_3_2.square_slack(network, at),
    ]


SQUARE = Claim(
    id="S-v1-thm-C4/square",
    row="S-v1-thm-C4",
    locations=(
        version_1(421, "App. C, Theorem C.4", r"(1+\sqrt{|c_{ij}|})^2}{|c_{ij}|-\varepsilon}"),
        version_1(423, "App. C, Theorem C.4", r"1 - |c_{ij}|^{-1} \cdot \varepsilon"),
    ),
    statement=_CONDITION + r"\Rightarrow \Big(\frac{\partial\hat L}{\partial W_{ij}}\Big)^2 \le"
    r" \Big(1 - \frac{\varepsilon}{|c_{ij}|}\Big)"
    r"\Big(\frac{\partial L}{\partial W_{ij}}\Big)^2",
    sides=same_gradient,
    relation=Relation.AT_MOST,
    hypotheses=(SQUARE_CONDITION,),
    certificate=square_slack,
    expected=Verdict.PROVED,
    falsified_by="one batch, input and loss; c the squared cosine, epsilon in (0, c)",
    remark="Slack: the condition's own, and that of Theorem 3.2.",
)
SHARPENED = SQUARE.sharpened(
    hypotheses=(QUARTER_CONDITION,),
    certificate=quarter_slack,
    statement=SQUARE.statement.replace(_CONDITION, QUARTER_CONDITION.statement.split(",")[0]),
    remark="With equality where the sharpened Theorem 3.2 has it.",
)


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

CLAIMS = [
    ANY_EPSILON,
    SQUARE,
    SQUARE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    SHARPENED,
    SHARPENED.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    COSINE,
    TWO_NETWORKS,
]
