r"""Lemma 4.5: the way from an initialisation to the nearest optimum is no longer with the layer.

The right side is the squared distance of W0 to the line through W*.  At W0 = kW* it is zero, so
there the lemma says that kW* itself is a limit of optima of the network with the layer: it stands
or falls with the first sentence of its proof, and that depends on what the text does not settle.

- ``trainable`` (gamma, beta trainable, the layer has a bias or the inputs hold the ones, sigma > 0
  at W*): true.  With gamma = sigma/k and beta = mean any multiple kW* gives the outputs of W*,
  whose loss no configuration undercuts (:mod:`theory.santurkar2018.observation_4_3`), and (59) to
  (62) are the distance to kW*.  Of the condition <W0, W*> > 0 enough is that the product is not
  zero: gamma < 0 serves k < 0.
- ``no-bias``: false.  beta is a direction that the layer without a bias did not have.  Let X = (y,
  u) and t - y = e orthogonal to both, so that W* = (1, 0) is the only minimum of |XW - t|^2/2.
  The best gamma and beta at W* leave a derivative along u.
- ``fixed`` (gamma, beta "constants for our analysis", as the setup has it): false.  y = XW*
  minimises the convex loss <v, z - y>^2/2, and the network with the layer has a derivative along u
  at kW*.  True where the constants happen to give an optimum's outputs and the layer has a bias;
  with eps > 0 not even then, as the outputs change along the ray (``fixed/own-optimum``).

The derivative is continuous in W where sigma > 0, so where it is not zero no optimum is near.
"""

from dataclasses import replace
from typing import Any

from theory.batchnorm import centre
from theory.claim import Claim, Form
from theory.language.expression import along, equal, gradient, named, number
from theory.language.letters import number_of, vector_of
from theory.language.operations import average, dot, norm2
from theory.santurkar2018.chosen import centred_batch, in_directions, with_hints
from theory.santurkar2018.letters import EPS
from theory.santurkar2018.observation_4_3 import ALONG_X, ALONG_Y, HALF, IN_BIAS, off, x
from theory.santurkar2018.texts import displayed, final, supplement
from theory.santurkar2018.theorem_4_1 import IDENTITY_LAYER
from theory.statement import PROVED, REFUTED, assume
from theory.unit import (
    BN,
    Lhat,
    beta,
    deviation,
    gamma,
    m,
    normalize,
    one,
    sigma,
    u,
    v,
    variable,
    y,
    yhat,
)

PROOF = "App. C.2, proof of Lemma 4.5"
OPTIMUM_PLACES = (
    final(563, PROOF, "must also be an optimum in the BN network"),
    supplement(387, PROOF, "must also be an optimum in the BN network"),
)

W0 = vector_of("W0", "W_0", "direction")
W = vector_of("W_star", "W^*", "other_direction")
k = named("k", dot(W, W0) / norm2(W))
K = number_of("k", "k", "bound", "k > 0")
"""Any positive number, where no W0 is spoken of."""

SAME_SIDE = assume(dot(W0, W) > 0)
W0_NEXT, W_NEXT = vector_of("W0'", "W_0'", "y"), vector_of("W'_star", "W'^*", "g")
"""The weights of a second unit."""
EACH_K = [named(f"k{prime}", dot(a, b) / norm2(b)) for prime, a, b in (
    ("", W0, W), ("'", W0_NEXT, W_NEXT)
)]  # fmt: skip
ONE_K = named("k_0", (dot(W0, W) + dot(W0_NEXT, W_NEXT)) / (norm2(W) + norm2(W_NEXT)))
"""The best factor for both units together."""

e = vector_of("e", "e", "other_direction")
"""The residual of least squares at its minimum, t = y + e."""
TARGET = y + e
BEST_GAMMA = named(r"\gamma^*", dot(TARGET, yhat) / norm2(yhat))
"""The best scale for the outputs at W*; the best shift is the mean of t."""


def off_inputs(case: Any) -> Any:
    """Make the residual orthogonal to the batch, and the direction to the residual."""
    residual = off(case.other_direction, case.y)
    return replace(case, other_direction=residual, direction=off(case.direction, residual))


def off_inputs_and_ones(case: Any) -> Any:
    """Make the residual orthogonal to the ones as well."""
    residual = off(centre(case.other_direction), centre(case.y))
    return replace(case, other_direction=residual, direction=off(case.direction, residual))


OFF_Y, OFF_U, OFF_ONES = equal(dot(e, y), 0), equal(dot(e, u), 0), equal(dot(e, one), 0)
OF_OUTPUTS = tuple(replace(stationary, printed=False) for stationary in (ALONG_Y, ALONG_X))
RESIDUAL = (assume(OFF_Y, impose=off_inputs), assume(OFF_U))
RESIDUAL_WITH_BIAS = (
    assume(OFF_ONES, impose=off_inputs_and_ones, printed=False),
    assume(OFF_Y),
    assume(OFF_U),
)

ALONG_ONES, ALONG_BATCH, ALONG_INPUT = (h.slack for h in RESIDUAL_WITH_BIAS)
AT_OPTIMUM = deviation(K * y) / K * normalize(K * y) + average(y) * one
"""The outputs with the layer at kW*, with the scale and the shift that give those of W*."""
OTHER = gamma * normalize(u) + beta * one
"""The outputs with the layer at any weights, whose linear outputs are u."""
PER_OTHER = gamma / deviation(u)
SHARE = dot(yhat, u) / (sigma * norm2(yhat))
BIAS = {
    "title": "with a bias: the derivative at W*, with the best γ and β",
    "hypotheses": RESIDUAL_WITH_BIAS,
    "because": BEST_GAMMA / sigma * SHARE * ALONG_BATCH
    - BEST_GAMMA / sigma * ALONG_INPUT
    - BEST_GAMMA / sigma * (SHARE * average(y) - dot(one, u) / m) * ALONG_ONES,
    "remark": "With a bias the residual e is orthogonal to the ones as well.",
}
LEMMA = [
    TRAINABLE := Claim(
        id="S-lemma-4.5/trainable", title="the distance to the optimum kW*, γ and β trainable",
        locations=(
            final(
                207, "Sect. 4.2, Lemma 4.5",
                r"\left|\left|{W_{0}-\widehat{W}^{*}}\right|\right|^{2}",
            ),
            supplement(383, "App. C.2, Lemma 4.5", r"\left| \left| W_0 - \widehat{W}^* \right|"),
        ),
        says=norm2(W0 - k * W) <= norm2(W0 - W) - 1 / norm2(W) * (norm2(W) - dot(W, W0)) ** 2,
        hypotheses=(SAME_SIDE,), form=Form.READING, expected=PROVED,
        remark="Equality if kW* is the nearest optimum; another may be nearer. That kW* is an"
        " optimum needs a bias, and σ > 0 at W*: the outputs with the layer are those of a linear"
        " layer with a bias, of the weights γW/σ, and at kW*, with γ = σ/k, those of W*. So a"
        " minimum of the linear layer is one of the network with the layer, a global one or, as"
        " γW/σ is continuous, a local one; S-lemma-4.5/trainable/minimum proves it for least"
        " squares.",
    ),
    TRAINABLE.sharpened(
        "each-unit", title="with a factor of its own for each unit the distance is shorter",
        says=equal(
            norm2(W0 - EACH_K[0] * W) + norm2(W0_NEXT - EACH_K[1] * W_NEXT),
            norm2(W0 - ONE_K * W)
            + norm2(W0_NEXT - ONE_K * W_NEXT)
            - norm2(W) * norm2(W_NEXT) / (norm2(W) + norm2(W_NEXT)) * (EACH_K[0] - EACH_K[1]) ** 2,
        ),
        hypotheses=(),
        remark="The layer normalises each unit alone, so the lemma holds of each. With one factor"
        " for all units, as it is stated, the distance is longer unless the factors agree.",
    ),
    OPTIMUM := Claim(
        id="S-lemma-4.5/trainable/optimum", title="kW* gives the outputs of W*",
        locations=OPTIMUM_PLACES,
        says=equal(AT_OPTIMUM, y),
        form=Form.READING, expected=PROVED,
    ),
    OPTIMUM_SHARED := OPTIMUM.under(EPS, PROVED),
    *replace(
        OPTIMUM, id="S-lemma-4.5/trainable/minimum",
        title="with a bias: no weights, γ and β give less than kW*, for least squares",
        says=norm2(AT_OPTIMUM - TARGET) <= norm2(OTHER - TARGET),
        hypotheses=RESIDUAL_WITH_BIAS,
        because=norm2(OTHER - y)
        - 2 * PER_OTHER * ALONG_INPUT
        - 2 * (beta - PER_OTHER * average(u)) * ALONG_ONES
        + 2 * ALONG_BATCH,
        remark="y and u are the outputs of the linear layer at W* and at any other weights, and"
        " y + e are the targets: at a minimum the residual e is orthogonal to the inputs and, with"
        " a bias, to the ones.",
    ).with_epsilon(PROVED),
    OPTIMUM.sharpened(
        "negative", title="-kW* gives the outputs of W*",
        says=equal(-(deviation(-(K * y)) / K * normalize(-(K * y))) + average(y) * one, y),
        remark="γ is negative there. So the lemma's condition ⟨W₀, W*⟩ > 0 can be weakened to ⟨W₀,"
        " W*⟩ ≠ 0.",
    ),
    NO_BIAS := replace(
        TRAINABLE, id="S-lemma-4.5/no-bias",
        title="without a bias: the derivative at W*, with the best γ and β",
        says=equal(
            along(
                HALF * norm2(BEST_GAMMA * normalize(variable) + average(TARGET) * one - TARGET),
                variable, u, at=y,
            ),
            0,
        ),
        hypotheses=RESIDUAL, expected=REFUTED,
        remark="At W₀ = kW* the lemma's right side is zero, so kW* would be an optimum with the"
        " layer, as W* is one without it. For least squares with the targets y + e and the inputs y"
        " and u, y being the outputs at W*.",
    ),
    NO_BIAS.corrected(**BIAS),
    NO_BIAS_SHARED := NO_BIAS.under(EPS, REFUTED),
    NO_BIAS_SHARED.corrected(**BIAS),
    FIXED := replace(
        NO_BIAS, id="S-lemma-4.5/fixed", title="γ and β given: the derivative at kW*",
        says=equal(along(HALF * dot(v, BN(variable) - y) ** 2, variable, u, at=K * y), 0),
        hypotheses=(), attack=(in_directions((0, 1, 0), (1, 0, 0), scale=2),),
        remark="At W₀ = kW* the lemma's right side is zero, so kW* would be an optimum with the"
        " layer. L(z) = ⟨v, z - y⟩²/2 has a minimum at z = y, y being the outputs at W*.",
    ),
    FIXED.corrected(
        title="with a bias, where the outputs are an optimum's: the derivative at kW*",
        says=equal(dot(gradient(Lhat(variable), variable, at=K * y), x), 0),
        remark="g is the gradient at z, an optimum's outputs, as where γ = σ and β = μ.",
        hypotheses=(IN_BIAS, *OF_OUTPUTS),
        because=gamma / (sigma * K) * ALONG_X.slack
        - gamma / (m * sigma**2 * K) * dot(yhat, x) * ALONG_Y.slack
        - gamma / (m * sigma * K) * (dot(one, x) - average(y) / sigma * dot(yhat, x))
        * IN_BIAS.slack,
    ),
    FIXED.under(EPS, REFUTED, corrected_by=OPTIMUM_SHARED.id),
]  # fmt: skip

GAIN = norm2(W0 - k * W) - norm2(W0 - W)
line = displayed(
    PROOF,
    "S-lemma-4.5",
    title="what the distance gains",
    remark="Nothing is asked of the sign of k.",
)
STEPS = [
    INVARIANCE := replace(
        OPTIMUM, id="S-lemma-4.5/scale-invariance",
        title="the outputs do not change with the scale of the weights",
        locations=(
            final(563, PROOF, "scale-invariance of batch normalization"),
            supplement(387, PROOF, "scale-invariance of batch normalization"),
        ),
        says=equal(BN(K * y), BN(y)),
        form=Form.STEP,
    ),
    INVARIANCE.under(EPS, REFUTED, corrected_by=OPTIMUM_SHARED.id),
    replace(
        INVARIANCE, id="S-lemma-4.5/any-multiple",
        title="the outputs do not change with the sign of the weights",
        locations=OPTIMUM_PLACES,
        says=equal(BN(-(K * y)), BN(y)),
        form=Form.BOUNDARY, expected=REFUTED, attack=(centred_batch,), corrected_by=INVARIANCE.id,
        remark="The text has BN((aW)x) = BN(Wx) for all a > 0. A negative multiple needs -γ:"
        " S-lemma-4.5/trainable/optimum/negative.",
    ),
    OWN := replace(
        FIXED, id="S-lemma-4.5/fixed/own-optimum",
        title="an optimum of both networks: the derivative along the ray through it",
        locations=OPTIMUM_PLACES,
        says=equal(along(HALF * norm2(BN(variable) - y), variable, y, at=K * y), 0),
        hypotheses=(IDENTITY_LAYER,), expected=PROVED, attack=(),
        remark="The layer is BN(x) = γ x̂ + β.",
    ),
    OWN.under(EPS, REFUTED, corrected_by=OPTIMUM_SHARED.id),
    line({59: ((569, r"{W_{0}-kW^{*}}"), (393, r"W_0 - kW^*")),
          60: ((570, r"-2k\left|\left|{W^{*}}\right|\right|^{2}"),
               (395, r"- 2k \left| \left| W^*"))},
         equal(GAIN, (norm2(W0) - k**2 * norm2(W)) - (norm2(W0) - 2 * k * norm2(W) + norm2(W))),
         id="S-eq-60"),
    line({61: ((571, r"-k^{2}\left|\left|{W^{*}}\right|\right|^{2}"),
               (397, r"- k^2 \left| \left| W^*"))},
         equal(GAIN, 2 * k * norm2(W) - k**2 * norm2(W) - norm2(W))),
    line({62: ((572, r"\cdot(1-k)^{2}"), (406, r"\cdot (1-k)^2"))},
         equal(GAIN, -(norm2(W) * (number(1) - k) ** 2))),
]  # fmt: skip

CLAIMS = with_hints([*LEMMA, *STEPS])
