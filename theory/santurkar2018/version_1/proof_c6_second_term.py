r"""The second term of the proof of Theorem C.6 for one unit, j = l: equations (45) to (56).

(45) puts Fact C.2 in and leaves its :math:`1/\sigma` undifferentiated; the lost summand is
:math:`-\frac{\alpha_{kj}}{m\sigma^2}\langle g, x_i - \frac{\alpha_{ij}}m\hat y\rangle`.  (46) to
(55) follow from there, so that (52) to (53), which says it again, is as wrong as (45).
"""

from typing import Any

from theory.arithmetic import inner
from theory.claim import Letters, Network, Sides
from theory.santurkar2018.version_1 import equation_58
from theory.santurkar2018.version_1.weights import alpha, loss_gradient, sensitivity, tilde


def second_term(network: Network, at: Letters) -> Any:
    """Return the second term of (35), differentiated."""
    x, x_k = network.direction, network.other_direction

    def slope(y: Any) -> Any:
        return network.derivative(network.normalize, y, x)

    return inner(network.derivative(slope, network.y, x_k), loss_gradient(at))


def explained(network: Network, y: Any) -> Any:
    r"""Return :math:`\frac{\alpha_{ij}}m\hat y` for another batch."""
    yhat = network.normalize(y)
    return yhat * (inner(network.direction, yhat) / network.m)


def alpha_slope(network: Network) -> Any:
    r"""Return :math:`\partial\alpha_{ij}/\partial W_{kj}`."""

    def of_batch(y: Any) -> Any:
        return inner(network.direction, network.normalize(y))

    return network.derivative(of_batch, network.y, network.other_direction)


def bracket_45(network: Network, at: Letters) -> Any:
    """Return the right side of (45)."""

    def bracket(y: Any) -> Any:
        return network.direction - explained(network, y)

    moved = network.derivative(bracket, network.y, network.other_direction)
    return inner(moved, loss_gradient(at)) / at.sigma


def bracket_46(network: Network, at: Letters) -> Any:
    """Return the right side of (46)."""
    moved = network.derivative(lambda y: explained(network, y), network.y, network.other_direction)
    return -inner(moved, loss_gradient(at)) / at.sigma


def bracket_48(network: Network, at: Letters) -> Any:
    """Return the right side of (48), which is (53)."""
    a_i = alpha(at, network.direction)
    moved = at.yhat * alpha_slope(network) + sensitivity(network, network.other_direction) * a_i
    return -inner(moved, loss_gradient(at)) / (at.m * at.sigma)


def line_55_right(network: Network, at: Letters) -> Any:
    """Return the right side of (55)."""
    x, x_k, g = network.direction, network.other_direction, loss_gradient(at)
    a_i, a_k, a = alpha(at, x), alpha(at, x_k), inner(g, at.yhat)
    rest = inner(x, x_k) / at.m * a - 2 * a_i * a_k / at.m**2 * a + a_i / at.m * inner(x_k, g)
    return -rest / at.sigma**2


def lost(network: Network, at: Letters) -> Any:
    """Return the derivative of 1/sigma, which (45) leaves out."""
    across = inner(loss_gradient(at), tilde(at, network.direction))
    return -alpha(at, network.other_direction) * across / (at.m * at.sigma**2)


def line_45(network: Network, at: Letters) -> Sides:
    """As printed."""
    return Sides(second_term(network, at), bracket_45(network, at))


def line_45_corrected(network: Network, at: Letters) -> Sides:
    """With the derivative of 1/sigma."""
    return Sides(second_term(network, at), bracket_45(network, at) + lost(network, at))


def line_46(network: Network, at: Letters) -> Sides:
    """The input does not depend on the weight."""
    return Sides(bracket_45(network, at), bracket_46(network, at))


def line_48(network: Network, at: Letters) -> Sides:
    """The product rule."""
    return Sides(bracket_46(network, at), bracket_48(network, at))


def line_50(network: Network, at: Letters) -> Sides:
    """The derivative of alpha by Fact C.2."""
    right = inner(network.direction, tilde(at, network.other_direction)) / at.sigma
    return Sides(alpha_slope(network), right)


def line_53(network: Network, at: Letters) -> Sides:
    """(52) to (53)."""
    return Sides(second_term(network, at), bracket_48(network, at))


def line_53_corrected(network: Network, at: Letters) -> Sides:
    """The same with what (45) left out."""
    return Sides(second_term(network, at), bracket_48(network, at) + lost(network, at))


def line_54(network: Network, at: Letters) -> Sides:
    """(51) and Fact C.2 put in."""
    x, x_k, g = network.direction, network.other_direction, loss_gradient(at)
    first = inner(x, x_k) - alpha(at, x) * alpha(at, x_k) / at.m
    right = inner(at.yhat, g) * first + alpha(at, x) * inner(tilde(at, x_k), g)
    return Sides(bracket_48(network, at), -right / (at.m * at.sigma**2))


def line_55(network: Network, at: Letters) -> Sides:
    """The sums taken apart."""
    return Sides(bracket_48(network, at), line_55_right(network, at))


def line_56(network: Network, at: Letters) -> Sides:
    """(43) with beta."""
    x, x_k = network.direction, network.other_direction
    a, beta_ik = inner(loss_gradient(at), at.yhat), inner(x, x_k) / at.m
    rest = a * at.m * beta_ik / at.m - alpha(at, x) * alpha(at, x_k) / at.m**2 * a
    right = (equation_58.first_part(at, x, x_k) - rest) / at.sigma**2
    return Sides(equation_58.first_term(network, at).claimed, right)


def line_58(network: Network, at: Letters) -> Sides:
    """The sum of (55) and (56)."""
    both = line_55_right(network, at) + line_56(network, at).claimed
    return Sides(both, equation_58.printed(network, at).claimed)
