r"""The network without the layer in the proof of Theorem C.6 for two units: lines 718 and 722.

Line 718 is line 690 again, false for a block H = I.  Line 722 subtracts line 714 from it; lines 726
and 728 are the theorem (d_kj is a slip for d_kl).
"""

from typing import Any

from theory.arithmetic import inner, sqrt
from theory.claim import (
    Letters,
    Network,
    Sides,
    Verdict,
)
from theory.santurkar2018.version_1.proof_c6 import display
from theory.santurkar2018.version_1.proof_c6_two_units import proved, units
from theory.santurkar2018.version_1.weights import (
    absolute,
    length,
)


def without_layer(network: Network) -> Any:
    r"""Return the entry for the loss :math:`\langle y_j, y_l\rangle`, differentiated."""

    def slope(y: Any) -> Any:
        return network.derivative(lambda y_l: inner(y, y_l), network.g, network.other_direction)

    return network.derivative(slope, network.y, network.direction)


def line_718(network: Network, at: Letters) -> Sides:
    """For a block H = I, of norm root m, and d = 1/m."""
    product = length(network.direction) * length(network.other_direction)
    return Sides(absolute(without_layer(network)), product * sqrt(at.m) / at.m)


def line_718_corrected(network: Network, at: Letters) -> Sides:
    """The same without absolute values or d."""
    return Sides(without_layer(network), inner(network.direction, network.other_direction))


def line_722(network: Network, at: Letters) -> Sides:
    """Line 718 less line 714, for H = I."""
    both = units(network, at)
    d, product = 1 / at.m, length(both.x) * length(both.x_k) * sqrt(at.m)
    kappa, sigmas = (1 + sqrt(d)) ** 2, at.sigma * both.sigma_l
    return Sides(d * product - product * kappa / sigmas, product * (d - kappa / sigmas))


IDENTITY = proved(
    display, "718", 718, r"m \sqrt{d_{ij} \cdot d_{kl}} \cdot \sigma_{xi} \sigma_{xk}", line_718,
    r"\Big|\frac{\partial^2 L}{\partial W_{ij}\partial W_{kl}}\Big| ="
    r" \sqrt{d_{ij}d_{kl}}\,\|x_i\|\|x_k\|\|H\|_F",
    expected=Verdict.REFUTED, falsified_by="a block H = I and two inputs",
)  # fmt: skip
DIFFERENCE = proved(
    display, "722", 722, r"\left(\sqrt{d_{ij}d_{kl}}-\frac{(1+\sqrt{d_{ij}})(1+\sqrt{d_{kl}})}",
    line_722,
    r"\text{line 718} - \text{line 714} = \|x_i\|\|x_k\|\|H\|_F\Big(\sqrt{d_{ij}d_{kl}}"
    r" - \frac{(1 + \sqrt{d_{ij}})(1 + \sqrt{d_{kl}})}{\sigma_j\sigma_l}\Big)",
    remark="For a block H = I; what is subtracted from is wrong.",
)  # fmt: skip

CLAIMS = [
    IDENTITY,
    IDENTITY.corrected(
        sides=line_718_corrected,
        statement=r"\frac{\partial^2 L}{\partial W_{ij}\partial W_{kl}} = \langle x_i, Hx_k\rangle",
        remark="For H = I; line 686 has it for one unit.",
    ),
    DIFFERENCE,
]
