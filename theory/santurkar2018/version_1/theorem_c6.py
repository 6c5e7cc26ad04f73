r"""Theorem C.6: Batch Normalization and one entry of the Hessian in the weights.

With :math:`d_{ij}` from line 673, :math:`\big(\sum_b H_{bq}x_i^{(b)}\big)^2 = d_{ij}\sum_b
H_{bq}^2\,\|x_i\|^2`, and f = 0, :math:`6\|g\|` or :math:`3\|g\|`:

.. math:: \sigma_j\sigma_l \ge \frac{(1 + \sqrt{d_{kl}})(1 + \sqrt{d_{ij}}) + f}
          {\sqrt{d_{kl}d_{ij}} - \varepsilon} \Rightarrow |\partial^2\hat L| \le
          \Big(1 - \frac{\varepsilon}{\sqrt{d_{ij}d_{kl}}}\Big)|\partial^2 L|

All three cases fall.  For j = l take a loss of one linear functional, L = t + t^2/2000 with
:math:`t = \langle a, \hat y\rangle`.  Its Hessian aa'/1000 has rank one and meets the
assumption for every q.  Measure
the loss in another unit: f changes, the rest of the condition does not.  It lacks a factor 1/|H|,
which line 694 takes out of 6G as well.  Besides, (58) is wrong, and line 690, which
gives the network without the layer, is true of Hessians of rank one only.  For j != l take the
block H = I, where :math:`d = 1/m`: with :math:`x_i \perp x_k` the entry without the layer is zero,
that with it is :math:`-\alpha_{ij}\alpha_{kl}/(m\sigma_j\sigma_l)`.  Two units of the same weights
will do.

What holds: :mod:`~theory.santurkar2018.version_1.theorem_c6_corrected`.
"""

from typing import Any

from theory.arithmetic import inner, sqrt
from theory.claim import Claim, Hypothesis, Letters, Location, Network, Relation, Sides, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.one_functional import OneFunctional
from theory.santurkar2018.version_1.weights import absolute, tenfold


def units(network: Network, is_diagonal: bool) -> OneFunctional:
    """Return the two networks for i = k, or for i != k."""
    x = network.direction
    return OneFunctional(network, x, x if is_diagonal else network.other_direction)


def kept(network: Network) -> Any:
    r"""Return :math:`1 - \varepsilon/\sqrt{dd}`, for a share of sqrt(dd) that the bound sets."""
    return network.bound / (1 + network.bound)


def condition(is_diagonal: bool, factor: int) -> Hypothesis:
    """Return the theorem's condition, for batches ten times as large as the case's."""

    def margin(network: Network, at: Letters) -> Any:
        both = units(network, is_diagonal)
        epsilon = both.root(both.x) * both.root(both.x_k) * (1 - kept(network))
        return both.margin(at.sigma, factor, epsilon)

    return Hypothesis(
        r"\sigma^2 \ge \frac{(1 + \sqrt{d_{kl}})(1 + \sqrt{d_{ij}}) + f}"
        r"{\sqrt{d_{kl}d_{ij}} - \varepsilon},\ \varepsilon = \frac{\sqrt{d_{kl}d_{ij}}}"
        r"{1 + \lambda}",
        margin,
        impose=tenfold,
    )


def same_unit(is_diagonal: bool) -> Any:
    """Return the sides for j = l."""

    def sides(network: Network, at: Letters) -> Sides:
        both = units(network, is_diagonal)
        right = kept(network) * absolute(both.without_layer())
        return Sides(absolute(both.with_layer()), right)

    return sides


def any_epsilon(network: Network, at: Letters) -> Sides:
    """For i = k and epsilon the case's bound; multiplied by sqrt(dd) = d."""
    both = units(network, True)
    d = both.root(both.x) ** 2
    right = (d - network.bound) * absolute(both.without_layer())
    return Sides(d * absolute(both.with_layer()), right)


def any_epsilon_margin(network: Network, at: Letters) -> Any:
    """Return the condition for epsilon the case's bound, not multiplied by its denominator."""
    both = units(network, True)
    d = both.root(both.x)
    top = (1 + d) ** 2 + 3 * both.gradient_norm()
    return at.sigma**2 - top / (d**2 - network.bound)


def two_units(network: Network, at: Letters) -> Sides:
    """For j != l: two units of the same weights, the loss <yhat_j, yhat_l>, d = 1/m."""
    x, x_k, y = network.direction, network.other_direction, network.y
    with_layer = inner(
        network.derivative(network.normalize, y, x), network.derivative(network.normalize, y, x_k)
    )
    return Sides(absolute(with_layer), kept(network) * absolute(inner(x, x_k)))


def two_units_margin(network: Network, at: Letters) -> Any:
    """Return the condition for d = 1/m, times m."""
    return at.sigma**2 * kept(network) - (sqrt(at.m) + 1) ** 2


_PLACE = "App. C, Theorem C.6"
_LOCATIONS = (
    version_1(536, _PLACE, r"\sqrt{d_{kl}d_{ij}}-\varepsilon"),
    version_1(540, _PLACE, r"1 - \frac{\varepsilon}{\sqrt{d_{ij} d_{kl}}}"),
)
_STATEMENT = (
    r"\Big|\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kl}}\Big| \le"
    r" \Big(1 - \frac{\varepsilon}{\sqrt{d_{ij}d_{kl}}}\Big)"
    r"\Big|\frac{\partial^2 L}{\partial W_{ij}\partial W_{kl}}\Big|"
)


_END = "App. C, proof of Theorem C.6, the end"
_END_SAME = (
    version_1(698, _END, r"(1+\sqrt{d_{kj}})(1+\sqrt{d_{ij}})+6\left\|\frac"),
    version_1(702, _END, r"\left(1 - \frac{\varepsilon}{\sqrt{d_{ij} d_{kj}}}\right)"),
)
_END_OTHER = (
    version_1(726, _END, r"\sqrt{d_{kj}d_{ij}} - \varepsilon"),
    version_1(728, _END, r"\left( 1 - \frac{\varepsilon}{\sqrt{d_{ij} d_{kl}}} \right)"),
)


def _case(
    name: str,
    quote: str,
    sides: Any,
    hypothesis: Hypothesis,
    falsified_by: str,
    repeated: tuple[Location, ...] = (),
) -> Claim:
    return Claim(
        id=f"S-v1-thm-C6/{name}",
        row="S-v1-thm-C6",
        locations=(*_LOCATIONS, version_1(544, _PLACE + ", f", quote), *repeated),
        statement=_STATEMENT,
        sides=sides,
        relation=Relation.AT_MOST,
        hypotheses=(hypothesis,),
        expected=Verdict.REFUTED,
        order=2,
        corrected_by="S-v1-thm-C6/corrected",
        falsified_by=falsified_by,
    )


_THREE = r"3||\partial \mathcal{L}/\partial \hat{y}_j||_2 & \text{if } (i,j) = (k,l)"
SAME = _case(
    "same-weight", _THREE, same_unit(True), condition(True, 3),
    "j = l, i = k: one batch and input, the loss of one functional",
)  # fmt: skip
SAME_UNIT = _case(
    "same-unit", r"6||\partial \mathcal{L}/\partial \hat{y}_j||_2",
    same_unit(False), condition(False, 6),
    "j = l, i != k: one batch and two inputs, the loss of one functional",
    _END_SAME,
)  # fmt: skip
TWO_UNITS = _case(
    "two-units", r"0 & \text{if } j \neq l", two_units,
    Hypothesis(
        r"\sigma_j\sigma_l \ge \frac{(1 + m^{-1/2})^2}{\frac1m - \varepsilon},\ \varepsilon ="
        r" \frac{1}{m(1 + \lambda)}",
        two_units_margin,
        impose=tenfold,
    ),
    "j != l: two units of the same weights, two inputs, a block H = I",
    _END_OTHER,
)  # fmt: skip
ANY_EPSILON = _case(
    "any-epsilon", _THREE, any_epsilon,
    Hypothesis(r"\sigma^2 \ge \frac{(1 + \sqrt d)^2 + f}{d - \varepsilon}", any_epsilon_margin),
    "j = l, i = k, any epsilon > 0: one batch and input, the loss of one functional",
)  # fmt: skip
CLAIMS = [
    SAME,
    SAME_UNIT,
    TWO_UNITS,
    ANY_EPSILON,
]
