"""The experiment as a whole: its pieces, its sizes, its data, and what is examined."""

import warnings

import pytest
import torch

from theory.nn.networks.resnet import preactivation_resnet, resnet, resnet18
from verify.datasets.dataset import DataError
from verify.experiments import find
from verify.experiments.experiment import Setting
from verify.experiments.resnet import theorems as resnet_theorems
from verify.experiments.resnet.experiment import SUBJECTS, _steps, check_data, pieces


def test_every_method_that_the_paper_tries_is_a_piece():
    for profile, trained in (("smoke", 0), ("default", 3 * 4), ("deep", 3 * 4)):
        made = pieces(Setting(profile, (0, 1)))
        assert len(made) == 2 * (4 + 4 + 3) + trained
        assert len({piece.name for piece in made}) == len(made)
        untrained = made[: len(made) - trained]
        assert all(piece.steps == 1 for piece in untrained), "without data, one step"
    assert {piece.steps for piece in made[-12:]} == {40 * (1437 // 64)}
    assert made[3].name == "ResNet-110, group+bnp, seed 0"
    assert find("resnet").pieces is pieces


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


def test_networks_have_the_paper_s_sizes():
    sizes = {subject.name: (subject.shape, subject.batch) for subject in SUBJECTS}
    assert sizes == {
        "ResNet-110": ((3, 32, 32), 128),
        "pre-activation ResNet-110": ((3, 32, 32), 128),
        "ResNet-18": ((3, 224, 224), 256),
    }
    (first, *_) = pieces(Setting("default", (0,)))
    assert sum(p.numel() for p in first.model.parameters()) == 1_727_962
    assert first.model.output.out_features == 10


def test_statements_are_examined_for_the_first_seed_alone():
    made = pieces(Setting("smoke", (0, 1)))
    assert [piece.training.examination is not None for piece in made[:8]] == [True] * 4 + [
        False
    ] * 4


def test_a_piece_takes_its_step():
    *_, piece = pieces(Setting("smoke", (0,)))
    piece.step()
    numbers = piece.numbers()
    assert (numbers["network"], numbers["method"]) == ("ResNet-18, an eighth as wide", "group+bnp")
    assert 0 < numbers["first_step"]["after"] < numbers["first_step"]["before"]
    found = numbers["theorems"][0]["found"]
    assert {one["layer"] for one in found} == {"output"}


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
    model = resnet(
        (3, 8, 8), blocks=1, normalization="batch", generator=torch.Generator().manual_seed(0)
    )
    before = {key: value.clone() for key, value in model.state_dict().items()}
    images = torch.rand(4, 3, 8, 8, generator=torch.Generator().manual_seed(1))
    found = resnet_theorems.examined(model, images, torch.tensor([1, 0, 7, 2]))
    assert {one["layer"] for one in found} == {
        "last_block.normalization1",
        "last_block.normalization2",
    }
    of = {one["claim"]: one for one in found}
    assert of["S-thm-4.1"]["violated"] == of["S-eq-41-42/eps"]["violated"] == 0
    assert of["S-eq-41-42/eps"]["instances"] == resnet_theorems.UNITS
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
