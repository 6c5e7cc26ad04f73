r"""After Proposition 7: the gradient that passes through the statistics.

Those of a layer's inputs depend on the layers below only, so nothing changes for the layer's own
weights.  For the layers below it does: where the frozen gradient in an input column is
:math:`g/\sigma`, the one that passes through is

.. math:: \frac1\sigma\Big(g - \bar g\,1 - \tfrac1N\hat y\langle\hat y, g\rangle\Big),

nothing for N = 2.  Here ``H, W, b`` are the layer below and its outputs, without activation, are
normalized; the loss is that of the normalized outputs.
"""

from typing import Any

from theory import batchnorm
from theory.lange2022.literal import means, outputs, variances
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def normalized(layer: Layer, A: Any, statistics_of: Any) -> Any:
    """Return A normalized by the statistics of another batch, or of itself."""
    return (A - means(statistics_of)) / layer.sqrt(variances(statistics_of))


def passing(layer: Layer) -> Any:
    """Return the gradient in the weights below, through the statistics."""

    def loss(W: Any) -> Any:
        A = outputs(layer.H, W, layer.b)
        return layer.loss(normalized(layer, A, A))

    return layer.gradient(loss, layer.W)


def frozen(layer: Layer) -> Sides:
    """Against the gradient with the statistics held fixed."""
    before = outputs(layer.H, layer.W, layer.b)

    def loss(W: Any) -> Any:
        return layer.loss(normalized(layer, outputs(layer.H, W, layer.b), before))

    return Sides(passing(layer), layer.gradient(loss, layer.W))


def projected(layer: Layer) -> Sides:
    """Against Fact C.1."""
    A = outputs(layer.H, layer.W, layer.b)
    g = layer.gradient(layer.loss, batchnorm.normalize(A))
    return Sides(passing(layer), batchnorm.gradient(A, g).T @ layer.H)


SPREAD_OUTPUTS = Hypothesis(
    r"\sigma_{HW^\top} > 0",
    lambda layer: variances(outputs(layer.H, layer.W, layer.b)),
    Relation.MORE_THAN,
    printed=False,
)

FROZEN = MatrixClaim(
    id="L-prop-7/through-statistics",
    row="L-prop-7",
    locations=at(268, "Sect. 3.4, after Prop. 7", "passing gradients through the mini-batch"),
    statement=r"\nabla_W\mathcal L\Big(\frac{a-\mu_A}{\sigma_A}\Big) ="
    r" \nabla_W\mathcal L\Big(\frac{a-\mu_A}{\sigma_A}\Big)\Big|_{\mu_A,\,\sigma_A\text{ fixed}},"
    r"\quad A = HW^\top + e b^\top",
    sides=frozen,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    hypotheses=(SPREAD_OUTPUTS,),
    expected=Verdict.REFUTED,
    falsified_by="one batch for which the layer below the normalization gets another gradient",
    remark="The text does not claim it: it leaves the case out of Prop. 7. For the weights of the"
    " layer itself both gradients are the same, since the statistics do not depend on them.",
)

CLAIMS = [
    FROZEN,
    FROZEN.corrected(
        sides=projected, falsified_by="", remark="",
        statement=r"\nabla_W\mathcal L\Big(\frac{a-\mu_A}{\sigma_A}\Big) = \sum_j\frac1{\sigma_A}"
        r"\Big(g_j - \bar g - \frac1N\hat y_j\langle\hat y, g\rangle\Big)h_j^\top",
    ),
]  # fmt: skip
