"""Finite differences: honest about their error, and silent where it is large."""

from dataclasses import replace

import numpy as np
import pytest
from array_api_compat import array_namespace
from by_functions import worth

from theory import unit
from theory.arithmetic import sqrt
from theory.language.expression import Letter, Sort, along, equal, gradient, number
from theory.language.operations import dot, norm2
from theory.santurkar2018 import CLAIMS, facts, theorem_4_2
from theory.statement import assume
from theory.unit import L, g, gamma, one, u, v, variable, y, z
from verify.backends import Backend
from verify.batched import Batched
from verify.operators import Operand
from verify.settings import PROFILES
from verify.subjects.losses import Loss
from verify.subjects.unit_strata import STRATA, draw, random_cases
from verify.tolerance import Outcome
from verify.witnesses import finite_differences
from verify.witnesses.evaluations import LARGEST_ERROR
from verify.witnesses.finite_differences import Differences, difference, relative

NUMPY = Backend("numpy")
BACKENDS = [NUMPY, Backend("torch"), Backend("array-api-strict", "device1")]
OF_LENGTH_3 = [draw(STRATA[4], 0, index) for index in range(2)]
BY_ID = {claim.id: claim for claim in CLAIMS}


def outcomes(claim, cases, backend=NUMPY):
    groups = finite_differences.examine_all([claim], cases, backend)[claim.id]
    return [outcome for group in groups for outcome in group.outcomes]


@pytest.fixture(params=BACKENDS, ids=lambda b: b.name)
def backend(request):
    return request.param


def logistic(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("step", [2.0**-10, 0.25, 1.0])
def test_the_error_of_a_difference_is_below_its_estimate(step):
    x = np.array([0.3, -1.0, 2.0])
    slopes, errors = difference(logistic, x, np.eye(3), step)
    expected = np.diag(logistic(x) * logistic(-x))
    assert np.linalg.norm(slopes - expected) <= 2 * np.linalg.norm(errors)
    assert relative(errors, slopes) < 1e-9


def test_each_of_many_cases_has_its_own_steps_and_errors():
    """Each is differentiated as it is alone: slowly, fast, and where nothing is finite."""
    x, steps = np.array([[0.3, -1.0], [2e-6, 1e-6], [np.nan, 0.0]]), np.array([0.25, 2.0**-22, 1.0])
    widths = np.array([[[1.0]], [[1e-6]], [[1.0]]])
    slopes, errors = difference(lambda x: logistic(x / widths), x, np.eye(2), steps)
    for k, width in enumerate(widths.ravel()):
        alone = difference(lambda x, w=width: logistic(x / w), x[k], np.eye(2), steps[k])
        np.testing.assert_allclose(slopes[k], alone[0], rtol=1e-10, atol=1e-300)
        np.testing.assert_array_equal(relative(errors[k], slopes[k]) < 1e-9, k < 2)


def test_the_better_of_two_scales_is_taken_for_each_case():
    widths = np.array([1e-12, 1.0])
    differences = Differences(NUMPY, (1.0, 1e-6))
    x, squares = Batched(np.array([[1e-6, 0.0], [0.0, 0.0]]), 1), Batched(widths, 1)
    slopes = differences.gradient(lambda x: sqrt(x @ x + squares), x)
    expected = [[np.sqrt(0.5), 0], [0, 0]]
    np.testing.assert_allclose(slopes.array, expected, rtol=1e-10, atol=1e-10)
    assert differences.relative_error.shape == (2,)
    assert differences.relative_error[0] < 1e-9


def test_rounding_of_the_point_is_part_of_the_error():
    """Two estimates may agree by chance where the function sees little of its argument."""
    x, width = np.full(8, 1.5) + 1e-6 * np.arange(8), 2.0**-20
    u = np.array([[1.0], [-1.0], *[[0.0]] * 6])

    def wave(x):
        return np.sum(np.sin((x - x.mean(axis=1, keepdims=True)) / width), axis=1)

    slopes, errors = difference(wave, x, u, width)
    assert errors.item() > 2.0**-53 * np.linalg.norm(x) / width * abs(slopes.item()) > 0


@pytest.mark.parametrize(
    ("error", "slope", "expected"),
    [
        ([np.nan], [1.0], 1),
        ([1.0], [np.nan], 1),
        ([2.0], [1.0], 1),
        ([1.0], [0.0], 1),
        ([3.0, 4.0], [300.0, 400.0], 0.01),
    ],
)
def test_where_nothing_is_known_the_relative_error_is_one(error, slope, expected):
    assert relative(np.array([error]), np.array([slope])) == pytest.approx(expected)


def test_derivatives_in_every_library(backend):
    differences = Differences(backend, (1.0,))
    x, u = (Operand(backend.asarray(v)) for v in ([3.0, 4.0], [0.0, 10.0]))
    slopes = differences.gradient(lambda x: sqrt(x @ x), x)
    assert slopes.device == backend.native_device
    np.testing.assert_allclose(backend.to_numpy(slopes.array), [0.6, 0.8], rtol=1e-11)
    scalar = differences.derivative(lambda x: sqrt(x @ x), x, u)
    assert backend.to_numpy(scalar.array) == pytest.approx(8, rel=1e-11)
    vector = differences.derivative(lambda x: x * x, x, u)
    np.testing.assert_allclose(backend.to_numpy(vector.array), [0, 80], rtol=1e-11, atol=1e-11)
    assert 0 < differences.relative_error < 1e-10


def test_constants_and_directions_of_length_zero_have_no_error():
    differences, ones, zeros = Differences(NUMPY, (1.0,)), Operand(np.ones(2)), np.zeros(2)
    assert np.all(differences.gradient(lambda x: 0 * x[0] + 0.1, ones).array == 0)
    assert np.all(differences.derivative(lambda x: x * x, ones, Operand(zeros)).array == 0)
    assert differences.relative_error == 0


def test_a_jump_does_not_converge_and_the_largest_relative_error_is_remembered():
    differences = Differences(NUMPY, (1.0,))
    differences.gradient(lambda x: abs(x[0] - 1e-5) / (x[0] - 1e-5), Operand(np.zeros(1)))
    worst = differences.relative_error
    differences.gradient(lambda x: x @ x, Operand(np.ones(2)))
    assert differences.relative_error == worst > LARGEST_ERROR


@pytest.mark.parametrize("seed", range(6))
def test_the_error_of_an_inner_derivative_is_part_of_the_outer_ones(seed):
    draws = np.random.default_rng(seed)
    inputs, targets = 10 * draws.standard_normal((30, 4)), 10 * draws.standard_normal(30)

    def loss(w):
        return ((inputs @ w - targets) ** 2).sum() / 2

    first, differences = Operand(np.eye(4)[0]), Differences(NUMPY, (1.0,))
    at = Operand(draws.standard_normal(4))
    curvature = differences.derivative(
        lambda w: differences.derivative(loss, w, first), at, first
    ).array
    error = np.abs(curvature / (inputs[:, 0] @ inputs[:, 0]) - 1)
    assert error <= differences.relative_error < LARGEST_ERROR


def test_what_is_undecided_for_rounding_alone_is_not_decided_by_a_larger_tolerance():
    case = draw(STRATA[5], 0, 5)
    assert abs(np.mean(case.y)) > 1e7
    assert outcomes(theorem_4_2.CLAIMS[1], [case]) == [Outcome.UNDECIDED]


def test_a_hypothesis_whose_derivatives_have_lost_their_digits_leaves_a_statement_open():
    case, bent = draw(STRATA[0], 0, 5), theorem_4_2.CLAIMS[1].says.actual
    claim = replace(theorem_4_2.CLAIMS[1], says=equal(gamma, gamma), because=None)
    positive = replace(claim, hypotheses=(assume(bent > 0),))
    assert outcomes(positive, [case]) != [Outcome.UNDECIDED]
    assert outcomes(positive, [draw(STRATA[5], 0, 5)]) == [Outcome.UNDECIDED]


def test_what_does_not_converge_is_undecided_even_where_the_formula_is_wrong():
    """The loss has a kink a millionth beyond the layer's output, where gamma is zero."""

    def cliff(z, softplus, height):
        return height * abs(z - 0.25 - 1e-6).sum()

    loss = Loss(cliff, (np.ones(1),))
    case = replace(OF_LENGTH_3[0], gamma=np.float64(0), beta=np.float64(0.25), loss=loss)
    wrong = replace(facts.GRADIENT, says=equal(g, 2 * g + one))
    assert outcomes(wrong, [case]) == [Outcome.UNDECIDED]


def test_where_many_cases_at_once_are_refused_each_is_decided_alone(backend):
    nothing = worth(lambda at: 0 * array_namespace(at.y).max(at.y))
    actual, claimed = facts.GRADIENT.says.actual, facts.GRADIENT.says.claimed
    claim = replace(facts.GRADIENT, says=equal(actual, claimed + nothing * one))
    assert outcomes(claim, OF_LENGTH_3, backend) == [Outcome.HOLDS] * 2


def test_the_error_of_a_gradient_leaves_a_statement_decided_that_does_not_use_it():
    claim = BY_ID["S-eq-45/eps/corrected"]
    few = [*random_cases(0, PROFILES["smoke"].differences)]
    found = outcomes(claim, few)
    assert found.count(Outcome.HOLDS) >= 10
    assert Outcome.VIOLATED not in found
    wrong = replace(claim, says=equal(claim.says.actual, 2 * claim.says.claimed))
    assert outcomes(wrong, few).count(Outcome.VIOLATED) >= 10


@pytest.mark.parametrize(("times", "expected"), [(8, Outcome.HOLDS), (4, Outcome.VIOLATED)])
def test_a_gradient_of_a_gradient_is_a_difference_of_complex_steps(times, expected, backend):
    inner = gradient(norm2(variable), variable, at=2 * variable)
    says = equal(gradient(norm2(inner), variable, at=y), 4 * times * y)
    claim = replace(facts.GRADIENT, says=says, because=None)
    assert set(outcomes(claim, OF_LENGTH_3, backend)) == {expected}


T, P = Letter("t", "t"), Letter("p", "p", Sort.VECTOR)
SQUARE = norm2(variable)
ELSEWHERE = norm2(P) * SQUARE
"""Its derivative in p, at a point of its own, hangs on what another derivative moves."""
INSIDE = {
    "its direction": (along(L(variable), variable, variable), z, unit.H(z) + g),
    "a number's": (SQUARE * along(T * SQUARE, T, number(1), at=gamma), y, 4 * norm2(y) * y),
    "a gradient": (SQUARE * dot(v, gradient(ELSEWHERE, P, at=u)), y, 8 * norm2(y) * dot(u, v) * y),
}


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize(("times", "expected"), [(1, Outcome.HOLDS), (2, Outcome.VIOLATED)])
def test_a_derivative_inside_hangs_on_what_is_moved_outside(name, times, expected, backend):
    body, point, slope = INSIDE[name]
    whole = gradient(body, variable, at=point)
    claim = replace(facts.GRADIENT, says=equal(whole, times * slope), because=None)
    assert set(outcomes(claim, OF_LENGTH_3, backend)) == {expected}


@pytest.mark.parametrize(("times", "expected"), [(1, Outcome.HOLDS), (2, Outcome.VIOLATED)])
def test_a_gradient_at_one_point_is_not_taken_for_many_others(times, expected, backend):
    body, point, slope = INSIDE["a gradient"]
    says = equal(along(body, variable, v, at=point), times * dot(slope, v))
    claim = replace(facts.GRADIENT, says=says, because=None)
    assert set(outcomes(claim, OF_LENGTH_3, backend)) == {expected}


def test_a_gradient_has_the_shape_of_its_point():
    point = Operand(np.arange(1.0, 7.0).reshape(2, 3))
    found = Differences(NUMPY, (1.0,)).gradient(lambda x: (x * x).sum(), point)
    np.testing.assert_allclose(found.array, 2 * point.array)
