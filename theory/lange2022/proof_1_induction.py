r"""The proof of Theorem 1: "Clearly, r < 1", and the induction.

It is :math:`\alpha < 2/\lambda_{\max}`, which no learning rate meets along the whole manifold
(t, 1/t) of :mod:`theory.lange2022.theorem_1_rate`, where :math:`\lambda = t^2 + 1/t^2`.  Given
:math:`r + \epsilon \le 1` the induction is right.
"""

from dataclasses import replace
from typing import Any

from theory.lange2022.proof_1 import TWENTY_FOUR
from theory.lange2022.texts import at
from theory.matrix_claim import Descent
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def eigenvalue(t: Any) -> Any:
    """The eigenvalue at (t, 1/t)."""
    return t * t + 1 / (t * t)


def below_one(descent: Descent) -> Sides:
    """The square of r at (t, 1/t), and one."""
    factor = 1 - descent.step * eigenvalue(descent.theta[0])
    return Sides(factor * factor, 1 + 0 * descent.step)


def leaves_one(descent: Descent) -> Any:
    """2 - alpha lambda."""
    return 2 - descent.step * eigenvalue(descent.theta[0])


SMALL_RATE = Hypothesis(r"\alpha\lambda < 2", leaves_one, Relation.MORE_THAN, printed=False)


def factors(descent: Descent) -> list[Term]:
    """1 - (1 - alpha lambda)^2 = alpha lambda (2 - alpha lambda)."""
    return [Term(descent.step * eigenvalue(descent.theta[0]), (SMALL_RATE,))]


def somewhere(descent: Descent) -> Sides:
    """Alpha lambda where t^2 = 2/alpha + x^2, and two."""
    square = 2 / descent.step + descent.direction[0] ** 2
    return Sides(descent.step * (square + 1 / square), 2 + 0 * descent.step)


def beyond_two(descent: Descent) -> list[Term]:
    """What is more than two."""
    square = 2 / descent.step + descent.direction[0] ** 2
    return [
        Term(descent.step, (descent.direction[0],)),
        Term(descent.step / square, ()),
    ]


def distance(descent: Descent) -> Any:
    """A number that is not negative, |theta_k - theta_k*|."""
    return descent.theta[0] * descent.theta[0] / 8


def radius(descent: Descent) -> Any:
    """delta, a number that is not negative."""
    return descent.hessian[0, 0]


def constant(descent: Descent) -> Any:
    """Alpha C, a number that is not negative."""
    return descent.step * descent.P[0, 0] ** 2 / 8


def contraction(descent: Descent) -> Any:
    """r, any number."""
    return descent.direction[0] / 4


INSIDE = Hypothesis(
    r"\|\theta_k - \theta_k^*\| \le \delta",
    lambda descent: radius(descent) - distance(descent),
)
KEPT = Hypothesis(
    r"r + \alpha C\delta \le 1",
    lambda descent: 1 - contraction(descent) - constant(descent) * radius(descent),
)


def line_525(descent: Descent) -> Sides:
    """(26)'s right side, and the distance before the step."""
    d = distance(descent)
    return Sides((contraction(descent) + constant(descent) * d) * d, d)


def line_528(descent: Descent) -> Sides:
    """(26)'s right side, and r + epsilon with epsilon = alpha C delta."""
    d, epsilon = distance(descent), constant(descent) * radius(descent)
    return Sides((contraction(descent) + constant(descent) * d) * d,
                 (contraction(descent) + epsilon) * d)  # fmt: skip


def inside(descent: Descent) -> list[Term]:
    """What the distance leaves of delta."""
    return [Term(distance(descent) * constant(descent), (INSIDE,))]


def inside_and_kept(descent: Descent) -> list[Term]:
    """The same, and what r + epsilon leaves of one."""
    return [*inside(descent), Term(distance(descent), (KEPT,))]


_PROOF = "App. A, proof of Theorem 1"

CLEARLY = replace(
    TWENTY_FOUR,
    id="L-steps/523",
    locations=at(523, _PROOF, "Clearly,"),
    statement=r"(1 - \alpha\lambda)^2 < 1,\quad \lambda = t^2 + \tfrac1{t^2}",
    sides=below_one,
    relation=Relation.LESS_THAN,
    expected=Verdict.REFUTED,
    falsified_by="one learning rate and one minimizer (t, 1/t) with r >= 1",
    remark="alpha = t = 1 has alpha lambda = 2, so r = 1.  It is the hypothesis alpha <"
    " 2/lambda_max that Theorem 1 does not have.",
)

INDUCTION = replace(
    TWENTY_FOUR,
    id="L-steps/525",
    locations=at(525, _PROOF, r"\leq\big{(}r+\alpha C\delta\big{)}"),
    statement=r"(r + \alpha C d_k)\,d_k \le d_k,\quad d_k = \|\theta_k - \theta_k^*\|",
    sides=line_525,
    relation=Relation.AT_MOST,
    hypotheses=(INSIDE, KEPT),
    certificate=inside_and_kept,
    falsified_by="one r, C, delta and distance for which the neighbourhood is left",
    remark="",
)

CLAIMS = [
    CLEARLY,
    CLEARLY.corrected(
        hypotheses=(SMALL_RATE,), certificate=factors, remark="",
        falsified_by="one minimizer with alpha lambda < 2 and r >= 1",
    ),
    CLEARLY.sharpened(
        "no-rate", sides=somewhere, relation=Relation.MORE_THAN, certificate=beyond_two,
        statement=r"\alpha\lambda > 2 \text{ at } t^2 = \tfrac2\alpha + x^2",
        falsified_by="one learning rate that is below 2/lambda there",
        remark="So r < 1 at every minimizer holds for no learning rate.",
    ),
    INDUCTION,
    replace(
        INDUCTION, id="L-steps/529", sides=line_528, hypotheses=(INSIDE,), certificate=inside,
        locations=at(529, _PROOF, r"\leq(r+\epsilon)||\theta_{k}-\theta^{*}_{k}||"),
        statement=r"(r + \alpha C d_k)\,d_k \le (r + \epsilon)\,d_k,"
        r"\quad \epsilon = \alpha C\delta",
        falsified_by="one r, C, delta and distance with a larger product",
    ),
]  # fmt: skip
