r"""Theorem 3.1, the sensitivity of an output to a weight; Theorem C.3, and its proof, (3) to (7).

.. math:: \sum_l\Big(\frac{\partial\hat y_j^l}{\partial W_{ij}}\Big)^2 = \frac1{\sigma^2}\Big(
          \sum_l\Big(\frac{\partial y_j^l}{\partial W_{ij}}\Big)^2 - \frac1m\alpha_{ij}^2\Big)

It holds with :math:`\alpha = \langle x, \hat y\rangle`, x of mean zero and eps = 0.  As alpha is
defined, :math:`\langle x, y\rangle`, the right side can be negative: :math:`m = 2, x = (1, -1),
y = 2x` gives 0 on the left and :math:`\frac14(2 - 8)` on the right.  Without mean zero, or with
eps > 0, it is only a bound; the right statement has the two missing terms.

The appendix prints :math:`\alpha_{ij}^2` where Theorem 3.1 and the last line (7) of its own proof
have :math:`\frac1m\alpha_{ij}^2`: a slip, since :math:`m = 2, x = y = (1, -1)` gives 0 on the left
and :math:`2 - 4` on the right.  (6) takes the squared norm of yhat for m, which it is only at eps =
0.
"""

from theory.claim import Form
from theory.language.expression import Expression, Says, equal
from theory.language.operations import average, dot, norm2
from theory.santurkar2018.chosen import with_hints
from theory.santurkar2018.letters import EPS, UNIT
from theory.santurkar2018.texts import ONE_TEXT, lines_of, readings_of, version_1
from theory.santurkar2018.version_1.letters import OUTPUT_SLOPE, SLOPE, X_I_CENTRED, corr, x_i
from theory.statement import PROVED, REFUTED
from theory.unit import eps, m, sigma, variance, y, yhat

CENTRED_INPUT = (X_I_CENTRED,)
SETUP = "That inputs have mean zero the text says at Lemma 3.3, as the setup of Theorem 3.2."
"""A remark on statements that need it, and do not say it themselves."""
ALPHA = dot(x_i, yhat)
ALPHAS = {
    "as-defined": (dot(x_i, y), "as it is defined"),
    "as-used": (ALPHA, "as the proofs use it"),
    "correlation": (corr(x_i, y), "a correlation coefficient"),
}
VARIANCE = variance(x_i)


sensitivity = readings_of(
    "S-v1-thm-3.1",
    (
        version_1(155, "Sect. 3.3, Theorem 3.1", r"m^{-1} \alpha_{ij}^2"),
        version_1(159, "Sect. 3.3, after Theorem 3.1", "is the correlation between"),
    ),
    "an output's sensitivity to a weight, α ",
    hypotheses=CENTRED_INPUT, expected=REFUTED, corrected_by="S-v1-thm-3.1/as-used",
)  # fmt: skip


def smaller_by(alpha: Expression) -> Says:
    """Return the theorem with an alpha."""
    return equal(norm2(SLOPE), 1 / sigma**2 * (norm2(OUTPUT_SLOPE) - 1 / m * alpha**2))


DEFINED, CORRELATED = (
    sensitivity(f"/{name}", smaller_by(ALPHAS[name][0]), ALPHAS[name][1])
    for name in ("as-defined", "correlation")
)
USED = sensitivity(
    "/as-used", smaller_by(ALPHA), "as the proofs use it",
    form=Form.PRINTED, expected=PROVED, corrected_by=None, remark=SETUP,
)  # fmt: skip
SHARED = USED.under(EPS, REFUTED, remark="It holds as an upper bound.")
RIGHT = SHARED.corrected(
    says=equal(
        norm2(SLOPE),
        1 / sigma**2
        * (norm2(x_i) - m * average(x_i) ** 2 - (1 + eps / sigma**2) * (1 / m) * ALPHA**2),
    ),
    hypotheses=(),
    title="an output's sensitivity to a weight, any mean and epsilon",
)  # fmt: skip
THEOREM = [
    USED,
    DEFINED,
    CORRELATED,
    sensitivity(
        "/any-mean", USED.says, "as used, inputs of any mean",
        form=Form.BOUNDARY, hypotheses=(), corrected_by="S-v1-thm-3.1/as-used/eps/corrected",
        remark="Sect. 3.3 says that it assumes no whitening of the inputs; Lemma 3.3 gives 0-mean"
        " input as the setup. For inputs of any mean ‖x_i‖² is to be replaced by mσ(x_i)².",
    ),
    SHARED,
    USED.under(UNIT, REFUTED, because=None, corrected_by=RIGHT.id),
    RIGHT,
    USED.sharpened(
        "reduction", title="an output's sensitivity to a weight, by a correlation coefficient",
        says=equal(norm2(SLOPE), m * VARIANCE / sigma**2 * (1 - corr(x_i, y) ** 2)),
        hypotheses=(),
        remark="So for inputs of mean zero the layer lowers the sensitivity exactly where σ(y)² > 1"
        " - corr²; σ(y) > 1 is enough.",
    ),
]  # fmt: skip


first_half = readings_of(
    "S-v1-thm-C3-vanilla",
    (version_1(396, "App. C, Theorem C.3, first half", r"= m\sigma(x_i)^2"),),
    "an output's sensitivity without BatchNorm",
    result="S-v1-thm-C3",
)
second_half = readings_of(
    "S-v1-thm-C3",
    (version_1(396, "App. C, Theorem C.3, second half", r"m\sigma(x_i)^2 - \alpha_{ij}^2"),),
    "an output's sensitivity as the appendix displays it, α ",
    hypotheses=CENTRED_INPUT, expected=REFUTED, corrected_by="S-v1-eq-7",
)  # fmt: skip
SECOND = {
    name: second_half(
        f"/{name}", equal(norm2(SLOPE), 1 / sigma**2 * (m * VARIANCE - a**2)), words,
        form=Form.PRINTED if name == "as-used" else Form.READING,
        remark=f"Theorem 3.1 and line (7) of the proof have α²/m. {ONE_TEXT}"
        if name == "as-used" else "",
    )
    for name, (a, words) in ALPHAS.items()
}  # fmt: skip
APPENDIX = [
    FIRST := first_half(
        "", equal(norm2(OUTPUT_SLOPE), m * VARIANCE), "",
        form=Form.PRINTED, hypotheses=CENTRED_INPUT, remark=SETUP,
    ),
    FIRST_ANY_MEAN := first_half(
        "/any-mean", FIRST.says, ", inputs of any mean",
        form=Form.BOUNDARY, expected=REFUTED,
    ),
    FIRST_ANY_MEAN.corrected(
        says=equal(norm2(OUTPUT_SLOPE), m * VARIANCE + m * average(x_i) ** 2),
        title="an output's sensitivity without BatchNorm, any mean",
    ),
    SECOND["as-used"],
    SECOND["as-defined"],
    SECOND["correlation"],
    SECOND["as-used"].under(EPS, REFUTED, corrected_by=RIGHT.id),
]  # fmt: skip

line = lines_of("App. C, proof of Theorem C.3", "S-v1-steps", hypotheses=CENTRED_INPUT)
EXPANDED = norm2(x_i) - 2 / m * ALPHA * dot(yhat, x_i) + 1 / m**2 * ALPHA**2 * norm2(yhat)
PUT_IN = m * VARIANCE - 2 / m * ALPHA**2 + 1 / m**2 * ALPHA**2 * m
PROOF = [
    line(
        "S-v1-eq-3", (402, r"\right)^2 = \sum_{b=1}^{m} \left( x_i^{(b)} \right)^2"),
        equal(norm2(SLOPE), m * VARIANCE),
        "an output's sensitivity without BatchNorm, with a hat too many",
        expected=REFUTED, corrected_by=FIRST.id, remark=ONE_TEXT,
    ),
    FOUR := line(
        "S-v1-eq-4", (407, r"\frac{m x_{i}^{(b)} - \alpha_{ij} \hat{y}_{j}^{(b)}}{m \sigma_{j}}"),
        equal(norm2(SLOPE), norm2((m * x_i - ALPHA * yhat) / (m * sigma))),
        "an output's sensitivity, Fact C.2 put in",
    ),
    FOUR.under(EPS, PROVED),
    line(
        "S-v1-eq-4/as-defined", (407, FOUR.locations[0].quote),
        equal(norm2(SLOPE), norm2((m * x_i - dot(x_i, y) * yhat) / (m * sigma))),
        "an output's sensitivity, Fact C.2 put in, α as it is defined",
        form=Form.READING, expected=REFUTED, corrected_by=FOUR.id,
    ),
    *line(
        "S-v1-eq-5", (410, r"\frac{1}{m} 2\alpha_{ij} \hat{y}_j^{(b)} x_i^{(b)}"),
        equal(norm2(SLOPE), 1 / sigma**2 * EXPANDED),
        "an output's sensitivity, the square expanded",
        remark="The sum extends over all three terms.",
    ).with_epsilon(PROVED),
    SIX := line(
        "S-v1-eq-6", (412, r"m \sigma_{xi}^2 - \frac{2}{m} \alpha_{ij}^2"),
        equal(norm2(SLOPE), 1 / sigma**2 * PUT_IN), "an output's sensitivity, the sums put in",
    ),
    SIX.under(EPS, REFUTED, corrected_by=RIGHT.id),
    SEVEN := line(
        "S-v1-eq-7", (415, r"m\sigma_{xi}^2 - \frac{1}{m}\alpha_{ij}^2"),
        equal(norm2(SLOPE), 1 / sigma**2 * (m * VARIANCE - 1 / m * ALPHA**2)),
        "an output's sensitivity in closed form",
    ),
    SEVEN.under(EPS, REFUTED, corrected_by=RIGHT.id),
]  # fmt: skip

CLAIMS = with_hints([*THEOREM, *APPENDIX, *PROOF])
