"""Matrices of small integers: decided for certain, hypotheses kept, counterexamples shrunk."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theory.arithmetic.spectra import eigenvalues, squared_condition_number
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Hypothesis, Location, Relation, Sides, Verdict
from verify import tolerance
from verify.matrices import exact, floats, integers, lattice, symbolic
from verify.matrices.strata import STRATA, draw, random_subjects
from verify.results import Proof, in_words
from verify.settings import PROFILES, Settings
from verify.tolerance import Outcome

SMOKE = Settings(PROFILES["smoke"])


def variance(layer):
    """The biased variance, from the mean of squares."""
    return (layer.H * layer.H).sum(0) / layer.H.shape[0] - means(layer) ** 2


def means(layer):
    return layer.H.sum(0) / layer.H.shape[0]


def deviations(layer):
    return layer.H - means(layer)


RIGHT = MatrixClaim(
    id="L-test",
    row="L-test",
    locations=(Location("L", 1, "here", "words"),),
    statement=r"v = \overline{(h - \mu)^2}",
    sides=lambda layer: Sides((deviations(layer) ** 2).sum(0) / layer.H.shape[0], variance(layer)),
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
)
UNBIASED = replace(
    RIGHT,
    sides=lambda layer: Sides(
        (deviations(layer) ** 2).sum(0) / (layer.H.shape[0] - 1 or 1), variance(layer)
    ),
)
NOT_CENTRED = replace(
    RIGHT, sides=lambda layer: Sides((layer.H**2).sum(0) / layer.H.shape[0], variance(layer))
)
GRADIENT = replace(
    RIGHT,
    sides=lambda layer: Sides(
        layer.gradient(lambda b: layer.loss(layer.H @ layer.W.T + b), layer.b),
        layer.gradient(layer.loss, layer.H @ layer.W.T + layer.b).sum(0),
    ),
)
HESSIAN_SIGN = replace(
    RIGHT,
    sides=lambda layer: Sides(
        layer.derivative(lambda b: layer.gradient(layer.loss, b[None, :]), layer.b, layer.b),
        -layer.derivative(lambda b: layer.gradient(layer.loss, b[None, :]), layer.b, layer.b),
    ),
)


def searched(claim):
    (found,) = integers.examine([claim], SMOKE)
    return found


@pytest.mark.parametrize("claim", [RIGHT, GRADIENT])
def test_what_holds_is_not_refuted_and_proved_symbolically(claim):
    assert searched(claim).counterexample is None
    found = symbolic.examine(claim, SMOKE)
    assert found.proof == Proof(({"N": 3, "n": 1, "p": 1},))


@pytest.mark.parametrize("claim", [UNBIASED, NOT_CENTRED])
def test_what_does_not_hold_is_refuted_and_not_proved(claim):
    found = searched(claim)
    assert found.counterexample.actual != found.counterexample.claimed
    assert found.violated > 0
    assert symbolic.examine(claim, SMOKE).proof is None


def test_a_counterexample_shows_the_numbers_that_matter():
    found = searched(NOT_CENTRED).counterexample
    assert found.numbers == {"H": [["1"]]}
    assert found.size == {"N": 1, "n": 1, "p": 1}


def test_floats_see_a_wrong_second_derivative():
    one = replace(HESSIAN_SIGN, hypotheses=())
    subjects = [s for s in random_subjects(Kind.LAYER, 0, 6) if len(s.H) > 0]
    singles = [replace(s, linear=s.linear[:1], quadratic=s.quadratic[:1], fourth=s.fourth[:1],
                       couples=0.0) for s in subjects]  # fmt: skip
    seen = {o for found in floats.examine_all(one, singles) for o in found.outcomes}
    assert seen == {Outcome.VIOLATED}


def test_a_condition_number_is_exact_about_the_rank():
    layer = next(random_subjects(Kind.LAYER, 0, 1))
    kappa = replace(
        RIGHT,
        sides=lambda layer: Sides(squared_condition_number(layer.H), 1),
        relation=Relation.AT_LEAST,
    )
    copies = replace(layer, H=np.array([[1, 1], [2, 2], [0, 0]], dtype=object))
    integers = _integers(copies)
    assert exact.examine(kappa, integers).outcome is Outcome.HOLDS
    strictly = exact.examine(replace(kappa, relation=Relation.MORE_THAN), integers).outcome
    assert strictly in (Outcome.UNDECIDED, Outcome.VIOLATED)


def _integers(subject):
    def rounded(value):
        array = np.asarray(value)
        return np.frompyfunc(lambda x: Fraction(x).limit_denominator(8), 1, 1)(array)

    numbers = {name: rounded(getattr(subject, name)) for name in subject.names() if name != "H"}
    return replace(subject, **numbers)


def test_eigenvalues_of_exact_and_float_matrices_agree():
    rng = np.random.default_rng(0)
    half = rng.integers(-5, 6, size=(4, 3))
    gram, scaling = half.T @ half, np.array([1, 4, 2])
    exactly = [float(v) for v in eigenvalues(gram.astype(object), scaling.astype(object))]
    np.testing.assert_allclose(exactly, eigenvalues(gram * 1.0, scaling * 1.0), rtol=1e-12)


def test_a_hypothesis_that_cannot_hold_makes_everything_vacuous():
    never = Hypothesis("never", lambda layer: layer.q * 0 - 1, Relation.AT_LEAST)
    claim = replace(NOT_CENTRED, hypotheses=(never,))
    found = searched(claim)
    assert found.instances == found.vacuous > 0
    (found,) = floats.examine_random([claim], SMOKE)
    assert found.instances == found.vacuous > 0


def test_a_hypothesis_is_imposed_before_anything_is_evaluated():
    one = Hypothesis(
        "q = 1", lambda s: s.q - 1, Relation.EQUAL, impose=lambda s: replace(s, q=1 + 0 * s.q)
    )
    claim = replace(RIGHT, sides=lambda layer: Sides(layer.q * layer.b, layer.b), hypotheses=(one,))
    assert searched(claim).counterexample is None
    assert searched(replace(claim, hypotheses=())).counterexample is not None
    (found,) = floats.examine_random([claim], SMOKE)
    assert found.violated == 0
    assert symbolic.examine(claim, SMOKE).proof is not None


@pytest.mark.parametrize("claim", [RIGHT, GRADIENT], ids=["variance", "gradient"])
@pytest.mark.parametrize("stratum", ["gaussian", "large offset"])
def test_copies_evaluated_in_one_call_are_moved_as_far_as_one_by_one(claim, stratum):
    copies = floats.Copies([draw(Kind.LAYER, stratum, 0, 0)], seed=0)
    (base,) = copies.evaluated(claim)
    (together,) = copies.perturbed_together([claim]).values()
    assert len({sample.claimed.tobytes() for sample in together}) == tolerance.SAMPLES
    moved, moved_alone = (
        tolerance.condition_times_size(base.claimed, [s.claimed for s in samples])
        for samples in (together, copies.perturbed(claim))
    )
    assert moved_alone / 8 < moved < 8 * moved_alone


CONDITION = replace(
    RIGHT,
    sides=lambda layer: Sides(
        squared_condition_number(2 * layer.H), squared_condition_number(layer.H)
    ),
)
WRONG_CONDITION = replace(
    CONDITION,
    sides=lambda layer: Sides(
        squared_condition_number(layer.H), 1.001 * squared_condition_number(layer.H)
    ),
)


@pytest.mark.parametrize(
    ("claim", "outcome"), [(CONDITION, Outcome.HOLDS), (WRONG_CONDITION, Outcome.VIOLATED)]
)
def test_condition_numbers_of_all_copies_are_found_in_one_call(claim, outcome):
    subject = draw(Kind.LAYER, "gaussian", 0, 0)
    copies = floats.Copies([subject], seed=0)
    together = copies.perturbed_together([claim])
    assert len(together[claim.id]) == tolerance.SAMPLES
    found = copies.judged(claim, copies.evaluated(claim), together[claim.id])
    assert found.outcomes == [outcome]


EVERY_STRATUM = [replace(draw(Kind.LAYER, stratum, 0, 1), couples=0.0) for stratum in STRATA]


@pytest.mark.parametrize(
    "claim", [RIGHT, GRADIENT, CONDITION], ids=["variance", "gradient", "kappa"]
)
def test_what_is_found_of_subjects_in_one_call_is_what_is_found_of_each(claim):
    (together,) = floats.examine_all(claim, EVERY_STRATUM)
    alone = [floats.examine(claim, subject) for subject in EVERY_STRATUM]
    assert together.outcomes == [outcome for found in alone for outcome in found.outcomes]
    assert together.strata == [*STRATA]
    np.testing.assert_allclose(together.actual, [found.actual[0] for found in alone], rtol=1e-9)


def test_one_subject_at_which_something_divides_by_zero_leaves_the_others_as_they_are():
    zero, *others = EVERY_STRATUM
    (found,) = floats.examine_all(CONDITION, [replace(zero, H=0 * zero.H), *others])
    assert found.outcomes == [Outcome.VACUOUS, *[Outcome.HOLDS] * len(others)]


def test_of_an_inequality_between_arrays_the_entry_nearest_to_failing_is_judged_at_each_subject():
    above = replace(
        RIGHT,
        sides=lambda layer: Sides(layer.H, layer.H * 0 + layer.H.max() * layer.couples),
        relation=Relation.AT_MOST,
    )
    first, second, *_ = (replace(s, H=abs(s.H) + 1, couples=0.0) for s in EVERY_STRATUM)
    (found,) = floats.examine_all(above, [first, replace(second, couples=1.0)])
    assert found.outcomes == [Outcome.VIOLATED, Outcome.HOLDS]
    np.testing.assert_allclose(found.actual, [first.H.max(), second.H.max()])


def test_a_zero_matrix_has_no_condition_number():
    subject = draw(Kind.LAYER, "gaussian", 0, 0)
    zero = replace(subject, H=0 * subject.H)
    (found,) = floats.examine_all(CONDITION, [zero])
    assert found.outcomes == [Outcome.VACUOUS]


def test_what_looks_at_a_number_is_evaluated_copy_by_copy():
    looks = replace(
        RIGHT,
        sides=lambda layer: Sides(layer.H, layer.H if layer.H.sum() != 0 else -layer.H),
    )
    copies = floats.Copies([draw(Kind.LAYER, "gaussian", 0, 0)], seed=0)
    assert copies.perturbed_together([looks]) == {}
    assert floats.examined_alone(looks, copies).outcomes == [Outcome.HOLDS]


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("stratum", STRATA)
def test_a_token_names_one_subject(kind, stratum):
    first, again, other = (draw(kind, stratum, 3, i) for i in (1, 1, 2))
    assert first.token == again.token != other.token
    for name in first.names():
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))


@pytest.mark.parametrize("kind", list(Kind))
def test_every_size_has_subjects_of_that_size(kind):
    for size in lattice.SIZES[kind]:
        for subject in (integers.SPACES[kind].simplest(size), symbolic.letters(kind, size)):
            assert in_words([subject.size]) == lattice.named(kind, size)


def test_the_symbolic_loss_is_the_numeric_one():
    letters = symbolic.letters(Kind.LAYER, (2, 1, 2))
    assert letters.quadratic[0, 0, 1] == letters.quadratic[0, 1, 0]
