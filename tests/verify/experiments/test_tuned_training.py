"""Trials choose a learning rate on images kept back; then every seed trains at it."""

from copy import deepcopy

import pytest
import torch
from classifiers import recipe, run

from verify.experiments.evidence import as_json
from verify.experiments.metered_training import Meter
from verify.experiments.tuned_training import Plan, TunedTraining, _merit

RATES = (1e-4, 0.3)


def tuned(method="bnp", meters=None):
    plan = Plan(recipe(method), RATES, 1, (5, 6), meters or {})
    return TunedTraining("tuned", {"method": method}, plan)


def test_trials_keep_the_last_fifth_back():
    plan = tuned().plan
    train = plan.recipe.train
    assert (len(plan.trial.train), len(plan.trial.test), plan.trial.epochs) == (20, 4, 1)
    assert torch.equal(plan.trial.test.inputs, train.inputs[20:])
    assert torch.equal(plan.trial.train.inputs, train.inputs[:20])


def test_the_better_rate_is_taken_by_every_seed():
    numbers = run(tuned("none")).numbers()
    assert [trial["learning_rate"] for trial in numbers["trials"]] == list(RATES)
    merits = [_merit(trial) for trial in numbers["trials"]]
    assert numbers["rate"] == RATES[merits.index(max(merits))]
    assert [(r["seed"], r["learning_rate"]) for r in numbers["runs"]] == [
        (5, numbers["rate"]),
        (6, numbers["rate"]),
    ]
    assert all(len(one["losses"]) == 2 for one in numbers["runs"])
    assert numbers["method"] == "none"


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


@pytest.mark.parametrize("steps", [3, 5, 12, 23, 33])
def test_a_killed_piece_goes_on_as_if_it_had_not_been(steps):
    whole = run(tuned())
    killed, resumed = run(tuned(), steps), tuned()
    resumed.load_state_dict(deepcopy(killed.state_dict()))
    assert as_json(run(resumed, whole.steps - steps).numbers()) == as_json(whole.numbers())


def test_a_piece_of_its_last_step_can_be_kept():
    whole = run(tuned())
    again = tuned()
    again.load_state_dict(deepcopy(run(tuned(), whole.steps - 1).state_dict()))
    assert again.rate == whole.rate
    assert whole.done == whole.steps == 2 * 5 + 2 * 12


def test_only_the_first_seed_is_measured():
    meters = {"theorems": Meter(frozenset({1}), lambda at: [at.step])}
    numbers = run(tuned(meters=meters)).numbers()
    assert numbers["runs"][0]["theorems"] == {"steps": [1], "values": [[1]]}
    assert "theorems" not in numbers["runs"][1]
    assert "theorems" not in numbers["trials"][0]


def test_nothing_is_known_before():
    assert tuned().rate is None
    assert run(tuned(), 7).numbers()["runs"] == []


@pytest.mark.parametrize(("rates", "seeds"), [((), (0,)), ((0.1,), ())])
def test_nothing_to_try_is_refused(rates, seeds):
    with pytest.raises(ValueError, match="give at least one of each"):
        Plan(recipe(), rates, 1, seeds)
