r"""The proof of Proposition 2, (27): the gradient in one unit's bias and weights.

.. math:: \nabla_{\hat w}\mathcal L = \frac1N\sum_{j=1}^N L'(\hat w^\top\hat h_j)\,\hat h_j
"""

from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def outputs(layer: Layer, w: Any) -> Any:
    """The layer's outputs, with other bias and weights in the first unit."""
    first = layer.H @ w[1:] + w[0]
    others = layer.H @ layer.W[1:, :].T + layer.b[1:]
    return array_namespace(layer.H).concat([first[:, None], others], axis=1)


def sides(layer: Layer) -> Sides:
    """The derivative of the loss, and the sum over the examples, bias and weights apart."""
    xp = array_namespace(layer.H)
    w = xp.concat([layer.b[:1], layer.W[0, :]])
    slopes = layer.gradient(layer.loss, outputs(layer, w))[:, 0]
    weights = (slopes[:, None] * layer.H).sum(0)
    actual = layer.gradient(lambda v: layer.loss(outputs(layer, v)), w)
    return Sides(actual, xp.concat([xp.sum(slopes, axis=0, keepdims=True), weights]))


CLAIMS = [
    MatrixClaim(
        id="L-steps/27",
        row="L-steps",
        locations=at(549, "App. A, proof of Prop. 2, eq. (27)", r"\widehat{h_{j}}. (27)"),
        statement=r"\nabla_{\hat w}\mathcal L = \frac1N\sum_j L'(\hat w^\top\hat h_j)\,\hat h_j",
        sides=sides,
        subject=Kind.LAYER,
        relation=Relation.EQUAL,
        expected=Verdict.PROVED,
        falsified_by="one layer and loss with another gradient",
        remark="Line 551 differentiates once more: L-prop-2.",
    )
]
