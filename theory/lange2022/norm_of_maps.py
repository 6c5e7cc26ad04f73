r"""Sect. 4: the factor q of a convolution layer, and the norm that it is to estimate.

The estimate :math:`\max\{\sqrt{k^2 c}, \sqrt N (rs)^{1/4}\}` over q is :math:`\sqrt N`.  It does
not bound the norm up to any constant: the column e of :math:`\hat{\mathcal H}P` alone has the norm
:math:`\sqrt{N r s}`, which is :math:`(rs)^{1/4}` times the estimate for large maps.

Whether layers become comparable depends on the loss as much.  A loss that sums over the pixels
gives the bias the entry :math:`rs f''`, one of their mean gives :math:`f''`; over
:math:`q^2 = \sqrt{rs}` they are :math:`\sqrt{rs} f''` and :math:`f''/\sqrt{rs}`: so q is the
geometric mean of two extremes, and a heuristic.
"""

from typing import Any

from array_api_compat import array_namespace

from theory import maps, preconditioning
from theory.arithmetic.operations import none_zero
from theory.arithmetic.spectra import eigenvalues
from theory.lange2022.texts import about
from theory.language.arrays import maximum, norm2, root
from theory.language.expression import Expression, Letter, Operation, Sort, equal, named, number
from theory.maps import (
    H_cal,
    Hhat,
    N,
    c,
    column_variance,
    counted,
    first_column,
    k,
    outputs,
    pair,
    parameters,
    r,
    s,
    twice_along,
    what,
)
from theory.matrix_claim import Kind
from theory.statement import REFUTED, SUPPORTED, Form, assume

_V, _M, _N = Sort.VECTOR, Sort.MATRIX, Sort.NUMBER


def _normalized_norm(matrix: Any) -> Any:
    """The square of the spectral norm after centring and scaling with a matrix's own statistics."""
    mean, spread = (f(matrix[:, 1:]) for f in (preconditioning.means, preconditioning.variances))
    spread = none_zero(spread, "a column is constant, so it cannot be normalized")
    centred = matrix @ preconditioning.centring(mean)
    squares = array_namespace(matrix).concat([matrix[0, :1], 1 / spread])
    return eigenvalues(centred.T @ centred, squares)[-1]


normalized_norm2 = Operation(
    "squared norm of the normalized", _normalized_norm, r"\|{0:product} P\|^2", takes=(_M,)
)
P = Operation(
    "P", preconditioning.preconditioner,
    r"\begin{{bmatrix}}1 & -{0:atom}^\top\\ 0 & \operatorname{{diag}}({1})^{{-1}}\end{{bmatrix}}",
    gives=_M, takes=(_V, _V),
)  # fmt: skip
"""The paper's P = UD, for any means and deviations; its first column is e_1."""
pixel_means = Operation(
    "means over pixels",
    lambda column, pixels: array_namespace(column).reshape(column, (-1, pixels)).sum(1) / pixels,
    r"\Big(\tfrac1{{{1}}} \sum_{{u,v}} {0:atom}^{{(j)}}(u, v)\Big)_j", gives=_V, takes=(_V, _N),
)  # fmt: skip
column_means = Letter(
    "mu_H", r"\mu_H", _V,
    lambda subject: preconditioning.means(
        maps.side_by_side(maps.block_matrices(subject.h, subject.w.shape[-1]))
    ),
)  # fmt: skip
deviations = Letter(
    "q e",
    "q e",
    _V,
    lambda subject: 0 * column_means.value(subject) + subject.q,  # type: ignore[misc]
)
"""Any deviations, here all the same."""
bias = Letter(
    "e_1", "e_1", _V,
    lambda subject: array_namespace(subject.direction).concat(
        [0 * subject.direction[:1] + 1, 0 * subject.direction[1:]]
    ),
)  # fmt: skip

NORM2 = normalized_norm2(Hhat)
ESTIMATE2 = maximum(counted(k**2 * c), N * root(counted(r * s)))
Q2 = maximum(counted(k**2 * c) / N, root(counted(r * s)))
ROWS = counted(N * r * s)
VARIES = assume(column_variance(H_cal, k) > 0, printed=False, words=r"\sigma_H > 0")


def bias_entry(loss: Expression, latex: str) -> Expression:
    """The Hessian's entry of the bias."""
    return named(latex, twice_along(loss, parameters, bias, at=what))


SUMMED = bias_entry(
    norm2(outputs(parameters)) / (2 * N),
    r"\frac{\partial^2}{\partial b^2} \frac1{2N} \sum_j \sum_{u,v} a^{(j)}(u, v)^2",
)
POOLED = bias_entry(
    norm2(pixel_means(outputs(parameters), r * s)) / (2 * N),
    r"\frac{\partial^2}{\partial b^2} \frac1{2N} \sum_j"
    r" \Big(\frac1{rs} \sum_{u,v} a^{(j)}(u, v)\Big)^2",
)
ROOT = root(counted(r * s))

factor = about(Kind.MAPS, "L-q-conv", "Sect. 4, below Prop. 10")

CLAIMS = [
    ESTIMATE := factor(
        "", 385, "We therefore suggest to use", "the norm estimate of a convolution layer",
        NORM2 <= ESTIMATE2,
        hypotheses=(VARIES,), form=Form.READING, expected=REFUTED,
        remark="'Estimate' read as a bound. No constant helps, since the column e has the norm √(N"
        " r s). max{√(k² c), √(N r s)}, which the text sets aside, grows with r and s as the norm"
        " does; where neighbouring pixels are alike the norm is larger, by up to k √c.",
    ),
    ESTIMATE.corrected(
        says=NORM2 >= ROWS, title="the norm of a convolution layer from below",
        expected=SUPPORTED,
    ),
    ESTIMATE.corrected(
        "first-column",
        says=equal(norm2(first_column(Hhat @ P(column_means, deviations))), ROWS),
        title="the norm of a convolution layer's first column", hypotheses=(),
    ),
    factor(
        "/over-q", 385, r"q^{2}=\text{max}", "the norm estimate of a convolution layer over q",
        equal(ESTIMATE2 / Q2, N),
        form=Form.STEP,
    ),
    factor(
        "/apart", 385, "to have comparable norms", "the Hessian of one layer under two losses",
        equal(pair(SUMMED, POOLED), pair(counted(r * s), number(1))),
        form=Form.SHARPENED, amends=ESTIMATE.id,
        remark="No factor that depends on sizes alone makes the Hessians of both losses"
        " comparable.",
    ),
    factor(
        "/geometric-mean", 385, "heuristic based estimate works well",
        "what q is the geometric mean of", equal(SUMMED / ROOT * (POOLED / ROOT), 1),
        form=Form.SHARPENED, amends=ESTIMATE.id,
        remark="q² = √(r s) is the geometric mean of what the two losses ask for; the text's q² is"
        " that where k² c/N is no larger.",
    ),
]  # fmt: skip
