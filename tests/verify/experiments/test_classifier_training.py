"""A classifier's training against the loop written out; divergence, meters, resumption."""

from copy import deepcopy

import pytest
import torch
from classifiers import images, recipe
from torch.nn.functional import cross_entropy

from theory.nn.bnp import BNP
from verify.datasets.dataset import Images
from verify.experiments.classifier_training import (
    FOUR_THINGS,
    METHODS,
    ClassifierTraining,
    accuracy,
)
from verify.experiments.evidence import as_json
from verify.experiments.metered_training import Meter


def train(training, steps=None):
    for _ in range(training.recipe.steps if steps is None else steps):
        training.step()
    return training


@pytest.mark.parametrize("method", METHODS)
def test_it_is_the_loop_written_out(method):
    found = train(ClassifierTraining(recipe(method), seed=3))
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
    assert found.numbers()["losses"] == pytest.approx(losses, rel=1e-6)
    assert found.numbers()["accuracies"] == accuracies


def test_methods_start_alike_and_see_the_same_batches():
    plain, other = (ClassifierTraining(recipe(method), seed=1) for method in ("none", "bnp"))
    for p, q in zip(plain.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(p, q)
    assert torch.equal(plain.batches.next()[0], other.batches.next()[0])
    unlike = ClassifierTraining(recipe(), seed=2)
    assert not torch.equal(unlike.batches.next()[0], plain.batches.next()[0])


@pytest.mark.parametrize("method", [*METHODS, FOUR_THINGS])
def test_a_killed_training_goes_on_as_if_it_had_not_been(method):
    meter = {"loss now": Meter(frozenset({0, 7}), lambda at: float(at.inputs.sum()))}
    whole = train(ClassifierTraining(recipe(method), 0, meter))
    killed = train(ClassifierTraining(recipe(method), 0, meter), 5)
    resumed = ClassifierTraining(recipe(method), 0, meter)
    resumed.load_state_dict(deepcopy(killed.state_dict()))
    assert as_json(train(resumed, 7).numbers()) == as_json(whole.numbers())
    assert whole.numbers()["loss now"]["steps"] == [0, 7]


def test_a_meter_sees_the_model_before_the_step_with_its_batch():
    seen = {}

    def measure(at):
        seen["weights"] = at.model.output.weight.detach().clone()
        seen["batch"] = at.inputs
        return at.step

    training = ClassifierTraining(recipe(), 0, {"meter": Meter(frozenset({0}), measure)})
    before = training.model.output.weight.detach().clone()
    expected = ClassifierTraining(recipe(), 0).batches.next()[0]
    training.step()
    assert torch.equal(seen["weights"], before)
    assert torch.equal(seen["batch"], expected)


@pytest.mark.parametrize("method", ["none", "bnp"])
def test_what_diverges_only_counts(method):
    bad = images(24)
    inputs = bad.inputs.clone()
    inputs[:] = 3e30
    training = ClassifierTraining(recipe(method, train=Images(inputs, bad.labels)), 0)
    train(training)
    assert training.done == training.recipe.steps
    assert training.numbers()["diverged"] is not None
    assert training.numbers()["accuracies"] == []


def test_squares_that_overflow_in_bnp_are_divergence():
    labels = images(24).labels
    inputs = torch.full((24, 1, 2, 2), 1.0)
    inputs[::2] = 1e25  # the loss is finite, the variance is not
    training = ClassifierTraining(recipe("bnp", train=Images(inputs, labels), batch=24), 0)
    training.model.output.weight.data.zero_()
    training.step()
    assert training.numbers()["diverged"] == 0


def test_accuracy_is_in_evaluation_mode_and_leaves_the_mode():
    training = ClassifierTraining(recipe("batch"), 0)
    model = training.model
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert 0 <= accuracy(model, images(7, 2)) <= 1
    assert model.training
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert accuracy(model, images(1, 2)) in (0.0, 1.0)
