"""The checked entries of l_p normalisation: wrong input is told what to do."""

import inspect
from math import inf

import numpy as np
import pytest
import torch

from theory import lp, lp_normalization

RIGHT = {
    "y": np.array([[1.0, -2.0], [3.0, 5.0], [4.0, 0.3]]),
    "g": np.array([[0.2, 1.0], [-3.0, 2.0], [1.0, 0.0]]),
    "u": np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]]),
    "p": 1,
    "gamma": np.array([2.0, -1.0]),
    "beta": 0.5,
    "eps": 1e-5,
    "axis": 0,
}
FORMULAS = [
    name
    for name, function in inspect.getmembers(lp_normalization, inspect.isfunction)
    if function.__module__ == lp_normalization.__name__ and not name.startswith("_")
]


def call(module, name, **changed):
    given = RIGHT | changed
    function = getattr(module, name)
    return function(**{key: given[key] for key in inspect.signature(function).parameters})


@pytest.mark.parametrize("p", [1, 2, 2.5, inf])
@pytest.mark.parametrize("name", FORMULAS)
def test_right_input_passes_as_it_is(name, p):
    np.testing.assert_array_equal(call(lp, name, p=p), call(lp_normalization, name, p=p))
    assert getattr(lp, name).__doc__ == getattr(lp_normalization, name).__doc__


def test_limits_that_are_allowed():
    one = {"y": np.array([-3.0]), "g": np.array([1.0]), "gamma": 1, "eps": 0}
    np.testing.assert_array_equal(call(lp, "forward", **one), [0.5])
    np.testing.assert_array_equal(call(lp, "gradient", **one), [0.0])
    np.testing.assert_array_equal(call(lp, "forward", y=np.zeros((3, 2))), np.full((3, 2), 0.5))


WRONG = [
    ("forward", {"p": 0.5}, ValueError, "p = 0.5; expected an exponent >= 1"),
    ("forward", {"p": float("nan")}, ValueError, "p = nan; expected an exponent >= 1"),
    ("forward", {"p": 10**400}, ValueError, "p is beyond .*; expected math.inf"),
    (
        "forward",
        {"y": RIGHT["y"] + 0j},
        TypeError,
        "expected real numbers, since an absolute value",
    ),
    ("forward", {"p": "1"}, TypeError, "p is a str; expected a number >= 1"),
    ("forward", {"y": [[1.0]]}, TypeError, "y is a list; expected an array of floats"),
    ("forward", {"y": RIGHT["y"].astype(int)}, TypeError, "dtype int64; expected real or complex"),
    ("forward", {"y": np.zeros((0, 2))}, ValueError, r"shape \(0, 2\).*is empty"),
    ("forward", {"y": np.array([[1.0, np.nan]])}, ValueError, r"NaN or infinite at.* \(0, 1\)"),
    ("forward", {"gamma": np.ones(3)}, ValueError, r"gamma of shape \(3,\) does not give one"),
    ("forward", {"axis": 5}, ValueError, "axis = 5 for y"),
    ("forward", {"eps": -1.0}, ValueError, "eps is negative"),
    ("forward", {"y": np.array([[0.0, 1.0]]), "eps": 0}, ValueError, "of zero at unit 0 and eps"),
    ("gradient", {"g": np.ones((2, 2))}, ValueError, r"g of shape \(2, 2\) does not match y"),
    ("gradient", {"g": torch.ones(3, 2)}, TypeError, "expected one library"),
    ("jvp", {"u": np.ones((3, 2), np.float32)}, TypeError, "expected one dtype"),
]


@pytest.mark.parametrize(("name", "changed", "error", "message"), WRONG)
def test_wrong_input_is_told_what_to_do(name, changed, error, message):
    with pytest.raises(error, match=message):
        call(lp, name, **changed)


def test_an_average_norm_that_overflows_is_said_so():
    with pytest.raises(ValueError, match=r"p = 2, that overflows torch\.float64 at unit 0"):
        lp.normalize(torch.tensor([[1e200], [2.0]], dtype=torch.float64), p=2)
