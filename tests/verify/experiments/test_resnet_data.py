"""What the residual networks are shown: crops, flips, mean images, and which data there are."""

from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image

from theory.nn.networks.resnet import resnet18
from verify.datasets.dataset import DataError, Dataset, Images
from verify.datasets.digits import enlarged
from verify.datasets.presence import is_there
from verify.experiments.resnet.data import (
    PADDING,
    FromFolder,
    InMemory,
    cropped_and_flipped,
    source,
    unchanged,
)


def images(n):
    return torch.rand(n, 3, 5, 5, generator=torch.Generator().manual_seed(0))


def places(original, changed):
    """Where in the padded image a crop is: its top, its left, and whether it is mirrored."""
    padded = torch.nn.functional.pad(original, [PADDING] * 4)
    return [
        (top, left, is_mirrored)
        for top in range(2 * PADDING + 1)
        for left in range(2 * PADDING + 1)
        for is_mirrored, crop in enumerate((changed, changed.flip(2)))
        if torch.equal(padded[:, top : top + 5, left : left + 5], crop)
    ]


def test_every_image_becomes_one_of_its_crops_or_mirrored_crops():
    originals = images(300)
    changed = cropped_and_flipped(originals, torch.Generator().manual_seed(1))
    each = [places(*pair) for pair in zip(originals, changed, strict=True)]
    # A crop of a single row of zeros may be its own mirror image; few are.
    assert min(map(len, each)) == 1
    found = [place for places_of_one in each for place in places_of_one]
    tops, lefts, mirrored = (np.array(part) for part in zip(*found, strict=True))
    assert set(tops) == set(lefts) == set(range(2 * PADDING + 1))
    assert abs(mirrored.mean() - 0.5) < 0.15
    assert len(set(zip(tops, lefts, strict=True))) > 60, "rows and columns move together"
    assert places(originals[0], torch.roll(originals[0], 1, 2)) == [], "wraps around"
    again = cropped_and_flipped(originals, torch.Generator().manual_seed(1))
    assert torch.equal(again, changed)


def test_the_mean_image_of_the_training_data_is_taken_from_both_parts():
    labels = torch.arange(4) % 2
    data = Dataset(Images(images(4), labels), Images(images(2), labels[:2]), 2)
    made = InMemory("some", True, data, unchanged, lambda x: x)
    mean = data.train.inputs.double().mean(0)
    inputs, labels = made.training(torch.tensor([2, 0]), torch.Generator())
    np.testing.assert_allclose(inputs, data.train.inputs[[2, 0]] - mean, atol=4 * 2.0**-24)
    assert labels.tolist() == [0, 0]
    ((inputs, _),) = made.test()
    np.testing.assert_allclose(inputs, data.test.inputs - mean, atol=4 * 2.0**-24)


def test_digits_are_enlarged_for_any_network():
    made = source("cifar10", (3, 32, 32), 10, None, "cpu")
    assert (made.name, made.is_given, len(made)) == ("digits", False, 1437)
    inputs, _ = made.training(torch.arange(3), torch.Generator())
    assert inputs.shape == (3, 3, 32, 32)
    assert torch.equal(inputs[:, 0], inputs[:, 2])
    assert sum(len(labels) for _, labels in made.test()) == 360
    grey, enlarge = images(4)[:, :1], partial(enlarged, shape=(3, 20, 20))
    after = enlarge(grey) - enlarge(grey.mean(0, keepdim=True))
    np.testing.assert_allclose(enlarge(grey - grey.mean(0)), after, atol=8 * 2.0**-24)


def test_a_folder_of_images_is_cropped_to_the_network_s_side(tmp_path):
    rng = np.random.default_rng(0)
    for part in ("train", "val"):
        for name in ("cat", "dog"):
            (tmp_path / part / name).mkdir(parents=True)
            for number in range(2):
                colours = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
                Image.fromarray(colours).save(tmp_path / part / name / f"{number}.png")
    made = source("imagenet", (3, 32, 32), 1000, tmp_path, "cpu")
    assert (made.name, made.is_given, len(made)) == ("2 classes of images", True, 4)
    inputs, labels = made.training(torch.tensor([3, 0]), torch.Generator().manual_seed(0))
    assert labels.tolist() == [1, 0]
    network = resnet18((3, 32, 32), width=8, group_size=8, normalization="group")
    assert network(inputs).shape == (2, 1000)
    ((inputs, labels),) = made.test()
    assert labels.tolist() == [0, 0, 1, 1]
    assert inputs.min() < -0.2 < 0.3 < inputs.max(), "the mean colour was not taken away"
    with pytest.raises(DataError, match="has 2 classes; expected no more than 1"):
        FromFolder(tmp_path, 32, 1)


def test_which_data_are_there_and_damaged_ones_are_not_replaced_by_digits(tmp_path):
    assert not any(is_there(name, tmp_path) for name in ("cifar10", "cifar100", "imagenet"))
    below = tmp_path / "cifar-100-python"
    below.mkdir()
    assert is_there("cifar100", tmp_path)
    assert is_there("cifar100", below)
    assert not is_there("cifar10", tmp_path)
    assert not is_there("imagenet", below)
    (tmp_path / "train").mkdir()
    assert is_there("imagenet", tmp_path)
    with pytest.raises(DataError, match="CIFAR-100: expected"):
        source("cifar100", (3, 32, 32), 100, tmp_path, "cpu")
