r"""The first term of the proof of Theorem C.6 for one unit, j = l: equations (34) to (42).

(36) exchanges :math:`\partial/\partial W_{kj}` of :math:`\partial L/\partial\hat y` for
:math:`\partial/\partial\hat y` of :math:`\partial L/\partial W_{kj}`.  The two do not commute,
because :math:`\partial\hat y/\partial W_{kj}` depends on yhat: for a linear loss the left side is
zero, and the right side is not.  From there (41) loses :math:`-\frac{\alpha_{kj}}m\frac{\partial
L}{\partial\hat y}`, the derivative of the last factor.

A function of yhat is one of the batch :math:`y = \sigma\hat y + \mu` with that sigma and mu.  (41)
and (42) print :math:`\hat y_l^{(b)}` under the sum over q for :math:`\hat y_l^{(q)}`, which the
definition of X (line 584) has; they are examined with q.
"""

from collections.abc import Callable
from typing import Any

from theory.arithmetic import inner, mean
from theory.claim import Letters, Network, Reading, Sides, Verdict
from theory.santurkar2018.version_1.equation_58 import first_part, first_term_of_35
from theory.santurkar2018.version_1.proof_c6 import ENTRY, FIRST_TERM, SECOND_TERM, equation
from theory.santurkar2018.version_1.proof_c6_second_term import second_term
from theory.santurkar2018.version_1.weights import (
    alpha,
    loss_gradient,
    sensitivity,
    tilde,
    weight_gradient,
    weight_hessian,
)


def loss_gradient_at(network: Network, yhat: Any) -> Any:
    """Return the gradient of the loss at other outputs yhat."""
    return network.gamma * network.gradient(network.loss, network.gamma * yhat + network.beta)


def by_outputs(network: Network, at: Letters, x_k: Any) -> Callable[[Any], Any]:
    r"""Return :math:`\partial L/\partial W_{kj}` as a function of yhat."""
    offset = mean(network.y)

    def slope(yhat: Any) -> Any:
        moved = network.derivative(network.normalize, at.sigma * yhat + offset, x_k)
        return inner(loss_gradient_at(network, yhat), moved)

    return slope


def inside(network: Network, x_k: Any) -> Callable[[Any], Any]:
    """Return the sum over q inside (40) as a function of yhat."""

    def total(yhat: Any) -> Any:
        bracket = x_k - yhat * (inner(x_k, yhat) / network.m)
        return inner(loss_gradient_at(network, yhat), bracket)

    return total


def line_34(network: Network, at: Letters) -> Sides:
    """The definition."""
    x, x_k = network.direction, network.other_direction

    def slope(y: Any) -> Any:
        g = network.gamma * network.gradient(network.loss, network.forward(y))
        return inner(g, network.derivative(network.normalize, y, x))

    return Sides(weight_hessian(network, x, x_k), network.derivative(slope, network.y, x_k))


def line_35(network: Network, at: Letters) -> Sides:
    """The product rule."""
    x, x_k = network.direction, network.other_direction
    both = first_term_of_35(network, x, x_k) + second_term(network, at)
    return Sides(weight_hessian(network, x, x_k), both)


def line_36(network: Network, at: Letters) -> Sides:
    """The first term of (35), and that of (36)."""
    x, x_k = network.direction, network.other_direction
    right = network.derivative(by_outputs(network, at, x_k), at.yhat, sensitivity(network, x))
    return Sides(first_term_of_35(network, x, x_k), right)


def line_37(network: Network, at: Letters) -> Sides:
    """The chain rule."""
    x_k = network.other_direction
    right = inner(loss_gradient(at), sensitivity(network, x_k))
    return Sides(weight_gradient(network, x_k), right)


def line_39(network: Network, at: Letters) -> Sides:
    """Fact C.2 put in for the i-th input."""
    x, slope = network.direction, by_outputs(network, at, network.other_direction)
    left = network.derivative(slope, at.yhat, sensitivity(network, x))
    return Sides(left, network.derivative(slope, at.yhat, tilde(at, x) / at.sigma))


def line_40(network: Network, at: Letters) -> Sides:
    """Fact C.2 put in for the k-th input, its 1/sigma in front of the derivative."""
    x, x_k = network.direction, network.other_direction
    left = network.derivative(by_outputs(network, at, x_k), at.yhat, tilde(at, x) / at.sigma)
    right = network.derivative(inside(network, x_k), at.yhat, tilde(at, x))
    return Sides(left, right / at.sigma**2)


def line_41(network: Network, at: Letters) -> Sides:
    """As printed, with q for b."""
    x, x_k = network.direction, network.other_direction
    left = network.derivative(inside(network, x_k), at.yhat, tilde(at, x))
    bent = inner(loss_gradient(at), at.yhat) * inner(x_k, tilde(at, x)) / at.m
    return Sides(left / at.sigma**2, (first_part(at, x, x_k) - bent) / at.sigma**2)


def line_41_corrected(network: Network, at: Letters) -> Sides:
    """With the derivative of the last factor."""
    x, x_k = network.direction, network.other_direction
    actual, claimed = line_41(network, at)
    last = alpha(at, x_k) * inner(loss_gradient(at), tilde(at, x)) / at.m
    return Sides(actual, claimed - last / at.sigma**2)


_SLOPE = r"\frac{\partial}{\partial\hat y_j}\frac{\partial L}{\partial W_{kj}}"
_INSIDE = (
    r"\frac{\partial}{\partial\hat y_j}\Big\langle\frac{\partial L}{\partial\hat y_j},"
    r" x_k - \frac{\alpha_{kj}}m\hat y_j\Big\rangle"
)
_TILDE = r"x_i - \frac{\alpha_{ij}}m\hat y_j"
_G = r"\frac{\partial L}{\partial\hat y_j}"

THIRTY_FOUR = equation(
    "34", 548, r"\frac{\partial}{\partial W_{kl}} \sum_{b=1}^m", line_34,
    ENTRY + r" = \frac{\partial}{\partial W_{kl}}\Big\langle" + _G
    + r", \frac{\partial\hat y_j}{\partial W_{ij}}\Big\rangle",
    hypotheses=(), remark="The last sum prints one index i for j.",
)  # fmt: skip
THIRTY_FIVE = equation(
    "35", 551, r"\frac{\partial}{\partial W_{kl}} \frac{\partial \mathcal{L}}", line_35,
    f"{ENTRY} = {FIRST_TERM} + {SECOND_TERM}", hypotheses=(),
)  # fmt: skip
THIRTY_SIX = equation(
    "36", 554, r"\frac{\partial}{\partial \hat{y}_{j}^{(b)}} \frac{\partial \mathcal{L}}", line_36,
    FIRST_TERM + r" = \Big\langle" + _SLOPE + r", \frac{\partial\hat y_j}{\partial W_{ij}}"
    r"\Big\rangle,\quad j = l",
    expected=Verdict.REFUTED, corrected_by="S-v1-eq-43/corrected",
    remark="True for j != l: S-v1-eq-36/two-units.",
)  # fmt: skip
THIRTY_SEVEN = equation(
    "37", 557, r"\cdot \frac{\partial \hat{y}_{l}^{(q)}}{\partial W_{kl}}", line_37,
    r"\frac{\partial L}{\partial W_{kl}} = \Big\langle\frac{\partial L}{\partial\hat y_l},"
    r" \frac{\partial\hat y_l}{\partial W_{kl}}\Big\rangle", hypotheses=(),
)  # fmt: skip
THIRTY_NINE = equation(
    "39", 565, r"\frac{1}{\sigma_{zj}} \left( x_{i}^{(b)} - \frac{\alpha_{ij}}{m}", line_39,
    r"\Big\langle" + _SLOPE + r", \frac{\partial\hat y_j}{\partial W_{ij}}\Big\rangle ="
    r" \frac1\sigma\Big\langle" + _SLOPE + ", " + _TILDE + r"\Big\rangle",
)  # fmt: skip
FORTY = equation(
    "40", 568, r"\left( x_{k}^{(q)} - \frac{\alpha_{kl}}{m} \hat{y}_{l}^{(q)} \right)", line_40,
    r"\frac1\sigma\Big\langle" + _SLOPE + ", " + _TILDE + r"\Big\rangle ="
    r" \frac1{\sigma^2}\Big\langle" + _INSIDE + ", " + _TILDE + r"\Big\rangle,\quad j = l",
    remark="1/sigma may come out because the direction keeps the norm of yhat.",
)  # fmt: skip
FORTY_ONE = equation(
    "41", 573, r"\cdot x_{k}^{(b)} \hat{y}_{l}^{(q)}", line_41,
    r"\frac1{\sigma^2}\Big\langle" + _INSIDE + ", " + _TILDE + r"\Big\rangle = \frac1{\sigma^2}"
    r"\Big(X - \frac1m\langle g, \hat y_j\rangle\Big\langle x_k, " + _TILDE + r"\Big\rangle\Big)",
    expected=Verdict.REFUTED,
)  # fmt: skip

CLAIMS = [
    THIRTY_FOUR,
    THIRTY_FOUR.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    THIRTY_FIVE,
    THIRTY_FIVE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    THIRTY_SIX,
    THIRTY_SEVEN,
    THIRTY_NINE,
    FORTY,
    FORTY_ONE,
    FORTY_ONE.corrected(
        sides=line_41_corrected,
        statement=FORTY_ONE.statement.removesuffix(r"\Big)")
        + r" - \frac{\alpha_{kj}}m\langle g, "
        + _TILDE
        + r"\rangle\Big)",
    ),
]
