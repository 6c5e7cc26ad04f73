r"""The proof of Lemma 4.5: optima along a ray, and equations (59) to (62).

"By the scale-invariance" W may be multiplied by a > 0, with eps = 0 and the same gamma and beta;
by a < 0 it may not.  W0 is the direction u and W* the direction v.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.claim import Letters, Network, Reading, Sides, Verdict
from theory.santurkar2018.equations import displayed
from theory.santurkar2018.lemma_4_5 import FIRST, OPTIMUM, PROOF
from theory.santurkar2018.lemma_4_5_readings import FIXED
from theory.santurkar2018.texts import final, supplement
from theory.santurkar2018.theorem_4_1 import IDENTITY_LAYER


def scale_invariance(network: Network, at: Letters) -> Sides:
    """The outputs at aW, a = lambda > 0."""
    return Sides(network.forward(network.bound * network.y), network.forward(network.y))


def any_multiple(network: Network, at: Letters) -> Sides:
    """The outputs at aW, a = -lambda."""
    return Sides(network.forward(-network.bound * network.y), network.forward(network.y))


def own_optimum(network: Network, at: Letters) -> Sides:
    """W* is an optimum of both, z = y = t; the derivative along the ray at lambda W*."""
    y = network.y

    def loss(moved: Any) -> Any:
        residual = network.forward(moved) - y
        return inner(residual, residual) / 2

    left = network.derivative(loss, network.bound * y, y)
    return Sides(left, 0 * left)


def _distance(network: Network) -> tuple[Any, Any, Any, Any]:
    W0, W = network.direction, network.other_direction
    k = inner(W, W0) / norm_squared(W)
    return W0, W, k, norm_squared(W0 - k * W) - norm_squared(W0 - W)


def line_59(network: Network, at: Letters) -> Sides:
    """With What = kW* put in; the left side through the inner products."""
    W0, W, k, right = _distance(network)
    left = norm_squared(k * W) - 2 * inner(W0, k * W) - norm_squared(W) + 2 * inner(W0, W)
    return Sides(left, right)


def line_60(network: Network, at: Letters) -> Sides:
    """Both norms expanded."""
    W0, W, k, left = _distance(network)
    n, n0 = norm_squared(W), norm_squared(W0)
    return Sides(left, (n0 - k**2 * n) - (n0 - 2 * k * n + n))


def line_61(network: Network, at: Letters) -> Sides:
    """Collected."""
    _, W, k, left = _distance(network)
    n = norm_squared(W)
    return Sides(left, 2 * k * n - k**2 * n - n)


def line_62(network: Network, at: Letters) -> Sides:
    """A square."""
    _, W, k, left = _distance(network)
    return Sides(left, -norm_squared(W) * (1 - k) ** 2)


_SCALING = (
    final(563, PROOF, "scale-invariance of batch normalization"),
    supplement(387, PROOF, "scale-invariance of batch normalization"),
)

INVARIANCE = replace(
    OPTIMUM,
    id="S-lemma-4.5/scale-invariance",
    locations=_SCALING,
    statement=r"\mathrm{BN}(X(aW)) = \mathrm{BN}(XW),\ a > 0",
    sides=scale_invariance,
    falsified_by="a batch and a > 0 whose outputs differ",
)

MULTIPLE = replace(
    INVARIANCE,
    id="S-lemma-4.5/any-multiple",
    locations=FIRST,
    statement=r"\mathrm{BN}(X(aW)) = \mathrm{BN}(XW) \text{ for any scalar } a \ne 0",
    sides=any_multiple,
    expected=Verdict.REFUTED,
    corrected_by=INVARIANCE.id,
    falsified_by="a batch and a < 0 whose outputs differ, gamma and beta being the same",
)

OWN = replace(
    FIXED,
    id="S-lemma-4.5/fixed/own-optimum",
    locations=FIRST,
    statement=r"\frac{d}{dk}\tfrac12\|\mathrm{BN}(XkW^*) - XW^*\|^2 = 0,\ k > 0,"
    r"\text{ where } \mathrm{BN}(XW^*) = XW^*",
    sides=own_optimum,
    hypotheses=(IDENTITY_LAYER,),
    expected=Verdict.PROVED,
    falsified_by="an optimum W* of both networks, gamma and beta fixed, with kW* none",
)

_line = displayed(
    PROOF, "S-lemma-4.5",
    falsified_by="two vectors W0 and W*, of any angle",
    remark="Nothing is asked of the sign of k.",
)  # fmt: skip
_GAIN = r"\|W_0 - \widehat W\|^2 - \|W_0 - W^*\|^2 = "
LINES = [
    _line({59: ((569, r"{W_{0}-kW^{*}}"), (393, r"W_0 - kW^*"))},
          _GAIN + r"\|W_0 - kW^*\|^2 - \|W_0 - W^*\|^2", line_59),
    _line({60: ((570, r"-2k\left|\left|{W^{*}}\right|\right|^{2}"),
                (395, r"- 2k \left| \left| W^*"))},
          _GAIN + r"(\|W_0\|^2 - k^2\|W^*\|^2) - (\|W_0\|^2 - 2k\|W^*\|^2 + \|W^*\|^2)", line_60),
    _line({61: ((571, r"-k^{2}\left|\left|{W^{*}}\right|\right|^{2}"),
                (397, r"- k^2 \left| \left| W^*"))},
          _GAIN + r"2k\|W^*\|^2 - k^2\|W^*\|^2 - \|W^*\|^2", line_61),
    _line({62: ((572, r"\cdot(1-k)^{2}"), (406, r"\cdot (1-k)^2"))},
          _GAIN + r"-\|W^*\|^2(1 - k)^2", line_62),
]  # fmt: skip
_RIGHT = f"{OPTIMUM.id}/eps"

CLAIMS = [
    INVARIANCE,
    INVARIANCE.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=_RIGHT),
    MULTIPLE,
    OWN,
    OWN.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=_RIGHT),
    *LINES,
]
