r"""Sect. 3.5: which invariances Layer and Group Normalization share with Batch Normalization.

BN normalizes each output over the examples, LN each example over the outputs.  Both are unchanged
when one positive factor multiplies the weights W as a whole.  BN is unchanged, too, when every row
of W has a factor of its own, and LN is not: outputs (1, 2) become (-1, 1) under LN, and (4, 2),
their first row four times as large, (1, -1).  LN is unchanged when every example has a factor of
its own, and BN is not.  With an epsilon nothing is unchanged; a factor c of the outputs is then a
factor :math:`1/c^2` of epsilon.

The invariances are shown as derivatives in a positive factor, which vanish at every factor.

So that LN has at least two outputs to normalize over, the layer's numbers ``H`` are its weights
here, and ``W`` its inputs; where BN is examined they are what they are elsewhere.
"""

from collections.abc import Iterator
from typing import Any

from array_api_compat import array_namespace

from theory import batchnorm
from theory.arithmetic import sqrt
from theory.lange2022.chosen import layer_of
from theory.lange2022.texts import of_layers
from theory.language.arrays import transpose
from theory.language.expression import (
    Expression,
    Letter,
    Operation,
    Primitive,
    Says,
    Sort,
    along,
    equal,
    gradient,
    named,
    number,
)
from theory.language.letters import vector_of
from theory.layer import B01, B01_eps, H, W, diag_times, entrywise, first_times, squares, variance
from theory.matrix_claim import Kind
from theory.statement import PROVED, REFUTED, Form, Hypothesis, Reading, assume

_N, _M, _MAPS = Sort.NUMBER, Sort.MATRIX, Sort.MAPS

weights = Letter("W", "W", _M, lambda layer: layer.H)
inputs = Letter("H", "H", _M, lambda layer: layer.W)
c = Letter("c", "c", _N, lambda layer: layer.q, "c > 0")
eps = Letter("eps", r"\epsilon", _N, lambda layer: layer.step, r"\epsilon > 0")
h = Letter("h", "h", _MAPS, lambda maps: array_namespace(maps.h).permute_dims(maps.h, (1, 0, 2, 3)))
"""Maps of which the examples stand for channels, and the channels for examples."""
eps_of_maps = Letter("eps", r"\epsilon", _N, lambda maps: maps.q, r"\epsilon > 0")
outputs = inputs @ transpose(weights)


def _group_norm(maps: Any, epsilon: Any) -> Any:
    N, c, r, s = maps.shape
    groups = maps.reshape(N, 1, c, r * s)
    mean = groups.sum(3).sum(2)[:, :, None, None] / (c * r * s)
    squares = (groups - mean) * (groups - mean)
    deviation = sqrt(squares.sum(3).sum(2)[:, :, None, None] / (c * r * s) + epsilon)
    return ((groups - mean) / deviation).reshape(N, c, r, s)


def _sizes(A: Any) -> list[int]:
    """Return the sizes of equal groups of rows; a group of one is never normalised."""
    rows = A.shape[0]
    return [size for size in range(2, rows + 1) if rows % size == 0]


def _in_groups(A: Any, size: int, function: Any) -> Any:
    """Apply a function of columns to each group of so many rows."""
    xp, groups, width = array_namespace(A), A.shape[0] // size, A.shape[1]
    side_by_side = xp.permute_dims(A.reshape(groups, size, width), (1, 0, 2))
    found = function(side_by_side.reshape(size, groups * width))
    return xp.permute_dims(found.reshape(-1, groups, width), (1, 0, 2)).reshape(-1, width)


def _by_groups(A: Any, factor: Any) -> Any:
    """Normalize by groups of columns, for every number of groups, the first one times a factor."""
    xp, found = array_namespace(A), []
    for size in _sizes(A.T):
        scaled = xp.concat([factor * A[:, :size], A[:, size:]], axis=1)
        found.append(_in_groups(scaled.T, size, B01.meaning).T)
    if not found:
        raise ZeroDivisionError("one output alone has no variance to divide by")
    return xp.concat(found, axis=1)


def _group_variances(A: Any) -> Any:
    found = [
        _in_groups(A.T, size, lambda group: variance.meaning(group)[None, :]).reshape(-1)
        for size in _sizes(A.T)
    ]
    return array_namespace(A).concat([*found, 0 * A[:, 0] + (1 if found else 0)])


LN = Operation("LN", lambda A: B01.meaning(A.T).T, r"\mathrm{{LN}}({0})", gives=_M, takes=(_M,))
LN_eps = Operation(
    "LN", lambda A, epsilon: B01_eps.meaning(A.T, epsilon).T, r"\mathrm{{LN}}_{{{1}}}({0})",
    gives=_M, takes=(_M, _N),
)  # fmt: skip
BN = Operation("BN", B01.meaning, r"\mathrm{{BN}}({0})", gives=_M, takes=(_M,))
GN_1 = Operation(
    "GN", _group_norm, r"\mathrm{{GN}}_{{1 \text{{ group}}}}({0};\ {1})",
    gives=_MAPS, takes=(_MAPS, _N),
)  # fmt: skip
LN_maps = Operation(
    "LN", lambda maps, epsilon: batchnorm.normalize(maps, epsilon, axis=(1, 2, 3)),
    r"\mathrm{{LN}}({0};\ {1})", gives=_MAPS, takes=(_MAPS, _N),
)  # fmt: skip
group_variances = Operation(
    "variances of groups", _group_variances, r"\sigma_{{g,{0}}}^2", gives=Sort.VECTOR, takes=(_M,)
)
GN = Operation(
    "GN", _by_groups,
    r"\mathrm{{GN}}_g({0:product} \operatorname{{diag}}({1}, \dots, {1}, 1, \dots, 1))",
    gives=_M, takes=(_M, _N),
)  # fmt: skip
"""GN without epsilon for every g that divides the number of outputs, of a first group scaled."""
GN_OF_ALL = Operation(
    "GN", lambda A: _by_groups(A, 1), r"\mathrm{{GN}}_g({0})", gives=_M, takes=(_M,)
)


def unchanged(output: Expression) -> Says:
    """Say that an output does not change with the factor c, whatever c is."""
    return equal(along(output, c, number(1)), 0)


def spread(name: str, of: Expression) -> Hypothesis:
    """Return the condition that what is normalized is not constant."""
    return assume(variance(of) > 0, printed=False, words=rf"\sigma > 0\text{{ for {name}}}")


ROWS = inputs @ transpose(first_times(weights, c))
EXAMPLES = first_times(H, c) @ transpose(W)
GROUPS_SPREAD = assume(
    group_variances(outputs) > 0, printed=False, words=r"\sigma > 0\text{ for every group}"
)
LAYER_SPREAD = spread("every example", transpose(outputs))
BATCH_SPREAD = spread("every output", H @ transpose(W))

SIZES = {"N": "p", "n": "n", "p": "N"}
"""Where the layer's numbers are the weights and its weights the inputs."""
section_3_5 = of_layers("Sect. 3.5", "L-LN-GN", expected=REFUTED, sizes=SIZES)
QUOTE = "They have the same weight and scale invariant properties as BN"


# The identities of the family: an example's inputs are a column here, gamma a vector within.


def _for_every_size(A: Any) -> Any:
    sizes = _sizes(A)
    if not sizes:
        raise ZeroDivisionError("one number alone has no variance to divide by")
    return array_namespace(A).concat([A] * len(sizes), axis=1)


def _blocks(A: Any, layer: Any) -> Iterator[tuple[int, Any]]:
    """Yield the size of groups and the columns in which they have it."""
    width = layer.W.shape[0]
    for i, size in enumerate(_sizes(A)):
        yield size, A[:, i * width : (i + 1) * width]


def _grouped(layer: Any, A: Any, function: Any) -> list[Any]:
    """Apply a function to each group of rows, for every size of the groups."""
    return [_in_groups(block, size, function) for size, block in _blocks(A, layer)]


def _normalized_in_groups(layer: Any, A: Any) -> Any:
    return array_namespace(A).concat(_grouped(layer, A, B01.meaning), axis=1)


def _over_root_mean_square(group: Any) -> Any:
    return group / sqrt((group * group).sum(0) / group.shape[0])


def _rms_in_groups(layer: Any, A: Any) -> Any:
    return array_namespace(A).concat(_grouped(layer, A, _over_root_mean_square), axis=1)


def _group_means(layer: Any, A: Any) -> Any:
    """Return the mean of each group, in one row of numbers."""
    means = _grouped(layer, A, lambda group: group.sum(0)[None, :] / group.shape[0])
    return array_namespace(A).concat([block.reshape(-1) for block in means])


def _inputs(layer: Any) -> Any:
    return layer.H @ layer.W.T + layer.curvature[:, None]


def _slopes(layer: Any) -> Any:
    return _for_every_size(layer.gradient(layer.loss, 0 * _inputs(layer)))


X = Letter("X", "X", _M)
INPUTS = Letter("Y", "Y", _M, lambda layer: _for_every_size(_inputs(layer)))
"""The inputs: one column for each example and each number of groups."""
SLOPES = Letter("G", "G", _M, _slopes)
"""Any gradient of a loss in the layer's outputs, which is all that its first derivative sees."""
gamma = vector_of("gamma", r"\gamma", "curvature")
"""A scale for each input, within the normalisation's output."""
GN_EACH = Primitive("GN", _normalized_in_groups, r"\mathrm{{GN}}_g({0})", gives=_M, takes=(_M,))
RMS_EACH = Primitive("RMS", _rms_in_groups, r"\mathrm{{RMS}}_g({0})", gives=_M, takes=(_M,))
total_of = Operation("sum", lambda A: A.sum(), r"\operatorname{{sum}}({0})", takes=(_M,))
mean_each = Primitive(
    "mean of each group", _group_means, r"\operatorname{{mean}}_g({0})", gives=Sort.VECTOR,
    takes=(_M,),
)  # fmt: skip
"""The mean over each group, for every number of groups."""


def over_groups(A: Expression, B: Expression) -> Expression:
    """Return the mean of the products of entries over each group."""
    return named(r"\langle {0}, {1}\rangle_g", mean_each(entrywise(A, B)), A, B)


INSIDE = named(r"\gamma \odot G", diag_times(gamma, SLOPES))


def through(normalize: Primitive) -> Expression:
    """Return the gradient in the inputs."""
    loss = total_of(entrywise(SLOPES, diag_times(gamma, normalize(X))))
    return named(r"\nabla_Y\hat{\mathcal L}", gradient(loss, X, at=INPUTS))


THROUGH, NORMALIZED = through(GN_EACH), named(r"\hat Y", GN_EACH(INPUTS))
THROUGH_RMS, NORMALIZED_RMS = through(RMS_EACH), named(r"\hat Y", RMS_EACH(INPUTS))
SPREAD_OF_GROUPS = named(r"\sigma_g^2", over_groups(INPUTS, INPUTS) - squares(mean_each(INPUTS)))
MEAN_SQUARES = named(r"\rho_g^2", over_groups(INPUTS, INPUTS))
OF_INPUTS = {"N": "p", "n": "N"}
"""Of batches of inputs, with an example in each column."""

CLAIMS = [
    SAME := section_3_5(
        "", 274, QUOTE, "the invariance of LN to a factor for one row of the weights",
        equal(LN(ROWS), LN(outputs)),
        hypotheses=(LAYER_SPREAD, spread("every example, after", transpose(ROWS))),
        form=Form.READING, attack=(layer_of([[1], [0], [-1]], q=2),),
    ),
    SAME.corrected(
        "whole-matrix", title="the invariance of LN to one factor for all weights",
        says=unchanged(LN(inputs @ transpose(c * weights))),
        hypotheses=(LAYER_SPREAD,),
    ),
    SAME.corrected(
        "of-BN", title="the invariance of BN to a factor for one row of the weights",
        says=unchanged(BN(H @ transpose(first_times(W, c)))),
        hypotheses=(BATCH_SPREAD,), sizes=None,
    ),
    BY_EXAMPLES := section_3_5(
        "/examples", 274, QUOTE, "the invariance of BN to a factor for one example",
        equal(BN(EXAMPLES), BN(H @ transpose(W))),
        hypotheses=(BATCH_SPREAD, spread("every output, after", EXAMPLES)), form=Form.READING,
        attack=(layer_of([[1], [0], [-1]], q=2),), sizes=None,
    ),
    BY_EXAMPLES.corrected(
        "of-LN", title="the invariance of LN to a factor for one example",
        says=unchanged(LN(first_times(inputs, c) @ transpose(weights))),
        hypotheses=(LAYER_SPREAD,), sizes=SIZES,
    ),
    SAME.sharpened(
        "every-group", title="the invariance of GN to a factor for one group of rows, for every"
        " number of groups of more than one row",
        says=unchanged(GN(outputs, c)), hypotheses=(GROUPS_SPREAD,),
        remark="LN is the case of one group. In a dense layer a factor for each row would need a"
        " group for each row, which has one number and no deviation; each group here has more than"
        " one. In a convolution a group of one channel would do.",
    ),
    BY_EXAMPLES.sharpened(
        "every-group", title="the invariance of GN to a factor for one example, for every number of"
        " groups of more than one output",
        says=unchanged(GN_OF_ALL(first_times(inputs, c) @ transpose(weights))),
        hypotheses=(GROUPS_SPREAD,), sizes=SIZES,
    ),
    WITH_EPSILON := section_3_5(
        "/eps", 274, QUOTE, "the invariance of LN to one factor for all weights, with an epsilon",
        equal(LN_eps(c * outputs, eps), LN_eps(outputs, eps)), reading=Reading.SHARED_EPSILON,
        form=Form.READING,
    ),
    WITH_EPSILON.corrected(says=equal(LN_eps(c * outputs, eps), LN_eps(outputs, eps / c**2))),
    SAME.sharpened(
        "gradient-every-group",
        title="Theorem 4.1 of Santurkar et al. for every number of groups of more than one input",
        says=equal(
            entrywise(SPREAD_OF_GROUPS, over_groups(THROUGH, THROUGH)),
            over_groups(INSIDE, INSIDE)
            - squares(mean_each(INSIDE))
            - squares(over_groups(INSIDE, NORMALIZED)),
        ),
        hypotheses=(assume(SPREAD_OF_GROUPS > 0, printed=False),), sizes=OF_INPUTS,
        remark="LN is the case of one group, instance normalisation that of a group for each"
        " channel. γ stands inside the sums: what loses its mean and its part along the normalised"
        " inputs is the gradient in these, γ times that in the outputs.",
    ),
    SAME.sharpened(
        "gradient-rms",
        title="Theorem 4.1 of Santurkar et al. for RMS normalisation, which keeps the mean",
        says=equal(
            entrywise(MEAN_SQUARES, over_groups(THROUGH_RMS, THROUGH_RMS)),
            over_groups(INSIDE, INSIDE) - squares(over_groups(INSIDE, NORMALIZED_RMS)),
        ),
        hypotheses=(assume(MEAN_SQUARES > 0, printed=False),), sizes=OF_INPUTS,
    ),
    section_3_5(
        "/one-group", 272, "Note GN becomes LN", "the statistics of GN with one group",
        equal(GN_1(h, eps_of_maps), LN_maps(h, eps_of_maps)),
        subject=Kind.MAPS, reading=Reading.SHARED_EPSILON, expected=PROVED,
        sizes={"N": "c", "c": "N", "r": "r", "s": "s"},
        remark="Only the statistics are the same: re-scaling and re-centring are one for each"
        " channel in GN, and one for each number in LN.",
    ),
]  # fmt: skip
