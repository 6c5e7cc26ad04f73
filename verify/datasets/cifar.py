r"""CIFAR-10 and CIFAR-100 from their files, in the binary version or in the Python version.

In the binary version a record is the label, or the coarse and the fine label, of one byte each,
and then 3072 bytes: the red, green and blue values of 32 by 32 pixels, row by row.  The Python
version pickles a dictionary with the same rows as an array, ``data``, and lists of labels.

Source: A. Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009, whose page
describes the files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from verify.datasets.dataset import DataError, Dataset, Images, existing_file, intensities
from verify.datasets.plain_pickle import PlainArray, read_dictionary

SHAPE = (3, 32, 32)
PIXELS = 3 * 32 * 32


@dataclass(frozen=True)
class Version:
    """Which files make a data set in one version, and what they hold."""

    folder: str
    train: tuple[str, ...]
    test: str
    train_images: int
    """In each file for training."""
    test_images: int
    classes: int
    labels: bytes
    """The labels' name in the Python version; empty in the binary one."""
    label_bytes: int = 0
    """Of a record in the binary version; the last is the label."""


CIFAR10 = (
    Version(
        "cifar-10-batches-bin",
        tuple(f"data_batch_{i}.bin" for i in range(1, 6)),
        "test_batch.bin",
        *(10_000, 10_000, 10, b""),
        label_bytes=1,
    ),
    Version(
        "cifar-10-batches-py",
        tuple(f"data_batch_{i}" for i in range(1, 6)),
        "test_batch",
        *(10_000, 10_000, 10, b"labels"),
    ),
)
CIFAR100 = (
    Version(
        "cifar-100-binary",
        ("train.bin",),
        "test.bin",
        *(50_000, 10_000, 100, b""),
        label_bytes=2,
    ),
    Version(
        "cifar-100-python",
        ("train",),
        "test",
        *(50_000, 10_000, 100, b"fine_labels"),
    ),
)


def load_cifar10(folder: Path) -> Dataset:
    """Return CIFAR-10: 50,000 images for training and 10,000 for testing, in colour, 32 by 32.

    Args:
        folder: with ``cifar-10-batches-bin`` or ``cifar-10-batches-py``, or one of these itself.

    Raises:
        DataError: a file is missing, truncated or another; the message says which, and what was
            expected.
    """
    return load(folder, CIFAR10, "CIFAR-10")


def load_cifar100(folder: Path) -> Dataset:
    """Return CIFAR-100 with its 100 fine labels, 50,000 images and 10,000.

    Args:
        folder: with ``cifar-100-binary`` or ``cifar-100-python``, or one of these itself.

    Raises:
        DataError: as for CIFAR-10.
    """
    return load(folder, CIFAR100, "CIFAR-100")


def load(folder: Path, versions: tuple[Version, ...], name: str) -> Dataset:
    """Return a data set from the first of its versions that a folder has."""
    places = [f"{below}{v.test}" for v in versions for below in (f"{v.folder}/", "")]
    test = existing_file(folder, places, name)
    version = next(v for v in versions if v.test == test.name)
    train = [
        _images(existing_file(test.parent, (file,), name), version, version.train_images)
        for file in version.train
    ]
    inputs = torch.cat([images.inputs for images in train])
    labels = torch.cat([images.labels for images in train])
    return Dataset(
        Images(inputs, labels), _images(test, version, version.test_images), version.classes
    )


def _images(file: Path, version: Version, count: int) -> Images:
    pixels, labels = (_binary if version.label_bytes else _pickled)(file, version, count)
    if not 0 <= int(labels.min()) <= int(labels.max()) < version.classes:
        raise DataError(
            f"{file} has labels from {int(labels.min())} to {int(labels.max())}; expected 0 to"
            f" {version.classes - 1}: it is damaged or another file, get it again"
        )
    return Images(intensities(pixels.reshape(-1, *SHAPE)), labels)


def _binary(file: Path, version: Version, count: int) -> tuple[Tensor, Tensor]:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from None
    size = count * (version.label_bytes + PIXELS)
    if len(content) != size:
        state = "truncated" if len(content) < size else "too long"
        raise DataError(
            f"{file} has {len(content):,} bytes, expected {size:,} for {count:,} images: it is"
            f" {state}, get it again"
        )
    records = torch.frombuffer(bytearray(content), dtype=torch.uint8).reshape(count, -1)
    return records[:, version.label_bytes :], records[:, version.label_bytes - 1].long()


def _pickled(file: Path, version: Version, count: int) -> tuple[Tensor, Tensor]:
    found = read_dictionary(file)
    data, labels = found.get(b"data"), found.get(version.labels)
    if not isinstance(data, PlainArray) or not isinstance(labels, list):
        raise DataError(f"{file} has no data or no {version.labels.decode()}; it is another file")
    if len(labels) != count or not all(type(label) is int for label in labels):
        raise DataError(f"{file} has {len(labels)} labels; expected {count:,} numbers")
    try:
        return data.as_bytes((count, PIXELS)), torch.tensor(labels, dtype=torch.int64)
    except (ValueError, RuntimeError) as error:
        raise DataError(f"{file} holds {error}; it is damaged or another file") from None
