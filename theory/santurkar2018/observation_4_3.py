r"""Observation 4.3, first sentence: a configuration of the layer gives the same activations.

True with gamma = sigma and beta = mean, sigma > 0.  beta is not mentioned, but with a given beta
the sentence is false (``beta-given``), as it is with given gamma and beta (``fixed``; the setup
calls them "constants for our analysis"), and as it is if one configuration is to serve any input
data (``any-input``).  With eps > 0, gamma is the layer's sqrt(variance + eps) and not the batch's
deviation (``deviation``).
"""

from dataclasses import replace
from typing import Any

from theory import batchnorm
from theory.arithmetic import mean, norm_squared
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict
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


ACTIVATIONS = Claim(
    id="S-obs-4.3/activations",
    row="S-obs-4.3",
    locations=(final(191, "Sect. 4.2, Observation 4.3", "there exists a BN configuration"),),
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

_EPS = Reading.SHARED_EPSILON

CLAIMS = [
    ACTIVATIONS,
    ACTIVATIONS.under(_EPS, Verdict.PROVED, remark="sigma is the layer's sqrt(variance + eps)."),
    DEVIATION,
    GIVEN_BETA,
    ANY_INPUT,
    FIXED,
    FIXED.under(_EPS, Verdict.REFUTED, corrected_by="S-obs-4.3/activations/eps"),
]
