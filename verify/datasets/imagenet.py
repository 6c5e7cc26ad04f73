r"""ImageNet, or any folder of images like it, decoded when they are asked for.

The folder has ``train`` and ``val``, each with a folder for every class.

Index convention: (image, channel, height, width).

Source: Lange, Helfrich and Ye 2022, App. B: "we follow the settings of Krizhevsky et al. (2012).
All images are cropped to 224 x 224 pixel size from each image or its horizontal flip".  There
(NIPS 2012, sect. 2 and 4.1): the shorter side is made 256 pixels long, the middle 256 by 256 are
kept, and of these 224 by 224 at random, mirrored or not; a test takes ten fixed crops together,
here only the one in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from verify.datasets.dataset import DataError, intensities

SHORTER_SIDE = 256
CROPPED = 224
LARGEST = 80_000_000
"""Pixels of an image; what a photograph has, and what is decoded in a quarter of a gigabyte."""
KINDS = frozenset({".jpeg", ".jpg", ".png"})
DEEP = frozenset({"I", "I;16", "I;16B", "F"})
"""Pillow's names for more than a byte a pixel and colour, which it cuts off at 255."""


@dataclass(frozen=True)
class ImageFolder:
    """The images of one part, and the class of each; nothing is decoded yet."""

    files: tuple[Path, ...] = field(repr=False)
    labels: Tensor = field(repr=False)
    """int64 of shape (n,): the classes' places in the order of their names."""
    shorter_side: int = SHORTER_SIDE
    """What the shorter side becomes, in pixels."""
    cropped: int = CROPPED
    """Height and width of what is cut out, in pixels."""

    def __len__(self) -> int:
        return len(self.files)

    def random_crops(
        self, indices: Sequence[int] | Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Return a crop of each of some images, one in two mirrored, and their labels.

        Args:
            indices: which images.
            generator: what places and mirrors are drawn from, on the CPU.

        Raises:
            DataError: a file cannot be decoded.
        """
        chosen = _numbers(indices)
        places = torch.randint(
            self.shorter_side - self.cropped + 1, (len(chosen), 2), generator=generator
        ).tolist()
        mirrored = (torch.rand(len(chosen), generator=generator) < 0.5).tolist()
        crops = [
            self._crop(index, top, left) for index, (top, left) in zip(chosen, places, strict=True)
        ]
        turned = [
            c.flip(-1) if is_turned else c for c, is_turned in zip(crops, mirrored, strict=True)
        ]
        return torch.stack(turned), self.labels[chosen]

    def middle_crops(self, indices: Sequence[int] | Tensor) -> tuple[Tensor, Tensor]:
        """Return the middle of each of some images, and their labels.

        Args:
            indices: which images.

        Raises:
            DataError: a file cannot be decoded.
        """
        chosen, margin = _numbers(indices), (self.shorter_side - self.cropped) // 2
        return torch.stack([self._crop(i, margin, margin) for i in chosen]), self.labels[chosen]

    def _crop(self, index: int, top: int, left: int) -> Tensor:
        square = decoded(self.files[index], self.shorter_side)
        return square[:, top : top + self.cropped, left : left + self.cropped]


@dataclass(frozen=True)
class Folders:
    """Images for training and for validation."""

    train: ImageFolder
    val: ImageFolder
    classes: tuple[str, ...]
    """The names of the classes' folders."""


def open_folder(folder: Path, shorter_side: int = SHORTER_SIDE, cropped: int = CROPPED) -> Folders:
    """Return the images of a folder, ``train/CLASS/*.JPEG`` and ``val/CLASS/*.JPEG``.

    Args:
        folder: with ``train`` and ``val``.
        shorter_side: what the shorter side of an image becomes, in pixels.
        cropped: height and width of what is cut out, in pixels.

    Raises:
        DataError: a folder is missing, has no class or a class without images, or ``val`` has a
            class that ``train`` has not.
        ValueError: more is to be cut out than there is.
    """
    if not 1 <= cropped <= shorter_side:
        raise ValueError(
            f"cropped = {cropped} of shorter_side = {shorter_side}; choose"
            " 1 <= cropped <= shorter_side"
        )
    classes = _classes(folder / "train")
    if strangers := sorted(set(_classes(folder / "val")) - set(classes)):
        raise DataError(f"{folder / 'val'} has classes that train has not: {', '.join(strangers)}")

    def part(name: str) -> ImageFolder:
        files = [(f, i) for i, c in enumerate(classes) for f in _files(folder / name / c)]
        labels = torch.tensor([label for _, label in files], dtype=torch.int64)
        return ImageFolder(tuple(f for f, _ in files), labels, shorter_side, cropped)

    return Folders(part("train"), part("val"), classes)


def decoded(file: Path, shorter_side: int) -> Tensor:
    """Return the middle square of an image whose shorter side is made so long.

    Returns:
        float32 of shape (3, shorter_side, shorter_side), intensities in [0, 1] without unit.

    Raises:
        DataError: the file is missing, truncated or no image.
    """
    try:
        with Image.open(file) as image:
            _refuse_large(image.size, shorter_side, file)
            if image.mode in DEEP:
                raise DataError(
                    f"{file} has more than 8 bits for a pixel and colour; expected 8: convert it"
                )
            colours = image.convert("RGB")
    except DataError:
        raise
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError,
            Image.DecompressionBombWarning) as error:  # fmt: skip
        if isinstance(error, PermissionError):
            raise DataError(f"{file} cannot be read: {error.strerror}") from None
        raise DataError(f"{file} cannot be decoded ({error}); get it again") from None
    width, height = colours.size
    scale = shorter_side / min(width, height)
    larger = max(shorter_side, round(width * scale)), max(shorter_side, round(height * scale))
    resized = colours.resize(larger, Image.Resampling.BILINEAR)
    left, top = ((length - shorter_side) // 2 for length in larger)
    square = resized.crop((left, top, left + shorter_side, top + shorter_side))
    return intensities(torch.from_numpy(np.array(square)).movedim(2, 0))


def _refuse_large(size: tuple[int, int], shorter_side: int, file: Path) -> None:
    """Refuse an image before it is unpacked, or made as large as its shorter side asks for."""
    width, height = size
    resized = max(size) * shorter_side**2 // max(1, min(size))
    if max(width * height, resized) > LARGEST:
        raise DataError(
            f"{file} has {width:,} by {height:,} pixels; expected at most {LARGEST:,} in all, also"
            f" once its shorter side has {shorter_side}: leave it out, or get it again"
        )


def _classes(folder: Path) -> tuple[str, ...]:
    if not folder.is_dir():
        raise DataError(f"expected the folder {folder}, with a folder for every class")
    classes = tuple(f.name for f in _visible(folder) if f.is_dir())
    if not classes:
        raise DataError(f"{folder} has no folders; expected one for every class, with its images")
    return classes


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():  # val may have images of some of the classes only
        return []
    files = [f for f in _visible(folder) if f.suffix.lower() in KINDS]
    if not files:
        raise DataError(f"{folder} has no images; expected {' or '.join(sorted(KINDS))}")
    return files


def _visible(folder: Path) -> list[Path]:
    """Return what is in a folder, in order, without what systems and editors hide there."""
    try:
        return sorted(f for f in folder.iterdir() if not f.name.startswith("."))
    except OSError as error:
        raise DataError(f"{folder} cannot be read: {error.strerror}") from None


def _numbers(indices: Sequence[int] | Tensor) -> list[int]:
    return [int(index) for index in indices]
