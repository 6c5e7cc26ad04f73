"""Cases of small integers: the numbers are small, one square root suffices, and all is written."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from verify.subjects import unit_lattice
from verify.witnesses.batches import BATCHES
from verify.witnesses.search import drawn


def entries(case):
    """Every number of a case but eps."""
    arrays = (case.y, case.direction, case.other_direction, *case.loss.parameters)
    flat = [entry for array in arrays for entry in np.ravel(array).tolist()]
    return [*flat, case.gamma, case.beta, case.bound]


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_a_case_is_of_small_integers_and_its_sigma_of_one_square_root(m):
    simplest = BATCHES.simplest(m)
    assert [*filter(None, entries(simplest))] == [simplest.bound] == [1]
    for places in drawn(BATCHES, m, 12, 0):
        case = BATCHES.at(m, places)
        assert all(type(entry) is int and -3 <= entry <= 3 for entry in entries(case))
        assert case.bound >= 1
        linear, matrix = case.loss.parameters
        vectors = (case.y, case.direction, case.other_direction, linear)
        assert {v.shape for v in vectors} == {(m,)}
        assert matrix.shape == (m, m)
        variance = Fraction(np.sum((case.y * m - case.y.sum()) ** 2), m**3)
        ratios = {Fraction(r) ** 2 for r in ("5/4", "3/2", 2, 3)}
        assert (variance + case.eps) / variance in ratios if variance else case.eps == 1


def test_a_case_by_hand_is_written_in_strings():
    """The variance is 2/3; the matrix is given by its lower triangle."""
    case = unit_lattice.lattice_case(
        [0, 1, 2], -2, 0, Fraction(3, 2), [1, -1, 0], [1, 2, 3, 4, 5, 6], [1, 0, 0], [0, 1, 3], 3
    )
    assert case.stratum == "integers m=3"
    written = unit_lattice.written(case)
    assert written == {
        "y": ["0", "1", "2"],
        "gamma": "-2",
        "beta": "0",
        "eps": "5/6",
        "loss": "<a, z> + <z, B z>/2",
        "parameters": {
            "a": ["1", "-1", "0"],
            "B": [["1", "2", "4"], ["2", "3", "5"], ["4", "5", "6"]],
        },
        "u": ["1", "0", "0"],
        "v": ["0", "1", "3"],
        "lambda": "3",
    }
    in_an_array = replace(case, gamma=np.array([Fraction(1, 3)], dtype=object))
    assert unit_lattice.written(in_an_array)["gamma"] == "1/3"


def test_every_value_is_drawn_and_the_simplest_more_often():
    random, letter = Random(0), unit_lattice.Entries((4,))
    often = letter._replace(is_often_simplest=True)
    counts = Counter(place for _ in range(500) for place in letter.drawn(random))
    assert counts.keys() == set(range(7))
    assert min(counts[0], counts[1], counts[2]) > max(counts[k] for k in range(3, 7))
    zero = sum(not any(often.drawn(random)) for _ in range(500))
    assert 200 < zero < 300
