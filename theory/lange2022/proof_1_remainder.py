r"""The proof of Theorem 1: the remainder of line 509, and (26), for :math:`\tfrac12(ab - 1)^2`.

The minimizers are :math:`\theta^*(t) = (t, 1/t)`; there the Hessian is :math:`n n^\top` with
n = (1/t, t), so its one nonzero eigenvalue is :math:`\lambda = t^2 + 1/t^2`, not bounded along the
manifold.  Every point near it is :math:`\theta = \theta^* + s n` for its nearest
:math:`\theta^*`, with :math:`ab - 1 = s(\lambda + s)`, and a step leads to

.. math:: \theta_{k+1} - \theta_k^* = s(1 - \alpha\lambda)n - \alpha e_k, \qquad
          e_k = s^2 n + s^2(\lambda + s)m, \quad m = (t, 1/t),\ \|m\|^2 = \|n\|^2 = \lambda .

So (26) holds with an explicit constant, :math:`\alpha\|e_k\| \le \epsilon\|\theta_k - \theta_k^*\|`
with :math:`\epsilon = \alpha|s|(1 + \lambda + |s|)`.  No constant serves the whole manifold.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def near_point(descent: Descent) -> tuple[Any, Any, Any, Any]:
    """t, s, the point theta* + s n and the eigenvalue there."""
    t, s = descent.theta[0], descent.direction[0]
    xp = array_namespace(descent.theta)
    return t, s, xp.stack([t + s / t, 1 / t + s * t]), t * t + 1 / (t * t)


def product_loss(theta: Any) -> Any:
    """(ab - 1)^2/2."""
    residual = theta[0] * theta[1] - 1
    return residual * residual / 2


def one_step(descent: Descent) -> Sides:
    """Squares of the distance to theta_k* after a step, and of (26) with its constant."""
    t, s, theta, eigenvalue = near_point(descent)
    foot = array_namespace(theta).stack([t, 1 / t])
    moved = theta - descent.step * descent.gradient(product_loss, theta) - foot
    factor = abs(1 - descent.step * eigenvalue)
    factor = factor + descent.step * abs(s) * (1 + eigenvalue + abs(s))
    return Sides(moved @ moved, factor * factor * ((theta - foot) @ (theta - foot)))


def remainder(descent: Descent) -> Any:
    """What the gradient is beyond the Hessian times the distance."""
    t, _, theta, _ = near_point(descent)
    foot = array_namespace(theta).stack([t, 1 / t])

    def slope(y: Any) -> Any:
        return descent.gradient(product_loss, y)

    return slope(theta) - slope(foot) - descent.derivative(slope, foot, theta - foot)


def one_constant(descent: Descent) -> Sides:
    """Squares of the remainder's norm, and of a constant times the squared distance."""
    _, s, _, eigenvalue = near_point(descent)
    e, distance = remainder(descent), s * s * eigenvalue
    return Sides(e @ e, descent.P[0, 0] ** 2 * distance * distance)


def local_constant(descent: Descent) -> Sides:
    """The same with a constant that depends on the place."""
    _, s, _, eigenvalue = near_point(descent)
    e, distance = remainder(descent), s * s * eigenvalue
    constant = 2 * (1 + (eigenvalue + s) * (eigenvalue + s)) / eigenvalue
    return Sides(e @ e, constant * distance * distance)


def difference(descent: Descent) -> list[Term]:
    """|x + y|^2 <= 2 |x|^2 + 2 |y|^2, with x = s^2 n and y = s^2 (lambda + s) m."""
    t, s, _, eigenvalue = near_point(descent)
    xp = array_namespace(descent.theta)
    n, m = xp.stack([1 / t, t]), xp.stack([t, 1 / t])
    return [Term(t * t / (t * t), (s * s * n - s * s * (eigenvalue + s) * m,))]


NOT_ZERO = Hypothesis(r"t \ne 0", lambda descent: descent.theta[0] ** 2, Relation.MORE_THAN)

STEP = MatrixClaim(
    id="L-steps/26",
    row="L-steps",
    locations=at(521, "App. A, proof of Theorem 1, eq. (26)", r"r\cdot||\theta_{k}"),
    statement=r"\|\theta_{k+1} - \theta_k^*\|^2 \le \big(r + \alpha|s|(1 + \lambda + |s|)\big)^2"
    r"\|\theta_k - \theta_k^*\|^2,\quad r = |1 - \alpha\lambda|,\ \lambda = t^2 + \tfrac1{t^2},"
    r"\ \theta_k = (t + \tfrac st, \tfrac1t + st)",
    sides=one_step,
    subject=Kind.DESCENT,
    relation=Relation.AT_MOST,
    hypotheses=(NOT_ZERO,),
    expected=Verdict.SUPPORTED,
    falsified_by="one point near the manifold from which a step goes farther",
    remark="(26) with an explicit constant, at every point near the manifold and any learning rate;"
    " (24) and (25) are in L-steps/24 and L-steps/25.",
)

REMAINDER = replace(
    STEP,
    id="L-steps/509",
    locations=at(509, "App. A, proof of Theorem 1", r"\leq C||\theta_{k}-\theta^{*}_{k}||^{2}"),
    statement=r"\|e_k\|^2 \le C^2\|\theta_k - \theta_k^*\|^4,\quad"
    r" C \text{ the same for the whole manifold}",
    sides=one_constant,
    expected=Verdict.REFUTED,
    falsified_by="one constant, and a point of the manifold with a larger remainder",
    remark="The text has 'for some C'.  Near one minimizer there is one; along the manifold third"
    " derivatives grow like t, so delta = epsilon/(alpha C) depends on where one starts.",
)

CLAIMS = [
    REMAINDER,
    REMAINDER.corrected(
        sides=local_constant, certificate=difference, remark="",
        statement=r"\|e_k\|^2 \le C(\theta_k^*, s)^2\|\theta_k - \theta_k^*\|^4,\quad"
        r" C^2 = \tfrac2\lambda\big(1 + (\lambda + s)^2\big)",
        falsified_by="one point near the manifold with a larger remainder",
    ),
    STEP,
]  # fmt: skip
