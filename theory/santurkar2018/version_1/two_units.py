r"""Two units j and l, and the part of the loss that joins them, as one unit's network shows them.

The outputs :math:`z_j` are the case's batch and :math:`z_l` the gradient of its loss, a batch of
its own; the joint part of the loss is :math:`\langle\hat y_j, H\hat y_l\rangle` with H the Hessian
of the case's loss.  So the block :math:`\partial^2 L/\partial\hat y_j\partial\hat y_l = H` is
symmetric, which nothing here uses.
"""

from typing import Any

from theory import batchnorm
from theory.arithmetic import inner
from theory.claim import Letters, Network
from theory.santurkar2018.version_1.weights import loss_hessian, sensitivity, tilde


class TwoUnits:
    """The i-th input of unit j and the k-th of unit l."""

    def __init__(self, network: Network, at: Letters, x: Any, x_k: Any):
        self.network, self.at, self.x, self.x_k = network, at, x, x_k
        self.z_l = network.g
        self.yhat_l = batchnorm.normalize(self.z_l, network.eps)
        self.sigma_l = batchnorm.standard_deviation(self.z_l, network.eps)

    def block(self, x: Any) -> Any:
        """Return the block H applied to a vector."""
        return loss_hessian(self.at, x)

    def sensitivities(self) -> tuple[Any, Any]:
        """Return the derivatives of both outputs, each by its own weight."""
        network = self.network
        second = network.derivative(network.normalize, self.z_l, self.x_k)
        return sensitivity(network, self.x), second

    def gradient_slope(self) -> Any:
        r"""Return the derivative of :math:`\partial L/\partial\hat y_j` by the weight of unit l.

        That gradient is :math:`H\hat y_l`, so H is applied to the derivative of the outputs.
        """
        return self.block(self.sensitivities()[1])

    def entry(self) -> Any:
        """Return the entry of the Hessian: that slope, differentiated by the weight of unit j."""
        network, moved = self.network, self.gradient_slope()
        return network.derivative(lambda z: inner(network.normalize(z), moved), network.y, self.x)

    def first_term(self) -> Any:
        """Return the first term of (35)."""
        return inner(self.gradient_slope(), self.sensitivities()[0])

    def exchanged(self) -> Any:
        """Return the first term of (36)."""
        moved = self.gradient_slope()
        first = self.sensitivities()[0]
        return self.network.derivative(lambda yhat: inner(yhat, moved), self.at.yhat, first)

    def tilde_k(self) -> Any:
        """Return the k-th bracket."""
        return self.x_k - self.yhat_l * (self.alpha_k() / self.at.m)

    def alpha_k(self) -> Any:
        r"""Return :math:`\alpha_{kl}`."""
        return inner(self.x_k, self.yhat_l)

    def X(self) -> Any:
        r"""Return :math:`X_{ijkl}`."""
        return inner(tilde(self.at, self.x), self.block(self.tilde_k()))
