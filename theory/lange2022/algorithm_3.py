r"""Algorithm 3: steps 4 and 5 are the preconditioning (23).

With :math:`v_p = \tilde\sigma(p)^2` and :math:`\mu(p)` the same for the k^2 entries of a channel,

.. math:: \frac1{q^2} P P^\top [G_b; G_w] = \Big[\tfrac1{q^2}G_b - \sum_{i,j,p}\mu(p)G'_w(i,j,p);\
          G'_w\Big], \qquad G'_w(i,j,p) = \frac{G_w(i,j,p) - \mu(p)G_b}{q^2 v_p}:

step 5 takes what step 4 has left, and step 4 the old :math:`G_b`.

With the statistics of the channels, (21) and (22), the columns of :math:`\hat{\mathcal H}P` need
for k > 1 be neither centred nor of one norm, so Theorems 3 and 4 are about (19) and (20) only.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory import maps, preconditioning
from theory.arithmetic.constants import identity
from theory.lange2022.texts import about, at
from theory.language.arrays import transpose
from theory.language.expression import Binding, Expression, Letter, Operation, Sort, equal, named
from theory.language.letters import number_of, positive
from theory.layer import centring
from theory.maps import (
    H_cal,
    N,
    by_column,
    column_mean,
    h,
    k,
    mean_of,
    q,
    r,
    repeated,
    s,
    stacked,
    variance_of,
)
from theory.matrix_claim import Kind
from theory.statement import REFUTED, Form

_N, _V, _M, _MAPS = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX, Sort.MAPS


def _inverse_diagonal(values: Any) -> Any:
    xp, n = array_namespace(values), values.shape[0]
    unit = identity(n + 1, values)
    return unit * xp.concat([unit[0, :1] + 0 * values[:1], 1 / values])


inverse_diagonal = Operation(
    "D^2", _inverse_diagonal,
    r"\begin{{bmatrix}}1 & 0\\ 0 & \operatorname{{diag}}({0})\end{{bmatrix}}^{{-1}}", gives=_M,
    takes=(_V,),
)  # fmt: skip
"""The square of D of (23), for any variances."""
less_row = Operation(
    "less", lambda matrix, row: matrix - row, r"{0} - e {1:atom}^\top", gives=_M,
    takes=(_M, _V), binds=Binding.SUM,
)  # fmt: skip
column_sums = Operation(
    "sums of columns", lambda matrix: matrix.sum(0), r"e^\top \big({0}\big)", gives=_V,
    takes=(_M,), binds=Binding.PRODUCT,
)  # fmt: skip
per_output = Operation(
    "for each output", lambda b: b[:, None, None, None], "{0:atom}(d)", gives=_MAPS, takes=(_V,)
)
over_kernel = Operation(
    "sum over the kernel", lambda weights: weights.sum((1, 2, 3)),
    r"\sum_{{i,j,p}} {0:product}(i, j, p, d)", gives=_V, takes=(_MAPS,), binds=Binding.OPERATOR,
)  # fmt: skip
library_step = Operation(
    "preconditioned_gradient",
    lambda G_b, G_w, mean, variance, q2, k: _library_step(G_b, G_w, mean, variance, q2, k),
    r"\operatorname{{preconditioned\_gradient}}"
    r"({0}, {1}, {2:power} \otimes \mathbf 1_{{{5:atom}^2}},"
    r" {3:power} \otimes \mathbf 1_{{{5:atom}^2}}, {4})",
    gives=_M, takes=(_V, _MAPS, _N, _N, _N, _N),
)  # fmt: skip


def _library_step(G_b: Any, G_w: Any, mean: Any, variance: Any, q2: Any, k: int) -> Any:
    xp = array_namespace(G_w)
    rows = (xp.reshape(xp.stack([xp.reshape(z, (-1,))] * (k * k), axis=1), (-1,))
            for z in (mean, variance))  # fmt: skip
    bias, weights = preconditioning.preconditioned_gradient(
        G_b, xp.reshape(G_w, (G_w.shape[0], -1)), *rows, q_squared=q2
    )
    return maps.stacked_parameters(xp.reshape(weights, G_w.shape), bias)


G_w = Letter("G_w", "G_w", _MAPS, lambda subject: subject.w)
"""The gradients in the weights."""
G_b = Letter("G_b", "G_b", _V, lambda subject: subject.b)
eps = number_of("eps", r"\epsilon", positive(0), r"\epsilon > 0")
mu = named(r"\mu(p)", mean_of(h))
sigma2 = named(r"\tilde\sigma(p)^2", variance_of(h) + eps)
U, D2 = centring(repeated(mu, k)), inverse_diagonal(repeated(sigma2, k))
PRECONDITIONED = U @ D2 @ transpose(U) @ stacked(G_w, G_b) / q**2
NEW_WEIGHTS = named(r"G_w'", (G_w - mu * per_output(G_b)) / sigma2 / q**2)


def new_bias(weights: Expression) -> Expression:
    """Return what step 5 makes of the gradient in the bias, with some gradient in the weights."""
    return G_b / q**2 - over_kernel(mu * weights)


def sums(row: Expression) -> Expression:
    """Return the sums of the columns less a row."""
    return column_sums(less_row(H_cal, row))


CHANNELS, COLUMNS = repeated(mu, k), named(r"\mu_H", by_column(column_mean(H_cal, k)))
algorithm = about(Kind.MAPS, "L-alg-3", "Sect. 4, Algorithm 3")

CLAIMS = [
    STEPS := algorithm(
        "", 391, "with the matrix multiplications by", "steps 4 and 5 apply the preconditioner",
        equal(PRECONDITIONED, stacked(NEW_WEIGHTS, new_bias(NEW_WEIGHTS))),
        place="Sect. 4, above Algorithm 3",
        also=(
            *at(400, "Sect. 4, Algorithm 3, step 4", "4. Update"),
            *at(401, "Sect. 4, Algorithm 3, step 5", "5. Update"),
        ),
        remark="Step 5 takes the new gradient in the weights, step 4 the old one in the bias.",
    ),
    STEPS.sharpened(
        "shipped", title="Algorithm 3, steps 4 and 5, by this project's functions",
        says=equal(PRECONDITIONED, library_step(G_b, G_w, mu, sigma2, q**2, k)),
    ),
    replace(
        STEPS, id="L-alg-3/at-once", title="steps 4 and 5 with the old gradients",
        says=equal(PRECONDITIONED, stacked(NEW_WEIGHTS, new_bias(G_w))),
        form=Form.BOUNDARY, expected=REFUTED, corrected_by=STEPS.id,
        remark="The bias's step uses the weights' gradient after its own step, as the arrows say.",
    ),
    CENTRED := about(Kind.MAPS, "L-alg-3", "Sect. 4, below Prop. 9")(
        "/centred", 353, "has the same property as", "centring with the channel's mean, by (23)",
        equal(sums(CHANNELS), 0),
        form=Form.BOUNDARY, expected=REFUTED,
        remark="The text says this of the P below Proposition 9, which takes the mean (19) of each"
        " column. P of (23) takes the mean (21) of the channel, and for k > 1 need not have the"
        " property.",
    ),
    CENTRED.corrected(
        says=equal(sums(COLUMNS), 0),
        title="centring with each column's mean, as the text has it",
    ),
    CENTRED.sharpened(
        "error",
        says=equal(sums(CHANNELS), N * r * s * by_column(column_mean(H_cal, k) - mu)),
        title="what centring with the channel's mean"
        " leaves", remark="L-prop-10 bounds the right side.",
    ),
]  # fmt: skip
