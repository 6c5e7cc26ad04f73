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
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1 import theorem_3_2
from theory.santurkar2018.version_1.weights import (
    absolute,
    length,
    loss_gradient,
    tenfold,
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


def margin(network: Network, g: Any, share: Any = 1) -> Any:
    """Return the condition for c the square of the cosine, times |x|^2 |g|^2."""
    p, n = products(network, g)
    return share * network.standard_deviation(network.y) ** 2 * kept(network) * p**2 - (n + p) ** 2


CONDITION = r"\sigma^2 \ge \frac{(1 + \sqrt{|c|})^2}{|c| - \varepsilon}"
_EPSILON = r",\ \varepsilon = \frac{|c|}{1 + \lambda}"
SQUARE_CONDITION = Hypothesis(
    CONDITION + _EPSILON, lambda network, at: margin(network, loss_gradient(at)), impose=tenfold
)
QUARTER_CONDITION = Hypothesis(
    CONDITION.replace("{|c| -", "{4(|c| -").replace("varepsilon}", "varepsilon)}") + _EPSILON,
    lambda network, at: margin(network, loss_gradient(at), 4),
    impose=tenfold,
)


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
    statement=CONDITION + r"\Rightarrow \Big(\frac{\partial\hat L}{\partial W_{ij}}\Big)^2 \le"
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
    statement=SQUARE.statement.replace(CONDITION, QUARTER_CONDITION.statement.split(",")[0]),
    remark="With equality where the sharpened Theorem 3.2 has it.",
)


CLAIMS = [
    SQUARE,
    SQUARE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    SHARPENED,
    SHARPENED.under(Reading.SHARED_EPSILON, Verdict.PROVED),
]
