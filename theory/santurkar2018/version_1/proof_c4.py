r"""The proof of Theorem C.4, line by line: equations (8) to (17), lines 469 and 477.

Inputs have mean zero, p is :math:`\langle g, x\rangle`, a is :math:`\langle g, \hat y\rangle`, S is
:math:`|g|^2`, and c is :math:`p^2/(S|x|^2)`, as (9) and (14) say.

- (9): its second equality has lost a factor m; :math:`x = g = (1, -1)` has 4 and 2.
- (12): its left side prints :math:`\partial L/\partial\hat y^{(b)}` for :math:`\partial L/\partial
  W_{ij}`; summed over b, :math:`\sigma^2 S` is not m times the right side.
- (16): for a negative alpha the middle term turns negative; |alpha| is right.
- (17): prints the root of c alpha; only :math:`\sqrt c\,|\alpha|` has the right dimension.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
from theory.batchnorm import centre, standard_deviation, variance
from theory.claim import (
    Hypothesis,
    Letters,
    Network,
    Relation,
    Sides,
    Term,
)
from theory.santurkar2018.version_1.weights import (
    absolute,
    alpha,
    length,
    loss_gradient,
    sensitivity,
    tilde,
    weight_gradient,
)


def parts(network: Network, at: Letters) -> tuple[Any, Any, Any, Any]:
    r"""Return p, a, S and :math:`\alpha/m`, for the input less its mean."""
    x, g = centre(network.direction), loss_gradient(at)
    return inner(g, x), inner(g, at.yhat), norm_squared(g), alpha(at, x) / at.m


def left(network: Network, at: Letters) -> Any:
    """Return sigma^2 times the square of the gradient, differentiated."""
    return at.sigma**2 * weight_gradient(network, network.direction) ** 2


def line_8(network: Network, at: Letters) -> Sides:
    """The network without the layer, at the layer's output."""
    x, z = network.direction, network.z

    def vanilla_loss(y: Any) -> Any:
        return network.loss(z + network.gamma * (y - network.y))

    return Sides(network.derivative(vanilla_loss, network.y, x), inner(loss_gradient(at), x))


def line_9(network: Network, at: Letters) -> Sides:
    """The second equality, c from the first."""
    x, S = network.direction, norm_squared(loss_gradient(at))
    p = inner(loss_gradient(at), x)
    return Sides(p**2, p**2 / (S * norm_squared(x)) * variance(x) * S)


def line_469(network: Network, at: Letters) -> Sides:
    """The same with m."""
    actual, claimed = line_9(network, at)
    return Sides(actual, at.m * claimed)


def line_10(network: Network, at: Letters) -> Sides:
    """The chain rule."""
    x = network.direction
    return Sides(weight_gradient(network, x), inner(loss_gradient(at), sensitivity(network, x)))


def line_11(network: Network, at: Letters) -> Sides:
    """Fact C.2 put in."""
    x = network.direction
    return Sides(weight_gradient(network, x), inner(loss_gradient(at), tilde(at, x)) / at.sigma)


def expanded(network: Network, at: Letters) -> Any:
    """Return the right side of (12)."""
    p, a, _, share = parts(network, at)
    return p**2 - 2 * share * p * a + share**2 * a**2


def line_12(network: Network, at: Letters) -> Sides:
    """As printed, summed over the batch."""
    S = norm_squared(loss_gradient(at))
    return Sides(at.sigma**2 * S, at.m * expanded(network, at))


def line_13(network: Network, at: Letters) -> Sides:
    """With the derivative by the weight on the left."""
    return Sides(left(network, at), expanded(network, at))


def line_14(network: Network, at: Letters) -> Sides:
    """The first square by c."""
    x = centre(network.direction)
    p, a, S, share = parts(network, at)
    first = p**2 / (S * norm_squared(x)) * S * at.m * variance(x)
    return Sides(left(network, at), first - 2 * share * p * a + share**2 * a**2)


def line_15(network: Network, at: Letters) -> Sides:
    """The middle term by its absolute value."""
    p, a, _, share = parts(network, at)
    right = p**2 + 2 * absolute(share * p * a) + share**2 * a**2
    return Sides(left(network, at), right)


def slack_15(network: Network, at: Letters) -> list[Term]:
    """What the absolute value adds."""
    p, a, _, share = parts(network, at)
    t = share * p * a
    return [Term(1 / absolute(t), (absolute(t) + t,))]


def line_16(network: Network, at: Letters) -> Sides:
    """The step from (15)."""
    p, a, S, share = parts(network, at)
    deviation = standard_deviation(network.direction)
    right = p**2 + 2 * share * S * at.m * deviation + share**2 * a**2
    return Sides(line_15(network, at).claimed, right)


def line_16_corrected(network: Network, at: Letters) -> Sides:
    """The step from (15) with the absolute value of alpha."""
    p, a, S, share = parts(network, at)
    deviation = length(centre(network.direction)) / sqrt(at.m)
    right = p**2 + 2 * absolute(share) * S * at.m * deviation + share**2 * a**2
    return Sides(line_15(network, at).claimed, right)


def slack_16(network: Network, at: Letters) -> list[Term]:
    r"""Lagrange's identity twice: :math:`|p| \le \sqrt S|x|` and :math:`|a| \le \sqrt{Sm}`."""
    p, a, S, share = parts(network, at)
    x, g = centre(network.direction), loss_gradient(at)
    n, k = sqrt(S) * length(x), sqrt(S) * sqrt(at.m)
    return [
        Term(2 * absolute(share) * k, (1 / sqrt(n + absolute(p)), g, x - g * (p / S))),
        Term(2 * absolute(share) * absolute(p) * S / (k + absolute(a)), (at.yhat - g * (a / S),)),
    ]


def line_17(network: Network, at: Letters) -> Sides:
    """As printed, a bound on (12)."""
    return bound_17(network, at, lambda root_c, alpha_ij: sqrt(root_c**2 * absolute(alpha_ij)))


def line_17_corrected(network: Network, at: Letters) -> Sides:
    """With the root of c alone."""
    return bound_17(network, at, lambda root_c, alpha_ij: root_c * absolute(alpha_ij))


def bound_17(network: Network, at: Letters, middle: Any) -> Sides:
    """Return (17) with a middle coefficient."""
    x = centre(network.direction)
    p, _, S, share = parts(network, at)
    root_c = absolute(p) / (sqrt(S) * length(x))
    rest = 2 * middle(root_c, share * at.m) * S * length(x) / sqrt(at.m)
    return Sides(left(network, at), p**2 + rest + at.m * share**2 * S)


def slack_17(network: Network, at: Letters) -> list[Term]:
    """What (15) gives away, and |a| against its bound, twice."""
    p, a, S, share = parts(network, at)
    g, k = loss_gradient(at), sqrt(S) * sqrt(at.m)
    across = at.yhat - g * (a / S)
    weight = 2 * absolute(share) * absolute(p) / (k + absolute(a))
    return [*slack_15(network, at), Term(weight * S, (across,)), Term(S, (share, across))]


def line_477(network: Network, at: Letters) -> Sides:
    """What the condition gains, epsilon = c/(1 + lambda)."""
    x = network.direction
    vanilla = inner(loss_gradient(at), x) ** 2
    return Sides(vanilla - weight_gradient(network, x) ** 2, vanilla / (1 + network.bound))


def hundredfold(case: Any) -> Any:
    """Multiply the input by a hundred, which loses nothing: x is any input."""
    return replace(case, direction=100 * case.direction)


POSITIVE_ALPHA = Hypothesis(
    r"\alpha_{ij} > 0",
    lambda network, at: alpha(at, network.direction),
    Relation.MORE_THAN,
    impose=hundredfold,
)
