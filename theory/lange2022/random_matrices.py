r"""Random matrices: Proposition 5, :math:`\mathbb{E}\,\|\tfrac1q [e, G]\| \le C\sqrt N`; Lemma A2.

*Proposition 5.*  The entries of G are independent, of one law of mean 0 and variance 1.  (No
normalised G is like that: its columns sum to 0.)  The text says "for some constant C independent of
n".  What may C depend on?

- *On N.*  Then :math:`C = \sqrt{N+1}` always does, by :math:`\|[e,G]\| \le \|[e,G]\|_F` and
  :math:`\mathbb{E}\,\|[e,G]\|_F^2 = N(n+1)`; it says nothing of random matrices.
- *On nothing.*  No C does.  If an entry is not 0 with probability :math:`1/(Nn)`, and then
  :math:`\pm\sqrt{Nn}`, then :math:`\mathbb{E}\,\|G\| \ge (1 - 1/\mathrm{e})\sqrt{Nn}`: at n = N the
  ratio is above :math:`0.63 \sqrt n`.
- *On the law.*  None does for some laws without a fourth moment.  If
  :math:`P(|g| > t) \ge a t^{-\nu}` for large t, then at n = N the largest entry exceeds
  :math:`n^{2/\nu}` with probability :math:`1 - \mathrm{e}^{-a}` at least, and the ratio grows as
  :math:`n^{2/\nu - 1/2}` where :math:`\nu < 4`: as :math:`n^{0.3}` for Student's t with 2.5 degrees
  of freedom.  With a pencil: let an entry be :math:`\pm 2^{k-1}` with probability
  :math:`4/5^{k+1}`, so that :math:`P(|g| \ge 2^{k-1}) = 5^{-k}`.  At :math:`N = n = 5^j` one of
  the :math:`5^{2j}` entries reaches :math:`2^{2j-1}` with probability :math:`1 - 1/\mathrm{e}` at
  least, and the ratio is above :math:`0.31\,(4/\sqrt5)^j`.
- *On the fourth moment* :math:`m_4`, *corrected.*  As
  :math:`\max_i \|g_i\|^2 \le n + (\sum_i (\|g_i\|^2 - n)^2)^{1/2}`, Lemma A2 with its constant
  :math:`C_1` gives :math:`\mathbb{E}\,\|G\|^2 \le 2 C_1^2 (1 + \sqrt{m_4 - 1}) \max\{N, n\}` and so
  :math:`C = 1 + C_1 \sqrt{2 (1 + \sqrt{m_4-1})}`.  The measurements of that lemma need at most
  1.4 at k = 2, and :math:`C_1 = 2` is taken; those here allow even :math:`C = 2 + m_4^{1/4}`, which
  is of the form of the bound of Latala (2005), and the sparsest law shows that no smaller power
  would do.  Where
  :math:`a = \min\{N, n\}` is at most 106, and 39, both are proved, for with A = [e, G]

  .. math:: \mathbb{E}\,\|A\|^4 \le \mathbb{E}\operatorname{tr}(AA^\top)^2 = N(N + Nn + n^2 + nm_4)
            \le (2a + 1 + m_4)\max\{N, n\}^2 .

*Normalised.*  The columns of the normalised G have the norm :math:`\sqrt N`, so that
:math:`C = \sqrt{\min\{N, n\}}` does, for every law.  A constant for every law there is none: of
:math:`h = \pm\mathrm{e}^{\sigma Z}` with Z normal the columns become one-hot as :math:`\sigma`
grows; k of them that agree in their place have the norm :math:`\sqrt{kN}`, and among n columns of
n places the most that agree are more than any k for large n.  At :math:`\sigma = 15` the ratio is
2.23 at N = n = 400 and 2.38 at 1500, above every limit that laws with a fourth moment tend to.

*Lemma A2 (Seginer).*  For :math:`g_i` the rows and :math:`h_j` the columns of G (the text says of
A), and :math:`k \le 2 \log\max\{m, n\}`,

.. math:: \mathbb{E}\|G\|^k \le C^k \left(\mathbb{E}\max_i\|g_i\|^k
          + \mathbb{E}\max_j\|h_j\|^k\right).

It is a theorem, cited; here it is measured.  C = 2 does at k = 1, 2 and 10, where the measurements
need about 1, 1.4 and 1.8, and hardly less would for all k: for square matrices of signs the rows
and columns have the norm :math:`\sqrt n` and :math:`\|G\|` is nearly :math:`2\sqrt n`, so that C
tends to :math:`2 / 2^{1/k}`, and k may grow.  Literally :math:`k \le 2\log\max\{m, n\}` lets k be
negative.  Then no C is left: k = -10 at the 1 by 1 sign says :math:`1 \le 2\, C^{-10}` and needs
:math:`C \le 2^{1/10} < 6/5`, and k = 4 needs more than 6/5.  Only :math:`k \ge 1` can be meant.

That a constant is too small for even :math:`k = 2p` shows by counting.  Of n by n signs
:math:`\operatorname{tr} GG^\top = n^2`, so that :math:`\|G\|^{2p} \ge
\operatorname{tr}(GG^\top)^{p+1} / n^2`.  The mean of that trace is the number of closed walks of
:math:`2p + 2` steps between rows and columns that take each edge an even number of times.  Those
that go around a tree with r rows and :math:`p + 2 - r` columns are, by Narayana's numbers,

.. math:: \frac{1}{p+1}\binom{p+1}{r}\binom{p+1}{r-1}\; n(n-1)\cdots(n-r+1)\;
          n(n-1)\cdots(n-p-1+r) .

For p = 2 their sum is :math:`n^2 (n-1)(5n-7)`, for all p about the (p+1)-th Catalan number times
:math:`n^{p+2}`.

For small matrices of signs, all of which can be listed, rows and columns have fixed norms and the
lemma at k = 2 is :math:`\mathbb{E}\|G\|^2 \le C^2 (m + n)`.  A row or a column that changes its
sign changes no norm, so the first ones are taken positive.  Up to three by three C = 1 does, and
hardly less, C^2 = 0.959.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import inf, log, sqrt
from operator import attrgetter
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic.spectra import squared_singular_values
from theory.expectation_claim import Entries, ExpectationClaim, FailsAt, mean, root
from theory.lange2022.texts import at, of_layers
from theory.language.arrays import maximum, minimum
from theory.language.expression import (
    POWER,
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
from theory.language.operations import sqrt as root_of
from theory.layer import q
from theory.random_matrix import (
    G,
    N,
    augmented,
    fourth_moment,
    longest_column,
    longest_row,
    n,
    norm,
    normalize,
)
from theory.statement import (
    REFUTED,
    SUPPORTED,
    Form,
    Hypothesis,
    Relation,
    Sides,
    Statement,
    assume,
)

_N, _V, _M = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX


H = Letter("H", "H", _M, attrgetter("G"), r"h_{ij} \text{ iid}")
"""The same numbers, as inputs that are normalised."""
m = Letter("m", "m", _N, attrgetter("N"))
"""The rows, as Lemma A2 calls them."""
logarithm = Operation("log", log, r"\log {0:atom}", takes=(_N,), binds=Binding.OPERATOR)
Q = named("q", root_of(maximum(n / N, 1)))

SAME_AT_EVERY_SIZE = Hypothesis(
    r"\text{the law of the entries is the same for every } N \text{ and } n",
    lambda entries: 1 - entries.is_fixed, Relation.EQUAL,
)  # fmt: skip
FOURTH_MOMENT = assume(
    1 / fourth_moment > 0, printed=False, words=r"m_4 = \mathbb{E}\, g_{ij}^4 < \infty"
)
SIGNS = assume(equal(fourth_moment, 1), printed=False, words=r"g_{ij} = \pm 1")
THREE_COLUMNS = assume(n >= 3)


def ratio(G: Expression) -> Expression:
    r"""Return :math:`\mathbb{E}\,\|\tfrac1q [e, G]\| / \sqrt N`."""
    return mean(1 / Q * norm(augmented(G))) / root_of(N)


def frobenius(entries: Entries) -> Sides:
    r""":math:`\|[e, G]\|_F / q` with entries at their largest, and :math:`\sqrt N`."""
    N, n, q = entries.N, entries.n, sqrt(max(entries.n / entries.N, 1))
    return Sides(sqrt(N * (1 + n * entries.largest**2)) / q, sqrt(N))


def normalised_frobenius(entries: Entries) -> Sides:
    r"""The same for a normalised G, whose columns have the norm :math:`\sqrt N`."""
    N, n, q = entries.N, entries.n, sqrt(max(entries.n / entries.N, 1))
    return Sides(sqrt(N * (1 + n)) / q, sqrt(N))


def expected_norm(
    name: str, line: int, quote: str, title: str, says: Says, **fields: Any
) -> ExpectationClaim:
    """Return a reading of Proposition 5."""
    settled = {
        "place": "Sect. 3.3, Prop. 5", "ceilings": frobenius, "form": Form.READING,
        "expected": REFUTED,
    }  # fmt: skip
    fields = {**settled, **fields}
    return ExpectationClaim(
        id=f"L-prop-5/expectation-{name}",
        locations=at(line, fields.pop("place"), quote), title=title, says=says, **fields,
    )  # fmt: skip


BEFORE = "Sect. 3.3, before Prop. 5"
LEMMA_CONSTANT = 2
"""The constant that is taken for Lemma A2: it serves all measurements of it."""


SOME = 1 - POWER(1 - 1 / (N * n), N * n)
"""The probability that one of the entries is what each is with probability 1/(Nn)."""

EXPECTATIONS = [
    WITHOUT_CONSTANT := expected_norm(
        "without-constant", 219, r"\sqrt{N}, independent of ",
        "the expected norm of normalised inputs, without a constant",
        ratio(normalize(H)) <= 1, place=BEFORE, ceilings=normalised_frobenius, form=Form.STEP,
        corrected_by="L-prop-5/expectation-normalised",
        fails_at=FailsAt(
            "normal", 2, 2, number(2), root_of(N),
            "normalised, each column of two entries is (1, -1) or (-1, 1), and with e the Gram"
            " matrix is 3 on its diagonal and -1 besides, so that the norm is 2",
        ),
        remark="The line takes an expected norm bounded by C max{√n, √N} and ends with a"
        " norm bounded by √N: the expectation and the C are lost on the way. Proposition 5 has"
        " both.",
    ),
    WITHOUT_CONSTANT.corrected(
        id="L-prop-5/expectation-normalised", title="the expected norm of normalised inputs",
        locations=at(219, BEFORE, "expected value of"),
        says=ratio(normalize(H)) <= root_of(minimum(N, n)), expected=SUPPORTED,
        remark="Whatever the law, by the norms of the columns (L-before-prop-5/norm-over-q). No"
        " constant serves every law: with heavy enough tails one entry outweighs a column's others,"
        " and more and more columns agree in which. A law is passed over where a column that is"
        " drawn from it is constant, and has no deviation.",
    ),
    expected_norm(
        "every-law", 223, "for some constant",
        "the expected norm, one constant for every law, at C = 3",
        ratio(G) <= 3, hypotheses=(THREE_COLUMNS,),
        corrected_by="L-prop-5/expectation-fourth-moment",
        fails_at=FailsAt(
            "sparse, p = 1/(Nn)", 25, 25, root_of(N * n) * SOME, root_of(N),
            "a norm is at least the modulus of any entry, and one of the Nn entries, each other"
            " than 0 with probability 1/(Nn), is ±√(Nn)",
        ),
        remark="The reading in which one C serves every law. 3 stands for it: the sparsest law, an"
        " entry not 0 with probability 1/(Nn), has a ratio above 0.63 √n at n = N.",
    ),
    EACH_LAW := expected_norm(
        "each-law", 223, "iid random variables with zero mean and unit variance",
        "the expected norm, a constant for each law, at C = 9/4", ratio(G) <= number(9) / 4,
        hypotheses=(SAME_AT_EVERY_SIZE, THREE_COLUMNS),
        corrected_by="L-prop-5/expectation-fourth-moment",
        fails_at=FailsAt(
            "doubling, 2^(k-1) with probability 4/5^(k+1)", 625, 625, 128 * SOME, root_of(N),
            "a norm is at least the modulus of any entry, and one of the 5^8 entries, each of a"
            " modulus of 128 = 2^7 or more with probability 5^-8, has it",
        ),
        remark="The reading in which C may depend on the law but not on the sizes. Every law with a"
        " fourth moment tends to ratios of at most 2 (Yin, Bai and Krishnaiah 1988): 9/4 leaves"
        " room. The doubling law has variance 1; at N = n = 5^j its ratio is above 0.31 (4/√5)^j,"
        " so another C falls at larger sizes.",
    ),
    expected_norm(
        "each-batch-size", 223, "independent of ",
        "the expected norm, a constant for each batch size",
        ratio(G) <= root_of(N + 1), hypotheses=(THREE_COLUMNS,), expected=SUPPORTED,
        remark="The literal reading, C independent of n only. True of every G whose entries have"
        " variance 1, independent or not, by the Frobenius norm; so it cannot compare layers.",
    ),
    FOURTH_MOMENT_BOUND := EACH_LAW.corrected(
        id="L-prop-5/expectation-fourth-moment", title="the expected norm, a constant by the fourth"
        " moment",
        says=ratio(G) <= 1 + LEMMA_CONSTANT * root_of(2 * (1 + root_of(fourth_moment - 1))),
        hypotheses=(FOURTH_MOMENT,), expected=SUPPORTED,
        remark="A consequence of Lemma A2 at k = 2 with its constant 2 where N or n is at least 3,"
        " which the lemma asks for; below, of the Frobenius norm.",
    ),
    FOURTH_MOMENT_BOUND.sharpened(
        says=ratio(G) <= 2 + root_of(root_of(fourth_moment)), expected=SUPPORTED,
        remark="It has the form of Latała's bound (2005). Where min{N, n} ≤ 39 the mean of"
        " tr (AAᵀ)², A = [e, G], proves it; beyond, it is only measured here.",
    ),
]  # fmt: skip


def longest(k: int) -> tuple[Expression, Expression]:
    """Return the largest k-th powers of a row's and of a column's norm, as the lemma has them."""
    power = "" if k == 1 else f"^{{{k}}}"
    row = named(rf"\max_i\|g_i\|{power}", longest_row(G, k))
    return row, named(rf"\max_j\|h_j\|{power}", longest_column(G, k))


ROW, COLUMN = longest(1)


def lemma_ratio(k: int) -> Expression:
    """Return what C bounds, for a positive k its k-th root, for a negative one the (-k)-th."""
    if k == 1:
        return mean(norm(G)) / (mean(ROW) + mean(COLUMN))
    row, column = longest(k)
    return root(mean(norm(G) ** k) / (mean(row) + mean(column)), abs(k))


def powers(k: int) -> Callable[[Entries], Sides]:
    """Return what the powers never exceed for entries at their largest, for a positive k."""

    def largest(entries: Entries) -> Sides:
        N, n, top = entries.N, entries.n, entries.largest
        return Sides(top**k * (N * n) ** (k / 2), top**k * (N ** (k / 2) + n ** (k / 2)))

    return largest


def sign_powers(entries: Entries) -> Sides:
    """Return what the powers are bounded by for signs and a negative k: unknown, and exact."""
    return Sides(inf, entries.N**-5.0 + entries.n**-5.0)


def admitted(k: int) -> Hypothesis:
    """The condition on k."""
    return assume(2 * logarithm(maximum(m, n)) >= k)


def has_moment(k: int) -> Hypothesis:
    """The condition that both sides are finite."""
    return Hypothesis(
        rf"\mathbb{{E}}\, |g_{{ij}}|^{{{k}}} < \infty",
        lambda entries: entries.order - k,
        Relation.MORE_THAN,
        printed=False,
        is_ours=True,
    )


QUOTE = r"\leq C^{k}\left(E"


def lemma(k: int, constant: Expression, title: str) -> ExpectationClaim:
    """Return the lemma for one k with a named constant."""
    return ExpectationClaim(
        id=f"L-lemma-A2/k-{k}", locations=at(652, "App. A, Lemma A2", QUOTE),
        title=title, says=lemma_ratio(k) <= constant, ceilings=powers(k),
        hypotheses=(admitted(k), has_moment(k)), expected=SUPPORTED, form=Form.READING,
        remark=f"The reading with k = {k} and C = {constant}. Added here, for the quotient, are a"
        " finite moment and E g² = 1. The latter asks of a law only that its variance is finite and"
        " not zero: to scale G changes no quotient.",
    )  # fmt: skip


WALKS = (
    "the k-th power is at least tr (GG')^(k/2 + 1) / tr GG', tr GG' is n^2, and the mean of the"
    " other trace is at least the number of closed walks of k + 2 steps between rows and columns"
    " that take each edge of a tree of k/2 + 2 of them twice"
)
"""Why moments of signs are large; any other closed walk adds 0 or 1 to the mean."""
FIRST, SECOND, TENTH = (
    lemma(k, number(2), f"Seginer's lemma at k = {k}, C = 2") for k in (1, 2, 10)
)
LEMMA_A2: list[Statement] = [
    FIRST,
    SECOND,
    TENTH,
    replace(
        lemma(4, number(6) / 5, "Seginer's lemma at k = 4, C = 6/5"),
        id="L-lemma-A2/k-4-smaller-constant", expected=REFUTED, form=Form.BOUNDARY,
        corrected_by=SECOND.id,
        fails_at=FailsAt("signs", 14, 14, (n - 1) * (5 * n - 7), 2 * n**2, WALKS),
        remark="At k = 4 every constant up to 6/5 is too small. For square matrices of signs the"
        " ratio tends to 2^(1 - 1/k) = 1.68.",
    ),
    replace(
        lemma(10, number(7) / 5, "Seginer's lemma at k = 10, C = 7/5"),
        id="L-lemma-A2/k-10-smaller-constant", expected=REFUTED, form=Form.BOUNDARY,
        corrected_by=TENTH.id,
        fails_at=FailsAt(
            "signs", 150, 150, 100 * (n - 1) ** 2 * (n - 2) ** 2 * (n - 3), 2 * n**5,
            f"{WALKS}, here one of three rows and four columns or of four and three",
        ),
        remark="The larger k, the larger the constant: for square matrices of signs the ratio tends"
        " to 2^(1 - 1/k), which is 1.87 at k = 10 and comes near to 2.",
    ),
    replace(
        lemma(-10, number(5) / 6, "Seginer's lemma at a negative k"), id="L-lemma-A2/negative-k",
        locations=at(650, "App. A, Lemma A2", r"k\leq 2\log\max\{m,n\}"),
        ceilings=sign_powers, hypotheses=(SIGNS, admitted(-10)), expected=REFUTED,
        corrected_by=FIRST.id,
        fails_at=FailsAt(
            "signs", 1, 1, number(1), number(2),
            "the norm is 1, and so are those of the row and of the column",
        ),
        remark="The reading with k = -10 and C = 6/5, whose tenth root has 1/C on the right. It"
        " fails at the 1 by 1 sign for every C above 2^(1/10) = 1.07, and"
        " L-lemma-A2/k-4-smaller-constant for every C up to 6/5: no constant serves both, so k ≥ 1"
        " is meant.",
    ),
]  # fmt: skip


def _size(layer: Any) -> tuple[int, int]:
    """A size of which all matrices of signs can be listed."""
    return min(layer.H.shape[0], 3), min(layer.H.shape[1], 3)


def _mean_square(layer: Any) -> Any:
    r""":math:`\mathbb{E}\|G\|^2` over the matrices of entries q and -q, up to equal norms."""
    xp, (m, n) = array_namespace(layer.H), _size(layer)
    total = 0 * layer.q
    for signs in product((-1, 1), repeat=(m - 1) * (n - 1)):
        rows = [signs[i * (n - 1) : (i + 1) * (n - 1)] for i in range(m - 1)]
        entries = [sign for row in [[1] * n, *([1, *row] for row in rows)] for sign in row]
        G = xp.reshape(xp.stack([layer.q * sign for sign in entries]), (m, n))
        total = total + squared_singular_values(G)[-1]
    return total / 2 ** ((m - 1) * (n - 1))


SMALL_SIGNS = Letter(
    "E |G|^2", r"\mathbb{E}\|G\|^2", _N, _mean_square, r"g_{ij} = \pm q,\ m \le 3,\ n \le 3"
)
rows = Letter("m", "m", _N, lambda layer: _size(layer)[0])
columns = Letter("n", "n", _N, lambda layer: _size(layer)[1])
LEMMA_A2.append(
    of_layers("App. A, Lemma A2", "L-lemma-A2")(
        "/small-signs", 652, QUOTE, "Seginer's lemma for small matrices of signs",
        SMALL_SIGNS <= q**2 * (rows + columns), expected=SUPPORTED, form=Form.READING,
        remark="The reading with k = 2 and C = 1, at sizes where it holds: the squared norms of a"
        " row and of a column are n q² and m q². Every matrix of signs is listed.",
    )
)  # fmt: skip

CLAIMS = [*EXPECTATIONS, *LEMMA_A2]
