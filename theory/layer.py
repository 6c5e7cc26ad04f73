r"""A dense layer on a batch: the letters and functions of statements about matrices.

Index convention: N examples (rows), n inputs and p outputs.  A vector is an array of one axis, a
matrix one of two; the product with a diagonal matrix is an operation, since that matrix is never
made.  Numbers come from the layer and functions of them are written out here; only U and D, which
are the paper's closed forms, are those of :mod:`theory.preconditioning`.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from theory import batchnorm, preconditioning
from theory.arithmetic import constants
from theory.arithmetic import sqrt as root
from theory.arithmetic.extremes import largest_of, smallest_of
from theory.arithmetic.operations import none_zero, square
from theory.arithmetic.spectra import (
    RANK,
    condition_number,
    squared_condition_number,
    squared_condition_number_of_nonsingular,
    squared_singular_values,
)
from theory.arithmetic.spectra import eigenvalues as spectrum
from theory.language.arrays import kappa2, transpose
from theory.language.expression import (
    Binding,
    EntryByEntry,
    Expression,
    Letter,
    Operation,
    Primitive,
    Sort,
    along,
    gradient,
    named,
)
from theory.language.letters import matrix_of, number_of, vector_of
from theory.language.operations import SquaredNorm

_N, _V, _M = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX


H = matrix_of("H", "H")
"""Inputs, (N, n)."""
W = matrix_of("W", "W")
"""Weights, (p, n)."""
b = vector_of("b", "b")
"""Bias, (p,)."""
gamma = vector_of("gamma", r"\gamma")
"""Scale of a normalization of the inputs, (n,)."""
beta = vector_of("beta", r"\beta")
"""Its shift, (n,)."""
mu = vector_of("mu", r"\mu", "mean")
"""Means other than the batch's own, such as running ones, (n,)."""
sigma = vector_of("sigma", r"\tilde\sigma", "deviation", r"\tilde\sigma > 0")
"""Deviations other than the batch's own, (n,)."""
curvature = vector_of("s", "s", "curvature")
"""A number for each example, (N,)."""
alpha = number_of("alpha", r"\alpha", "step", r"\alpha > 0")
"""A learning rate."""
q = number_of("q", "q", domain="q > 0")
eps = number_of("eps", r"\epsilon", "q", r"\epsilon > 0")
eps_1 = number_of("eps_1", r"\epsilon_1", "step", r"\epsilon_1 > 0")
eps_2 = number_of("eps_2", r"\epsilon_2", "q", r"\epsilon_2 > 0")
couples = number_of("couples", r"\text{coupling of examples}", "couples")
"""1 where the loss of an example depends on other examples, as below a later BN; else 0."""
N = number_of("N", "N", lambda layer: layer.H.shape[0])
n = number_of("n", "n", lambda layer: layer.H.shape[1])
p = number_of("p", "p", lambda layer: layer.W.shape[0])
features = number_of("n", "n", lambda layer: layer.H.shape[1] + 0 * layer.q)
"""The same as n, of the arithmetic in which a root of it is taken."""
unit = number_of("1", "1", lambda layer: 0 * layer.q + 1)
"""The number one, as a direction of derivatives in a number."""

e = vector_of("e", "e", lambda layer: 0 * layer.H[:, 0] + 1)
"""Ones, (N,)."""
ones = vector_of("ones", r"\mathbf 1", lambda layer: 0 * layer.mean + 1)
"""Ones, (n,)."""
zeros = vector_of("zeros", "0", lambda layer: 0 * layer.mean)
"""Zeros, (n,)."""
v = vector_of("v", "v", "direction")
"""Any vector of one output's parameters, the bias first, (n + 1,)."""
z = vector_of("z", "z", "direction")
"""The same."""
t = number_of("t", "t", lambda layer: layer.direction[0], "z = (t, x)")
"""Its first entry."""
x = vector_of("x", "x", lambda layer: layer.direction[1:], "z = (t, x)")
"""What is below it, (n,)."""
I = matrix_of("I", "I", lambda layer: constants.identity(layer.H.shape[1] + 1, layer.H.sum(0)))
"""The identity matrix, (n + 1, n + 1)."""
d0 = vector_of("d", "d", "scaling")
r"""The diagonal of :math:`D_0`, (n + 1,)."""
what = vector_of(
    "what",
    r"\hat w",
    lambda layer: array_namespace(layer.W).concat([layer.b[:1], layer.W[0, :]], axis=0),
)
"""The first output's bias and weights, (n + 1,)."""
w = Letter("w", "w", _V)
"""The variable of a derivative in them."""
a = Letter("a", "a", _V)
"""The variable of a derivative in one output of every example."""


def _loss_of_unit(layer: Any, outputs: Any) -> Any:
    others = layer.H @ layer.W[1:, :].T + layer.b[1:]
    return layer.loss(array_namespace(layer.H).concat([outputs[:, None], others], axis=1))


def _first_times(A: Any, factor: Any) -> Any:
    return array_namespace(A).concat([factor * A[:1, :], A[1:, :]], axis=0)


def _stack(number: Any, vector: Any) -> Any:
    first = constants.numbers([0], vector) + number
    return array_namespace(vector).concat([first, vector])


def _reciprocal(values: Any) -> Any:
    return 1 / none_zero(values, "a column is zero, so it cannot be scaled to norm one")


def _with_eigenvector(C: Any, vector: Any, end: int) -> Any:
    """Return the squared norm of a vector's projection on the eigenspace at an end."""
    if C.dtype != object:
        xp = array_namespace(C)
        values, vectors = xp.linalg.eigh(C)
        return xp.where(_far(values, end), 0 * values, (vector @ vectors) ** 2).sum()
    values, image = _distinct(C), vector
    for value in _others(values, end):
        image = (C @ image - value * image) / (values[end] - value)
    return vector @ image


def _far(values: Any, end: int) -> Any:
    """Return which eigenvalues, as floats, are others than the one at an end."""
    return abs(values[end] - values) > RANK * abs(values).max()


def _distinct(C: Any) -> list[Any]:
    """Return the eigenvalues of an exact matrix, each once."""
    values: list[Any] = []
    for value in spectrum(C):
        if not values or value != values[-1]:
            values.append(value)
    return values


def _others(values: list[Any], end: int) -> list[Any]:
    return values[:-1] if end else values[1:]


def _resolvent(C: Any, vector: Any, end: int) -> Any:
    """Return the form of the pseudo-inverse of an extreme eigenvalue less C."""
    if C.dtype != object:
        xp = array_namespace(C)
        values, vectors = xp.linalg.eigh(C)
        gaps, far = values[end] - values, _far(values, end)
        zero = 0 * gaps
        return xp.where(far, (vector @ vectors) ** 2 / xp.where(far, gaps, zero + 1), zero).sum()
    values = _distinct(C)
    total = 0 * vector[0]
    for value in _others(values, end):
        image, weight = vector, 1 / (values[end] - value)
        for other in (other for other in values if other is not value):
            image = (C @ image - other * image) / (value - other)
        total = total + weight * (vector @ image)
    return total


def _is_nought(number: Any) -> bool:
    """Whether a number is zero.

    Raises:
        ValueError: it is made of letters, for which that is open.
    """
    if getattr(number, "constant", number) is None:
        raise ValueError("whether a number is zero is open for letters")
    return bool(number == 0)


def _null_part(F: Any, vector: Any) -> Any:
    xp = array_namespace(vector)
    if vector.dtype != object:
        return vector - xp.linalg.pinv(F, rtol=RANK) @ (F @ vector)
    basis: list[Any] = []
    for row in F:
        for found in basis:
            row = row - found * ((row @ found) / (found @ found))
        if not _is_nought(row @ row):
            basis.append(row)
    for found in basis:
        vector = vector - found * ((vector @ found) / (found @ found))
    return vector


def _diagonal(entries: Any) -> Any:
    return constants.identity(entries.shape[0], entries) * entries


def _lagrange(F: Any, z: Any) -> Any:
    xp, count = array_namespace(F), F.shape[1]
    pairs = ((i, j) for i in range(count) for j in range(i))
    found = [F[:, i : i + 1] * z[j] - F[:, j : j + 1] * z[i] for i, j in pairs]
    return xp.concat([0 * F[:, :1], *found], axis=1)


def _means(A: Any) -> Any:
    return A.sum(0) / A.shape[0]


def _variances(A: Any) -> Any:
    deviations = A - _means(A)
    return (deviations * deviations).sum(0) / A.shape[0]


def _normalized(A: Any, epsilon: Any = 0) -> Any:
    return (A - _means(A)) / root(_variances(A) + epsilon)


L = Primitive(
    "L",
    lambda layer, outputs: layer.loss(outputs),
    r"\mathcal L({0})",
    takes=(_M,),
    reads=("loss",),
)
L1 = Primitive("L", _loss_of_unit, r"\mathcal L({0})", takes=(_V,), reads=("H", "W", "b", "loss"))
"""The loss as a function of the first output of every example."""

outer = Operation(
    "outer", lambda u, v: u[:, None] * v, r"{0:atom} {1:atom}^\top", gives=_M, takes=(_V, _V)
)
beside = Operation(
    "beside",
    lambda u, A: array_namespace(A).concat([u[:, None], A], axis=1),
    r"[{0},\ {1}]",
    gives=_M,
    takes=(_V, _M),
)
"""A column left of a matrix."""
above = Operation(
    "above",
    lambda u, A: array_namespace(A).concat([u[None, :], A], axis=0),
    r"\begin{{bmatrix}}{0:atom}^\top\\ {1}\end{{bmatrix}}",
    gives=_M,
    takes=(_V, _M),
)
"""A row above a matrix."""
stacked = Operation("stacked", _stack, r"({0},\ {1})", gives=_V, takes=(_N, _V))
"""A number above a vector."""
pair = Operation(
    "pair",
    lambda u, v: array_namespace(u).stack([u, v]),
    r"\left({0},\ {1}\right)",
    gives=_M,
    takes=(_V, _V),
)
"""Two vectors, as rows."""

_DIAGONAL = Operation("diag", lambda d: d, r"\operatorname{{diag}}({0})", gives=_M, takes=(_V,))
"""A diagonal matrix, which is never made: its value is its diagonal."""
_INVERSE = Operation(
    "inverse diag", lambda d: d, r"\operatorname{{diag}}({0})^{{-1}}", gives=_M, takes=(_V,)
)
_TIMES = Operation("times", lambda A, d: A * d, "{0:product} {1:product}", gives=0)
_OVER = Operation("times", lambda A, d: A / d, "{0:product} {1:product}", gives=0)
_ROWS_TIMES = Operation(
    "rows times",
    lambda d, A: (d if len(A.shape) == 1 else d[:, None]) * A,
    "{0:product} {1:product}",
    gives=1,
)


def times_diag(A: Expression, d: Expression) -> Expression:
    r"""Return :math:`A\operatorname{diag}(d)`."""
    return _TIMES(A, _DIAGONAL(d))


def over_diag(A: Expression, d: Expression) -> Expression:
    r"""Return :math:`A\operatorname{diag}(d)^{-1}`."""
    return _OVER(A, _INVERSE(d))


def diag_times(d: Expression, A: Expression) -> Expression:
    r"""Return :math:`\operatorname{diag}(d) A`, for a matrix or a vector A."""
    return _ROWS_TIMES(_DIAGONAL(d), A)


first_times = Operation(
    "first_times",
    _first_times,
    r"\operatorname{{diag}}({1}, 1, \dots, 1) {0:product}",
    gives=0,
    takes=(_M, _N),
)
"""A matrix whose first row is multiplied by a number."""
entrywise = EntryByEntry(
    "entrywise", lambda u, v: u * v, r"\left({0:atom} \odot {1:atom}\right)", gives=0
)
ratio = EntryByEntry("ratio", lambda u, v: u / v, r"\frac{{{0}}}{{{1}}}", gives=0, takes=(_V, _V))
"""The quotients of the entries of two vectors."""
squares = Operation("squares", lambda v: v * v, r"{0:atom}^2", gives=0, takes=(_V,))
"""The squares of a vector's entries; of a matrix that would be displayed as a product."""
reciprocal = Operation("reciprocal", _reciprocal, r"{0:atom}^{{-1}}", gives=0, takes=(_V,))
"""One over each of a vector's entries, none of which is zero."""
last = Operation("last", lambda v: v[-1], r"{0:atom}_{{\mathrm{{last}}}}", takes=(_V,))
tail = Operation("tail", lambda v: v[1:], r"{0:atom}_{{2 \dots}}", gives=0, takes=(_V,))
"""A vector without its first entry."""
largest_entry = Operation("max", largest_of, r"\max {0:power}", takes=(_V,), binds=Binding.OPERATOR)
smallest_entry = Operation(
    "min", smallest_of, r"\min {0:atom}", takes=(_V,), binds=Binding.OPERATOR
)
last_column = Operation(
    "last column",
    lambda A: A[:, -1],
    r"{0:atom}_{{\cdot\,\mathrm{{last}}}}",
    gives=_V,
    takes=(_M,),
)

mean = Operation("mean", _means, r"\mu_{{{0}}}", gives=_V, takes=(_M,))
"""The mean of each column."""
variance = Operation("variance", _variances, r"\sigma_{{{0}}}^2", gives=_V, takes=(_M,))
"""The biased variance of each column."""
roots = Operation("roots", root, r"\sqrt{{{0}}}", gives=0, takes=(_V,))
"""The square root of each entry."""
deviation = Operation(
    "deviation", lambda A: root(_variances(A)), r"\sigma_{{{0}}}", gives=_V, takes=(_M,)
)
deviation_eps = Operation(
    "deviation",
    lambda A, epsilon: root(_variances(A) + epsilon),
    r"\sqrt{{\sigma_{{{0}}}^2 + {1}}}",
    gives=_V,
    takes=(_M, _N),
)
"""The root of the variance plus an epsilon."""
variance_eps = Operation(
    "variance",
    lambda A, epsilon: _variances(A) + epsilon,
    r"(\sigma_{{{0}}}^2 + {1})",
    gives=_V,
    takes=(_M, _N),
)
"""The variance plus an epsilon."""
column_squares = Operation(
    "column_squares", lambda A: (A * A).sum(0), r"\big(\|{0:atom}_j\|^2\big)_j", gives=_V,
    takes=(_M,),
)  # fmt: skip
"""The squared norm of each column."""
column_products = Operation(
    "column_products",
    lambda A, B: (A * B).sum(0),
    r"\operatorname{{diag}}({0:atom}^\top {1:product})",
    gives=_V,
    takes=(_M, _M),
)
"""The inner products of columns at one place: the diagonal of a product."""
B01 = Operation("B01", _normalized, r"\mathcal B_{{0,1}}({0})", gives=0, takes=(_M,))
"""Batch Normalization without re-scaling and re-centring, literally."""
B01_eps = Operation(
    "B01", _normalized, r"\mathcal B_{{0,1}}^{{{1}}}({0})", gives=0, takes=(_M, _N)
)  # fmt: skip
"""The same with an epsilon."""
BN = Operation(
    "BN",
    batchnorm.forward,
    r"\mathcal B_{{{2},{1}}}^{{{3}}}({0})",
    gives=0,
    takes=(_M, _V, _V, _N),
)
"""The closed form of Batch Normalization, with its scale, shift and epsilon."""

dot = EntryByEntry("dot", lambda u, v: (u * v).sum(), r"{0:atom}^\top {1:product}", takes=(_V, _V))
total = Operation("sum", lambda v: v.sum(), r"\operatorname{{sum}}({0})", takes=(_V,))
frobenius2 = SquaredNorm("frobenius2", square, r"\|{0}\|_F^2", takes=(_M,))
form = Operation(
    "form",
    lambda F, z: ((F @ z) * (F @ z)).sum(),
    r"{1:atom}^\top {0:atom}^\top {0:product} {1:atom}",
    takes=(_M, _V),
)
r"""The quadratic form :math:`z^\top F^\top F z`."""

kappa2_scaled = Operation(
    "squared condition number",
    squared_condition_number,
    r"\kappa({0:product} \operatorname{{diag}}({1})^{{1/2}})^2",
    takes=(_M, _V),
)
"""That of a matrix times the root of a diagonal one, which is never taken."""
kappa2_nonsingular = Operation(
    "squared condition number of a nonsingular matrix",
    squared_condition_number_of_nonsingular,
    r"\kappa({0:product} \operatorname{{diag}}({1})^{{1/2}})^2",
    takes=(_M, _V),
)
"""The same of a nonsingular matrix, so that no singular value counts as zero."""
kappa = Operation("condition number", condition_number, r"\kappa({0})", takes=(_M,))
"""That of a symmetric matrix."""
largest_scaled = Operation(
    "largest eigenvalue",
    lambda A, s: spectrum(A, s)[-1],
    r"\lambda_{{\max}}({0:product} \operatorname{{diag}}({1}))",
    takes=(_M, _V),
)
"""That of a symmetric matrix times a diagonal one that is not negative."""
square_norm = Operation(
    "square of the spectral norm",
    lambda F: squared_singular_values(F)[-1],
    r"\|{0}\|^2",
    takes=(_M,),
)
square_norm_scaled = Operation(
    "square of the spectral norm",
    lambda F, s: squared_singular_values(F, s)[-1],
    r"\|{0:product} \operatorname{{diag}}({1})^{{1/2}}\|^2",
    takes=(_M, _V),
)
along_first = Operation(
    "along the principal eigenvector",
    lambda C, v: _with_eigenvector(C, v, -1),
    r"(x_{{\max}}({0})^\top {1:atom})^2",
    takes=(_M, _V),
)
"""The square of what a vector has along the unit eigenvector, or in the eigenspace."""
along_last = Operation(
    "along the last eigenvector",
    lambda C, v: _with_eigenvector(C, v, 0),
    r"(x_{{\min}}({0})^\top {1:atom})^2",
    takes=(_M, _V),
)
"""The same for the smallest eigenvalue's."""
top_resolvent = Operation(
    "resolvent at the largest eigenvalue",
    lambda C, v: _resolvent(C, v, -1),
    r"{1:atom}^\top (\lambda_{{\max}}({0}) - {0:product})^+ {1:atom}",
    takes=(_M, _V),
)
"""The form of a pseudo-inverse, for a symmetric matrix."""
bottom_resolvent = Operation(
    "resolvent at the smallest eigenvalue",
    lambda C, v: -_resolvent(C, v, 0),
    r"{1:atom}^\top ({0} - \lambda_{{\min}}({0}))^+ {1:atom}",
    takes=(_M, _V),
)
null_part = Operation(
    "projection on the null space",
    _null_part,
    r"\Pi_{{\ker {0:atom}}} {1:atom}",
    gives=_V,
    takes=(_M, _V),
)

centring = Operation(
    "U",
    preconditioning.centring,
    r"\begin{{bmatrix}}1 & -{0:atom}^\top\\ 0 & I\end{{bmatrix}}",
    gives=_M,
    takes=(_V,),
)
"""The paper's U, for any means."""
scaling = Operation(
    "D",
    preconditioning.scaling,
    r"\begin{{bmatrix}}1 & 0\\ 0 & \operatorname{{diag}}({0})\end{{bmatrix}}^{{-1}}",
    gives=_M,
    takes=(_V,),
)
"""The paper's D, for any deviations."""
trace = Operation(
    "trace", lambda A: sum(A[i, i] for i in range(A.shape[0])), r"\operatorname{{tr}}({0})",
    takes=(_M,),
)  # fmt: skip
diagonal = Operation(
    "diagonal matrix", _diagonal, r"\operatorname{{diag}}({0})", gives=_M, takes=(_V,)
)
lagrange = Operation(
    "lagrange",
    _lagrange,
    r"\big[{0:atom}_i {1:atom}_j - {0:atom}_j {1:atom}_i\big]_{{i > j}}",
    gives=_M,
    takes=(_M, _V),
)
r"""The columns whose squares add up to :math:`\|F\|_F^2\|z\|^2 - \|Fz\|^2` (Lagrange)."""


def outputs(weights: Expression, bias: Expression, inputs: Expression = H) -> Expression:
    r"""Return :math:`H W^\top + e b^\top`, the layer's output for every example."""
    return inputs @ transpose(weights) + outer(e, bias)


Hhat = named(r"\hat H", beside(e, H))
means, deviations, variances = mean(H), deviation(H), variance(H)
C = H - outer(e, means)
"""The inputs less their means."""
U, D = named("U", centring(means)), named("D", scaling(deviations))
P = named("P", U @ D)
G = named("G", over_diag(C, deviations))
Ghat = named(r"\hat G", beside(e, G))
HU = named(r"{0:product} {1:product}", beside(e, C), Hhat, U)
augmented_variances = stacked(unit, variances)
r"""The squares of the columns' norms of :math:`\hat H U`, over N."""
KAPPA_BEFORE = kappa2(Hhat)
KAPPA_CENTRED = kappa2(HU)
KAPPA_NORMALIZED = named(r"\kappa(\hat G)^2", kappa2_scaled(HU, reciprocal(augmented_variances)))
r""":math:`\kappa(\hat H U D)^2`, D being the root of one over the variances."""
KAPPA_SCALED = named(r"\kappa(\hat H U D_0)^2", kappa2_scaled(HU, squares(d0)))


def curvatures(inner: Expression) -> Expression:
    r"""Return the diagonal of S: :math:`L''` over N at one output of every example."""
    return along(gradient(L1(a), a), a, e, at=inner)
