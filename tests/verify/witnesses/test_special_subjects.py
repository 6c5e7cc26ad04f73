"""Strict bounds that fail only where nothing random is are refuted there."""

import numpy as np
import pytest

from theory import layer, maps
from theory.claim import Location, Verdict
from theory.language.expression import equal
from theory.language.latex import latex
from theory.language.letters import free, number_of
from theory.language.operations import dot, norm2
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import assume
from verify.settings import PROFILES, Settings
from verify.subjects.matrices import Numbers
from verify.witnesses.matrices import integers
from verify.witnesses.matrices.special import RANGED, special_subjects

s, t = number_of("s", "s", free(0)), number_of("t", "t", free(1))
FIRST, LAST = layer.column(layer.H), layer.last_column(layer.H)


def examined(says, kind=Kind.LAYER, hypotheses=()):
    """Return what the exact witness finds of a statement that nothing proves."""
    claim = MatrixClaim(
        id="strict", title="strict", locations=(Location("notes", 1, "here", "a"),), says=says,
        hypotheses=hypotheses, subject=kind, expected=Verdict.REFUTED,
    )  # fmt: skip
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
    for name in RANGED:
        values = [np.asarray(getattr(x, name)) for x in found if name in x.names()]
        assert all(np.array_equal(value, values[0]) for value in values)


def test_a_statement_may_have_the_variances_of_two_maps():
    says = equal(maps.variance_of(3 * maps.h), 9 * maps.variance_of(maps.h))
    assert r"\mu_{3 h}(p)" in latex(says)
    assert not examined(says, Kind.MAPS).counterexample
