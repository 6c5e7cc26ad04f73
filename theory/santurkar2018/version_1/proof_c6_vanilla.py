r"""The network without the layer in the proof of Theorem C.6: lines 686, 690 and 694.

Line 690 is true of Hessians of rank one; for H = I, where d = 1/m, it has
:math:`\|x_i\|\|x_k\|/\sqrt m` for :math:`|\langle x_i, x_k\rangle|`.  Line 694 takes the norm of
H out of 6G, which does not hold it.
"""

from typing import Any

from theory.arithmetic import inner, sqrt
from theory.claim import (
    Letters,
    Network,
    Sides,
    Verdict,
)
from theory.santurkar2018.version_1.one_functional import CURVATURE, OneFunctional
from theory.santurkar2018.version_1.proof_c6 import display
from theory.santurkar2018.version_1.weights import (
    absolute,
    length,
    loss_hessian,
)


def second_derivative(network: Network, loss: Any, x: Any, x_k: Any) -> Any:
    """Return the second derivative of a loss at the batch along both inputs."""

    def slope(y: Any) -> Any:
        return network.derivative(loss, y, x_k)

    return network.derivative(slope, network.y, x)


def line_686(network: Network, at: Letters) -> Sides:
    """The network without the layer, at the layer's output."""
    x, x_k = network.direction, network.other_direction

    def loss(y: Any) -> Any:
        return network.loss(network.z + network.gamma * (y - network.y))

    def gradient(y: Any) -> Any:
        return network.gradient(loss, y)

    left = inner(x, network.derivative(gradient, network.y, x_k))
    return Sides(left, inner(x, loss_hessian(at, x_k)))


def line_690(network: Network, at: Letters) -> Sides:
    """For L = |y|^2/2: H = I, of norm root m, and d = 1/m."""
    x, x_k = network.direction, network.other_direction
    left = second_derivative(network, lambda y: (y @ y) / 2, x, x_k)
    d, frobenius = 1 / at.m, sqrt(at.m)
    return Sides(absolute(left), d * length(x) * length(x_k) * frobenius)


def line_690_rank_one(network: Network, at: Letters) -> Sides:
    """For the loss of one functional."""
    x, x_k = network.direction, network.other_direction
    both = OneFunctional(network, x, x_k)

    def loss(y: Any) -> Any:
        t = both.a @ y
        return t + t * t / (2 * CURVATURE)

    left = second_derivative(network, loss, x, x_k)
    right = both.root(x) * both.root(x_k) * length(x) * length(x_k) * both.frobenius()
    return Sides(absolute(left), right)


def difference(network: Network, at: Letters, share: Any) -> Sides:
    """Return line 690 less (61) with (64), and line 694 with a share of 6G."""
    x, x_k = network.direction, network.other_direction
    both = OneFunctional(network, x, x_k)
    d, d_k, frobenius = both.root(x), both.root(x_k), both.frobenius()
    product, G = length(x) * length(x_k), both.gradient_norm()
    X = product * frobenius * (1 + d) * (1 + d_k)
    left = d * d_k * product * frobenius - (X + 6 * product * G) / at.sigma**2
    rest = ((1 + d) * (1 + d_k) + share(both) * 6 * G) / at.sigma**2
    return Sides(left, product * frobenius * (d * d_k - rest))


VANILLA = display(
    "686", 686, r"x_i^{(b)} x_k^{(q)}", line_686,
    r"\frac{\partial^2 L}{\partial W_{ij}\partial W_{kj}} = \langle x_i, Hx_k\rangle",
    hypotheses=(), falsified_by="one batch, two inputs and a loss",
)  # fmt: skip
_690 = (
    r"\Big|\frac{\partial^2 L}{\partial W_{ij}\partial W_{kj}}\Big| ="
    r" \sqrt{d_{ij}d_{kj}}\,\|x_i\|\|x_k\|\|H\|_F"
)
_QUOTE_690 = r"m \sqrt{d_{ij} \cdot d_{kj}} \cdot \sigma_{xi} \sigma_{xk}"
IDENTITY = display(
    "690", 690, _QUOTE_690, line_690, _690,
    expected=Verdict.REFUTED, corrected_by=VANILLA.id,
    falsified_by="H = I and two inputs; for m = 2 line 673 holds for every q",
)  # fmt: skip
RANK_ONE = display(
    "690/rank-one", 690, _QUOTE_690, line_690_rank_one, _690 + r",\quad \operatorname{rank} H = 1",
    hypotheses=(),
    falsified_by="two inputs and a loss of one linear functional",
)  # fmt: skip
_694 = (
    r"\|x_i\|\|x_k\|\|H\|_F\Big(\sqrt{d_{ij}d_{kj}} - \frac{(1 + \sqrt{d_{ij}})(1 + \sqrt{d_{kj}})"
)
DIFFERENCE = display(
    "694", 694, r"(1+\sqrt{d_{ij}})(1+\sqrt{d_{kj}}) + 6G}{\sigma_{zj}^{2}}",
    lambda network, at: difference(network, at, lambda both: 1),
    r"\text{line 690} - \text{(61)} = " + _694 + r" + 6G}{\sigma^2}\Big)",
    expected=Verdict.REFUTED, falsified_by="two inputs and a loss of one linear functional",
)  # fmt: skip

CLAIMS = [
    VANILLA,
    IDENTITY,
    RANK_ONE,
    DIFFERENCE,
    DIFFERENCE.corrected(
        sides=lambda network, at: difference(network, at, lambda both: 1 / both.frobenius()),
        statement=DIFFERENCE.statement.replace("6G", r"6G/\|H\|_F"),
    ),
]
