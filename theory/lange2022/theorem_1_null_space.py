r"""Theorem 1, the null space: a scaling direction lies in the null space of the Hessian.

Let :math:`X\theta` be the direction in which the incoming weights and the bias of one hidden unit
grow and its outgoing weight shrinks.  The loss does not change along it, so
:math:`\langle\nabla\mathcal L, X\theta\rangle = 0` at every :math:`\theta`; differentiated,

.. math:: \nabla^2\mathcal L(\theta)\, X\theta = -X\nabla\mathcal L(\theta),

which vanishes at every critical point, minimizer or not.  Off the kinks of the ReLU: scaling by a
positive number keeps the sign of every pre-activation, so units are open or closed throughout.

Here d hidden units have one incoming weight a, a bias c and an outgoing weight b each; unit j
contributes :math:`b_j(a_j x + c_j)`, and the loss is any function of the contributions.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def parameters(descent: Descent) -> Any:
    """Incoming weights, biases and outgoing weights, (3, d)."""
    a, c, b = descent.theta, descent.P[0], descent.direction
    return array_namespace(a).stack([a, c, b])


def contributions(descent: Descent, z: Any) -> Any:
    """What the open units contribute at the input x."""
    return z[2] * (z[0] * descent.step + z[1])


def loss(descent: Descent, z: Any) -> Any:
    """A polynomial of the contributions."""
    return descent.loss(contributions(descent, z))


def critical_loss(descent: Descent, z: Any) -> Any:
    """The same less its linear part, so that the parameters are a critical point."""
    at_parameters = contributions(descent, parameters(descent))
    slope = descent.gradient(descent.loss, at_parameters)
    return loss(descent, z) - slope @ contributions(descent, z)


def generators(descent: Descent, z: Any) -> list[Any]:
    """X z for the scaling of every unit."""
    xp, d = array_namespace(z), z.shape[1]
    units = xp.eye(d, dtype=z.dtype)
    return [xp.stack([z[0] * unit, z[1] * unit, -z[2] * unit]) for unit in units]


def along(descent: Descent, of_parameters: Any, change: Any) -> Any:
    """The Hessian of a loss at the parameters, times a direction."""

    def slope(z: Any) -> Any:
        return descent.gradient(lambda y: of_parameters(descent, y), z)

    return descent.derivative(slope, parameters(descent), change)


def no_slope(descent: Descent) -> Sides:
    """The slope along every scaling direction, and zero."""
    z = parameters(descent)
    gradient = descent.gradient(lambda y: loss(descent, y), z)
    slopes = array_namespace(z).stack([(gradient * X).sum() for X in generators(descent, z)])
    return Sides(slopes, 0 * slopes)


def everywhere(descent: Descent) -> Sides:
    """The Hessian times every scaling direction, and minus X times the gradient."""
    z = parameters(descent)
    xp = array_namespace(z)
    gradient = descent.gradient(lambda y: loss(descent, y), z)
    moved = [along(descent, loss, X) for X in generators(descent, z)]
    return Sides(xp.stack(moved), xp.stack([-X for X in generators(descent, gradient)]))


def at_critical_point(descent: Descent) -> Sides:
    """The Hessian times every scaling direction, and zero."""
    z = parameters(descent)
    moved = [along(descent, critical_loss, X) for X in generators(descent, z)]
    return Sides(array_namespace(z).stack(moved), 0 * array_namespace(z).stack(moved))


NULL_SPACE = MatrixClaim(
    id="L-thm-1",
    row="L-thm-1",
    locations=(
        *at(130, "Sect. 3.2, Theorem 1, first part", "contains at least the column space"),
        *at(120, "Sect. 3.2", "null space containing at least the column space"),
    ),
    statement=r"\nabla^2\mathcal L(\theta^*)\, X_j\theta^* = 0 \text{ for every hidden unit } j"
    r" \text{ at a critical point } \theta^*",
    sides=at_critical_point,
    subject=Kind.DESCENT,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one critical point where the Hessian does not annihilate a scaling direction",
    remark="It needs a critical point, not a minimizer.",
)

CLAIMS = [
    NULL_SPACE,
    NULL_SPACE.sharpened(
        "every-point", sides=everywhere, remark="X is +1 on what comes in, -1 on what goes out.",
        statement=r"\nabla^2\mathcal L(\theta)\, X_j\theta = -X_j\nabla\mathcal L(\theta)"
        r" \text{ at every } \theta",
        falsified_by="one network, loss and point with another product",
    ),
    replace(
        NULL_SPACE.sharpened("gradient"), sides=no_slope, remark="",
        statement=r"\langle\nabla\mathcal L(\theta), X_j\theta\rangle = 0 \text{ at every } \theta",
        falsified_by="one network, loss and point with a slope along a scaling direction",
    ),
]  # fmt: skip
