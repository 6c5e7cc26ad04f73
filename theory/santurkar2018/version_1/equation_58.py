r"""Equation (58), the Hessian in the weights of one unit, with (43), (51), (61) around it.

With :math:`\theta = |\hat y|^2/m`, :math:`a = \langle g, \hat y\rangle`,
:math:`a_i = \langle x_i, \hat y\rangle`, :math:`\beta_{ik} = \langle x_i, x_k\rangle/m`,
:math:`\tilde x = x - \frac{a_x}m\hat y` and inputs of mean zero, what holds for every eps is

.. math:: \frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kj}} = \frac1{\sigma^2}\Big(
          \langle\tilde x_i, H\tilde x_k\rangle - \big(\beta_{ik} - \tfrac{3a_ia_k}{m^2}\big)a
          - \tfrac1m\big(a_i\langle x_k, g\rangle + a_k\langle x_i, g\rangle\big)\Big)

(58) has :math:`2\beta_{ik}` and lacks the second of the last two terms, so that it is not even
symmetric.  It goes wrong three times: (36) exchanges derivatives by yhat and by W, though
dyhat/dW depends on yhat; (41) drops :math:`-\frac{\alpha_{kl}}m\frac{\partial L}{\partial\hat y}`;
(45) leaves 1/sigma undifferentiated.  At :math:`m = 3, x_1 = (1, -1, 0), x_2 = (0, 1, -1), y =
x_1, L = \hat y_1` the entry (2, 2) is :math:`-\sqrt6/8`, and (58) has :math:`-5\sqrt6/8`.

(61) is true of the right Hessian all the same, with room: 6 (or 3) can be
:math:`\frac{2}{\sqrt{3}}`, and m its root.  The bounds are written as squares, for the Hessian
less its first part X, which stands for every X at once: H is free, and the sign of X with it.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Term, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.weights import (
    MEAN_ZERO,
    alpha,
    loss_gradient,
    loss_hessian,
    sensitivity,
    tilde,
    weight_hessian,
)


def first_part(at: Letters, x: Any, x_k: Any) -> Any:
    """Return X."""
    return inner(tilde(at, x), loss_hessian(at, tilde(at, x_k)))


def bent(at: Letters, x_k: Any) -> Any:
    r"""Return the vector whose inner product with x_i is the rest of the bracket."""
    g, a_k = centre(loss_gradient(at)), alpha(at, x_k)
    a = inner(g, at.yhat)
    along = 3 * a * a_k / at.m**2 - inner(g, x_k) / at.m
    return at.yhat * along - x_k * (a / at.m) - g * (a_k / at.m)


def printed(network: Network, at: Letters) -> Sides:
    """Equation (58)."""
    x, x_k, g = network.direction, network.other_direction, loss_gradient(at)
    a_i, a_k, a = alpha(at, x), alpha(at, x_k), inner(g, at.yhat)
    rest = (2 * inner(x, x_k) / at.m - 3 * a_i * a_k / at.m**2) * a
    rest = rest + a_i * inner(x_k, g) / at.m
    right = (first_part(at, x, x_k) - rest) / at.sigma**2
    return Sides(weight_hessian(network, x, x_k), right)


def corrected(network: Network, at: Letters) -> Sides:
    """What holds, for inputs of mean zero."""
    x, x_k = centre(network.direction), centre(network.other_direction)
    right = (first_part(at, x, x_k) + inner(x, bent(at, x_k))) / at.sigma**2
    return Sides(weight_hessian(network, network.direction, network.other_direction), right)


def symmetric(network: Network, at: Letters) -> Sides:
    """The same at eps = 0, by the brackets alone."""
    x, x_k, g = centre(network.direction), centre(network.other_direction), loss_gradient(at)
    rest = inner(tilde(at, x), tilde(at, x_k)) * inner(g, at.yhat)
    rest = rest + alpha(at, x) * inner(g, tilde(at, x_k)) + alpha(at, x_k) * inner(g, tilde(at, x))
    right = (first_part(at, x, x_k) - rest / at.m) / at.sigma**2
    return Sides(weight_hessian(network, network.direction, network.other_direction), right)


def first_term(network: Network, at: Letters) -> Sides:
    """The first term of (35), differentiated, and (43)."""
    x, x_k, g = network.direction, network.other_direction, loss_gradient(at)
    a_i, a_k, a = alpha(at, x), alpha(at, x_k), inner(g, at.yhat)
    right = first_part(at, x, x_k) - inner(x, x_k) * a / at.m + a_i * a_k * a / at.m**2
    return Sides(first_term_of_35(network, x, x_k), right / at.sigma**2)


def first_term_of_35(network: Network, x: Any, x_k: Any) -> Any:
    """Return the sum over the batch of d/dW_kj (dL/dyhat) times dyhat/dW_ij."""

    def gradient(y: Any) -> Any:
        return network.gamma * network.gradient(network.loss, network.forward(y))

    return inner(network.derivative(gradient, network.y, x_k), sensitivity(network, x))


def first_term_corrected(network: Network, at: Letters) -> Sides:
    """The first term of (35) is X."""
    x, x_k = network.direction, network.other_direction
    return Sides(first_term_of_35(network, x, x_k), first_part(at, x, x_k) / at.sigma**2)


def alpha_used(network: Network, at: Letters) -> Sides:
    """Equation (51), alpha = <x, yhat>."""
    x, x_k = network.direction, network.other_direction
    left = network.derivative(lambda y: inner(x, network.normalize(y)), network.y, x_k)
    right = inner(x, x_k) - alpha(at, x) * alpha(at, x_k) / at.m
    return Sides(left, right / at.sigma)


def alpha_defined(network: Network, at: Letters) -> Sides:
    """Equation (51), alpha = <x, z>."""
    x, x_k = network.direction, network.other_direction
    left = network.derivative(lambda y: inner(x, y), network.y, x_k)
    right = inner(x, x_k) - inner(x, network.y) * inner(x_k, network.y) / at.m
    return Sides(left, right / at.sigma)


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


ROW = "S-v1-eq-58"
_PROOF = "App. C, proof of Theorem C.6, "
_ENTRY = r"\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kj}}"
_A = r"\langle g, \hat y\rangle"

FORTY_THREE = Claim(
    id="S-v1-eq-43",
    row=ROW,
    locations=(
        version_1(588, _PROOF + "eq. (43)", r"\left( \sum_{b=1}^m x_i^{(b)} x_k^{(b)} \right)"),
    ),
    statement=r"\Big\langle\frac{\partial}{\partial W_{kj}}\frac{\partial L}{\partial\hat y},"
    r" \frac{\partial\hat y}{\partial W_{ij}}\Big\rangle = \frac1{\sigma^2}\Big(X"
    r" - \frac1m" + _A + r"\langle x_i, x_k\rangle + \frac{\alpha_{ij}\alpha_{kj}}{m^2}" + _A
    + r"\Big)",
    sides=first_term,
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.REFUTED,
    order=2,
    falsified_by="one batch, two inputs of mean zero and a loss; alpha = <x, yhat>",
)  # fmt: skip
FIFTY_ONE = Claim(
    id="S-v1-eq-51/as-used",
    row=ROW,
    locations=(version_1(617, _PROOF + "eq. (51)", r"\frac{\alpha_{ij} \alpha_{kj}}{m}"),),
    statement=r"\frac{\partial\alpha_{ij}}{\partial W_{kj}} = \frac1\sigma\Big("
    r"\langle x_i, x_k\rangle - \frac{\alpha_{ij}\alpha_{kj}}m\Big),\quad"
    r" \alpha_{ij} = \langle x_i, \hat y_j\rangle",
    sides=alpha_used,
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.PROVED,
)
FIFTY_ONE_DEFINED = Claim(
    id="S-v1-eq-51/as-defined",
    row=ROW,
    locations=FIFTY_ONE.locations,
    statement=FIFTY_ONE.statement.replace(r"\hat y_j", "z_j"),
    sides=alpha_defined,
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.REFUTED,
    corrected_by=FIFTY_ONE.id,
    falsified_by="one batch and two inputs of mean zero, alpha = <x, z> as line 362 defines it",
)
PRINTED = Claim(
    id="S-v1-eq-58",
    row=ROW,
    locations=(version_1(651, _PROOF + "eq. (58)", r"2\beta_{ik} - 3 \frac{\alpha_{ij}"),),
    statement=_ENTRY + r" = \frac1{\sigma^2}\Big(X - \big(2\beta_{ik}"
    r" - \tfrac{3\alpha_{ij}\alpha_{kj}}{m^2}\big)" + _A
    + r" - \frac{\alpha_{ij}}m\langle x_k, g\rangle\Big)",
    sides=printed,
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.REFUTED,
    order=2,
    falsified_by="one batch, two inputs of mean zero and a loss; alpha = <x, yhat>",
)  # fmt: skip
CORRECTED = PRINTED.corrected(
    sides=corrected,
    statement=_ENTRY + r" = \frac1{\sigma^2}\Big(X - \big(\beta_{ik}"
    r" - \tfrac{3\alpha_{ij}\alpha_{kj}}{m^2}\big)" + _A
    + r" - \frac1m\big(\alpha_{ij}\langle x_k, g\rangle + \alpha_{kj}\langle x_i, g\rangle"
    r"\big)\Big)",
    hypotheses=(),
    remark="The deviations of the inputs from their means stand for the inputs: any mean will do.",
)  # fmt: skip
SIXTY_ONE = Claim(
    id="S-v1-eq-61",
    row=ROW,
    locations=(version_1(664, _PROOF + "eq. (61)", r"6m\sigma_{xi}\sigma_{xk}G"),),
    statement=r"\Big(\sigma^2" + _ENTRY + r" - X\Big)^2 \le"
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
    locations=(version_1(666, _PROOF + "after eq. (61)", "can be improved to 3"),),
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
    statement=r"\Big(\sigma^2" + _ENTRY + r" - X\Big)^2 \le"
    r" \frac43 m\big(\sigma(x_i)\sigma(x_k)\|g\|\big)^2",
    remark="Attained at i = k, m = 3, eps = 0.",
)

CLAIMS = [
    FORTY_THREE,
    FORTY_THREE.corrected(
        sides=first_term_corrected,
        statement=FORTY_THREE.statement.split(" = ")[0] + r" = \frac{X}{\sigma^2}",
    ),
    FIFTY_ONE,
    FIFTY_ONE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    FIFTY_ONE.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=f"{FIFTY_ONE.id}/eps"),
    FIFTY_ONE_DEFINED,
    PRINTED,
    PRINTED.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=f"{CORRECTED.id}/eps"),
    CORRECTED,
    CORRECTED.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    PRINTED.sharpened(
        "symmetric",
        sides=symmetric,
        hypotheses=(),
        statement=_ENTRY + r" = \frac1{\sigma^2}\Big(X - \frac1m\big("
        r"\langle\tilde x_i, \tilde x_k\rangle" + _A
        + r" + \alpha_{ij}\langle\tilde x_k, g\rangle + \alpha_{kj}\langle\tilde x_i, g\rangle\big)"
        r"\Big)",
    ),
    SIXTY_ONE,
    SIXTY_ONE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    THREE,
    THREE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    SHARPENED,
    SHARPENED.under(Reading.SHARED_EPSILON, Verdict.PROVED),
]  # fmt: skip
