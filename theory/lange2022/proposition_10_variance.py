r"""The error of the variances, which the text announces with Proposition 10 and does not bound.

Let the window of w(t, a) leave out the part :math:`\theta` of a map (:mod:`.proposition_10`), let
a and m be the mean and the mean square of what it leaves out, and b the mean of what it keeps,
over the batch.  Zeros stand in for what is left out, so

.. math:: \sigma_H^2(t, a, p) - \sigma(p)^2 = -\theta\,(m - a^2)
          + \theta(1 - \theta)\big(b^2 - (a - b)^2\big).

With :math:`M = \max|h|`: from above :math:`\theta(1 - \theta)M^2` is a bound, since
:math:`m \ge a^2` and :math:`b^2 \le M^2`; in absolute value :math:`3\theta M^2`; and for maps after
a ReLU, :math:`h \ge 0`, :math:`M^2/4` is one at every :math:`\theta`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from array_api_compat import array_namespace

from theory.lange2022.equations_19_22 import variance, variance_at
from theory.lange2022.proposition_10 import largest, left_out
from theory.lange2022.texts import at
from theory.lange2022.unfolding import OUTSIDE, by_tap, gathered, taps, total, whole
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


class Window(NamedTuple):
    """What a window leaves out and keeps, a number for each channel."""

    part: Any
    """What part of the map it leaves out."""
    out: Any
    """The mean of what it leaves out, or zero."""
    out_square: Any
    """The mean square."""
    kept: Any
    """The mean of what it keeps, or zero."""


def window_of(h: Any, k: int, t: int, a: int) -> Window:
    """Return what the window of w(t, a) leaves out and keeps."""
    out = left_out(h, k, t, a)
    kept = [place for place in whole(h) if place not in set(out)]
    lost, left = max(h.shape[0] * len(out), 1), max(h.shape[0] * len(kept), 1)
    part = (0 * h[0, :, 0, 0] + len(out)) / len(whole(h))
    return Window(part, total(h, out) / lost, total(h * h, out) / lost, total(h, kept) / left)


def error(h: Any, k: int) -> Any:
    """The columns' variances minus the channels', ``(c, k, k)``."""
    return by_tap([variance_at(h, k, *tap) - variance(h) for tap in taps(k)], k)


def by_window(h: Any, k: int, value: Callable[[Window], Any]) -> Any:
    """A function of every window, ``(c, k, k)``."""
    return by_tap([value(window_of(h, k, *tap)) for tap in taps(k)], k)


def formula(w: Window) -> Any:
    """The error by what a window leaves out and keeps."""
    spread, step = w.out_square - w.out * w.out, w.out - w.kept
    return -w.part * spread + w.part * (1 - w.part) * (w.kept * w.kept - step * step)


def identity(maps: Maps) -> Sides:
    """The error and its formula."""
    h, k = maps.h, maps.w.shape[-1]
    return Sides(error(h, k), by_window(h, k, formula))


def from_above(maps: Maps) -> Sides:
    """The error, and the bound from above."""
    h, k = maps.h, maps.w.shape[-1]
    parts = by_window(h, k, lambda w: w.part * (1 - w.part))
    return Sides(error(h, k), parts * largest(h) * largest(h))


def in_absolute_value(maps: Maps) -> Sides:
    """The error's absolute value, and three times the part."""
    h, k = maps.h, maps.w.shape[-1]
    bound = 3 * by_window(h, k, lambda w: w.part) * largest(h) * largest(h)
    return Sides(array_namespace(h).abs(error(h, k)), bound)


def rectified(maps: Maps) -> Sides:
    """The error's absolute value for the squares of the entries, and a quarter."""
    h, k = maps.h * maps.h, maps.w.shape[-1]
    bound = 0 * error(h, k) + largest(h) * largest(h) / 4
    return Sides(array_namespace(h).abs(error(h, k)), bound)


def one_channel(maps: Maps) -> tuple[Any, Window, int]:
    """The first channel, the window of the first row's middle entry, and the kernel's size."""
    h, k = maps.h[:, :1, :, :], maps.w.shape[-1]
    return h, window_of(h, k, 1, (k + 1) // 2), k


def step(maps: Maps) -> Sides:
    """The error at that window, and the bound with q for M."""
    h, w, k = one_channel(maps)
    difference = variance_at(h, k, 1, (k + 1) // 2) - variance(h)
    return Sides(difference[0], (w.part * (1 - w.part) * maps.q * maps.q)[0])


def kept_mean(maps: Maps) -> Any:
    """What of q^2 the square of the mean of the kept entries leaves."""
    _, w, _ = one_channel(maps)
    return maps.q * maps.q - w.kept[0] * w.kept[0]


KEPT = Hypothesis(r"b^2 \le q^2", kept_mean)


def squares(maps: Maps) -> list[Term]:
    """The spread of what is left out, what q^2 exceeds b^2 by, and the square of a - b."""
    h, w, k = one_channel(maps)
    out = left_out(h, k, 1, (k + 1) // 2)
    spread = gathered(h, [*out, OUTSIDE])[:, 0, : len(out)] - w.out
    rows = h.shape[0] * h.shape[2] * h.shape[3] + 0 * maps.q
    weight = (w.part * (1 - w.part))[0]
    return [Term(1 / rows, (spread,)), Term(weight, (KEPT,)), Term(weight, (w.out - w.kept,))]


IDENTITY = MatrixClaim(
    id="L-prop-10/variance",
    row="L-prop-10",
    locations=at(375, "Sect. 4, above Prop. 10", r"The error in approximating"),
    statement=r"\sigma_H^2(t, a, p) - \sigma(p)^2 = -\theta_{ta}(m - a^2)"
    r" + \theta_{ta}(1 - \theta_{ta})\big(b^2 - (a - b)^2\big),"
    r"\quad a, m \text{ of what is left out},\ b \text{ of what is kept}",
    sides=identity,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one window of one map with another error",
    remark="New here: the text speaks of the error of the variances (line 375) and bounds that of"
    " the means only.",
)

ABOVE = IDENTITY.sharpened(
    "from-above",
    sides=from_above,
    relation=Relation.AT_MOST,
    expected=Verdict.SUPPORTED,
    statement=r"\sigma_H^2(t, a, p) - \sigma(p)^2 \le"
    r" \theta_{ta}(1 - \theta_{ta})\max_{u, v, i}|h^{(i)}(u, v, p)|^2",
    falsified_by="one window of one map with a larger variance",
    remark="",
)

CLAIMS = [
    IDENTITY,
    ABOVE,
    ABOVE.sharpened(
        "step", sides=step, hypotheses=(KEPT,), certificate=squares,
        statement=r"\sigma_H^2\big(1, \tfrac{k+1}2, p\big) - \sigma(p)^2"
        r" \le \theta(1 - \theta)\,q^2",
        remark="One window, with q for max |h|, of which no more is used.",
    ),
    replace(
        ABOVE, id="L-prop-10/variance/bound", sides=in_absolute_value,
        statement=r"|\sigma_H^2(t, a, p) - \sigma(p)^2| \le"
        r" 3\theta_{ta}\max_{u, v, i}|h^{(i)}(u, v, p)|^2",
        falsified_by="one window of one map with a larger error",
    ),
    replace(
        ABOVE, id="L-prop-10/variance/rectified", sides=rectified,
        statement=r"|\sigma_H^2(t, a, p) - \sigma(p)^2| \le"
        r" \tfrac14\max_{u, v, i} h^{(i)}(u, v, p)^2,\quad h \ge 0",
        falsified_by="one window of one map without negative entries with a larger error",
    ),
]  # fmt: skip
