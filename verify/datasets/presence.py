"""Which data sets a folder has."""

from __future__ import annotations

from pathlib import Path

from verify.datasets.cifar import CIFAR10, CIFAR100

CIFAR = {"cifar10": ("cifar-10-", CIFAR10), "cifar100": ("cifar-100-", CIFAR100)}
"""What the folders of a data set are called, and its versions, which may be in another."""


def is_there(name: str, folder: Path) -> bool:
    """Whether a folder has the images of "mnist", "cifar10", "cifar100" or "imagenet"."""
    if name == "imagenet":
        return (folder / "train").is_dir()
    if name == "mnist":
        return any(folder.glob("train-images*")) or any(folder.glob("MNIST/raw/train-images*"))
    beginning, versions = CIFAR[name]
    if folder.name.startswith(beginning) or any(folder.glob(f"{beginning}*")):
        return True
    return any(file.is_file() for version in versions for file in folder.glob(version.train[0]))
