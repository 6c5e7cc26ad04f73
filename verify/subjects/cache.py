"""The cache: files of tensors that took long to compute, such as the stages of a trained network.

A file is written as a whole or not at all, and checked when it is read.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import torch
from platformdirs import user_cache_dir
from torch import Tensor

from verify.complaints import CacheWarning
from verify.subjects.networks import Network

T = TypeVar("T")
State = dict[str, Tensor]


class CacheError(RuntimeError):
    """A cached file cannot be used; the message names it and says why."""


def folder_of(cache: Path | None) -> Path:
    """Return the folder of the cache; None stands for the user's own."""
    return Path(user_cache_dir("batchnorm-theory")) if cache is None else cache


def remembered(file: Path, read: Callable[[Path], T], make: Callable[[], T]) -> T:
    """Return what a file holds, or else make it and keep it there.

    A file that cannot be used is replaced after a warning; one that cannot be written costs a
    warning too.

    Args:
        file: where it is kept.
        read: returns what the file holds; CacheError or FileNotFoundError where it does not.
        make: computes it.
    """
    try:
        return read(file)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except CacheError as error:
        warnings.warn(f"{error}, or let it be: it is now replaced", CacheWarning, stacklevel=3)
    made = make()
    try:
        write_tensors(file, made)
    except OSError as error:
        warnings.warn(
            f"{file} cannot be written ({error}), so it will be computed again next time; "
            "choose another cache folder",
            CacheWarning,
            stacklevel=3,
        )
    return made


def read_tensors(file: Path) -> object:
    """Return what :func:`write_tensors` wrote.

    Raises:
        FileNotFoundError, NotADirectoryError: there is no such file.
        CacheError: the file is damaged, or holds something else than tensors.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            _refuse_to_unpack(archive, file)
            damaged = archive.testzip()
        content: object = None if damaged else torch.load(file, weights_only=True)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, RuntimeError, ValueError, KeyError, EOFError, NotImplementedError,
            zipfile.BadZipFile, pickle.UnpicklingError) as error:  # fmt: skip
        raise CacheError(f"{file} cannot be read ({error!r}); delete it") from error
    if damaged:
        raise CacheError(f"{file} is damaged in its part {damaged}; delete it")
    return content


def _refuse_to_unpack(archive: zipfile.ZipFile, file: Path) -> None:
    """Refuse parts that are larger than the file: nothing is compressed by who writes it."""
    unpacked, kept = sum(part.file_size for part in archive.infolist()), file.stat().st_size
    if unpacked > kept:
        raise CacheError(
            f"{file} has {kept:,} bytes and would unpack to {unpacked:,}, as nothing does that was "
            "written here; delete it"
        )


def write_tensors(file: Path, content: object) -> None:
    """Write a file as a whole or not at all, making its folder if need be."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.stem, suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            torch.save(content, stream)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def read_stages(file: Path, network: Network, names: Sequence[str]) -> dict[str, State]:
    """Return the stages of a network that a file holds, checked against the network.

    Args:
        file: written by :func:`write_tensors`.
        network: what the states are to be loaded into.
        names: what the stages should be called.

    Raises:
        FileNotFoundError, NotADirectoryError: there is no such file.
        CacheError: the file is damaged, or holds something else.
    """
    stages = read_tensors(file)
    if not isinstance(stages, dict) or set(stages) != set(names):
        raise CacheError(f"{file} does not hold the stages {', '.join(names)}; delete it")
    for stage, state in stages.items():
        if not _fits(state, network):
            raise CacheError(f"{file} holds no state of {network.name} at {stage!r}; delete it")
    return stages


def _fits(state: object, network: Network) -> bool:
    expected = network.state_dict()
    return (
        isinstance(state, dict)
        and set(state) == set(expected)
        and all(
            isinstance(state[key], Tensor)
            and state[key].shape == like.shape
            and state[key].dtype == like.dtype
            and bool(state[key].isfinite().all())
            for key, like in expected.items()
        )
    )
