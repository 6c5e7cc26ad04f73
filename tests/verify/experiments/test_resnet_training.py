"""One training: the step it takes, the same numbers twice, and taken up from anywhere."""

from dataclasses import replace
from functools import partial
from math import inf

import pytest
import torch
from classifiers import killed_at, run
from torch.nn.functional import cross_entropy

from theory.nn.bnp import BNP
from theory.nn.networks.resnet import resnet
from verify.datasets.dataset import Dataset, Images
from verify.experiments.evidence import as_json
from verify.experiments.resnet.data import InMemory, cropped_and_flipped
from verify.experiments.resnet.recipes import FAMILIES, NORMALIZATIONS
from verify.experiments.resnet.training import ResNetTraining, Training

FAMILY = FAMILIES["ResNet-110"]
METHODS = ("batch", "group", "bnp", "group+bnp")


def data(brightest=1.0):
    generator = torch.Generator().manual_seed(0)
    inputs, labels = torch.rand(20, 3, 8, 8, generator=generator), torch.arange(20) % 10
    images = Images(brightest * inputs, labels)
    shown = Dataset(images, images.first(7), 10)
    return InMemory("some", True, shown, cropped_and_flipped, lambda given: given)


def piece(method, steps, seed=0, **changed):
    normalization, scale = NORMALIZATIONS[method], FAMILY.recipes[method].scale
    make = partial(resnet, (3, 8, 8), blocks=1, normalization=normalization, scale=scale)
    training = Training(
        network="small",
        method=method,
        family=FAMILY,
        model=lambda generator: make(generator=generator),
        source=data,
        batch=6,
    )
    return ResNetTraining(replace(training, **changed), seed, steps)


def loop(trained, steps, factor):
    """Take the steps of a training, with a factor of momentum, in a loop of one's own."""
    method, model, source = trained.training.method, trained.model, trained.source
    bnp = BNP(model) if "bnp" in method else None
    momenta = [torch.zeros_like(p) for p in model.parameters()]
    decay = FAMILY.recipes[method].weight_decay
    for step in range(steps):
        inputs, labels = source.training(trained.batches.next()[0], trained.generator)
        model.zero_grad()
        cross_entropy(model(inputs), labels).backward()
        if bnp is not None:
            bnp.precondition()
        rate = FAMILY.learning_rate(method, step, 3)
        with torch.no_grad():
            for p, momentum in zip(model.parameters(), momenta, strict=True):
                momentum.mul_(factor).add_(p.grad + decay * p)
                p.sub_(rate * momentum)
    return list(model.parameters())


# Four steps of sums in another order, in single precision.
assert_close = partial(torch.testing.assert_close, rtol=2.0**-14, atol=2.0**-18)


@pytest.mark.parametrize("method", METHODS)
def test_steps_are_those_of_a_loop_written_out(method):
    trained = run(piece(method, 5), 4)
    found = list(trained.model.parameters())
    assert_close(found, loop(piece(method, 5), 4, 0.9))
    with pytest.raises(AssertionError):
        assert_close(found, loop(piece(method, 5), 4, 0.0))
    assert trained.measured["first_step"]["rate"] == 0.01


@pytest.mark.parametrize("method", ["batch", "group+bnp"])
def test_a_training_that_is_taken_up_anywhere_ends_alike(method):
    whole = as_json(run(piece(method, 7)).numbers())
    for step in (1, 5):
        assert killed_at(step, partial(piece, method, 7)) == whole
    assert whole["training_loss"] != run(piece(method, 7, seed=2)).numbers()["training_loss"]
    assert whole["steps_per_epoch"] == 3
    assert len(whole["training_loss"]) == len(whole["test_accuracy"]) == 2
    assert all(7 * share == round(7 * share) <= 7 for share in whole["test_accuracy"])


def test_the_loss_after_the_first_step_leaves_running_statistics_alone():
    trained = run(piece("batch", 1))
    assert int(trained.model.normalization.num_batches_tracked) == 1
    assert trained.measured["first_step"]["after"] != trained.measured["first_step"]["before"]


@pytest.mark.parametrize("method", ["group", "bnp"])
def test_divergence_is_kept_and_the_rest_only_counts(method):
    numbers = as_json(run(piece(method, 4, source=partial(data, inf))).numbers())
    assert (numbers["diverged"], numbers["steps"]) == (0, 4)
    assert (numbers["training_loss"], numbers["first_step"]) == ([None], {})


def test_all_methods_start_from_the_same_draws_and_see_the_same_order():
    pieces = [piece(method, 1) for method in METHODS]
    weights = [p.model.stage1.block1.convolution1.weight for p in pieces]
    assert torch.equal(weights[0], weights[1])
    torch.testing.assert_close(weights[2], 0.1 * weights[0])
    orders = [p.batches.next()[0].tolist() for p in pieces]
    assert orders == [orders[0]] * len(METHODS)


def test_statements_are_examined_before_the_first_step_and_after_the_last():
    seen = []

    def examination(model, inputs, labels):
        seen.append((model.output.weight.detach().clone(), len(inputs)))
        return [len(seen)]

    numbers = run(piece("group", 3, examination=examination)).numbers()
    assert [e["step"] for e in numbers["theorems"]] == [0, 3]
    assert not torch.equal(seen[0][0], seen[1][0])
    assert seen[0][1] == 6
