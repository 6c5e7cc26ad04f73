r"""A convolution layer on a batch of maps: the letters and functions of statements about it.

Index convention, the paper's: maps are (example, channel, row, column), places (u, v) of a map are
counted from 1, and a map is zero at every place outside of it.  vec runs through rows first.

A statement with indices is one about numbers, for every value of the indices: its numbers are
families, arrays with an axis for each index.  What a window of the kernel's entry (t, a) meets in
channel p is a family with the axes (p, t, a); what belongs to the channel alone has axes of length
one for t and a.  Indices themselves are whole numbers, never rounded, until :data:`counted` makes
numbers of the subject's arithmetic of them.

Nothing here shares a function with :mod:`theory.convolution`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from theory.arithmetic.constants import numbers
from theory.arithmetic.operations import larger, smaller
from theory.language.arrays import column
from theory.language.expression import (
    Binding,
    EntryByEntry,
    Expression,
    Letter,
    Operation,
    Primitive,
    Sort,
    along,
    named,
)
from theory.language.latex import latex
from theory.language.letters import number_of, vector_of

_N, _V, _M, _MAPS = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX, Sort.MAPS

Place = tuple[int, int]
OUTSIDE: Place = (0, 0)


def gathered(h: Any, places: Iterable[Place]) -> Any:
    """Return every map's entries at some places, ``(N, c, places)``."""
    return _reading(h)(places)


def _reading(h: Any) -> Callable[[Iterable[Place]], Any]:
    """Return :func:`gathered` for these maps, which are laid out once for all places."""
    xp, (N, c, r, s) = array_namespace(h), h.shape
    entries = xp.concat([xp.reshape(h, (N, c, r * s)), 0 * h[:, :, :1, 0]], axis=2)

    def at(places: Iterable[Place]) -> Any:
        inside = ((1 <= u <= r and 1 <= v <= s, (u - 1) * s + v - 1) for u, v in places)
        return entries[:, :, [index if is_inside else r * s for is_inside, index in inside]]

    return at


def convolution(h: Any, w: Any, b: Any) -> Any:
    r"""Return the outputs ``(N, d, r, s)`` as defined before (16).

    .. math:: a(i, j, d) = b_d + \sum_{p,q}
              h\big(i - \tfrac{k+1}2 + p,\; j - \tfrac{k+1}2 + q\big)\, w(p, q)
    """
    xp, (N, c, r, s), (d, _, k, _) = array_namespace(h), h.shape, w.shape
    padded, outputs = _with_border(h, (k - 1) // 2, k // 2), b[:, None]
    for p in range(k):
        for q in range(k):
            met = xp.reshape(padded[:, :, p : p + r, q : q + s], (N, c, r * s))
            outputs = outputs + w[:, :, p, q] @ met
    return xp.reshape(outputs, (N, d, r, s))


def _with_border(h: Any, before: int, after: int) -> Any:
    """Return the maps between rows, and columns, of zeros."""
    xp = array_namespace(h)
    row = 0 * h[:, :, :1, :]
    tall = xp.concat([*[row] * before, h, *[row] * after], axis=2)
    column = 0 * tall[:, :, :, :1]
    return xp.concat([*[column] * before, tall, *[column] * after], axis=3)


def vectorized(maps: Any) -> Any:
    """Return the vec of every map, one below the other: ``(N r s, d)``."""
    xp = array_namespace(maps)
    return xp.reshape(xp.permute_dims(maps, (0, 3, 2, 1)), (-1, maps.shape[1]))


def maps_of(column: Any, h: Any) -> Any:
    """Return the maps, ``(N, 1, r, s)``, of which a column is the :func:`vectorized`."""
    xp, (N, _, r, s) = array_namespace(h), h.shape
    return xp.permute_dims(xp.reshape(column, (N, s, r, 1)), (0, 3, 2, 1))


def stacked_parameters(w: Any, b: Any) -> Any:
    r"""Return :math:`\hat w` of (17), one column for each output: ``(k^2 c + 1, d)``."""
    xp = array_namespace(w)
    omega = xp.reshape(xp.permute_dims(w, (1, 3, 2, 0)), (-1, w.shape[0]))
    return xp.concat([b[None, :], omega], axis=0)


def kernel_of(column: Any, k: int) -> Any:
    r"""Return the weights ``(1, c, k, k)`` of one :math:`\hat w`."""
    xp = array_namespace(column)
    return xp.permute_dims(xp.reshape(column[1:], (1, -1, k, k)), (0, 1, 3, 2))


def block_matrices(h: Any, k: int) -> Any:
    r"""Return :math:`H_p^{(i)}` by the block formula below (16), ``(N, c, r s, k^2)``."""
    (N, c, r, s), m = h.shape, (k - 1) // 2
    places = [
        (1 - m + i + v, u - m + (t - 1))
        for t in range(1, s + 1)
        for i in range(r)
        for u in range(1, k + 1)
        for v in range(k)
    ]
    return array_namespace(h).reshape(gathered(h, places), (N, c, r * s, k * k))


def side_by_side(matrices: Any) -> Any:
    r"""Return :math:`\mathcal H` of (18), from the blocks: the examples one below the other."""
    xp, (N, c, pixels, weights) = array_namespace(matrices), matrices.shape
    return xp.reshape(xp.permute_dims(matrices, (0, 2, 1, 3)), (N * pixels, c * weights))


def beside_ones(matrices: Any) -> Any:
    r"""Return :math:`\hat{\mathcal H} = [e, \mathcal H]` of (18), from the blocks."""
    xp, matrix = array_namespace(matrices), side_by_side(matrices)
    one = xp.ones((matrix.shape[0], 1), dtype=matrix.dtype, device=device(matrix))
    return xp.concat([one, matrix], axis=1)


def _whole(h: Any) -> list[Place]:
    r, s = h.shape[2:]
    return [(u, v) for u in range(1, r + 1) for v in range(1, s + 1)]


def _over_places(h: Any, regions: Any, value: Callable[[Any, list[Place]], Any]) -> Any:
    """Return a number for each channel and region, in an array of the regions' shape.

    Args:
        h: the maps.
        regions: lists of places.
        value: of what reads the maps, and the places of a region.
    """
    xp, at = array_namespace(h), _reading(h)
    found = [value(at, places) for places in regions.ravel()]
    return xp.reshape(xp.stack(found, axis=1), (h.shape[1], *regions.shape))


def windows(first_u: Any, last_u: Any, first_v: Any, last_v: Any) -> Any:
    """Return the places between bounds, a list for every index, with two axes at least."""
    bounds = np.broadcast_arrays(*map(np.atleast_2d, (first_u, last_u, first_v, last_v)))
    regions = np.empty(bounds[0].shape, dtype=object)
    for index in np.ndindex(regions.shape):
        top, bottom, left, right = (_whole_number(b[index]) for b in bounds)
        regions[index] = [(u, v) for u in range(top, bottom + 1) for v in range(left, right + 1)]
    return regions


def _whole_number(value: Any) -> int:
    if value != int(value):
        raise ValueError(f"an index is a whole number, not {value}")
    return int(value)


def _total(at: Any, places: list[Place]) -> Any:
    # With a place outside even the sum over no place is a number of the maps' arithmetic.
    return at([*places, OUTSIDE]).sum(2).sum(0)


def _left_out_of(h: Any, regions: Any) -> Any:
    """Return the places of the map that each window leaves out."""
    left = np.empty(regions.shape, dtype=object)
    for index in np.ndindex(left.shape):
        met = set(regions[index])
        left[index] = [place for place in _whole(h) if place not in met]
    return left


def count_left_out(rows: int, columns: int, *bounds: Any) -> Any:
    """Return how many places of a map of a size each window leaves out, whole numbers."""

    def left(region: list[Place]) -> int:
        kept = [place for place in region if 1 <= place[0] <= rows and 1 <= place[1] <= columns]
        return rows * columns - len(kept)

    return np.vectorize(left, otypes=[int])(windows(*bounds))


def _window_sum(h: Any, *bounds: Any) -> Any:
    return _over_places(h, windows(*bounds), _total)


def _window_squares(h: Any, mean: Any, *bounds: Any) -> Any:
    regions = windows(*bounds)
    means = 0 * _over_places(h, regions, _total) + mean
    each = iter(array_namespace(h).reshape(means, (h.shape[1], -1)).T)

    def squares(at: Any, places: list[Place]) -> Any:
        deviations = at(places) - next(each)[:, None]
        return (deviations * deviations).sum(2).sum(0)

    return _over_places(h, regions, squares)


def _left_out_sum(h: Any, *bounds: Any) -> Any:
    return _over_places(h, _left_out_of(h, windows(*bounds)), _total)


def _average(at: Any, places: list[Place]) -> Any:
    met = at([*places, OUTSIDE])
    return met.sum(2).sum(0) / max(met.shape[0] * len(places), 1)


def _kept_mean(h: Any, *bounds: Any) -> Any:
    inside, regions = set(_whole(h)), windows(*bounds)
    for index in np.ndindex(regions.shape):
        regions[index] = [place for place in regions[index] if place in inside]
    return _over_places(h, regions, _average)


def _left_out_mean(h: Any, *bounds: Any) -> Any:
    return _over_places(h, _left_out_of(h, windows(*bounds)), _average)


def _left_out_square(h: Any, *bounds: Any) -> Any:
    return _left_out_mean(h * h, *bounds)


def _left_out_deviations(h: Any, *bounds: Any) -> Any:
    (places,) = _left_out_of(h, windows(*bounds)).ravel()
    at = _reading(h[:, :1, :, :])
    left = at([*places, OUTSIDE])[:, 0, : len(places)]
    return array_namespace(h).reshape(left - _average(at, places), (-1,))


def _at_places(h: Any, rows: Any, columns: Any) -> Any:
    rows, columns = np.broadcast_arrays(rows, columns)
    places = [
        (_whole_number(u), _whole_number(v))
        for u, v in zip(rows.ravel(), columns.ravel(), strict=True)
    ]
    return array_namespace(h).reshape(gathered(h, places), (*h.shape[:2], *rows.shape))


def _arranged(entries: Any) -> Any:
    (N, c, s, r), k = entries.shape[:4], entries.shape[-1]
    return array_namespace(entries).reshape(entries, (N, c, r * s, k * k))


def _by_tap(values: Any, k: int) -> Any:
    """Return numbers of the columns as a family with the axes (p, t, a)."""
    xp = array_namespace(values)
    return xp.permute_dims(xp.reshape(values, (-1, k, k)), (0, 2, 1))


def _column_means(matrix: Any, k: int) -> Any:
    return _by_tap(matrix.sum(0) / matrix.shape[0], k)


def _column_variances(matrix: Any, k: int) -> Any:
    deviations = matrix - matrix.sum(0) / matrix.shape[0]
    return _by_tap((deviations * deviations).sum(0) / matrix.shape[0], k)


def _by_column(family: Any) -> Any:
    xp = array_namespace(family)
    return xp.reshape(xp.permute_dims(family, (0, 2, 1)), (-1,))


def _repeated(family: Any, k: int) -> Any:
    xp = array_namespace(family)
    channels = xp.reshape(family, (-1,))
    return xp.reshape(xp.stack([channels] * (k * k), axis=1), (-1,))


def _at_middle(family: Any) -> Any:
    m = family.shape[-1] // 2
    return family[..., m : m + 1, m : m + 1]


def _at_top(family: Any) -> Any:
    top = family[..., 0, family.shape[-1] // 2]
    return top[0] if len(top.shape) else top


def _largest(h: Any) -> Any:
    xp = array_namespace(h)
    return xp.max(xp.abs(h), axis=(0, 2, 3))[:, None, None]


def _counted(maps: Any, values: Any) -> Any:
    one = 0 * maps.h[0, 0, 0, 0] + 1
    if np.ndim(values) == 0:
        return _whole_number(values) * one
    whole = np.vectorize(_whole_number, otypes=[object])(values).tolist()
    return one * numbers(whole, maps.h)


def _of_indices(
    of_arrays: Callable[..., Any], of_numbers: Callable[..., Any]
) -> Callable[[Any, Any], Any]:
    """Return a function of two numbers, of which an index is an array of all that it runs over."""

    def function(a: Any, b: Any) -> Any:
        runs = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
        return of_arrays(a, b) if runs else of_numbers(a, b)

    return function


def _size(axis: int) -> Callable[[Any], int]:
    return lambda maps: int(maps.h.shape[axis])


def _index(last: Callable[[Any], int], axis: int, axes: int) -> Callable[[Any], Any]:
    """Return 1, ..., last along one axis."""
    shape = tuple(-1 if i == axis else 1 for i in range(axes))
    return lambda maps: np.arange(1, last(maps) + 1).reshape(shape)


h = Letter("h", "h", _MAPS, attrgetter("h"))
"""Inputs, (N, c, r, s)."""
w = Letter("w", "w", _MAPS, attrgetter("w"))
"""Weights, (d, c, k, k) with an odd k."""
b = vector_of("b", "b")
"""Bias, (d,)."""
x = vector_of("x", "x", "direction")
"""Any bias and kernel of one output channel, (k^2 c + 1,)."""
q = number_of("q", "q", domain="q > 0")
N, c, r, s = (number_of(z, z, _size(i)) for i, z in enumerate("Ncrs"))
k = number_of("k", "k", lambda maps: int(maps.w.shape[-1]), r"k \text{ odd}")

t = number_of("t", "t", _index(k.value, 0, 2), r"1 \le t \le k")  # type: ignore[arg-type]
a = number_of("a", "a", _index(k.value, 1, 2), r"1 \le a \le k")  # type: ignore[arg-type]
"""The kernel's entry: row t and column a."""

Conv = Operation(
    "Conv", convolution, r"\operatorname{{Conv}}({0}, {1}) + {2:product}", gives=_MAPS,
    takes=(_MAPS, _MAPS, _V), binds=Binding.SUM,
)  # fmt: skip
"""The convolution by its definition, and the bias."""
vec = Operation("vec", vectorized, r"\operatorname{{vec}}({0})", gives=_M, takes=(_MAPS,))
stacked = Operation(
    "stacked", stacked_parameters,
    r"\begin{{bmatrix}} {1} \\ \operatorname{{vec}} {0:atom}\end{{bmatrix}}", gives=_M,
    takes=(_MAPS, _V),
)  # fmt: skip
kernel = Operation(
    "kernel", kernel_of, r"w_{{{1:power} \times {1:power}}}({0})", gives=_MAPS, takes=(_V, _N)
)
"""The weights in one output's parameters, for a kernel of a size."""
offset = Operation("offset", lambda column: column[:1], r"b({0})", gives=_V, takes=(_V,))
"""The bias in them."""
entry = Operation("entry", _at_places, r"{0:atom}({1}, {2}, p)", takes=(_MAPS, _N, _N))
"""The entries of the padded maps at rows and columns."""
arranged = Operation(
    "matrix by blocks", _arranged, r"\big[{0}\big]_{{(t-1)r+i,\,(u-1)k+v}}", gives=_M, takes=(_N,)
)
r"""The matrices :math:`H_p` whose entries are a family with the axes (t, i, u, v)."""
blocks = Operation(
    "H_p", block_matrices,
    r"\big[{0:atom}\big(u + v - \tfrac{{{1} + 1}}2, i + j - \tfrac{{{1} + 1}}2, p\big)\big]"
    r"_{{(i-1)r+u,\,(j-1){1:power}+v}}", gives=_M, takes=(_MAPS, _N),
)  # fmt: skip
"""The same by the block formula, for any maps."""
joined = Operation("joined", side_by_side, r"[({0})_p]", gives=_M, takes=(_M,))
r""":math:`[H_1, \dots, H_c]`, the examples one below the other."""
augmented = Operation("augmented", beside_ones, r"[e, ({0})_p]", gives=_M, takes=(_M,))
r""":math:`[e, H_1, \dots, H_c]`, likewise."""

_RANGES = r"\sum_{{u={1}}}^{{{2}}} \sum_{{v={3}}}^{{{4}}}"
_BOUNDS = (_N, _N, _N, _N)
window_sum = Operation(
    "window sum", _window_sum, rf"\sum_{{{{i=1}}}}^N {_RANGES} {{0:atom}}^{{{{(i)}}}}(u, v, p)",
    takes=(_MAPS, *_BOUNDS), binds=Binding.OPERATOR,
)  # fmt: skip
window_squares = Operation(
    "sum of squares in a window", _window_squares,
    r"\sum_{{i=1}}^N \sum_{{u={2}}}^{{{3}}} \sum_{{v={4}}}^{{{5}}}"
    r" \big({0:atom}^{{(i)}}(u, v, p) - {1:product}\big)^2",
    takes=(_MAPS, _N, *_BOUNDS), binds=Binding.OPERATOR,
)  # fmt: skip
"""The squares of what the entries deviate from a number by."""
_WHOLE = r"\sum_{{i=1}}^N \sum_{{u=1}}^r \sum_{{v=1}}^s"
map_sum = Operation(
    "sum over the map", lambda h: h.sum((0, 2, 3))[:, None, None],
    rf"{_WHOLE} {{0:atom}}^{{{{(i)}}}}(u, v, p)", takes=(_MAPS,),
    binds=Binding.OPERATOR,
)  # fmt: skip
map_squares = Operation(
    "sum of squares over the map",
    lambda h, mean: ((h - mean) * (h - mean)).sum((0, 2, 3))[:, None, None],
    rf"{_WHOLE} \big({{0:atom}}^{{{{(i)}}}}(u, v, p) - {{1:product}}\big)^2",
    takes=(_MAPS, _N), binds=Binding.OPERATOR,
)  # fmt: skip
_ON_MAP = r"1 \le u \le r,\, 1 \le v \le s:\, "
_OUTSIDE = _ON_MAP + r"u \notin [{1}, {2}] \text{{ or }} v \notin [{3}, {4}]"
_INSIDE = _ON_MAP + r"u \in [{1}, {2}],\, v \in [{3}, {4}]"
_OF_ALL = r"1 \le i \le N,\, "
"""Means are over the examples as well."""
left_out_sum = Operation(
    "sum left out", _left_out_sum,
    rf"\sum_{{{{i=1}}}}^N \sum_{{{{{_OUTSIDE}}}}} {{0:atom}}^{{{{(i)}}}}(u, v, p)",
    takes=(_MAPS, *_BOUNDS), binds=Binding.OPERATOR,
)  # fmt: skip
"""Over the places of the map that a window leaves out."""
left_out_mean = Operation(
    "mean left out", _left_out_mean,
    rf"\operatorname{{{{mean}}}}_{{{{{_OF_ALL}{_OUTSIDE}}}}} {{0:atom}}",
    takes=(_MAPS, *_BOUNDS), binds=Binding.OPERATOR,
)  # fmt: skip
"""The mean over them; zero where there are none."""
left_out_square = Operation(
    "mean square left out", _left_out_square,
    rf"\operatorname{{{{mean}}}}_{{{{{_OF_ALL}{_OUTSIDE}}}}} {{0:atom}}^2",
    takes=(_MAPS, *_BOUNDS), binds=Binding.OPERATOR,
)  # fmt: skip
left_out_deviations = Operation(
    "deviations left out", _left_out_deviations,
    rf"\big({{0}} - \operatorname{{{{mean}}}} {{0:atom}}\big)_{{{{{_OF_ALL}{_OUTSIDE}}}}}",
    gives=_V, takes=(_MAPS, *_BOUNDS),
)  # fmt: skip
"""What the entries that one window leaves out of the first channel deviate from their mean by."""
kept_mean = Operation(
    "mean kept", _kept_mean,
    rf"\operatorname{{{{mean}}}}_{{{{{_OF_ALL}{_INSIDE}}}}} {{0:atom}}",
    takes=(_MAPS, *_BOUNDS), binds=Binding.OPERATOR,
)  # fmt: skip
"""The mean over the places of the map that a window keeps; zero where there are none."""

_OF_TAP = "_{{(p-1){1:atom}^2+(a-1){1:power}+t}}"
column_mean = Operation(
    "column mean", _column_means,
    rf"\frac{{{{1}}}}{{{{N r s}}}} \big({{0:atom}}^\top e\big){_OF_TAP}",
    takes=(_M, _N), binds=Binding.PRODUCT,
)  # fmt: skip
r"""The mean of the column of :math:`\mathcal H` that belongs to w(t, a) in channel p."""
column_variance = Operation(
    "column variance", _column_variances,
    r"\frac{{1}}{{N r s}} \sum_i \big({0:atom}_i - \frac{{1}}{{N r s}} {0:atom}^\top e\big)^2"
    + _OF_TAP,
    takes=(_M, _N), binds=Binding.OPERATOR,
)  # fmt: skip
by_column = Operation("by column", _by_column, r"\big[{0}\big]", gives=_V, takes=(_N,))
r"""A family in the order of the columns of :math:`\mathcal H`."""
repeated = Operation(
    "repeated", _repeated, r"{0:power} \otimes \mathbf 1_{{{1:atom}^2}}", gives=_V, takes=(_N, _N),
    binds=Binding.PRODUCT,
)  # fmt: skip
"""A number for each channel, for each of its columns."""
middle = Operation(
    "[at t = a = (k + 1)/2]", _at_middle,
    r"{0:atom}\big|_{{t = a = \frac{{k+1}}2}}", takes=(_N,),
)  # fmt: skip
at_corner = Operation(
    "[at t = a = 1]", lambda family: family[..., 0, 0], r"{0:atom}\big|_{{t = a = 1}}",
    takes=(_N,),
)  # fmt: skip
at_top = Operation(
    "[at t = p = 1, a = (k + 1)/2]", _at_top,
    r"{0:atom}\big|_{{t = p = 1,\, a = \frac{{k+1}}2}}", takes=(_N,),
)  # fmt: skip
"""At the first row's middle entry, of the first channel."""
largest_entry = Operation(
    "largest absolute value", _largest, r"\max_{{u,v,i}} |{0:atom}^{{(i)}}(u, v, p)|",
    takes=(_MAPS,), binds=Binding.OPERATOR,
)  # fmt: skip
counted = Primitive("counted", _counted, "{0}", takes=(_N,), reads=())
"""Whole numbers as numbers of the subject's arithmetic, displayed as they are."""
pair = Primitive(
    "pair",
    lambda subject, a, b: array_namespace(subject.h).stack([a, b + 0 * a]),
    r"\left({0},\ {1}\right)",
    gives=_V,
    takes=(_N, _N),
)
minimum = Operation("min", _of_indices(np.minimum, smaller), r"\min\{{{0}, {1}\}}", takes=(_N, _N))
greatest = Operation("max", _of_indices(np.maximum, larger), r"\max\{{{0}, {1}\}}", takes=(_N, _N))
"""Of indices that run, or of numbers."""

inner = EntryByEntry(
    "inner", lambda A, B: (A * B).sum(), r"\langle {0}, {1}\rangle", takes=(_MAPS, _MAPS)
)
WINDOW = (t - (k - 1) / 2, r + t - (k - 1) / 2 - 1, a - (k - 1) / 2, s + a - (k - 1) / 2 - 1)
"""The bounds of (19): the rows and columns that w(t, a) meets."""


def unfolded(blocks_of: Expression) -> tuple[Expression, Expression]:
    r"""Return :math:`\mathcal H` and :math:`\hat{\mathcal H}` of (18), as the paper calls them."""
    return named(r"\mathcal H", joined(blocks_of)), named(r"\hat{\mathcal H}", augmented(blocks_of))


H_p = named("H_p", blocks(h, k))
H_cal, Hhat = unfolded(H_p)
r""":math:`\mathcal H` and :math:`\hat{\mathcal H} = [e, \mathcal H]` of (18)."""
what = named(r"\hat w", column(stacked(w, b)))
"""The first output's bias and weights."""
parameters = Letter("omega", r"\hat\omega", _V)
"""The variable of a derivative in them."""


def mean_of(maps: Expression) -> Expression:
    r"""Return (21), :math:`\mu(p)`."""
    return 1 / (N * r * s) * map_sum(maps)


def variance_of(maps: Expression) -> Expression:
    r"""Return (22), :math:`\sigma(p)^2`."""
    mu = _mean_named("p", mean_of(maps), maps)
    return 1 / (N * r * s) * map_squares(maps, mu)


def mean_at(maps: Expression) -> Expression:
    r"""Return (19), :math:`\mu_H(t, a, p)`."""
    return 1 / (N * r * s) * window_sum(maps, *WINDOW)


def _mean_named(of: str, mean: Expression, maps: Expression) -> Expression:
    """Return a mean with its name, in which maps are named if they are not h."""
    own = latex(maps)
    return named(rf"\mu({of})" if own == h.latex else rf"\mu_{{{own}}}({of})", mean)


def variance_at(maps: Expression) -> Expression:
    r"""Return (20), :math:`\sigma_H^2(t, a, p)`."""
    mu = _mean_named("t, a, p", mean_at(maps), maps)
    return 1 / (N * r * s) * window_squares(maps, mu, *WINDOW)


def outputs(stack: Expression) -> Expression:
    r"""Return :math:`\hat a`, the outputs of one channel with this bias and these weights."""
    computed = column(vec(Conv(h, kernel(stack, k), offset(stack))))
    return named(r"\hat a({0})", computed, stack)


def twice_along(
    body: Expression, variable: Letter, direction: Expression, at: Expression
) -> Expression:
    """Return the second derivative of an expression along a direction."""
    return along(along(body, variable, direction), variable, direction, at=at)
