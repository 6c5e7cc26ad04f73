r"""Sect. 3.1: "a local minimizer (or gradient zero and Hessian positive semi-definite)".

Read as "that is", it is not right: at 0 the cubic :math:`\langle x, \theta\rangle\|\theta\|^2` has
gradient and Hessian zero, and takes negative values in every neighbourhood.  Read as two
hypotheses, with :math:`\lambda_{\min} > 0` as the text assumes next, either gives the other:

.. math:: L(\theta) - L(0) \ge \big(\tfrac12\lambda_{\min} - o(1)\big)\|\theta\|^2 .

So the words harm nothing where they are used: (5) has :math:`\lambda_{\min} > 0`, and in Theorem 1,
where the null space of the Hessian is the tangent space of a manifold of critical points, those
points are minimizers by the same inequality across the manifold.
"""

from typing import Any

from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def cubic(descent: Descent, theta: Any) -> Any:
    """A cubic whose gradient and Hessian vanish at 0."""
    return (descent.direction @ theta) * (theta @ theta)


def convex(descent: Descent, theta: Any) -> Any:
    """The cubic and half a quadratic form, at least ``step`` times the squared norm."""
    quadratic = theta @ (descent.hessian @ theta) + descent.step * (theta @ theta)
    return quadratic / 2 + cubic(descent, theta)


def flat(descent: Descent) -> Sides:
    """The cubic at a point, and at 0."""
    return Sides(cubic(descent, descent.theta), cubic(descent, 0 * descent.theta))


def curved(descent: Descent) -> Sides:
    """The convex function at a point, and at 0."""
    return Sides(convex(descent, descent.theta), convex(descent, 0 * descent.theta))


def growth(descent: Descent) -> Sides:
    """What it grows by, and the quadratic lower bound."""
    theta = descent.theta
    bound = descent.step / 2 + descent.direction @ theta
    return Sides(convex(descent, theta) - convex(descent, 0 * theta), bound * (theta @ theta))


def gradient_at_zero(descent: Descent) -> Any:
    """The cubic's gradient at 0."""
    return descent.gradient(lambda theta: cubic(descent, theta), 0 * descent.theta)


def hessian_at_zero(descent: Descent) -> Any:
    """The quadratic form of the cubic's Hessian at 0."""

    def slope(theta: Any) -> Any:
        return descent.derivative(lambda y: cubic(descent, y), theta, descent.theta)

    return descent.derivative(slope, 0 * descent.theta, descent.theta)


NEAR = Hypothesis(
    r"\langle x, \theta\rangle \ge -\tfrac12\alpha",
    lambda descent: descent.step / 2 + descent.direction @ descent.theta,
)


def half_form(descent: Descent) -> Any:
    """The quadratic form of the positive semi-definite part."""
    return descent.theta @ (descent.hessian @ descent.theta)


SEMI_DEFINITE = Hypothesis(r"\theta^\top H\theta \ge 0", half_form)


def above(descent: Descent) -> list[Term]:
    """The semi-definite part, and what the quadratic part leaves of the cubic."""
    return [
        Term(descent.step**0 / 2, (SEMI_DEFINITE,)),
        Term(descent.theta @ descent.theta, (NEAR,)),
    ]


def above_bound(descent: Descent) -> list[Term]:
    """The semi-definite part."""
    return above(descent)[:1]


THAT_IS = MatrixClaim(
    id="L-def-minimiser",
    row="L-def-minimiser",
    locations=at(82, "Sect. 3.1, above eq. (5)", "be a local minimizer of"),
    statement=r"L(\theta) \ge L(0),\quad L(\theta) = \langle x, \theta\rangle\|\theta\|^2,"
    r"\ L(s\theta) = s^3 L(\theta)",
    sides=flat,
    subject=Kind.DESCENT,
    relation=Relation.AT_LEAST,
    hypotheses=(
        Hypothesis(r"\nabla L(0) = 0", gradient_at_zero, Relation.EQUAL),
        Hypothesis(r"\nabla^2 L(0) \succeq 0", hessian_at_zero),
    ),
    expected=Verdict.REFUTED,
    falsified_by="one critical point with a semi-definite Hessian that is no local minimizer; a"
    " cubic that is negative somewhere is so in every neighbourhood of 0",
    remark="'Or' read as 'that is'.  A minimizer has both, so it is the converse that fails.",
)

CLAIMS = [
    THAT_IS,
    THAT_IS.corrected(
        sides=curved, hypotheses=(NEAR, SEMI_DEFINITE), certificate=above,
        statement=r"L(\theta) \ge L(0),\quad L(\theta) ="
        r" \tfrac12\theta^\top(H + \alpha I)\theta + \langle x, \theta\rangle\|\theta\|^2",
        falsified_by="one point near 0 with a smaller value",
        remark="With lambda_min > 0, here at least alpha, as the text assumes next.",
    ),
    THAT_IS.sharpened(
        "growth", sides=growth, hypotheses=(SEMI_DEFINITE,), certificate=above_bound,
        statement=r"L(\theta) - L(0) \ge"
        r" \big(\tfrac12\alpha + \langle x, \theta\rangle\big)\|\theta\|^2",
        falsified_by="one point with a smaller value", remark="",
    ),
]  # fmt: skip
