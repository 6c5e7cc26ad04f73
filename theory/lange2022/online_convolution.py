r"""Sect. 4, online learning: with one example a convolution layer has r s rows.

For a dense layer :math:`\hat H` has one row and :math:`\kappa = 1`.  A convolution's
:math:`\hat{\mathcal H}` has r s rows and k^2 c + 1 columns, so the preconditioning can help: for
k = c = 1 it makes :math:`\kappa = 1`.  "By Theorem 4" needs full column rank, so
:math:`rs \ge k^2 c + 1`: 32 x 32 maps of 32 channels with k = 3 can have it (289 rows at least),
those of 8 x 8 pixels cannot, and then the centring may make :math:`\kappa` larger.
"""

from array_api_compat import array_namespace

from theory import preconditioning
from theory.lange2022.texts import about
from theory.language.arrays import first, kappa2, smallest_square, transpose
from theory.language.expression import Letter, Operation, Primitive, Sort, equal, named, number
from theory.language.letters import number_of
from theory.layer import centring
from theory.maps import blocks, counted, k, r, s, unfolded
from theory.matrix_claim import Kind
from theory.statement import REFUTED, SUPPORTED, Form, assume

_N, _V, _M, _MAPS = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX, Sort.MAPS

one_example = Letter("h", "h", _MAPS, lambda subject: subject.h[:1, :2, :, :], r"N = 1,\ c \le 2")
SINGLE = "N = k = c = 1"
one_channel = Letter("h", "h", _MAPS, lambda subject: subject.h[:1, :1, :, :], SINGLE)
one_weight = number_of("k", "k", lambda subject: 1, SINGLE)
means = Operation("means", preconditioning.means, r"\mu_{{{0}}}", gives=_V, takes=(_M,))
variances = Operation(
    "variances", preconditioning.variances, r"\sigma_{{{0}}}^2", gives=_V, takes=(_M,)
)
upper = Operation(
    "upper triangle",
    lambda A: array_namespace(A).stack([A[0, 0], A[0, 1], A[1, 1]]),
    r"\big({0}\big)_{{11,\,12,\,22}}",
    gives=_V,
    takes=(_M,),
)
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

online = about(Kind.MAPS, "L-online", "Sect. 4, last paragraph")

CLAIMS = [
    ONE_EXAMPLE := online(
        "/convolution", 406, "the preconditioning can still offer improvements",
        "centring a convolution with one example", kappa2(HHAT @ U) <= kappa2(HHAT),
        form=Form.BOUNDARY,
        expected=REFUTED,
        remark="For N = 1. The text says 'By Theorem 4', which is about matrices of full column"
        " rank; where r s ≤ k² c there is none.",
    ),
    ONE_EXAMPLE.corrected(
        title="centring a convolution with one example, of full column rank",
        hypotheses=(FULL_COLUMN_RANK,), expected=SUPPORTED,
        remark="Full column rank needs r s > k² c.",
    ),
    online(
        "/one-weight", 406, "the preconditioning can still offer improvements",
        "one example, one channel and one weight, of maps of these sizes",
        equal(upper(transpose(CENTRED_1) @ CENTRED_1),
              triple(PIXELS, counted(number(0)), PIXELS * SIGMA2)),
        form=Form.READING,
        remark="For N = k = c = 1. So where σ > 0 the condition number of ĤP is 1.",
    ),
    online(
        "/one-weight/improves", 406, "the preconditioning can still offer improvements",
        "one example, one channel and one weight: what the preconditioning improves",
        kappa2(HHAT_1) > 1,
        form=Form.READING,
        hypotheses=(
            assume(SIGMA2 > 0, printed=False),
            assume(MU**2 > 0, printed=False),
        ),
        expected=SUPPORTED,
        remark="For N = k = c = 1. After preconditioning κ is 1, by L-online/one-weight; before, κ²"
        " is (7 + 3√5)/2 for the map (0, 2)ᵀ.",
    ),
]  # fmt: skip
