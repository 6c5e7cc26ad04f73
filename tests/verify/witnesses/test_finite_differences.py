"""Finite differences: honest about their error, and a witness that sees planted mistakes."""

from dataclasses import replace

import numpy as np
import pytest
from array_api_compat import array_namespace

from theory import batchnorm
from theory.arithmetic import sqrt
from theory.claim import Sides, Verdict, gradient_in_y, hessian_in_y
from theory.language.expression import equal
from theory.santurkar2018 import (
    CLAIMS,
    facts,
    proof_4_2,
    theorem_4_1,
    theorem_4_2,
)
from theory.statement import assume
from theory.unit import gamma
from verify import primitives
from verify.backends import Backend
from verify.batched import Batched
from verify.cases.case import adapted
from verify.cases.losses import Loss
from verify.cases.strata import STRATA, draw
from verify.settings import PROFILES, Settings
from verify.tolerance import Outcome
from verify.witnesses import autograd, finite_differences, libraries
from verify.witnesses.evaluations import LARGEST_ERROR
from verify.witnesses.finite_differences import Differences, difference, relative

HOLDS, VIOLATED, UNDECIDED, VACUOUS = (
    Outcome.HOLDS,
    Outcome.VIOLATED,
    Outcome.UNDECIDED,
    Outcome.VACUOUS,
)
NUMPY = Backend("numpy")
OTHERS = [Backend("torch"), Backend("array-api-strict", "device1")]
OF_LENGTH_3 = [draw(STRATA[4], 0, index) for index in range(6)]
OF_LENGTH_8 = [draw(s, 0, index) for index, s in enumerate(STRATA) if s.m == 8]
SMALL = [case for case in OF_LENGTH_8 if case.stratum in ("generic", "heavy tails", "gamma<0")]
ONE_OF_EVERY_STRATUM = [draw(s, 1, index) for index, s in enumerate(STRATA)]
SHORT = [case for case in ONE_OF_EVERY_STRATUM if len(case.y) < 33]


def ids(claim):
    return claim.id


def outcomes(claim, cases, backend=NUMPY):
    """The outcome of each case by its token."""
    groups = finite_differences.examine_cases(claim, cases, backend)
    return {t: o for group in groups for t, o in zip(group.tokens, group.outcomes, strict=True)}


def tokens(found, outcome):
    return [token for token, o in found.items() if o is outcome]


@pytest.fixture(params=[NUMPY, *OTHERS], ids=lambda b: b.name)
def backend(request):
    return request.param


def logistic(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("step", [2.0**-10, 0.25, 1.0])
def test_the_error_of_a_difference_is_below_its_estimate(step):
    x = np.array([0.3, -1.0, 2.0])
    slopes, errors = difference(logistic, x, np.eye(3), step)
    expected = np.diag(logistic(x) * logistic(-x))
    assert slopes.shape == errors.shape == (3, 3)
    assert np.linalg.norm(slopes - expected) <= 2 * np.linalg.norm(errors)
    assert relative(errors, slopes) < 1e-9


def test_a_difference_along_a_direction():
    x, u = np.array([1.0, 2.0]), np.array([[1.0], [-1.0]])
    slopes, _ = difference(lambda x: x**3, x, u, 0.25)
    np.testing.assert_allclose(slopes, [[3.0], [-12.0]], rtol=1e-12)


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


def test_a_constant_has_no_error():
    slopes, errors = difference(lambda x: np.full(len(x), 0.1), np.ones(2), np.eye(2), 0.25)
    assert np.all(slopes == 0)
    assert relative(errors, slopes) == 0


def test_rounding_of_the_point_is_part_of_the_error():
    """Two estimates may agree by chance where the function sees little of its argument."""
    x, width = np.full(8, 1.5) + 1e-6 * np.arange(8), 2.0**-20
    u = np.array([[1.0], [-1.0], *[[0.0]] * 6])

    def wave(x):
        return np.sum(np.sin((x - x.mean(axis=1, keepdims=True)) / width), axis=1)

    slopes, errors = difference(wave, x, u, width)
    assert errors.item() > 2.0**-53 * np.linalg.norm(x) / width * abs(slopes.item()) > 0


def test_a_jump_does_not_converge():
    slopes, errors = difference(lambda x: np.sign(x - 1e-5), np.zeros(1), np.eye(1), 0.25)
    assert relative(errors, slopes) > LARGEST_ERROR


def test_where_nothing_is_known_the_relative_error_is_one():
    assert relative(np.array([[np.nan]]), np.array([[1.0]])) == 1
    assert relative(np.array([[1.0]]), np.array([[np.nan]])) == 1
    assert relative(np.array([[2.0]]), np.array([[1.0]])) == 1
    assert relative(np.array([[1.0]]), np.array([[0.0]])) == 1
    assert relative(np.array([[3.0, 4.0]]), np.array([[300.0, 400.0]])) == pytest.approx(0.01)


def test_derivatives_in_every_library(backend):
    differences = Differences(backend, (1.0,))
    x, u = backend.asarray([3.0, 4.0]), backend.asarray([0.0, 10.0])
    xp = backend.namespace
    slopes = differences.gradient(lambda x: xp.sqrt(x @ x), x)
    assert slopes.device == backend.native_device
    np.testing.assert_allclose(backend.to_numpy(slopes), [0.6, 0.8], rtol=1e-11)
    scalar = differences.derivative(lambda x: xp.sqrt(x @ x), x, u)
    assert backend.to_numpy(scalar) == pytest.approx(8, rel=1e-11)
    vector = differences.derivative(lambda x: x * x, x, u)
    np.testing.assert_allclose(backend.to_numpy(vector), [0, 80], rtol=1e-11, atol=1e-11)
    assert 0 < differences.relative_error < 1e-10


def test_a_direction_of_length_zero():
    differences = Differences(NUMPY, (1.0,))
    assert np.all(differences.derivative(lambda x: x * x, np.ones(2), np.zeros(2)) == 0)
    assert differences.relative_error == 0


@pytest.mark.parametrize("scales", [(1.0, 1e-6), (1e-6, 1.0)])
def test_the_better_of_two_scales_is_taken(scales):
    differences = Differences(NUMPY, scales)
    slopes = differences.gradient(lambda x: np.sqrt(x @ x + 1e-12), np.array([1e-6, 0.0]))
    np.testing.assert_allclose(slopes, [np.sqrt(0.5), 0], rtol=1e-10, atol=1e-10)
    assert differences.relative_error < 1e-9


def test_the_largest_relative_error_is_remembered():
    differences = Differences(NUMPY, (1.0,))
    differences.gradient(lambda x: np.sign(x[0] - 1e-5), np.zeros(1))
    worst = differences.relative_error
    differences.gradient(lambda x: x @ x, np.ones(2))
    assert differences.relative_error == worst > LARGEST_ERROR


@pytest.mark.parametrize("seed", range(20))
def test_the_error_of_an_inner_derivative_is_part_of_the_outer_ones(seed):
    draws = np.random.default_rng(seed)
    inputs, targets = 10 * draws.standard_normal((30, 4)), 10 * draws.standard_normal(30)

    def loss(w):
        return np.sum((inputs @ w - targets) ** 2) / 2

    first, differences = np.eye(4)[0], Differences(NUMPY, (1.0,))
    curvature = differences.derivative(
        lambda w: differences.derivative(loss, w, first), draws.standard_normal(4), first
    )
    error = np.abs(curvature / (inputs[:, 0] @ inputs[:, 0]) - 1)
    assert error <= differences.relative_error < LARGEST_ERROR


@pytest.mark.parametrize(
    "claim", [*facts.CLAIMS[:7], theorem_4_1.SHARED, theorem_4_1.TWO_NETWORKS],
    ids=ids,
)  # fmt: skip
def test_claims_of_the_first_order(claim):
    found = outcomes(claim, OF_LENGTH_8)
    if claim.expected is Verdict.PROVED:
        assert not tokens(found, VIOLATED)
        assert len(tokens(found, HOLDS)) > 3
    else:
        assert tokens(found, VIOLATED)


@pytest.mark.parametrize(
    "claim",
    [
        *theorem_4_2.CLAIMS[:4],
        *(c for c in proof_4_2.HESSIAN[-6:] if not c.unreadable),
        *proof_4_2.MEAN.with_epsilon(Verdict.PROVED),
        *proof_4_2.PART.with_epsilon(Verdict.PROVED),
        theorem_4_2.DIRECTLY,
        theorem_4_2.BY_RATIO,
    ],
    ids=ids,
)
def test_claims_of_the_second_order(claim):
    assert claim.order == 2
    found = outcomes(claim, OF_LENGTH_3)
    if claim.expected is Verdict.PROVED:
        assert not tokens(found, VIOLATED)
        assert tokens(found, HOLDS)
    else:
        assert tokens(found, VIOLATED)


@pytest.mark.parametrize(
    "claim", [facts.CLAIMS[1], proof_4_2.HESSIAN[12], theorem_4_2.CORRECTED], ids=ids
)
def test_no_case_of_any_stratum_violates_what_is_proved(claim):
    found = outcomes(claim, ONE_OF_EVERY_STRATUM if claim.order == 1 else SHORT)
    assert len(found) >= len(STRATA) - 1
    assert not tokens(found, VIOLATED)
    assert len(tokens(found, HOLDS)) > len(STRATA) / 2


@pytest.mark.parametrize("library", OTHERS, ids=lambda b: b.name)
def test_every_library_decides_as_numpy_does(library):
    for claim in (facts.CLAIMS[2], theorem_4_2.CLAIMS[1]):
        found, expected = (outcomes(claim, OF_LENGTH_3[:2], b) for b in (library, NUMPY))
        assert found == expected


def test_what_is_undecided_for_rounding_alone_is_not_decided_by_a_larger_tolerance():
    case = draw(STRATA[5], 0, 5)
    assert abs(np.mean(case.y)) > 1e7
    assert set(outcomes(theorem_4_2.CLAIMS[1], [case]).values()) == {UNDECIDED}


def test_it_decides_as_autograd_does():
    claim = theorem_4_2.CLAIMS[1]
    ours = outcomes(claim, OF_LENGTH_8)
    for group in autograd.examine_cases(claim, OF_LENGTH_8):
        for token, outcome in zip(group.tokens, group.outcomes, strict=True):
            assert UNDECIDED in (outcome, ours[token]) or outcome is ours[token], token


def test_where_sigma_is_undefined_a_claim_is_vacuous():
    constant = replace(OF_LENGTH_3[0], y=np.full(3, 3.0))
    single = draw(STRATA[2], 0, 0)
    for claim, expected in zip(facts.CLAIMS[:3], (VACUOUS, HOLDS, VACUOUS), strict=True):
        for case in (constant, single):
            assert list(outcomes(claim, [case]).values()) == [expected], claim.id


def cliff(z, softplus, height):
    """A loss with a kink a millionth beyond the layer's output at the case below."""
    return height * abs(z - CENTRE - 1e-6).sum()


CENTRE = 0.25


def test_what_does_not_converge_is_undecided():
    case = replace(
        OF_LENGTH_3[0],
        gamma=np.float64(0),
        beta=np.float64(CENTRE),
        loss=Loss(cliff, (np.ones(1),)),
    )
    wrong = replace(facts.GRADIENT, says=None, sides=lambda network, at: Sides(at.g, 2 * at.g + 1))
    assert list(outcomes(wrong, [case]).values()) == [UNDECIDED]


def doubled(network, at):
    return Sides(gradient_in_y(network), 1.00001 * batchnorm.gradient(network.y, at.g, at.gamma))


def wrong_sign(network, at):
    sides = facts.GRADIENT.sides(network, at)
    return Sides(sides.actual, -sides.claimed)


def dropped_term(network, at):
    sides = proof_4_2.FULL.sides(network, at)
    bent = batchnorm.curvature(network.y, at.g, network.direction, at.gamma)
    return Sides(sides.actual, sides.claimed + bent)


def m_less_one(network, at):
    sides = proof_4_2.FULL.sides(network, at._replace(m=at.m - 1))
    return Sides(hessian_in_y(network, network.direction), sides.claimed)


@pytest.mark.parametrize(
    ("claim", "sides"),
    [
        (facts.GRADIENT, doubled),
        (facts.GRADIENT, wrong_sign),
        (proof_4_2.FULL, dropped_term),
        (proof_4_2.FULL, m_less_one),
    ],
    ids=["factor 1.00001", "sign", "dropped term", "m - 1 for m"],
)
def test_a_planted_mistake_in_the_closed_form_is_seen(claim, sides, backend):
    found = outcomes(replace(claim, says=None, sides=sides), OF_LENGTH_3[:1], backend)
    assert list(found.values()) == [VIOLATED]


def refusing(network, at):
    """The right sides, by a function that is not evaluated at many cases at once."""
    sides = facts.GRADIENT.sides(network, at)
    return Sides(sides.actual, sides.claimed + 0 * array_namespace(network.y).max(network.y))


def test_where_many_cases_at_once_are_refused_each_is_decided_alone(backend):
    claim = replace(facts.GRADIENT, says=None, sides=refusing)
    expected = outcomes(facts.GRADIENT, OF_LENGTH_3[:2], backend)
    assert outcomes(claim, OF_LENGTH_3[:2], backend) == expected
    assert set(expected.values()) == {HOLDS}


def test_a_strict_inequality_in_the_wrong_direction_is_seen():
    printed = theorem_4_1.PRINTED
    claim = replace(printed, says=printed.says.actual < printed.says.claimed)
    found = outcomes(claim, SMALL)
    assert HOLDS not in found.values()  # the sides are equal


def unbiased(y, m, eps, sqrt):
    deviation = y - y.sum() / m
    return sqrt((deviation @ deviation) / (m - 1) + eps)


@pytest.mark.parametrize("claim", [facts.GRADIENT, proof_4_2.FULL], ids=ids)
def test_a_planted_mistake_in_the_primitives_is_seen(monkeypatch, claim, backend):
    monkeypatch.setattr(primitives, "standard_deviation", unbiased)
    assert list(outcomes(claim, OF_LENGTH_3[:1], backend).values()) == [VIOLATED]


def test_an_error_counts_only_where_its_derivative_is_used():
    """A hypothesis without a derivative has no error; one on g has that of g, and no other."""
    claim = next(c for c in CLAIMS if c.id == "S-obs-4.3/minima/fixed/eps/corrected")
    positive = assume(gamma + 1 > 0)
    claim = replace(claim, hypotheses=(*claim.hypotheses, positive))
    case = adapted(draw(STRATA[4], 0, 0), claim)
    network, differences = finite_differences._network(case, NUMPY, claim.order)
    found = finite_differences._evaluate(claim, network, differences)
    error_of_g = differences.error_of(network.g)
    assert found.errors == (error_of_g, error_of_g, error_of_g, 0)
    assert 0 < error_of_g < found.error


def test_the_error_of_a_gradient_leaves_a_statement_decided_that_does_not_use_it():
    claim = next(c for c in CLAIMS if c.id == "S-eq-45/eps/corrected")
    few = libraries.few(Settings(PROFILES["smoke"]))
    found = outcomes(claim, few)
    assert len(tokens(found, HOLDS)) >= 10
    assert not tokens(found, VIOLATED)
    wrong = replace(claim, says=equal(claim.says.actual, 2 * claim.says.claimed))
    assert len(tokens(outcomes(wrong, few), VIOLATED)) >= 10
