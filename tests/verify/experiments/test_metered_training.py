import pytest
import torch
from classifiers import killed_at, run
from torch import nn

from verify.experiments.batches import FullBatch, ShuffledBatches
from verify.experiments.evidence import as_json
from verify.experiments.metered_training import Meter, MeteredTraining, Recipe, spread

X = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
ALWAYS = frozenset(range(50))


def piece(steps=5, rate=0.01, slope=3.0, measured=ALWAYS, batches=lambda: FullBatch(X, X)):
    """The fit of a line to y = x, whose slope and a random number are measured."""

    def model():
        layer = nn.Linear(1, 1, bias=False)
        nn.init.constant_(layer.weight, slope)
        return layer

    def squares(outputs, targets):
        return ((outputs - targets) ** 2).sum() / 2

    meters = {
        "weight": Meter(measured, lambda at: float(at.model.weight.detach())),
        "draw": Meter(ALWAYS, lambda at: float(torch.rand((), generator=at.generator))),
    }
    recipe = Recipe(model, batches, squares, rate, steps)
    return MeteredTraining("a line", {"seed": 0}, recipe, meters, ALWAYS, seed=0)


def test_it_descends_by_the_learning_rate_and_measures_before_the_step():
    numbers = run(piece(measured=frozenset({0, 1, 3}))).numbers()
    # The loss is 30 (w - 1)^2 / 2: each step multiplies w - 1 by 1 - 0.3.
    expected = [1 + 2 * 0.7**step for step in (0, 1, 3)]
    assert numbers["weight"] == {"steps": [0, 1, 3], "values": pytest.approx(expected)}
    losses = [15 * (2 * 0.7**step) ** 2 for step in range(5)]
    assert numbers["loss"] == {"steps": [0, 1, 2, 3, 4], "values": pytest.approx(losses)}
    assert (numbers["seed"], numbers["steps"], numbers["diverged"]) == (0, 5, None)
    assert len(set(numbers["draw"]["values"])) == 5


def test_a_killed_training_taken_up_again_is_the_one_that_was_not_killed():
    slopes = iter((3.0, 3.0, -9.0))

    def make():
        shuffled = ShuffledBatches(X, X, 2, torch.Generator().manual_seed(3))
        return piece(7, slope=next(slopes), batches=lambda: shuffled)

    assert as_json(run(make()).numbers()) == killed_at(3, make)


def test_it_stops_where_the_loss_is_not_finite_and_goes_on_counting():
    training = run(piece(50, rate=1e20))
    assert training.done == 50
    diverged = training.numbers()["diverged"]
    assert diverged is not None
    assert training.numbers()["loss"]["steps"] == list(range(diverged))


def test_it_is_not_measured_where_the_gradient_is_zero():
    numbers = run(piece(slope=1.0)).numbers()
    assert numbers["weight"] == {"steps": [], "values": []}
    assert numbers["diverged"] is None


@pytest.mark.parametrize("steps", [1, 2, 3, 100])
def test_steps_that_are_spread_hold_the_first_and_the_last(steps):
    assert {0, steps - 1} <= spread(steps, 6) <= set(range(steps))
