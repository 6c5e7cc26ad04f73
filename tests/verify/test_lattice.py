"""Cases of small integers: the numbers are small, one square root suffices, and all is written."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from verify.cases import lattice
from verify.cases.case import Case
from verify.cases.losses import Loss, isotropic
from verify.witnesses.integers import BATCHES
from verify.witnesses.search import drawn

LENGTHS = (1, 2, 3, 4)
cases = pytest.mark.parametrize(
    "case",
    [BATCHES.at(m, places) for m in LENGTHS for places in drawn(BATCHES, m, 12, 0)],
)


def entries(case):
    """Every number of a case but eps."""
    arrays = (case.y, case.direction, case.other_direction, *case.loss.parameters)
    flat = [entry for array in arrays for entry in np.ravel(array).tolist()]
    return [*flat, case.gamma, case.beta, case.bound]


@cases
def test_numbers_are_small_integers(case):
    assert all(type(entry) is int and -3 <= entry <= 3 for entry in entries(case))
    assert case.bound >= 1


@cases
def test_shapes_are_those_of_one_unit(case):
    m = len(case.y)
    linear, matrix = case.loss.parameters
    vectors = (case.y, case.direction, case.other_direction, linear)
    assert {v.shape for v in vectors} == {(m,)}
    assert matrix.shape == (m, m)
    assert (matrix == matrix.T).all()
    assert case.stratum == f"integers m={m}"


@cases
def test_sigma_is_rational_times_the_root_of_the_variance(case):
    variance = Fraction(np.sum((case.y * len(case.y) - case.y.sum()) ** 2), len(case.y) ** 3)
    assert case.eps > 0
    if variance:
        assert (variance + case.eps) / variance in {Fraction(r) ** 2 for r in ("5/4", "3/2", 2, 3)}
    else:
        assert case.eps == 1


def test_eps_of_a_batch_by_hand():
    case = lattice.lattice_case(
        [0, 0, 2, 2], 2, 1, Fraction(3, 2), [1] * 4, [1] * 10, [0] * 4, [0] * 4, 1
    )
    assert case.eps == Fraction(5, 4)


def test_the_matrix_is_given_by_its_lower_triangle():
    case = lattice.lattice_case(
        [0, 1, 2], 1, 0, Fraction(2), [0] * 3, [1, 2, 3, 4, 5, 6], [0] * 3, [0] * 3, 1
    )
    assert case.loss.parameters[1].tolist() == [[1, 2, 4], [2, 3, 5], [4, 5, 6]]


@cases
def test_a_case_is_written_in_strings_that_are_its_numbers(case):
    written = lattice.written(case)
    assert json.loads(json.dumps(written)) == written
    assert [Fraction(entry) for entry in written["y"]] == case.y.tolist()
    assert Fraction(written["eps"]) == case.eps
    matrix = [[int(entry) for entry in row] for row in written["parameters"]["B"]]
    assert matrix == case.loss.parameters[1].tolist()


def test_a_case_written_by_hand():
    case = Case(
        y=np.array([0, 1], dtype=object),
        gamma=-2,
        beta=0,
        eps=Fraction(3, 4),
        loss=Loss(isotropic, (np.array([1, -1], dtype=object), Fraction(1, 2))),
        direction=np.array([1, 0], dtype=object),
        other_direction=np.array([0, 1], dtype=object),
        bound=3,
    )
    assert lattice.written(case) == {
        "y": ["0", "1"],
        "gamma": "-2",
        "beta": "0",
        "eps": "3/4",
        "loss": "<a, z> + h |z|^2/2",
        "parameters": {"a": ["1", "-1"], "h": "1/2"},
        "u": ["1", "0"],
        "v": ["0", "1"],
        "lambda": "3",
    }


def test_a_number_in_an_array_of_its_own_is_written_as_a_number():
    case = lattice.lattice_case([0, 1], 1, 0, Fraction(2), [0, 0], [0] * 3, [0, 0], [0, 0], 1)
    written = lattice.written(replace(case, gamma=np.array([Fraction(1, 3)], dtype=object)))
    assert written["gamma"] == "1/3"


@pytest.mark.parametrize("m", LENGTHS)
def test_the_simplest_case_is_zero(m):
    simplest = BATCHES.simplest(m)
    assert not any(entries(simplest)[:-1])
    assert simplest.bound == 1


def test_every_value_is_drawn_and_the_simplest_more_often():
    random, letter = Random(0), lattice.Entries((4,))
    often = letter._replace(is_often_simplest=True)
    counts = Counter(place for _ in range(500) for place in letter.drawn(random))
    assert counts.keys() == set(range(7))
    assert min(counts[0], counts[1], counts[2]) > max(counts[k] for k in range(3, 7))
    zero = sum(not any(often.drawn(random)) for _ in range(500))
    assert 200 < zero < 300


def test_entries_have_the_shape_that_is_asked_for():
    assert lattice.Entries((2, 1)).at([1, 2]).tolist() == [[1], [-1]]
    assert lattice.Entries(values=lattice.POSITIVE).at([2]) == 3
    assert lattice.Entries((0,)).at([]).shape == (0,)
