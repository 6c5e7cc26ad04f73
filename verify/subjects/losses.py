r"""Losses that run in every arithmetic that they can: functions of the layer's output z.

Each is a few array operations on z and its parameters, so it can be evaluated on floats, exact
numbers, balls and letters alike.  ``softplus`` is the one elementary function; the
arithmetic that evaluates the loss supplies it, or cannot evaluate that loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory.arithmetic import sqrt
from theory.arithmetic.dual import Dual, standard_part

Elementary = Callable[[Any], Any]
OF_MATRICES = frozenset(["linear", "quadratic", "fourth", "pooled", "ridge", "centre", "factor"])
"""What a loss of a layer, of maps or of a descent is made of; a layer's may be coupled besides."""


def quadratic(z: Any, softplus: Elementary | None, linear: Any, matrix: Any) -> Any:
    r""":math:`\langle a, z\rangle + \langle z, Bz\rangle/2` with a symmetric matrix B."""
    return z @ linear + (z @ (matrix @ z)) / 2


def bend(t: Any) -> Any:
    r"""Return :math:`(t + t^2)/(1 + t^2)`, of which no derivative vanishes.

    Of polynomials alone, statements hold that do not of other losses: Simpson's rule for the mean
    of a Hessian over a segment, or that the slopes at opposite points add up to twice that at 0.
    """
    return (t + t * t) / (1 + t * t)


def ridged(z: Any, softplus: Elementary | None, linear: Any, matrix: Any, ridge: Any) -> Any:
    r"""The quadratic plus :func:`bend` of :math:`\langle c, z\rangle`."""
    return quadratic(z, softplus, linear, matrix) + bend(z @ ridge)


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
    return _entrywise(quadratic(z, softplus, linear, matrix), z, softplus, fourth, weight, slope)


def separable(
    z: Any,
    softplus: Elementary | None,
    linear: Any,
    curvature: Any,
    fourth: Any,
    weight: Any,
    slope: Any,
) -> Any:
    r"""The same with a diagonal B, given by its entries: for long batches."""
    parabolas = z @ linear + (curvature * z) @ z / 2
    return _entrywise(parabolas, z, softplus, fourth, weight, slope)


def _entrywise(
    base: Any, z: Any, softplus: Elementary | None, fourth: Any, weight: Any, slope: Any
) -> Any:
    """Return a loss plus fourth powers and softplus functions of the entries."""
    polynomial = base + (fourth * z * z) @ (z * z)
    return polynomial if softplus is None else polynomial + weight @ softplus(slope * z)


def relu_network(
    z: Any,
    softplus: Elementary | None,
    inner_weights: Any,
    outer_weights: Any,
    shift: Any,
    targets: Any,
) -> Any:
    r"""Squared error of a network with one hidden ReLU and a skip connection for each entry.

    .. math:: \tfrac12\sum_k\big(b_k\,\mathrm{relu}(a_k z_k + s) - z_k - t_k\big)^2
    """
    hidden = inner_weights * z + shift
    rectified = (hidden + _size(hidden)) / 2
    error = outer_weights * rectified - z - targets
    return (error @ error) / 2


def _size(hidden: Any) -> Any:
    """Return absolute values, with slope zero at a kink: also there the loss is worth something."""
    is_exact = isinstance(hidden, np.ndarray) and hidden.dtype.kind == "O"
    return _size_of(hidden) if is_exact else abs(hidden)


def _size_of_entry(x: Any) -> Any:
    sign = standard_part(x)
    return x * (int(sign > 0) - int(sign < 0)) if isinstance(x, Dual) else abs(x)


_size_of = np.frompyfunc(_size_of_entry, 1, 1)


def later_batchnorm(z: Any, softplus: Elementary | None, targets: Any) -> Any:
    r"""Squared distance of the normalised z to the targets, as a later layer normalises it."""
    m = len(z)
    deviation = z - z.sum() / m
    normalized = deviation / sqrt((deviation @ deviation) / m + 1)
    return ((normalized - targets) @ (normalized - targets)) / 2


@dataclass(frozen=True)
class Loss:
    """A function of the list above with its parameters."""

    function: Callable[..., Any]
    parameters: tuple[Any, ...]

    def __call__(self, z: Any, softplus: Elementary | None = None) -> Any:
        """Return the loss of a layer output."""
        return self.function(z, softplus, *self.parameters)

    @property
    def letters(self) -> tuple[str, ...]:
        """The names of the parameters in the formula."""
        return _WRITTEN[self.function.__name__][1]

    @property
    def formula(self) -> str:
        """The function in words that a reader can evaluate."""
        return _WRITTEN[self.function.__name__][0]


_WRITTEN: dict[str, tuple[str, tuple[str, ...]]] = {
    "quadratic": ("<a, z> + <z, B z>/2", ("a", "B")),
    "ridged": (
        "<a, z> + <z, B z>/2 + (t + t^2)/(1 + t^2), t = <c, z>",
        ("a", "B", "c"),
    ),
    "isotropic": ("<a, z> + h |z|^2/2", ("a", "h")),
    "general": (
        "<a, z> + <z, B z>/2 + sum q z^4 + sum w log(1 + exp(s z))",
        ("a", "B", "q", "w", "s"),
    ),
    "separable": (
        "<a, z> + sum b z^2/2 + sum q z^4 + sum w log(1 + exp(s z))",
        ("a", "b", "q", "w", "s"),
    ),
    "relu_network": ("sum (b relu(a z + s) - z - t)^2 / 2", ("a", "b", "s", "t")),
    "later_batchnorm": ("|(z - mean z)/sqrt(var z + 1) - t|^2 / 2", ("t",)),
}
