"""Matrices of small integers and of floats: what is wrong is seen, hypotheses are kept."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from by_functions import said, worth
from flint import arb
from made_up_statements import of_matrices

from theory import descent
from theory import layer as theory_layer
from theory.arithmetic.quadratic import NotRealError
from theory.arithmetic.spectra import eigenvalues, squared_condition_number
from theory.lange2022 import theorem_4
from theory.language.arrays import (
    absolute,
    entrywise,
    first,
    kappa2,
    norm2,
    transpose,
)
from theory.language.expression import Letter, along, equal, gradient, number
from theory.language.operations import sqrt
from theory.maps import convolution
from theory.matrix_claim import Kind
from theory.statement import Relation, Sides, assume
from verify import tolerance
from verify.results import in_words
from verify.settings import PROFILES, Settings
from verify.subjects import matrix_lattice
from verify.subjects.matrix_strata import STRATA, draw, layer
from verify.tolerance import Outcome
from verify.witnesses import integers as of_hints
from verify.witnesses.exact import compared
from verify.witnesses.matrices import abstract, exact, floats, integers, symbolic

SMOKE = Settings(PROFILES["smoke"])
GAUSSIAN = draw(Kind.LAYER, "gaussian", 0, 0)
DESCENT = symbolic.letters(Kind.DESCENT, (2,))
EVERY_STRATUM = [replace(draw(Kind.LAYER, stratum, 0, 1), couples=0.0) for stratum in STRATA]


def claim(sides, relation=Relation.EQUAL):
    return of_matrices(said(sides, relation))


def means(layer):
    return layer.H.sum(0) / layer.H.shape[0]


def variance(layer):
    """The biased variance, from the mean of squares."""
    return (layer.H * layer.H).sum(0) / layer.H.shape[0] - means(layer) ** 2


def spread(layer, count):
    return ((layer.H - means(layer)) ** 2).sum(0) / count


def kappa(layer):
    return squared_condition_number(layer.H)


VARIANCE = claim(lambda layer: Sides(spread(layer, layer.H.shape[0]), variance(layer)))
UNBIASED = claim(lambda layer: Sides(spread(layer, layer.H.shape[0] - 1 or 1), variance(layer)))
NOT_CENTRED = claim(lambda layer: Sides((layer.H**2).sum(0) / layer.H.shape[0], variance(layer)))
GRADIENT = claim(
    lambda layer: Sides(
        layer.gradient(lambda b: layer.loss(layer.H @ layer.W.T + b), layer.b),
        layer.gradient(layer.loss, layer.H @ layer.W.T + layer.b).sum(0),
    )
)
CONDITION = claim(lambda layer: Sides(squared_condition_number(2 * layer.H), kappa(layer)))


def searched(claim):
    (found,) = integers.examine([claim], SMOKE)
    return found


# ---- integers and letters ----


@pytest.mark.parametrize("wrong", [UNBIASED, NOT_CENTRED])
def test_what_does_not_hold_is_refuted_by_the_numbers_that_matter_and_not_proved(wrong):
    found = searched(wrong)
    assert found.violated > 0
    assert found.counterexample.actual != found.counterexample.claimed
    assert symbolic.examine(wrong, SMOKE).proof is None
    if wrong is NOT_CENTRED:
        assert found.counterexample.numbers == {"H": [["1"]]}
        assert found.counterexample.size == {"N": 1, "n": 1, "p": 1}


def test_what_fails_for_large_subjects_alone_is_refuted():
    few = of_matrices(theory_layer.N <= 10)
    assert searched(few).counterexample.size == {"N": 16, "n": 3, "p": 2}


def test_what_grows_with_the_dimension_of_a_descent_is_seen_to_grow():
    """A sum of sizes is at most the root of d times the length."""
    sizes = worth(lambda descent: abs(descent.direction).sum())
    short = of_matrices(sizes**2 <= 6 * norm2(descent.x), subject=Kind.DESCENT)
    assert searched(short).counterexample.size == {"d": 16}


def test_layers_have_few_and_many_examples_for_each_number_of_inputs():
    drawn = [draw(Kind.LAYER, "gaussian", 0, number).size for number in range(40)]
    assert {size["n"] for size in drawn if size["N"] <= 8} == {*range(1, 9)}
    assert {size["n"] for size in drawn if size["N"] > 8} == {*range(1, 9)}


def test_what_holds_of_numbers_of_order_one_alone_is_refuted():
    found = searched(of_matrices(theory_layer.q <= 20)).counterexample
    assert Fraction(found.numbers["q"]) > 20
    assert 64 % Fraction(found.numbers["q"]).denominator == 0


# ---- losses ----


def output(subject):
    if subject.kind is Kind.LAYER:
        return subject.H @ subject.W.T + subject.b
    return (
        convolution(subject.h, subject.w, subject.b) if subject.kind is Kind.MAPS else subject.theta
    )


def slope(subject, point):
    return subject.gradient(subject.loss, point)


def curved(subject, point, v):
    return subject.derivative(lambda it: slope(subject, it), point, v)


def of_quadratic_losses(subject):
    """The slope changes as the Hessian at 0 says."""
    v = output(subject)
    return Sides(slope(subject, v) - slope(subject, 0 * v), curved(subject, 0 * v, v))


def of_even_losses(subject):
    """Slopes at opposite points add up to twice that at 0, as of squares and fourth powers."""
    v = output(subject)
    return Sides(slope(subject, v) + slope(subject, -v), 2 * slope(subject, 0 * v))


def of_losses_of_degree_four(subject):
    """The slope changes by the mean of the Hessian as Simpson's rule has it."""
    v = output(subject)
    places = (1, 0 * v), (4, v / 2), (1, v)
    mean = sum(weight * curved(subject, place, v) for weight, place in places) / 6
    return Sides(slope(subject, v) - slope(subject, 0 * v), mean)


def of_losses_that_vanish_at_zero(subject):
    """No loss is larger than zero there, or smaller."""
    return Sides(subject.loss(0 * output(subject)), 0)


def of_losses_that_bend_upwards_at_zero(subject):
    """The curvature there along any direction is not below zero."""
    v = output(subject)
    return Sides(0, (v * curved(subject, 0 * v, v)).sum())


EQUATIONS_OF_SOME = (of_quadratic_losses, of_even_losses, of_losses_of_degree_four)
BOUNDS_OF_SOME = (of_losses_that_vanish_at_zero, of_losses_that_bend_upwards_at_zero)
OF_SOME = [claim(sides) for sides in EQUATIONS_OF_SOME] + [
    claim(sides, Relation.AT_MOST) for sides in BOUNDS_OF_SOME
]


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize(
    "of_some", OF_SOME, ids=[f.__name__ for f in (*EQUATIONS_OF_SOME, *BOUNDS_OF_SOME)]
)
def test_what_holds_of_some_losses_alone_is_refuted_and_not_proved(kind, of_some):
    false = replace(of_some, subject=kind)
    assert searched(false).counterexample is not None
    assert symbolic.examine(false, SMOKE).proof is None
    subject = symbolic.letters(kind, matrix_lattice.SIZES[kind][1])
    assert symbolic.open_for(false, subject, symbolic.AnyLoss)
    (in_floats,) = floats.examine([false], SMOKE)
    assert in_floats.violated > 0


# ---- rank ----


def test_a_condition_number_is_exact_about_the_rank():
    at_least_one, more = (
        claim(lambda layer: Sides(kappa(layer), 1), relation)
        for relation in (Relation.AT_LEAST, Relation.MORE_THAN)
    )

    def rounded(value):
        array = np.asarray(value)
        return np.frompyfunc(lambda x: Fraction(x).limit_denominator(8), 1, 1)(array)

    numbers = {name: rounded(getattr(GAUSSIAN, name)) for name in GAUSSIAN.names()}
    copies = np.array([[1, 1], [2, 2], [0, 0]], dtype=object)
    subject = replace(GAUSSIAN, **numbers | {"H": copies})
    assert exact.examined([at_least_one], subject)[0].outcome is Outcome.HOLDS
    assert exact.examined([more], subject)[0].outcome in (Outcome.UNDECIDED, Outcome.VIOLATED)


def with_a_pair_of_features(apart):
    """A layer of which two features differ by a part of their deviations, all far from zero."""

    def inputs(rng, shape):
        H = rng.normal(size=shape)
        H[:, 1] = H[:, 0] + apart * rng.normal(size=len(H))
        return H + 10

    return layer(np.random.default_rng(2), inputs, 15, 3, 1)


OF_CONDITION_NUMBERS = [theorem_4.CENTRED, theorem_4.STRICT, theorem_4.SCALED]


@pytest.mark.parametrize("apart", 10.0 ** -np.arange(2, 16))
def test_floats_accuse_nobody_where_the_rank_is_in_doubt(apart):
    found = floats.examine_together(OF_CONDITION_NUMBERS, [with_a_pair_of_features(apart)])
    outcomes = {outcome for (group,) in found.values() for outcome in group.outcomes}
    assert Outcome.VIOLATED not in outcomes
    assert (Outcome.HOLDS in outcomes) == (apart > 1e-5)


def test_a_hypothesis_that_cannot_hold_makes_everything_vacuous():
    never = assume(0 * theory_layer.q >= 1)
    vacuous = replace(NOT_CENTRED, hypotheses=(never,))
    (in_floats,) = floats.examine([vacuous], SMOKE)
    for found in (searched(vacuous), in_floats):
        assert found.instances == found.vacuous > 0


def test_nothing_is_proved_of_sizes_that_a_hypothesis_excludes():
    def narrow(most):
        return replace(VARIANCE, hypotheses=(assume(theory_layer.n <= most),))

    assert {size["n"] for size in symbolic.examine(narrow(1), SMOKE).proof.sizes} == {1}
    assert {size["n"] for size in abstract.examine(narrow(2), SMOKE).proof.sizes} == {1, 2}
    for witness in (symbolic, abstract):
        assert witness.examine(narrow(0), SMOKE).proof is None


def test_a_hypothesis_is_imposed_before_anything_is_evaluated():
    q, b = theory_layer.q, theory_layer.b
    one = assume(equal(q, 1), impose=lambda s: replace(s, q=1 + 0 * s.q))
    imposed = of_matrices(equal(q * b, b), one)
    assert searched(imposed).counterexample is None
    assert searched(replace(imposed, hypotheses=())).counterexample is not None
    (found,) = floats.examine([imposed], SMOKE)
    assert found.violated == 0
    assert symbolic.examine(imposed, SMOKE).proof is not None


@pytest.mark.parametrize("kind", list(Kind))
def test_tokens_and_sizes_name_the_subjects(kind):
    for size in matrix_lattice.SIZES[kind]:
        for subject in (integers.GROUNDS[kind].small.simplest(size), symbolic.letters(kind, size)):
            assert in_words([subject.size]) == matrix_lattice.named(kind, size)
    for stratum in STRATA:
        first, again, other = (draw(kind, stratum, 3, i) for i in (1, 1, 2))
        assert first.token == again.token != other.token
        for name in first.names():
            np.testing.assert_array_equal(getattr(first, name), getattr(again, name))


# ---- sides with many entries are compared in every one ----

RIGHT = np.array([2, 2, 2, 2, 2], dtype=object)
STEPS = dict(zip(Relation, (0, -1, 1, -1, 1), strict=True))


def in_balls(values):
    return np.frompyfunc(arb, 1, 1)(values)


COMPARED = {
    "exact": compared,
    "balls": lambda a, b, r: compared(in_balls(a), in_balls(b), r),
}


@pytest.mark.parametrize("how", COMPARED)
@pytest.mark.parametrize("relation", Relation)
def test_one_entry_that_violates_is_seen_wherever_it_stands(how, relation):
    compare = COMPARED[how]
    left = RIGHT + STEPS[relation]
    assert compare(left, RIGHT, relation) is Outcome.HOLDS
    for place in range(5):
        wrong = left.copy()
        wrong[place] = 2 if relation.is_strict else 2 + (-STEPS[relation] or 1)
        assert compare(wrong[:, None], RIGHT[:, None], relation) is Outcome.VIOLATED


def test_one_bound_for_several_entries_holds_for_the_last_too():
    assert compared(np.array([3, 4, 5, 1], object), 2, Relation.AT_LEAST) is Outcome.VIOLATED
    assert compared(np.array([3, 4, 5, 2], object), 2, Relation.AT_LEAST) is Outcome.HOLDS


# ---- floats ----


def test_copies_evaluated_in_one_call_are_moved_as_far_as_one_by_one():
    copies = floats.Copies([draw(Kind.LAYER, "large offset", 0, 0)], seed=0)
    (base,) = copies.evaluated(GRADIENT)
    (together,) = copies.perturbed_together([GRADIENT]).values()
    assert len({sample.claimed.tobytes() for sample in together}) == tolerance.SAMPLES
    moved, moved_alone = (
        tolerance.condition_times_size(base.claimed, [s.claimed for s in samples])
        for samples in (together, copies.perturbed(GRADIENT))
    )
    assert moved_alone / 8 < moved < 8 * moved_alone


@pytest.mark.parametrize(
    "right", [VARIANCE, GRADIENT, CONDITION], ids=["variance", "gradient", "kappa"]
)
def test_what_is_found_of_subjects_in_one_call_is_what_is_found_of_each(right):
    (together,) = floats.examine_all(right, EVERY_STRATUM)
    alone = [floats.examine_one(right, subject) for subject in EVERY_STRATUM]
    assert together.outcomes == [outcome for found in alone for outcome in found.outcomes]
    assert together.strata == [*STRATA]
    np.testing.assert_allclose(together.actual, [found.actual[0] for found in alone], rtol=1e-9)


def test_a_wrong_condition_number_is_seen_and_one_of_zero_leaves_the_others_as_they_are():
    zero, *others = EVERY_STRATUM
    wrong = claim(lambda layer: Sides(kappa(layer), 1.001 * kappa(layer)))
    (found,) = floats.examine_all(wrong, [GAUSSIAN])
    assert found.outcomes == [Outcome.VIOLATED]
    (found,) = floats.examine_all(CONDITION, [replace(zero, H=0 * zero.H), *others])
    assert found.outcomes == [Outcome.VACUOUS, *[Outcome.HOLDS] * len(others)]


def test_of_an_inequality_between_arrays_the_entry_nearest_to_failing_is_judged_at_each_subject():
    above = claim(
        lambda layer: Sides(layer.H, layer.H * 0 + layer.H.max() * layer.couples), Relation.AT_MOST
    )
    first, second, *_ = (replace(s, H=abs(s.H) + 1, couples=0.0) for s in EVERY_STRATUM)
    (found,) = floats.examine_all(above, [first, replace(second, couples=1.0)])
    assert found.outcomes == [Outcome.VIOLATED, Outcome.HOLDS]
    np.testing.assert_allclose(found.actual, [first.H.max(), second.H.max()])


def test_what_looks_at_a_number_is_evaluated_copy_by_copy():
    looks = claim(lambda layer: Sides(layer.H, layer.H if layer.H.sum() != 0 else -layer.H))
    copies = floats.Copies([GAUSSIAN], seed=0)
    assert copies.perturbed_together([looks]) == {}
    assert floats.examined_alone(looks, copies).outcomes == [Outcome.HOLDS]


@pytest.mark.parametrize("witness", [symbolic, abstract], ids=["symbolic", "abstract"])
@pytest.mark.parametrize("apart", [False, True], ids=["zero by it", "not zero"])
def test_what_a_hypothesis_says_is_zero_is_not_divided_by(witness, apart):
    nothing = assume(equal(norm2(theory_layer.mu), 0))
    longer = assume(2 * norm2(theory_layer.mu) > 0)
    bound = of_matrices(
        theory_layer.q <= -1,
        *((nothing, longer) if apart else (nothing,)),
        because=(-1 - theory_layer.q) / norm2(theory_layer.mu) * nothing.slack,
    )
    assert (witness.examine(bound, SMOKE).proof is not None) == apart


@pytest.mark.parametrize("witness", [symbolic, abstract], ids=["symbolic", "abstract"])
@pytest.mark.parametrize("is_spoken_of", [False, True], ids=["hidden", "spoken of"])
def test_a_root_in_a_function_of_the_library_need_not_exist(witness, is_spoken_of):
    squared = norm2(theory_layer.deviation_eps(theory_layer.H, 10**6 - theory_layer.q))
    summed = theory_layer.total(theory_layer.variances)
    bound = of_matrices(
        (squared if is_spoken_of else summed + theory_layer.n * (10**6 - theory_layer.q)) >= 0,
        because=squared,
    )
    assert (witness.examine(bound, SMOKE).proof is not None) == is_spoken_of


@pytest.mark.parametrize("witness", [symbolic, abstract], ids=["symbolic", "abstract"])
@pytest.mark.parametrize("is_spoken_of", [False, True], ids=["hidden", "spoken of"])
def test_a_divisor_in_a_function_of_the_library_may_vanish_where_a_root_need_not_exist(
    witness, is_spoken_of
):
    length, number = norm2(theory_layer.mu), first(theory_layer.gamma)
    shrunk = sqrt(length**2 * number)
    grown = shrunk * first(theory_layer.reciprocal(theory_layer.stacked(length, theory_layer.mu)))
    seen = grown if is_spoken_of else shrunk
    bound = of_matrices(
        seen + number + theory_layer.q >= 0,
        because=grown**2 + seen + theory_layer.q,
    )
    assert (witness.examine(bound, SMOKE).proof is not None) == is_spoken_of


@pytest.mark.parametrize("witness", [symbolic, abstract], ids=["symbolic", "abstract"])
def test_an_absolute_value_has_no_slope_at_zero(witness):
    t = Letter("t", "t")
    slopes = [along(absolute(t), t, number(1), at=at * theory_layer.q) for at in (0, -1)]
    claims = [
        of_matrices(equal(slope, value)) for slope, value in zip(slopes, (0, -1), strict=True)
    ]
    assert [witness.examine(each, SMOKE).proof is None for each in claims] == [True, False]


def test_a_matrix_of_a_descent_is_not_the_losses_hessian_up_to_a_diagonal():
    point, x = descent.theta, descent.x
    t = descent.variable
    slope = gradient(descent.L(t), t)
    less = {u: along(slope, t, u, at=point) - descent.H @ u for u in (point, x)}
    diagonal = equal(entrywise(less[x], point), entrywise(less[point], x))
    symmetric = equal(theory_layer.dot(less[x], point), theory_layer.dot(less[point], x))
    claims = [of_matrices(says, subject=Kind.DESCENT) for says in (diagonal, symmetric)]
    assert [not symbolic.open_for(c, DESCENT, symbolic.AnyLoss) for c in claims] == [False, True]


def test_eigenvalues_of_balls_enclose_those_of_the_numbers_in_them():
    root = arb(2).sqrt()
    matrix = np.array([[root, arb(1)], [arb(1), -root]], dtype=object)
    below, above = eigenvalues(matrix)
    assert below.overlaps(-arb(3).sqrt())
    assert above.overlaps(arb(3).sqrt())
    assert below.rad() < arb(2) ** -40
    assert squared_condition_number(matrix).overlaps(arb(1))


def test_whether_balls_have_the_eigenvalue_zero_is_left_open():
    root = arb(2).sqrt()
    singular = np.array([[root, 2 * root], [1, 2]], dtype=object)
    assert not squared_condition_number(singular).is_finite()


def test_scalings_that_make_different_roots_are_compared_in_balls():
    """Columns of norm one are no better conditioned than others; their deviations are two roots."""
    says = kappa2(theory_layer.G) <= kappa2(theory_layer.C)
    H = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1]], dtype=object)
    (found,) = exact.examined([of_matrices(says)], replace(GAUSSIAN, H=H))
    assert found.outcome is Outcome.VIOLATED
    assert found.arithmetic == "balls"


def test_a_size_at_which_a_side_divides_by_zero_is_none_that_is_spoken_of():
    """One number less its mean is zero, which is divided by."""
    normalised = transpose(theory_layer.B01(transpose(theory_layer.H)))
    right = of_matrices(equal(theory_layer.frobenius2(normalised), theory_layer.N * theory_layer.n))
    found = symbolic.examine(right, SMOKE)
    assert [size["n"] for size in found.proof.sizes] == [2]
    assert symbolic.examine(
        replace(right, says=equal(theory_layer.frobenius2(normalised), 3)), SMOKE
    ).unproved


def test_hints_change_larger_layers_where_a_statement_asks_for_them():
    at_fraction = (lambda layer: replace(layer, q=Fraction(17, 5)),)
    says = (5 * theory_layer.q - 17) ** 2 > 0
    hinted = replace(of_matrices(says, assume(theory_layer.n >= 2)), attack=at_fraction)
    assert integers.GROUNDS[Kind.LAYER].small.sizes[0][1] == 1
    (found,) = integers.examine([hinted], SMOKE)
    assert found.counterexample.size["n"] == 2


def test_scalings_by_negative_balls_and_eigenvalues_that_cannot_be_told_apart_are_refused():
    root, wide = arb(2).sqrt(), arb(0, 1)
    with pytest.raises(NotRealError, match="a scaling is negative"):
        eigenvalues(np.array([[root]], dtype=object), np.array([-root], dtype=object))
    open_ones = eigenvalues(np.array([[wide, arb(0)], [arb(0), arb(1)]], dtype=object))
    assert len(open_ones) == 2
    assert not any(one.is_finite() for one in open_ones)


def hinted_by(*attack):
    """Return what a descent's hints make of plain ones."""
    right = replace(
        of_matrices(descent_norm <= 2 * descent_norm, subject=Kind.DESCENT), attack=attack
    )
    return [*of_hints.hinted(integers.GROUNDS[Kind.DESCENT], right)]


descent_norm = norm2(descent.x)


def test_what_a_hint_leaves_is_of_the_size_of_what_it_gives():
    made = hinted_by(lambda d: replace(d, theta=[1, 0, 2]))
    assert {(one.size["d"], one.direction.shape, one.factor.shape) for one in made} == {
        (3, (3,), (3, 3))
    }


def test_a_hint_of_another_size_than_the_rest_is_passed_over_and_told_where_none_fits():
    (one,) = hinted_by(lambda d: replace(d, direction=[5], theta=0 * d.theta))
    assert one.size == {"d": 1}
    with pytest.raises(
        of_hints.HintError, match=r"direction has the shape \(9,\), which for d = 1"
    ):
        hinted_by(lambda d: replace(d, direction=[5] * 9, theta=0 * d.theta))
    with pytest.raises(of_hints.HintError, match="unexpected keyword argument 'hessian'"):
        hinted_by(lambda d: replace(d, hessian=[[1]]))
