"""The network that a statement sees: primitives, a loss and a way to differentiate."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from theory.language.values import Values
from verify import primitives


class Calculus(NamedTuple):
    """What a witness brings: a square root and two kinds of derivative, in its arithmetic.

    ``gradient(f, x)`` is that of a scalar function, ``derivative(f, x, u)`` that of any function
    along u.
    """

    sqrt: Callable[[Any], Any]
    gradient: Callable[[Callable[[Any], Any], Any], Any]
    derivative: Callable[[Callable[[Any], Any], Any, Any], Any]
    values_of: Callable[..., Values] = Values
    """What evaluates expressions."""
    meter: Any = None
    """What remembers the errors of derivatives that are approximate."""

    def differential(self, f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
        """Return the derivative of f at x as a function of the direction."""
        return partial(self.derivative, f, x)


class Differentiating:
    """What is of one arithmetic, with a calculus that differentiates functions there."""

    calculus: Calculus

    @property
    def values_of(self) -> Callable[..., Values]:
        """What evaluates expressions."""
        return self.calculus.values_of

    def gradient(self, f: Callable[[Any], Any], x: Any) -> Any:
        """Return the gradient of a scalar function at x."""
        return self.calculus.gradient(f, x)

    def derivative(self, f: Callable[[Any], Any], x: Any, u: Any) -> Any:
        """Return the derivative of a function at x along u."""
        return self.calculus.derivative(f, x, u)

    def differential(self, f: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
        """Return the derivative of a function at x, as a function of the direction."""
        return self.calculus.differential(f, x)


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
