r"""Losses that run in every arithmetic that they can: functions of the layer's output z.

Each is a few array operations on z and its parameters, so it can be evaluated on floats, exact
numbers, balls and sympy entries alike.  ``softplus`` is the one elementary function; the
arithmetic that evaluates the loss supplies it, or cannot evaluate that loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Elementary = Callable[[Any], Any]


def quadratic(z: Any, softplus: Elementary | None, linear: Any, matrix: Any) -> Any:
    r""":math:`\langle a, z\rangle + \langle z, Bz\rangle/2` with a symmetric matrix B."""
    return z @ linear + (z @ (matrix @ z)) / 2


def isotropic(z: Any, softplus: Elementary | None, linear: Any, curvature: Any) -> Any:
    r""":math:`\langle a, z\rangle + h\langle z, z\rangle/2`."""
    return z @ linear + curvature * (z @ z) / 2


def general(
    z: Any,
    softplus: Elementary | None,
    linear: Any,
    matrix: Any,
    fourth: Any,
    weight: Any,
    slope: Any,
) -> Any:
    r"""The quadratic plus :math:`\sum_k q_k z_k^4 + \sum_k w_k\log(1 + e^{s_k z_k})`.

    With some parameters zero it is a quadratic, a quartic or the loss of a logistic regression.
    """
    polynomial = quadratic(z, softplus, linear, matrix) + (fourth * z * z) @ (z * z)
    if softplus is None:
        return polynomial
    return polynomial + weight @ softplus(slope * z)


@dataclass(frozen=True)
class Loss:
    """A function of the list above with its parameters."""

    function: Callable[..., Any]
    parameters: tuple[Any, ...]

    def __call__(self, z: Any, softplus: Elementary | None = None) -> Any:
        """Return the loss of a layer output."""
        return self.function(z, softplus, *self.parameters)
