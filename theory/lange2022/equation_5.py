r"""(5): the distance of gradient descent to a minimizer that it is near.

.. math:: \|\theta_{k+1} - \theta^*\| \le (r + \epsilon)\|\theta_k - \theta^*\|

For one step it holds with every learning rate, and for all steps if r < 1: with the average
:math:`\bar H` of the Hessian over the segment, :math:`\theta_1 - \theta^* =
(I - \alpha\bar H)(\theta_0 - \theta^*)`, of norm at most :math:`r + \alpha\|\bar H - H^*\|`; and if
:math:`r + \epsilon \le 1` the neighbourhood is kept.

For all steps and any learning rate, as printed, it does not: on :math:`t^2/2 + t^4/4` with
:math:`\alpha = 1 + r > 2` a step multiplies t by :math:`-(r + (1 + r)t^2)`, so every start
other than 0 goes away until the ratio is above :math:`r + \epsilon`.
"""

from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic.spectra import eigenvalues
from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict

STEPS = 5
NEAR = 16
"""A start is a number over this."""


def quartic_step(t: Any, rate: Any) -> Any:
    """A step on t^2/2 + t^4/4."""
    return t - rate * (t + t * t * t)


def every_step(descent: Descent) -> Sides:
    """Squares of the distances after a step and before, from a start near 0."""
    t, r = descent.theta[0] / NEAR, 1 + descent.step
    after, before = [], []
    for _ in range(STEPS):
        moved = quartic_step(t, 1 + r)
        after.append(moved * moved)
        before.append((r + 1) * (r + 1) * t * t)
        t = moved
    xp = array_namespace(descent.theta)
    return Sides(xp.stack(after), xp.stack(before))


def goes_away(descent: Descent) -> Sides:
    """Squares of the distance after one step, and of r times that before."""
    t, r = descent.theta[0], 1 + descent.step
    moved = quartic_step(t, 1 + r)
    return Sides(moved * moved, r * r * t * t)


def excess(descent: Descent) -> list[Term]:
    """What the quartic adds."""
    t, r = descent.theta[0], 1 + descent.step
    return [Term(2 * r * (r + 1), (t * t,)), Term((r + 1) * (r + 1), (t * t * t,))]


def positive_hessian(descent: Descent) -> Any:
    """A positive definite matrix."""
    d = descent.theta.shape[0]
    xp = array_namespace(descent.theta)
    return descent.hessian + xp.eye(d, dtype=descent.theta.dtype)


def rate(descent: Descent, H: Any) -> Any:
    """A learning rate below 2 over the trace, so over the largest eigenvalue."""
    return descent.step / (2 * _trace(H))


def _trace(H: Any) -> Any:
    return sum(H[i, i] for i in range(H.shape[0]))


def contraction(descent: Descent, H: Any) -> Any:
    """R of (5)."""
    found = eigenvalues(H)
    alpha = rate(descent, H)
    return max(abs(1 - alpha * found[0]), abs(1 - alpha * found[-1]))


def margin(descent: Descent, H: Any) -> Any:
    """The epsilon of a start: the learning rate times the square of its distance."""
    start = descent.direction / NEAR
    return rate(descent, H) * (start @ start)


def contracting(descent: Descent) -> Sides:
    """The same for d dimensions: half a quadratic form plus a quarter of a sum of fourth powers."""
    H, t = positive_hessian(descent), descent.direction / NEAR
    alpha, factor = rate(descent, H), contraction(descent, H) + margin(descent, H)
    after, before = [], []
    for _ in range(3):
        moved = t - alpha * (H @ t + t * t * t)
        after.append(moved @ moved)
        before.append(factor * factor * (t @ t))
        t = moved
    return Sides(_listed(descent, after), _listed(descent, before))


def _listed(descent: Descent, numbers: list[Any]) -> Any:
    return array_namespace(descent.theta).stack(numbers)


def centred_loss(descent: Descent) -> Callable[[Any], Any]:
    """The polynomial with its slope at theta taken away, so that theta is a critical point."""
    slope = descent.gradient(descent.loss, descent.theta)
    return lambda theta: descent.loss(theta) - slope @ theta


def averaged(descent: Descent) -> Sides:
    """One step from theta + direction, and I less the average Hessian (Simpson's rule is exact)."""
    v, theta, loss = descent.direction, descent.theta, centred_loss(descent)

    def slope(at_point: Any) -> Any:
        return descent.gradient(loss, at_point)

    def curvature(at_point: Any) -> Any:
        return descent.derivative(slope, at_point, v)

    moved = theta + v - descent.step * slope(theta + v) - theta
    average = (curvature(theta) + 4 * curvature(theta + v / 2) + curvature(theta + v)) / 6
    return Sides(moved, v - descent.step * average)


FIVE = MatrixClaim(
    id="L-eq-5-6/5",
    row="L-eq-5-6",
    locations=at(82, "Sect. 3.1, eq. (5)", "in that neighborhood, we have"),
    statement=r"|\theta_{k+1}|^2 \le (r + \epsilon)^2|\theta_k|^2,\ k < 5,\quad"
    r" L = \tfrac12\theta^2 + \tfrac14\theta^4,\ r = 1 + x,\ \alpha = 1 + r,\ \epsilon = 1,"
    r"\ \theta_0 = \tfrac1{16}\theta",
    sides=every_step,
    subject=Kind.DESCENT,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    falsified_by="one learning rate and epsilon, and starts in every neighbourhood from which some"
    " step has a larger ratio",
    remark="Every start other than 0 will do, later the smaller it is (L-eq-5-6/5/goes-away).  Nor"
    " can epsilon be left out: on t^2/2 - t^4/4, alpha = 1/2, the ratio is (1 + t^2)/2 > r = 1/2.",
)

BELOW_ONE = Hypothesis(
    r"r + \epsilon \le 1",
    lambda descent: 1 - contraction(descent, positive_hessian(descent))
    - margin(descent, positive_hessian(descent)),
    printed=False,
)  # fmt: skip

CLAIMS = [
    FIVE,
    FIVE.corrected(
        sides=contracting, hypotheses=(BELOW_ONE,), expected=Verdict.SUPPORTED,
        statement=r"\|\theta_{k+1}\|^2 \le (r + \epsilon)^2\|\theta_k\|^2,\ k < 3,\quad"
        r" L = \tfrac12\theta^\top(H + I)\theta + \tfrac14\sum\theta_i^4,"
        r"\ \alpha = \tfrac{x}{2\operatorname{tr}(H + I)},\ \epsilon = \alpha\|\theta_0\|^2",
        falsified_by="one start with r + epsilon <= 1 and one step with a larger ratio",
        remark="All k, if r < 1; the neighbourhood is |theta_0|^2 <= epsilon/alpha.",
    ),
    FIVE.corrected(
        "average-hessian", sides=averaged, relation=Relation.EQUAL,
        statement=r"\theta_1 - \theta^* = (I - \alpha\bar H)(\theta_0 - \theta^*),"
        r"\quad \bar H = \int_0^1\nabla^2 L(\theta^* + s(\theta_0 - \theta^*))\,ds",
        falsified_by="one polynomial of degree four and one start where a step ends elsewhere",
        remark="One step, any learning rate; the norm of the right side is at most"
        " (r + alpha |Hbar - H*|) |theta_0 - theta*| by L-eq-5-6/rate.",
    ),
    FIVE.sharpened(
        "goes-away", sides=goes_away, relation=Relation.AT_LEAST, certificate=excess,
        statement=r"|\theta_1|^2 \ge r^2|\theta_0|^2,\quad L = \tfrac12\theta^2 + \tfrac14\theta^4,"
        r"\ r = 1 + x,\ \alpha = 1 + r",
        falsified_by="one start that does not go away", remark="So the refutation is in every"
        " neighbourhood: with r > 1 a start goes on until (1 + r) theta^2 > epsilon.",
    ),
]  # fmt: skip
