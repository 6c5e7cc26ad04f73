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

With g groups GN is unchanged when the rows of every group have a factor: LN (g = 1) allows one
factor, and normalization of every number by itself (g = n) one for each row.

So that LN has at least two outputs to normalize over, the layer's numbers ``H`` are its weights
here, and ``W`` its inputs; where BN is examined they are what they are elsewhere.
"""

from collections.abc import Iterator
from typing import Any

from array_api_compat import array_namespace

from theory import batchnorm
from theory.arithmetic import sqrt
from theory.lange2022.texts import of_layers
from theory.language.expression import Expression, Letter, Operation, Says, Sort, along, equal
from theory.layer import B01, B01_eps, H, W, first_times, transpose, unit, variance
from theory.matrix_claim import Kind
from theory.statement import Form, Hypothesis, Reading, Verdict, assume

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


def _groups(A: Any) -> Iterator[list[Any]]:
    """Yield the groups of columns, for every size that divides their number, but for one."""
    n = A.shape[1]
    for size in (size for size in range(2, n + 1) if n % size == 0):
        yield [A[:, i : i + size] for i in range(0, n, size)]


def _by_groups(A: Any, factor: Any) -> Any:
    """Normalize by groups of columns, for every number of groups, the first one times a factor."""
    found = []
    for first, *others in _groups(A):
        found += [B01.meaning(group.T).T for group in (factor * first, *others)]
    if not found:
        raise ZeroDivisionError("one output alone has no variance to divide by")
    return array_namespace(A).concat(found, axis=1)


def _group_variances(A: Any) -> Any:
    found = [variance.meaning(group.T) for groups in _groups(A) for group in groups]
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
    return equal(along(output, c, unit), 0)


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

section_3_5 = of_layers("Sect. 3.5", "L-LN-GN", expected=Verdict.REFUTED)
QUOTE = "They have the same weight and scale invariant properties as BN"

SAME = section_3_5(
    "", 274, QUOTE, "a factor for one row of the weights",
    equal(LN(ROWS), LN(outputs)),
    hypotheses=(LAYER_SPREAD, spread("every example, after", transpose(ROWS))),
    falsified_by="one layer and a factor for one row of its weights, which BN does not see",
)  # fmt: skip
BY_EXAMPLES = section_3_5(
    "/examples", 274, QUOTE, "a factor for one example",
    equal(BN(EXAMPLES), BN(H @ transpose(W))),
    hypotheses=(BATCH_SPREAD, spread("every output, after", EXAMPLES)),
    falsified_by="one batch and a factor for one example, which LN does not see",
)  # fmt: skip
WITH_EPSILON = section_3_5(
    "/eps", 274, QUOTE, "one factor for all weights, with an epsilon",
    equal(LN_eps(c * outputs, eps), LN_eps(outputs, eps)), reading=Reading.SHARED_EPSILON,
    falsified_by="one layer and one factor, with an epsilon as implementations have it",
    form=Form.READING,
)  # fmt: skip

CLAIMS = [
    SAME,
    SAME.corrected(
        "whole-matrix", title="one factor for all weights",
        says=unchanged(LN(inputs @ transpose(c * weights))),
        hypotheses=(LAYER_SPREAD,), falsified_by="",
    ),
    SAME.corrected(
        "of-BN", says=unchanged(BN(H @ transpose(first_times(W, c)))),
        hypotheses=(BATCH_SPREAD,), falsified_by="",
    ),
    BY_EXAMPLES,
    BY_EXAMPLES.corrected(
        "of-LN", says=unchanged(LN(first_times(inputs, c) @ transpose(weights))),
        hypotheses=(LAYER_SPREAD,), falsified_by="",
    ),
    SAME.sharpened(
        "every-group", title="a factor for one group of rows, for every number of groups",
        says=unchanged(GN(outputs, c)), hypotheses=(GROUPS_SPREAD,), falsified_by="",
        remark="LN, one group, allows one factor; one for every row needs a group for each, and"
        " the statistics of one number are none. With more than one number in a group.",
    ),
    BY_EXAMPLES.sharpened(
        "every-group", title="a factor for one example, for every number of groups",
        says=unchanged(GN_OF_ALL(first_times(inputs, c) @ transpose(weights))),
        hypotheses=(GROUPS_SPREAD,), falsified_by="",
    ),
    WITH_EPSILON,
    WITH_EPSILON.corrected(
        says=equal(LN_eps(c * outputs, eps), LN_eps(outputs, eps / c**2)), falsified_by=""
    ),
    section_3_5(
        "/one-group", 272, "Note GN becomes LN", "the statistics of one group",
        equal(GN_1(h, eps_of_maps), LN_maps(h, eps_of_maps)),
        subject=Kind.MAPS, reading=Reading.SHARED_EPSILON, expected=Verdict.PROVED,
        remark="The statistics; re-scaling and re-centring are one for each channel in GN, and one"
        " for each number in LN.",
    ),
]  # fmt: skip
