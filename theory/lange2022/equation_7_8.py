r"""Equations (7) and (8): gradient descent in z, :math:`\theta = Pz`.

By the chain rule, P being linear and constant, :math:`\nabla_z = P^\top\nabla_\theta` and
:math:`\nabla_z^2 = P^\top\nabla_\theta^2 P`; multiplying (7) by P gives (8).  (For the way back
from (8) to (7), and for the point :math:`z^* = P^{-1}\theta^*`, P is to be nonsingular.)

Where P depends on the point both fail: the Jacobian of :math:`z \mapsto P(z)z` takes the place of
P.  So it is for all layers jointly, where the P of one depends on the weights of those below.

The rate is "determined by (6)" if the learning rate is the best one for
:math:`P^\top\nabla^2 L P`; with the one that was best for :math:`\nabla^2 L` it may be any.
"""

from typing import Any

from theory.arithmetic.spectra import eigenvalues
from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def gradient(descent: Descent) -> Sides:
    """The gradient in z."""
    z = descent.direction
    actual = descent.gradient(lambda z: descent.loss(descent.P @ z), z)
    return Sides(actual, descent.P.T @ descent.gradient(descent.loss, descent.P @ z))


def hessian(descent: Descent) -> Sides:
    """The Hessian in z along a direction."""
    z, u = descent.direction, descent.theta
    actual = descent.derivative(
        lambda z: descent.gradient(lambda z: descent.loss(descent.P @ z), z), z, u
    )
    in_theta = descent.derivative(
        lambda t: descent.gradient(descent.loss, t), descent.P @ z, descent.P @ u
    )
    return Sides(actual, descent.P.T @ in_theta)


def update(descent: Descent) -> Sides:
    """A step in z, multiplied by P."""
    z = descent.direction
    slope = descent.gradient(lambda z: descent.loss(descent.P @ z), z)
    theta = descent.P @ z
    preconditioned = descent.P @ (descent.P.T @ descent.gradient(descent.loss, theta))
    return Sides(descent.P @ (z - descent.step * slope), theta - descent.step * preconditioned)


def _varying(descent: Descent) -> Any:
    """The gradient in z of the loss at P(z)z, P(z) = diag(z) P."""
    return descent.gradient(lambda z: descent.loss(z * (descent.P @ z)), descent.direction)


def varying(descent: Descent) -> Sides:
    """A P that depends on the point, as if it did not."""
    z = descent.direction
    slope = descent.gradient(descent.loss, z * (descent.P @ z))
    return Sides(_varying(descent), descent.P.T @ (z * slope))


def varying_corrected(descent: Descent) -> Sides:
    """The Jacobian in the place of P."""
    z = descent.direction
    slope = descent.gradient(descent.loss, z * (descent.P @ z))
    return Sides(_varying(descent), descent.P.T @ (z * slope) + (descent.P @ z) * slope)


def rate(matrix: Any, step: Any) -> Any:
    """The factor r of (5)."""
    found = eigenvalues(matrix)
    return max(abs(1 - step * found[0]), abs(1 - step * found[-1]))


def best(matrix: Any) -> tuple[Any, Any]:
    """The learning rate that (6) is for, and the right side of (6)."""
    found = eigenvalues(matrix)
    least, largest = found[0], found[-1]
    return 2 / (least + largest), (largest - least) / (largest + least)


def kept_rate(descent: Descent) -> Sides:
    """The learning rate of the Hessian in theta."""
    transformed = descent.P.T @ descent.hessian @ descent.P
    step, _ = best(descent.hessian)
    return Sides(rate(transformed, step), best(transformed)[1])


def new_rate(descent: Descent) -> Sides:
    """The learning rate of the Hessian in z."""
    transformed = descent.P.T @ descent.hessian @ descent.P
    step, optimum = best(transformed)
    return Sides(rate(transformed, step), optimum)


CONVEX = Hypothesis(
    r"\lambda_{\min} > 0", lambda descent: eigenvalues(descent.hessian)[0], Relation.MORE_THAN
)


def claim(
    name: str, line: int, place: str, quote: str, statement: str, sides: Any, **other: Any
) -> MatrixClaim:
    """Return a statement of this section."""
    settled: dict[str, Any] = {"expected": Verdict.PROVED, "relation": Relation.EQUAL}
    return MatrixClaim(
        id="L-eq-7-8" + name, row="L-eq-7-8", statement=statement, sides=sides,
        locations=at(line, f"Sect. 3.1, {place}", quote), subject=Kind.DESCENT, **settled | other,
    )  # fmt: skip


GRADIENT = claim(
    "", 98, "(7)", r"P^{T}\nabla_{\theta}\mathcal{L}\left(\theta_{k}\right), (7)",
    r"\nabla_z\mathcal L(Pz) = P^\top\nabla_\theta\mathcal L(\theta)", gradient,
)  # fmt: skip

HESSIAN = claim(
    "/hessian", 106, "after (7)", r"P^{T}\nabla^{2}_{\theta}\mathcal{L}\left({\theta}^{*}\right)P.",
    r"\nabla_z^2\mathcal L(Pz) = P^\top\nabla_\theta^2\mathcal L(\theta)P", hessian,
)  # fmt: skip

UPDATE = claim(
    "/eq-8", 110, "(8)", r"\theta_{k}-\alpha PP^{T}\nabla_{\theta}\mathcal{L}",
    r"P z_{k+1} = \theta_k - \alpha P P^\top\nabla_\theta\mathcal L(\theta_k)", update,
)  # fmt: skip

VARYING = claim(
    "/P-of-theta", 112, "after (8)", "simply involves modifying the gradient",
    r"\nabla_z\mathcal L(P(z)z) = P(z)^\top\nabla_\theta\mathcal L(\theta),\quad"
    r" P(z) = \operatorname{diag}(z)P", varying, expected=Verdict.REFUTED,
    falsified_by="one loss and one P that depends on the point, as the P of a layer depends on the"
    " weights of the layers below",
    remark="The text has a constant P here; section 3.3 takes P from the batch, layer by layer.",
)  # fmt: skip

KEPT_RATE = claim(
    "/kept-learning-rate", 104, "the bound in z", r"as determined by (6) and the Hessian of",
    r"\max_i|1-\alpha\lambda_i(P^\top\nabla^2\mathcal L P)| \le \frac{\kappa-1}{\kappa+1},\quad"
    r" \kappa = \kappa(P^\top\nabla^2\mathcal L P),"
    r"\ \alpha = \frac2{\lambda_{\min}(\nabla^2\mathcal L)+\lambda_{\max}(\nabla^2\mathcal L)}",
    kept_rate, relation=Relation.AT_MOST, hypotheses=(CONVEX,), expected=Verdict.REFUTED,
    falsified_by="one convex quadratic and P for which the learning rate kept gives a larger r",
    remark="The text does not say which learning rate the r of the bound in z belongs to.",
)  # fmt: skip

CLAIMS = [
    GRADIENT,
    HESSIAN,
    UPDATE,
    VARYING,
    VARYING.corrected(
        sides=varying_corrected, falsified_by="", remark="",
        statement=r"\nabla_z\mathcal L(P(z)z) = J^\top\nabla_\theta\mathcal L(\theta),\quad"
        r" J = P(z) + \operatorname{diag}(Pz)",
    ),
    KEPT_RATE,
    KEPT_RATE.corrected(
        sides=new_rate, expected=Verdict.SUPPORTED, falsified_by="", remark="",
        statement=KEPT_RATE.statement.partition(r",\quad")[0]
        + r",\quad \kappa = \frac{\lambda_{\max}}{\lambda_{\min}}(P^\top\nabla^2\mathcal L P),\ "
        r"\alpha = \frac2{\lambda_{\min}+\lambda_{\max}}(P^\top\nabla^2\mathcal L P)",
    ),
]  # fmt: skip
