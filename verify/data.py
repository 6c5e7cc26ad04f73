r"""The data on which the networks are trained and examined: scikit-learn's embedded digits.

Images of handwritten digits, 8 by 8 grey values, held inside scikit-learn, so nothing is fetched.
Index convention: the first axis runs over images.

Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine
Learning Repository, 1998 (its test set), as ``sklearn.datasets.load_digits`` carries it.
"""

from __future__ import annotations

import torch
from torch import Tensor

SIDE = 8
"""Height and width of an image in pixels."""

CLASSES = 10
"""The labels are 0, ..., 9."""

BRIGHTEST = 16
"""The largest grey value of the data as they come."""


def digits() -> tuple[Tensor, Tensor]:
    """Return all images as rows, and their labels.

    Returns:
        Images, float64 of shape (1797, 64), grey values in [0, 1] without unit; labels, int64 of
        shape (1797,), in 0, ..., 9.

    >>> images, labels = digits()
    >>> tuple(images.shape), float(images.max()), labels[:4].tolist()
    ((1797, 64), 1.0, [0, 1, 2, 3])
    """
    from sklearn.datasets import load_digits  # which takes a second to import

    grey, labels = load_digits(return_X_y=True)
    images = torch.tensor(grey, dtype=torch.float64) / BRIGHTEST
    return images, torch.tensor(labels, dtype=torch.int64)


def as_maps(images: Tensor) -> Tensor:
    """Return images of shape (batch, 64) as maps of shape (batch, 1, 8, 8)."""
    return images.reshape(-1, 1, SIDE, SIDE)


def examination_batch(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return the first n digits of a seeded permutation, on which a network is examined.

    A larger n with the same seed only adds images.

    Args:
        n: number of images, at least 2 (a batch of one has no variance) and at most 1797.
        seed: of the permutation.

    Returns:
        Images of shape (n, 64) and labels of shape (n,), as :func:`digits` gives them.

    Raises:
        ValueError: n is out of range.
    """
    images, labels = digits()
    if not 2 <= n <= len(images):
        raise ValueError(f"n = {n} images asked for; choose 2 <= n <= {len(images)}")
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))[:n]
    return images[order], labels[order]
