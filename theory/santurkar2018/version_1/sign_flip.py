r"""Losses whose Hessian shrinks in every entry with the layer, while its spectral norm grows.

The first input has no part along yhat.  The loss is quadratic and stationary at the layer's output,

.. math:: L = \frac12\Big(\|d\|^2 - \frac{1 + \kappa}{m}\langle d, \hat y\rangle^2\Big)

for a deviation d from there.  With the layer its Hessian is :math:`\frac1{\sigma^2}G`, G the inner
products of the brackets :math:`\tilde x_i`; without it only the last entry is another,
:math:`G_{22} - \frac\kappa m a_2^2`, and kappa makes that :math:`-G_{22}`.  At a multiple of the
batch :math:`\sigma^2 = 101/100`.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre
from theory.claim import Hypothesis, Letters, Network, Relation, Sides
from theory.santurkar2018.version_1.symmetric import Symmetric
from theory.santurkar2018.version_1.weights import alpha, tilde


def entries(network: Network, loss: Any, at_point: Any) -> Symmetric:
    """Return the second derivatives of a function along both inputs."""

    def entry(x: Any, x_k: Any) -> Any:
        def gradient(y: Any) -> Any:
            return network.gradient(loss, y)

        return inner(x, network.derivative(gradient, at_point, x_k))

    u, v = network.direction, network.other_direction
    return Symmetric(entry(u, u), entry(u, v), entry(v, v))


def both(network: Network, at: Letters) -> tuple[Symmetric, Symmetric]:
    """Return the Hessians with and without the layer."""
    last = network.other_direction
    kappa = 2 * at.m * norm_squared(tilde(at, last)) / alpha(at, last) ** 2

    def loss(yhat: Any) -> Any:
        d = yhat - at.yhat
        return (inner(d, d) - (1 + kappa) / at.m * inner(d, at.yhat) ** 2) / 2

    with_layer = entries(network, lambda y: loss(network.normalize(y)), network.y)
    scale = 100 * at.sigma**2 / 101
    shrunk = Symmetric(*(scale * entry for entry in with_layer))
    return shrunk, entries(network, loss, at.yhat)


def spectral(network: Network, at: Letters) -> Sides:
    """Return the spectral norms."""
    with_layer, without = both(network, at)
    return Sides(with_layer.spectral(), without.spectral())


def smaller(index: int) -> Hypothesis:
    """Return that an entry is smaller with the layer."""

    def margin(network: Network, at: Letters) -> Any:
        with_layer, without = both(network, at)
        return without[index] ** 2 - with_layer[index] ** 2

    return Hypothesis(
        r"|A_{ik}| < |B_{ik}| \text{ for the entry }" + str(index), margin, Relation.MORE_THAN
    )


def part_across(case: Any) -> Any:
    """Take from both inputs the mean, and from the first the part along the batch."""
    c, x = centre(case.y), centre(case.direction)
    across = x * norm_squared(c) - c * inner(c, x)
    return replace(case, direction=across, other_direction=centre(case.other_direction))


ENTRIES = (smaller(0), smaller(1), smaller(2))
ACROSS = Hypothesis(
    r"x_1 \perp \mathbf 1, \hat y,\quad x_2 \perp \mathbf 1",
    lambda network, at: (
        inner(at.one, network.direction) ** 2
        + alpha(at, network.direction) ** 2
        + inner(at.one, network.other_direction) ** 2
    ),
    Relation.EQUAL,
    impose=part_across,
    printed=False,
)
