r"""The proof of Theorem 1: (24), (25) and the maximum of line 517.

:math:`\theta^*` is a critical point of a polynomial of degree four, and e the remainder of its
gradient.  (25)'s last line needs :math:`\theta_k - \theta_k^*` orthogonal to the null space of the
Hessian, and the maximum is over the nonzero eigenvalues; that a quadratic form decides it is
L-eq-5-6/rate.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic.spectra import eigenvalues
from theory.lange2022.equation_5 import centred_loss
from theory.lange2022.texts import at
from theory.matrix_claim import Descent, Kind, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def slope(descent: Descent, theta: Any) -> Any:
    """The gradient of the polynomial that has a critical point at ``descent.theta``."""
    return descent.gradient(centred_loss(descent), theta)


def curved(descent: Descent) -> Any:
    """The Hessian at the critical point times the direction."""
    loss = centred_loss(descent)
    return descent.derivative(
        lambda theta: descent.gradient(loss, theta), descent.theta, descent.direction
    )


def stepped(descent: Descent) -> Any:
    """Where a step from theta + direction leads, less theta."""
    v = descent.direction
    return v - descent.step * slope(descent, descent.theta + v)


def line_24(descent: Descent) -> Sides:
    """Before and after the critical point's gradient is put in."""
    v, theta = descent.direction, descent.theta
    change = slope(descent, theta + v) - slope(descent, theta)
    return Sides(stepped(descent), v - descent.step * change)


def line_25(descent: Descent) -> Sides:
    """The norm after a step, and those of both parts."""
    v, alpha, Hv = descent.direction, descent.step, curved(descent)
    linear, e = v - alpha * Hv, slope(descent, descent.theta + v) - Hv
    right = descent.sqrt(linear @ linear) + alpha * descent.sqrt(e @ e)
    moved = stepped(descent)
    return Sides(descent.sqrt(moved @ moved), right)


def exactly_25(descent: Descent) -> Sides:
    """The vectors whose norms (25) compares."""
    v, alpha, Hv = descent.direction, descent.step, curved(descent)
    e = slope(descent, descent.theta + v) - Hv
    return Sides(stepped(descent), (v - alpha * Hv) - alpha * e)


def rates(descent: Descent) -> list[Any]:
    """|1 - alpha lambda_i| for the eigenvalues that are not zero."""
    alpha = descent.step / sum(descent.hessian[i, i] for i in range(descent.hessian.shape[0]))
    found = eigenvalues(descent.hessian)
    # The trace is the sum of the eigenvalues: what is far below it is zero up to rounding.
    kept = [abs(1 - alpha * x) for x in found if not _is_zero(x, found)]
    if not kept:
        raise ZeroDivisionError("the matrix is zero, so it has no eigenvalue that is not")
    return kept


def _is_zero(value: Any, found: Any) -> bool:
    return bool(value.is_zero()) if isinstance(found, list) else bool(value <= 2**-40 * found[-1])


def in_range(descent: Descent) -> Sides:
    """Squares of the norms of (I - alpha H) v and of v, for v in the range of H."""
    H = descent.hessian
    alpha = descent.step / sum(H[i, i] for i in range(H.shape[0]))
    v = H @ descent.direction
    moved, largest = v - alpha * (H @ v), max(rates(descent))
    return Sides(moved @ moved, largest * largest * (v @ v))


def line_517(descent: Descent) -> Sides:
    """The maximum over all, and over the two ends."""
    found = rates(descent)
    return Sides(max(found), max(found[0], found[-1]))


_PROOF = "App. A, proof of Theorem 1"

TWENTY_FOUR = MatrixClaim(
    id="L-steps/24",
    row="L-steps",
    locations=at(
        507, f"{_PROOF}, eq. (24)", r"(\theta_{k})-\nabla\mathcal{L}(\theta^{*}_{k}))|| (24)"
    ),
    statement=r"\theta_k - \alpha\nabla\mathcal L(\theta_k) - \theta_k^* = \theta_k - \theta_k^*"
    r" - \alpha\big(\nabla\mathcal L(\theta_k) - \nabla\mathcal L(\theta_k^*)\big)",
    sides=line_24,
    subject=Kind.DESCENT,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one critical point where the two differ",
    remark="The first line of the display is the definition of the closest minimizer.",
)

CLAIMS = [
    TWENTY_FOUR,
    replace(
        TWENTY_FOUR, id="L-steps/25", sides=line_25, relation=Relation.AT_MOST,
        locations=at(512, f"{_PROOF}, eq. (25)", r"||+\alpha||e_{k}|| (25)"),
        expected=Verdict.SUPPORTED,
        statement=r"\|\theta_{k+1} - \theta_k^*\| \le"
        r" \|(I - \alpha\nabla^2\mathcal L(\theta_k^*))(\theta_k - \theta_k^*)\| + \alpha\|e_k\|",
        falsified_by="one polynomial and point with a larger distance",
        remark="The triangle inequality in L-steps/25-exactly.",
    ),
    replace(
        TWENTY_FOUR.sharpened(), id="L-steps/25-exactly", sides=exactly_25, of="L-steps/25",
        locations=at(512, f"{_PROOF}, eq. (25)", r"||+\alpha||e_{k}|| (25)"),
        statement=r"\theta_{k+1} - \theta_k^* ="
        r" (I - \alpha\nabla^2\mathcal L(\theta_k^*))(\theta_k - \theta_k^*) - \alpha e_k",
        falsified_by="one polynomial and point where the two differ", remark="",
    ),
    replace(
        TWENTY_FOUR, id="L-steps/25-last", sides=in_range, relation=Relation.AT_MOST,
        locations=at(513, f"{_PROOF}, below eq. (25)", r"\leq\max_{\lambda_{i}\neq 0}"),
        expected=Verdict.SUPPORTED,
        statement=r"\|(I - \alpha H)v\|^2 \le \max_{\lambda_i \ne 0}|1 - \alpha\lambda_i|^2\|v\|^2,"
        r"\quad v \perp \operatorname{Null} H,\ \alpha = \tfrac x{\operatorname{tr} H}",
        falsified_by="one matrix and one vector of its range with a larger image",
        remark="v = Hx; by quadratic forms in L-eq-5-6/rate and L-eq-5-6/rate-fast.",
    ),
    replace(
        TWENTY_FOUR, id="L-steps/517", sides=line_517, relation=Relation.AT_MOST,
        expected=Verdict.SUPPORTED,
        locations=at(517, _PROOF, r"\max_{\lambda_{i}\neq 0}|1-\alpha\lambda_{i}|=\max"),
        statement=r"\max_{\lambda_i \ne 0}|1 - \alpha\lambda_i| \le"
        r" \max\{|1 - \alpha\lambda_{\min}^*|, |1 - \alpha\lambda_{\max}|\}",
        falsified_by="one semi-definite matrix with a larger maximum",
        remark="|1 - alpha x| is convex in x; both ends are among them, so it is an equality.",
    ),
]  # fmt: skip
