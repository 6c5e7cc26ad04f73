r"""The images on which the residual networks are trained, and how they are changed before that.

Index convention: images are ``(image, channel, height, width)``.

Source: Lange, Helfrich and Ye 2022, App. B: "the data augmentation as in He et al. (2016a)", which
is 4 pixels of zeros on each side, a crop of the old size and a flip, after the mean image of the
training data is subtracted; for ImageNet "the settings of Krizhevsky et al. (2012)", of which
:mod:`verify.datasets.imagenet` says what they are; the mean is that of each colour here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import pad

from verify.datasets import cifar, digits, imagenet
from verify.datasets.dataset import DataError, Dataset, Images
from verify.datasets.presence import is_there
from verify.experiments.resnet.recipes import NOISY_DIGITS

PADDING = 4
"""Zeros on each side, in pixels."""

MEAN_COLOUR = (0.485, 0.456, 0.406)
"""Red, green and blue, the usual rounding for ImageNet's training images, in [0, 1]."""

TESTED_TOGETHER = 250
"""Images in a batch of the test."""

NOISE = 0.4
"""Deviation of what is added to each pixel of a digit, in intensities from 0 to 1: without it every
method recognises all but a few."""

NOISES = 4
"""So many times each test digit is shown, with other noise."""


class Source(Protocol):
    """Training and test images, a batch at a time."""

    name: str
    is_given: bool
    """Whether these are the user's images."""

    def __len__(self) -> int:
        """Return how many images there are to train on."""

    def training(self, indices: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return some of the training images, changed at random, and their labels."""

    def test(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield all test images as they are, and their labels, in batches."""


@dataclass(eq=False)
class InMemory:
    """A data set in memory, less its mean image.

    Args:
        name: what it is called in the numbers.
        is_given: whether these are the user's images.
        data: the images.
        augmented: changes training images at random, with a generator on the CPU.
        shown: makes of a batch of images what the network takes.
        device: where the batches go.
    """

    name: str
    is_given: bool
    data: Dataset
    augmented: Callable[[Tensor, torch.Generator], Tensor]
    shown: Callable[[Tensor], Tensor]
    device: str = "cpu"

    def __post_init__(self) -> None:
        self.mean = self.data.train.inputs.mean(0)

    def __len__(self) -> int:
        return len(self.data.train)

    def training(self, indices: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return some of the training images, changed at random, and their labels."""
        images = self.data.train.inputs[indices] - self.mean
        return self._on_device(self.augmented(images, generator), self.data.train.labels[indices])

    def test(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield all test images as they are, and their labels, in batches."""
        images, labels = self.data.test.inputs, self.data.test.labels
        for some, wanted in zip(
            images.split(TESTED_TOGETHER), labels.split(TESTED_TOGETHER), strict=True
        ):
            yield self._on_device(some - self.mean, wanted)

    def _on_device(self, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        return self.shown(images.to(self.device)), labels.to(self.device)


class FromFolder:
    """A folder of images, decoded when they are asked for, less the mean colour of ImageNet.

    Args:
        folder: with ``train`` and ``val``, as :func:`verify.datasets.imagenet.open_folder` has it.
        side: of the network's images, in pixels; the shorter side of an image is made 256/224
            times as long before it is cropped.
        classes: the labels that there may be.
        device: where the batches go.

    Raises:
        DataError: the folder is not so, or has more classes.
    """

    is_given = True

    def __init__(self, folder: Path, side: int, classes: int, device: str = "cpu") -> None:
        shorter_side = side * imagenet.SHORTER_SIDE // imagenet.CROPPED
        self.images, self.device = imagenet.open_folder(folder, shorter_side, side), device
        found = len(self.images.classes)
        if found > classes:
            raise DataError(f"{folder} has {found} classes; expected no more than {classes}")
        self.name = "imagenet" if found == classes else f"{found} classes of images"

    def __len__(self) -> int:
        return len(self.images.train)

    def training(self, indices: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return some of the training images, cropped and mirrored at random, and their labels."""
        return self._on_device(*self.images.train.random_crops(indices, generator))

    def test(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield the middle of all test images, and their labels, in batches."""
        for some in torch.arange(len(self.images.val)).split(TESTED_TOGETHER):
            yield self._on_device(*self.images.val.middle_crops(some))

    def _on_device(self, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        mean = torch.tensor(MEAN_COLOUR).reshape(3, 1, 1)
        return (images - mean).to(self.device), labels.to(self.device)


def source(
    name: str, shape: tuple[int, int, int], classes: int, folder: Path | None, device: str
) -> Source:
    """Return the user's images of a data set, or the embedded digits where there are none.

    Args:
        name: "cifar10", "cifar100", "imagenet" or :data:`NOISY_DIGITS`, which are always there.
        shape: what digits are enlarged to, (channel, height, width).
        classes: the labels that there may be.
        folder: of the user's data sets.
        device: where the batches go.

    Raises:
        DataError: a data set is there, and damaged.
    """
    enlarge = partial(digits.enlarged, shape=shape)
    if name == NOISY_DIGITS:
        return InMemory(name, True, _with_noise(digits.load()), noisy, enlarge, device)
    if folder is None or not is_there(name, folder):
        return InMemory("digits", False, digits.load(), unchanged, enlarge, device)
    if name == "imagenet":
        return FromFolder(folder, shape[1], classes, device)
    data = cifar.load_cifar10(folder) if name == "cifar10" else cifar.load_cifar100(folder)
    return InMemory(name, True, data, cropped_and_flipped, lambda images: images, device)


def noisy(images: Tensor, generator: torch.Generator) -> Tensor:
    """Return images with noise, other noise whenever they are shown."""
    return images + NOISE * torch.randn(images.shape, generator=generator)


def _with_noise(data: Dataset) -> Dataset:
    """Return a data set whose test images are shown a few times, each with its own noise."""
    inputs, labels = data.test.inputs.repeat(NOISES, 1, 1, 1), data.test.labels.repeat(NOISES)
    test = Images(noisy(inputs, torch.Generator().manual_seed(0)), labels)
    return Dataset(data.train, test, data.classes)


def unchanged(images: Tensor, _: torch.Generator) -> Tensor:
    """Return training images as they are: a digit is not its mirror image."""
    return images


def cropped_and_flipped(images: Tensor, generator: torch.Generator) -> Tensor:
    """Return each image moved by up to four pixels, zeros following, and half of them mirrored.

    Args:
        images: (image, channel, height, width).
        generator: what the offsets and the flips are drawn from, on the CPU.
    """
    count, _, height, width = images.shape
    offsets = torch.randint(2 * PADDING + 1, (2, count, 1), generator=generator)
    is_flipped = torch.rand(count, 1, generator=generator) < 0.5
    rows = offsets[0] + torch.arange(height)
    columns = offsets[1] + torch.arange(width)
    columns = torch.where(is_flipped, columns.flip(1), columns)
    padded = pad(images, (PADDING, PADDING, PADDING, PADDING)).movedim(1, 3)
    each = torch.arange(count)[:, None, None]
    return padded[each, rows[:, :, None], columns[:, None, :]].movedim(3, 1)
