r"""The rate r of (5) bounds what a step does to a vector: :math:`\|(I - \alpha H)v\| \le r\|v\|`.

For numbers h between :math:`\lambda` and :math:`\Lambda`, with s = 2 - alpha (lambda + Lambda),

.. math:: (1 - \alpha\lambda)^2 - (1 - \alpha h)^2
          = \alpha^2(h - \lambda)(\Lambda - h) + \alpha s (h - \lambda), \qquad
          (1 - \alpha\Lambda)^2 - (1 - \alpha h)^2
          = \alpha^2(h - \lambda)(\Lambda - h) - \alpha s (\Lambda - h),

so one of the two ends is the largest.  A matrix may stand for h: :math:`\lambda I \preceq H \preceq
\Lambda I` gives :math:`(H - \lambda)(\Lambda - H) \succeq 0` by the spectral theorem.
"""

from dataclasses import replace
from typing import Any

from theory.lange2022.equation_6 import largest, smallest
from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def image(descent: Descent) -> Any:
    """H v, of a matrix between lambda and Lambda: lambda I and a semi-definite one."""
    return smallest(descent) * descent.direction + descent.hessian @ descent.direction


def between(descent: Descent) -> Any:
    """The quadratic form of (H - lambda)(Lambda - H)."""
    v, Hv = descent.direction, image(descent)
    low, high = smallest(descent), largest(descent)
    return (Hv - low * v) @ (high * v - Hv)


def over_low(descent: Descent) -> Any:
    """That of H - lambda."""
    v = descent.direction
    return v @ image(descent) - smallest(descent) * (v @ v)


def under_high(descent: Descent) -> Any:
    """That of Lambda - H."""
    v = descent.direction
    return largest(descent) * (v @ v) - v @ image(descent)


def slow_rate(descent: Descent) -> Any:
    """A learning rate below the best one."""
    return 2 / (smallest(descent) + largest(descent) + descent.step)


def fast_rate(descent: Descent) -> Any:
    """One above it."""
    return (2 + descent.step) / (smallest(descent) + largest(descent))


BETWEEN = Hypothesis(r"v^\top(H - \lambda)(\Lambda - H)v \ge 0", between)
OVER_LOW = Hypothesis(r"v^\top(H - \lambda)v \ge 0", over_low)
UNDER_HIGH = Hypothesis(r"v^\top(\Lambda - H)v \ge 0", under_high)
SLOW = Hypothesis(
    r"\alpha \le 2/(\lambda + \Lambda)",
    lambda descent: 2 - slow_rate(descent) * (smallest(descent) + largest(descent)),
)
FAST = Hypothesis(
    r"\alpha \ge 2/(\lambda + \Lambda)",
    lambda descent: fast_rate(descent) * (smallest(descent) + largest(descent)) - 2,
)


def contracted(descent: Descent, alpha: Any, end: Any) -> Sides:
    """Squares of the norm of (I - alpha H) v, and of v times 1 - alpha end."""
    v = descent.direction
    moved, factor = v - alpha * image(descent), 1 - alpha * end
    return Sides(moved @ moved, factor * factor * (v @ v))


def slow(descent: Descent) -> Sides:
    """The smaller end decides."""
    return contracted(descent, slow_rate(descent), smallest(descent))


def fast(descent: Descent) -> Sides:
    """The larger end decides."""
    return contracted(descent, fast_rate(descent), largest(descent))


def chord_low(descent: Descent) -> list[Term]:
    """The parabola below its chord, and the chord's slope."""
    alpha = slow_rate(descent)
    return [Term(alpha * alpha, (BETWEEN,)), Term(alpha, (SLOW, OVER_LOW))]


def chord_high(descent: Descent) -> list[Term]:
    """The same from the other end."""
    alpha = fast_rate(descent)
    return [Term(alpha * alpha, (BETWEEN,)), Term(alpha, (FAST, UNDER_HIGH))]


BOUND = MatrixClaim(
    id="L-eq-5-6/rate",
    row="L-eq-5-6",
    subject=Kind.DESCENT,
    expected=Verdict.PROVED,
    locations=at(86, "Sect. 3.1, below eq. (5)", r"r=\max\{\left|1-\alpha\lambda_{\text{min}}"),
    statement=r"\|(I - \alpha H)v\|^2 \le (1 - \alpha\lambda)^2\|v\|^2",
    sides=slow,
    relation=Relation.AT_MOST,
    hypotheses=(BETWEEN, OVER_LOW, SLOW),
    certificate=chord_low,
    falsified_by="one matrix between lambda and Lambda and one vector with a larger image",
)

CLAIMS = [
    BOUND,
    replace(
        BOUND, id="L-eq-5-6/rate-fast", sides=fast, hypotheses=(BETWEEN, UNDER_HIGH, FAST),
        certificate=chord_high, statement=BOUND.statement.replace(r"\lambda)", r"\Lambda)"),
    ),
]  # fmt: skip
