"""The cache of trained networks: one file for all the stages of a network.

A file is written as a whole or not at all, and checked when it is read.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from verify.networks import Network

State = dict[str, Tensor]


class CacheError(RuntimeError):
    """A cached file cannot be used; the message names it and says why."""


def read_stages(file: Path, network: Network, names: Sequence[str]) -> dict[str, State]:
    """Return the stages that a file holds, checked against the network they are for.

    Args:
        file: written by :func:`write_stages`.
        network: what the states are to be loaded into.
        names: what the stages should be called.

    Raises:
        FileNotFoundError, NotADirectoryError: there is no such file.
        CacheError: the file is damaged, or holds something else.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            damaged = archive.testzip()
        stages = None if damaged else torch.load(file, weights_only=True)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, RuntimeError, ValueError, KeyError, EOFError, NotImplementedError,
            zipfile.BadZipFile, pickle.UnpicklingError) as error:  # fmt: skip
        raise CacheError(f"{file} cannot be read ({error!r}); delete it") from error
    if damaged:
        raise CacheError(f"{file} is damaged in its part {damaged}; delete it")
    if not isinstance(stages, dict) or set(stages) != set(names):
        raise CacheError(f"{file} does not hold the stages {', '.join(names)}; delete it")
    for stage, state in stages.items():
        if not _fits(state, network):
            raise CacheError(f"{file} holds no state of {network.name} at {stage!r}; delete it")
    return stages


def write_stages(file: Path, stages: dict[str, State]) -> None:
    """Write a file of stages as a whole or not at all, making its folder if need be."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.stem, suffix=".tmp")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            torch.save(stages, stream)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def read_or_warn(file: Path, network: Network, names: Sequence[str]) -> dict[str, State] | None:
    """Return the stages, or None where there is no file or, after a warning, no usable one."""
    try:
        return read_stages(file, network, names)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except CacheError as error:
        warnings.warn(f"{error}, or let it be: it is now replaced", stacklevel=3)
        return None


def write_or_warn(file: Path, stages: dict[str, State]) -> None:
    """Write a file of stages, or warn that it cannot be written."""
    try:
        write_stages(file, stages)
    except OSError as error:
        warnings.warn(
            f"{file} cannot be written ({error}), so it will be trained again next time; "
            "choose another cache folder",
            stacklevel=3,
        )


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
