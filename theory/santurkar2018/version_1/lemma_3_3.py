r"""Lemma 3.3, in the appendix C.5: weights that fit the labels still fit them with the layer.

One unit, Wx and W'x any batches of mean zero, labels of mean zero.  The norm that makes BN(Wx) of
norm one is the root of the mean square, :math:`\|v\|_m^2 = \frac1m\sum_b v_b^2`.  The statement: if
:math:`\|BN(W'x) - \ell\| < \varepsilon` for some W' and :math:`\|Wx - \ell\| < \varepsilon`, then
:math:`\|BN(Wx) - \ell\| < 3\varepsilon\frac{1 + \varepsilon}{1 - 2\varepsilon}`.

- It needs :math:`\varepsilon < 1/2`, used silently at (31): at 1 the right side is -6.  Then it
  holds, and the factor is superfluous, as it is for every epsilon: BN(y) is the point nearest to y
  among those of mean zero and norm one, and BN(W'x) is another, so that
  :math:`\|BN(y) - \ell\| \le \|BN(W'x) - y\| + \|y - \ell\| < 3\varepsilon`.  The Euclidean norm
  does as well.
- For one unit there is a sharp bound, :math:`\sqrt2\varepsilon` to first order: the inner product
  of BN(y) and the labels is bounded from below by the second condition, and the first keeps
  :math:`\|\ell\|` between :math:`1 \mp \varepsilon`.
- With the layer's own epsilon it falls, because :math:`\|BN\|` is not one any more, (19) to (20):
  labels that W and W' fit exactly are smaller than one, and the layer takes Wx away from them.
- With the squared norm for the loss it follows from the sharp bound up to 1/4; above, Wx may lie
  across the origin from the labels: W'x = (1, -1), l = (1, -1)/2, Wx = -(1, -1)/1000 and 13/50.

Of the proof's lines, (18) and (23) are the conditions, and (22) is empty.  (28) needs the root mean
square.  (30) has lost a delimiter and prints "=" for "at most", as does (31).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from theory import batchnorm
from theory.arithmetic import norm_squared
from theory.batchnorm import centre
from theory.claim import Form, Hypothesis, Reading
from theory.language.expression import Expression, Letter, Sort, equal, named, number
from theory.language.letters import number_of, vector_of
from theory.language.operations import norm, norm2, sqrt
from theory.santurkar2018.chosen import NOTHING, ROOT_FREE, SIGNS, signs_with, with_hints
from theory.santurkar2018.letters import EPS
from theory.santurkar2018.texts import ONE_TEXT, lines_of, readings_of, version_1
from theory.santurkar2018.version_1.letters import TWO_EPSILONS
from theory.santurkar2018.version_1.letters import any_epsilon as any_e
from theory.statement import PROVED, REFUTED, UNREADABLE, assume
from theory.unit import bound, m, normalize, sigma, y

LABELS = Letter("l", r"\ell", Sort.VECTOR, lambda unit: centre(unit.direction), r"\mu_\ell = 0")
WX = Letter("Wx", "Wx", Sort.VECTOR, lambda unit: centre(unit.y), r"Wx = y - \mu_y\mathbf 1")
OTHER_WX = vector_of("W'x", "W'x", "other_direction")
BN_WX = named(r"\mathrm{BN}(Wx)", normalize(y))
ATTAINED = named(r"\mathrm{BN}(W'x)", normalize(OTHER_WX))


def mean_square(x: Expression) -> Expression:
    r"""Return :math:`\|x\|_m^2 = \frac1m\sum_b x_b^2`."""
    return named(r"\|{0}\|_m^2", norm2(x) / m, x)


def size(x: Expression) -> Expression:
    r"""Return :math:`\|x\|_m`."""
    return named(r"\|{0}\|_m", sqrt(norm2(x) / m), x)


def root(unit: Any) -> Any:
    r"""Return :math:`\sqrt{1 - 2\varepsilon}` for any epsilon in (0, 1/2)."""
    return 1 / (1 + unit.bound)


def error(unit: Any) -> Any:
    r"""Return :math:`\varepsilon`, any number in (0, 1/2)."""
    return (1 - root(unit) ** 2) / 2


def epsilon(value: Callable[[Any], Any]) -> Letter:
    r"""Return a letter :math:`\varepsilon` that is below one half."""
    return number_of("varepsilon", r"\varepsilon", value, any_e.domain)


def below_half(e: Letter) -> Hypothesis:
    """Return what the text leaves out."""
    return assume(e < 1 / number(2), printed=False)


e = epsilon(error)
t = named(r"\sqrt{1 - 2\varepsilon}", 1 / (1 + bound))
small_e = epsilon(lambda unit: unit.bound / (30 * unit.bound + 1))
"""Below 1/30, where the bound is small."""
large_e = epsilon(lambda unit: (13 + 12 * (unit.bound - 1)) / (2 * (25 + 24 * (unit.bound - 1))))
"""Above 1/4, where squares of labels half as large meet the conditions."""


def printed_factor(e: Expression) -> Expression:
    r"""Return :math:`3\frac{1 + \varepsilon}{1 - 2\varepsilon}`."""
    return 3 * ((1 + e) / (1 - 2 * e))


def brought_near(radius: Callable[[Any], Any], is_mean: bool) -> Callable[[Any], Any]:
    """Return how to put the labels within e of BN(W'x), and Wx within e of the labels."""

    def step(x: Any, case: Any) -> Any:
        square = norm_squared(centre(x)) / (len(x) if is_mean else 1)
        return centre(x) * (2 * radius(case) / (1 + square))

    def impose(case: Any) -> Any:
        goal = batchnorm.normalize(case.other_direction, case.eps)
        near = goal + step(case.direction, case)
        return replace(case, direction=near, y=near + step(case.y, case))

    return impose


def fitted_exactly(case: Any) -> Any:
    """Let W'x be four signs, both networks fit the labels exactly, and the text's ε be 1/4."""
    given = signs_with(first=NOTHING, second=SIGNS)(case)
    return replace(given, y=0 * given.y, bound=1 / (0 * given.bound + 4))


def half_of_attained(case: Any) -> Any:
    """Let the labels be half of what W' gives with the layer, and Wx be small."""
    goal = batchnorm.normalize(case.other_direction, case.eps)
    return replace(case, direction=goal / 2, y=case.y / 1000)


def fits(
    square: Callable[[Expression], Expression], limit: Expression, impose: Any = None
) -> tuple[Hypothesis, Hypothesis]:
    """Return that W' fits the labels with the layer, and W without it."""
    return (assume(square(ATTAINED - LABELS) < limit, impose), assume(square(WX - LABELS) < limit))


BELOW_HALF = below_half(e)
NEAR = fits(mean_square, e**2, brought_near(error, is_mean=True))
NEAR_EUCLIDEAN = fits(norm2, e**2, brought_near(error, is_mean=False))
CONDITIONS = (*NEAR, BELOW_HALF)
ANY = fits(mean_square, any_e**2, brought_near(lambda case: case.bound, is_mean=True))
SQUARES = fits(mean_square, large_e, half_of_attained)


def nearest(both: tuple[Hypothesis, Hypothesis], per: Expression = m) -> Expression:
    """Return 9 e^2 less the squared distance to the labels; BN(Wx) is nearest to Wx."""
    attainable, fitted = both
    return (
        3 * attainable.slack
        + 6 * fitted.slack
        + 3 * sigma / (2 * per) * norm2(BN_WX - ATTAINED)
        + 6 / per * norm2((ATTAINED + WX) / 2 - LABELS)
        + 2 / per * norm2((BN_WX - 3 * WX + 2 * LABELS) / 2)
    )


def near(x: Expression, off: Expression, is_small: Hypothesis) -> Expression:
    """Return (|x| + e)^2 less the square of x + off, where off is smaller than e."""
    r = size(x)
    return (
        1 / any_e * sqrt(r) ** 2 * is_small.slack
        + number(1) * is_small.slack
        + any_e / m * (1 / sqrt(r)) ** 2 * norm2(x - r / any_e * off)
    )


QUOTE = r"\left(\frac{1+\varepsilon}{1-2\varepsilon}\right)"
lemma = readings_of(
    "S-v1-lemma-3.3",
    (version_1(175, "Sect. 3.3, Lemma 3.3", QUOTE), version_1(485, "App. C, Lemma C.5", QUOTE)),
    "near-optimal weights stay near-optimal, ",
)

MISSED = mean_square(BN_WX - LABELS)
RATIO = printed_factor(e)
ROOM = 27 * e**3 * (2 - e) / (1 - 2 * e) ** 2
"""The square of the lemma's bound less 9 e^2."""
EXACT_FIT = assume(
    equal(norm2(ATTAINED - LABELS) + norm2(WX - LABELS), 0),
    lambda case: replace(
        case,
        y=batchnorm.normalize(case.other_direction, case.eps),
        direction=batchnorm.normalize(case.other_direction, case.eps),
    ),
    printed=False, words=r"\mathrm{BN}(W'x) = \ell,\ Wx = \ell",
)  # fmt: skip
FITTED_EXACTLY = assume(
    equal(norm2(WX - LABELS), 0),
    lambda case: replace(case, direction=case.direction + centre(case.y - case.direction)),
    printed=False, words=r"Wx = \ell",
)  # fmt: skip
SHIFT = named(r"\left(\frac1\sigma - 1\right) Wx", (1 / sigma - 1) * WX)
"""What the layer moves Wx by."""
attainable, fitted = NEAR
UPPER, REST = (sigma - (1 + t - t**2)) ** 2, (1 - t) ** 3 * (1 + t)
WEIGHT = 1 / ((2 - 2 * t**2) * e * sigma)
SHARP_SLACK = (
    1 / sigma * fitted.slack
    + WEIGHT / m * norm2(LABELS - (1 - e) * ATTAINED) * UPPER
    + WEIGHT / m * REST * norm2(LABELS - (1 - e) * ATTAINED)
    + WEIGHT * (1 - e) * attainable.slack * UPPER
    + WEIGHT * REST * (1 - e) * attainable.slack
    + WEIGHT / m * norm2(LABELS - (1 + e) * ATTAINED) * (sigma - t) ** 2
    + WEIGHT * (1 + e) * attainable.slack * (sigma - t) ** 2
)
r"""The slack is linear in :math:`\|\ell\|^2`, and a square at both ends of the interval
:math:`[(1 - \varepsilon)^2, (1 + \varepsilon)^2]` where the first condition keeps it."""
SHARP = 1 + (1 - e) ** 2 - 2 * t
LEMMA = [
    PRINTED := lemma(
        "", MISSED < (RATIO * e) ** 2, "the norm the root mean square",
        form=Form.PRINTED, hypotheses=CONDITIONS, because=nearest(NEAR) + ROOM,
        remark="The factor (1 + ε)/(1 - 2ε) is not needed, and for one unit √2 will do for 3, to"
        " first order in ε.",
    ),
    lemma(
        "/euclidean", norm2(BN_WX - LABELS) < (RATIO * e) ** 2, "the Euclidean norm",
        hypotheses=(*NEAR_EUCLIDEAN, BELOW_HALF),
        because=nearest(NEAR_EUCLIDEAN, number(1)) + ROOM,
        remark="The proof's |BN(Wx)| = 1 is false in this norm; the statement is not.",
    ),
    ANY_ERROR := lemma(
        "/any-epsilon", size(BN_WX - LABELS) < printed_factor(any_e) * any_e, "any ε > 0",
        hypotheses=ANY, expected=REFUTED,
        remark="The text has ε > 0. From 1/2 on the bound is negative or undefined; smaller ε are"
        " meant.",
    ),
    SHARED := lemma(
        "/eps", MISSED < (printed_factor(small_e) * small_e) ** 2, "the layer with an epsilon",
        reading=Reading.SHARED_EPSILON, hypotheses=(EXACT_FIT, below_half(small_e)),
        expected=REFUTED,
        remark="Labels that are fitted exactly have a norm below one with ϵ, and the layer takes Wx"
        " away from them. "
        + TWO_EPSILONS,
    ),
    SHARED.corrected(
        says=MISSED < (any_e + size(SHIFT)) ** 2,
        hypotheses=(ANY[1],),
        because=near(SHIFT, WX - LABELS, ANY[1]),
        title="near-optimal weights with an epsilon: what it adds to the error",
        remark=f"The slack is that of the condition and of the triangle inequality. {TWO_EPSILONS}",
    ),
    SHARED.sharpened(
        "exact-fit", title="what an epsilon takes from labels that are fitted exactly",
        says=equal(MISSED, (1 - 1 / sigma) ** 2 * mean_square(LABELS)),
        hypotheses=(FITTED_EXACTLY,),
        remark="This is lost whatever ε is; it is zero only where ‖ℓ‖²/m = 1 - ϵ, or ℓ = 0.",
    ),
    ANY_ERROR.corrected(
        says=MISSED < (3 * any_e) ** 2,
        because=nearest(ANY),
        remark="BN(Wx) is the point of norm one that is nearest to Wx, and BN(W'x) is another. The"
        " slack is their difference, and that of the triangle inequality, used twice.",
    ),
    PRINTED.sharpened(
        says=MISSED < SHARP,
        because=SHARP_SLACK,
        title="near-optimal weights stay near-optimal, the sharp bound",
        remark="For one unit. For m ≥ 3 no smaller bound holds.",
    ),
    SQUARED := lemma(
        "/squared", MISSED < printed_factor(large_e) * large_e, "the squared norm for the loss",
        hypotheses=(*SQUARES, below_half(large_e)), expected=REFUTED,
    ),
    SQUARED.corrected(
        says=MISSED < printed_factor(e**2) * e**2,
        hypotheses=CONDITIONS,
        because=SHARP_SLACK + number(1) * (printed_factor(e**2) * e**2 - SHARP),
        title="near-optimal weights stay near-optimal, the squared norm, below 1/4",
        remark="Here ε² is the text's ε, for the mean square as the loss, and so below 1/4."
        " Whatever it is, 9 times it is a bound too.",
    ),
]  # fmt: skip

line = lines_of("App. C, proof of Lemma C.5", "S-v1-steps")
TRIANGLE = {
    "hypotheses": ANY,
    "remark": "The slack is that of the condition and of the triangle inequality.",
}
any_attainable, any_fitted = ANY


def by_the_labels(x: Expression, length: Expression, goal: Expression) -> Expression:
    """Return (length + 2e)^2 less the square of the goal, near the labels like x of that length."""
    share = length / (2 * any_e)
    return (
        2 * (1 + share) * any_attainable.slack
        + 2 * (1 + share) * any_fitted.slack
        + (1 + share) / m * norm2(2 * LABELS - x - goal)
        + share / m * norm2(1 / share * x - (goal - x))
    )


OUTPUT_SLACK = (1 + sigma / any_e) * any_fitted.slack + any_e / (sigma * m) * norm2(
    WX - sigma / any_e * (LABELS - WX)
)
LABELS_SLACK = (
    1 / (any_e * m) * norm2(LABELS - (1 + any_e) * ATTAINED)
    + (1 + any_e) / any_e * any_attainable.slack
)
DEFECT = 1 / size(WX) * (size(WX - LABELS) + size((1 - size(WX)) * LABELS))
THIRTY = line(
    "S-v1-eq-30/repaired", (521, r"|1 - ||Wx||_2 ||\ell||_2)"),
    equal(size(BN_WX - LABELS), DEFECT), "the distance to the labels, by the triangle inequality"
    " with the labels outside of the absolute value",
    form=Form.READING, expected=REFUTED,
)  # fmt: skip
P, Q = (WX - LABELS) / sigma, (1 - sigma) / sigma * LABELS
FINAL = (e + 2 * e * (1 + e)) / (1 - 2 * e)
COLLECTED = (3 * e + 2 * e**2) / (1 - 2 * e)
PROOF = [
    NINETEEN := line(
        "S-v1-eq-19", (491, r"||BN(W'x)||_2 - ||\ell||_2 < \varepsilon"),
        mean_square(ATTAINED) < (size(LABELS) + any_e) ** 2,
        "the norm of BN(W'x) against the labels'",
        because=near(LABELS, ATTAINED - LABELS, any_attainable), **TRIANGLE,
    ),
    NINETEEN_SHARED := NINETEEN.under(EPS, PROVED, remark=f"{NINETEEN.remark} {TWO_EPSILONS}"),
    TWENTY := line(
        "S-v1-eq-20", (493, r"||\ell||_2 > 1 - \varepsilon"), (size(LABELS) + any_e) ** 2 > 1,
        "the norm of the labels, from below", because=NINETEEN.because, **TRIANGLE,
    ),
    TWENTY.under(
        EPS, REFUTED, because=None, corrected_by=NINETEEN_SHARED.id, attack=(fitted_exactly,),
        remark=TWO_EPSILONS,
    ),
    line(
        "S-v1-eq-21", (496, r"||\ell||_2 < 1 + \varepsilon"),
        mean_square(LABELS) < (1 + any_e) ** 2, "the norm of the labels, from above",
        because=LABELS_SLACK, **TRIANGLE,
    ),
    line(
        "S-v1-eq-24", (505, r"||Wx||_2 > ||\ell||_2 - \varepsilon"),
        (size(WX) + any_e) ** 2 > mean_square(LABELS), "the norm of Wx from below, by the labels'",
        because=OUTPUT_SLACK, **TRIANGLE,
    ),
    line(
        "S-v1-eq-25", (507, r"> 1 - 2\varepsilon"), (size(WX) + 2 * any_e) ** 2 > 1,
        "the norm of Wx from below", because=by_the_labels(WX, sigma, ATTAINED), **TRIANGLE,
    ),
    line(
        "S-v1-eq-26", (510, r"||Wx||_2 < ||\ell||_2 + \varepsilon"),
        mean_square(WX) < (size(LABELS) + any_e) ** 2, "the norm of Wx from above, by the labels'",
        because=near(LABELS, WX - LABELS, any_fitted), **TRIANGLE,
    ),
    line(
        "S-v1-eq-27", (512, r"||Wx||_2 < 1 + 2\varepsilon"),
        mean_square(WX) < (1 + 2 * any_e) ** 2, "the norm of Wx from above",
        because=by_the_labels(ATTAINED, number(1), WX), **TRIANGLE,
    ),
    TWENTY_EIGHT := line(
        "S-v1-eq-28", (516, r"\frac{Wx}{||Wx||_2}"), equal(BN_WX, WX / size(WX)),
        "BatchNorm divides by the norm",
        remark="For one unit; the norm of several units together is another number.",
    ),
    replace(
        TWENTY_EIGHT, id="S-v1-eq-28/euclidean", says=equal(BN_WX, WX / norm(WX)),
        title="BatchNorm divides by the Euclidean norm", form=Form.READING,
        expected=REFUTED, corrected_by=TWENTY_EIGHT.id, remark="",
    ),
    line(
        "S-v1-eq-29", (519, r"\frac{1}{||Wx||_2}||Wx - ||Wx||_2\ell||"),
        equal(MISSED, mean_square(WX - size(WX) * LABELS) / mean_square(WX)),
        "the distance to the labels, the norm of Wx taken out",
    ),
    replace(
        THIRTY, id="S-v1-eq-30", title="the distance to the labels, by the triangle inequality",
        says=None,
        display=r"\frac{1}{\|Wx\|}\big(\|Wx - \ell\| + |1 - \|Wx\|_2\|\ell\|_2\big)",
        in_words="Its delimiters do not match.",
        form=Form.STEP, expected=UNREADABLE,
        unreadable="A bar is opened before '1 - ' and not closed before the norm of l: whether l"
        " stands inside the absolute value cannot be told.",
    ),
    THIRTY,
    THIRTY.corrected(
        says=MISSED <= DEFECT**2,
        because=1 / m * (1 / sqrt(norm(P) * norm(Q))) ** 2 * norm2(norm(Q) * P - norm(P) * Q),
        remark="Both sides are squared. The slack is that of the triangle inequality.",
    ),
    THIRTY_ONE := line(
        "S-v1-eq-31",
        (524, r"\frac{1}{1-2\varepsilon}\left(\varepsilon+2\varepsilon(1+\varepsilon)\right)"),
        equal(MISSED, FINAL**2), "the distance to the labels, the bounds put in",
        hypotheses=CONDITIONS, expected=REFUTED, remark=ONE_TEXT,
    ),
    THIRTY_ONE.corrected(
        says=MISSED < FINAL**2,
        because=nearest(NEAR) + 8 * e**2 / (1 - 2 * e) * (FINAL + 3 * e),
        remark="The slack is that of the bound 3ε, and what the bound of (31) exceeds it by.",
    ),
    line(
        "S-v1-eq-32", (526, r"\frac{3\varepsilon + 2\varepsilon^2}{1 - 2\varepsilon}"),
        equal(FINAL, COLLECTED), "the bound of (31), multiplied out", hypotheses=(),
    ),
    line(
        "S-v1-eq-33", (528, r"<3\varepsilon\left(\frac{1+\varepsilon}{1-2\varepsilon}\right)"),
        COLLECTED < 3 * e * ((1 + e) / (1 - 2 * e)), "the bound of (32) against that of the lemma",
        because=e**2 / (1 - 2 * e), hypotheses=(BELOW_HALF,),
        remark="The slack is ε²/(1 - 2ε).",
    ),
]  # fmt: skip

CLAIMS = with_hints([*LEMMA, *PROOF], ROOT_FREE)
