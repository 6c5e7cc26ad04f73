r"""The proof of Theorem C.6 for two units, j != l: (36) to (44), lines 625 and 706 to 714.

There :math:`\partial\hat y_l/\partial W_{kl}` does not depend on :math:`\hat y_j`, so that (36) is
right, the second term is zero, and the entry is :math:`X_{ijkl}/(\sigma_j\sigma_l)`.  Line 714 is
true, and can be sharpened like (64).
"""

from collections.abc import Callable
from typing import Any

from theory.arithmetic import norm_squared
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
from theory.santurkar2018.version_1 import norm_of_hessian
from theory.santurkar2018.version_1.proof_c6 import ENTRY, FIRST_TERM, display, equation
from theory.santurkar2018.version_1.two_units import TwoUnits
from theory.santurkar2018.version_1.weights import alpha, length, tilde


def units(network: Network, at: Letters) -> TwoUnits:
    """Return the two units, their inputs less the means."""
    return TwoUnits(network, at, centre(network.direction), centre(network.other_direction))


def line_36(network: Network, at: Letters) -> Sides:
    """The exchange of the derivatives."""
    both = units(network, at)
    return Sides(both.first_term(), both.exchanged())


def line_42(network: Network, at: Letters) -> Sides:
    """Fact C.2 put in twice."""
    both = units(network, at)
    return Sides(both.exchanged(), both.X() / (at.sigma * both.sigma_l))


def line_44(network: Network, at: Letters) -> Sides:
    """The first term."""
    both = units(network, at)
    return Sides(both.first_term(), both.X() / (at.sigma * both.sigma_l))


def line_625(network: Network, at: Letters) -> Sides:
    """The entry less its first term."""
    both = units(network, at)
    return Sides(both.entry() - both.first_term(), 0 * at.sigma)


def line_710(network: Network, at: Letters) -> Sides:
    """The entry."""
    both = units(network, at)
    return Sides(both.entry(), both.X() / (at.sigma * both.sigma_l))


def scaled_entry(both: TwoUnits) -> Any:
    """Return the entry times both sigmas."""
    return both.entry() * both.at.sigma * both.sigma_l


def line_714(network: Network, at: Letters) -> Sides:
    """The bound, times both sigmas; the loss -L has the negative of the left side."""
    both = units(network, at)
    x, x_k = both.x, both.x_k
    right = norm_of_hessian.with_constants(network, x, x_k, both.block(x), both.block(x_k))
    return Sides(scaled_entry(both), right)


def line_714_sharpened(network: Network, at: Letters) -> Sides:
    """The squares of both sides without d."""
    both = units(network, at)
    right = network.bound**2 * norm_squared(both.x) * norm_squared(both.x_k)
    return Sides(scaled_entry(both) ** 2, right)


BOUNDED = norm_of_hessian.bounded_at(
    lambda network, at: units(network, at).tilde_k(),
    lambda network, at: units(network, at).block(units(network, at).tilde_k()),
)
SHARP = Hypothesis(
    r"X \le \Lambda\|x_i\|\|x_k\| \text{, by S-v1-line-714/sharpened where } \Lambda \ge \|H\|",
    lambda network, at: (
        network.bound * length(units(network, at).x) * length(units(network, at).x_k)
        - units(network, at).X()
    ),
    printed=False,
)


def sharp_slack(network: Network, at: Letters) -> list[Term]:
    """Return terms as for the sharpened (64), at eps = 0."""
    both, factor = units(network, at), 1 / at.m
    first = (tilde(at, both.x), alpha(at, both.x), factor)
    second = (both.x_k, both.block(both.tilde_k()), both.alpha_k(), factor)
    return norm_of_hessian.sharp_terms(network, BOUNDED, first, second)


def slack_714(network: Network, at: Letters) -> list[Term]:
    """The sharpened bound, and what d adds."""
    both = units(network, at)
    x, x_k = both.x, both.x_k
    added = norm_of_hessian.constants_terms(network, x, x_k, both.block(x), both.block(x_k))
    return [Term(1, (SHARP,)), *added]


_X = r"\frac{X_{ijkl}}{\sigma_j\sigma_l},\quad j \ne l"
_EXCHANGED = (
    r"\Big\langle\frac{\partial}{\partial\hat y_j}\frac{\partial L}{\partial W_{kl}},"
    r" \frac{\partial\hat y_j}{\partial W_{ij}}\Big\rangle"
)
_FALSIFIED = "two units, two inputs of mean zero and a loss that joins the units"


def proved(make: Callable[..., Claim], *arguments: Any, **fields: Any) -> Claim:
    """Return a line for two units, which centres the inputs itself."""
    return make(*arguments, **{"hypotheses": (), "falsified_by": _FALSIFIED, **fields})


THIRTY_SIX = proved(
    equation, "36/two-units", 554,
    r"\frac{\partial}{\partial \hat{y}_{j}^{(b)}} \frac{\partial \mathcal{L}}", line_36,
    f"{FIRST_TERM} = {_EXCHANGED}" + r",\quad j \ne l",
)  # fmt: skip
FORTY_TWO = proved(
    equation, "42", 579, r"x_{k}^{(q)} - \frac{\alpha_{kl}}{m} \hat{y}_{l}^{(b)}", line_42,
    f"{_EXCHANGED} = {_X}", remark="With q for the last b, as line 584 has it.",
)  # fmt: skip
FORTY_FOUR = proved(
    equation,
    "44",
    593,
    r"\sigma_{zj}^{-1}\sigma_{zl}^{-1}X_{ijkl}",
    line_44,
    f"{FIRST_TERM} = {_X}",
)
ZERO = proved(
    display, "625", 625, r"our entire term is simply 0", line_625,
    ENTRY + " - " + FIRST_TERM + r" = 0,\quad j \ne l",
)  # fmt: skip
WHOLE = proved(
    display, "710", 710, r"\sigma_{zj}^{-1} \sigma_{zl}^{-1} X_{ijkl}", line_710, f"{ENTRY} = {_X}"
)
BOUND = proved(
    display, "714", 714, r"\frac{m \sigma_{xi} \sigma_{xk}}{\sigma_{zj} \sigma_{zl}}", line_714,
    "|" + ENTRY + r"| \le \frac{\Lambda\|x_i\|\|x_k\|}{\sigma_j\sigma_l}(1 + \sqrt{d_{ij}})"
    r"(1 + \sqrt{d_{kl}}),\quad \Lambda = \|H\|_F,\ \sqrt{d_{ij}} ="
    r" \frac{\|Hx_i\|}{\Lambda\|x_i\|}",
    relation=Relation.AT_MOST, hypotheses=(SHARP,), certificate=slack_714,
    remark="Slack: what the roots of d add, and the part of the inputs along the outputs.",
)  # fmt: skip

CLAIMS = [
    THIRTY_SIX,
    FORTY_TWO,
    FORTY_FOUR,
    ZERO,
    WHOLE,
    WHOLE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    BOUND,
    BOUND.sharpened(
        sides=line_714_sharpened,
        hypotheses=(BOUNDED,),
        certificate=sharp_slack,
        statement=r"\big(\sigma_j\sigma_l" + ENTRY + r"\big)^2 \le \big(\Lambda\|x_i\|\|x_k\|"
        r"\big)^2,\quad \Lambda \ge \|H\|",
        remark="No d is needed.",
    ),
]
