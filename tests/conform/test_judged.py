"""The word for one output, which is the exact answer and so many units more: no layer is run."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from verify.conform.cases import NOT_FINITE, OFFSET, PLAIN, SIZES, WIDE, Stratum, draw
from verify.conform.examine import Outcome, examined
from verify.conform.judge import judged
from verify.conform.modes import by_name
from verify.conform.oracle import Oracle, rounded_to
from verify.conform.subject import Subject

LONGEST = 2**17


def exact(case, oracle, answer):
    """Return an answer and its bound, in the shape (together, unit) or (1, channel)."""
    found = oracle.answer(answer)
    return found.high.copy(), np.fmax(found.error, found.error.mean(axis=0))


def cell_of(case, oracle, mode, output, matrix):
    """Return the cell of an output that is given as a matrix, or as one number a channel."""
    values = matrix[0] if len(matrix) == 1 else in_place(case, matrix)
    cells = judged(case, oracle, Outcome(mode, {output: values}), "token")
    return next(cell for cell in cells if cell.output == output)


def in_place(case, matrix):
    array = np.empty(matrix.size)
    array[case.place.statistics] = matrix
    return array.reshape(case.place.shape)


def oracle_of(case, family="batch"):
    return Oracle(case.inputs, case.eps, case.dtype, case.place, family != "rms")


@pytest.mark.parametrize(
    ("dtype", "together", "most"),
    [
        ("float64", 23, 32),
        ("float32", 23, 32),
        ("float16", 23, 4),
        ("bfloat16", 23, 4),
        ("float32", LONGEST, 32),
    ],
)
def test_a_right_output_loses_no_more_than_the_limit(dtype, together, most):
    case = draw(Stratum("plain", SIZES, together, 1), dtype, "batch", "NC")
    oracle = oracle_of(case)
    right, bound = exact(case, oracle, "z")
    for units, word in ((0.96 * most, "right"), (1.04 * most, "wrong")):
        moved = right.copy()
        moved[-1, -1] += units * bound[-1, -1]
        cell = cell_of(case, oracle, "forward", "z", moved)
        assert (str(cell.word), cell.units) == (word, pytest.approx(units, rel=0.02))


def test_an_entry_near_zero_may_lose_what_its_own_channel_loses():
    case = draw(Stratum("wide", PLAIN, 23, 24, change=WIDE), "float64", "batch", "NC")
    oracle = oracle_of(case)
    right, _ = exact(case, oracle, "x")
    error = oracle.answer("x").error
    least = np.unravel_index(np.argmin(error / error.mean(axis=0)), error.shape)
    for units, word in ((31, "right"), (33, "wrong")):
        moved = right.copy()
        moved[least] += units * error[:, least[1]].mean()
        assert cell_of(case, oracle, "gradient", "x", moved).word == word


def test_what_rounding_takes_is_not_judged_and_the_least_of_it_is_said():
    case = draw(Stratum("far", OFFSET, offset=2.0**20), "float32", "batch", "NC")
    oracle = oracle_of(case)
    right, bound = exact(case, oracle, "z")
    cell = cell_of(case, oracle, "forward", "z", right + 1000 * bound)
    assert (cell.word, cell.units) == ("not judged", None)
    assert cell.reason == f"rounding may take {oracle.condition.min():.1%} of the statistics"


def test_an_output_beyond_the_range_of_half_precision_may_be_infinite():
    wide = Stratum("variance beyond the range", "scale", 7, log_scale=9, dtypes=("float16",))
    case = draw(wide, "float16", "batch", "NC")
    oracle = oracle_of(case)
    right, _ = exact(case, oracle, "variance")
    assert np.any(right > np.finfo(np.float16).max)
    cell = cell_of(
        case, oracle, "running without gradient", "variance", rounded_to(right, "float16")
    )
    assert cell.word == "right"


def in_a_layer(change):
    """Return a case of layer normalisation whose first unit is changed, and its oracle."""
    case = draw(Stratum("plain", PLAIN), "float32", "layer", "NC")
    x = case.inputs["x"].copy()
    x[0] = change(x[0])
    changed = replace(
        case, inputs=case.inputs | {"x": rounded_to(x, "float32")}, touched=np.isnan(x).any(axis=1)
    )
    return changed, oracle_of(changed, "layer")


def test_a_parameters_gradient_is_judged_where_all_its_units_are():
    for change, word in ((lambda x: x, "wrong"), (lambda x: x + 2.0**20, "not judged")):
        case, oracle = in_a_layer(change)
        right, bound = exact(case, oracle, "gamma")
        assert cell_of(case, oracle, "gradient", "gamma", right + 33 * bound).word == word


def test_a_channel_with_an_entry_that_is_not_finite_may_have_any_gradient():
    case = draw(Stratum("NaN", NOT_FINITE, change="nan"), "float32", "batch", "NC")
    oracle = oracle_of(case)
    right, bound = exact(case, oracle, "beta")
    right[:, case.touched] = np.nan
    assert cell_of(case, oracle, "gradient", "beta", right).word == "right"
    assert cell_of(case, oracle, "gradient", "beta", right + 33 * bound).word == "wrong"
    case, oracle = in_a_layer(lambda x: np.where(np.arange(len(x)) == 1, np.nan, x))
    cell = cell_of(case, oracle, "gradient", "beta", np.full((1, case.place.channels), np.nan))
    assert (cell.word, cell.reason) == (
        "not judged",
        "every unit holds an entry that is not finite",
    )


def test_what_is_not_finite_is_counted():
    case = draw(Stratum("plain", PLAIN), "float32", "batch", "NC")
    oracle = oracle_of(case)
    right, _ = exact(case, oracle, "z")
    right[0, :2], right[1, 1] = np.nan, -np.inf
    cell = cell_of(case, oracle, "forward", "z", right)
    assert (cell.word, cell.reason) == ("not finite", "2 NaN and 1 infinite of 150 entries")


def test_an_output_that_is_none_is_not_offered():
    case = draw(Stratum("plain", PLAIN), "float32", "batch", "NC")
    cells = judged(case, oracle_of(case), Outcome("gradient", {"beta": np.zeros(5)}), "token")
    said = {cell.output: cell.reason for cell in cells if cell.word == "not offered"}
    assert said == dict.fromkeys(set(by_name("gradient").answers) - {"beta"}, "returns None")


class Boxes:
    """An adapter whose arrays can be taken away, as donated ones are."""

    name = "boxes"

    def array(self, values, dtype):
        return SimpleNamespace(values=values)

    def numpy(self, array):
        return array.values.copy()

    def dtype(self, array):
        return "float64"


def donates_x(x, gamma, beta, eps):
    z = SimpleNamespace(values=x.values)
    del x.values
    return z


def test_an_input_that_is_gone_after_the_call_is_overwritten():
    case = draw(Stratum("plain", PLAIN), "float64", "batch", "NC")
    outcome = examined(Subject("donates", donates_x), Boxes(), case, by_name("forward"))
    assert (outcome.overwritten, outcome.reason) == (("x",), "")
