r"""The bound on X in the proof of Theorem C.6 for one unit: (63) and (64); and (57).

(63) draws the radical over its last bracket.  (64) is true and can be sharpened:
:math:`|X| \le \|\tilde x_i\|\|\tilde x_k\|\|H\|` asks for no d.  (57) is debris of (58).
"""

from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Term,
    Verdict,
)
from theory.santurkar2018.version_1 import equation_58, norm_of_hessian
from theory.santurkar2018.version_1.proof_c6 import equation
from theory.santurkar2018.version_1.weights import (
    alpha,
    length,
    loss_hessian,
    sensitivity,
    tilde,
)

ENTRY = r"\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kj}}"


def inputs(network: Network) -> tuple[Any, Any]:
    """Return both inputs less their means."""
    return centre(network.direction), centre(network.other_direction)


def X(network: Network, at: Letters) -> Any:
    """Return X, both derivatives taken by differentiation."""
    x, x_k = (sensitivity(network, each) * at.sigma for each in inputs(network))
    return inner(x, loss_hessian(at, x_k))


def line_64(network: Network, at: Letters) -> Sides:
    """The bound with d by line 673 summed over q; the loss -L has -X."""
    x, x_k = inputs(network)
    right = norm_of_hessian.with_constants(
        network, x, x_k, loss_hessian(at, x), loss_hessian(at, x_k)
    )
    return Sides(X(network, at), right)


def line_64_sharpened(network: Network, at: Letters) -> Sides:
    """The squares of both sides without d."""
    x, x_k = inputs(network)
    right = network.bound**2 * norm_squared(x) * norm_squared(x_k)
    return Sides(X(network, at) ** 2, right)


def tilde_k(network: Network, at: Letters) -> Any:
    """Return the k-th bracket."""
    return tilde(at, inputs(network)[1])


BOUNDED = norm_of_hessian.bounded_at(
    tilde_k, lambda network, at: loss_hessian(at, tilde_k(network, at))
)


def sharp_slack(network: Network, at: Letters) -> list[Term]:
    """Return terms for the sharpened (64)."""
    x, x_k = inputs(network)
    factor = (1 + network.eps / at.sigma**2) / at.m
    first = (tilde(at, x), alpha(at, x), factor)
    second = (x_k, loss_hessian(at, tilde_k(network, at)), alpha(at, x_k), factor)
    return norm_of_hessian.sharp_terms(network, BOUNDED, first, second)


def sharp_margin(network: Network, at: Letters) -> Any:
    """Return what the sharpened (64) says of X."""
    x, x_k = inputs(network)
    return network.bound * length(x) * length(x_k) - inner(
        tilde(at, x), loss_hessian(at, tilde(at, x_k))
    )


SHARP = Hypothesis(
    r"X \le \Lambda\|x_i\|\|x_k\| \text{, by S-v1-eq-64/sharpened where } \Lambda \ge \|H\|",
    sharp_margin,
    printed=False,
)


def slack_64(network: Network, at: Letters) -> list[Term]:
    """The sharpened (64), and what d adds."""
    x, x_k = inputs(network)
    added = norm_of_hessian.constants_terms(
        network, x, x_k, loss_hessian(at, x), loss_hessian(at, x_k)
    )
    return [Term(1, (SHARP,)), *added]


_QUOTE_64 = r"\left(1 + \sqrt{d_{ij}}\right) \left(1 + \sqrt{d_{kj}}\right)"
_SIXTY_FOUR = (
    r"|X| \le \Lambda\|x_i\|\|x_k\|(1 + \sqrt{d_{ij}})(1 + \sqrt{d_{kj}}),\quad"
    r" \Lambda = \|H\|_F,\ \sqrt{d_{ij}} = \frac{\|Hx_i\|}{\Lambda\|x_i\|}"
)
FIFTY_SEVEN = equation(
    "57", 648, r"2\beta_{ik} - 3 \frac{\alpha_{ij} \alpha_{kj}}{2}", equation_58.printed,
    r"\frac{\partial^2 L}{\partial\hat y_j^{(b)}} = \frac12\Big(X_{ijkl} - \ldots",
    expected=Verdict.UNREADABLE, falsified_by="",
    unreadable="The first of its two lines closes a parenthesis that it does not open; the second"
    " is debris of (58): a derivative by yhat twice over, with denominators 2 for m and m squared.",
)  # fmt: skip
SIXTY_THREE = equation(
    "63", 677, r"m \sqrt{\sum_{b,q=1}^{m}", line_64, _SIXTY_FOUR,
    expected=Verdict.UNREADABLE, falsified_by="",
    unreadable="The radical is drawn over the bracket that (64) has outside it.",
)  # fmt: skip
SIXTY_FOUR = equation(
    "64", 681, _QUOTE_64, line_64, _SIXTY_FOUR,
    relation=Relation.AT_MOST, hypotheses=(SHARP,), certificate=slack_64,
    falsified_by="one batch, two inputs and a loss with a Hessian of norm at most Lambda",
    remark="Slack: what the roots of d add, and the part of the inputs along yhat.",
)  # fmt: skip
SHARPENED = SIXTY_FOUR.sharpened(
    sides=line_64_sharpened,
    hypotheses=(BOUNDED,),
    certificate=sharp_slack,
    statement=r"X^2 \le \big(\Lambda\|x_i\|\|x_k\|\big)^2,\quad \Lambda \ge \|H\|",
    remark="No d is needed.",
)


def _with_epsilon(claim: Claim) -> Claim:
    return claim.under(Reading.SHARED_EPSILON, Verdict.PROVED)


CLAIMS = [
    FIFTY_SEVEN,
    SIXTY_THREE,
    SIXTY_FOUR,
    _with_epsilon(SIXTY_FOUR),
    SHARPENED,
    _with_epsilon(SHARPENED),
]
