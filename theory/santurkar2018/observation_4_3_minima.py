r"""Observation 4.3, second sentence: "all of the minima of the normal landscape are preserved".

"Consequently" passes from the activations at one point to a neighbourhood of it.  That is right if
the layer has a bias, for then the network with the layer, at any (W, gamma, beta), is the one
without it at W' = gamma W/sigma and b' = beta - gamma mu/sigma, whose loss is no less than the
minimum's (``bias``).  Without a bias beta is a new direction (``no-bias``): y = XW* minimises
|XW - t|^2/2 where t - y is orthogonal to the columns of X, but not to the ones.  With gamma and
beta fixed, the derivative along another column of X need not vanish (``fixed``).
"""

from typing import Any

from theory.arithmetic import mean, norm_squared
from theory.batchnorm import centre
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.convex_losses import off, with_constants
from theory.santurkar2018.texts import final
from theory.santurkar2018.theorem_4_1 import IDENTITY_LAYER


def linear_layer(network: Network, at: Letters) -> Sides:
    """The layer's output at any (W, gamma, beta), and the linear layer's at (W', b')."""
    slope = at.gamma / at.sigma
    offset = at.beta - slope * mean(network.y)
    return Sides(network.forward(network.y), slope * network.y + offset)


def in_beta(network: Network, at: Letters, residual: Any) -> Sides:
    """The derivative in beta of |z - t|^2/2 at z = y, that is gamma = sigma and beta = mean."""
    t = network.y - residual
    left = network.derivative(lambda z: norm_squared(z - t) / 2, network.y, at.one)
    return Sides(left, 0 * left)


def without_bias(network: Network, at: Letters) -> Sides:
    """At W* = 1, X = y; the residual is orthogonal to the one column of X, so W* is the minimum."""
    return in_beta(network, at, off(network.direction, network.y))


def with_bias(network: Network, at: Letters) -> Sides:
    """The same where the residual is orthogonal to the ones as well, as with a bias."""
    return in_beta(network, at, off(centre(network.direction), centre(network.y)))


SECOND = final(
    191, "Sect. 4.2, Observation 4.3", "all of the minima of the normal landscape are preserved"
)

BIAS = Claim(
    id="S-obs-4.3/minima/bias",
    row="S-obs-4.3",
    locations=(SECOND,),
    statement=r"\mathrm{BN}_{\gamma,\beta}(XW) = X\big(\tfrac\gamma\sigma W\big)"
    r" + \big(\beta - \tfrac\gamma\sigma\mu\big)\mathbf 1",
    sides=linear_layer,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="gamma, beta trainable and a bias: outputs that no weights and bias give",
    remark="With the first sentence: a continuous map takes a neighbourhood of (W*, sigma, mean)"
    " to one of (W*, b*), and the loss with it, so a minimum stays one.  Never an isolated one:"
    " it is constant along a W*, a > 0.",
)

NO_BIAS = Claim(
    id="S-obs-4.3/minima/no-bias",
    row="S-obs-4.3",
    locations=(SECOND,),
    statement=r"\frac{\partial\hat L}{\partial\beta}(W^*, \sigma, \mu) = 0"
    r" \text{ at a minimum } W^* \text{ of } L \text{ without a bias}",
    sides=without_bias,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    falsified_by="a least squares problem in one weight, and a derivative in beta that is not zero"
    " at its minimum",
)

FIXED_MINIMA = Claim(
    id="S-obs-4.3/minima/fixed",
    row="S-obs-4.3",
    locations=(SECOND,),
    statement=r"\nabla_W\hat L(W^*) = 0 \text{ at a minimum } W^* \text{ of a convex } L"
    r" \text{ with given } \gamma, \beta",
    sides=with_constants,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    falsified_by="a minimum of the loss <v, z - y>^2/2 and a derivative in a weight that is not"
    " zero there",
)

_EPS = Reading.SHARED_EPSILON

_WITH_BIAS = {
    "sides": with_bias,
    "statement": NO_BIAS.statement.replace("without", "with"),
    "remark": "The derivatives in W and gamma are inner products with g as well and vanish alike.",
}

_IDENTITY = {"hypotheses": (IDENTITY_LAYER,)}

CLAIMS = [
    BIAS,
    BIAS.under(_EPS, Verdict.PROVED),
    NO_BIAS,
    NO_BIAS.corrected(**_WITH_BIAS),
    NO_BIAS.under(_EPS, Verdict.REFUTED),
    NO_BIAS.under(_EPS, Verdict.REFUTED).corrected(**_WITH_BIAS),
    FIXED_MINIMA,
    FIXED_MINIMA.corrected(**_IDENTITY),
    FIXED_MINIMA.under(_EPS, Verdict.REFUTED),
    FIXED_MINIMA.under(_EPS, Verdict.REFUTED).corrected(**_IDENTITY),
]
