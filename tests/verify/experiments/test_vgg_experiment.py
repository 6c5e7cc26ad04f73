"""The experiment of the VGG network, for few steps, and on numbers that are made up."""

from copy import deepcopy

import pytest
import torch
from landscape_numbers import meter, training

from theory.nn.noisy_batch_normalization import ActivationNoise
from verify.datasets import cifar
from verify.datasets.dataset import DataError, Dataset, Images
from verify.experiments.evidence import as_json
from verify.experiments.experiment import Setting
from verify.experiments.vgg import experiment as vgg
from verify.experiments.vgg.experiment import EXPERIMENT, NOISE, SHOWN, Size, Task

TINY = Size(depth=11, width=1, batch=4, steps=2, measured=2, step_sizes=2)
SMOKE = Setting("smoke")


@pytest.fixture
def _tiny(monkeypatch):
    monkeypatch.setitem(vgg.ON_DIGITS, "smoke", TINY)


def run(piece, steps=None):
    for _ in range(piece.steps if steps is None else steps):
        piece.step()
    return piece


def first_kernel(network):
    return network.get_submodule("stage1.layer1.convolution").weight


@pytest.mark.usefixtures("_tiny")
def test_every_network_starts_from_the_same_weights_and_batches():
    none, noisy, alone = (Task(name, 0.1, 3, SMOKE) for name in ("none", "noisy-batch", NOISE))
    assert torch.equal(first_kernel(none.model()), first_kernel(noisy.model()))
    assert torch.equal(first_kernel(none.model()), first_kernel(alone.model()))
    assert torch.equal(none.batches().next()[0], noisy.batches().next()[0])
    assert none.batches().next()[0].shape == (4, 1, 32, 32)


@pytest.mark.usefixtures("_tiny")
def test_noise_alone_is_the_standard_network_with_noise_before_each_relu():
    network = Task(NOISE, 0.1, 0, SMOKE).model()
    layers = vgg.convolutional_layers(network)
    assert len(layers) == 8
    assert all(isinstance(layer.normalization, ActivationNoise) for layer in layers.values())
    x = Task(NOISE, 0.1, 0, SMOKE).batches().next()[0]
    standard = Task("none", 0.1, 0, SMOKE).model()
    assert not torch.equal(network(x), standard(x))
    torch.testing.assert_close(network.eval()(x), standard.eval()(x))


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("name", ["noisy-batch", NOISE])
def test_a_killed_piece_goes_on_as_if_it_had_not_been(name):
    task = Task(name, 0.1, 1, SMOKE)
    whole = run(vgg._training(task))
    killed = run(vgg._training(task), steps=1)
    resumed = vgg._training(task)
    resumed.load_state_dict(deepcopy(killed.state_dict()))
    assert as_json(run(resumed, 1).numbers()) == as_json(whole.numbers())
    assert set(whole.numbers()["histograms"]["values"][0]) == set(SHOWN)


@pytest.mark.usefixtures("_tiny")
def test_images_in_colour_from_a_folder(monkeypatch, tmp_path):
    generator = torch.Generator().manual_seed(0)
    pictures = Images(torch.rand(20, 3, 32, 32, generator=generator), torch.arange(20) % 10)
    monkeypatch.setattr(cifar, "load_cifar10", lambda _: Dataset(pictures, pictures.first(4), 10))
    monkeypatch.setitem(vgg.ON_CIFAR, "smoke", TINY)
    vgg.load.cache_clear()
    piece = vgg._training(Task("none", 0.1, 0, Setting("smoke", data=tmp_path)))
    assert run(piece, 1).numbers()["data"] == "CIFAR-10"
    assert piece.model(pictures.inputs).shape == (20, 10)
    vgg.load.cache_clear()


def test_a_folder_without_the_images_is_refused(tmp_path):
    with pytest.raises(DataError, match="CIFAR-10: expected"):
        EXPERIMENT.pieces(Setting("smoke", data=tmp_path))


def made_up():
    """Numbers in which everything that the paper sees is there."""
    rows = {
        ("none", 0.1): (100.0, 6, 0.80, 0.1, 0.99),
        ("batch", 0.1): (1.0, 2, 0.95, 0.1, 0.2),
        ("noisy-batch", 0.1): (1.0, 2, 0.94, 1.0, 0.2),
        ("l1", 0.1): (1.0, 2, 0.96, 1.0, 0.2),
        ("l2", 0.1): (1.0, 2, 0.95, 1.0, 0.2),
        ("linf", 0.1): (1.0, 2, 0.94, 1.0, 0.2),
        ("none", 0.5): (1.0, 20, 0.1, 0.1, 0.2),
        ("batch", 0.5): (1.0, 2, 0.9, 0.1, 0.2),
        (NOISE, 0.1): (1.0, 20, 0.1, 0.1, 0.2),
    }
    found = {}
    for (name, rate), (factor, learnt, accuracy, change, cosine) in rows.items():
        losses = [2.0 if step < learnt else 0.5 for step in range(20)]
        moments = [
            {layer: {"means": [change * step], "variances": [change * step]} for layer in SHOWN}
            for step in range(20)
        ]
        found[f"{name} {rate}"] = training(
            name,
            factor,
            losses=losses,
            cosine=cosine,
            layers=SHOWN,
            learning_rate=rate,
            data="digits",
            batch_size=64,
            accuracy=meter(
                [0, 19], [{"batch": 0.1, "test": 0.1}, {"batch": accuracy, "test": accuracy}]
            ),
            moments=meter(range(20), moments),
        ) | {"steps": 400}
    return found


def appeared(found):
    return {o.source + ": " + o.statement: o.appeared for o in EXPERIMENT.observations(found)}


def test_all_that_the_paper_sees_appears_in_numbers_where_it_is():
    told = appeared(made_up())
    undecided = [statement for statement, seen in told.items() if seen is None]
    assert len(undecided) == 1
    assert "83%" in undecided[0]  # said of CIFAR-10
    assert False not in told.values()


def change(rows):
    """Numbers as made up, but for the trainings that are named."""
    found = made_up()
    for name, values in rows.items():
        found[name] |= values
    return appeared(found)


def flat(accuracy):
    return {"accuracy": meter([0], [{"batch": accuracy, "test": accuracy}])}


def slow():
    return {"loss": meter(range(20), [2.0] * 20)}


def still():
    same = {layer: {"means": [0.0], "variances": [0.0]} for layer in SHOWN}
    return {"moments": meter(range(3), [same] * 3)}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"batch 0.1": slow()}, ["improvement in optimization", "almost non-existent"]),
        ({"batch 0.1": flat(0.8)}, ["in generalization", "almost non-existent"]),
        ({"none 0.5": flat(0.9)}, ["larger, learning rates"]),
        ({"noisy-batch 0.1": slow()}, ["almost non-existent", "much better than the standard"]),
        ({f"{NOISE} 0.1": flat(0.5)}, ["prevents it from training"]),
        ({"l1 0.1": still()}, ["l1 normalisation leads"]),
        ({"noisy-batch 0.1": still()}, ["less stable distributions"]),
        ({"batch 0.1": still()}, ["seems to be marginal"]),
        ({"linf 0.1": flat(0.9)}, ["perform comparably"]),
    ],
)
def test_each_observation_can_fail(rows, words):
    told = change(rows)
    failed = [statement for statement, seen in told.items() if seen is False]
    assert len(failed) == len(words)
    assert all(any(word in statement for statement in failed) for word in words)


def test_with_the_standard_network_the_smoother_one_no_landscape_improves():
    found = made_up()
    for numbers in found.values():
        names = {"none": "batch", "batch": "none"}
        numbers["normalization"] = names.get(numbers["normalization"], numbers["normalization"])
    told = appeared(found)
    landscape = [seen for statement, seen in told.items() if "S-landscape" in statement]
    assert landscape == [False] * 3
    two_orders = [seen for statement, seen in told.items() if "two orders" in statement]
    assert two_orders == [False]


def test_figures_are_drawn_of_what_there_is():
    found = made_up()
    found["none 0.1"]["landscape"]["values"][3]["loss_variation"][1] = None
    drawn = EXPERIMENT.figures(found)
    assert set(drawn) >= {"training", "accuracy", "moments", "activations", "landscape"}
    for figure in drawn.values():
        assert "seed" in figure.get_suptitle()
        assert "digits" in figure.get_suptitle()
