r"""Sect. 3.5: which invariances Layer and Group Normalization share with Batch Normalization.

BN normalizes each output over the examples, LN each example over the outputs.  Both are unchanged
when one positive factor multiplies the weights W as a whole.  BN is unchanged, too, when every row
of W has a factor of its own, and LN is not: outputs (1, 2) become (-1, 1) under LN, and (4, 2),
their first row four times as large, (1, -1).  LN is unchanged when every example has a factor of
its own, and BN is not.  With an epsilon nothing is unchanged; a factor c of the outputs is then a
factor :math:`1/c^2` of epsilon.

The invariances are shown as derivatives in a positive factor, which vanish at every factor.

GN with one group has the statistics of LN over channels, rows and columns.  Its re-scaling is one
for each channel and LN's one for each number, so as trained layers they differ.

So that LN has at least two outputs to normalize over, ``H`` is here the weights of the layer, (N
outputs, n inputs), and ``W`` the inputs of the examples.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace

from theory import batchnorm
from theory.lange2022.literal import means, variances
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, Maps, MatrixClaim
from theory.statement import Hypothesis, Reading, Relation, Sides, Verdict


def layer_norm(layer: Layer, A: Any, eps: Any = 0) -> Any:
    """Normalize every example, a row of A, over its outputs."""
    return batch_norm(layer, A.T, eps).T


def batch_norm(layer: Layer, A: Any, eps: Any = 0) -> Any:
    """Normalize every output, a column of A, over the examples."""
    return (A - means(A)) / layer.sqrt(variances(A) + eps)


def first_times(A: Any, factor: Any) -> Any:
    """Return A with its first row multiplied by a factor."""
    return array_namespace(A).concat([factor * A[:1, :], A[1:, :]], axis=0)


def unchanged(layer: Layer, output: Callable[[Any], Any]) -> Sides:
    """The derivative of an output in a factor, at any positive factor, and zero."""
    slope = layer.derivative(output, layer.q, 0 * layer.q + 1)
    return Sides(slope, 0 * output(layer.q))


def whole(layer: Layer) -> Sides:
    """LN, one factor for all weights."""
    return unchanged(layer, lambda c: layer_norm(layer, layer.W @ (c * layer.H).T))


def by_rows(layer: Layer) -> Sides:
    """LN, a factor for the first row of the weights."""
    outputs = layer.W @ first_times(layer.H, layer.q).T
    return Sides(layer_norm(layer, outputs), layer_norm(layer, layer.W @ layer.H.T))


def whole_with_epsilon(layer: Layer) -> Sides:
    """LN, one factor for all weights, and epsilon."""
    outputs, eps = layer.W @ layer.H.T, layer.step
    return Sides(layer_norm(layer, layer.q * outputs, eps), layer_norm(layer, outputs, eps))


def epsilon_by_factor(layer: Layer) -> Sides:
    """The same with the epsilon that goes with the factor."""
    outputs, eps = layer.W @ layer.H.T, layer.step
    return Sides(
        layer_norm(layer, layer.q * outputs, eps),
        layer_norm(layer, outputs, eps / (layer.q * layer.q)),
    )


def batch_by_rows(layer: Layer) -> Sides:
    """BN, a factor for the first row of the weights; here H is the inputs."""
    return unchanged(layer, lambda c: batch_norm(layer, layer.H @ first_times(layer.W, c).T))


def batch_by_examples(layer: Layer) -> Sides:
    """BN, a factor for the first example; here H is the inputs."""
    outputs = first_times(layer.H, layer.q) @ layer.W.T
    return Sides(batch_norm(layer, outputs), batch_norm(layer, layer.H @ layer.W.T))


def layer_by_examples(layer: Layer) -> Sides:
    """LN, a factor for the first example."""
    return unchanged(layer, lambda c: layer_norm(layer, first_times(layer.W, c) @ layer.H.T))


def one_group(maps: Maps) -> Sides:
    """GN with the channels in one group, by sums, against LN as normalization by one unit.

    The examples stand for channels, and the channels for examples.
    """
    h = array_namespace(maps.h).permute_dims(maps.h, (1, 0, 2, 3))
    N, c, r, s = h.shape
    groups = h.reshape(N, 1, c, r * s)
    mean = groups.sum(3).sum(2)[:, :, None, None] / (c * r * s)
    squares = (groups - mean) * (groups - mean)
    deviation = maps.sqrt(squares.sum(3).sum(2)[:, :, None, None] / (c * r * s) + maps.q)
    grouped = ((groups - mean) / deviation).reshape(N, c, r, s)
    return Sides(grouped, batchnorm.normalize(h, maps.q, axis=(1, 2, 3)))


def spread(name: str, outputs: Any) -> Hypothesis:
    """Return the condition that what is normalized is not constant."""
    return Hypothesis(
        rf"\sigma > 0\text{{ for {name}}}",
        lambda layer: variances(outputs(layer)),
        Relation.MORE_THAN,
        printed=False,
    )


LAYER_SPREAD = spread("every example", lambda layer: layer.H @ layer.W.T)
ROWS_SPREAD = spread(
    "every example, after", lambda layer: first_times(layer.H, layer.q) @ layer.W.T
)
BATCH_SPREAD = spread("every output", lambda layer: layer.H @ layer.W.T)
EXAMPLES_SPREAD = spread(
    "every output, after", lambda layer: first_times(layer.H, layer.q) @ layer.W.T
)

SAME = MatrixClaim(
    id="L-LN-GN",
    row="L-LN-GN",
    locations=at(
        274, "Sect. 3.5", "They have the same weight and scale invariant properties as BN"
    ),
    statement=r"LN(\operatorname{diag}(c)\,W h) = LN(W h),\quad c > 0\text{, as for BN}",
    sides=by_rows,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    hypotheses=(LAYER_SPREAD, ROWS_SPREAD),
    expected=Verdict.REFUTED,
    falsified_by="one layer and a factor for one row of its weights, which BN does not see",
)

EXAMPLES = dataclasses.replace(
    SAME,
    id="L-LN-GN/examples",
    statement=r"BN(C H W^\top) = BN(H W^\top),\quad C\text{ diagonal}, C > 0\text{, as for LN}",
    sides=batch_by_examples,
    hypotheses=(BATCH_SPREAD, EXAMPLES_SPREAD),
    falsified_by="one batch and a factor for one example, which LN does not see",
)

WITH_EPSILON = dataclasses.replace(
    SAME,
    id="L-LN-GN/eps",
    statement=r"LN(c\,W h) = LN(W h),\quad c > 0\text{ a number}",
    sides=whole_with_epsilon,
    hypotheses=(),
    reading=Reading.SHARED_EPSILON,
    falsified_by="one layer and one factor, with an epsilon as implementations have it",
)

ONE_GROUP = MatrixClaim(
    id="L-LN-GN/one-group",
    row="L-LN-GN",
    locations=at(272, "Sect. 3.5", "Note GN becomes LN"),
    statement=r"\text{GN with one group: }(h - \mu)/\sqrt{\sigma^2+\epsilon},\quad \mu, \sigma^2"
    r"\text{ over channels, rows and columns}",
    sides=one_group,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    reading=Reading.SHARED_EPSILON,
    expected=Verdict.PROVED,
    remark="The statistics; re-scaling and re-centring are one for each channel in GN, and one for"
    " each number in LN.",
)

CLAIMS = [
    SAME,
    SAME.corrected(
        "whole-matrix", sides=whole, hypotheses=(LAYER_SPREAD,), falsified_by="",
        statement=r"\frac{d}{dc} LN(c\,W h) = 0,\quad c > 0\text{ a number, as for BN}",
    ),
    SAME.corrected(
        "of-BN", sides=batch_by_rows, hypotheses=(BATCH_SPREAD,), falsified_by="",
        statement=r"\frac{\partial}{\partial c_i} BN(\operatorname{diag}(c)\,W h) = 0,\quad c > 0",
    ),
    EXAMPLES,
    EXAMPLES.corrected(
        "of-LN", sides=layer_by_examples, hypotheses=(LAYER_SPREAD,), falsified_by="",
        statement=r"\frac{d}{dc} LN(c\,W h) = 0,\quad c > 0\text{, another for every example}",
    ),
    WITH_EPSILON,
    WITH_EPSILON.corrected(
        sides=epsilon_by_factor, falsified_by="",
        statement=r"LN_\epsilon(c\,W h) = LN_{\epsilon/c^2}(W h),\quad c > 0",
    ),
    ONE_GROUP,
]  # fmt: skip
