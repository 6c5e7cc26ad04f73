r"""The remarks after Theorem 3.2: "always" more Lipschitz.

"Whenever the outputs do not have BatchNorm-like normalization", sigma >= 1, "inserting BatchNorm
*always* makes the loss be more Lipschitz".  It depends on where the gradient is taken.

- In y it is true, for every eps.
- In one weight it falls, however large sigma is: a weight whose gradient is zero without the layer
  need not have gradient zero with it.  Theorem 3.2's factor is never less than
  :math:`4/\sigma^2`, and it is below one only for :math:`\sigma > |c|^{-1/2} + 1`.  Half of that is
  enough, and sharp.
- In all weights of the unit it falls for sigma slightly above one.  The gradient is, for inputs of
  mean zero, :math:`\frac1\sigma\big(\nabla_W L - \theta\frac{\langle x_i, y\rangle}{|y|^2}
  \langle y, g\rangle\big)_i`: at eps = 0 an oblique projection, of norm at most
  :math:`(\kappa + 1)/(2\sqrt\kappa)` with kappa the condition of the inputs' covariance.

"We expect sigma >= 1" is an expectation, no claim.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, norm_squared
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
    gradient_in_y,
)
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1 import theorem_3_2
from theory.santurkar2018.version_1.weights import (
    MEAN_ZERO,
    SPREAD_OUTPUT,
    absolute,
    length,
    loss_gradient,
    tenfold,
    weight_gradient,
)


def one_weight(network: Network, at: Letters) -> Sides:
    """The gradient in one weight."""
    x = network.direction
    return Sides(weight_gradient(network, x) ** 2, inner(x, loss_gradient(at)) ** 2)


def all_weights(network: Network, at: Letters) -> Sides:
    r"""The gradient in both weights of a unit with two inputs, where :math:`\sigma^2 = 101/100`.

    That is a multiple of the case's batch, which divides the gradient with the layer by itself.
    """
    g, both = loss_gradient(at), (network.direction, network.other_direction)
    left = at.sigma**2 * sum(weight_gradient(network, x) ** 2 for x in both)
    return Sides(100 * left, 101 * sum(inner(x, g) ** 2 for x in both))


def in_y(network: Network, at: Letters) -> Sides:
    """The gradient in the unit's output."""
    return Sides(norm_squared(gradient_in_y(network)), norm_squared(loss_gradient(at)))


def in_y_slack(network: Network, at: Letters) -> list[Term]:
    """The square of sigma less one, and what the Jacobian takes off."""
    g, share = loss_gradient(at), 1 / at.sigma**2
    excess = network.eps / at.sigma**2
    return [
        Term(share, (SPREAD_OUTPUT, g)),
        Term(share / at.m, (inner(at.one, g),)),
        Term(share * (1 + excess) / at.m, (inner(at.yhat, g),)),
    ]


def oblique(network: Network, at: Letters) -> Sides:
    """The gradient in one weight by those without the layer."""
    x, y, g = centre(network.direction), centre(network.y), loss_gradient(at)
    theta = norm_squared(at.yhat) / at.m
    along = inner(x, y) * inner(y, g) / norm_squared(y)
    return Sides(
        weight_gradient(network, network.direction), (inner(x, g) - theta * along) / at.sigma
    )


def wide_margin(network: Network, at: Letters) -> Any:
    """Return the sharp condition times |<x, g>|."""
    x, g = network.direction, loss_gradient(at)
    p, n = absolute(inner(x, g)), length(x) * length(g)
    return 4 * at.sigma**2 * p**2 - (n + p) ** 2


def one_input_weighted(case: Any) -> Any:
    """Give the unit the weights (lambda, 0) for its two inputs."""
    return replace(case, y=case.bound * case.direction)


WEIGHTS = Hypothesis(
    r"y = \lambda x_1 + 0 x_2",
    lambda network, at: norm_squared(network.y - network.bound * network.direction),
    Relation.EQUAL,
    impose=one_input_weighted,
)
WIDE = Hypothesis(
    r"\sigma \ge \frac12\big(|c|^{-1/2} + 1\big)", wide_margin, impose=tenfold, printed=False
)


def wide_slack(network: Network, at: Letters) -> list[Term]:
    """The condition, and the slack of the sharpened Theorem 3.2."""
    return [Term(1 / (4 * at.sigma**2), (WIDE,)), *theorem_3_2.square_slack(network, at)]


ROW = "S-v1-remark-always"
ALWAYS_PLACE = version_1(
    171, "Sect. 3.3, after Theorem 3.2", "*always* makes the loss be more Lipschitz"
)


def _always(name: str, statement: str, sides: Any, **fields: Any) -> Claim:
    return Claim(
        id=f"{ROW}/{name}",
        row=ROW,
        locations=(ALWAYS_PLACE,),
        statement=r"\sigma \ge 1 \Rightarrow " + statement,
        sides=sides,
        relation=Relation.AT_MOST,
        **fields,
    )


ENTRY = _always(
    "one-weight", r"\Big(\frac{\partial\hat L}{\partial W_{ij}}\Big)^2 \le"
    r" \Big(\frac{\partial L}{\partial W_{ij}}\Big)^2", one_weight,
    hypotheses=(MEAN_ZERO, SPREAD_OUTPUT), expected=Verdict.REFUTED,
    falsified_by="one batch with sigma >= 1, an input of mean zero and a loss",
)  # fmt: skip
VECTOR = _always(
    "all-weights", r"\|\nabla_W\hat L\|^2 \le \|\nabla_W L\|^2", all_weights,
    hypotheses=(MEAN_ZERO, WEIGHTS), expected=Verdict.REFUTED,
    corrected_by=f"{ROW}/all-weights/oblique",
    falsified_by="a unit with two inputs of mean zero, sigma >= 1, and a loss",
)  # fmt: skip
OUTPUT = _always(
    "output", r"\|\nabla_y\hat L\|^2 \le \|\nabla_y L\|^2", in_y,
    hypotheses=(SPREAD_OUTPUT,), certificate=in_y_slack, expected=Verdict.PROVED,
    falsified_by="one batch with sigma >= 1 and a loss",
    remark="Slack: sigma^2 - 1, the gradient's mean, and its part along yhat.",
)  # fmt: skip
RIGHT = ENTRY.corrected(
    statement=r"\sigma \ge \frac12\big(|c|^{-1/2} + 1\big) \Rightarrow"
    + ENTRY.statement.split("Rightarrow")[1],
    hypotheses=(WIDE,),
    certificate=wide_slack,
    remark="c the square of the cosine of x and g; the condition is sharp.",
)

CLAIMS = [
    ENTRY,
    VECTOR,
    OUTPUT,
    OUTPUT.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    RIGHT,
    RIGHT.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    VECTOR.corrected(
        "oblique",
        corrected_by=None,
        sides=oblique,
        relation=Relation.EQUAL,
        hypotheses=(),
        reading=Reading.SHARED_EPSILON,
        statement=r"\frac{\partial\hat L}{\partial W_{ij}} = \frac1\sigma\Big("
        r"\langle x_i, g\rangle - \theta\frac{\langle x_i, y\rangle}{\|y\|^2}\langle y, g\rangle"
        r"\Big),\quad \theta = 1 - \frac{\epsilon}{\sigma^2}",
    ),
]
