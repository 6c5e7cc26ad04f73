r"""Theorem 1, the rate, on its smallest network: :math:`\mathcal L = \tfrac12(ab - 1)^2`.

The minimizers are :math:`\theta^*(t) = (t, 1/t)`, where the Hessian has the one nonzero eigenvalue
:math:`\lambda = t^2 + 1/t^2`.  One step obeys (26) with an explicit constant
(:mod:`theory.lange2022.proof_1_remainder`), and the theorem for all k follows where r < 1.

With :math:`\alpha \ge 2/\lambda` it does not: on the diagonal a = b near (1, 1), r = 2 alpha - 1,
the iteration leaves every neighbourhood, and some step has a larger ratio than
:math:`r + \epsilon`.
"""

from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict

STEPS = 6
NEAR = 512
"""A start is 1 and a number over this."""


def squared_distance(x: Any) -> Any:
    """From (1 + x, 1 + x) to the hyperbola ab = 1, a > 0: least at (1, 1) while x is at most 1."""
    return 2 * x * x if x <= 1 else (1 + x) * (1 + x) - 2


def descended(x: Any, alpha: Any) -> Any:
    """A step of gradient descent from (1 + x, 1 + x), which stays on the diagonal."""
    return x - alpha * (x * (2 + x)) * (1 + x)


def on_diagonal(descent: Descent, alpha: Any, factor: Any) -> Sides:
    """Squares of the distances after a step, and of the factor times those before."""
    x, after, before = descent.theta[0] / NEAR, [], []
    for _ in range(STEPS):
        moved = descended(x, alpha)
        after.append(squared_distance(moved))
        before.append(factor * factor * squared_distance(x))
        x = moved
    xp = array_namespace(descent.theta)
    return Sides(xp.stack(after), xp.stack(before))


def any_rate(descent: Descent) -> Sides:
    """The rate alpha = 1 + x, so r = 1 + 2x; epsilon = 1."""
    alpha = 1 + descent.step
    return on_diagonal(descent, alpha, 2 * alpha)


def margin(descent: Descent) -> Any:
    """The epsilon of a start on the diagonal, for alpha = 1/(1 + x)."""
    x = abs(descent.theta[0] / NEAR)
    return (3 * x + x * x) / (1 + descent.step)


def small_rate(descent: Descent) -> Any:
    """The r of alpha = 1/(1 + x), below one."""
    return abs(1 - 2 / (1 + descent.step))


def converging(descent: Descent) -> Sides:
    """The rate alpha = 1/(1 + x), and r + epsilon for the factor."""
    factor = small_rate(descent) + margin(descent)
    return on_diagonal(descent, 1 / (1 + descent.step), factor)


RATE = MatrixClaim(
    id="L-thm-1/rate",
    row="L-thm-1",
    locations=at(
        132, "Sect. 3.2, Theorem 1, second part", r"\leq(r+\epsilon)||\theta_{k}-\theta^{*}_{k}||"
    ),
    statement=r"\|\theta_{k+1} - \theta_{k+1}^*\|^2 \le (r + \epsilon)^2"
    r"\|\theta_k - \theta_k^*\|^2,\ k < 6,\quad \mathcal L = \tfrac12(ab - 1)^2,"
    r"\ \alpha = 1 + x,\ r = 1 + 2x,\ \epsilon = 1,\ a_0 = b_0 = 1 + \tfrac1{512}\theta",
    sides=any_rate,
    subject=Kind.DESCENT,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    falsified_by="one learning rate and epsilon, and starts near every minimizer from which some"
    " step has a larger ratio",
    remark="The proof breaks at line 523, 'Clearly, r < 1': that is alpha < 2/lambda_max at"
    " theta_k^*, see L-steps/523.  The constants of the theorem also move with theta_k^*.",
)

BELOW_ONE = Hypothesis(
    r"r + \epsilon \le 1",
    lambda descent: 1 - small_rate(descent) - margin(descent),
    printed=False,
)

CLAIMS = [
    RATE,
    RATE.corrected(
        sides=converging, hypotheses=(BELOW_ONE,), expected=Verdict.SUPPORTED, remark="",
        statement=RATE.statement.replace(
            r"\alpha = 1 + x,\ r = 1 + 2x,\ \epsilon = 1",
            r"\alpha = \tfrac1{1 + x},\ r = |1 - 2\alpha|,"
            r"\ \epsilon = \alpha(3|a_0 - 1| + |a_0 - 1|^2)",
        ),
        falsified_by="one start with r + epsilon <= 1 and one step with a larger ratio",
    ),
]  # fmt: skip
