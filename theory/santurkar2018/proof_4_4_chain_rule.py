r"""The proof of Theorem 4.4, equations (11) to (15): the gradient in the weights.

W_ij takes input x_i (the vectors u and v of batch space) to unit j.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner
from theory.claim import Letters, Network, Reading, Sides, Verdict, gradient_in_y
from theory.santurkar2018.equations import displayed

_line = displayed("App. C.2, proof of Theorem 4.4", "S-eq-10-18")


def in_weight(network: Network, u: Any) -> Any:
    """The derivative in the weight of an input u."""
    return network.derivative(network.normalized_loss, network.y, u)


def line_13(network: Network, at: Letters) -> Sides:
    """The chain rule over the batch: an input is the derivative of y in its weight."""
    return Sides(
        in_weight(network, network.direction), inner(gradient_in_y(network), network.direction)
    )


def line_14(network: Network, at: Letters) -> Sides:
    """Two weights at once, X = [u, v]; along the first and twice the second."""
    u, v = network.direction, network.other_direction
    h = gradient_in_y(network)
    return Sides(in_weight(network, u + 2 * v), inner(u, h) + 2 * inner(v, h))


def bias(network: Network, at: Letters) -> Sides:
    """The derivative in a bias of the layer."""
    left = in_weight(network, at.one)
    return Sides(left, 0 * left)


def line_15(network: Network, at: Letters) -> Sides:
    """The squared norm, X = [u, v]."""
    u, v = network.direction, network.other_direction
    h = gradient_in_y(network)
    left = in_weight(network, u) ** 2 + in_weight(network, v) ** 2
    return Sides(left, inner(h, u * inner(u, h) + v * inner(v, h)))


_CHAIN = "a batch, a loss and an input whose derivative in the weight differs"

ELEVEN = _line(
    {11: ((429, r"{\partial W_{ij}} (11)"),
          (187, r"\frac{\partial y_{j}^{(b)}}{\partial W_{ij}}"))},
    r"\frac{\partial\hat L}{\partial W_{ij}} = \sum_b\frac{\partial\hat L}{\partial y_j^{(b)}}"
    r"\frac{\partial y_j^{(b)}}{\partial W_{ij}}", line_13, row="S-steps", falsified_by=_CHAIN,
)  # fmt: skip

TWELVE = _line(
    {12: ((430, r"{x_{i}}^{(b)} (12)"), (190, r"x_i^{(b)}"))},
    r"\frac{\partial\hat L}{\partial W_{ij}} = \sum_b\frac{\partial\hat L}{\partial y_j^{(b)}}"
    r"x_i^{(b)}", line_13, row="S-steps", falsified_by=_CHAIN,
)  # fmt: skip

THIRTEEN = _line(
    {13: ((431, r"{\bm{x_{i}}}\right\rangle (13)"), (193, r"x_i \right\rangle \tag{13}"))},
    r"\frac{\partial\hat L}{\partial W_{ij}} = \Big\langle\frac{\partial\hat L}{\partial y_j},"
    r" x_i\Big\rangle", line_13, row="S-steps", falsified_by=_CHAIN,
)  # fmt: skip

FOURTEEN = _line(
    {14: ((432, r"=\bm{X}^{\top}\left("), (195, r"\boldsymbol{X}^{\top} \left("))},
    r"\frac{\partial\hat L}{\partial W_{\cdot j}} = X^\top\frac{\partial\hat L}{\partial y_j}",
    line_14, falsified_by=_CHAIN,
)  # fmt: skip

FIFTEEN = _line(
    {15: ((436, r"\bm{XX^{\top}}\left("), (199, r"X X^{\top} \left("))},
    r"\|\nabla_{W_{\cdot j}}\hat L\|^2 = h^\top XX^\top h", line_15, falsified_by=_CHAIN,
)  # fmt: skip

BIAS = replace(
    FOURTEEN, id=f"{FOURTEEN.id}/bias", sides=bias,
    statement=r"\frac{\partial\hat L}{\partial b_j} = 0",
    falsified_by="a derivative in a bias that is not zero",
)  # fmt: skip

CLAIMS = [
    reading
    for line in (ELEVEN, TWELVE, THIRTEEN, FOURTEEN, FIFTEEN, BIAS)
    for reading in (line, line.under(Reading.SHARED_EPSILON, Verdict.PROVED))
]
