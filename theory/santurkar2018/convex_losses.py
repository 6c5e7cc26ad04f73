r"""Convex losses with a known minimum, for what is said of minima.

Least squares :math:`\|z - t\|^2/2` has its minimum where the residual t - z is orthogonal to the
directions in which z can move (:func:`off`).  :math:`\langle v, z - y\rangle^2/2` is least at
z = y.

>>> import numpy as np
>>> off(np.array([1.0, 1.0]), np.array([2.0, 0.0]))
array([0., 4.])
"""

from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.claim import Letters, Network, Sides


def off(a: Any, b: Any) -> Any:
    r"""Return :math:`\|b\|^2 a - b\langle b, a\rangle`, which is orthogonal to b."""
    return norm_squared(b) * a - b * inner(b, a)


def with_constants(network: Network, at: Letters) -> Sides:
    """The derivative along u at W* = (1, 0), for the loss <v, z - y>^2/2 that y minimises."""
    y, v = network.y, network.other_direction

    def loss(moved: Any) -> Any:
        return inner(v, network.forward(moved) - y) ** 2 / 2

    left = network.derivative(loss, y, network.direction)
    return Sides(left, 0 * left)
