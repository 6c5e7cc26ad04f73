r"""Observation 4.3: what configurations, and which minima, survive the layer.

First sentence, "the same activations": true with gamma = sigma and beta = mean, sigma > 0.  beta is
not mentioned, but with a given beta the sentence is false (``beta-given``), as it is with given
gamma and beta (``fixed``; the setup calls them "constants for our analysis"), and as it is if one
configuration is to serve any input data (``any-input``).  With eps > 0, gamma is the layer's
sqrt(variance + eps) and not the batch's deviation (``deviation``).

Second sentence, "all of the minima are preserved": "Consequently" passes from the activations at
one point to a neighbourhood of it.  That is right if the layer has a bias, for then the network
with the layer, at any (W, gamma, beta), is the one without it at W' = gamma W/sigma and
b' = beta - gamma mu/sigma, whose loss is no less than the minimum's (``bias``).  Without a bias
beta is a new direction (``no-bias``): y = XW* minimises |XW - t|^2/2 where t - y is orthogonal to
the columns of X, but not to the ones.  With gamma and beta fixed, the derivative along another
column of X need not vanish (``fixed``).
"""

from dataclasses import replace
from typing import Any

from theory import batchnorm
from theory.arithmetic import inner, mean, norm_squared
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.identification import IDENTITY_LAYER
from theory.santurkar2018.lemma_4_5 import off, with_constants
from theory.santurkar2018.texts import final


def activations(network: Network, at: Letters) -> Sides:
    """The layer with gamma = sigma and beta = mean."""
    y = network.y
    return Sides(at.sigma * network.normalize(y) + mean(y), y)


def with_deviation(network: Network, at: Letters) -> Sides:
    """The layer with gamma = the standard deviation, which has no eps, and beta = mean."""
    y = network.y
    gamma = batchnorm.standard_deviation(y)
    return Sides(gamma * network.normalize(y) + mean(y), y)


def with_given_beta(network: Network, at: Letters) -> Sides:
    """The layer with gamma = sigma and its own beta."""
    y = network.y
    return Sides(at.sigma * network.normalize(y) + network.beta, y)


def for_other_input(network: Network, at: Letters) -> Sides:
    """The configuration that serves the batch y, on the batch v."""
    v = network.other_direction
    return Sides(at.sigma * network.normalize(v) + mean(network.y), v)


def with_fixed(network: Network, at: Letters) -> Sides:
    """One input, X = y: W > 0 and W < 0 give two outputs, and one of them would have to be y."""
    y = network.y
    above, below = network.forward(y) - y, network.forward(-1 * y) - y
    product = norm_squared(above) * norm_squared(below)
    return Sides(product, 0 * product)


def without_bias(network: Network, at: Letters) -> Sides:
    """The derivative in beta at W* = 1, gamma = sigma, beta = mean, of |z - t|^2/2, X = y.

    The residual z - t is orthogonal to the one column of X, so W* = 1 is the minimum.
    """
    residual = off(network.direction, network.y)
    t = network.y - residual
    z = at.sigma * network.normalize(network.y) + mean(network.y)
    left = network.derivative(lambda z: inner(z - t, z - t) / 2, z, at.one)
    return Sides(left, 0 * left)


def with_bias(network: Network, at: Letters) -> Sides:
    """The same where the residual is orthogonal to the ones as well, as with a bias."""
    residual = batchnorm.centre(network.direction)
    t = network.y - off(residual, batchnorm.centre(network.y))
    z = at.sigma * network.normalize(network.y) + mean(network.y)
    left = network.derivative(lambda z: inner(z - t, z - t) / 2, z, at.one)
    return Sides(left, 0 * left)


def linear_layer(network: Network, at: Letters) -> Sides:
    """The layer's output at any (W, gamma, beta), and the linear layer's at (W', b')."""
    slope = at.gamma / at.sigma
    offset = at.beta - slope * mean(network.y)
    return Sides(network.forward(network.y), slope * network.y + offset)


FIRST = final(191, "Sect. 4.2, Observation 4.3", "there exists a BN configuration")
SECOND = final(
    191, "Sect. 4.2, Observation 4.3", "all of the minima of the normal landscape are preserved"
)
ACTIVATIONS = Claim(
    id="S-obs-4.3/activations",
    row="S-obs-4.3",
    locations=(FIRST,),
    statement=r"\forall X, W\ \exists\gamma, \beta:\ \gamma = \sigma,\ \beta = \mu,\ z = y",
    sides=activations,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="a batch with sigma > 0 whose outputs differ from it",
    remark="The text leaves out beta = mean and sigma > 0.",
)


def _activations(name: str, sides: Any, statement: str, falsified_by: str) -> Claim:
    return replace(
        ACTIVATIONS,
        id=f"{ACTIVATIONS.id}/{name}",
        sides=sides,
        statement=statement,
        expected=Verdict.REFUTED,
        corrected_by=ACTIVATIONS.id,
        falsified_by=falsified_by,
        remark="",
    )


GIVEN_BETA = _activations(
    "beta-given",
    with_given_beta,
    r"\gamma = \sigma \implies z = y, \text{ whatever } \beta",
    "a batch whose outputs differ from it, beta being given",
)
ANY_INPUT = _activations(
    "any-input",
    for_other_input,
    r"\exists\gamma, \beta\ \forall X:\ z = y",
    "two batches that need different gamma or beta",
)
FIXED = _activations(
    "fixed",
    with_fixed,
    r"\forall X, W\ \exists W':\ \mathrm{BN}_{\gamma,\beta}(XW') = XW"
    r" \text{ with given } \gamma, \beta",
    "one input X = y, whose two outputs both differ from y",
)
DEVIATION = _activations(
    "deviation",
    with_deviation,
    r"\gamma = \sqrt{v},\ \beta = \mu \implies z = y",
    "a batch and eps > 0 whose outputs differ from it",
).under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by="S-obs-4.3/activations/eps")

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
    ACTIVATIONS,
    ACTIVATIONS.under(_EPS, Verdict.PROVED, remark="sigma is the layer's sqrt(variance + eps)."),
    DEVIATION,
    GIVEN_BETA,
    ANY_INPUT,
    FIXED,
    FIXED.under(_EPS, Verdict.REFUTED, corrected_by="S-obs-4.3/activations/eps"),
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
