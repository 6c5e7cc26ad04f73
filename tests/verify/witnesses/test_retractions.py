"""A proof imposes an equation only where that gives back every instance that meets it."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_statements import of_a_unit, of_matrices

from theory import batchnorm, layer
from theory.arithmetic import inner, norm_squared
from theory.arithmetic import mean as mean_of
from theory.arithmetic import sqrt as square_root
from theory.batchnorm import centre
from theory.claim import Reading
from theory.language.arrays import norm2 as norm2_of
from theory.language.expression import equal
from theory.language.letters import free, number_of
from theory.language.operations import absolute, average, dot, norm2, sqrt
from theory.statement import assume
from theory.unit import BN, beta, gamma, m, one, sigma, u, v, y
from verify.subjects.unit import LosesGeneralityError
from verify.trial.hypotheses import imposing_too_much
from verify.witnesses import abstract, polynomial, symbolic
from verify.witnesses.matrices import abstract as of_layers
from verify.witnesses.matrices.symbolic import keeps_subjects
from verify.witnesses.retractions import keeps_a_batch

GIVEN_BACK = equal(BN(y), y - average(y) * one + beta * one)


def claim(says, hypothesis, impose, reading=Reading.NO_EPSILON):
    return of_a_unit(says, assume(hypothesis, impose=impose), reading=reading)


def of_layer(says, hypothesis, impose):
    return of_matrices(says, assume(hypothesis, impose=impose))


def with_deviation(case):
    return replace(case, gamma=batchnorm.standard_deviation(case.y, case.eps))


def without_scale(case):
    return replace(case, gamma=0 * case.gamma)


def without_scale_unless_100(case):
    return case if case.gamma == 100 else without_scale(case)


def off_v(case):
    other = case.other_direction
    share = inner(other, case.direction) / norm_squared(other)
    return replace(case, direction=case.direction - share * other)


def longer_off_v(case):
    other = case.other_direction
    scaled = norm_squared(other) * case.direction
    return replace(case, direction=scaled - inner(other, case.direction) * other)


def with_seven(case):
    return replace(case, gamma=7)


def with_modulus_of_seven(case):
    return replace(case, gamma=7 * case.gamma / square_root(case.gamma * case.gamma))


def constant(case):
    return replace(case, y=0 * case.y)


KEPT = [
    claim(GIVEN_BACK, equal(gamma, sigma), with_deviation),
    claim(GIVEN_BACK, equal(gamma, sigma), with_deviation, Reading.SHARED_EPSILON),
    claim(equal(dot(u, v), 0), equal(dot(u, v), 0), off_v),
    claim(
        equal(m * norm2(u), m * norm2(u - average(u) * one)),
        equal(average(u), 0),
        lambda case: replace(case, direction=centre(case.direction)),
    ),
    claim(
        equal(norm2(u), 49 * norm2(y)),
        equal(norm2(u - 7 * y), 0),
        lambda case: replace(case, direction=7 * case.y),
    ),
    claim(equal(gamma**2, 49), equal(absolute(gamma), 7), with_modulus_of_seven),
    claim(
        equal(BN(y), y),
        equal(norm2(BN(y) - y), 0),
        lambda case: replace(with_deviation(case), beta=mean_of(case.y)),
    ),
    claim(equal(BN(y), beta * one), equal(norm2(y), 0), constant, Reading.SHARED_EPSILON),
    claim(
        equal(BN(y), beta * one),
        equal(y, average(y) * one),
        lambda case: replace(case, y=case.y - centre(case.y)),
        Reading.SHARED_EPSILON,
    ),
]
LOST = [
    claim(
        equal(BN(y), beta * one),
        equal(gamma * (y - average(y) * one), 0 * y),
        lambda case: replace(case, y=case.y - centre(case.y)),
        Reading.SHARED_EPSILON,
    ),
    claim(GIVEN_BACK, equal(gamma**2, sigma**2), with_deviation),
    claim(equal(BN(y), beta * one), equal(gamma * (gamma - 200), 0), without_scale),
    claim(equal(BN(y), beta * one), equal(gamma * (gamma - 100), 0), without_scale_unless_100),
    claim(equal(dot(u, v), 0), equal(dot(u, v) * norm2(u - 7 * y), 0), off_v),
    claim(equal(dot(u, v), 0), equal(dot(u, v), 0), longer_off_v),
    claim(equal(gamma, 7), equal(absolute(gamma), 7), with_seven),
]
NO_WEIGHTS = of_layer(
    equal(layer.frobenius2(layer.W), 0),
    equal(layer.frobenius2(layer.W), 0),
    lambda subject: replace(subject, W=0 * subject.W),
)
OF_NORM_ONE = of_layer(
    equal(layer.alpha * norm2_of(layer.v), layer.alpha),
    equal(norm2_of(layer.v), 1),
    lambda subject: replace(
        subject, direction=subject.direction / square_root(norm_squared(subject.direction))
    ),
)
ONE_OF_TWO = of_layer(
    equal(layer.alpha, 1),
    equal((layer.alpha - 1) * (layer.alpha - 2), 0),
    lambda subject: replace(subject, step=1),
)


@pytest.mark.parametrize("said", KEPT)
def test_what_gives_back_what_meets_it_is_seen_and_proved(said):
    assert keeps_a_batch(said)
    assert abstract.prove(said) is not None
    assert not polynomial.shortcoming(said)
    assert symbolic.sought(said, m=3).finding == "proved"
    assert not [*imposing_too_much(said)]


@pytest.mark.parametrize("said", LOST)
def test_what_loses_some_is_refused_and_not_proved(said):
    assert not keeps_a_batch(said)
    assert abstract.prove(said) is None
    assert polynomial.shortcoming(said)
    assert symbolic.sought(said, m=2).finding == symbolic.sought(said, m=3).finding == "not proved"
    assert len([*imposing_too_much(said)]) == 1


def positive(case):
    return case if case.gamma > 0 else replace(case, gamma=1 - case.gamma)


def with_squares_off_ones(case):
    squares = case.direction * case.direction
    return replace(case, direction=case.direction + 0 * squares)


@pytest.mark.parametrize(
    ("hypothesis", "impose"),
    [
        (gamma > 0, positive),
        (equal(dot(u, one), dot(u, one)), with_squares_off_ones),
        (equal(gamma, sqrt(beta)), lambda case: replace(case, beta=case.gamma**2)),
    ],
)
def test_what_asks_symbols_for_more_than_algebra_is_measured_and_not_proved(hypothesis, impose):
    said = claim(equal(dot(u, v), dot(v, u)), hypothesis, impose)
    assert polynomial.shortcoming(said)
    with pytest.raises(LosesGeneralityError, match="asks symbols for more than algebra"):
        keeps_a_batch(said)
    assert "asks symbols" in abstract.sought(said)
    assert not [*imposing_too_much(said)]


def test_matrices_likewise():
    for kept in (NO_WEIGHTS, OF_NORM_ONE):
        assert keeps_subjects(kept)
        assert not of_layers.shortcoming(kept, 2, 1)
    assert not keeps_subjects(ONE_OF_TWO)
    assert of_layers.shortcoming(ONE_OF_TWO, 2, 1)
    assert [*imposing_too_much(ONE_OF_TWO)]


def mean_of_fives(subject):
    return replace(subject, mean=0 * subject.mean + 5)


def step_of_rows(subject):
    return replace(subject, step=subject.H.shape[0])


def root_of_two(case):
    return replace(case, gamma=square_root(2 + 0 * case.beta) * max(case.beta, -case.beta))


def far(case):
    return replace(case, gamma=50_000)


@pytest.mark.parametrize(
    ("hypothesis", "impose"), [(equal(gamma**2, 2 * beta**2), root_of_two), (gamma >= 50_000, far)]
)
def test_what_is_imposed_is_not_changed_beside_it(hypothesis, impose):
    (found,) = imposing_too_much(claim(gamma <= 50_000, hypothesis, impose))
    assert "changes an instance that meets it" in found.says


def first_is_one(subject):
    return replace(subject, free=np.array([1, *subject.free[1:]], dtype=object))


@pytest.mark.parametrize("size", [layer.total(layer.e) - 5, layer.total(layer.e) ** 2 - 81])
def test_an_equation_that_may_hold_at_one_size_of_any_numbers_proves_nothing_of_every(size):
    t = number_of("t", "t", free(0))
    said = of_layer(equal(t * t, 1), equal(size * (t - 1), 0), first_is_one)
    assert of_layers.shortcoming(said, 1, 1) == "an equation that is imposed speaks of a size"


def test_an_equation_that_speaks_of_a_size_is_imposed_without_loss_or_refused():
    sum_of_means = layer.dot(layer.mu, layer.ones)
    loses = of_layer(
        equal(sum_of_means, layer.n * 5), equal(sum_of_means, layer.n * 5), mean_of_fives
    )
    assert [*imposing_too_much(loses)]
    keeps = of_layer(equal(layer.alpha, layer.N), equal(layer.alpha, layer.N), step_of_rows)
    assert not [*imposing_too_much(keeps)]
    assert of_layers.shortcoming(keeps, 2, 1) == "an equation that is imposed speaks of a size"
