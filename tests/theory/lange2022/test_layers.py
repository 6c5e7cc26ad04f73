"""The claims about a layer: values by hand, the referees' counterexamples, and what is counted."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from theory import batchnorm, preconditioning
from theory.lange2022 import CLAIMS as LANGE
from theory.lange2022 import backward_passes, proposition_6
from theory.lange2022.counted import Counted, Work
from theory.lange2022.section_3_5 import INSIDE, NORMALIZED, mean_each, over_groups
from theory.language.expression import equal
from theory.layer import null_part, squares
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Form, Verdict
from verify.matrices import exact, integers, symbolic
from verify.matrices.subjects import Descent, Layer
from verify.tolerance import Outcome
from verify.witnesses.exact import Examined

CLAIMS = {claim.id: claim for claim in LANGE if isinstance(claim, MatrixClaim)}


def numbers(values: Any) -> np.ndarray:
    """Return an array of fractions, from nested lists of what Fraction takes."""
    return np.vectorize(Fraction, otypes=[object])(np.array(values, dtype=object))


def layer(H: Any, W: Any = None, **changes: Any) -> Layer:
    """Return a layer with given inputs, whose loss is 1, 2, 3, ... times its outputs."""
    H = numbers(H)
    (N, n), W = H.shape, numbers([[1] * H.shape[1]] if W is None else W)
    p, one = len(W), numbers([1] * n)
    plain = Layer(
        H=H, W=W, b=numbers([0] * p), gamma=one, beta=0 * one, mean=0 * one, deviation=one,
        curvature=numbers([1] * N), direction=numbers([1] * (n + 1)),
        scaling=numbers([1] * (n + 1)), step=Fraction(1), q=Fraction(1), couples=0,
        linear=numbers([[j + 1] * p for j in range(N)]),
        quadratic=numbers([[[0] * p] * p] * N), fourth=numbers([[0] * p] * N),
    )  # fmt: skip
    return replace(plain, **{k: v if np.ndim(v) == 0 else numbers(v) for k, v in changes.items()})


def decided(identifier: str, subject: Any) -> Examined:
    return exact.examine(CLAIMS[identifier], subject)


def sides(identifier: str, subject: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both sides of one subject as floats."""
    claim = CLAIMS[identifier]
    exactly = exact.converted(claim, subject)
    actual, claimed = (np.asarray(side, dtype=float).ravel() for side in claim.sides(exactly))
    return actual, claimed


BY_HAND = {
    # H = (0, 4): mean 2, deviation 2
    "L-alg-1/renormalization": (
        layer([[0], [4]], mean=[1], deviation=[2]), (-0.5, 1.5), (-0.5, 1.5)
    ),
    "L-thm-3/eq-14": (layer([[0], [4]]), (1, -1, 1, 1), (1, -1, 1, 1)),
    "L-before-thm-4/product-with-U": (layer([[0], [4]]), (1, -2, 1, 2), (1, -2, 1, 2)),
    "L-before-thm-4/column-norms/corrected": (layer([[0], [4]]), (4,), (4,)),
    # v = (3 - 2 * 1)/2^2 = 1/4, and the bias 1 - 2/4
    "L-eq-15": (layer([[0]], [[3]], b=[1], mean=[2], deviation=[2]), (0.5, 0.25), (0.5, 0.25)),
    "L-prop-7/any-statistics": (
        layer([[0], [4]], [[3]], b=[1], mean=[2], deviation=[2]), (-2, 4), (-2, 4)
    ),
    # 2 w^2/2 with w = 3 and h = (0, 4): second derivatives 0 and 2, halved
    "L-prop-2": (
        layer([[0], [4]], [[3]], direction=[0, 1], quadratic=[[[0]], [[2]]]), (4, 16), (4, 16)
    ),
    "L-overparam": (layer([[1], [4]], [[3]], b=[1], gamma=[2], beta=[5]), (22, 40), (22, 40)),
    # 4*3*2 + 6*3*5 + 2*5 + 8*3
    "L-prop-6": (layer([[0] * 3] * 2, [[0] * 3] * 5), (148,), (148,)),
    "L-prop-6/one-less": (layer([[0] * 3] * 2, [[0] * 3] * 5), (143,), (148,)),
    "L-prop-6/from-zero": (layer([[0] * 3] * 2, [[0] * 3] * 5), (154,), (148,)),
    "L-prop-6/BN-backward": (layer([[0]] * 3), (69,), (69,)),
    "L-prop-6/BN-backward/closed-form": (layer([[0]] * 3), (22,), (22,)),
    "L-thm-4a/any-rank": (layer([[2, 1], [-2, 1]]), (4,), (2,)),
    "L-thm-4a/any-rank/corrected": (
        layer([["5/4", "3/4"], ["-5/4", "3/4"]]), (25 / 16,), (25 / 16,)
    ),
    "L-thm-4a": (layer([[0], [2]]), (1,), ((3 + 5**0.5) / (3 - 5**0.5),)),
    "L-thm-4-remarks/tight": (layer([[1, 10], [1, -10], [-1, 10], [-1, -10]]), (100,), (100,)),
    "L-thm-4-remarks/chain": (layer([[1, 10], [1, -10], [-1, 10], [-1, -10]]), (100,), (100,)),
    "L-thm-4-remarks/reduced-r": (layer([[2], ["-1/2"]], curvature=[0, 1]), (4,), (1,)),
    "L-thm-4c/tight": (layer([[1] * 3, [-1] * 3]), (3,), (3,)),
    # a mean that leaves both condition numbers of three features as they are
    "L-thm-4b": (
        layer([[2, 2, "1/2"], [2, 0, "-1/2"], [-2, 2, "-1/2"], [-2, 0, "1/2"]]), (16,), (16,)
    ),
    "L-norm-Ghat": (layer([[0], [2]]), (2,), (2,)),
    "L-norm-Ghat/running": (layer([[-1], [1]], mean=[1]), (3 + 5**0.5,), (4,)),
    "L-norm-Ghat/at-most": (layer([[1] * 3, [-1] * 3]), (6,), (6,)),
    "L-norm-Ghat/at-least": (layer([[1] * 3, [-1] * 3]), (6,), (6,)),
    "L-before-prop-5/norm-over-q/corrected": (layer([[1] * 3, [-1] * 3]), (4,), (4,)),
    "L-norm-Ghat/independent": (layer([[0], [1]]), (0.5,), (0.25,)),
    "L-proof-prop-5/longest-row": (layer([[0] * 3] * 2, q=Fraction(2)), (2337 / 512,), (3,)),
    "L-proof-prop-5/column-of-ones/corrected": (layer([[0]]), (2**0.5,), (2,)),
    "L-lemma-A2/small-signs": (layer([[0, 0]] * 3), (4.5,), (5,)),
}  # fmt: skip


@pytest.mark.parametrize("identifier", BY_HAND)
def test_values_by_hand(identifier: str) -> None:
    subject, actual, claimed = BY_HAND[identifier]
    found = sides(identifier, subject)
    assert found[0] == pytest.approx(actual, rel=1e-12)
    assert found[1] == pytest.approx(claimed, rel=1e-12)


COUNTEREXAMPLES = {
    "L-alg-1/pre-activation": layer([[0], [1]], [[2]]),
    "L-alg-1/renormalization-gradients": layer([[0], [1]]),
    "L-prop-2/later-BN": layer([[0], [1]], couples=1, quadratic=[[[2]], [[2]]], direction=[0, 1]),
    "L-thm-3/every-batch": layer([[3]]),
    "L-thm-3/other-statistics": layer([[0], [2]]),
    "L-eq-15/simultaneous": layer([[0]], [[0]], b=[1], mean=[1]),
    "L-prop-6/one-less": layer([[0]]),
    "L-prop-6/from-zero": layer([[0]]),
    "L-prop-6/expected": layer([[0]] * 21),
    "L-prop-7": layer([[0] * 3] * 2),
    # q^2 = n/N = 2
    "L-prop-7/step-with-q": layer([[1, 3]], [[0, 0]], mean=[0, 1], deviation=[1, 2]),
    "L-prop-7/through-statistics": layer([[0], [2]], linear=[[1], [3]]),
    "L-LN-GN": layer([[1], [2]], q=Fraction(4)),
    "L-LN-GN/examples": layer([[1], [2], [6]], q=Fraction(4)),
    "L-before-thm-4/column-norms": layer([[0], [1]]),
    "L-thm-4a/any-rank": layer([[2, 1], [-2, 1]]),
    "L-thm-4a/running-mean": layer([[-1], [1]], mean=[1]),
    "L-thm-4c/zeros": layer([[0, 0], [1, 0], [2, 1]]),
    "L-lemma-A1/zeros": layer([[1, 1], [0, 1]]),
    "L-thm-4-remarks/property-A/any-rank": layer([[1, 1], [-1, -1]], scaling=[1, "3/4", "3/4"]),
    "L-thm-4-remarks/by-as-much": layer([[0], [2]]),
    "L-thm-4-remarks/reduced-r": layer([[2], ["-1/2"]], curvature=[0, 1]),
    "L-norm-Ghat/running": layer([[-1], [1]], mean=[1]),
    "L-norm-Ghat/independent": layer([[0], [1]]),
    "L-proof-prop-5/longest-row": layer([[0], [0]], q=Fraction(2)),
    "L-proof-prop-5/column-of-ones": layer([[0]]),
    "L-prop-11/semidefinite": layer([[-1], [0], [1]]),
    "L-prop-11/indefinite": layer([[1], [0], ["1/10"]], curvature=[1, 1, -1]),
    "L-proof-prop-11/smallest-quotient": layer([[1], [0]], curvature=[1, 0]),
    "L-proof-thm-4/number-of-the-equation": layer([[1]]),
}


@pytest.mark.parametrize("identifier", COUNTEREXAMPLES)
def test_the_known_counterexamples_violate(identifier: str) -> None:
    assert CLAIMS[identifier].expected is Verdict.REFUTED
    assert decided(identifier, COUNTEREXAMPLES[identifier]).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("identifier", COUNTEREXAMPLES)
def test_what_corrects_them_holds_there(identifier: str) -> None:
    tied = {c.id for c in CLAIMS.values() if c.of == identifier and c.expected != Verdict.REFUTED}
    named = CLAIMS[identifier].corrected_by
    assert tied or named
    for other in {*tied, *([named] if named else [])}:
        found = decided(other, COUNTEREXAMPLES[identifier])
        assert found.outcome is not Outcome.VIOLATED, other


def test_normalization_can_worsen_three_features() -> None:
    H = [[-1, 0, -1], [0, -1, -1], [0, 0, 1], [1, 1, 1]]
    claim = replace(CLAIMS["L-thm-4c/improves"], hypotheses=())
    assert exact.examine(claim, layer(H)).outcome is Outcome.VIOLATED


def with_mean_between(mean: Any) -> Layer:
    """Orthogonal centred columns of squares 16, 4 and 1, N = 4, and a mean of the second.

    Both of the theorem's last two conditions say that the mean is at most 3/2.
    """
    columns = [[2, 1, "1/2"], [2, -1, "-1/2"], [-2, 1, "-1/2"], [-2, -1, "1/2"]]
    return layer([[a, Fraction(b) + Fraction(mean), c] for a, b, c in columns])


EQUAL = replace(
    CLAIMS["L-thm-4b/equality"],
    hypotheses=tuple(replace(h, impose=None) for h in CLAIMS["L-thm-4b/equality"].hypotheses),
)
STRICT = [
    replace(CLAIMS[f"L-thm-4b/{name}"], hypotheses=()) for name in ("above", "below", "equality")
]


@pytest.mark.parametrize("mean", ["1", "-3/4", "3/2"])
def test_when_centring_changes_nothing_is_decided_exactly(mean: str) -> None:
    found = exact.examine(EQUAL, with_mean_between(mean))
    assert found.outcome is Outcome.HOLDS
    assert [str(side) for side in found.sides or ()] == ["16", "16"]


@pytest.mark.parametrize("mean", ["2", "151/100", "-5"])
def test_a_longer_mean_moves_an_extreme_eigenvalue(mean: str) -> None:
    subject = with_mean_between(mean)
    assert exact.examine(EQUAL, subject).outcome is Outcome.VACUOUS
    above, below, equality = (exact.examine(claim, subject).outcome for claim in STRICT)
    assert (above, below, equality) == (Outcome.HOLDS, Outcome.HOLDS, Outcome.VIOLATED)


def test_the_whole_eigenspace_counts() -> None:
    """Two features of one square: the mean is orthogonal to one principal axis of several."""
    columns = [[2, 2], [2, -2], [-2, 2], [-2, -2]]
    subject = layer([[a + 1, b] for a, b in columns])
    assert exact.examine(CLAIMS["L-thm-4b"], subject).outcome is Outcome.HOLDS


HINTED = [claim for claim in CLAIMS.values() if claim.attack and claim.form is not Form.CORRECTED]


@pytest.mark.parametrize("claim", HINTED, ids=lambda claim: claim.id)
def test_a_hint_leads_to_a_counterexample_of_what_falls_and_to_none_of_what_holds(
    claim: MatrixClaim,
) -> None:
    assert (integers.first_looked_at(claim) is not None) is (claim.expected is Verdict.REFUTED)


@pytest.mark.parametrize("missing", ["mean", "part along the outputs"])
def test_a_gradient_that_loses_less_than_the_identity_says_is_noticed(missing: str) -> None:
    claim = CLAIMS["L-LN-GN/gradient-every-group"]
    assert claim.says is not None
    whole = over_groups(INSIDE, INSIDE)
    lost = {
        "mean": squares(over_groups(INSIDE, NORMALIZED)),
        "part along the outputs": squares(mean_each(INSIDE)),
    }
    wrong = replace(claim, says=equal(claim.says.actual, whole - lost[missing]))
    assert symbolic.prove(claim, (3, 1, 1)) == "proved"
    assert symbolic.prove(wrong, (3, 1, 1)) == "not proved"
    assert integers.fails_somewhere(wrong, (4, 2, 1), 20)
    assert not integers.fails_somewhere(claim, (4, 2, 1), 20)


def test_a_step_with_q_has_the_q_of_its_layer() -> None:
    claim = CLAIMS["L-prop-7/step-with-q"]
    assert claim.says is not None
    assert "q" not in {letter.name for letter in claim.says.letters}


def test_copies_need_the_factor_of_the_lemma() -> None:
    copies = layer([[1, 1, 0], [0, 0, 1]], scaling=[1, "3/4", "3/4", 1])
    assert decided("L-lemma-A1/by-largest", copies).outcome is Outcome.HOLDS
    actual, claimed = sides("L-lemma-A1/two-columns", copies)
    assert actual > claimed


def test_one_learning_rate_for_coupled_layers() -> None:
    one = numbers([1, 1])
    descent = Descent(
        theta=one, direction=one, factor=numbers([[1, 1]]), P=numbers([[1, 0], [0, 1]]),
        step=Fraction(3, 2), linear=one, fourth=one,
    )  # fmt: skip
    assert decided("L-before-prop-5/one-rate-suffices", descent).outcome is Outcome.VIOLATED
    assert (
        decided("L-before-prop-5/one-rate-suffices/corrected", descent).outcome is Outcome.VACUOUS
    )


def test_batch_renormalization_of_two_examples_passes_nothing() -> None:
    found = decided("L-alg-1/renormalization-gradients", layer([[0], [1]]))
    assert found.actual == "(0, 0)"


def test_gradients_through_the_statistics_of_two_examples_vanish() -> None:
    subject = COUNTEREXAMPLES["L-prop-7/through-statistics"]
    actual, claimed = sides("L-prop-7/through-statistics", subject)
    # sum l_j h_j / (N sigma) = (1 * 0 + 3 * 2)/2
    assert (actual, claimed) == (0, 3)


def test_two_groups_of_two_are_seen() -> None:
    """Four outputs are the fewest that fall into several groups of several."""
    claim = CLAIMS["L-LN-GN/every-group"]
    assert symbolic.prove(claim, (4, 1, 1)) == "proved"
    by_rows = CLAIMS["L-LN-GN"]
    assert symbolic.prove(replace(by_rows, hypotheses=()), (4, 1, 1)) == "not proved"


def test_the_null_part_of_a_mean() -> None:
    H = numbers([["5/4", "3/4"], ["-5/4", "3/4"]])
    C, mean = H - H.sum(0) / 2, H.sum(0) / 2
    assert list(null_part.meaning(C, mean)) == [0, Fraction(3, 4)]
    found = null_part.meaning(C.astype(float), mean.astype(float))
    assert found == pytest.approx([0, 0.75])


def test_backward_passes_are_the_gradient() -> None:
    rng = np.random.default_rng(0)
    x, g, gamma = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=3)
    yhat, sigma = batchnorm.standardize(x)
    inverse = 1 / sigma[0]
    expected = batchnorm.gradient(x, g, gamma)
    for formulas in (backward_passes.literal, backward_passes.termwise, backward_passes.fused):
        in_x, in_gamma, in_beta = formulas(g, x, yhat, x.mean(0), inverse, inverse**3, gamma)
        np.testing.assert_allclose(in_x, expected, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(in_gamma, (g * yhat).sum(0))
        np.testing.assert_allclose(in_beta, g.sum(0))


class Number:
    """A number that counts the operations done with it: what shapes alone should give."""

    done = 0

    def __add__(self, other: Any) -> "Number":
        Number.done += 1
        return Number()

    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __add__

    def __neg__(self) -> "Number":
        return self


def array_of_numbers(*shape: int) -> np.ndarray:
    entries = [Number() for _ in range(int(np.prod(shape)))]
    return np.array(entries, dtype=object).reshape(shape)


@pytest.mark.parametrize("sizes", [(2, 1, 1), (3, 2, 2), (5, 4, 3)])
def test_shapes_count_what_numbers_count(sizes: tuple[int, int, int]) -> None:
    N, n, p = sizes
    cases = [
        lambda of: proposition_6.statistics(of(N, n)),
        lambda of: preconditioning.preconditioned_gradient(
            of(p), of(p, n), of(n), of(n), q_squared=2
        ),
        *(
            lambda of, f=f: f(of(N, n), of(N, n), of(N, n), *(of(n) for _ in range(4)))
            for f in (backward_passes.literal, backward_passes.fused)
        ),
    ]
    for run in cases:
        work = Work(first_of_products=0)
        run(lambda *shape, work=work: Counted(shape, work))
        Number.done = 0
        run(array_of_numbers)
        assert Number.done == work.done


def test_every_claim_about_a_layer_has_a_title_and_an_expression() -> None:
    for claim in CLAIMS.values():
        if claim.subject is Kind.LAYER:
            assert claim.title, claim.id
            assert claim.says is not None or claim.in_words, claim.id
