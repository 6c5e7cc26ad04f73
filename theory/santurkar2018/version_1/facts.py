r"""Facts C.1 and C.2 of the first version: the gradient, the Jacobian, the slope by a weight.

Fact C.1 is unreadable; the last version has the lost tail.

Equation (2) of Fact C.2, the slope by a weight, falls with alpha as defined,
:math:`\langle x, z\rangle`: :math:`m = 2, x = (1, -1), z = 2x` has 0 on the left and
:math:`\frac12(1 - 2)x` on the right.  With :math:`\alpha = \langle x, \hat y\rangle` it needs x of
mean zero, as the text has it in Lemma 3.3.  What holds always subtracts the mean of x.
"""

from dataclasses import replace

from theory.claim import Claim, Form
from theory.language.expression import along, equal, named
from theory.language.operations import average, dot
from theory.santurkar2018.chosen import with_hints
from theory.santurkar2018.texts import readings_of, version_1
from theory.santurkar2018.version_1.letters import SLOPE, X_I_CENTRED, bracket, corr, g, x_i
from theory.statement import PROVED, REFUTED, UNREADABLE
from theory.unit import grad, m, normalize, one, sigma, u, y, yhat

REPAIRED = Claim(
    id="S-v1-fact-C1/repaired",
    title="the gradient through BatchNorm, with the sum that the text at hand lacks",
    locations=(version_1(380, "App. C, Fact C.1", r"\frac{\partial f}{\partial x^{(k)}} - f"),),
    says=equal(grad, 1 / (m * sigma) * (m * g - dot(one, g) * one - dot(g, yhat) * yhat)),
    form=Form.CORRECTED, amends="S-v1-fact-C1", expected=PROVED,
)  # fmt: skip


slope = readings_of(
    "S-v1-fact-C2-eq-2",
    (
        version_1(390, "App. C, eq. (2)", r"x_i^{(b)} - \frac{\alpha_{ij}}{m} y_j^{(b)}"),
        version_1(362, "App. C, definition of alpha", r"\sum_{b=1}^{m} x_i^{(b)} z_j^{(b)}"),
    ),
    "the slope of an output by a weight, α ",
    hypotheses=(X_I_CENTRED,), result="S-v1-fact-C2",
)  # fmt: skip
USED = slope("/as-used", equal(SLOPE, 1 / sigma * bracket(x_i)), "as the proofs use it")
ANY_MEAN = slope(
    "/any-mean", USED.says, "as used, inputs of any mean",
    form=Form.BOUNDARY, hypotheses=(), expected=REFUTED,
)  # fmt: skip
RIGHT = ANY_MEAN.corrected(
    says=equal(SLOPE, 1 / sigma * (x_i - average(x_i) * one - dot(x_i, yhat) / m * yhat)),
    title="the slope of an output by a weight",
)

CLAIMS = with_hints([
    replace(
        REPAIRED, id="S-v1-fact-C1", title="the gradient through BatchNorm",
        says=None,
        display=r"\frac{1}{m\sigma_x}\Big(m\frac{\partial f}{\partial x^{(b)}}"
        r" - \sum_k\frac{\partial f}{\partial x^{(k)}} - f\Big)",
        form=Form.PRINTED, amends=None, expected=UNREADABLE,
        in_words="It is no equation.",
        unreadable="The display has no left side and ends in '- f', where a sum is due; its"
        " variables are not those of the text around it.",
    ),
    *REPAIRED.with_epsilon(PROVED),
    *Claim(
        id="S-v1-fact-C2-eq-1", title="the normalised outputs' Jacobian",
        locations=(
            version_1(386, "App. C, eq. (1)", r"\frac{1}{m} - \frac{1}{m} y^{(b)} y^{(k)}"),
        ),
        says=equal(
            named(r"\frac{\partial\hat y}{\partial z} u", along(normalize(y), y, u)),
            1 / sigma * (u - dot(one, u) / m * one - dot(yhat, u) / m * yhat),
        ),
        result="S-v1-fact-C2", expected=PROVED,
        remark="The text's restriction to batches of mean zero is not needed.",
    ).with_epsilon(PROVED, REFUTED),
    slope(
        "/as-defined", equal(SLOPE, 1 / sigma * (x_i - dot(x_i, y) / m * yhat)), "as defined",
        form=Form.PRINTED, expected=REFUTED, corrected_by=RIGHT.id,
    ),
    *USED.with_epsilon(PROVED, REFUTED),
    slope(
        "/correlation", equal(SLOPE, 1 / sigma * (x_i - corr(x_i, y) / m * yhat)),
        "a correlation coefficient", expected=REFUTED, corrected_by=RIGHT.id,
    ),
    ANY_MEAN,
    *RIGHT.with_epsilon(PROVED),
])  # fmt: skip
