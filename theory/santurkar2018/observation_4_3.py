r"""Observation 4.3: the layer can be configured to give the same activations; minima are preserved.

First sentence.  True with gamma = sigma and beta = mean, sigma > 0.  The text gives no value
for beta, but with a given one the sentence is false (``beta-given``), as it is with given gamma and
beta (``fixed``; the setup calls them "constants for our analysis"), and as it is if one
configuration is to serve any input data (``any-input``).

Second sentence.  "Consequently" passes from the activations at one point to a neighbourhood of it.
That is right if the layer has a bias and sigma > 0 at the minimum, for then the network with the
layer, at any (W, b, gamma, beta), is the one without it at W' = gamma W/sigma and b' = beta +
gamma (b - mu)/sigma, whose loss is no less than the minimum's (``bias``); a continuous map takes a
neighbourhood of (W*, b*, sigma, mean) into one of (W*, b*), so a local minimum stays one.  Never an
isolated one: the loss is constant along a W*, a > 0, with gamma = sigma(a W*)/a, which at eps = 0
is sigma(W*).

Least squares shows what the bias is for.  At the minimum y = XW* of |XW - t|^2/2 the residual e =
t - y is orthogonal to the columns of X; with a bias, to the ones as well.  Without a bias beta is a
new direction (``no-bias``).  With gamma and beta fixed, the derivative along another column need
not vanish (``fixed``), not even with gamma = sigma and beta = mean (``fixed/without-bias``: X = (1
0; 0 1; 0 0), t = (1, 2, 1), W* = (1, 2) has the gradient (1/3, -1/6)).
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre
from theory.claim import Claim, Form
from theory.language.expression import Letter, Sort, along, equal, number
from theory.language.letters import vector_of
from theory.language.operations import average, centred, dot, norm2, sqrt
from theory.santurkar2018.chosen import in_directions, with_hints
from theory.santurkar2018.letters import EPS
from theory.santurkar2018.texts import final
from theory.santurkar2018.theorem_4_1 import IDENTITY_LAYER
from theory.statement import PROVED, REFUTED, assume
from theory.unit import BN, beta, g, gamma, grad, m, normalize, one, sigma, u, v, variable, y, yhat

HALF = 1 / number(2)
MU = average(y)

FIRST_SENTENCE = [
    ACTIVATIONS := Claim(
        id="S-obs-4.3/activations", title="γ = σ and β = mean give the same activations",
        locations=(final(191, "Sect. 4.2, Observation 4.3", "there exists a BN configuration"),),
        says=equal(sigma * normalize(y) + MU * one, y),
        expected=PROVED,
        remark="The text gives no value for β, and leaves out σ > 0.",
    ),
    ACTIVATIONS_SHARED := ACTIVATIONS.under(
        EPS, PROVED, remark="σ is the layer's √(variance + ϵ)."
    ),
    replace(
        ACTIVATIONS, id=f"{ACTIVATIONS.id}/deviation",
        title="the batch's own deviation for γ gives the same activations",
        says=equal(sqrt(norm2(centred(y)) / m) * normalize(y) + MU * one, y),
        form=Form.BOUNDARY,
        remark="",
    ).under(EPS, REFUTED, corrected_by=ACTIVATIONS_SHARED.id),
    GIVEN_BETA := replace(
        ACTIVATIONS, id=f"{ACTIVATIONS.id}/beta-given",
        title="γ = σ and a given β give the same activations",
        says=equal(sigma * normalize(y) + beta * one, y),
        form=Form.BOUNDARY, expected=REFUTED, corrected_by=ACTIVATIONS.id,
        remark="",
    ),
    replace(
        GIVEN_BETA, id=f"{ACTIVATIONS.id}/any-input",
        title="the configuration of one batch gives the activations of another",
        says=equal(sigma * normalize(v) + MU * one, v),
    ),
    replace(
        GIVEN_BETA, id=f"{ACTIVATIONS.id}/fixed",
        title="γ and β given: one of the two outputs of one input is y",
        says=equal(norm2(BN(y) - y) * norm2(BN(-y) - y), 0),
        remark="From one input X = y all weights W > 0 give BN(y) and all W < 0 give BN(-y); to"
        " give the activations y, one of the two must be y.",
    ),
]  # fmt: skip


def off(a: Any, b: Any) -> Any:
    r"""Return :math:`\|b\|^2 a - b\langle b, a\rangle`, which is orthogonal to b."""
    return norm_squared(b) * a - b * inner(b, a)


def off_batch(case: Any) -> Any:
    """Make the case's direction orthogonal to its batch."""
    return replace(case, direction=off(case.direction, case.y))


def off_batch_and_ones(case: Any) -> Any:
    """Make the case's direction orthogonal to the ones, its batch and its other direction."""
    c = centre(case.y)
    other = off(centre(case.other_direction), c)
    return replace(case, direction=off(off(centre(case.direction), c), other))


def stationary(case: Any) -> Any:
    """Give the case a linear loss whose gradient is orthogonal to the batch and another input."""
    other = off(case.other_direction, case.y)
    return case.with_isotropic_loss(off(off(case.direction, case.y), other), 0)


def stationary_with_bias(case: Any) -> Any:
    """Give the case a linear loss whose gradient is orthogonal to the ones as well."""
    return case.with_isotropic_loss(off_batch_and_ones(case).direction, 0)


e = vector_of("e", "e", "direction")
"""The residual of least squares at its minimum, t = y + e."""
optimum = vector_of("y_star", "y^*", "other_direction")
"""The outputs at a minimum."""
b = Letter("b", "b", Sort.VECTOR)
ONES, BATCH, OPTIMUM = (
    assume(equal(dot(e, one), 0), impose=off_batch_and_ones, printed=False),
    assume(equal(dot(e, y), 0)),
    assume(equal(dot(e, optimum), 0)),
)
x = vector_of("x_i", "x_i", "other_direction")
"""Another input."""
IN_BIAS = assume(equal(dot(g, one), 0), impose=stationary_with_bias, printed=False)
ALONG_Y, ALONG_X = assume(equal(dot(g, y), 0)), assume(equal(dot(g, x), 0))

SECOND = final(
    191, "Sect. 4.2, Observation 4.3", "all of the minima of the normal landscape are preserved"
)
SLOPE = gamma / sigma
MINIMUM_KEPT = {
    "title": "with a bias: a minimum of least squares is one with the layer",
    "says": norm2(BN(y) - (optimum + e)) >= norm2(e),
    "hypotheses": (ONES, BATCH, OPTIMUM),
    "because": norm2(BN(y) - optimum)
    - 2 * (beta - SLOPE * MU) * ONES.slack
    - 2 * SLOPE * BATCH.slack
    + 2 * OPTIMUM.slack,
    "remark": "y* are the outputs of the linear layer at its minimum, y at any other weights, and"
    " y* + e the targets: e is orthogonal to the inputs and, with a bias, to the ones.",
}
STATIONARY = {
    "title": "with a bias: the derivative in a weight at a minimum",
    "says": equal(dot(grad, x), 0),
    "hypotheses": (IN_BIAS, ALONG_Y, ALONG_X),
    "because": SLOPE * ALONG_X.slack
    - gamma / (m * sigma**2) * dot(yhat, x) * ALONG_Y.slack
    - gamma / (m * sigma) * (dot(one, x) - MU / sigma * dot(yhat, x)) * IN_BIAS.slack,
    "remark": "With γ = σ and β = mean the outputs are the linear layer's own, so its minima are"
    " critical points of the network with the layer.",
}
SECOND_SENTENCE = [
    *Claim(
        id="S-obs-4.3/minima/bias", title="with a bias, the layer gives what a linear layer gives",
        locations=(SECOND,),
        says=equal(BN(y), SLOPE * y + (beta - SLOPE * MU) * one),
        form=Form.READING, expected=PROVED,
        remark="So with the layer every output is one that a linear layer with a bias can give, at"
        " other weights: no loss is below the minimum, and by the first sentence of the"
        " observation the minimum is reached.",
    ).with_epsilon(PROVED),
    NO_BIAS := Claim(
        id="S-obs-4.3/minima/no-bias", title="without a bias: the derivative in β at a minimum",
        locations=(SECOND,),
        says=equal(along(HALF * norm2(sigma * normalize(y) + b - (y + e)), b, one, at=MU * one), 0),
        hypotheses=(replace(BATCH, impose=off_batch),), form=Form.READING, expected=REFUTED,
        attack=(in_directions((1, 1, 1), (0, 0, 0)),),
        remark="For least squares with the targets y + e, e orthogonal to the one input y, and"
        " γ = σ: b is β times the ones, at β = μ.",
    ),
    NO_BIAS.corrected(**MINIMUM_KEPT),
    NO_BIAS_SHARED := NO_BIAS.under(EPS, REFUTED),
    NO_BIAS_SHARED.corrected(**MINIMUM_KEPT),
    FIXED_MINIMA := Claim(
        id="S-obs-4.3/minima/fixed", title="γ and β given: the derivative in a weight at a minimum",
        locations=(SECOND,),
        says=equal(along(HALF * dot(v, BN(variable) - y) ** 2, variable, u, at=y), 0),
        form=Form.READING, expected=REFUTED, attack=(in_directions((0, 1, 0), (1, 0, 0), scale=2),),
        remark="L(z) = ⟨v, z - y⟩²/2 has a minimum at z = y, the outputs at a minimum of the"
        " network without the layer, and u is any change of them.",
    ),
    FIXED_MINIMA.corrected(**STATIONARY),
    FIXED_SHARED := FIXED_MINIMA.under(EPS, REFUTED),
    FIXED_SHARED.corrected(**STATIONARY),
    WITHOUT_BIAS := replace(
        FIXED_MINIMA, id="S-obs-4.3/minima/fixed/without-bias",
        title="without a bias: the derivative in a weight at a minimum",
        says=equal(dot(grad, x), 0),
        hypotheses=(IDENTITY_LAYER, replace(ALONG_Y, impose=stationary), ALONG_X),
        form=Form.BOUNDARY, corrected_by="S-obs-4.3/minima/fixed/corrected",
        remark="",
    ),
    WITHOUT_BIAS.under(EPS, REFUTED, corrected_by="S-obs-4.3/minima/fixed/eps/corrected"),
]  # fmt: skip

CLAIMS = with_hints([*FIRST_SENTENCE, *SECOND_SENTENCE])
