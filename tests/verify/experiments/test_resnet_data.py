"""What the residual networks are shown: crops, flips, mean images, and which data there are."""

import numpy as np
import pytest
import torch
from PIL import Image

from theory.nn.networks.resnet import resnet18
from verify.datasets.dataset import DataError, Dataset, Images
from verify.experiments.resnet.data import (
    PADDING,
    FromFolder,
    InMemory,
    cropped_and_flipped,
    enlarged,
    is_there,
    source,
    unchanged,
)


def images(n=6, side=5):
    return torch.rand(n, 3, side, side, generator=torch.Generator().manual_seed(0))


def windows(image):
    """Every crop and flip that there may be of one image."""
    channels, height, width = image.shape
    padded = torch.zeros(channels, height + 2 * PADDING, width + 2 * PADDING)
    padded[:, PADDING : PADDING + height, PADDING : PADDING + width] = image
    for top in range(2 * PADDING + 1):
        for left in range(2 * PADDING + 1):
            crop = padded[:, top : top + height, left : left + width]
            yield (top, left, False), crop
            yield (top, left, True), crop.flip(2)


def places(originals, changed):
    found = []
    for original, result in zip(originals, changed, strict=True):
        found += [place for place, crop in windows(original) if torch.equal(crop, result)]
    return found


def test_every_image_becomes_one_of_its_crops_or_mirrored_crops():
    originals = images(300)
    found = places(originals, cropped_and_flipped(originals, torch.Generator().manual_seed(1)))
    # A crop of a single row of zeros may be its own mirror image; few are.
    assert len(found) >= 300
    tops, lefts, flips = (np.array(each) for each in zip(*found, strict=True))
    assert set(tops) == set(lefts) == set(range(2 * PADDING + 1))
    assert abs(flips.mean() - 0.5) < 0.15
    assert len(set(zip(tops, lefts, strict=True))) > 60, "rows and columns move together"


def test_an_image_that_is_moved_too_far_is_seen():
    originals = images(1)
    moved = torch.roll(originals, 1, 3)  # wraps around instead of padding
    assert places(originals, moved) == []


def test_equal_generators_change_images_alike():
    first, second, other = (
        cropped_and_flipped(images(), torch.Generator().manual_seed(seed)) for seed in (3, 3, 4)
    )
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def dataset():
    labels = torch.arange(4) % 2
    return Dataset(Images(images(4), labels), Images(images(2), labels[:2]), 2)


def test_the_mean_image_of_the_training_data_is_taken_from_both_parts():
    data = dataset()
    made = InMemory("some", True, data, unchanged, lambda x: x)
    mean = data.train.inputs.double().mean(0)
    inputs, labels = made.training(torch.tensor([2, 0]), torch.Generator())
    expected = data.train.inputs[[2, 0]] - mean
    np.testing.assert_allclose(inputs, expected, atol=4 * 2.0**-24)
    assert labels.tolist() == [0, 0]
    ((inputs, labels),) = made.test()
    np.testing.assert_allclose(inputs, data.test.inputs - mean, atol=4 * 2.0**-24)


def test_digits_are_enlarged_for_any_network():
    made = source("cifar10", (3, 32, 32), 10, None, "cpu")
    assert (made.name, made.is_given, len(made)) == ("digits", False, 1437)
    inputs, _ = made.training(torch.arange(3), torch.Generator())
    assert inputs.shape == (3, 3, 32, 32)
    assert torch.equal(inputs[:, 0], inputs[:, 2])
    batches = list(made.test())
    assert sum(len(labels) for _, labels in batches) == 360


def test_enlarging_commutes_with_taking_the_mean_away():
    grey = torch.rand(4, 1, 8, 8)
    enlarge = enlarged((3, 20, 20))
    after = enlarge(grey) - enlarge(grey.mean(0, keepdim=True))
    np.testing.assert_allclose(enlarge(grey - grey.mean(0)), after, atol=8 * 2.0**-24)


def folder_of_images(folder, classes=("cat", "dog")):
    rng = np.random.default_rng(0)
    for part in ("train", "val"):
        for name in classes:
            (folder / part / name).mkdir(parents=True)
            for number in range(2):
                grey = rng.integers(0, 256, (40, 50, 3), dtype=np.uint8)
                Image.fromarray(grey).save(folder / part / name / f"{number}.png")
    return folder


def test_a_folder_of_images_is_cropped_to_the_network_s_side(tmp_path):
    made = source("imagenet", (3, 32, 32), 1000, folder_of_images(tmp_path), "cpu")
    assert isinstance(made, FromFolder)
    assert (made.name, made.is_given, len(made)) == ("2 classes of images", True, 4)
    inputs, labels = made.training(torch.tensor([3, 0]), torch.Generator().manual_seed(0))
    assert labels.tolist() == [1, 0]
    network = resnet18((3, 32, 32), width=8, group_size=8, normalization="group")
    assert network(inputs).shape == (2, 1000)
    ((inputs, labels),) = made.test()
    assert labels.tolist() == [0, 0, 1, 1]
    assert inputs.min() < -0.2 < 0.3 < inputs.max(), "the mean colour was not taken away"


def test_more_classes_than_outputs_are_refused(tmp_path):
    with pytest.raises(DataError, match="has 2 classes; expected no more than 1"):
        FromFolder(folder_of_images(tmp_path), 32, 1)


def test_which_data_are_there(tmp_path):
    assert not any(is_there(name, tmp_path) for name in ("cifar10", "cifar100", "imagenet"))
    (tmp_path / "cifar-100-python").mkdir()
    (tmp_path / "cifar-100-python" / "train").touch()
    assert is_there("cifar100", tmp_path)
    assert is_there("cifar100", tmp_path / "cifar-100-python")
    assert not is_there("cifar10", tmp_path)
    assert not is_there("imagenet", tmp_path / "cifar-100-python")
    (tmp_path / "train").mkdir()
    assert is_there("imagenet", tmp_path)


def test_data_that_are_there_and_damaged_are_not_replaced_by_digits(tmp_path):
    (tmp_path / "cifar-10-batches-py").mkdir()
    with pytest.raises(DataError, match="CIFAR-10: expected"):
        source("cifar10", (3, 32, 32), 10, tmp_path, "cpu")
