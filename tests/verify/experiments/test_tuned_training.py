"""Trials choose a learning rate on images kept back; then every seed trains at it."""

import pytest
import torch
from classifiers import killed_at, recipe, run

from verify.experiments.evidence import as_json
from verify.experiments.metered_training import Meter
from verify.experiments.tuned_training import Plan, TunedTraining, _merit

RATES = (1e-4, 0.3)


def tuned(method="bnp"):
    meters = {"theorems": Meter(frozenset({1}), lambda at: [at.step])}
    plan = Plan(recipe(method), RATES, 1, (5, 6), meters)
    return TunedTraining("tuned", {"method": method}, plan)


def test_trials_keep_the_last_fifth_back():
    plan = tuned().plan
    inputs = plan.recipe.train.inputs
    assert (len(plan.trial.train), len(plan.trial.test), plan.trial.epochs) == (20, 4, 1)
    assert torch.equal(plan.trial.test.inputs, inputs[20:])
    assert torch.equal(plan.trial.train.inputs, inputs[:20])


def test_the_better_rate_is_taken_by_every_seed_and_the_first_is_measured():
    assert tuned("none").rate is None
    piece = run(tuned("none"), 7)
    assert piece.numbers()["runs"] == []
    numbers = run(piece).numbers()
    assert piece.done == piece.steps == 2 * 5 + 2 * 12
    assert [trial["learning_rate"] for trial in numbers["trials"]] == list(RATES)
    merits = [_merit(trial) for trial in numbers["trials"]]
    rate = numbers["rate"]
    assert rate == RATES[merits.index(max(merits))]
    found = [(one["seed"], one["learning_rate"], len(one["losses"])) for one in numbers["runs"]]
    assert found == [(5, rate, 2), (6, rate, 2)]
    assert numbers["method"] == "none"
    assert numbers["runs"][0]["theorems"] == {"steps": [1], "values": [[1]]}
    assert "theorems" not in numbers["runs"][1].keys() | numbers["trials"][0].keys()


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ((0.9, 5.0, None), (0.8, 0.1, None)),
        ((0.9, 0.1, None), (0.9, 0.2, None)),
        ((0.0, 9.0, None), (1.0, 0.0, 3)),
    ],
)
def test_what_makes_a_trial_better(better, worse):
    def trial(accuracy, loss, diverged):
        return {"accuracies": [accuracy], "losses": [loss], "diverged": diverged}

    assert _merit(trial(*better)) > _merit(trial(*worse))


@pytest.mark.parametrize("step", [3, 5, 23, 33])
def test_a_killed_piece_goes_on_as_if_it_had_not_been(step):
    assert killed_at(step, tuned) == as_json(run(tuned()).numbers())


@pytest.mark.parametrize(("rates", "seeds"), [((), (0,)), ((0.1,), ())])
def test_nothing_to_try_is_refused(rates, seeds):
    with pytest.raises(ValueError, match="give at least one of each"):
        Plan(recipe(), rates, 1, seeds)
