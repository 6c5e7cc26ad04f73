r"""What the first version writes by weights, as statements about the batch of one unit.

The unit's output is :math:`y = \sum_i W_{ij} x_i + b`, so :math:`\partial/\partial W_{ij}` of a
function of y is its derivative along :math:`x_i`, a vector in batch space.  The i-th input is the
case's direction, the k-th its second one.

The layer of this text has no gamma and beta.  They are given to the loss,
:math:`\mathcal L(\hat y) = L(\gamma\hat y + \beta)`, which loses nothing: its gradient at
:math:`\hat y` is :math:`\gamma g` and its Hessian :math:`\gamma^2 H`.

:math:`\alpha_{ij}` is defined as :math:`\langle x_i, z_j\rangle` (line 362), called a correlation
(lines 159 and 398), and used as :math:`\langle x_i, \hat y_j\rangle` in every proof.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
from theory.batchnorm import centre
from theory.claim import Hypothesis, Letters, Network, Relation, hessian_in_y


def absolute(number: Any) -> Any:
    """Return the absolute value of a scalar."""
    return sqrt(number * number)


def length(x: Any) -> Any:
    """Return the Euclidean norm of a vector."""
    return sqrt(norm_squared(x))


def alpha(at: Letters, x: Any) -> Any:
    r"""Return :math:`\langle x, \hat y\rangle`, the alpha that the proofs use."""
    return inner(x, at.yhat)


def pearson(x: Any, y: Any) -> Any:
    """Return the correlation coefficient of two batches."""
    return inner(centre(x), centre(y)) / (length(centre(x)) * length(centre(y)))


def tilde(at: Letters, x: Any) -> Any:
    r"""Return :math:`x - \frac{\alpha}{m}\hat y`, the bracket that the proofs repeat."""
    return x - at.yhat * (alpha(at, x) / at.m)


def loss_gradient(at: Letters) -> Any:
    r"""Return :math:`\partial\mathcal L/\partial\hat y`."""
    return at.gamma * at.g


def loss_hessian(at: Letters, x: Any) -> Any:
    r"""Return :math:`\frac{\partial^2\mathcal L}{\partial\hat y^2} x`."""
    return at.gamma**2 * at.H(x)


def sensitivity(network: Network, x: Any) -> Any:
    r"""Return :math:`\partial\hat y/\partial W_{ij}`, by differentiation of the network."""
    return network.derivative(network.normalize, network.y, x)


def weight_gradient(network: Network, x: Any) -> Any:
    r"""Return :math:`\partial\hat{\mathcal L}/\partial W_{ij}`, by differentiation."""
    return network.derivative(network.normalized_loss, network.y, x)


def weight_hessian(network: Network, x: Any, x_k: Any) -> Any:
    r"""Return :math:`\partial^2\hat{\mathcal L}/\partial W_{ij}\partial W_{kj}`."""
    return inner(x, hessian_in_y(network, x_k))


def vanilla_gradient(network: Network) -> Any:
    r"""Return :math:`\partial\mathcal L/\partial y` of the network without the layer, at y."""

    def vanilla_loss(y: Any) -> Any:
        return network.loss(network.gamma * y + network.beta)

    return network.gradient(vanilla_loss, network.y)


def centred_inputs(case: Any) -> Any:
    """Take the means off both inputs."""
    return replace(
        case,
        direction=centre(case.direction),
        other_direction=centre(case.other_direction),
    )


def tenfold(case: Any) -> Any:
    """Multiply the batch by ten, which loses nothing: y is any batch."""
    return replace(case, y=10 * case.y)


MEAN_ZERO = Hypothesis(
    r"x_i \text{ and } x_k \text{ have mean zero}",
    lambda network, at: (
        inner(at.one, network.direction) ** 2 + inner(at.one, network.other_direction) ** 2
    ),
    Relation.EQUAL,
    impose=centred_inputs,
    printed=False,
)
"""Used throughout; the text says it only of z (line 384), and in Lemma 3.3 of the inputs."""

SPREAD_OUTPUT = Hypothesis(r"\sigma \ge 1", lambda network, at: at.sigma**2 - 1, Relation.AT_LEAST)
