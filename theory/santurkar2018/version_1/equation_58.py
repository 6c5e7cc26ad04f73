r"""Equation (58), the Hessian in the weights of one unit, with (43) and (51) around it.

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
"""

from typing import Any

from theory.arithmetic import inner
from theory.batchnorm import centre
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
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


ROW = "S-v1-eq-58"
PROOF = "App. C, proof of Theorem C.6, "
ENTRY = r"\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kj}}"
_A = r"\langle g, \hat y\rangle"

FORTY_THREE = Claim(
    id="S-v1-eq-43",
    row=ROW,
    locations=(
        version_1(588, PROOF + "eq. (43)", r"\left( \sum_{b=1}^m x_i^{(b)} x_k^{(b)} \right)"),
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
    locations=(version_1(617, PROOF + "eq. (51)", r"\frac{\alpha_{ij} \alpha_{kj}}{m}"),),
    statement=r"\frac{\partial\alpha_{ij}}{\partial W_{kj}} = \frac1\sigma\Big("
    r"\langle x_i, x_k\rangle - \frac{\alpha_{ij}\alpha_{kj}}m\Big),\quad"
    r" \alpha_{ij} = \langle x_i, \hat y_j\rangle",
    sides=alpha_used,
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.PROVED,
    falsified_by="one batch and two inputs of mean zero, alpha = <x, yhat>",
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
    locations=(version_1(651, PROOF + "eq. (58)", r"2\beta_{ik} - 3 \frac{\alpha_{ij}"),),
    statement=ENTRY + r" = \frac1{\sigma^2}\Big(X - \big(2\beta_{ik}"
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
    statement=ENTRY + r" = \frac1{\sigma^2}\Big(X - \big(\beta_{ik}"
    r" - \tfrac{3\alpha_{ij}\alpha_{kj}}{m^2}\big)" + _A
    + r" - \frac1m\big(\alpha_{ij}\langle x_k, g\rangle + \alpha_{kj}\langle x_i, g\rangle"
    r"\big)\Big)",
    hypotheses=(),
    remark="The deviations of the inputs from their means stand for the inputs: any mean will do.",
)  # fmt: skip

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
        statement=ENTRY + r" = \frac1{\sigma^2}\Big(X - \frac1m\big("
        r"\langle\tilde x_i, \tilde x_k\rangle"
        + _A
        + r" + \alpha_{ij}\langle\tilde x_k, g\rangle + \alpha_{kj}\langle\tilde x_i, g\rangle\big)"
        r"\Big)",
    ),
]
