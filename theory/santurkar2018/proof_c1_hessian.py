r"""The proof of Theorem C.1, equations (52) to (54): the Hessian in the weights.

(55) holds no formula in either text.
"""

from typing import Any

from theory import batchnorm
from theory.arithmetic import inner
from theory.claim import Letters, Network, Reading, Sides, Verdict, hessian_in_y
from theory.santurkar2018.equations import displayed
from theory.santurkar2018.second_derivative import twice

_line = displayed("App. C.2, proof of Theorem C.1", "S-eq-52-58", order=2)


def shipped(network: Network, at: Letters, u: Any) -> Any:
    """The closed form of the Hessian of Lhat in y, applied to u."""
    return batchnorm.hvp(network.y, at.g, at.H, u, at.gamma, network.eps)


def line_52(network: Network, at: Letters) -> Sides:
    """Two weights of the normal network."""
    u, v = network.direction, network.other_direction
    return Sides(twice(network, network.loss, network.z, u, v), inner(u, at.H(v)))


def line_53(network: Network, at: Letters) -> Sides:
    """Two weights of the network with the layer."""
    u, v = network.direction, network.other_direction
    left = twice(network, network.normalized_loss, network.y, u, v)
    return Sides(left, inner(u, hessian_in_y(network, v)))


def line_54(network: Network, at: Letters) -> Sides:
    """X = [u, v]: the block's form along the weights (1, 2), the Hessian in closed form."""
    u, v = network.direction, network.other_direction
    both = u + 2 * v
    left = twice(network, network.normalized_loss, network.y, both, both)
    Hu, Hv = shipped(network, at, u), shipped(network, at, v)
    return Sides(left, inner(u, Hu) + 4 * inner(u, Hv) + 4 * inner(v, Hv))


_SECOND = "a batch, a loss and two inputs whose second derivative differs"
_HESSIAN = r"\frac{\partial^2\hat L}{\partial y\partial y}"
_W = r"\frac{\partial^2\hat L}{\partial W_{\cdot j}\partial W_{\cdot j}}"

LINES = [
    _line({52: ((544, r"\frac{\partial\mathcal{L}}{\partial W_{ij}\partial W_{kj}}"),
                (357, r"\boldsymbol{x}_{i}^{\top} \frac{\partial \mathcal{L}}"))},
          r"\frac{\partial^2 L}{\partial W_{ij}\partial W_{kj}} = x_i^\top H x_k", line_52,
          falsified_by=_SECOND, remark="The text writes dL for a second derivative throughout."),
    _line({53: ((545, r"\frac{\partial\widehat{\mathcal{L}}}{\partial W_{ij}\partial W_{kj}}"),
                (360, r"\boldsymbol{x}_{i}^{\top} \frac{\partial \widehat{\mathcal{L}}}"))},
          r"\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kj}} = x_i^\top" + _HESSIAN + "x_k",
          line_53, falsified_by=_SECOND),
    _line({54: ((546, r"=\bm{X}^{\top}\frac{\partial\widehat{\mathcal{L}}}"),
                (363, r"= X^{\top} \frac{\partial \widehat{\mathcal{L}}}"))},
          _W + r" = X^\top" + _HESSIAN + "X", line_54, falsified_by=_SECOND),
]  # fmt: skip

CLAIMS = [
    reading
    for line in LINES
    for reading in (line, line.under(Reading.SHARED_EPSILON, Verdict.PROVED))
]
