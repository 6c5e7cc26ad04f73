"""Second derivatives of a loss along directions, by differentiating twice."""

from typing import Any

from theory.claim import Network


def twice(network: Network, f: Any, x: Any, a: Any, b: Any) -> Any:
    """The second derivative of f at x along a and b."""
    return network.derivative(lambda x: network.derivative(f, x, a), x, b)


def bending(network: Network, u: Any) -> Any:
    r""":math:`u^\top\hat H u`, the second derivative of the loss behind the layer along u."""
    return twice(network, network.normalized_loss, network.y, u, u)
