"""The network that a statement sees: primitives, a loss and a way to differentiate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verify import primitives
from verify.subjects.calculus import Calculus, Differentiating


class PrimitiveNetwork(Differentiating):
    """One unit of a network with Batch Normalization (:class:`theory.claim.Network`).

    Args:
        y: the batch, one-dimensional.
        m: its length, a number of the same arithmetic.
        gamma: the scale.
        beta: the shift.
        eps: what is added to the variance.
        direction: a generic direction in batch space.
        loss: the loss of the layer's output.
        calculus: how to differentiate.
        other_direction: a second generic direction.
        bound: a positive number.
        later_normalizations: how many layers of Batch Normalization the loss contains.
    """

    def __init__(
        self,
        y: Any,
        m: Any,
        gamma: Any,
        beta: Any,
        eps: Any,
        direction: Any,
        loss: Callable[[Any], Any],
        calculus: Calculus,
        other_direction: Any = None,
        bound: Any = 1,
        later_normalizations: Any = 0,
    ):
        self.y, self.m, self.gamma, self.beta, self.eps = y, m, gamma, beta, eps
        self.direction, self.other_direction = direction, other_direction
        self.bound, self.loss, self.calculus = bound, loss, calculus
        self.later_normalizations = later_normalizations
        self.z = self.forward(y)
        self.g = self.gradient(loss, self.z)

    @property
    def like(self) -> Any:
        """A number of its arithmetic."""
        return self.gamma

    def standard_deviation(self, y: Any) -> Any:
        """Return the primitive standard deviation."""
        return primitives.standard_deviation(y, self.m, self.eps, self.calculus.sqrt)

    def normalize(self, y: Any) -> Any:
        """Return the primitive normalised batch."""
        return primitives.normalize(y, self.m, self.eps, self.calculus.sqrt)

    def forward(self, y: Any) -> Any:
        """Return the primitive layer's output."""
        return primitives.forward(y, self.m, self.gamma, self.beta, self.eps, self.calculus.sqrt)

    def normalized_loss(self, y: Any) -> Any:
        """Return the loss of the layer's output."""
        return self.loss(self.forward(y))
