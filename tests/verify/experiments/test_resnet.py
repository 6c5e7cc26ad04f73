"""The experiment as a whole: its pieces, sizes, recipes and data, and what is examined."""

import warnings

import pytest
import torch

from theory.nn.networks.resnet import preactivation_resnet, resnet, resnet18
from verify.datasets.dataset import DataError
from verify.experiments.experiment import Setting
from verify.experiments.resnet import theorems as resnet_theorems
from verify.experiments.resnet.experiment import SUBJECTS, _steps, check_data, pieces
from verify.experiments.resnet.recipes import FAMILIES


@pytest.mark.parametrize(("profile", "trained"), [("smoke", 0), ("default", 12), ("deep", 12)])
def test_every_method_that_the_paper_tries_is_a_piece(profile, trained):
    made = pieces(Setting(profile, (0, 1)))
    assert len({piece.name for piece in made}) == len(made) == 2 * (4 + 4 + 3) + trained
    untrained = made[: len(made) - trained]
    assert all(piece.steps == 1 for piece in untrained), "without data, one step"
    assert all(piece.steps == 40 * (1437 // 64) for piece in made[len(made) - trained :])
    examined = [piece.training.examination is not None for piece in made[:8]]
    assert examined == [True] * 4 + [False] * 4, "for the first seed alone"
    if trained:
        assert made[3].name == "ResNet-110, group+bnp, seed 0"
        assert sum(p.numel() for p in made[0].model.parameters()) == 1_727_962


def test_epochs_are_those_asked_for_on_data_of_the_user(tmp_path):
    class Given(list):
        is_given = True

    def steps(images, **asked):
        return _steps(SUBJECTS[0], lambda: images, Setting(data=tmp_path, **asked))

    batch = SUBJECTS[0].batch
    given, own = Given(range(3 * batch + 1)), Given(range(batch))
    own.is_given = False
    assert steps(given, epochs=2) == steps(given, epochs=2, profile="smoke") == 6
    assert steps(given, profile="deep") == 3 * SUBJECTS[0].family.epochs
    assert steps(given) == steps(own, epochs=2) == 1


def test_fewer_images_than_a_batch_are_refused(tmp_path):
    for part in ("train", "val"):
        (tmp_path / part / "n01").mkdir(parents=True)
        (tmp_path / part / "n01" / "a.jpeg").touch()
    with pytest.raises(DataError, match=r"has 1 image of imagenet to train on; .* 256 in a batch"):
        SUBJECTS[2].source(tmp_path, "cpu")


@pytest.mark.parametrize(
    ("network", "shape", "batch", "group", "weight_decay", "scale"),
    [
        ("ResNet-110", (3, 32, 32), 128, 4, 1.5e-4, 0.1),
        ("pre-activation ResNet-110", (3, 32, 32), 128, 4, 2e-4, 0.4),
        ("ResNet-18", (3, 224, 224), 256, 32, 8.5e-4, 1.0),
    ],
)
def test_sizes_and_recipes_are_the_papers(network, shape, batch, group, weight_decay, scale):
    (subject,) = (one for one in SUBJECTS if one.name == network)
    assert (subject.shape, subject.batch, subject.group_size) == (shape, batch, group)
    recipes = FAMILIES[network].recipes
    assert recipes["group+bnp"].weight_decay == weight_decay
    assert recipes["group+bnp"].scale == scale
    assert recipes["batch"].weight_decay == 1e-4
    assert ("bnp" in recipes) == (network != "ResNet-18"), "N/A in the table"


EPOCH = 390


@pytest.mark.parametrize(
    ("network", "method", "rates"),
    [
        ("ResNet-110", "batch", {0: 0.01, 399: 0.01, 400: 0.1, 80 * EPOCH: 0.01}),
        ("ResNet-110", "bnp", {0: 0.01, 400: 0.1, 120 * EPOCH - 1: 0.01, 120 * EPOCH: 1e-3}),
        ("ResNet-110", "group", {0: 0.01, EPOCH // 2: 0.055, EPOCH: 0.1, 80 * EPOCH - 1: 0.1}),
        ("ResNet-110", "group+bnp", {0: 0.01, EPOCH // 2: 0.055, EPOCH: 0.1, 163 * EPOCH: 1e-3}),
        ("pre-activation ResNet-110", "batch", {400: 0.1, 150 * EPOCH: 0.01, 220 * EPOCH: 1e-3}),
        ("pre-activation ResNet-110", "bnp", {0: 0.01, 5000: 0.01}),
        ("ResNet-18", "batch", {0: 0.1, 30 * EPOCH: 0.01, 60 * EPOCH: 1e-3, 90 * EPOCH: 1e-4}),
    ],
)
def test_learning_rates_jump_warm_up_and_are_divided_by_10(network, method, rates):
    found = {step: FAMILIES[network].learning_rate(method, step, EPOCH) for step in rates}
    assert found == pytest.approx(rates, rel=1e-14)


def test_a_piece_takes_its_step():
    piece = pieces(Setting("smoke", (0,)))[3]
    piece.step()
    numbers = piece.numbers()
    assert (numbers["network"], numbers["method"]) == ("ResNet-8 in colour", "group+bnp")
    assert 0 < numbers["first_step"]["after"] < numbers["first_step"]["before"]
    assert {one["layer"] for one in numbers["theorems"][0]["found"]} == {"output"}


def test_missing_data_are_said(tmp_path):
    check_data(None)
    with pytest.raises(DataError, match="has none of cifar10, cifar100, imagenet"):
        check_data(tmp_path)
    (tmp_path / "cifar-10-batches-bin").mkdir()
    with pytest.warns(UserWarning, match="has no cifar100, no imagenet; what is trained on that"):
        check_data(tmp_path)
    (tmp_path / "cifar-100-binary").mkdir()
    (tmp_path / "train").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_data(tmp_path)


@pytest.mark.parametrize(
    "network",
    [
        lambda **a: resnet((3, 8, 8), blocks=2, **a),
        lambda **a: preactivation_resnet((3, 8, 8), blocks=2, **a),
        lambda **a: resnet18((3, 32, 32), width=8, group_size=8, **a),
    ],
)
def test_a_network_s_end_is_what_comes_after_its_front(network):
    model = network(normalization="batch", generator=torch.Generator().manual_seed(0)).double()
    images = torch.rand(4, *model.images.shape, dtype=torch.float64)
    front, end = resnet_theorems.parted(model)
    assert torch.equal(end(front(images)), model(images))
    assert next(iter(dict(end.named_children()))) == "last_block"


def test_what_is_examined_holds_but_for_what_is_refuted():
    draws = torch.Generator().manual_seed(0)
    model = resnet((3, 8, 8), blocks=1, normalization="batch", generator=draws)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    images = torch.rand(4, 3, 8, 8, generator=draws)
    found = resnet_theorems.examined(model, images, torch.tensor([1, 0, 7, 2]))
    layers = {"last_block.normalization1", "last_block.normalization2"}
    assert {one["layer"] for one in found} == layers
    of = {one["claim"]: one for one in found}
    assert of["S-thm-4.1"]["violated"] == of["S-eq-41-42/eps"]["violated"] == 0
    assert of["S-eq-41-42/eps"]["instances"] == resnet_theorems.UNITS
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
