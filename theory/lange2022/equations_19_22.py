r"""(19) to (22): the means and variances of the unfolded map's columns, and of a channel.

The column of :math:`w(t, a)` in channel p holds the N windows that it meets, zeros of the padding
included, so (19) and (20) are exact.  (21) and (22), of the channel itself, are those of the
kernel's middle; (22) prints the vector :math:`\mu` for its entry :math:`\mu(p)`, as line 373 lets
one see.

"Approximately equal" is right of the means, in units of max |h| (Proposition 10), and of the
variances in units of its square.  The ratio of two variances has no bound: a constant map has
:math:`\sigma(p) = 0` and :math:`\sigma_H^2 = \theta(1 - \theta)h^2`, with :math:`\theta` the part
of the map that the window leaves out.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory.convolution import moments
from theory.lange2022.texts import at
from theory.lange2022.unfolding import augmented, by_tap, gathered, taps, total, whole, window
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def rows(h: Any) -> int:
    """N r s."""
    return h.shape[0] * h.shape[2] * h.shape[3]


def mean_at(h: Any, k: int, t: int, a: int) -> Any:
    """(19), for every channel."""
    return total(h, window(h, k, t, a)) / rows(h)


def variance_at(h: Any, k: int, t: int, a: int) -> Any:
    """(20), for every channel."""
    deviations = gathered(h, window(h, k, t, a)) - mean_at(h, k, t, a)[:, None]
    return (deviations * deviations).sum(2).sum(0) / rows(h)


def mean(h: Any) -> Any:
    """(21)."""
    return total(h, whole(h)) / rows(h)


def variance(h: Any) -> Any:
    """(22), each channel's own mean subtracted."""
    deviations = h - mean(h)[:, None, None]
    return (deviations * deviations).sum((0, 2, 3)) / rows(h)


def column_means(h: Any, k: int) -> Any:
    r""":math:`\mu_H = \mathcal H^\top e/(N r s)`, as ``(c, k, k)``."""
    xp = array_namespace(h)
    columns = augmented(h, k)[:, 1:].sum(0) / rows(h)
    return xp.permute_dims(xp.reshape(columns, (-1, k, k)), (0, 2, 1))


def column_variances(h: Any, k: int) -> Any:
    r""":math:`\sigma_H^2 = \frac1{N r s}\sum_i (\mathcal H_i - \mu_H)^2`, likewise."""
    xp = array_namespace(h)
    columns = augmented(h, k)[:, 1:]
    deviations = columns - columns.sum(0) / rows(h)
    squares = (deviations * deviations).sum(0) / rows(h)
    return xp.permute_dims(xp.reshape(squares, (-1, k, k)), (0, 2, 1))


def equation_19(maps: Maps) -> Sides:
    """The columns' means, and the sums over the windows."""
    h, k = maps.h, maps.w.shape[-1]
    return Sides(column_means(h, k), by_tap([mean_at(h, k, *tap) for tap in taps(k)], k))


def equation_20(maps: Maps) -> Sides:
    """The columns' variances, and the sums over the windows."""
    h, k = maps.h, maps.w.shape[-1]
    return Sides(column_variances(h, k), by_tap([variance_at(h, k, *tap) for tap in taps(k)], k))


def equation_21(maps: Maps) -> Sides:
    """The middle column's means, and the channels'."""
    k = maps.w.shape[-1]
    return Sides(column_means(maps.h, k)[:, k // 2, k // 2], mean(maps.h))


def equation_22(maps: Maps) -> Sides:
    """The middle column's variances, and the channels'."""
    k = maps.w.shape[-1]
    return Sides(column_variances(maps.h, k)[:, k // 2, k // 2], variance(maps.h))


def relatively_equal(maps: Maps) -> Sides:
    """The columns' variances, and a multiple of the channels'."""
    variances = column_variances(maps.h, maps.w.shape[-1])
    return Sides(variances, maps.q * maps.q * variance(maps.h)[:, None, None])


def constant_map(maps: Maps) -> Sides:
    """The columns' variances of a constant map, by the part that a window leaves out."""
    k, (r, s) = maps.w.shape[-1], maps.h.shape[2:]
    h = 0 * maps.h + maps.q
    square, expected = (h * h)[0, :, 0, 0], []
    for tap in taps(k):
        kept = sum(1 <= u <= r and 1 <= v <= s for u, v in window(h, k, *tap))
        expected.append(square * kept * (r * s - kept) / (r * s) ** 2)
    return Sides(column_variances(h, k), by_tap(expected, k))


def shipped_means(maps: Maps) -> Sides:
    """The columns' means, and the shipped ones."""
    h, k = maps.h, maps.w.shape[-1]
    return Sides(column_means(h, k), moments.column_means(h, k))


def shipped_variances(maps: Maps) -> Sides:
    """The columns' variances, and the shipped ones."""
    h, k = maps.h, maps.w.shape[-1]
    return Sides(column_variances(h, k), moments.column_variances(h, k))


NINETEEN = MatrixClaim(
    id="L-eq-19-22/19",
    row="L-eq-19-22",
    locations=at(357, "Sect. 4, eq. (19)", r"\mu_{H}(t,a,p)=\frac{1}{Nrs}"),
    statement=r"\mu_H(t, a, p) = \frac1{Nrs}\sum_{i=1}^N\sum_{u=t-\frac{k-1}2}^{r+t-\frac{k-1}2-1}"
    r"\sum_{v=a-\frac{k-1}2}^{s+a-\frac{k-1}2-1} h^{(i)}(u, v, p)",
    sides=equation_19,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one column of one unfolded map with another mean",
)

TWENTY = replace(
    NINETEEN,
    id="L-eq-19-22/20",
    locations=at(361, "Sect. 4, eq. (20)", r"(h^{(i)}(u,v,p)-\mu(t,a,p))^{2},"),
    statement=r"\sigma_H^2(t, a, p) = \frac1{Nrs}\sum_i\sum_u\sum_v"
    r" \big(h^{(i)}(u, v, p) - \mu(t, a, p)\big)^2",
    sides=equation_20,
    falsified_by="one column of one unfolded map with another variance",
    remark="The zeros of the padding count, each as (0 - mu)^2.",
)

RELATIVE = replace(
    NINETEEN,
    id="L-eq-19-22/relative",
    locations=at(365, "Sect. 4, below eq. (20)", "they are all approximately equal to the mean"),
    statement=r"\sigma_H(t, a, p)^2 \le q^2\,\sigma(p)^2",
    sides=relatively_equal,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    falsified_by="one channel whose variance is less than that of a column by more than q^2",
    remark="'Approximately' read as a ratio, with any factor.  For r = s = k = 3 and a constant"
    " map 1, sigma_H^2(1, 1) = 20/81 and sigma = 0.  In units of max |h|^2 the words are right:"
    " L-prop-10/variance.",
)

CLAIMS = [
    NINETEEN,
    NINETEEN.sharpened(
        "shipped", sides=shipped_means, statement=r"\mu_H = \text{column\_means}(h, k)"
    ),
    TWENTY,
    TWENTY.sharpened(
        "shipped", sides=shipped_variances, remark="",
        statement=r"\sigma_H^2 = \text{column\_variances}(h, k)",
    ),
    replace(
        NINETEEN, id="L-eq-19-22/21", sides=equation_21,
        locations=at(367, "Sect. 4, eq. (21)", r"\mu(p)=\frac{1}{Nrs}"),
        statement=r"\mu_H\big(\tfrac{k+1}2, \tfrac{k+1}2, p\big) = \mu(p)",
        falsified_by="one channel whose mean is not that of the kernel's middle",
    ),
    replace(
        NINETEEN, id="L-eq-19-22/22", sides=equation_22,
        locations=at(371, "Sect. 4, eq. (22)", r"(h^{(i)}(u,v,p)-\mu)^{2}}"),
        statement=r"\sigma_H^2\big(\tfrac{k+1}2, \tfrac{k+1}2, p\big) = \sigma(p)^2"
        r" = \frac1{Nrs}\sum_i\sum_u\sum_v\big(h^{(i)}(u, v, p) - \mu(p)\big)^2",
        falsified_by="one channel whose variance is not that of the kernel's middle",
        remark="Printed with mu, a vector by line 373, for mu(p).",
    ),
    RELATIVE,
    RELATIVE.corrected(
        "constant-map", sides=constant_map, relation=Relation.EQUAL, remark="",
        statement=r"\sigma_H(t, a, p)^2 = \theta_{ta}(1 - \theta_{ta})\,q^2,"
        r"\quad \sigma(p) = 0,\quad h = q \text{ constant}",
        falsified_by="one constant map with another variance of a column",
    ),
]  # fmt: skip
