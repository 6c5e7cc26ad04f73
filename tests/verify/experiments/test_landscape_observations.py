from math import inf

import pytest
from landscape_numbers import training

from verify.experiments.landscape.observations import (
    CHANGE,
    LOSS_RANGE,
    SMOOTHNESS,
    cosines,
    more_shift,
    smoother,
    smoothness_nearby,
)
from verify.experiments.readings import all_ratios


def measured(none, batch, cosine_of_none=0.5, cosine_of_batch=0.5):
    common = {"losses": [4.0, 2.0, 1.0, 0.5], "layers": ("a", "b")}
    return {
        "n": training("none", none, cosine=cosine_of_none, **common),
        "b": training("batch", batch, cosine=cosine_of_batch, **common),
    }


@pytest.mark.parametrize("quantity", [LOSS_RANGE, CHANGE, SMOOTHNESS])
def test_the_rougher_network_is_the_one_above(quantity):
    assert smoother(measured(4.0, 2.0), quantity, "batch", "", "").appeared is True
    assert smoother(measured(2.0, 4.0), quantity, "batch", "", "").appeared is False
    assert smoother(measured(2.0, 2.0), quantity, "batch", "", "").appeared is False
    assert {
        r for _, r in all_ratios(measured(4.0, 2.0), "none", "batch", quantity.meter, quantity.read)
    } == {2.0}


def test_most_steps_are_three_in_four():
    found = measured(4.0, 2.0)
    for step, expected in ((0, True), (1, False)):
        found["n"]["landscape"]["values"][step]["effective_smoothness"] = 1.0
        assert smoother(found, SMOOTHNESS, "batch", "", "").appeared is expected


def test_what_overflowed_is_rougher_than_anything():
    found = measured(1.0, 2.0)
    for value in found["n"]["landscape"]["values"]:
        value["loss_variation"][1] = value["effective_smoothness"] = None
    assert smoother(found, SMOOTHNESS, "batch", "", "").appeared is True
    assert smoother(found, LOSS_RANGE, "batch", "", "").appeared is True
    assert {r for _, r in all_ratios(found, "none", "batch", "landscape", SMOOTHNESS.read)} == {inf}


def test_what_was_not_measured_tells_nothing():
    found = measured(4.0, 2.0)
    assert smoother(found, SMOOTHNESS, "l1", "", "").appeared is None
    assert more_shift(found, "l1", "", "").appeared is None
    assert smoother(found, SMOOTHNESS, "batch", "", "", seed=5).appeared is None


def test_shift_is_compared_by_the_cosine():
    assert more_shift(measured(1, 1, 0.9, 0.2), "batch", "", "").appeared is True
    assert more_shift(measured(1, 1, 0.2, 0.9), "batch", "", "").appeared is False
    assert cosines(measured(1, 1, 0.9, 0.2), "none") == [0.9] * 8


def test_a_zero_gradient_has_no_cosine_to_count():
    found = measured(1, 1, 0.9, 0.2)
    found["n"]["shift"]["values"][0] = {"a": {"cosine": None}, "b": {"cosine": 0.1}}
    assert cosines(found, "none")[:1] == [0.1]


def test_smoothness_nearby_is_in_learning_rates():
    # A change of 0.03 at a step of 0.01 learning rates along a gradient of norm 1.
    assert smoothness_nearby(measured(3.0, 1.0), "none") == pytest.approx(3.0)
