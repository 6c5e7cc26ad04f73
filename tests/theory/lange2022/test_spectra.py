"""The claims about condition numbers: values by hand, planted mistakes, known counterexamples."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from theory import preconditioning
from theory.arithmetic import sqrt
from theory.arithmetic.spectra import condition_number, squared_condition_number
from theory.lange2022 import (
    equation_32,
    equations_28_31,
    hessian_remarks,
    independence,
    lemma_a1,
    lemma_a1_steps,
    lemma_a2_signs,
    norm_of_normalized,
    norm_over_q,
    one_learning_rate,
    online,
    proof_11,
    property_a,
    proposition_5_proof,
    proposition_11,
    reduced_rate,
    spectral,
    theorem_4_centring,
    theorem_4_centring_steps,
    theorem_4_improves,
    theorem_4_remarks,
    theorem_4_scaling,
    theorem_4_strict,
)
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Relation, Sides, Verdict
from verify.matrices import exact, symbolic
from verify.matrices.subjects import Descent, Layer
from verify.settings import PROFILES, Settings
from verify.tolerance import Outcome

MODULES = (
    theorem_4_centring,
    theorem_4_centring_steps,
    theorem_4_strict,
    theorem_4_scaling,
    theorem_4_improves,
    theorem_4_remarks,
    property_a,
    hessian_remarks,
    reduced_rate,
    equations_28_31,
    equation_32,
    norm_of_normalized,
    independence,
    norm_over_q,
    proposition_5_proof,
    proposition_11,
    proof_11,
    lemma_a1,
    lemma_a1_steps,
    lemma_a2_signs,
    online,
    one_learning_rate,
)
CLAIMS: dict[str, MatrixClaim] = {c.id: c for module in MODULES for c in module.CLAIMS}
QUICK = Settings(PROFILES["smoke"])


def numbers(values: Any) -> np.ndarray:
    """Return an array of fractions, from nested lists of what Fraction takes."""
    return np.vectorize(Fraction, otypes=[object])(np.array(values, dtype=object))


def layer(H: Any, **changes: Any) -> Layer:
    """Return a layer with given inputs."""
    H = numbers(H)
    N, n = H.shape
    one, rows = numbers([1] * n), numbers([1] * N)
    plain = Layer(
        H=H, W=one[None, :], b=one[:1], gamma=one, beta=one, mean=one, deviation=one,
        curvature=rows, direction=numbers([1] * (n + 1)), scaling=numbers([1] * (n + 1)),
        step=Fraction(1), q=Fraction(1), couples=0, linear=rows[:, None],
        quadratic=0 * rows[:, None, None], fourth=0 * rows[:, None],
    )  # fmt: skip
    return replace(plain, **changes)


def outcome(identifier: str, subject: Layer | Descent) -> Outcome:
    """Decide one subject."""
    return exact.examine(CLAIMS[identifier], subject).outcome


def shown(identifier: str, subject: Layer) -> tuple[float, float]:
    """Both sides of one subject as floats."""
    claim = CLAIMS[identifier]
    subject = exact.imposed(claim, subject).converted(exact._exactly, exact.EXACT)
    actual, claimed = claim.sides(subject)
    return float(actual), float(claimed)


def test_identifiers_differ_and_corrections_exist() -> None:
    assert len(CLAIMS) == sum(len(module.CLAIMS) for module in MODULES)
    for claim in CLAIMS.values():
        if claim.expected is Verdict.REFUTED:
            corrections = [c for c in CLAIMS.values() if c.of == claim.id]
            assert corrections or claim.corrected_by in CLAIMS, claim.id
        if claim.corrected_by is not None:
            assert claim.corrected_by in CLAIMS, claim.id


COUNTEREXAMPLES = {
    "L-thm-4a/any-rank": layer([[2, 1], [-2, 1]]),
    "L-thm-4a/running-mean": layer([[-1], [1]]),
    "L-thm-4c/zeros": layer([[0, 0], [1, 0], [2, 1]]),
    "L-lemma-A1/zeros": layer([[1, 1], [0, 1]]),
    "L-thm-4-remarks/property-A/any-rank": layer(
        [[1, 1], [-1, -1]], scaling=numbers([1, "3/4", "3/4"])
    ),
    "L-thm-4-remarks/by-as-much": layer([[0], [2]]),
    "L-thm-4-remarks/reduced-r": layer([[2], ["-1/2"]], curvature=numbers([0, 1])),
    "L-norm-Ghat/running": layer([[-1], [1]]),
    "L-norm-Ghat/independent": layer([[0], [1]]),
    "L-prop-5/658": layer([[0], [0]], q=Fraction(2)),
    "L-prop-5/664": layer([[0]]),
    "L-prop-11/semidefinite": layer([[-1], [0], [1]]),
    "L-prop-11/indefinite": layer([[1], [0], ["1/10"]], curvature=numbers([1, 1, -1])),
    "L-steps/739": layer([[1], [0]], curvature=numbers([1, 0])),
    "L-eq-28-32/621": layer([[1]]),
}


@pytest.mark.parametrize("identifier", COUNTEREXAMPLES)
def test_the_counterexamples_of_the_adjudication_violate(identifier: str) -> None:
    assert outcome(identifier, COUNTEREXAMPLES[identifier]) is Outcome.VIOLATED


@pytest.mark.parametrize("identifier", COUNTEREXAMPLES)
def test_what_corrects_them_holds_there(identifier: str) -> None:
    tied = [c.id for c in CLAIMS.values() if c.of == identifier]
    named = CLAIMS[identifier].corrected_by
    for other in {*tied, *([named] if named else [])}:
        assert outcome(other, COUNTEREXAMPLES[identifier]) is not Outcome.VIOLATED, other


def test_normalization_can_worsen_three_features() -> None:
    H = numbers([[-1, 0, -1], [0, -1, -1], [0, 0, 1], [1, 1, 1]])
    claim = replace(CLAIMS["L-thm-4c/improves"], hypotheses=())
    assert exact.examine(claim, layer(H)).outcome is Outcome.VIOLATED


def test_copies_need_the_factor_of_the_lemma() -> None:
    scaling = numbers([1, "3/4", "3/4", 1])
    copies = layer([[1, 1, 0], [0, 0, 1]], scaling=scaling)
    claim = CLAIMS["L-lemma-A1/by-largest"]
    assert exact.examine(claim, copies).outcome is Outcome.HOLDS
    wrong = replace(claim, sides=lemma_a1.optimal)
    assert exact.examine(wrong, copies).outcome is Outcome.VIOLATED


def test_one_learning_rate_for_coupled_layers() -> None:
    one = numbers([1, 1])
    descent = Descent(
        theta=one, direction=one, factor=numbers([[1, 1]]), P=numbers([[1, 0], [0, 1]]),
        step=Fraction(3, 2), linear=one, fourth=one,
    )  # fmt: skip
    assert outcome("L-steps/217", descent) is Outcome.VIOLATED
    assert outcome("L-steps/217/corrected", descent) is Outcome.VACUOUS


VALUES = {
    "L-thm-4a/any-rank": ([[2, 1], [-2, 1]], (4, 2)),
    "L-thm-4a/any-rank/corrected": ([["5/4", "3/4"], ["-5/4", "3/4"]], (25 / 16, 25 / 16)),
    "L-thm-4a": ([[0], [2]], (1, (3 + 5**0.5) / (3 - 5**0.5))),
    "L-thm-4-remarks/tight": ([[1, 10], [1, -10], [-1, 10], [-1, -10]], (100, 100)),
    "L-thm-4-remarks/chain": ([[1, 10], [1, -10], [-1, 10], [-1, -10]], (100, 100)),
    "L-thm-4c/tight": ([[1, 1, 1], [-1, -1, -1]], (3, 3)),
    "L-norm-Ghat/running": ([[-1], [1]], (3 + 5**0.5, 4)),
    "L-norm-Ghat/at-most": ([[1, 1, 1], [-1, -1, -1]], (6, 6)),
    "L-norm-Ghat/at-least": ([[1, 1, 1], [-1, -1, -1]], (6, 6)),
    "L-lemma-A2/small-signs": ([[0, 0], [0, 0], [0, 0]], (4.5, 5)),
    "L-norm-Ghat": ([[0], [2]], (2, 2)),
    "L-prop-5/664/corrected": ([[0]], (2**0.5, 2)),
    "L-steps/219/corrected": ([[1, 1, 1], [-1, -1, -1]], (4, 4)),
}


@pytest.mark.parametrize("identifier", VALUES)
def test_values_by_hand(identifier: str) -> None:
    H, expected = VALUES[identifier]
    assert shown(identifier, layer(H)) == pytest.approx(expected, rel=1e-12)


def test_the_expected_maximum_of_three_by_two() -> None:
    subject = layer([[0] * 3] * 2, q=Fraction(2))
    assert shown("L-prop-5/658", subject) == (2337 / 512, 3)


def test_the_hessian_that_gets_worse() -> None:
    subject = replace(layer([[2], ["-1/2"]]), curvature=numbers([1, 2]))
    subject = subject.converted(exact._exactly, exact.EXACT)
    actual, claimed = reduced_rate.reduced(subject)
    assert (float(actual), float(claimed)) == pytest.approx((4, 1))


def test_equality_with_a_mean_of_three_features() -> None:
    H = [[2, 2, "1/2"], [2, 0, "-1/2"], [-2, 2, "-1/2"], [-2, 0, "1/2"]]
    actual, claimed = shown("L-thm-4b", layer(H))
    assert (actual, claimed) == pytest.approx((16, 16))
    assert outcome("L-thm-4b", layer(H)) is not Outcome.HOLDS


def test_the_null_part_of_a_mean() -> None:
    H = numbers([["5/4", "3/4"], ["-5/4", "3/4"]])
    C, mean = H - H.sum(0) / 2, H.sum(0) / 2
    assert list(spectral.null_part(C, mean)) == [0, Fraction(3, 4)]
    found = spectral.null_part(C.astype(float), mean.astype(float))
    assert found == pytest.approx([0, 0.75])


def twice(claim: MatrixClaim, factor: Any) -> MatrixClaim:
    """Return the claim with the claimed side multiplied."""

    def sides(subject: Any) -> Sides:
        actual, claimed = claim.sides(subject)
        return Sides(actual, factor * claimed)

    return replace(claim, sides=sides, certificate=None)


EQUATIONS = [c.id for c in CLAIMS.values() if c.relation is Relation.EQUAL]
PROVED = [c.id for c in CLAIMS.values() if c.expected is Verdict.PROVED]
ZERO = ("L-norm-Ghat/orthogonal", "L-thm-4-remarks/centred")
"""Both sides zero, or a matrix of ones and zeros: twice zero is no mistake."""


@pytest.mark.parametrize("identifier", [i for i in EQUATIONS if i not in ZERO])
def test_a_factor_in_an_equation_is_found(identifier: str) -> None:
    assert exact.search(twice(CLAIMS[identifier], 2), QUICK).counterexample is not None


def uncentred(subject: Any) -> Sides:
    return Sides(spectral.before(subject), spectral.after_centring(subject))


def summed_centring(subject: Any) -> Sides:
    U = preconditioning.centring(-preconditioning.means(subject.H))
    after = spectral.augmented(subject.H) @ U
    return Sides(squared_condition_number(after), spectral.before(subject))


def unscaled(subject: Any) -> Sides:
    return Sides(spectral.normalized(subject), spectral.after_scaling(subject))


def variances_for_deviations(subject: Any) -> Sides:
    F = spectral.centred_and_ones(subject.H)
    squares = 1 / (spectral.column_squares(F) * spectral.column_squares(F))
    found = squared_condition_number(F, squares)
    return Sides(found, subject.H.shape[1] * spectral.after_scaling(subject))


def one_kappa(subject: Any) -> Sides:
    S = proposition_11.diagonal(subject.curvature)
    F = spectral.augmented(subject.H)
    kappa = sqrt(spectral.before(subject))
    return Sides(condition_number(F.T @ (S @ F)), kappa * condition_number(S))


def no_bias_in_scaling(subject: Any) -> Sides:
    F = spectral.centred_and_ones(subject.H)
    squares = 1 / spectral.column_squares(F)[1:]
    identity = np.eye(len(squares), dtype=object)
    found = squared_condition_number(identity, squares)
    return Sides(spectral.after_centring(subject), spectral.normalized(subject) * found)


def no_fourth_moment(subject: Any) -> Sides:
    actual, _ = proposition_5_proof.maximum_bounded(subject)
    n = subject.H.shape[1]
    return Sides(actual, n + subject.sqrt(n * (subject.q - 1)))


MISTAKES = [
    ("L-thm-4a", uncentred),
    ("L-thm-4a", summed_centring),
    ("L-thm-4a/any-rank/corrected", theorem_4_centring.own_means),
    ("L-thm-4a/running-mean/corrected", theorem_4_centring.other_means),
    ("L-thm-4b", lambda subject: Sides(*reversed(theorem_4_strict.sides(subject)))),
    ("L-thm-4c/by-correlation", unscaled),
    ("L-thm-4c/sqrt-n", variances_for_deviations),
    ("L-thm-4-remarks/chain", no_bias_in_scaling),
    ("L-thm-4-remarks/by-as-much/both", hessian_remarks.improvement),
    ("L-thm-4-remarks/reduced-r/weighted-mean", reduced_rate.reduced),
    ("L-norm-Ghat/running/corrected", norm_of_normalized.other_statistics),
    ("L-prop-5/658/corrected", no_fourth_moment),
    ("L-prop-11", one_kappa),
]


@pytest.mark.parametrize(("identifier", "sides"), MISTAKES)
def test_planted_mistakes_are_found(identifier: str, sides: Any) -> None:
    wrong = replace(CLAIMS[identifier], sides=sides)
    assert exact.search(wrong, QUICK).counterexample is not None


@pytest.mark.parametrize("identifier", PROVED)
def test_no_proof_of_a_mistake(identifier: str) -> None:
    claim = CLAIMS[identifier]
    size = {Kind.LAYER: (2, 2, 1), Kind.DESCENT: (2,)}[claim.subject]
    assert symbolic.prove(claim, size) == "proved"
    if claim.certificate is not None:
        shortened = replace(claim, certificate=lambda s: claim.certificate(s)[1:])
        assert symbolic.prove(shortened, size) == "not proved"
