r"""(19) to (22), Proposition 10: a column's mean and variance against the channel's; the factor q.

The column of :math:`w(t, a)` in channel p holds the N windows that it meets, zeros of the padding
included, so (19) and (20) are exact.  (21) and (22), of the channel itself, are those of the
kernel's middle; (22) prints the vector :math:`\mu` for its entry :math:`\mu(p)`.  "Approximately
equal" is right of the means, in units of M = max |h| (Proposition 10), and of the variances in
units of its square.  The ratio of two variances has no bound: a constant map has
:math:`\sigma(p) = 0` and :math:`\sigma_H^2 = \theta(1 - \theta)h^2`.

**The means.**  The window of w(t, a) leaves out the part

.. math:: \theta_{ta} = 1 - \Big(1 - \frac{\min(i, r)}r\Big)\Big(1 - \frac{\min(j, s)}s\Big),
          \qquad i = \big|t - \tfrac{k+1}2\big|,\ j = \big|a - \tfrac{k+1}2\big|,

of the map and takes zeros in its place, so :math:`\mu(t, a, p) - \mu(p)` is minus
:math:`\theta_{ta}` times the mean of what is left out.  That is at most :math:`\theta_{ta} M` for
every r, s and k, with equality for a constant map.  The printed bound is not less if one of r, s is
at least (k - 1)/2.  If both are less, it counts rows and columns that do not exist, and fails.

**The variances**, which the text announces and does not bound.  Let :math:`\bar h_-` and
:math:`\overline{h^2_-}` be the mean and the mean square of what a window leaves out, and
:math:`\bar h_+` the mean of what it keeps, over the batch.  Then

.. math:: \begin{aligned} E &= \sigma_H^2(t, a, p) - \sigma(p)^2
          = -\theta(\overline{h^2_-} - \bar h_-^2)
            + \theta(1 - \theta)\big(\bar h_+^2 - (\bar h_- - \bar h_+)^2\big) \\
          &= \theta(1-\theta)\bar h_+^2 - \theta(1-\theta)(\bar h_- - \bar h_+)^2
            - \theta(\overline{h^2_-} - \bar h_-^2), \end{aligned}

so from above :math:`\theta(1 - \theta)M^2` is a bound.  From below, with
:math:`\overline{h^2_-}, \bar h_+^2 \le M^2`,

.. math:: \begin{aligned}
          E + (1 - \theta + \theta^2)M^2 &= \theta(M^2 - \overline{h^2_-})
            + (\theta \bar h_- + (1-\theta)\bar h_+)^2 + (1 - \theta)^2(M^2 - \bar h_+^2), \\
          E + 3\theta(1-\theta)M^2 &= \theta(1-\theta)\big((\bar h_- + \bar h_+)^2
            + (M^2 - \bar h_+^2)\big) + \theta(M^2 - \overline{h^2_-})
            + \theta(1 - 2\theta)(M^2 - \bar h_-^2), \end{aligned}

the second, which is less, for :math:`\theta \le \tfrac12`: attained where what is left out is M and
the rest -M.  After a ReLU, :math:`0 \le h \le M` and so :math:`\overline{h^2_-} \le \bar h_- M`,

.. math:: \begin{aligned}
          E + \tfrac14 M^2 &= \theta(\bar h_- M - \overline{h^2_-})
            + (\tfrac12 M - \theta \bar h_-)^2 + 2\theta(1-\theta)\bar h_- \bar h_+, \\
          E + \theta(1-\theta)M^2 &= \theta(\bar h_- M - \overline{h^2_-})
            + 2\theta(1-\theta)\bar h_- \bar h_+ + \theta(1 - 2\theta)M(M - \bar h_-)
            + \theta^2(M - \bar h_-)^2, \end{aligned}

the second for :math:`\theta \le \tfrac12` again: attained where what is left out is M, the rest 0.

**The proof.**  The windows of a k x k kernel reach r + k - 1 rows, half of k - 1 on each side; it
has r + (k - 1)/2.

**The factor q** below the proposition, and the norm that it is to estimate.  The estimate
:math:`\max\{\sqrt{k^2 c}, \sqrt N (rs)^{1/4}\}` over q is :math:`\sqrt N`.

Whether layers become comparable depends on the loss as much.  A loss that sums over the pixels
gives the bias the entry :math:`rs f''`, one of their mean gives :math:`f''`; over
:math:`q^2 = \sqrt{rs}` they are :math:`\sqrt{rs} f''` and :math:`f''/\sqrt{rs}`: so q is the
geometric mean of two extremes, and a heuristic.
"""

from typing import Any

import numpy as np
from array_api_compat import array_namespace

from theory import maps, preconditioning
from theory.arithmetic.constants import numbers
from theory.arithmetic.operations import none_zero
from theory.arithmetic.spectra import eigenvalues
from theory.convolution import moments
from theory.lange2022.texts import about
from theory.language.arrays import absolute, column, maximum, norm2
from theory.language.expression import (
    Binding,
    Expression,
    Letter,
    Operation,
    Says,
    Sort,
    equal,
    named,
    number,
)
from theory.language.letters import free, number_of
from theory.language.operations import sqrt
from theory.maps import (
    WINDOW,
    H_cal,
    Hhat,
    N,
    a,
    at_corner,
    at_top,
    blocks,
    c,
    column_mean,
    column_variance,
    counted,
    greatest,
    h,
    joined,
    k,
    kept_mean,
    largest_entry,
    left_out_deviations,
    left_out_mean,
    left_out_square,
    left_out_sum,
    map_sum,
    mean_at,
    mean_of,
    middle,
    minimum,
    outputs,
    pair,
    parameters,
    q,
    r,
    s,
    t,
    twice_along,
    variance_at,
    variance_of,
    what,
    window_sum,
)
from theory.matrix_claim import Kind
from theory.statement import REFUTED, SUPPORTED, Form, Hypothesis, assume

_N, _V, _M, _MAPS = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX, Sort.MAPS


def part_left_out(rows: Expression, columns: Expression) -> Expression:
    """The part of a map that a window leaves out that is so many rows and columns off."""
    lost_rows, lost_columns = counted(minimum(rows, r)), counted(minimum(columns, s))
    return 1 - (1 - lost_rows / r) * (1 - lost_columns / s)


theta = named(r"\theta_{ta}", part_left_out(absolute(t - (k + 1) / 2), absolute(a - (k + 1) / 2)))
theta_corner = named(r"\theta_{11}", part_left_out((k - 1) / 2, (k - 1) / 2))
"""The largest of them."""
mu_at, mu = named(r"\mu(t, a, p)", mean_at(h)), named(r"\mu(p)", mean_of(h))
sigma2 = named(r"\sigma(p)^2", variance_of(h))
M = largest_entry(h)
constant = Letter(
    "q*ones", r"(q\mathbf 1)", _MAPS, lambda subject: 0 * subject.h + subject.q, r"q > 0"
)
"""Maps that are constant."""
H_OF_CONSTANT = named(
    r"\mathcal H(q\mathbf 1)", joined(named(r"H_p(q\mathbf 1)", blocks(constant, k)))
)
OF_CONSTANT = named(
    r"\sigma_H^2(t, a, p)\ \text{of the map}\ q\mathbf 1", column_variance(H_OF_CONSTANT, k)
)

# (19) to (22)

moments_of = about(Kind.MAPS, "L-eq-19-22", "Sect. 4")
library_means = Operation(
    "column_means", moments.column_means, r"\operatorname{{column\_means}}({0}, {1})",
    takes=(_MAPS, _N),
)  # fmt: skip
library_variances = Operation(
    "column_variances", moments.column_variances,
    r"\operatorname{{column\_variances}}({0}, {1})", takes=(_MAPS, _N),
)  # fmt: skip
COLUMN_MEAN, COLUMN_VARIANCE = column_mean(H_cal, k), column_variance(H_cal, k)

MOMENTS = [
    NINETEEN := moments_of(
        "/19", 357, r"\mu_{H}(t,a,p)=\frac{1}{Nrs}", "the mean of a column",
        equal(COLUMN_MEAN, mean_at(h)), at="eq. (19)",
    ),
    NINETEEN.sharpened(
        "shipped", says=equal(COLUMN_MEAN, library_means(h, k)), title="the mean of a column, by"
        " the library"
    ),
    TWENTY := moments_of(
        "/20", 361, r"(h^{(i)}(u,v,p)-\mu(t,a,p))^{2},", "the variance of a column",
        equal(COLUMN_VARIANCE, variance_at(h)), at="eq. (20)",
        remark="The zeros of the padding count, each as (0 - μ)².",
    ),
    TWENTY.sharpened(
        "shipped", says=equal(COLUMN_VARIANCE, library_variances(h, k)),
        title="the variance of a column, by this project's function",
    ),
    moments_of(
        "/21", 367, r"\mu(p)=\frac{1}{Nrs}", "the mean of a channel",
        equal(middle(COLUMN_MEAN), mean_of(h)), at="eq. (21)",
    ),
    moments_of(
        "/22", 371, r"(h^{(i)}(u,v,p)-\mu)^{2}}", "the variance of a channel",
        equal(middle(COLUMN_VARIANCE), variance_of(h)), at="eq. (22)",
        remark="Printed with μ, a vector by the line below, for μ(p).",
    ),
    RELATIVE := moments_of(
        "/relative", 365, "they are all approximately equal to the mean",
        "the ratio of a column's variance to the channel's",
        COLUMN_VARIANCE <= q**2 * sigma2, at="below eq. (20)", form=Form.READING, expected=REFUTED,
        remark="'Approximately' read as a ratio, with any factor. The text has large r and s; for a"
        " constant map it fails at all of them, by the entry below: for r = s = k = 3 and the map 1"
        " σ_H²(1, 1) = 20/81 and σ = 0. In units of max |h|² the words are right:"
        " L-prop-10/variance.",
    ),
    RELATIVE.corrected(
        "constant-map",
        says=equal(OF_CONSTANT, theta * (1 - theta) * q**2),
        title="the variance of a column for a constant map", remark="There σ(p) = 0.",
    ),
]  # fmt: skip

# The error of the means

PRINTED_BOUND = (k - 1) * (1 / (2 * r) + 1 / (2 * s) - (k - 1) / (4 * r * s))
ROW_SHARE, COLUMN_SHARE = (k - 1) / (2 * r), (k - 1) / (2 * s)
NOT_BOTH_SMALL = assume(counted(greatest(r, s)) >= counted((k - 1) / 2), printed=False)
tenth = about(Kind.MAPS, "L-prop-10", "Sect. 4, Prop. 10")
MEANS = [
    BOUND := tenth(
        "", 383, r"\max_{u,v,i}{|h^{(i)}(u,v,p)|}", "the error of the means",
        absolute(mu_at - mu) <= PRINTED_BOUND * largest_entry(h),
        expected=REFUTED,
        remark="The proof counts (k - 1)/2 rows and columns of the map where it has fewer. For r ="
        " s = N = 1, k = 5 and h = 1 it counts 2 + 2 - 4 = 0 places that are left out, and the"
        " error is 1.",
    ),
    BOUND.corrected(
        title="the error of the means, unless both sizes are small",
        hypotheses=(NOT_BOTH_SMALL,), expected=SUPPORTED,
    ),
    SHARP := BOUND.sharpened(
        says=absolute(mu_at - mu) <= theta * largest_entry(h),
        title="the error of the means, for every size",
        expected=SUPPORTED,
        remark="For every r, s and odd k; by L-prop-10/left-out and the triangle inequality.",
    ),
    SHARP.sharpened(
        "attained", title="a constant map has the largest error of the means",
        says=equal(mean_at(constant) - mean_of(constant), -(theta * q)),
    ),
    BOUND.sharpened(
        "how-much",
        says=equal(
            theta_corner - PRINTED_BOUND, (ROW_SHARE - 1) * (COLUMN_SHARE - 1) - (1 - theta_corner)
        ),
        title="by how much the printed bound of the error of the means is wrong for a constant map",
        remark="The corner's window leaves out the part θ of a constant map, which is its error,"
        " and keeps 1 - θ: nothing where r or s is at most (k - 1)/2. So for a constant map the"
        " bound fails, whatever the channels and the batch, exactly where both r and s are less"
        " than that.",
    ),
    BOUND.sharpened(
        "left-out", title="the error of the means, exactly",
        says=equal(mu_at - mu, -(1 / (N * r * s) * left_out_sum(h, *WINDOW))),
        remark="What is left out is the whole error: the padding adds nothing.",
    ),
    BOUND.sharpened(
        "middle", says=equal(middle(mu_at - mu), 0),
        title="the mean at the kernel's middle has no error",
    ),
]  # fmt: skip

# The error of the variances

OF_A_WINDOW = {
    r"\bar h_-": left_out_mean(h, *WINDOW),
    r"\overline{h^2_-}": left_out_square(h, *WINDOW),
    r"\bar h_+": kept_mean(h, *WINDOW),
}
OUT, OUT_SQUARE, KEPT_MEAN = (named(latex, mean) for latex, mean in OF_A_WINDOW.items())


def error_of(h: Expression) -> Expression:
    """Return the error of the variances of some maps."""
    of_column = named(r"\sigma_H^2(t, a, p)", variance_at(h))
    return of_column - named(r"\sigma(p)^2", variance_of(h))


ERROR = error_of(h)
FORMULA = -(theta * (OUT_SQUARE - OUT**2)) + theta * (1 - theta) * (
    KEPT_MEAN**2 - (OUT - KEPT_MEAN) ** 2
)
RECTIFIED = Letter("h", "h", _MAPS, lambda subject: subject.h * subject.h, r"h \ge 0")
"""Maps without negative entries: of squares."""
ERROR_RECTIFIED = error_of(RECTIFIED)
M_RECTIFIED = largest_entry(RECTIFIED)
SMALL = assume(theta_corner <= number(1) / 2, printed=False)
"""At most half of a map is left out by any window."""


# One window, with q for max |h|: the letters are what it leaves out and keeps

part, out, out_square, kept = (
    named(latex, at_top(family)) for latex, family in {r"\theta": theta, **OF_A_WINDOW}.items()
)
TOP = ((3 - k) / 2, r - (k - 1) / 2, 1, s)
SPREAD = left_out_deviations(h, *TOP)
ERROR_TOP = at_top(ERROR)
WHAT_IS_KEPT = r"\bar h_+ \text{ the mean of what the window keeps}"
KEPT = assume(kept**2 <= q**2, words=rf"\bar h_+^{{2}} \le q^{{2}},\ {WHAT_IS_KEPT}", printed=False)
SQUARES = assume(
    out_square <= q**2,
    words=r"\overline{h^2_-} \le q^{2},"
    r"\ \overline{h^2_-} \text{ the mean square of what the window leaves out}",
    printed=False,
)
HALF = assume(part <= number(1) / 2, printed=False)
OUT_BELOW, OUT_ABOVE = assume(out <= q, printed=False), assume(out >= 0, printed=False)
KEPT_ABOVE = assume(kept >= 0, words=rf"\bar h_+ \ge 0,\ {WHAT_IS_KEPT}", printed=False)
BETWEEN = assume(
    out_square <= q * out,
    words=r"\overline{h^2_-} \le q \bar h_-,"
    r"\ \text{the mean square and the mean of what the window leaves out}",
    printed=False,
)
"""The mean square of numbers between 0 and q is at most q times their mean."""
VARIANCE_OUT = 1 / (N * r * s) * norm2(SPREAD)
"""theta times the variance of what is left out."""


def _with_rows(kept: int) -> Any:
    """Return maps that are q where that window leaves them out, and a multiple of it elsewhere."""

    def value(subject: Any) -> Any:
        rows, lost = subject.h.shape[2], (subject.w.shape[-1] - 1) // 2
        levels = [1 if u >= rows - lost else kept for u in range(rows)]
        column = numbers(levels, subject.h)[:, None]
        return 0 * subject.h + subject.q * ((0 * subject.q + 1) * column)

    return value


_ELSEWHERE = r"h = q \text{ where the window leaves it out, } "
signed = Letter("h", "h", _MAPS, _with_rows(-1), _ELSEWHERE + r"-q \text{ elsewhere}")
unsigned = Letter("h", "h", _MAPS, _with_rows(0), _ELSEWHERE + r"0 \text{ elsewhere}")


def at_one_window(
    claim: Any, says: Says, hypotheses: tuple[Hypothesis, ...], because: Expression
) -> Any:
    """Return the proof of a bound at one window."""
    return claim.sharpened(
        "step", says=says, hypotheses=hypotheses, because=because,
        title=f"{claim.title}: one window",
        remark="For one window. q stands for max |h|; no more is used of it than the hypotheses"
        " say.",
    )  # fmt: skip


VARIANCES = [
    IDENTITY := about(Kind.MAPS, "L-prop-10", "Sect. 4, above Prop. 10")(
        "/variance", 375, r"The error in approximating", "the error of the variances, exactly",
        equal(ERROR, FORMULA),
        form=Form.SHARPENED, amends="L-prop-10",
        remark="A minus marks means of what the window leaves out, a plus of what it keeps; a mean"
        " over no place is taken as 0, and has the factor 0. The text speaks of the error of the"
        " variances and bounds that of the means only.",
    ),
    ABOVE := IDENTITY.sharpened(
        "from-above", title="the error of the variances from above",
        says=ERROR <= theta * (1 - theta) * M**2,
        expected=SUPPORTED,
    ),
    at_one_window(
        ABOVE, ERROR_TOP <= part * (1 - part) * q**2, (KEPT,),
        VARIANCE_OUT + part * (1 - part) * KEPT.slack + part * (1 - part) * (out - kept) ** 2,
    ),
    SIGNED := IDENTITY.sharpened(
        "bound", title="the error of the variances, where windows leave out at most half",
        says=absolute(ERROR) <= 3 * theta * (1 - theta) * M**2,
        hypotheses=(SMALL,), expected=SUPPORTED,
    ),
    at_one_window(
        SIGNED, ERROR_TOP >= -(3 * part * (1 - part) * q**2), (KEPT, SQUARES, HALF),
        part * (1 - part) * (out + kept) ** 2 + part * (1 - part) * KEPT.slack
        + part * SQUARES.slack + 2 * HALF.slack * part * SQUARES.slack
        + 2 * HALF.slack * VARIANCE_OUT,
    ),
    SIGNED.sharpened(
        "attained", says=equal(at_top(error_of(signed)), -(3 * part * (1 - part) * q**2)),
        title="maps that attain the bound of the error of the variances", hypotheses=(),
    ),
    SIGNED_ANY := SIGNED.sharpened(
        "any-window", title="the error of the variances, whatever windows leave out",
        says=absolute(ERROR) <= (1 - theta + theta**2) * M**2,
        hypotheses=(), expected=SUPPORTED,
        remark="It is for windows that leave out more than half: for others"
        " L-prop-10/variance/bound is no larger.",
    ),
    at_one_window(
        SIGNED_ANY, ERROR_TOP >= -((1 - part + part**2) * q**2), (KEPT, SQUARES),
        part * SQUARES.slack + (part * out + (1 - part) * kept) ** 2
        + (1 - part) ** 2 * KEPT.slack,
    ),
    RELU := IDENTITY.sharpened(
        "rectified", title="the error of the variances after a ReLU",
        says=absolute(ERROR_RECTIFIED) <= M_RECTIFIED**2 / 4,
        expected=SUPPORTED,
        remark="For maps without negative entries; those examined are of squares.",
    ),
    at_one_window(
        RELU, ERROR_TOP >= -(q**2 / 4), (BETWEEN, OUT_ABOVE, KEPT_ABOVE),
        part * BETWEEN.slack + (q / 2 - part * out) ** 2
        + 2 * part * (1 - part) * OUT_ABOVE.slack * KEPT_ABOVE.slack,
    ),
    RELU_SMALL := RELU.sharpened(
        "small-windows",
        title="the error of the variances after a ReLU, where windows leave out at most half",
        says=absolute(ERROR_RECTIFIED) <= theta * (1 - theta) * M_RECTIFIED**2,
        hypotheses=(SMALL,), expected=SUPPORTED,
        remark=RELU.remark,
    ),
    at_one_window(
        RELU_SMALL, ERROR_TOP >= -(part * (1 - part) * q**2),
        (BETWEEN, OUT_ABOVE, KEPT_ABOVE, OUT_BELOW, HALF),
        part * BETWEEN.slack + 2 * part * (1 - part) * OUT_ABOVE.slack * KEPT_ABOVE.slack
        + 2 * HALF.slack * part * q * OUT_BELOW.slack + part**2 * (q - out) ** 2,
    ),
    RELU_SMALL.sharpened(
        "attained", says=equal(at_top(error_of(unsigned)), -(part * (1 - part) * q**2)),
        title="maps that attain the bound of the error of the variances after a"
        " ReLU", hypotheses=(), remark="",
    ),
]  # fmt: skip

# The proof

proof = about(
    Kind.MAPS, "L-proof-prop-10", "App. A, proof of Prop. 10", result="L-steps", form=Form.STEP
)
reached_rows = Operation(
    "rows reached", lambda top, bottom: np.max(bottom) - np.min(top) + 1,
    r"\#\{{u: {0} \le u \le {1} \text{{ for some }} t\}}", takes=(_N, _N),
)  # fmt: skip
left_out_places = Operation(
    "places left out", maps.count_left_out,
    r"\#\{{(u, v) \in [1, {0}] \times [1, {1}]:"
    r" u \notin [{2}, {3}] \text{{ or }} v \notin [{4}, {5}]\}}",
    takes=(_N,) * 6,
)  # fmt: skip
most = Operation(
    "max over t and a of", np.max, r"\max_{{t,a}} {0:operator}", takes=(_N,), binds=Binding.OPERATOR
)
any_r = number_of("r", "r", "q", "r > 0")
any_s = number_of("s", "s", free(0), r"s \ne 0")
any_k = number_of("k", "k", free(1))
ROWS = counted(reached_rows(*WINDOW[:2]))
PLACES = left_out_places(r, s, *WINDOW)

PROOF = [
    proof(
        "/eq-35", 714, r"=\frac{1}{Nrs}\Bigg{|}\sum_{i=1}^{N}",
        "the error of the means as a difference of sums",
        equal((mu_at - mu) ** 2, 1 / (N * r * s) ** 2 * (window_sum(h, *WINDOW) - map_sum(h)) ** 2),
        at="eq. (35)",
    ),
    PADDED := proof(
        "/padded", 716, "from padded", "how many rows the windows reach",
        equal(ROWS, counted(r + (k - 1) / 2)),
        expected=REFUTED,
        remark="The zeros stand on both sides: Figure 1 has 6 × 5 for r = 4, s = 3, k = 3. The"
        " count of what is left out does not depend on it.",
    ),
    PADDED.corrected(
        says=equal(ROWS, counted(r + k - 1)),
        title="how many rows the windows reach, on both sides",
    ),
    COUNTED := proof(
        "/counted", 716, "gives a difference of at most", "how many places a window leaves out",
        counted(most(PLACES)) <= counted((k - 1) / 2 * (r + s) - (k - 1) ** 2 / 4),
        expected=REFUTED,
        remark="For r = s = 1 and k = 5 the corner's window leaves out the one place there is; the"
        " count is 2 (1 + 1) - 4 = 0.",
    ),
    COUNTED.corrected(
        hypotheses=(NOT_BOTH_SMALL,), expected=SUPPORTED,
        title="how many places a window leaves out, unless both sizes are small",
    ),
    COUNTED.sharpened(
        "corner", title="how many places the corner's window leaves out",
        says=equal(counted(at_corner(PLACES)), theta_corner * r * s),
    ),
    proof(
        "/last-display", 718, r"\frac{(k-1)(r+s)-\frac{(k-1)^{2}}{2}}{2rs}",
        "both forms of the bound on the error of the means",
        equal(
            ((any_k - 1) * (any_r + any_s) - (any_k - 1) ** 2 / 2) / (2 * any_r * any_s),
            (any_k - 1) * (1 / (2 * any_r) + 1 / (2 * any_s) - (any_k - 1) / (4 * any_r * any_s)),
        ),
    ),
]  # fmt: skip

# The factor q


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
    r"\begin{{bmatrix}}1 & -{0:atom}^\top \operatorname{{diag}}({1})^{{-1}}\\"
    r" 0 & \operatorname{{diag}}({1})^{{-1}}\end{{bmatrix}}",
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
ESTIMATE2 = maximum(counted(k**2 * c), N * sqrt(counted(r * s)))
Q2 = maximum(counted(k**2 * c) / N, sqrt(counted(r * s)))
PIXELS = counted(N * r * s)
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
ROOT = sqrt(counted(r * s))

factor = about(Kind.MAPS, "L-q-conv", "Sect. 4, below Prop. 10")

FACTOR = [
    ESTIMATE := factor(
        "", 385, "We therefore suggest to use", "the norm estimate of a convolution layer",
        NORM2 <= ESTIMATE2,
        hypotheses=(VARIES,), form=Form.READING, expected=REFUTED,
        remark="'Estimate' read as a bound. No constant helps, since the column e has the norm √(N"
        " r s). max{√(k² c), √(N r s)}, which the text sets aside, grows with r and s as the norm"
        " does; where neighbouring pixels are alike the norm is larger, by a factor of up to k √c.",
    ),
    ESTIMATE.corrected(
        says=NORM2 >= PIXELS, title="the norm of a convolution layer from below",
        expected=SUPPORTED,
    ),
    ESTIMATE.corrected(
        "first-column",
        says=equal(norm2(column(Hhat @ P(column_means, deviations))), PIXELS),
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

CLAIMS = [*MOMENTS, *VARIANCES, *MEANS, *PROOF, *FACTOR]
