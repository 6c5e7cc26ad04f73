r"""Proposition 10: the mean of a column against the mean of the channel.

With m = (k - 1)/2 the bound is :math:`\big(1 - (1 - \frac mr)(1 - \frac ms)\big)\max|h|`.  The
window of w(t, a) leaves out the part

.. math:: \theta_{ta} = 1 - \Big(1 - \frac{\min(i, r)}r\Big)\Big(1 - \frac{\min(j, s)}s\Big),
          \qquad i = \big|t - \tfrac{k+1}2\big|,\ j = \big|a - \tfrac{k+1}2\big|,

of the map and takes zeros in its place, so :math:`\mu(t, a, p) - \mu(p)` is minus
:math:`\theta_{ta}` times the mean of what is left out.  That is at most
:math:`\theta_{ta}\max|h|` for every r, s and k, with equality for a constant map.  The printed
bound is not less if one of r, s is at least m.  If both are less, it counts m rows and columns
that do not exist, and fails: r = s = N = 1, k = 5, h = 1 has the error 1 and the bound 0.
"""

from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.equations_19_22 import mean, mean_at, rows
from theory.lange2022.texts import at
from theory.lange2022.unfolding import by_tap, taps, total, whole, window
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def largest(h: Any) -> Any:
    """The largest |h| of every channel, ``(c, 1, 1)``."""
    xp = array_namespace(h)
    return xp.max(xp.abs(h), axis=(0, 2, 3))[:, None, None]


def left_out(h: Any, k: int, t: int, a: int) -> list[tuple[int, int]]:
    """The places of the map that a window leaves out."""
    met = set(window(h, k, t, a))
    return [place for place in whole(h) if place not in met]


def error(h: Any, k: int) -> Any:
    """The columns' means minus the channels', ``(c, k, k)``."""
    return by_tap([mean_at(h, k, *tap) - mean(h) for tap in taps(k)], k)


def distance(maps: Maps) -> Any:
    """Its absolute value."""
    return array_namespace(maps.h).abs(error(maps.h, maps.w.shape[-1]))


def printed(maps: Maps) -> Sides:
    """The printed bound."""
    (r, s), k = maps.h.shape[2:], maps.w.shape[-1]
    numerator = (k - 1) * (2 * r + 2 * s - (k - 1))
    return Sides(distance(maps), numerator * largest(maps.h) / (4 * r * s))


def outside(size: int, k: int, tap: int) -> int:
    """How many of a map's rows (or columns) an entry of the kernel does not meet."""
    return min(abs(tap - (k + 1) // 2), size)


def sharp(maps: Maps) -> Sides:
    """The part that a window leaves out, times the largest entry."""
    (r, s), k = maps.h.shape[2:], maps.w.shape[-1]
    each = [
        (r * s - (r - outside(r, k, t)) * (s - outside(s, k, a))) * largest(maps.h)[:, 0, 0]
        for t, a in taps(k)
    ]
    return Sides(distance(maps), by_tap([bound / (r * s) for bound in each], k))


def attained(maps: Maps) -> Sides:
    """The error at a constant map, and what a window leaves out of it."""
    h, k = 0 * maps.h + maps.q, maps.w.shape[-1]
    (r, s), constant = h.shape[2:], h[0, :, 0, 0]
    each = [
        (1 - outside(r, k, t) * (constant / constant) / r) * (s - outside(s, k, a)) / s - 1
        for t, a in taps(k)
    ]
    return Sides(error(h, k), by_tap([constant * part for part in each], k))


def by_left_out(maps: Maps) -> Sides:
    """The error, and minus the sum over what a window leaves out."""
    h, k = maps.h, maps.w.shape[-1]
    return Sides(error(h, k), by_tap([-total(h, left_out(h, k, *tap)) / rows(h)
                                      for tap in taps(k)], k))  # fmt: skip


def middle(maps: Maps) -> Sides:
    """The error of the kernel's middle."""
    k = maps.w.shape[-1]
    return Sides(error(maps.h, k)[:, k // 2, k // 2], 0 * maps.h[0, :, 0, 0])


NOT_BOTH_SMALL = Hypothesis(
    r"\max\{r, s\} \ge \tfrac{k-1}2",
    lambda maps: max(maps.h.shape[2:]) - (maps.w.shape[-1] - 1) // 2 + 0 * maps.q,
    printed=False,
)

BOUND = MatrixClaim(
    id="L-prop-10",
    row="L-prop-10",
    locations=at(383, "Sect. 4, Prop. 10", r"\max_{u,v,i}{|h^{(i)}(u,v,p)|}"),
    statement=r"|\mu(t, a, p) - \mu(p)| \le (k - 1)"
    r"\Big(\frac1{2r} + \frac1{2s} - \frac{k-1}{4rs}\Big)\max_{u, v, i}|h^{(i)}(u, v, p)|",
    sides=printed,
    subject=Kind.MAPS,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    falsified_by="one batch of maps of any r and s, and one odd k, with a larger error",
    remark="It breaks at line 716, which counts (k - 1)/2 rows and columns of the map where it has"
    " fewer: for r = s = N = 1, k = 5 and h = 1 they are 2 + 2 less 4, and the error is 1.",
)

SHARP = BOUND.sharpened(
    sides=sharp,
    expected=Verdict.SUPPORTED,
    statement=r"|\mu(t, a, p) - \mu(p)| \le \theta_{ta}\max_{u, v, i}|h^{(i)}(u, v, p)|,"
    r"\quad \theta_{ta} = 1 - \big(1 - \tfrac{\min(i, r)}r\big)\big(1 - \tfrac{\min(j, s)}s\big),"
    r"\ i = \big|t - \tfrac{k+1}2\big|,\ j = \big|a - \tfrac{k+1}2\big|",
    remark="For every r, s and odd k; by L-prop-10/left-out and the triangle inequality.",
)

CLAIMS = [
    BOUND,
    BOUND.corrected(hypotheses=(NOT_BOTH_SMALL,), expected=Verdict.SUPPORTED, remark=""),
    SHARP,
    SHARP.sharpened(
        "attained", sides=attained, relation=Relation.EQUAL,
        statement=r"\mu(t, a, p) - \mu(p) = -\theta_{ta}\,q,\quad h = q \text{ constant}",
        falsified_by="one constant map whose error is less", remark="",
    ),
    BOUND.sharpened(
        "left-out", sides=by_left_out, relation=Relation.EQUAL,
        statement=r"\mu(t, a, p) - \mu(p) = -\frac1{Nrs}\sum_i"
        r"\sum_{(u, v) \text{ left out}} h^{(i)}(u, v, p)",
        falsified_by="one window whose error is another",
        remark="The error itself: the padding adds nothing.",
    ),
    BOUND.sharpened(
        "middle", sides=middle, relation=Relation.EQUAL,
        statement=r"\mu\big(\tfrac{k+1}2, \tfrac{k+1}2, p\big) - \mu(p) = 0",
        falsified_by="one map where the kernel's middle errs", remark="",
    ),
]  # fmt: skip
