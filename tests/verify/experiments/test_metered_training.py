import io

import pytest
import torch
from torch import nn

from verify.experiments.batches import FullBatch, ShuffledBatches
from verify.experiments.evidence import as_json
from verify.experiments.metered_training import Meter, MeteredTraining, Recipe, spread

X = torch.tensor([[1.0], [2.0], [3.0], [4.0]])


def line(slope):
    def model():
        layer = nn.Linear(1, 1, bias=False)
        nn.init.constant_(layer.weight, slope)
        return layer

    return model


def squares(outputs, targets):
    return ((outputs - targets) ** 2).sum() / 2


def piece(steps=5, rate=0.01, slope=3.0, meters=None, batches=lambda: FullBatch(X, X)):
    recipe = Recipe(line(slope), batches, squares, rate, steps)
    every = frozenset(range(steps))
    return MeteredTraining("a line", {"seed": 0}, recipe, meters or {}, every, seed=0)


def weight(moment):
    return float(moment.model.weight.detach())


def drawn(moment):
    return float(torch.rand((), generator=moment.generator))


def run(training, steps=None):
    for _ in range(training.steps if steps is None else steps):
        training.step()
    return training


def test_it_descends_by_the_learning_rate_and_measures_before_the_step():
    meters = {"weight": Meter(frozenset({0, 1, 3}), weight)}
    numbers = run(piece(meters=meters)).numbers()
    # The loss is 30 (w - 1)^2 / 2: each step multiplies w - 1 by 1 - 0.3.
    expected = [1 + 2 * 0.7**step for step in (0, 1, 3)]
    assert numbers["weight"] == {"steps": [0, 1, 3], "values": pytest.approx(expected)}
    losses = [15 * (2 * 0.7**step) ** 2 for step in range(5)]
    assert numbers["loss"] == {"steps": [0, 1, 2, 3, 4], "values": pytest.approx(losses)}
    assert (numbers["seed"], numbers["steps"], numbers["diverged"]) == (0, 5, None)


@pytest.mark.parametrize("wrong", [0.02, 0.01 / 4])
def test_another_learning_rate_is_another_training(wrong):
    assert run(piece()).numbers()["loss"]["values"] != pytest.approx(
        run(piece(rate=wrong)).numbers()["loss"]["values"]
    )


def shuffled():
    order = torch.Generator().manual_seed(3)
    return ShuffledBatches(X, X, 2, order)


def test_a_killed_training_taken_up_again_is_the_one_that_was_not_killed():
    meters = {"weight": Meter(frozenset({0, 4}), weight), "draw": Meter(frozenset(range(7)), drawn)}
    whole = run(piece(7, meters=meters, batches=shuffled))
    killed = run(piece(7, meters=meters, batches=shuffled), steps=3)
    file = io.BytesIO()
    torch.save(killed.state_dict(), file)
    file.seek(0)
    resumed = piece(7, slope=-9.0, meters=meters, batches=shuffled)
    resumed.load_state_dict(torch.load(file, weights_only=True))
    assert resumed.done == 3
    assert as_json(run(resumed, 4).numbers()) == as_json(whole.numbers())
    assert len(set(whole.numbers()["draw"]["values"])) == 7


def test_it_stops_where_the_loss_is_not_finite_and_goes_on_counting():
    meters = {"weight": Meter(frozenset(range(50)), weight)}
    training = run(piece(50, rate=1e20, meters=meters))
    assert training.done == 50
    diverged = training.numbers()["diverged"]
    assert diverged is not None
    assert training.numbers()["loss"]["steps"] == list(range(diverged))


def test_it_is_not_measured_where_the_gradient_is_zero():
    meters = {"weight": Meter(frozenset(range(5)), weight)}
    numbers = run(piece(slope=1.0, meters=meters)).numbers()
    assert numbers["weight"] == {"steps": [], "values": []}
    assert numbers["diverged"] is None


def test_steps_that_are_spread_hold_the_first_and_the_last():
    for steps in (1, 2, 3, 100):
        found = spread(steps, 6)
        assert {0, steps - 1} <= found <= set(range(steps))
