r"""Online learning, sect. 4: one example, and the variance from the running mean.

A dense layer's :math:`\hat H` is one row :math:`\hat h^\top` then, of condition number one, and so
is the Hessian :math:`L''\hat h\hat h^\top` where :math:`L'' \ne 0`, and whatever a preconditioner
makes of them: a matrix M of rank one has :math:`M^2 = \operatorname{tr}(M) M`.

The variance is estimated by :math:`(h - \mu)^2` with a running mean of factor :math:`\rho`.  For
independent h of one law with variance v, :math:`\mathbb{E}(h - \mu)^2` is the sum of v and the
variance of the running mean, which after k steps from the true mean is

.. math:: v\Big(1 + \frac{1 - \rho}{1 + \rho}(1 - \rho^{2k})\Big)

for the mean before the new example, and :math:`\rho^2` times that with the example in it.  In the
long run that is 2/(1 + rho), 200/199 for rho = 0.99, and 9801/9950: either is nearly unbiased.  The
text does not say which mean is meant; Algorithm 2 has the variance before the running mean.

A convolution's :math:`\hat{\mathcal H}` has r s rows and k^2 c + 1 columns, so the preconditioning
can help: for k = c = 1 it makes :math:`\kappa = 1`.  32 x 32 maps of 32 channels with k = 3 can
have full column rank (289 rows at least), those of 8 x 8 pixels cannot.
"""

from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.lange2022.proposition_5 import E, variance_of
from theory.lange2022.texts import about, of_layers
from theory.language.arrays import first, kappa2, smallest_square, transpose
from theory.language.expression import Letter, Operation, Primitive, Sort, equal, named, number
from theory.language.letters import number_of
from theory.layer import beside, centring, mu, outer, over_diag, sigma, squares, trace
from theory.maps import blocks, counted, k, r, s, unfolded
from theory.matrix_claim import Kind
from theory.statement import REFUTED, SUPPORTED, Form, assume

_N, _V, _M = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX

ROW = Letter("H", "H", _M, lambda layer: layer.H[:1, :], "N = 1")
ONE = Letter("e", "e", _V, lambda layer: 0 * layer.H[:1, 0] + 1)
ROW_HAT = named(r"\hat H", beside(ONE, ROW))
NORMALIZED = named(r"{0:product} P", beside(ONE, over_diag(ROW - outer(ONE, mu), sigma)), ROW_HAT)
SLOPE = Letter("L''", "L''", _N, lambda layer: layer.curvature[0])
M = named("M", SLOPE * (transpose(ROW_HAT) @ ROW_HAT))

of_a_layer = of_layers("Sect. 4, last paragraph", "L-online", expected=SUPPORTED, sizes={"n": "n"})
ONE_ROW = [
    ONLINE := of_a_layer(
        "", 406, "has 1 row only and hence a condition number of 1",
        "the condition number of one example",
        kappa2(ROW_HAT) <= 1,
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

OF_VALUES = "N is how many values h has, all of them equally likely."
VARIANCE = [
    UNBIASED := of_a_layer(
        "/variance", 242, "to estimate the variance",
        "the variance from the running mean, unbiased",
        equal(E(squares(h - RUNNING)), variance_of(h)), place="Sect. 3.3, after Algorithm 2",
        expected=REFUTED, form=Form.BOUNDARY, sizes={"N": "N"},
        remark="'Estimate' read as unbiased, which the text does not say. The running mean is two"
        f" steps from the true mean; expectations are over every draw. {OF_VALUES}",
    ),
    UNBIASED.corrected(
        says=equal(E(squares(h - RUNNING)), variance_of(h) * BIAS),
        title="the variance from the running mean before the new example", remark=OF_VALUES,
    ),
    UNBIASED.corrected(
        "with-new", says=equal(E(squares(h - WITH_NEW)), rho**2 * variance_of(h) * BIAS),
        title="the variance from the running mean with the new example in it", remark=OF_VALUES,
    ),
]  # fmt: skip


# A convolution.

one_example = Letter(
    "h", "h", Sort.MAPS, lambda subject: subject.h[:1, :2, :, :], r"N = 1,\ c \le 2"
)
ONE_ENTRY = "N = k = c = 1"
one_channel = Letter("h", "h", Sort.MAPS, lambda subject: subject.h[:1, :1, :, :], ONE_ENTRY)
one_weight = number_of("k", "k", lambda subject: 1, ONE_ENTRY)
means = Operation("means", preconditioning.means, r"\mu_{{{0}}}", gives=_V, takes=(_M,))
variances = Operation(
    "variances", preconditioning.variances, r"\sigma_{{{0}}}^2", gives=_V, takes=(_M,)
)
upper = Operation(
    "upper triangle", lambda A: array_namespace(A).stack([A[0, 0], A[0, 1], A[1, 1]]),
    r"\big({0}\big)_{{11,\,12,\,22}}", gives=_V, takes=(_M,),
)  # fmt: skip
triple = Primitive(
    "triple", lambda subject, *numbers: array_namespace(subject.h).stack(numbers),
    r"\left({0}, {1}, {2}\right)", gives=_V, takes=(_N, _N, _N),
)  # fmt: skip
H, HHAT = unfolded(named("H_p", blocks(one_example, k)))
U = named("U", centring(means(H)))
H_1, HHAT_1 = unfolded(named("H_p", blocks(one_channel, one_weight)))
"""For a kernel of one entry: the map's vec, and the same beside ones."""
CENTRED_1 = HHAT_1 @ named("U", centring(means(H_1)))
SIGMA2 = named(r"\sigma_H^2", first(variances(H_1)))
MU = named(r"\mu_H", first(means(H_1)))
FULL_COLUMN_RANK = assume(
    smallest_square(HHAT) > 0, printed=False,
    words=r"\hat{\mathcal H} \text{ has full column rank}",
)  # fmt: skip
PIXELS = counted(r * s)

OF_PIXELS = {"r": "r", "s": "s"}
of_maps = about(Kind.MAPS, "L-online", "Sect. 4, last paragraph", sizes=OF_PIXELS)

MAPS = [
    ONE_EXAMPLE := of_maps(
        "/convolution", 406, "the preconditioning can still offer improvements",
        "centring a convolution with one example", kappa2(HHAT @ U) <= kappa2(HHAT),
        form=Form.BOUNDARY, expected=REFUTED, sizes={"c": "c", **OF_PIXELS, "k": "k"},
        remark="For N = 1. The text says 'By Theorem 4', which is about matrices of full column"
        " rank; where r s ≤ k² c there is none.",
    ),
    ONE_EXAMPLE.corrected(
        title="centring a convolution with one example, of full column rank",
        hypotheses=(FULL_COLUMN_RANK,), expected=SUPPORTED,
        remark="Full column rank needs r s > k² c.",
    ),
    of_maps(
        "/one-weight", 406, "the preconditioning can still offer improvements",
        "one example, one channel and one weight: the Gram matrix after centring",
        equal(upper(transpose(CENTRED_1) @ CENTRED_1),
              triple(PIXELS, counted(number(0)), PIXELS * SIGMA2)),
        form=Form.READING,
        remark="For N = k = c = 1. So where σ > 0 the condition number of ĤP is 1.",
    ),
    of_maps(
        "/one-weight/improves", 406, "the preconditioning can still offer improvements",
        "one example, one channel and one weight: what the preconditioning improves",
        kappa2(HHAT_1) > 1,
        hypotheses=(assume(SIGMA2 > 0, printed=False), assume(MU**2 > 0, printed=False)),
        form=Form.READING, expected=SUPPORTED,
        remark="For N = k = c = 1. After preconditioning κ is 1, by L-online/one-weight; before, κ²"
        " is (7 + 3√5)/2 for the map (0, 2)ᵀ.",
    ),
]  # fmt: skip

CLAIMS = [*ONE_ROW, *VARIANCE, *MAPS]
