r"""Online learning: one example, and the variance from the running mean.

A dense layer's :math:`\hat H` is one row :math:`\hat h^\top` then, of condition number one, and so
is the Hessian :math:`L''\hat h\hat h^\top`, and whatever a preconditioner makes of them: a matrix M
of rank one has :math:`M^2 = \operatorname{tr}(M) M`.

The variance is estimated by :math:`(h - \mu)^2` with a running mean of factor :math:`\rho`.  For
independent h of one law with variance v, :math:`\mathbb{E}(h - \mu)^2` is the sum of v and the
variance of the running mean, which after k steps from the true mean is

.. math:: v\Big(1 + \frac{1 - \rho}{1 + \rho}(1 - \rho^{2k})\Big)

for the mean before the new example, and :math:`\rho^2` times that with the example in it.  In the
long run that is 2/(1 + rho), 200/199 for rho = 0.99, and 9801/9950: either is nearly unbiased.  The
text does not say which mean is meant; Algorithm 2 has the variance before the running mean.
"""

from typing import Any

from theory.lange2022.proposition_5 import E, variance_of
from theory.lange2022.texts import of_layers
from theory.language.arrays import kappa2, transpose
from theory.language.expression import Letter, Sort, equal, named
from theory.layer import beside, mu, outer, over_diag, sigma, squares, trace
from theory.statement import REFUTED, SUPPORTED, Form

_N, _V, _M = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX

ROW = Letter("H", "H", _M, lambda layer: layer.H[:1, :], "N = 1")
ONE = Letter("e", "e", _V, lambda layer: 0 * layer.H[:1, 0] + 1)
HHAT = named(r"\hat H", beside(ONE, ROW))
NORMALIZED = named(r"{0:product} P", beside(ONE, over_diag(ROW - outer(ONE, mu), sigma)), HHAT)
SLOPE = Letter("L''", "L''", _N, lambda layer: layer.curvature[0])
M = named("M", SLOPE * (transpose(HHAT) @ HHAT))

online = of_layers("Sect. 4, last paragraph", "L-online", expected=SUPPORTED)
SINGLE = [
    ONLINE := online(
        "", 406, "has 1 row only and hence a condition number of 1",
        "the condition number of one example",
        kappa2(HHAT) <= 1,
        remark="κ is over the nonzero singular values, of which there is one.",
    ),
    ONLINE.sharpened(
        "preconditioned", title="one example after preconditioning", says=kappa2(NORMALIZED) <= 1,
        expected=SUPPORTED, remark=ONLINE.remark,
    ),
    ONLINE.sharpened(
        "rank-one", title="the Hessian of one example", says=equal(M @ M, trace(M) * M),
        remark="So the trace is the only eigenvalue that is not zero.",
    ),
]  # fmt: skip


def _draws(layer: Any, place: int) -> Any:
    """Return one of three independent draws of at most four equally likely numbers, all cases."""
    h = layer.H[:4, 0]
    shape = [1, 1, 1]
    shape[place] = h.shape[0]
    zero = 0 * (h[:, None, None] + h[None, :, None] + h[None, None, :])
    return (h.reshape(*shape) + zero).reshape(h.shape[0] ** 3)


h = Letter(
    "h", "h", _V, lambda layer: _draws(layer, 0), r"h, h', h'' \text{ independent and of one law}"
)
earlier = Letter("h'", "h'", _V, lambda layer: _draws(layer, 1))
previous = Letter("h''", "h''", _V, lambda layer: _draws(layer, 2))
expected = Letter(
    "E h", r"\mathbb{E}h", _V,
    lambda layer: 0 * _draws(layer, 0) + layer.H[:4, 0].sum() / layer.H[:4, 0].shape[0],
)  # fmt: skip
rho = Letter("rho", r"\rho", _N, lambda layer: layer.step / (layer.step + layer.q), r"0 < \rho < 1")
RUNNING = rho * (rho * expected + (1 - rho) * earlier) + (1 - rho) * previous
"""The running mean after two steps from the true one."""
WITH_NEW = rho * RUNNING + (1 - rho) * h
BIAS = 1 + (1 - rho) / (1 + rho) * (1 - rho**4)

VARIANCE = [
    UNBIASED := online(
        "/variance", 242, "to estimate the variance",
        "the variance from the running mean, unbiased",
        equal(E(squares(h - RUNNING)), variance_of(h)), place="Sect. 3.3, after Algorithm 2",
        expected=REFUTED, form=Form.BOUNDARY,
        remark="'Estimate' read as unbiased, which the text does not say. The running mean is two"
        " steps from the true mean; expectations are over every draw.",
    ),
    UNBIASED.corrected(
        says=equal(E(squares(h - RUNNING)), variance_of(h) * BIAS),
        title="the variance from the running mean before the new example",
    ),
    UNBIASED.corrected(
        "with-new", says=equal(E(squares(h - WITH_NEW)), rho**2 * variance_of(h) * BIAS),
        title="the variance from the running mean with the new example in it",
    ),
]  # fmt: skip

CLAIMS = [*SINGLE, *VARIANCE]
