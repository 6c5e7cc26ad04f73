r"""The loss of one linear functional, t + t^2/2000 of :math:`t = \langle a, \hat y\rangle`.

Its Hessian aa'/1000 has rank one and so meets, for every q, the assumption of line 673,

.. math:: \Big(\sum_b H_{bq}x_i^{(b)}\Big)^2 = d_{ij}\sum_b H_{bq}^2\,\|x_i\|^2,\quad
          d_{ij} = \frac{\langle a, x_i\rangle^2}{\|a\|^2\|x_i\|^2}

The vector a is the gradient of the case's loss.
"""

from typing import Any

from theory.arithmetic import inner
from theory.claim import Network
from theory.santurkar2018.version_1.weights import absolute, length

CURVATURE = 1000
"""The second derivative of t + t^2/2000 is one over this."""


class OneFunctional:
    """The two networks with the loss t + t^2/2000 of t = <a, .>, for inputs x_i and x_k."""

    def __init__(self, network: Network, x: Any, x_k: Any):
        self.network, self.x, self.x_k, self.a = network, x, x_k, network.g

    def loss(self, y: Any) -> Any:
        """Return the loss of the layer's output."""
        t = self.a @ self.network.normalize(y)
        return t + t * t / (2 * CURVATURE)

    def with_layer(self) -> Any:
        """Return the entry of the Hessian, differentiated."""
        network = self.network

        def gradient(y: Any) -> Any:
            return network.gradient(self.loss, y)

        return inner(self.x, network.derivative(gradient, network.y, self.x_k))

    def without_layer(self) -> Any:
        """Return the entry of the network without the layer."""
        return inner(self.a, self.x) * inner(self.a, self.x_k) / CURVATURE

    def frobenius(self) -> Any:
        """Return the Frobenius norm of the Hessian."""
        return inner(self.a, self.a) / CURVATURE

    def root(self, x: Any) -> Any:
        """Return the root of d."""
        return absolute(inner(self.a, x)) / (length(self.a) * length(x))

    def gradient_norm(self) -> Any:
        """Return the norm of dL/dyhat."""
        t = inner(self.a, self.network.normalize(self.network.y))
        return absolute(1 + t / CURVATURE) * length(self.a)

    def margin(self, sigma: Any, factor: Any, epsilon: Any) -> Any:
        """Return the condition, multiplied by its denominator."""
        d, d_k = self.root(self.x), self.root(self.x_k)
        return sigma**2 * (d * d_k - epsilon) - (1 + d) * (1 + d_k) - factor * self.gradient_norm()
