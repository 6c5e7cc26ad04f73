r"""The embedded digits as a data set: 1437 images for training and 360 for testing, 8 by 8.

Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine
Learning Repository, 1998, as :mod:`verify.data` gives it.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from verify.data import CLASSES, as_maps, digits
from verify.datasets.dataset import Dataset, Images

TRAINING_IMAGES = 1437
SPLIT_SEED = 0


def load() -> Dataset:
    """Return the digits, split by a fixed seeded permutation.

    >>> data = load()
    >>> len(data.train), len(data.test), tuple(data.test.inputs.shape[1:])
    (1437, 360, (1, 8, 8))
    """
    images, labels = digits()
    inputs = as_maps(images).float()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(SPLIT_SEED))
    train, test = order[:TRAINING_IMAGES], order[TRAINING_IMAGES:]
    return Dataset(
        Images(inputs[train], labels[train]), Images(inputs[test], labels[test]), CLASSES
    )


def enlarged(grey: Tensor, shape: tuple[int, int, int]) -> Tensor:
    """Return images enlarged bilinearly to a shape, (channel, height, width), their channels alike.

    Raises:
        ValueError: the images have several channels, or a number is less than 1.

    >>> tuple(enlarged(load().test.inputs, (3, 32, 32)).shape)
    (360, 3, 32, 32)
    """
    if grey.shape[1] != 1 or min(shape) < 1:
        raise ValueError(
            f"images of shape {tuple(grey.shape)} to be of shape {shape}: give grey images,"
            " (n, 1, height, width), and at least 1 of each"
        )
    larger = interpolate(grey, size=shape[1:], mode="bilinear", align_corners=False)
    return larger.expand(-1, shape[0], -1, -1)
