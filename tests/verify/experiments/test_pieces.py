"""What each experiment runs: its networks, data and rates, and a few steps of its pieces."""

import pytest
import torch
from classifiers import killed_at, run

from theory.nn.noisy_batch_normalization import ActivationNoise
from verify.datasets import cifar
from verify.datasets.dataset import DataError, Dataset, Images
from verify.experiments import find
from verify.experiments.conditioning import experiment as conditioning
from verify.experiments.conditioning import random_batches
from verify.experiments.cost import experiment as cost
from verify.experiments.deep_linear import experiment as deep_linear
from verify.experiments.evidence import as_json
from verify.experiments.experiment import Setting
from verify.experiments.small_batch import experiment as small_batch
from verify.experiments.small_batch import learning_rates
from verify.experiments.vgg import experiment as vgg
from verify.experiments.vgg.experiment import NOISE, SHOWN, Task

SMOKE = Setting("smoke")
TINY = {
    deep_linear: deep_linear.Profile(steps=3, measured=2, step_sizes=2, tried=5),
    conditioning: conditioning.Profile(
        images=240, epochs=1, measured=2, examined_images=12, random_batches=20
    ),
    small_batch: small_batch.Profile(
        images={"dense": 75, "convolutional": 75},
        epochs={"dense": 1, "convolutional": 1},
        trial_epochs=1,
        grid=(0.1,),
        examined={"dense": (60,), "convolutional": ()},
        examined_images={"dense": 12, "convolutional": 4},
    ),
    cost: cost.Profile(images=20, rounds=5),
}
SMALL_VGG = vgg.Size(depth=11, width=1, batch=4, steps=2, measured=2, step_sizes=2)


@pytest.fixture
def pieces(monkeypatch):
    """Return the pieces of an experiment made small, by name."""
    for experiment, profile in TINY.items():
        monkeypatch.setitem(experiment.PROFILES, "smoke", profile)
    for sizes in (vgg.ON_DIGITS, vgg.ON_CIFAR):
        monkeypatch.setitem(sizes, "smoke", SMALL_VGG)
    monkeypatch.setattr(deep_linear, "DEPTH", 5)
    monkeypatch.setattr(deep_linear, "theorems", lambda *_: lambda _: [])
    monkeypatch.setattr(cost, "SHAPE", (1, 3, 3))
    monkeypatch.setattr(cost, "can_compile", lambda device: False)  # which would take seconds
    setting = Setting("smoke", (0, 1))
    return lambda name: {piece.name: piece for piece in find(name).pieces(setting)}


# The deep linear network


def test_every_normalisation_starts_from_the_same_weights_and_data(pieces):
    made = pieces("dln")
    one, other, unlike = (made[name] for name in ("none, seed 0", "l1, seed 0", "none, seed 1"))
    assert torch.equal(one.model.layer3.linear.weight, other.model.layer3.linear.weight)
    for a, b in zip(one.batches.next(), other.batches.next(), strict=True):
        assert torch.equal(a, b)
    assert not torch.equal(one.batches.next()[0], unlike.batches.next()[0])
    assert set(run(made["batch, seed 1"]).numbers()["shift"]["values"][0]) == {"layer5"}
    assert run(made["none at learning rate 0.001, seed 0"]).numbers()["diverged"] == 2


def test_targets_are_linear_in_the_inputs_and_the_loss_is_their_sum():
    inputs, targets = deep_linear.data(0)
    assert inputs.shape == targets.shape == (1000, 10)
    fitted = torch.linalg.lstsq(inputs, targets).solution
    torch.testing.assert_close(inputs @ fitted, targets)
    assert 0.5 < float(fitted.square().mean()) < 2
    assert float(deep_linear.sum_of_squares(inputs, inputs + 0.5)) == pytest.approx(2500)


# The VGG network


@pytest.mark.usefixtures("pieces")
def test_noise_alone_is_the_standard_network_with_noise_before_each_relu():
    none, noisy, alone = (Task(name, 0.1, 3, SMOKE) for name in ("none", "noisy-batch", NOISE))
    first = [task.model().get_submodule("stage1.layer1.convolution") for task in (none, noisy)]
    assert torch.equal(*(convolution.weight for convolution in first))
    x = none.batches().next()[0]
    assert x.shape == (4, 1, 32, 32)
    assert torch.equal(x, noisy.batches().next()[0])
    network, standard = alone.model(), none.model()
    layers = vgg.convolutional_layers(network).values()
    assert len(layers) == 8
    assert all(isinstance(layer.normalization, ActivationNoise) for layer in layers)
    assert not torch.equal(network(x), standard(x))
    torch.testing.assert_close(network.eval()(x), standard.eval()(x))


def test_noisy_training_that_was_killed_goes_on_as_if_it_had_not_been(pieces):
    def make():
        return pieces("vgg")["noisy-batch at learning rate 0.1, seed 1"]

    whole = as_json(run(make()).numbers())
    assert killed_at(1, make) == whole
    assert set(whole["histograms"]["values"][0]) == set(SHOWN)


@pytest.mark.usefixtures("pieces")
def test_images_in_colour_come_from_a_folder(monkeypatch, tmp_path):
    with pytest.raises(DataError, match="CIFAR-10: expected"):
        find("vgg").pieces(Setting("smoke", data=tmp_path))
    generator = torch.Generator().manual_seed(0)
    pictures = Images(torch.rand(20, 3, 32, 32, generator=generator), torch.arange(20) % 10)
    monkeypatch.setattr(cifar, "load_cifar10", lambda _: Dataset(pictures, pictures.first(4), 10))
    piece, *_ = find("vgg").pieces(Setting("smoke", data=tmp_path))
    assert run(piece, 1).numbers()["data"] == "CIFAR-10"
    assert piece.model(pictures.inputs).shape == (20, 10)
    vgg.load.cache_clear()


# Condition numbers


def test_condition_numbers_are_of_the_papers_network_at_its_rates(pieces):
    made = pieces("conditioning")
    assert " / ".join(made) == (
        "none, seed 0 / bnp, seed 0 / none, seed 1 / bnp, seed 1 / random batches"
    )
    piece = made["bnp, seed 1"]
    sizes = [tuple(p.shape) for p in piece.model.parameters()]
    assert sizes == [(100, 64), (100,), (100, 100), (100,), (10, 100), (10,)]
    assert (made["none, seed 0"].recipe.learning_rate, piece.recipe.learning_rate) == (0.1, 0.5)
    numbers = as_json(run(piece).numbers())
    assert numbers["batch"]["steps"] == numbers["many"]["steps"] == [0, 2]
    assert numbers["batch"]["values"][0]["rank"] == 60 < numbers["many"]["values"][0]["rank"]
    assert numbers["theorems"]["steps"] == [0, 3]
    for value in numbers["batch"]["values"]:
        # With eps_1 = 1/100 kappa(D) is at most 101 under the root, or 1/sqrt(eps_2) if small.
        assert value["guarded_scaling"] <= max(101**0.5, 100.0, 1.01 * value["largest_deviation"])
        assert value["hessian"] > value["preconditioned"] > 1


def test_random_batches_go_on_where_they_were_and_only_wide_ones_get_worse(monkeypatch):
    monkeypatch.setattr(random_batches, "SIZES", ((2, 8), (4, 8), (9, 8), (12, 8)))

    def make():
        return random_batches.RandomBatches(60)

    numbers = as_json(run(make()).numbers())
    assert killed_at(1, make) == numbers
    assert numbers["count"] == 60
    for one in numbers["found"]:
        is_tall = one["N"] > one["n"]
        assert 0 < one["largest"] <= (1 if is_tall else 10)
        assert one["worse"] == 0 or not is_tall
    assert max(one["largest"] for one in numbers["found"]) > 1.5


# Small batches


def test_every_method_is_tried_at_every_batch_size_that_it_can_have(pieces):
    made = pieces("small-batch")
    assert len(made) == 2 * (3 * 5 + 3) + 2 + len(small_batch.BATCHES)
    assert {"dense, batch 2, four-things", "dense, batch 1, batch"}.isdisjoint(made)
    rates = {name: piece.plan.rates for name, piece in made.items() if "one example" not in name}
    assert rates["convolutional, batch 2, four-things"] == (0.0001, 0.01)
    assert rates["dense, batch 6, layer"] == (0.05, 0.1)
    assert rates["convolutional, batch 60, bnp"] == (0.1,)
    for network, shape in (("dense", (1, 8, 8)), ("convolutional", (1, 32, 32))):
        inputs = made[f"{network}, batch 60, none"].plan.recipe.train.inputs
        assert inputs.shape[1:] == shape
    refused = run(made["convolutional, one example"]).numbers()["refused"]
    assert set(refused) == {"batch", "batch-renormalization"}
    assert all("1" in said for said in refused.values())


def test_a_training_in_small_batches_is_examined_at_its_last_layers(pieces):
    numbers = as_json(run(pieces("small-batch")["dense, batch 60, batch"]).numbers())
    assert len(numbers["runs"]) == 2
    (examined,) = numbers["runs"][0]["theorems"]["values"][:1]
    assert {found["layer"] for found in examined} == {"output", "layer3.normalization"}


@pytest.mark.parametrize(
    ("network", "data", "batch", "rates"),
    [
        ("dense", "digits", 60, {"none": 1e-1, "batch": 5e-1, "bnp": 5e-1, "layer": 1e-1}),
        ("dense", "CIFAR-10", 60, {"none": 1e-2, "batch": 5e-1, "bnp": 1e-1, "layer": 5e-1}),
        ("dense", "CIFAR-10", 6, {"none": 5e-3, "bnp": 5e-2, "batch-renormalization": 5e-2}),
        ("dense", "CIFAR-10", 1, {"none": 5e-4, "batch": None, "bnp": 1e-1, "layer": 1e-2}),
        ("dense", "digits", 6, {"bnp": 5e-2}),
        ("convolutional", "CIFAR-10", 128, {"none": 1e-1, "bnp": 1e-1, "four-things": 5e-3}),
        ("convolutional", "CIFAR-10", 6, {"none": 1e-3, "bnp": 1e-2, "four-things": 1e-4}),
        ("convolutional", "CIFAR-10", 1, {"none": 1e-3, "bnp": 1e-1, "four-things": 1e-3}),
    ],
)
def test_learning_rates_are_those_of_the_nearest_row_of_the_papers_tables(
    network, data, batch, rates
):
    found = {method: learning_rates.printed(network, data, batch, method) for method in rates}
    assert found == rates


# Cost


def test_every_method_is_timed_in_every_round_and_is_first_in_turn(pieces, monkeypatch):
    killed, resumed = run(pieces("cost")["batch 16"], 3), pieces("cost")["batch 16"]
    resumed.load_state_dict(killed.state_dict())
    first = {method: list(times) for method, times in killed.seconds.items()}
    numbers = run(resumed).numbers()
    assert (numbers["batch"], numbers["images"]) == (16, 20)
    for method in cost.METHODS:
        times = numbers["seconds"][method]
        assert len(times) == 5
        assert min(times) > 0
        assert times[:3] == first[method]
    order, piece = [], pieces("cost")["batch 256"]
    monkeypatch.setattr(cost.Timing, "_epoch", lambda self, subject: order.append(subject) or 1.0)
    run(piece, 4)
    names = {id(subject): name for name, subject in piece.subjects.items()}
    rounds = [[names[id(one)] for one in order[i : i + 4]] for i in range(0, 16, 4)]
    assert [each[0] for each in rounds] == list(cost.METHODS)
    assert all(sorted(each) == sorted(cost.METHODS) for each in rounds)


@pytest.mark.usefixtures("pieces")
@pytest.mark.parametrize(
    ("method", "preconditioned"),
    [
        ("none", None),
        ("batch", None),
        ("bnp", ["layer1.linear", "layer2.linear", "output"]),
        ("bnp, hidden", ["layer2.linear", "output"]),
        (cost.COMPILED, ["layer1.linear", "layer2.linear", "output"]),
    ],
)
def test_each_timed_method_is_what_it_is_called(method, preconditioned):
    subject = cost.Subject(method, "cpu")
    kinds = [type(module).__name__ for module in subject.model.modules()]
    assert kinds.count("BatchNorm1d") == (2 if method == "batch" else 0)
    assert (subject.bnp and list(subject.bnp.preconditioners)) == preconditioned
    if method == cost.COMPILED:
        assert subject.bnp._steps is not cost.Subject("bnp", "cpu").bnp._steps
    else:
        before = subject.model.output.bias.detach().clone()
        subject.step(torch.rand(4, 1, 3, 3), torch.tensor([0, 1, 2, 3]))
        assert not torch.equal(subject.model.output.bias, before)


@pytest.mark.parametrize("found", [False, True])
def test_the_compiled_one_is_timed_where_there_is_a_compiler(monkeypatch, found):
    monkeypatch.setattr(cost, "can_compile", lambda device: found)
    (piece, *_) = find("cost").pieces(SMOKE)
    assert piece.methods == cost.METHODS + (cost.COMPILED,) * found
