"""Trainings that are measured: of a line, of classifiers, and at learning rates that are tried."""

import pytest
import torch
from classifiers import images, killed_at, recipe, run
from torch import nn
from torch.nn.functional import cross_entropy

from theory.nn.bnp import BNP
from verify.datasets.dataset import Images
from verify.experiments.batches import FullBatch, ShuffledBatches
from verify.experiments.classifier_training import FOUR_THINGS, ClassifierTraining, accuracy
from verify.experiments.evidence import as_json
from verify.experiments.metered_training import Meter, MeteredTraining, Recipe, spread
from verify.experiments.tuned_training import Plan, TunedTraining, _merit

X = torch.tensor([[1.0], [2.0], [3.0], [4.0]])


def shuffled(x=X, seed=3, size=2):
    return ShuffledBatches(x, x + 100, size, torch.Generator().manual_seed(seed))


def test_an_epoch_has_no_image_twice_and_epochs_and_seeds_differ():
    batches = shuffled(torch.arange(10), size=4)
    epochs = [torch.cat([batches.next()[0] for _ in range(2)]) for _ in range(3)]
    assert all(len(epoch.unique()) == 8 for epoch in epochs)
    assert not torch.equal(epochs[0], epochs[1])
    assert not torch.equal(epochs[0][:4], shuffled(torch.arange(10), seed=1, size=4).next()[0])
    inputs, targets = batches.next()
    assert torch.equal(targets, inputs + 100)


@pytest.mark.parametrize("size", [0, 5])
def test_a_batch_that_cannot_be_filled_is_refused(size):
    with pytest.raises(ValueError, match=f"size = {size} of a batch from 4"):
        shuffled(size=size)


# Metered trainings

ALWAYS = frozenset(range(50))


def line(steps=5, rate=0.01, slope=3.0, measured=ALWAYS, batches=lambda: FullBatch(X, X)):
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
    numbers = run(line(measured=frozenset({0, 1, 3}))).numbers()
    # The loss is 30 (w - 1)^2 / 2: each step multiplies w - 1 by 1 - 0.3.
    expected = [1 + 2 * 0.7**step for step in (0, 1, 3)]
    assert numbers["weight"] == {"steps": [0, 1, 3], "values": pytest.approx(expected)}
    losses = [15 * (2 * 0.7**step) ** 2 for step in range(5)]
    assert numbers["loss"] == {"steps": [0, 1, 2, 3, 4], "values": pytest.approx(losses)}
    assert (numbers["seed"], numbers["steps"], numbers["diverged"]) == (0, 5, None)
    assert len(set(numbers["draw"]["values"])) == 5


@pytest.mark.parametrize("batches", [shuffled, lambda: FullBatch(X, X)])
def test_a_killed_training_is_the_one_that_was_not_killed_whatever_it_began_with(batches):
    slopes = iter((0.98, 0.98, -9.0))
    whole, again = (lambda: line(7, slope=next(slopes), batches=batches) for _ in range(2))
    assert as_json(run(whole()).numbers()) == killed_at(3, again)


def test_it_stops_where_the_loss_is_not_finite_and_goes_on_counting():
    training = run(line(50, rate=1e20))
    assert training.done == 50
    diverged = training.numbers()["diverged"]
    assert training.numbers()["loss"]["steps"] == list(range(diverged))


def test_it_is_not_measured_where_the_gradient_is_zero():
    numbers = run(line(slope=1.0)).numbers()
    assert numbers["weight"] == {"steps": [], "values": []}
    assert numbers["diverged"] is None


@pytest.mark.parametrize("steps", [1, 2, 3, 100])
def test_steps_that_are_spread_hold_the_first_and_the_last(steps):
    assert {0, steps - 1} <= spread(steps, 6) <= set(range(steps))


# Classifiers


@pytest.mark.parametrize("method", ["none", "batch-renormalization", "bnp"])
def test_it_is_the_loop_written_out(method):
    found = run(ClassifierTraining(recipe(method), seed=3)).numbers()
    other = ClassifierTraining(recipe(method), seed=3)
    model, bnp = other.model, BNP(other.model) if method == "bnp" else None
    losses, accuracies = [], []
    for _ in range(2):
        total = 0.0
        for _ in range(6):
            inputs, labels = other.batches.next()
            model.zero_grad()
            loss = cross_entropy(model(inputs), labels)
            loss.backward()
            if bnp is not None:
                bnp.precondition()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.1 * parameter.grad
            total += float(loss.detach())
        losses.append(total / 6)
        accuracies.append(accuracy(model, images(10, 1)))
    assert found["losses"] == pytest.approx(losses, rel=1e-6)
    assert found["accuracies"] == accuracies


def test_methods_start_alike_and_see_the_same_batches():
    plain, other = (ClassifierTraining(recipe(method), seed=1) for method in ("none", "bnp"))
    for p, q in zip(plain.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(p, q)
    assert torch.equal(plain.batches.next()[0], other.batches.next()[0])
    unlike = ClassifierTraining(recipe(), seed=2)
    assert not torch.equal(unlike.batches.next()[0], plain.batches.next()[0])


@pytest.mark.parametrize("method", ["layer", "batch-renormalization", "bnp", FOUR_THINGS])
def test_a_killed_training_goes_on_and_meters_see_the_model_before_the_step(method):
    seen = []

    def measure(at):
        seen.append((at.model.output.weight.detach().clone(), at.inputs))
        return float(at.inputs.sum())

    def make():
        return ClassifierTraining(recipe(method), 0, {"sum": Meter(frozenset({0, 7}), measure)})

    whole = as_json(run(make()).numbers())
    assert killed_at(5, make) == whole
    assert whole["sum"]["steps"] == [0, 7]
    assert torch.equal(seen[0][0], make().model.output.weight)
    assert torch.equal(seen[0][1], make().batches.next()[0])


@pytest.mark.parametrize(
    ("method", "largest", "first"),
    [
        ("none", 3e30, 3e30),
        ("bnp", 3e30, 3e30),
        ("bnp", 1e25, 1.0),  # with no weights the loss is finite, and the variance is not
    ],
)
def test_what_diverges_only_counts(method, largest, first):
    inputs = torch.full((24, 1, 2, 2), first)
    inputs[::2] = largest
    train = Images(inputs, images(24).labels)
    training = ClassifierTraining(recipe(method, train=train), 0)
    if first == 1.0:
        training.model.output.weight.data.zero_()
    numbers = run(training).numbers()
    assert training.done == training.recipe.steps
    assert numbers["diverged"] is not None
    assert numbers["accuracies"] == []


def test_accuracy_is_in_evaluation_mode_and_leaves_the_mode():
    model = ClassifierTraining(recipe("batch"), 0).model
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert 0 <= accuracy(model, images(7, 2)) <= 1
    assert model.training
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert accuracy(model, images(1, 2)) in (0.0, 1.0)


# Learning rates that are tried on images kept back


def tuned(method="bnp"):
    meters = {"theorems": Meter(frozenset({1}), lambda at: [at.step])}
    return TunedTraining("tuned", {}, Plan(recipe(method), (1e-4, 0.3), 1, (5, 6), meters))


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
    assert [trial["learning_rate"] for trial in numbers["trials"]] == [1e-4, 0.3]
    rate = max(numbers["trials"], key=_merit)["learning_rate"]
    found = [(one["seed"], one["learning_rate"], len(one["losses"])) for one in numbers["runs"]]
    assert found == [(5, rate, 2), (6, rate, 2)]
    assert numbers["rate"] == rate
    assert numbers["runs"][0]["theorems"] == {"steps": [1], "values": [[1]]}
    assert "theorems" not in numbers["runs"][1].keys() | numbers["trials"][0].keys()


def trial(accuracy, loss, diverged=None):
    return {"accuracies": [accuracy], "losses": [loss], "diverged": diverged}


def test_what_makes_a_trial_better():
    assert _merit(trial(0.9, 5.0)) > _merit(trial(0.8, 0.1))
    assert _merit(trial(0.9, 0.1)) > _merit(trial(0.9, 0.2))
    assert _merit(trial(0.0, 9.0)) > _merit(trial(1.0, 0.0, diverged=3))


@pytest.mark.parametrize("step", [3, 5, 23, 33])
def test_a_killed_piece_goes_on_as_if_it_had_not_been(step):
    assert killed_at(step, tuned) == as_json(run(tuned()).numbers())


@pytest.mark.parametrize(("rates", "seeds"), [((), (0,)), ((0.1,), ())])
def test_nothing_to_try_is_refused(rates, seeds):
    with pytest.raises(ValueError, match="give at least one of each"):
        Plan(recipe(), rates, 1, seeds)
