r"""A data set of images in memory: training and test images with their labels.

Index convention: (image, channel, height, width).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

READ = (
    "MNIST/raw/*", "t10k*", "cifar-10*", "data_batch*", "train*", "test*", "val", "cifar-10*/*",
    "train/*", "val/*",
)  # fmt: skip
"""What the experiments read below a folder of data, and the folders of its classes."""


class DataError(ValueError):
    """Data are missing, truncated or of another form; the message says which, and what to do."""


@dataclass(frozen=True, eq=False)
class Images:
    """Images with their labels.

    Args:
        inputs: float32 of shape (n, channel, height, width), intensities in [0, 1] without unit.
        labels: int64 of shape (n,), from 0.

    Raises:
        ValueError: another shape or type, or the two are not of one length.

    >>> len(Images(torch.zeros(3, 1, 8, 8), torch.tensor([0, 1, 2])))
    3
    """

    inputs: Tensor
    labels: Tensor

    def __post_init__(self) -> None:
        if self.inputs.ndim != 4 or self.inputs.dtype != torch.float32:
            raise ValueError(
                f"inputs are {self.inputs.dtype} of shape {tuple(self.inputs.shape)};"
                " give float32 of shape (n, channel, height, width)"
            )
        if self.labels.shape != self.inputs.shape[:1] or self.labels.dtype != torch.int64:
            raise ValueError(
                f"labels are {self.labels.dtype} of shape {tuple(self.labels.shape)};"
                f" give int64 of shape ({len(self.inputs)},), one label an image"
            )

    def __len__(self) -> int:
        return len(self.labels)

    def first(self, n: int) -> Images:
        """Return the first n images, or all of them where there are fewer."""
        return Images(self.inputs[:n], self.labels[:n])

    def to(self, device: str | torch.device) -> Images:
        """Return the images on a device."""
        return Images(self.inputs.to(device), self.labels.to(device))


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images for training and for testing.

    Args:
        train: what a network is trained on.
        test: what is kept back.
        classes: the labels are 0, ..., classes - 1.

    Raises:
        ValueError: a label is out of range.
    """

    train: Images
    test: Images
    classes: int

    def __post_init__(self) -> None:
        for name, part in (("train", self.train), ("test", self.test)):
            labels = part.labels
            if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < self.classes:
                raise ValueError(
                    f"the labels of {name} go from {int(labels.min())} to {int(labels.max())};"
                    f" expected 0 to {self.classes - 1}"
                )


def intensities(grey_values: Tensor) -> Tensor:
    """Return bytes as float32 in [0, 1].

    >>> intensities(torch.tensor([0, 51, 255], dtype=torch.uint8)).tolist()
    [0.0, 0.20000000298023224, 1.0]
    """
    return grey_values.float() / 255


def state_of(folder: Path) -> str:
    """Return a digest of which files of data a folder has, how large, and when they were written.

    Nothing is read; of a class's folder, whose images are many, the time says when one came or
    went.

    Args:
        folder: where the user says that the data are.
    """
    found = sorted({file for pattern in READ for file in folder.glob(pattern) if file.exists()})
    facts = [
        (str(file.relative_to(folder)), file.is_file() and stat.st_size, stat.st_mtime_ns)
        for file, stat in ((file, file.stat()) for file in found)
    ]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:12]


def existing_file(folder: Path, names: Sequence[str], what: str) -> Path:
    """Return the first of some files that a folder has.

    Args:
        folder: where the user says that the data are.
        names: paths below it, in order of preference.
        what: what the file holds, for the message.

    Raises:
        DataError: there is none, or the folder cannot be looked into.
    """
    try:
        for name in names:
            if (folder / name).is_file():
                return folder / name
    except PermissionError as error:
        raise DataError(f"{error.filename} cannot be read: {error.strerror}") from None
    listed = " or ".join(names)
    state = "has none" if folder.is_dir() else "is no folder"
    raise DataError(f"{what}: expected {listed} in {folder}, which {state}")
