"""The network that a statement sees: primitives, a loss and a way to differentiate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verify import primitives
from verify.subjects.calculus import Calculus, Differentiating
from verify.subjects.unit import Batch


class PrimitiveNetwork(Differentiating):
    """One unit of a network with Batch Normalization (:class:`theory.claim.Network`).

    Args:
        batch: the unit's, with the layer's parameters.
        m: its length, a number of the same arithmetic.
        loss: of the layer's output.
        calculus: how to differentiate.
    """

    def __init__(self, batch: Batch, m: Any, loss: Callable[[Any], Any], calculus: Calculus):
        self.y, self.gamma, self.beta, self.eps = batch.y, batch.gamma, batch.beta, batch.eps
        self.direction, self.other_direction = batch.direction, batch.other_direction
        self.bound, self.later_normalizations = batch.bound, batch.later_normalizations
        self.m, self.loss, self.calculus = m, loss, calculus
        self.z = self.forward(batch.y)
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
