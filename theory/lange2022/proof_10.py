r"""The proof of Proposition 10: (35), the sizes and counts of line 716, and the last display.

The windows of a k x k kernel reach r + k - 1 rows, half of k - 1 on each side; line 716 has
r + (k - 1)/2.  What the window of w(t, a) leaves out are i rows and j columns, less the i j places
counted twice: at most (k - 1)/2 of each, and at most as many as there are.
"""

from dataclasses import replace

from theory.lange2022.equations_19_22 import mean, mean_at, rows
from theory.lange2022.proposition_10 import NOT_BOTH_SMALL, left_out, outside
from theory.lange2022.texts import at
from theory.lange2022.unfolding import by_tap, taps, total, whole, window
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def equation_35(maps: Maps) -> Sides:
    """The squares of the error, and of the difference of two sums."""
    h, k = maps.h, maps.w.shape[-1]
    left = by_tap([mean_at(h, k, *tap) - mean(h) for tap in taps(k)], k)
    right = by_tap([total(h, window(h, k, *tap)) - total(h, whole(h)) for tap in taps(k)], k)
    return Sides(left * left, right * right / rows(h) ** 2)


def reached(maps: Maps) -> int:
    """How many rows the windows reach, the padding's included."""
    k = maps.w.shape[-1]
    return len({u for tap in taps(k) for u, _ in window(maps.h, k, *tap)})


def padded(maps: Maps) -> Sides:
    """The printed number of rows."""
    return Sides(reached(maps), maps.h.shape[2] + (maps.w.shape[-1] - 1) // 2)


def padded_twice(maps: Maps) -> Sides:
    """Half of k - 1 on each side."""
    return Sides(reached(maps), maps.h.shape[2] + maps.w.shape[-1] - 1)


def counted(maps: Maps) -> Sides:
    """The most places that a window leaves out, and the printed count."""
    (r, s), k = maps.h.shape[2:], maps.w.shape[-1]
    m = (k - 1) // 2
    most = max(len(left_out(maps.h, k, *tap)) for tap in taps(k))
    return Sides(most, m * (r + s) - m**2)


def counted_exactly(maps: Maps) -> Sides:
    """The places that the first entry's window leaves out, as many rows as there are."""
    (r, s), k = maps.h.shape[2:], maps.w.shape[-1]
    i, j = outside(r, k, 1), outside(s, k, 1)
    return Sides(len(left_out(maps.h, k, 1, 1)), i * s + j * r - i * j)


def last_display(maps: Maps) -> Sides:
    """Both forms of the bound, without the maximum, in the arithmetic of the numbers."""
    (r, s), k = maps.h.shape[2:], maps.w.shape[-1]
    one = 1 + 0 * maps.q
    left = ((k - 1) * (r + s) - one * (k - 1) ** 2 / 2) / (2 * r * s)
    return Sides(left, (k - 1) * (one / (2 * r) + one / (2 * s) - one * (k - 1) / (4 * r * s)))


_PROOF = "App. A, proof of Prop. 10"

DIFFERENCE = MatrixClaim(
    id="L-steps/35",
    row="L-steps",
    locations=at(714, f"{_PROOF}, eq. (35)", r"=\frac{1}{Nrs}\Bigg{|}\sum_{i=1}^{N}"),
    statement=r"|\mu(t, a, p) - \mu(p)|^2 = \frac1{(Nrs)^2}\Big|\sum_i\sum_{u, v \in \text{window}}"
    r" h^{(i)}(u, v, p) - \sum_i\sum_{u=1}^r\sum_{v=1}^s h^{(i)}(u, v, p)\Big|^2",
    sides=equation_35,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one tap of one kernel with another error",
)

PADDED = replace(
    DIFFERENCE,
    id="L-steps/716-padded",
    locations=at(716, _PROOF, "from padded"),
    statement=r"\#\{\text{rows of the padded map}\} = r + \tfrac{k-1}2",
    sides=padded,
    expected=Verdict.REFUTED,
    falsified_by="one kernel whose windows reach another number of rows",
    remark="The zeros stand on both sides; Figure 1 has 6 x 5 for r = 4, s = 3, k = 3.  The"
    " count of what is left out does not depend on it.",
)

COUNTED = replace(
    DIFFERENCE,
    id="L-steps/716-counted",
    locations=at(716, _PROOF, "gives a difference of at most"),
    statement=r"\#\{\text{places that a window leaves out}\} \le"
    r" \tfrac{k-1}2(r + s) - \big(\tfrac{k-1}2\big)^2",
    sides=counted,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    falsified_by="one window that leaves out more",
    remark="For r = s = 1 and k = 5 the corner's window leaves out the one place there is; the"
    " count is 2 (1 + 1) - 4 = 0.",
)

CLAIMS = [
    DIFFERENCE,
    PADDED,
    PADDED.corrected(
        sides=padded_twice, remark="", statement=r"\#\{\text{rows of the padded map}\} = r + k - 1"
    ),
    COUNTED,
    COUNTED.corrected(hypotheses=(NOT_BOTH_SMALL,), expected=Verdict.SUPPORTED, remark=""),
    COUNTED.sharpened(
        "corner", sides=counted_exactly, relation=Relation.EQUAL, remark="",
        statement=r"\#\{\text{places left out}\} = i s + j r - i j,"
        r"\quad i = \min\{\tfrac{k-1}2, r\},\ j = \min\{\tfrac{k-1}2, s\}",
        falsified_by="one corner's window that leaves out another number",
    ),
    replace(
        DIFFERENCE, id="L-steps/718", sides=last_display,
        locations=at(718, _PROOF, r"\frac{(k-1)(r+s)-\frac{(k-1)^{2}}{2}}{2rs}"),
        statement=r"\frac{(k-1)(r+s) - \frac{(k-1)^2}2}{2rs}"
        r" = (k - 1)\Big(\frac1{2r} + \frac1{2s} - \frac{k-1}{4rs}\Big)",
        falsified_by="one r, s and k with two values",
    ),
]  # fmt: skip
