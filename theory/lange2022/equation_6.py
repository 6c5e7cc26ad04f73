r"""(6): when r < 1, and the best learning rate.

:math:`\Lambda(1 - \alpha\lambda) +
\lambda(\alpha\Lambda - 1) = \Lambda - \lambda` gives :math:`r \ge (\kappa - 1)/(\kappa + 1)`, with
equality at :math:`\alpha = 2/(\lambda + \Lambda)`.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic.spectra import eigenvalues
from theory.lange2022.equation_5 import positive_hessian
from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def smallest(descent: Descent) -> Any:
    """A number that is not negative, lambda."""
    return descent.theta[0] * descent.theta[0]


def largest(descent: Descent) -> Any:
    """A number that is not smaller, Lambda: lambda and a trace, and a square."""
    trace = sum(descent.hessian[i, i] for i in range(descent.hessian.shape[0]))
    return smallest(descent) + trace + descent.P[0, 0] * descent.P[0, 0]


def trace_rate(descent: Descent) -> Any:
    """A learning rate: a number over the trace of the positive definite matrix."""
    H = positive_hessian(descent)
    return descent.step / sum(H[i, i] for i in range(H.shape[0]))


def greatest_rate(descent: Descent) -> Any:
    """R of (5) for a positive definite matrix."""
    found, alpha = eigenvalues(positive_hessian(descent)), trace_rate(descent)
    return max(abs(1 - alpha * found[0]), abs(1 - alpha * found[-1]))


def needed(descent: Descent) -> Sides:
    """The learning rate times the largest eigenvalue, and two."""
    product = trace_rate(descent) * eigenvalues(positive_hessian(descent))[-1]
    return Sides(product, 2 + 0 * descent.step)


def enough(descent: Descent) -> Sides:
    """r, and one."""
    return Sides(greatest_rate(descent), 1 + 0 * descent.step)


def product(descent: Descent) -> Sides:
    """What the square leaves of one."""
    scaled = descent.step * smallest(descent)
    return Sides(1 - (1 - scaled) * (1 - scaled), scaled * (2 - scaled))


def best(descent: Descent) -> Sides:
    """Both numbers under the maximum at the best learning rate, and (kappa - 1)/(kappa + 1)."""
    low, high = smallest(descent), largest(descent)
    alpha, kappa = 2 / (low + high), high / low
    rate = (kappa - 1) / (kappa + 1)
    return Sides(_pair(descent, 1 - alpha * low, alpha * high - 1), _pair(descent, rate, rate))


def _pair(descent: Descent, x: Any, y: Any) -> Any:
    return array_namespace(descent.theta).stack([x, y])


def any_rate(descent: Descent) -> Any:
    """A learning rate."""
    return descent.step / (smallest(descent) + largest(descent))


def bounded_rate(descent: Descent) -> Any:
    """A number r that is not less than 1 - alpha lambda."""
    square = descent.direction[0] * descent.direction[0]
    return 1 - any_rate(descent) * smallest(descent) + square


ABOVE_LOW = Hypothesis(
    r"r \ge 1 - \alpha\lambda_{\min}",
    lambda descent: bounded_rate(descent) - 1 + any_rate(descent) * smallest(descent),
)
ABOVE_HIGH = Hypothesis(
    r"r \ge \alpha\lambda_{\max} - 1",
    lambda descent: bounded_rate(descent) + 1 - any_rate(descent) * largest(descent),
)


def lower_bound(descent: Descent) -> Sides:
    """R times the sum of both eigenvalues, and their difference."""
    low, high = smallest(descent), largest(descent)
    return Sides((low + high) * bounded_rate(descent), high - low)


def weighted(descent: Descent) -> list[Term]:
    """Each excess, weighted with the other eigenvalue."""
    return [Term(largest(descent), (ABOVE_LOW,)), Term(smallest(descent), (ABOVE_HIGH,))]


CONVERGES = Hypothesis(r"r < 1", lambda descent: 1 - greatest_rate(descent), Relation.MORE_THAN)

RATE = MatrixClaim(
    id="L-eq-5-6/needs",
    row="L-eq-5-6",
    locations=at(86, "Sect. 3.1, below eq. (5)", "In order for "),
    statement=r"\alpha\lambda_{\max} < 2",
    sides=needed,
    subject=Kind.DESCENT,
    relation=Relation.LESS_THAN,
    hypotheses=(CONVERGES,),
    expected=Verdict.SUPPORTED,
    falsified_by="one positive definite matrix and learning rate with r < 1 and a larger product",
)

BEST = replace(
    RATE,
    id="L-eq-5-6/6",
    locations=(
        *at(86, "Sect. 3.1, above eq. (6)", r"\alpha=\frac{2}{\lambda_{\text{min}}"),
        *at(88, "Sect. 3.1, eq. (6)", r"r=\frac{\kappa-1}{\kappa+1}"),
    ),
    statement=r"1 - \alpha\lambda_{\min} = \alpha\lambda_{\max} - 1"
    r" = \frac{\kappa - 1}{\kappa + 1},"
    r"\quad \alpha = \frac2{\lambda_{\min} + \lambda_{\max}},"
    r"\ \kappa = \frac{\lambda_{\max}}{\lambda_{\min}}",
    sides=best,
    relation=Relation.EQUAL,
    hypotheses=(),
    expected=Verdict.PROVED,
    falsified_by="one pair of eigenvalues where the best learning rate gives another r",
)

CLAIMS = [
    RATE,
    RATE.sharpened(
        "enough", sides=enough, expected=Verdict.SUPPORTED, statement=r"r < 1",
        hypotheses=(Hypothesis(r"\alpha\lambda_{\max} < 2", lambda descent:
                               2 - needed(descent).actual, Relation.MORE_THAN),),
        falsified_by="one positive definite matrix, a learning rate below that, r >= 1",
    ),
    RATE.sharpened(
        "product", sides=product, relation=Relation.EQUAL, hypotheses=(),
        statement=r"1 - (1 - \alpha\lambda)^2 = \alpha\lambda(2 - \alpha\lambda)",
        falsified_by="one eigenvalue and learning rate", remark="So r < 1 just if alpha lambda_max"
        " < 2, the smallest eigenvalue being positive.",
    ),
    BEST,
    BEST.sharpened(
        "lower-bound", sides=lower_bound, relation=Relation.AT_LEAST, certificate=weighted,
        hypotheses=(ABOVE_LOW, ABOVE_HIGH),
        statement=r"(\lambda_{\min} + \lambda_{\max})\,r \ge \lambda_{\max} - \lambda_{\min}",
        falsified_by="one learning rate with a smaller r", remark="So no learning rate is better.",
    ),
]  # fmt: skip
