"""Strict bounds that fail only where nothing random is are refuted there."""

from fractions import Fraction

import numpy as np
import pytest
from made_up_statements import of_a_unit, of_matrices

from theory import layer, maps
from theory.claim import Reading, Verdict
from theory.language.arrays import column
from theory.language.expression import equal, number
from theory.language.latex import latex
from theory.language.letters import free, number_of
from theory.language.operations import dot, norm2
from theory.matrix_claim import Kind
from theory.statement import assume
from theory.unit import g, gamma, grad, m, sigma, y
from verify.settings import PROFILES, Settings
from verify.subjects.matrices import Numbers
from verify.trial.ranges import out_of_range
from verify.witnesses import batches
from verify.witnesses.integers import constants_of, ends_of
from verify.witnesses.matrices import integers
from verify.witnesses.matrices.special import special_subjects

s, t = number_of("s", "s", free(0)), number_of("t", "t", free(1))
FIRST, LAST = column(layer.H), layer.last_column(layer.H)


def examined(says, kind=Kind.LAYER, hypotheses=()):
    """Return what the exact witness finds of a statement that nothing proves."""
    claim = of_matrices(says, *hypotheses, subject=kind, expected=Verdict.REFUTED)
    (record,) = integers.examine([claim], Settings(PROFILES["smoke"]))
    return record


@pytest.mark.parametrize(("a", "b"), [(7, 9), (-7, 9), (-9, -9)])
def test_two_free_letters_are_the_numbers_of_the_statement(a, b):
    found = examined((s - a) ** 2 + (t - b) ** 2 > 0)
    assert found.counterexample.numbers["free"][:2] == [str(a), str(b)]


def test_columns_are_proportional_and_not_the_same():
    differ = tuple(assume(norm2(x) > 0) for x in (FIRST, LAST, FIRST - LAST))
    says = dot(FIRST, LAST) ** 2 < norm2(FIRST) * norm2(LAST)
    assert examined(says, hypotheses=differ).counterexample


def test_one_pixel_is_left():
    pixels = maps.vec(maps.h)
    says = maps.largest_entry(maps.h) ** 2 < layer.frobenius2(pixels)
    several = assume(maps.c >= 2), assume(maps.r >= 2), assume(layer.frobenius2(pixels) > 0)
    assert examined(says, Kind.MAPS, several).counterexample


@pytest.mark.parametrize("kind", [Kind.LAYER, Kind.MAPS, Kind.DESCENT])
def test_what_has_a_range_keeps_it(kind):
    found = [*special_subjects(integers.GROUNDS[kind].small, kind, (-2, 2))]
    assert all(isinstance(subject, Numbers) for subject in found)
    deviations = [x.deviation for x in found if "deviation" in x.names()]
    assert all(np.array_equal(deviation, deviations[0]) for deviation in deviations)
    matrices = [np.asarray(x.P, dtype=float) for x in found if "P" in x.names()]
    assert all(map(np.linalg.det, matrices))
    assert any(P[0, 0] == 0 for P in matrices) is (kind is Kind.DESCENT)


def test_arrays_are_nearly_zero_or_have_proportional_columns():
    found = [*special_subjects(integers.GROUNDS[Kind.LAYER].small, Kind.LAYER)]
    inputs = [np.asarray(subject.H, dtype=float) for subject in found]
    proportional = [H for H in inputs if np.linalg.matrix_rank(H) == 1 and H.any(0).all()]
    assert any((H[:, 0] != H[:, 1]).any() for H in proportional)
    assert {np.count_nonzero(H) for H in inputs} >= {0, 1}


@pytest.mark.parametrize("kind", [Kind.LAYER, Kind.MAPS, Kind.DESCENT])
def test_what_is_rounded_stays_positive(kind):
    for seed in range(3):
        for subject in integers.GROUNDS[kind].decidable(seed):
            assert all(np.all(getattr(subject, name) > 0) for name in subject.positive)


def test_a_letter_of_numbers_that_a_statement_names_is_refused_out_of_its_range():
    d = number_of("delta", r"\delta", lambda layer: 2 * layer.free[0] + 1, r"\delta \ne 0")
    (found,) = out_of_range(of_matrices(number(1) / 2 * d**2 > 0))
    assert "is displayed with" in found.says


def test_a_statement_may_have_the_variances_of_two_maps():
    says = equal(maps.variance_of(3 * maps.h), 9 * maps.variance_of(maps.h))
    assert r"\mu_{3 h}(p)" in latex(says)
    assert not examined(says, Kind.MAPS).counterexample


RANGE = (layer.largest_entry(y) - layer.smallest_entry(y)) ** 2
FIVE, THIRTEEN = assume(m >= 5), assume(m >= 13)


@pytest.mark.parametrize(
    ("says", "hypotheses", "reading"),
    [
        (20000 * m * sigma**2 >= RANGE * 10001, (FIVE,), Reading.NO_EPSILON),
        (4 * sigma**2 < RANGE, (THIRTEEN,), Reading.NO_EPSILON),
        (
            norm2(grad) < gamma**2 / sigma**2 * norm2(g),
            (THIRTEEN, assume(norm2(grad) > 0)),
            Reading.NO_EPSILON,
        ),
        (
            dot(y, grad) ** 2 * 27 * 10001 <= 40000 * gamma**2 * norm2(g) * m,
            (),
            Reading.SHARED_EPSILON,
        ),
    ],
)
def test_what_fails_at_classical_extremes_alone_is_refuted(says, hypotheses, reading):
    """One outlier on each side, two values, an orthogonal gradient; epsilon twice the variance."""
    claim = of_a_unit(says, *hypotheses, reading=reading, expected=Verdict.REFUTED)
    (record,) = batches.examine([claim], Settings(PROFILES["smoke"]))
    assert record.counterexample


def test_a_strict_bound_that_fails_at_a_quotient_of_its_numbers_is_refuted_there():
    says = layer.alpha**2 > layer.alpha - number(1) / 4
    small = integers.GROUNDS[Kind.LAYER].small
    found = special_subjects(small, Kind.LAYER, constants_of([says]), ends_of([says]))
    assert any(subject.step == Fraction(1, 2) for subject in found)


def test_a_bound_that_fails_beside_a_root_of_its_numbers_alone_is_refuted_there():
    claim = of_a_unit(gamma**3 <= 31, assume(gamma**2 <= 10), expected=Verdict.REFUTED)
    (record,) = batches.examine([claim], Settings(PROFILES["smoke"]))
    assert record.counterexample.numbers["gamma"] == "79/25"
