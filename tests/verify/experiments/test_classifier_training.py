"""A classifier's training against the loop written out; divergence, meters, resumption."""

import pytest
import torch
from classifiers import images, killed_at, recipe, run
from torch.nn.functional import cross_entropy

from theory.nn.bnp import BNP
from verify.datasets.dataset import Images
from verify.experiments.classifier_training import FOUR_THINGS, ClassifierTraining, accuracy
from verify.experiments.evidence import as_json
from verify.experiments.metered_training import Meter


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


@pytest.mark.parametrize("method", ["none", "bnp"])
def test_what_diverges_only_counts(method):
    train = Images(torch.full((24, 1, 2, 2), 3e30), images(24).labels)
    training = run(ClassifierTraining(recipe(method, train=train), 0))
    assert training.done == training.recipe.steps
    assert training.numbers()["diverged"] is not None
    assert training.numbers()["accuracies"] == []


def test_squares_that_overflow_in_bnp_are_divergence():
    inputs = torch.full((24, 1, 2, 2), 1.0)
    inputs[::2] = 1e25  # the loss is finite, the variance is not
    train = Images(inputs, images(24).labels)
    training = ClassifierTraining(recipe("bnp", train=train, batch=24), 0)
    training.model.output.weight.data.zero_()
    assert run(training, 1).numbers()["diverged"] == 0


def test_accuracy_is_in_evaluation_mode_and_leaves_the_mode():
    model = ClassifierTraining(recipe("batch"), 0).model
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert 0 <= accuracy(model, images(7, 2)) <= 1
    assert model.training
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert accuracy(model, images(1, 2)) in (0.0, 1.0)
