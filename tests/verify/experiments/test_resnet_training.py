"""One training: the step it takes, the same numbers twice, and taken up from anywhere."""

import copy
from dataclasses import replace
from functools import partial
from math import inf

import pytest
import torch
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
    return InMemory("some", True, Dataset(images, images.first(7), 10), cropped_and_flipped, same)


def same(images):
    return images


def training(method, **changed):
    make = partial(
        resnet,
        (3, 8, 8),
        blocks=1,
        normalization=NORMALIZATIONS[method],
        scale=FAMILY.recipes[method].scale,
    )
    return replace(
        Training(
            network="small",
            method=method,
            family=FAMILY,
            model=lambda generator: make(generator=generator),
            source=data,
            batch=6,
        ),
        **changed,
    )


def trained(method, steps, seed=0, **changed):
    piece = ResNetTraining(training(method, **changed), seed, steps)
    while piece.done < steps:
        piece.step()
    return piece


@pytest.mark.parametrize("method", METHODS)
def test_steps_are_those_of_a_loop_written_out(method):
    piece = ResNetTraining(training(method), 0, 5)
    model = copy.deepcopy(piece.model)
    batches, generator = copy.deepcopy(piece.batches), copy.deepcopy(piece.generator)
    bnp = BNP(model) if "bnp" in method else None
    momenta = [torch.zeros_like(p) for p in model.parameters()]
    decay = FAMILY.recipes[method].weight_decay
    for step in range(4):
        inputs, labels = piece.source.training(batches.next()[0], generator)
        model.zero_grad()
        cross_entropy(model(inputs), labels).backward()
        if bnp is not None:
            bnp.precondition()
        rate = FAMILY.learning_rate(method, step, 3)
        with torch.no_grad():
            for p, momentum in zip(model.parameters(), momenta, strict=True):
                momentum.mul_(0.9).add_(p.grad + decay * p)
                p.sub_(rate * momentum)
        piece.step()
    for (name, p), q in zip(piece.model.named_parameters(), model.parameters(), strict=True):
        # Four steps of sums in another order, in single precision.
        torch.testing.assert_close(p, q, rtol=2.0**-14, atol=2.0**-18, msg=name)
    assert piece.measured["first_step"]["rate"] == 0.01


def test_a_loop_without_weight_decay_or_momentum_is_seen():
    """So that the comparison above could fail."""
    piece, plain = (ResNetTraining(training("group"), 0, 9) for _ in range(2))
    for group in plain.optimizer.param_groups:
        group["momentum"] = 0.0
    for _ in range(4):
        piece.step()
        plain.step()
    with pytest.raises(AssertionError):
        torch.testing.assert_close(
            piece.model.output.weight, plain.model.output.weight, rtol=2.0**-14, atol=2.0**-18
        )


@pytest.mark.parametrize("method", METHODS)
def test_two_runs_with_one_seed_agree_number_for_number(method):
    first, second, other = (trained(method, 4, seed).numbers() for seed in (1, 1, 2))
    assert as_json(first) == as_json(second)
    assert first["training_loss"] != other["training_loss"]


@pytest.mark.parametrize("method", METHODS)
def test_a_training_that_is_taken_up_anywhere_ends_alike(method):
    whole = trained(method, 7)
    for stop in (1, 3, 5):
        first = ResNetTraining(training(method), 0, 7)
        for _ in range(stop):
            first.step()
        state = copy.deepcopy(first.state_dict())
        second = ResNetTraining(training(method), 0, 7)
        second.load_state_dict(state)
        while second.done < 7:
            second.step()
        assert as_json(second.numbers()) == as_json(whole.numbers())
        for p, q in zip(second.model.parameters(), whole.model.parameters(), strict=True):
            assert torch.equal(p, q)


def test_epochs_are_counted_and_tested():
    numbers = trained("batch", 7).numbers()
    assert numbers["steps_per_epoch"] == 3
    assert len(numbers["training_loss"]) == len(numbers["test_accuracy"]) == 2
    assert all(0 <= share <= 1 for share in numbers["test_accuracy"])
    assert all(7 * share == round(7 * share) for share in numbers["test_accuracy"])


def test_the_loss_after_the_first_step_leaves_running_statistics_alone():
    piece = trained("batch", 1)
    assert int(piece.model.normalization.num_batches_tracked) == 1
    assert piece.measured["first_step"]["after"] != piece.measured["first_step"]["before"]


@pytest.mark.parametrize("method", ["group", "bnp"])
def test_divergence_is_kept_and_the_rest_only_counts(method):
    piece = trained(method, 4, source=partial(data, inf))
    numbers = as_json(piece.numbers())
    assert numbers["diverged"] == 0
    assert numbers["steps"] == 4
    assert numbers["training_loss"] == [None]
    assert numbers["first_step"] == {}


def test_all_methods_start_from_the_same_draws_and_see_the_same_order():
    pieces = [ResNetTraining(training(method), 0, 1) for method in METHODS]
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

    piece = trained("group", 3, examination=examination)
    assert [e["step"] for e in piece.numbers()["theorems"]] == [0, 3]
    assert not torch.equal(seen[0][0], seen[1][0])
    assert seen[0][1] == 6


def test_processes_share_each_batch():
    whole, *halves = (
        ResNetTraining(training("group", process=process), 0, 1)
        for process in ((0, 1), (0, 2), (1, 2))
    )
    seen = []
    for piece in (whole, *halves):
        piece.training = replace(
            piece.training, examination=lambda model, inputs, labels: seen.append(inputs)
        )
        piece._train = lambda inputs, labels: None
        piece.step()
    assert torch.equal(seen[0][0::2], seen[2])
    assert torch.equal(seen[0][1::2], seen[4])
