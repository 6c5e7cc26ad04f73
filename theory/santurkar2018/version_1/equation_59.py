r"""Equation (59): the triangle inequality for (58).

It prints the sums :math:`a = \langle g, \hat y\rangle` and :math:`b_k = \langle x_k, g\rangle` with
their signs, so that its right side can be negative: :math:`m = 2, x = y = (1, -1), L = -\hat y_1`
has 0 and -6.  With absolute values it still lacks the summand that (58) lacks: at :math:`m = 3,
x_i = (0, 1, -1), x_k = y = (1, -1, 0), L = \langle(1, 1, -2), \hat y\rangle` the right side is
zero and the entry is not.  With that summand it holds, and 4 would do for 2 + 3.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
from theory.batchnorm import centre
from theory.claim import Letters, Network, Relation, Sides, Term, Verdict
from theory.santurkar2018.version_1.equation_58 import first_part
from theory.santurkar2018.version_1.proof_c6 import equation
from theory.santurkar2018.version_1.weights import (
    absolute,
    alpha,
    length,
    loss_gradient,
    tilde,
    weight_hessian,
)


class Parts:
    """The numbers of (59), for inputs less their means."""

    def __init__(self, network: Network, at: Letters):
        self.x, self.x_k = centre(network.direction), centre(network.other_direction)
        g = loss_gradient(at)
        self.m, self.X = at.m, first_part(at, self.x, self.x_k)
        self.a, self.b, self.b_k = inner(g, at.yhat), inner(self.x, g), inner(self.x_k, g)
        self.entry = at.sigma**2 * weight_hessian(network, self.x, self.x_k)

    def deviation(self, x: Any) -> Any:
        """Return the standard deviation of an input."""
        return length(x) / sqrt(self.m)


def printed(network: Network, at: Letters) -> Sides:
    """With the signs, times sigma^2."""
    at_hand = Parts(network, at)
    s, s_k = at_hand.deviation(at_hand.x), at_hand.deviation(at_hand.x_k)
    right = absolute(at_hand.X) + 5 * s * s_k * at_hand.a + s * at_hand.b_k
    return Sides(absolute(at_hand.entry), right)


def with_absolute_values(network: Network, at: Letters) -> Sides:
    """With absolute values, times sigma^2."""
    at_hand = Parts(network, at)
    s, s_k = at_hand.deviation(at_hand.x), at_hand.deviation(at_hand.x_k)
    right = absolute(at_hand.X) + 5 * s * s_k * absolute(at_hand.a) + s * absolute(at_hand.b_k)
    return Sides(absolute(at_hand.entry), right)


def corrected(network: Network, at: Letters) -> Sides:
    """With the last summand; the loss -L has the negative of the left side."""
    at_hand = Parts(network, at)
    right = with_absolute_values(network, at).claimed
    return Sides(at_hand.entry, right + at_hand.deviation(at_hand.x_k) * absolute(at_hand.b))


def positive_part(weight: Any, t: Any) -> Term:
    """Return weight (|t| + t)."""
    return Term(weight / (2 * absolute(t)), (absolute(t) + t,))


def slack(network: Network, at: Letters) -> list[Term]:
    r"""Return terms by :math:`|a_i| \le \sqrt m\|x_i\|` and :math:`|r| \le \|x_i\|\|x_k\|`."""
    at_hand = Parts(network, at)
    x, x_k, m = at_hand.x, at_hand.x_k, at_hand.m
    a, b, b_k, r = at_hand.a, at_hand.b, at_hand.b_k, inner(x, x_k)
    a_i, a_k, both = alpha(at, x), alpha(at, x_k), length(x) * length(x_k)
    top_i, top_k = (sqrt(m) * length(each) + absolute(alpha(at, each)) for each in (x, x_k))
    size = absolute(a)
    return [
        positive_part(1, -at_hand.X),
        Term(size / m, (1 / sqrt(both + absolute(r)), x, x_k - x * (r / norm_squared(x)))),
        positive_part(1 / m, r * a),
        Term(3 * size / m, (sqrt(sqrt(m) * length(x) / top_k), tilde(at, x_k))),
        Term(3 * size * absolute(a_k) / m, (1 / sqrt(top_i), tilde(at, x))),
        positive_part(3 / m**2, -a_i * a_k * a),
        Term(size / m, (sqrt(both),)),
        Term(absolute(b_k), (1 / sqrt(top_i), tilde(at, x))),
        positive_part(1 / m, a_i * b_k),
        Term(absolute(b), (1 / sqrt(top_k), tilde(at, x_k))),
        positive_part(1 / m, a_k * b),
    ]


_LEFT = r"\Big|\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kj}}\Big| \le \frac1{\sigma^2}"
PRINTED = equation(
    "59", 654, r"2\sigma_{xi}\sigma_{xk} \left( \sum_{b=1}^{m}", printed,
    _LEFT + r"\Big(|X| + (2 + 3)\sigma(x_i)\sigma(x_k)\langle g, \hat y\rangle"
    r" + \sigma(x_i)\langle x_k, g\rangle\Big)",
    relation=Relation.AT_MOST, expected=Verdict.REFUTED,
)  # fmt: skip
_ABSOLUTE = (
    r"\Big(|X| + (2 + 3)\sigma(x_i)\sigma(x_k)|\langle g, \hat y\rangle|"
    r" + \sigma(x_i)|\langle x_k, g\rangle|"
)
ABSOLUTE = equation(
    "59/absolute", 654, r"2\sigma_{xi}\sigma_{xk} \left( \sum_{b=1}^{m}", with_absolute_values,
    _LEFT + _ABSOLUTE + r"\Big)",
    relation=Relation.AT_MOST, expected=Verdict.REFUTED, corrected_by="S-v1-eq-59/corrected",
)  # fmt: skip

CLAIMS = [
    PRINTED,
    ABSOLUTE,
    PRINTED.corrected(
        sides=corrected,
        hypotheses=(),
        certificate=slack,
        statement=_LEFT + _ABSOLUTE + r" + \sigma(x_k)|\langle x_i, g\rangle|\Big)",
        remark="Slack: the signs of the summands, and the correlations against one.",
    ),
]
