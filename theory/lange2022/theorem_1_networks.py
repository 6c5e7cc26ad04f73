r"""Theorem 1 and the networks of sect. 5: where the null space is not the column space.

- "The null space is the column space" fails with a unit that is closed on the whole batch: all its
  parameters are flat, and only one direction of them is a scaling.
- It fails for softmax with cross-entropy and an output bias, the networks of sect. 5: adding one
  number to all output biases changes nothing, and scales no hidden unit,
  :math:`(\operatorname{diag}(p) - pp^\top)e = 0`.
- It needs as many data as there are parameters less hidden units, since the Hessian at an
  interpolating minimizer has at most the rank :math:`N n_{out}`.

The proof wants less: a manifold of minimizers whose tangent space is the null space of the Hessian,
whatever moves along it.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.texts import at
from theory.lange2022.theorem_1_invariance import KINK
from theory.matrix_claim import Descent
from theory.statement import Hypothesis, Relation, Sides


def probabilities(descent: Descent) -> Any:
    """The probabilities of d + 1 classes."""
    xp, theta = array_namespace(descent.theta), descent.theta
    weights = xp.concat([theta * theta, 0 * theta[:1]]) + 1
    return weights / weights.sum()


def outgoing(descent: Descent) -> Any:
    """The outgoing weights of the unit, one for each class, not all zero."""
    xp, b = array_namespace(descent.direction), descent.direction
    return xp.concat([b, 0 * b[:1] + 1])


def log_sum_exp(p: Any, u: Any) -> Any:
    """log(sum e^(z + u)) - log(sum e^z) up to second order in u, with p the softmax of z."""
    first = (p * (u + u * u / 2)).sum()
    return first - first * first / 2


def unit_loss(descent: Descent, z: Any) -> Any:
    """Cross-entropy with the labels p, one open unit: b (a + da) + c, up to second order.

    ``z`` holds changes of the outgoing weights b, of the output biases c and, in its last entry, of
    the incoming weight a; at 0 the loss is smallest.
    """
    p, b, a = probabilities(descent), outgoing(descent), descent.P[0, 0]
    d = b.shape[0]
    change = (b + z[:d]) * (a + z[2 * d]) - b * a + z[d : 2 * d]
    return log_sum_exp(p, change) - (p * change).sum()


def origin(descent: Descent) -> Any:
    """No change of any parameter."""
    b = outgoing(descent)
    return array_namespace(b).concat([0 * b, 0 * b, 0 * b[:1]])


def scaling_direction(descent: Descent) -> Any:
    """How the parameters move along the positively scale-invariant manifold."""
    b, a = outgoing(descent), descent.P[0, :1]
    return array_namespace(b).concat([-b, 0 * b, a])


def bias_shift(descent: Descent) -> Any:
    """The same change of all output biases."""
    b = outgoing(descent)
    return array_namespace(b).concat([0 * b, 0 * b + 1, 0 * b[:1]])


def moved(descent: Descent, change: Any) -> Any:
    """The Hessian at the minimizer times a direction."""

    def slope(z: Any) -> Any:
        return descent.gradient(lambda y: unit_loss(descent, y), z)

    return descent.derivative(slope, origin(descent), change)


def flat_directions(descent: Descent) -> Sides:
    """The Hessian times the scaling direction and the shift, and zero."""
    xp = array_namespace(descent.theta)
    both = [moved(descent, v) for v in (scaling_direction(descent), bias_shift(descent))]
    return Sides(xp.stack(both), 0 * xp.stack(both))


def parallel(u: Any, v: Any) -> Sides:
    """What says that two vectors are multiples of each other: Cauchy-Schwarz is an equality."""
    return Sides((u @ u) * (v @ v), (u @ v) * (u @ v))


def shift_is_scaling(descent: Descent) -> Sides:
    """The shift of the output biases as a multiple of the scaling direction."""
    return parallel(bias_shift(descent), scaling_direction(descent))


def dead_is_scaling(descent: Descent) -> Sides:
    """Any change of a closed unit's outgoing and incoming weights, as a scaling."""
    xp, a = array_namespace(descent.theta), descent.P[0, :1]
    change = xp.concat([descent.theta, a])
    return parallel(change, xp.concat([-descent.direction, a]))


SHIFT = replace(
    KINK,
    id="L-thm-1/softmax",
    locations=at(130, "Sect. 3.2, Theorem 1, second part", "is equal to"),
    statement=r"v \in \operatorname{Null}\nabla^2\mathcal L \implies v \parallel X\theta,"
    r"\quad v = \text{one change of all output biases}",
    sides=shift_is_scaling,
    corrected_by=None,
    hypotheses=(Hypothesis(r"\nabla^2\mathcal L\,v = 0",
                           lambda descent: moved(descent, bias_shift(descent)), Relation.EQUAL),),
    falsified_by="one network with softmax, cross-entropy and an output bias",
    remark="The hypothesis, for the networks of sect. 5: their null space is larger.",
)  # fmt: skip

CLAIMS = [
    SHIFT,
    SHIFT.corrected(
        sides=flat_directions, hypotheses=(), remark="Theorem 1 holds for the manifold of both.",
        statement=r"\nabla^2\mathcal L\,X\theta = 0,\quad \nabla^2\mathcal L\,v = 0",
        falsified_by="one minimizer where one of the two is not flat",
    ),
    replace(
        SHIFT, id="L-thm-1/closed-unit", sides=dead_is_scaling, hypotheses=(),
        corrected_by="L-thm-1/softmax/corrected",
        statement=r"v \in \operatorname{Null}\nabla^2\mathcal L \implies v \parallel X\theta,"
        r"\quad v \text{ in the parameters of a closed unit}",
        falsified_by="one unit that no example of the batch opens",
        remark="The hypothesis, with a unit closed on the whole batch: the loss does not depend on"
        " its parameters, so every v is in the null space.",
    ),
]  # fmt: skip
