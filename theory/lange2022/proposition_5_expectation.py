r"""Proposition 5, :math:`\mathbb{E}\,\|\tfrac1q [e, G]\| \le C\sqrt N`, and what C may depend on.

The entries of G are independent, of one law of mean 0 and variance 1.  (No normalised G is like
that: its columns sum to 0.)  The text says "for some constant C independent of n".

*On N.*  Then :math:`C = \sqrt{N+1}` always does, by :math:`\|[e,G]\| \le \|[e,G]\|_F` and
:math:`\mathbb{E}\,\|[e,G]\|_F^2 = N(n+1)`; it says nothing of random matrices.

*On nothing.*  No C does.  If an entry is not 0 with probability :math:`1/(Nn)`, and then
:math:`\pm\sqrt{Nn}`, then :math:`\mathbb{E}\,\|G\| \ge (1 - 1/\mathrm{e})\sqrt{Nn}`: at n = N the
ratio is above :math:`0.63 \sqrt n`.

*On the law.*  None does for some laws without a fourth moment.  If
:math:`P(|g| > t) \ge a t^{-\nu}` for large t, then at n = N the largest entry exceeds
:math:`n^{2/\nu}` with probability :math:`1 - \mathrm{e}^{-a}` at least, and the ratio grows as
:math:`n^{2/\nu - 1/2}` where :math:`\nu < 4`: as :math:`n^{0.3}` for Student's t with 2.5 degrees
of freedom.

*On the fourth moment* :math:`m_4`, *corrected.*  As
:math:`\max_i \|g_i\|^2 \le n + (\sum_i (\|g_i\|^2 - n)^2)^{1/2}`, Lemma A2 with its constant
:math:`C_1` gives :math:`\mathbb{E}\,\|G\|^2 \le 2 C_1^2 (1 + \sqrt{m_4 - 1}) \max\{N, n\}` and so
:math:`C = 1 + C_1 \sqrt{2 (1 + \sqrt{m_4-1})}`.  The measurements of that lemma need
:math:`C_1 = 2`; here even :math:`C = 2 + m_4^{1/4}` does, which is of the form of the bound of
Latala (2005), and the sparsest law shows that no smaller power would.

*Normalised.*  The entries of the normalised G are bounded by :math:`\sqrt N`, and what heavy tails
do to C is gone: 9/4 is enough for every fixed law here (the sample correlation matrix: Heiny and
Mikosch 2018).  So the model is worse than what it models.
"""

from math import sqrt
from typing import Any

from theory.expectation_claim import Entries, ExpectationClaim
from theory.lange2022.random_matrices import (
    FOURTH_MOMENT,
    SAME_AT_EVERY_SIZE,
    THREE_COLUMNS,
    normalised,
    scaled_norm,
)
from theory.lange2022.texts import at
from theory.statement import Form, Relation, Sides, Verdict

LEMMA_CONSTANT = 2
"""The constant of Lemma A2 that the measurements of it need."""


def norms(G: Any) -> Sides:
    r""":math:`\|[e, G]\|/q` and :math:`\sqrt N`."""
    return Sides(scaled_norm(G), sqrt(len(G)))


def normalised_norms(H: Any) -> Sides:
    """The same for the normalised G of independent entries H."""
    return norms(normalised(H))


def frobenius(entries: Entries) -> Sides:
    r""":math:`\|[e, G]\|_F / q` with entries at their largest, and :math:`\sqrt N`."""
    N, n, q = entries.N, entries.n, sqrt(max(entries.n / entries.N, 1))
    return Sides(sqrt(N * (1 + n * entries.largest**2)) / q, sqrt(N))


def normalised_frobenius(entries: Entries) -> Sides:
    r"""The same for a normalised G, whose columns have the norm :math:`\sqrt N`."""
    N, n, q = entries.N, entries.n, sqrt(max(entries.n / entries.N, 1))
    return Sides(sqrt(N * (1 + n)) / q, sqrt(N))


RATIO = r"\mathbb{E}\,\big\|\tfrac1q [e, G]\big\| \big/ \sqrt N"
MODEL = r"\quad g_{ij} \text{ iid},\ \mathbb{E} g_{ij} = 0,\ \mathbb{E} g_{ij}^2 = 1"

WITHOUT_CONSTANT = ExpectationClaim(
    id="L-prop-5/expectation-without-constant",
    row="L-prop-5",
    locations=at(219, "Sect. 3.3, before Prop. 5", r"\sqrt{N}, independent of "),
    statement=RATIO + r" \le 1, \quad G = (H - e\mu_H^\top)\operatorname{diag}(\sigma_H)^{-1},"
    r"\ h_{ij} \text{ iid}",
    sides=normalised_norms,
    ceilings=normalised_frobenius,
    constant=lambda entries: 1,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    corrected_by="L-prop-5/expectation-normalised",
    falsified_by="a law and a size where the mean of the norm exceeds sqrt(N)",
    remark="The line takes an expected norm bounded by C max{sqrt(n), sqrt(N)} and ends with a norm"
    " bounded by sqrt(N): the expectation and the C are lost on the way. Proposition 5 has both.",
)

EVERY_LAW = ExpectationClaim(
    id="L-prop-5/expectation-every-law",
    row="L-prop-5",
    locations=at(223, "Sect. 3.3, Prop. 5", "for some constant"),
    statement=RATIO + r" \le 3 \text{ for every law and all } N, n," + MODEL,
    sides=norms,
    ceilings=frobenius,
    constant=lambda entries: 3,
    relation=Relation.AT_MOST,
    hypotheses=(THREE_COLUMNS,),
    expected=Verdict.REFUTED,
    corrected_by="L-prop-5/expectation-fourth-moment",
    falsified_by="a law whose ratio exceeds 3, the same law at other sizes allowed to differ; for"
    " another C, a larger matrix of the sparsest law",
    remark="The reading in which one C serves every law. 3 stands for it: the sparsest law, an"
    " entry not 0 with probability 1/(Nn), has a ratio above 0.63 sqrt(n) at n = N.",
)

EACH_LAW = ExpectationClaim(
    id="L-prop-5/expectation-each-law",
    row="L-prop-5",
    locations=at(
        223, "Sect. 3.3, Prop. 5", "iid random variables with zero mean and unit variance"
    ),
    statement=RATIO + r" \le \tfrac94 \text{ for all } N, n," + MODEL,
    sides=norms,
    ceilings=frobenius,
    constant=lambda entries: 9 / 4,
    relation=Relation.AT_MOST,
    hypotheses=(SAME_AT_EVERY_SIZE, THREE_COLUMNS),
    expected=Verdict.REFUTED,
    corrected_by="L-prop-5/expectation-fourth-moment",
    falsified_by="a law, the same at every size, whose ratio grows with N = n",
    remark="The reading in which C may depend on the law but not on the sizes. Every law with a"
    " fourth moment tends to ratios of at most 2 (Yin, Bai and Krishnaiah 1988): 9/4 leaves room."
    " Student's t with 2.5 degrees of freedom has variance 1, scaled, and a ratio that grows as"
    " n^0.3 at N = n, so another C falls at larger sizes.",
)

EACH_BATCH_SIZE = ExpectationClaim(
    id="L-prop-5/expectation-each-batch-size",
    row="L-prop-5",
    locations=at(223, "Sect. 3.3, Prop. 5", "independent of "),
    statement=RATIO + r" \le \sqrt{N + 1}," + MODEL,
    sides=norms,
    ceilings=frobenius,
    constant=lambda entries: sqrt(entries.N + 1),
    relation=Relation.AT_MOST,
    hypotheses=(THREE_COLUMNS,),
    expected=Verdict.SUPPORTED,
    falsified_by="a law of mean 0 and variance 1 and a size with a larger ratio",
    remark="The literal reading, C independent of n only. True of every G whose entries have"
    " variance 1, independent or not, by the Frobenius norm; so it cannot compare layers.",
)

FOURTH_MOMENT_BOUND = EACH_LAW.corrected(
    id="L-prop-5/expectation-fourth-moment",
    statement=RATIO + r" \le 1 + 2\sqrt{2\,(1 + \sqrt{m_4 - 1})}," + MODEL,
    constant=lambda e: 1 + LEMMA_CONSTANT * sqrt(2 * (1 + sqrt(e.fourth_moment - 1))),
    hypotheses=(FOURTH_MOMENT,),
    expected=Verdict.SUPPORTED,
    corrected_by=None,
    falsified_by="a law with a fourth moment, perhaps another one at every size, and a size with a"
    " larger ratio",
    remark="A consequence of Lemma A2 with its constant 2, for every N and n.",
)

SHARPER_FOURTH_MOMENT_BOUND = FOURTH_MOMENT_BOUND.sharpened(
    statement=RATIO + r" \le 2 + m_4^{1/4}," + MODEL,
    constant=lambda entries: 2 + entries.fourth_moment**0.25,
    expected=Verdict.SUPPORTED,
    remark="Measured only; of the form of the bound of Latala (2005).",
)

NORMALISED_BOUND = WITHOUT_CONSTANT.corrected(
    id="L-prop-5/expectation-normalised",
    form=Form.CORRECTED,
    locations=at(219, "Sect. 3.3, before Prop. 5", "expected value of"),
    statement=RATIO + r" \le \tfrac94, \quad G = (H - e\mu_H^\top)"
    r"\operatorname{diag}(\sigma_H)^{-1},\ h_{ij} \text{ iid of a fixed law}",
    constant=lambda entries: 9 / 4,
    hypotheses=(SAME_AT_EVERY_SIZE,),
    expected=Verdict.SUPPORTED,
    corrected_by=None,
    falsified_by="a law, the same at every size, and a size with a larger ratio",
    remark="Heavy tails included: the normalisation bounds each column. A law where a column may be"
    " constant is left out where one was.",
)

CLAIMS = [
    WITHOUT_CONSTANT,
    NORMALISED_BOUND,
    EVERY_LAW,
    EACH_LAW,
    EACH_BATCH_SIZE,
    FOURTH_MOMENT_BOUND,
    SHARPER_FOURTH_MOMENT_BOUND,
]
