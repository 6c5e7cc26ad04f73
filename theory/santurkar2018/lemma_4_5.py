r"""Lemma 4.5: the way from an initialisation to the nearest optimum is no longer with the layer.

The right side is the squared distance of W0 to the line through W*.  At W0 = W* it is zero, so
there the lemma says that W* itself is a limit of optima of the network with the layer: it stands
or falls with the first sentence of its proof, and that depends on what the text does not settle.

- ``trainable`` (gamma, beta trainable, the layer has a bias or the inputs hold the ones): true.
  With gamma = sigma and beta = mean any multiple kW* gives the same outputs, and (59) to (62) are
  the distance to kW*.  The condition <W0, W*> > 0 may go: gamma = -sigma serves k < 0.
- ``no-bias``: false.  beta is a direction that the layer without a bias did not have.  Let the
  batch be y = XW*, X = [y, u], and the loss |z - t|^2/2 with t - y = e orthogonal to y and u, so
  that W* is its only minimum.  The best gamma and beta at W* leave a derivative along u.  The last
  step of the proof that holds is (62); "must also be an optimum" is where it breaks.
- ``fixed`` (gamma, beta "constants for our analysis", as the setup has it): false.  y = XW*
  minimises the convex loss <v, z - y>^2/2, and the network with the layer has a derivative
  along u.  True if the constants happen to be gamma = sigma and beta = mean.

The derivative at W* is continuous in W where sigma > 0, so where it is not zero no optimum is near.
A weight vector is written as a vector of the same space as a batch: W0 is u and W* is v.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, mean, norm_squared
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Verdict,
)
from theory.santurkar2018.identification import IDENTITY_LAYER
from theory.santurkar2018.texts import final, supplement

SAME_SIDE = Hypothesis(
    r"\langle W_0, W^*\rangle > 0",
    lambda network, at: inner(network.direction, network.other_direction),
    Relation.MORE_THAN,
)


def off(a: Any, b: Any) -> Any:
    r"""Return :math:`\|b\|^2 a - b\langle b, a\rangle`, which is orthogonal to b."""
    return norm_squared(b) * a - b * inner(b, a)


def distance(network: Network, at: Letters) -> Sides:
    """The distance to kW*, the optimum that the proof names, and the printed bound."""
    W0, W = network.direction, network.other_direction
    k = inner(W, W0) / norm_squared(W)
    bound = norm_squared(W0 - W) - (norm_squared(W) - inner(W, W0)) ** 2 / norm_squared(W)
    return Sides(norm_squared(W0 - k * W), bound)


def same_outputs(network: Network, at: Letters) -> Sides:
    """The layer at kW*, k = lambda > 0, with gamma and beta that give back the batch XW*."""
    y = network.y
    scaled = network.bound * y
    gamma = network.standard_deviation(scaled) / network.bound
    return Sides(gamma * network.normalize(scaled) + mean(y), y)


def same_outputs_negative(network: Network, at: Letters) -> Sides:
    """The same at kW* with k = -lambda < 0."""
    y = network.y
    scaled = -network.bound * y
    gamma = -network.standard_deviation(scaled) / network.bound
    return Sides(gamma * network.normalize(scaled) + mean(y), y)


def fitted(network: Network, e: Any, u: Any) -> Any:
    """The derivative along u of |z - t|^2/2, t = y + e, at the best gamma and beta for y."""
    t = network.y + e
    yhat = network.normalize(network.y)
    gamma = inner(t, yhat) / norm_squared(yhat)
    residual = gamma * yhat + mean(t) - t
    return network.derivative(lambda y: inner(residual, gamma * network.normalize(y)), network.y, u)


def without_bias(network: Network, at: Letters) -> Sides:
    """W* = (1, 0) minimises |XW - t|^2/2; t - y is orthogonal to the columns of X, y and u."""
    e = off(network.other_direction, network.y)
    left = fitted(network, e, off(network.direction, e))
    return Sides(left, 0 * left)


def with_bias(network: Network, at: Letters) -> Sides:
    """W* = (1, 0) and no bias minimise |XW + b - t|^2/2: t - y is orthogonal to 1 as well."""
    e = off(centre(network.other_direction), centre(network.y))
    left = fitted(network, e, off(network.direction, e))
    return Sides(left, 0 * left)


def with_constants(network: Network, at: Letters) -> Sides:
    """The derivative along u at W* = (1, 0), for the loss <v, z - y>^2/2 that y minimises."""
    y, v = network.y, network.other_direction

    def loss(moved: Any) -> Any:
        return inner(v, network.forward(moved) - y) ** 2 / 2

    left = network.derivative(loss, y, network.direction)
    return Sides(left, 0 * left)


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


PROOF = "App. C.2, proof of Lemma 4.5"
_FIRST = (
    final(563, PROOF, "must also be an optimum in the BN network"),
    supplement(387, PROOF, "must also be an optimum in the BN network"),
)
_SCALING = (
    final(563, PROOF, "scale-invariance of batch normalization"),
    supplement(387, PROOF, "scale-invariance of batch normalization"),
)
TRAINABLE = Claim(
    id="S-lemma-4.5/trainable",
    row="S-lemma-4.5",
    locations=(
        final(
            207, "Sect. 4.2, Lemma 4.5", r"\left|\left|{W_{0}-\widehat{W}^{*}}\right|\right|^{2}"
        ),
        supplement(383, "App. C.2, Lemma 4.5", r"\left| \left| W_0 - \widehat{W}^* \right|"),
    ),
    statement=r"\|W_0 - \widehat W^*\|^2 \le \|W_0 - W^*\|^2 - \frac{1}{\|W^*\|^2}"
    r"\big(\|W^*\|^2 - \langle W^*, W_0\rangle\big)^2",
    sides=distance,
    relation=Relation.AT_MOST,
    hypotheses=(SAME_SIDE,),
    expected=Verdict.PROVED,
    falsified_by="W0 and W* for which kW* is farther than the bound; that kW* is an optimum is the"
    " entry S-lemma-4.5/trainable/optimum",
    remark="Equality if kW* is the nearest optimum; another optimum may be nearer.",
)
OPTIMUM = Claim(
    id="S-lemma-4.5/trainable/optimum",
    row="S-lemma-4.5",
    locations=_FIRST,
    statement=r"\mathrm{BN}_{\gamma,\beta}(XkW^*) = XW^*,\ k > 0,"
    r"\ \gamma = \sigma(XkW^*)/k,\ \beta = \mu(XW^*)",
    sides=same_outputs,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="a batch and k > 0 whose outputs differ",
)
NO_BIAS = replace(
    TRAINABLE,
    id="S-lemma-4.5/no-bias",
    sides=without_bias,
    relation=Relation.EQUAL,
    hypotheses=(),
    expected=Verdict.REFUTED,
    falsified_by="W0 = W* the one minimum of a least squares problem without a bias, and a"
    " derivative at W* that is not zero for the best gamma and beta",
    remark="",
)
FIXED = replace(
    NO_BIAS,
    id="S-lemma-4.5/fixed",
    sides=with_constants,
    falsified_by="W0 = W* a minimum of a convex loss, and a derivative at W* that is not zero",
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
    locations=_FIRST,
    statement=r"\mathrm{BN}(X(aW)) = \mathrm{BN}(XW) \text{ for any scalar } a \ne 0",
    sides=any_multiple,
    expected=Verdict.REFUTED,
    corrected_by=INVARIANCE.id,
    falsified_by="a batch and a < 0 whose outputs differ, gamma and beta being the same",
)
OWN = replace(
    FIXED,
    id="S-lemma-4.5/fixed/own-optimum",
    locations=_FIRST,
    statement=r"\frac{d}{dk}\tfrac12\|\mathrm{BN}(XkW^*) - XW^*\|^2 = 0,\ k > 0,"
    r"\text{ where } \mathrm{BN}(XW^*) = XW^*",
    sides=own_optimum,
    hypotheses=(IDENTITY_LAYER,),
    expected=Verdict.PROVED,
    falsified_by="an optimum W* of both networks, gamma and beta fixed, with kW* none",
)


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


def _line(number: int, sides: Any, right: str, *quotes: tuple[int, str]) -> Claim:
    place = f"{PROOF}, eq. ({number})"
    return Claim(
        id=f"S-eq-{number}",
        row="S-lemma-4.5",
        locations=(final(*_at(quotes[0], place)), supplement(*_at(quotes[1], place))),
        statement=r"\|W_0 - \widehat W\|^2 - \|W_0 - W^*\|^2 = " + right,
        sides=sides,
        relation=Relation.EQUAL,
        expected=Verdict.PROVED,
        falsified_by="two vectors W0 and W*, of any angle",
        remark="Nothing is asked of the sign of k.",
    )


def _at(quote: tuple[int, str], place: str) -> tuple[int, str, str]:
    return quote[0], place, quote[1]


LINES = [
    _line(59, line_59, r"\|W_0 - kW^*\|^2 - \|W_0 - W^*\|^2",
          (569, r"{W_{0}-kW^{*}}"), (393, r"W_0 - kW^*")),
    _line(60, line_60, r"(\|W_0\|^2 - k^2\|W^*\|^2) - (\|W_0\|^2 - 2k\|W^*\|^2 + \|W^*\|^2)",
          (570, r"-2k\left|\left|{W^{*}}\right|\right|^{2}"), (395, r"- 2k \left| \left| W^*")),
    _line(61, line_61, r"2k\|W^*\|^2 - k^2\|W^*\|^2 - \|W^*\|^2",
          (571, r"-k^{2}\left|\left|{W^{*}}\right|\right|^{2}"), (397, r"- k^2 \left| \left| W^*")),
    _line(62, line_62, r"-\|W^*\|^2(1 - k)^2",
          (572, r"\cdot(1-k)^{2}"), (406, r"\cdot (1-k)^2")),
]  # fmt: skip
_EPS = Reading.SHARED_EPSILON
_BIAS = {"sides": with_bias, "remark": "With a bias t - y is orthogonal to the ones as well."}
_CONSTANTS = {"hypotheses": (IDENTITY_LAYER,)}
CLAIMS = [
    TRAINABLE,
    OPTIMUM,
    OPTIMUM.under(_EPS, Verdict.PROVED),
    OPTIMUM.sharpened(
        "negative",
        sides=same_outputs_negative,
        statement=OPTIMUM.statement.replace("k > 0", "k < 0"),
        falsified_by="a batch and k < 0 whose outputs differ",
        remark="gamma is negative, so the condition <W0, W*> > 0 is not needed.",
    ),
    NO_BIAS,
    NO_BIAS.corrected(**_BIAS),
    NO_BIAS.under(_EPS, Verdict.REFUTED),
    NO_BIAS.under(_EPS, Verdict.REFUTED).corrected(**_BIAS),
    FIXED,
    FIXED.corrected(**_CONSTANTS),
    FIXED.under(_EPS, Verdict.REFUTED),
    FIXED.under(_EPS, Verdict.REFUTED).corrected(**_CONSTANTS),
    INVARIANCE,
    INVARIANCE.under(_EPS, Verdict.REFUTED, corrected_by=f"{OPTIMUM.id}/eps"),
    MULTIPLE,
    OWN,
    OWN.under(_EPS, Verdict.REFUTED, corrected_by=f"{OPTIMUM.id}/eps"),
    *LINES,
]
