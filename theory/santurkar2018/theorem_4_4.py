r"""Theorem 4.4: the minimax bound on the gradient in the weights.

One output unit, y = XW, h = dLhat/dy.  The proof holds g, sigma and yhat fixed while X varies over
spectral norm at most lambda, so ghat_j = lambda^2 |h|^2 (:mod:`theory.maxima`); it is the same with
y = XW itself held fixed, d >= 2.  Read literally, g_j^2 is the square of a maximum; the charitable
reading ``not-squared`` takes it for the maximum, lambda^2 |g|^2.  The text does not say what
mu_{g_j} is the mean of: dL/dy, lambda dL/dy (``scaled-mean``), or g_j, one number (``itself``).

Every reading falls by one case: m = 2, y = (1, -1), gamma = sigma = 1, g = (1/2, -1/2), lambda = 1
has h = 0, and 0 <= 1/2 - 0 - 1 is false.  The proof breaks between (17) and its last display: the
coefficient of <g, yhat>^2 was 1/sqrt(m) (itself a slip for 1/m) and becomes 1, g_j becomes g_j^2,
and lambda^2 leaves the mean's term.  What is right is an equality with 1/m.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from theory.arithmetic import inner
from theory.claim import (
    Claim,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Term,
    Verdict,
    gradient_in_y,
)
from theory.maxima import largest_gradient
from theory.santurkar2018.texts import final, supplement


def largest_hat(network: Network) -> Any:
    r""":math:`\hat g_j`, the maximum over X with everything else held fixed."""
    return largest_gradient(gradient_in_y(network), network.bound)


def printed(network: Network, at: Letters, power: int, mean: Callable[[Any], Any]) -> Sides:
    """The printed inequality; the mean is a function of g_j."""
    g, bound = at.g, network.bound
    largest = largest_gradient(g, bound)
    right = largest**power - at.m * mean(largest) ** 2 - bound**2 * inner(g, at.yhat) ** 2
    return Sides(largest_hat(network), at.gamma**2 / at.sigma**2 * right)


def literal(network: Network, at: Letters) -> Sides:
    """The square of the maximum; the mean of dL/dy."""
    return printed(network, at, 2, lambda _: inner(at.one, at.g) / at.m)


def scaled_mean(network: Network, at: Letters) -> Sides:
    """The square of the maximum; lambda times the mean of dL/dy."""
    return printed(network, at, 2, lambda _: network.bound * inner(at.one, at.g) / at.m)


def mean_of_itself(network: Network, at: Letters) -> Sides:
    """The square of the maximum; its mean is the number itself."""
    return printed(network, at, 2, lambda largest: largest)


def not_squared(network: Network, at: Letters) -> Sides:
    """The maximum; the mean of dL/dy."""
    return printed(network, at, 1, lambda _: inner(at.one, at.g) / at.m)


def charitable(network: Network, at: Letters) -> Sides:
    """The maximum; lambda times the mean of dL/dy."""
    return printed(network, at, 1, lambda _: network.bound * inner(at.one, at.g) / at.m)


def right_side(network: Network, at: Letters, g: Any, coefficient: Any) -> Any:
    """The corrected right side, with a coefficient before the last term."""
    bound = network.bound
    return (
        at.gamma**2
        / at.sigma**2
        * (
            largest_gradient(g, bound)
            - bound**2 * inner(at.one, g) ** 2 / at.m
            - bound**2 * coefficient * inner(g, at.yhat) ** 2
        )
    )


def corrected(network: Network, at: Letters) -> Sides:
    """The coefficient 1/m."""
    return Sides(largest_hat(network), right_side(network, at, at.g, 1 / at.m))


def slack(network: Network, at: Letters) -> list[Term]:
    """What eps leaves: a square."""
    weight = network.eps * network.bound**2 * at.gamma**2 / (at.m * at.sigma**4)
    return [Term(weight, (inner(at.g, at.yhat),))]


def with_epsilon(network: Network, at: Letters) -> Sides:
    """The exact coefficient."""
    coefficient = (1 + network.eps / at.sigma**2) / at.m
    return Sides(largest_hat(network), right_side(network, at, at.g, coefficient))


_SCALE = r"\hat g_j \le \frac{\gamma^2}{\sigma^2}\Big("
LAST = r"\langle\nabla_{y}L, \hat y\rangle^2\Big)"

PLACES = (
    final(199, "Sect. 4.2, Theorem 4.4", r"g_{j}^{2}-m\mu_{g_{j}}^{2}-\lambda^{2}"),
    final(452, "App. C.2, proof of Theorem 4.4", r"g_{j}^{2}-m\mu_{g_{j}}^{2}-\lambda^{2}"),
    supplement(177, "App. C.2, Theorem 4.4", r"g_{j}^{2} - m \mu_{g_{j}}^{2} - \lambda^{2}"),
    supplement(215, "App. C.2, proof of Theorem 4.4", r"g_j^2 - m \mu_{g_j}^2 - \lambda^2"),
)

PRINTED = Claim(
    id="S-thm-4.4",
    row="S-thm-4.4",
    locations=PLACES,
    statement=_SCALE + r"g_j^2 - m\mu_{g_j}^2 - \lambda^2" + LAST
    + r",\quad g_j = \max_{\|X\| \le \lambda}\|\nabla_W L\|^2,\ \mu_{g_j} = \mu_{\nabla_y L}",
    sides=literal,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    corrected_by="S-thm-4.4/corrected",
    falsified_by="one batch, loss and lambda; g, sigma and yhat fixed while X varies",
)  # fmt: skip


def reading(name: str, sides: Callable[[Network, Letters], Sides], statement: str) -> Claim:
    """Return another reading of the printed theorem."""
    return replace(PRINTED, id=f"S-thm-4.4/{name}", sides=sides, statement=statement)


_NOT_SQUARED = PRINTED.statement.replace("g_j^2", "g_j", 1)
_SCALED = (r"\mu_{\nabla_y L}", r"\lambda\mu_{\nabla_y L}")

READINGS = [
    PRINTED,
    reading("scaled-mean", scaled_mean, PRINTED.statement.replace(*_SCALED)),
    reading("itself", mean_of_itself, PRINTED.statement.replace(r"\mu_{\nabla_y L}", "g_j")),
    reading("not-squared", not_squared, _NOT_SQUARED),
    reading("not-squared/scaled-mean", charitable, _NOT_SQUARED.replace(*_SCALED)),
]

RIGHT = r"g_j - \lambda^2 m\mu_{\nabla_y L}^2 - "
EQUALITY = r"\hat g_j = \frac{\gamma^2}{\sigma^2}\Big(" + RIGHT

CORRECTED = PRINTED.corrected(
    sides=corrected,
    relation=Relation.EQUAL,
    statement=EQUALITY + r"\frac{\lambda^2}m" + LAST,
    corrected_by=None,
)

SHARED = PRINTED.under(Reading.SHARED_EPSILON, Verdict.REFUTED)

CORRECTED_SHARED = SHARED.corrected(
    sides=corrected,
    certificate=slack,
    statement=_SCALE + RIGHT + r"\frac{\lambda^2}m" + LAST,
    corrected_by=None,
    remark="The slack is epsilon times a square: epsilon shortens yhat below the norm sqrt(m).",
)

CLAIMS = [
    *READINGS,
    *(r.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=CORRECTED_SHARED.id)
      for r in READINGS),
    *(r.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=CORRECTED_SHARED.id)
      for r in READINGS),
    CORRECTED,
    CORRECTED_SHARED,
    SHARED.sharpened(
        "equality",
        sides=with_epsilon,
        relation=Relation.EQUAL,
        statement=EQUALITY + r"\big(1 + \tfrac{\epsilon}{\sigma^2}\big)\frac{\lambda^2}m" + LAST,
        corrected_by=None,
    ),
]  # fmt: skip
