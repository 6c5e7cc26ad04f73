r"""Lemma 4.5 at W0 = W*, where it is false: without a bias, or with gamma and beta fixed.

The lemma then says that W* is a limit of optima of the network with the layer.

- ``no-bias``.  beta is a direction that the layer without a bias did not have.  Let the
  batch be y = XW*, X = [y, u], and the loss |z - t|^2/2 with t - y = e orthogonal to y and u, so
  that W* is its only minimum.  The best gamma and beta at W* leave a derivative along u.  The last
  step of the proof that holds is (62); "must also be an optimum" is where it breaks.
- ``fixed`` (gamma, beta "constants for our analysis", as the setup has it).  y = XW*
  minimises the convex loss <v, z - y>^2/2, and the network with the layer has a derivative
  along u.  True if the constants happen to be gamma = sigma and beta = mean.

The derivative at W* is continuous in W where sigma > 0, so where it is not zero no optimum is near.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, mean, norm_squared
from theory.batchnorm import centre
from theory.claim import Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.convex_losses import off, with_constants
from theory.santurkar2018.lemma_4_5 import TRAINABLE
from theory.santurkar2018.theorem_4_1 import IDENTITY_LAYER


def at_best(network: Network, e: Any) -> Sides:
    """The derivative of |z - t|^2/2, t = y + e, at the best gamma and beta, along u off e."""
    t = network.y + e
    yhat = network.normalize(network.y)
    gamma = inner(t, yhat) / norm_squared(yhat)
    residual = gamma * yhat + mean(t) - t
    u = off(network.direction, e)
    left = network.derivative(lambda y: inner(residual, gamma * network.normalize(y)), network.y, u)
    return Sides(left, 0 * left)


def without_bias(network: Network, at: Letters) -> Sides:
    """W* = (1, 0) minimises |XW - t|^2/2; t - y is orthogonal to the columns of X, y and u."""
    return at_best(network, off(network.other_direction, network.y))


def with_bias(network: Network, at: Letters) -> Sides:
    """W* = (1, 0) and no bias minimise |XW + b - t|^2/2: t - y is orthogonal to 1 as well."""
    return at_best(network, off(centre(network.other_direction), centre(network.y)))


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

_EPS = Reading.SHARED_EPSILON
_BIAS = {"sides": with_bias, "remark": "With a bias t - y is orthogonal to the ones as well."}
_CONSTANTS = {"hypotheses": (IDENTITY_LAYER,)}

CLAIMS = [
    NO_BIAS,
    NO_BIAS.corrected(**_BIAS),
    NO_BIAS.under(_EPS, Verdict.REFUTED),
    NO_BIAS.under(_EPS, Verdict.REFUTED).corrected(**_BIAS),
    FIXED,
    FIXED.corrected(**_CONSTANTS),
    FIXED.under(_EPS, Verdict.REFUTED),
    FIXED.under(_EPS, Verdict.REFUTED).corrected(**_CONSTANTS),
]
