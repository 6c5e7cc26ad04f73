r"""Equation (61), a bound on the Hessian in the weights of one unit, and "3 for i = k" (line 666).

It is true of the right Hessian, though its proof goes by (58), and with room: 6 (or 3) can be
:math:`\frac{2}{\sqrt{3}}`, and m its root.  The bounds are written as squares, for the Hessian
less its first part X, which stands for every X at once: H is free, and the sign of X with it.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Term,
    Verdict,
)
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.equation_58 import ENTRY, PROOF, ROW, bent, first_part
from theory.santurkar2018.version_1.weights import (
    alpha,
    loss_gradient,
    weight_hessian,
)


def bounded(network: Network, at: Letters, x: Any, x_k: Any, square: Any) -> Sides:
    r"""Return :math:`(\sigma^2\partial^2\hat L - X)^2 \le` a multiple of the norms' squares."""
    x, x_k = centre(x), centre(x_k)
    left = at.sigma**2 * weight_hessian(network, x, x_k) - first_part(at, x, x_k)
    product = norm_squared(x) * norm_squared(x_k) * norm_squared(loss_gradient(at))
    return Sides(left**2, square * product)


def bent_slack(at: Letters, x: Any, x_k: Any) -> list[Term]:
    r"""Return terms for :math:`\langle x, Mx_k\rangle^2 \le \frac{4}{3m}|x|^2|x_k|^2|g|^2`.

    M is the symmetric operator of :func:`bent`.  First Lagrange's identity for x and
    :math:`Mx_k`; then, with w and q what is left of :math:`x_k` and g off yhat and
    :math:`N = |\hat y|^2 = m\theta`, the bound on :math:`|Mx_k|^2` leaves

    .. math:: \frac{4 - 3\theta}{3m}\Big(\tfrac1N|aw - a_kq|^2 + \big(\langle q, w\rangle
              - \tfrac{(3\theta - 1)aa_k}{N}\big)^2\Big)
              + \frac{4}{3m}\big(|q|^2|w|^2 - \langle q, w\rangle^2\big)
    """
    x, x_k, g = centre(x), centre(x_k), centre(loss_gradient(at))
    m, norm = at.m, norm_squared(at.yhat)
    theta = norm / m
    a, a_k = inner(g, at.yhat), alpha(at, x_k)
    image = bent(at, x_k)
    w, q = x_k - at.yhat * (a_k / norm), g - at.yhat * (a / norm)
    qw = inner(q, w)
    weight = (4 - 3 * theta) / (3 * m)
    return [
        Term(1, (x, image - x * (inner(x, image) / norm_squared(x)))),
        Term(weight / norm, (x, w * a - q * a_k)),
        Term(weight, (x, qw - (3 * theta - 1) * a * a_k / norm)),
        Term(4 / (3 * m), (x, q, w - q * (qw / norm_squared(q)))),
        Term(4 / (3 * m**2), (x, x_k, inner(at.one, loss_gradient(at)))),
    ]


def room(at: Letters, x: Any, x_k: Any, square: Any) -> list[Term]:
    """Return terms for a multiple of the norms that is larger than 4/(3m)."""
    factors = (centre(x), centre(x_k), loss_gradient(at))
    return [Term((3 * square * at.m - 4) / (3 * at.m), factors)]


def six(network: Network, at: Letters) -> Sides:
    """Equation (61): 6m times the deviations is 6 times the norms."""
    return bounded(network, at, network.direction, network.other_direction, 36)


def three(network: Network, at: Letters) -> Sides:
    """Line 666: 3 for i = k."""
    return bounded(network, at, network.direction, network.direction, 9)


def sharpened(network: Network, at: Letters) -> Sides:
    """2/sqrt(3) and the root of m."""
    ratio = 4 / (3 * at.m)
    return bounded(network, at, network.direction, network.other_direction, ratio)


SIXTY_ONE = Claim(
    id="S-v1-eq-61",
    row=ROW,
    locations=(version_1(664, PROOF + "eq. (61)", r"6m\sigma_{xi}\sigma_{xk}G"),),
    statement=r"\Big(\sigma^2" + ENTRY + r" - X\Big)^2 \le"
    r" \big(6m\sigma(x_i)\sigma(x_k)\|g\|\big)^2",
    sides=six,
    relation=Relation.AT_MOST,
    certificate=lambda network, at: [
        *bent_slack(at, network.direction, network.other_direction),
        *room(at, network.direction, network.other_direction, 36),
    ],
    expected=Verdict.PROVED,
    order=2,
    falsified_by="one batch, two inputs and a loss",
    remark="True, though its proof goes by (58); slack: the factor 6 where 2/sqrt(3m) suffices.",
)
THREE = Claim(
    id="S-v1-eq-61/three",
    row=ROW,
    locations=(version_1(666, PROOF + "after eq. (61)", "can be improved to 3"),),
    statement=r"\Big(\sigma^2\frac{\partial^2\hat L}{\partial W_{ij}^2} - X\Big)^2 \le"
    r" \big(3m\sigma(x_i)^2\|g\|\big)^2",
    sides=three,
    relation=Relation.AT_MOST,
    certificate=lambda network, at: [
        *bent_slack(at, network.direction, network.direction),
        *room(at, network.direction, network.direction, 9),
    ],
    expected=Verdict.PROVED,
    order=2,
    falsified_by="one batch, one input and a loss",
    remark="Slack: the factor 3 where 2/sqrt(3m) suffices, for i = k and for i != k.",
)
SHARPENED = SIXTY_ONE.sharpened(
    sides=sharpened,
    certificate=lambda network, at: bent_slack(at, network.direction, network.other_direction),
    statement=r"\Big(\sigma^2" + ENTRY + r" - X\Big)^2 \le"
    r" \frac43 m\big(\sigma(x_i)\sigma(x_k)\|g\|\big)^2",
    remark="Attained at i = k, m = 3, eps = 0.",
)

CLAIMS = [
    SIXTY_ONE,
    SIXTY_ONE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    THREE,
    THREE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    SHARPENED,
    SHARPENED.under(Reading.SHARED_EPSILON, Verdict.PROVED),
]
