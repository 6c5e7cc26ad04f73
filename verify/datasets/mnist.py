r"""MNIST from its four files in the IDX format, compressed or not.

A file is a magic number (two zeros, 8 for unsigned bytes, how many axes), the length of each axis
as a big-endian 32-bit number, and the bytes.

Source: Y. LeCun, C. Cortes and C. J. C. Burges, "The MNIST database of handwritten digits", whose
page describes the format.
"""

from __future__ import annotations

import gzip
import zlib
from math import prod
from pathlib import Path
from struct import unpack

import torch
from torch import Tensor

from verify.datasets.dataset import DataError, Dataset, Images, existing_file, intensities

CLASSES = 10
SIDE = 28
UNSIGNED_BYTE = 8
LARGEST = 2**26
"""More bytes than any of the files has; a compressed one may claim to have any number."""
FOLDERS = ("", "MNIST/raw/")
"""Where below the user's folder the files may be."""


def load(folder: Path) -> Dataset:
    """Return MNIST: 60,000 images for training and 10,000 for testing, 28 by 28.

    Args:
        folder: with ``train-images-idx3-ubyte`` and the like, with or without ``.gz``.

    Raises:
        DataError: a file is missing, truncated or another; the message says which, and what was
            expected.
    """
    return Dataset(_images(folder, "train"), _images(folder, "t10k"), CLASSES)


def read_idx(file: Path, shape: tuple[int | None, ...]) -> Tensor:
    """Return the bytes of an IDX file, as uint8 of its shape.

    Args:
        file: compressed if its name ends so.
        shape: what its shape has to be; None where any length is right.

    Raises:
        DataError: the file is truncated, too long, or another.
    """
    content = _content(file)
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != UNSIGNED_BYTE:
        raise DataError(f"{file} is no IDX file of unsigned bytes: it begins with {content[:4]!r}")
    header = 4 + 4 * content[3]
    if len(content) < header:
        raise DataError(f"{file} is truncated within its header; get it again")
    found = unpack(f">{content[3]}I", content[4:header])
    expected = tuple(f if s is None else s for f, s in zip(found, shape, strict=False))
    if len(found) != len(shape) or found != expected:
        wanted = ", ".join("any" if s is None else str(s) for s in shape)
        raise DataError(f"{file} holds an array of shape {found}; expected ({wanted})")
    if prod(found) == 0:
        raise DataError(f"{file} holds an array of shape {found}, no images; get it again")
    if len(content) - header != prod(found):
        raise DataError(
            f"{file} holds {len(content) - header} bytes of an array of shape {found}; expected"
            f" {prod(found)}: it is damaged, get it again"
        )
    return torch.frombuffer(bytearray(content[header:]), dtype=torch.uint8).reshape(found)


def _images(folder: Path, part: str) -> Images:
    images = read_idx(_file(folder, f"{part}-images", "idx3-ubyte"), (None, SIDE, SIDE))
    file = _file(folder, f"{part}-labels", "idx1-ubyte")
    labels = read_idx(file, (len(images),)).long()
    if int(labels.max()) >= CLASSES:
        raise DataError(f"{file} has a label {int(labels.max())}; expected 0 to {CLASSES - 1}")
    return Images(intensities(images[:, None]), labels)


def _file(folder: Path, stem: str, kind: str) -> Path:
    names = [f"{stem}{mark}{kind}{end}" for mark in "-." for end in ("", ".gz")]
    return existing_file(folder, [below + name for below in FOLDERS for name in names], "MNIST")


def _content(file: Path) -> bytes:
    try:
        if file.suffix != ".gz":
            return file.read_bytes()
        with gzip.open(file) as stream:
            content = stream.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise DataError(f"{file} holds more than {LARGEST:,} bytes, beyond any part of MNIST")
        return content
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{file} is damaged ({error}); get it again") from None
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from None
