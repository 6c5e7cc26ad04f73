r"""Training of the networks: plain stochastic gradient descent with momentum, reproducible.

The batches of an epoch are drawn without replacement; what is left over after the last full batch
is not used, because Batch Normalization of a handful of images is another network.  Training and
accuracy are on all 1797 digits: the theorems speak of the loss that is trained, so none are kept
back and nothing is said of generalisation.

One thread does the work, so that the result does not depend on how many there are.  The states
of a network are kept in a cache, one file for all its stages, named by a digest of everything
that the result depends on.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch
from platformdirs import user_cache_dir
from torch import Tensor

from verify.data import digits
from verify.networks import NETWORKS, Network

STAGES = ("initial", "midway", "trained")
"""Before the first step; after ``Recipe.midway`` epochs; after all of them."""

LEAST_ACCURACY = 0.95
"""The accuracy on the training data from which a network counts as trained."""

RECIPE_VERSION = 1
"""To be raised with every change of code that changes what training gives."""

Progress = Callable[[str, int, int], object]
"""Told (description, epochs done, epochs in all) after each epoch."""

State = dict[str, Tensor]


class TrainingError(RuntimeError):
    """Training ended without the accuracy that it should reach."""


class CacheError(RuntimeError):
    """A cached file cannot be used; the message names it and says why."""


@dataclass(frozen=True)
class Recipe:
    """How a network is trained; the stage "midway" is after ``midway`` epochs.

    Raises:
        ValueError: midway is not between the ends of training.
    """

    learning_rate: float
    momentum: float = 0.9
    batch_size: int = 128
    epochs: int = 10
    midway: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.midway < self.epochs:
            raise ValueError(
                f"midway = {self.midway} of {self.epochs} epochs; choose 0 < midway < epochs"
            )


RECIPES = {
    "dense": Recipe(learning_rate=0.01),
    "convolutional": Recipe(learning_rate=0.02, midway=1),
}
"""The midway stages are where about nine digits in ten are recognised."""


def trained(
    name: str,
    stage: str = "trained",
    seed: int = 0,
    cache: Path | None = None,
    progress: Progress | None = None,
    recipe: Recipe | None = None,
) -> Network:
    """Return a network at a stage of its training, from the cache or else by training it.

    A cached file that cannot be used is replaced after a warning.

    Args:
        name: "dense" or "convolutional".
        stage: "initial", "midway" or "trained".
        seed: of the initialisation and of the order of the batches.
        cache: the folder of the cache; None for the user's own.
        progress: told (description, done, total) after each epoch of training.
        recipe: how to train, if not by ``RECIPES``.

    Raises:
        ValueError: no such network or stage.
        TrainingError: the accuracy at the end of training is below 95 %.
    """
    if stage not in STAGES:
        raise ValueError(f"no stage is called {stage!r}; choose one of {', '.join(STAGES)}")
    network = initialised(name, seed)
    recipe = RECIPES[name] if recipe is None else recipe
    folder = Path(user_cache_dir("batchnorm-theory")) if cache is None else cache
    file = cache_file(folder, network, seed, recipe)
    stages = _read_or_warn(file, network)
    if stages is None:
        stages = train(network, seed, recipe, progress)
        _write_or_warn(file, stages)
    network.load_state_dict(stages[stage])
    return network


def initialised(name: str, seed: int) -> Network:
    """Return a network with PyTorch's default initialisation, drawn from a seed.

    The global state of the random numbers is left as it was.

    Raises:
        ValueError: there is no network of that name.
    """
    if name not in NETWORKS:
        raise ValueError(f"no network is called {name!r}; choose one of {', '.join(NETWORKS)}")
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return NETWORKS[name]()


def train(
    network: Network, seed: int, recipe: Recipe, progress: Progress | None = None
) -> dict[str, State]:
    """Train a network in place and return its state at each stage.

    Raises:
        TrainingError: the accuracy at the end is below 95 %.
    """
    images, labels = digits()
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.SGD(network.parameters(), recipe.learning_rate, recipe.momentum)
    stages = {"initial": _state(network)}
    with _one_thread():
        for epoch in range(1, recipe.epochs + 1):
            order = torch.randperm(len(images), generator=generator)
            full = len(order) // recipe.batch_size * recipe.batch_size
            for batch in order[:full].split(recipe.batch_size):
                optimizer.zero_grad()
                network.loss(images[batch], labels[batch]).backward()
                optimizer.step()
            if epoch == recipe.midway:
                stages["midway"] = _state(network)
            if progress is not None:
                progress(f"training {network.name}, seed {seed}", epoch, recipe.epochs)
        reached = accuracy(network, images, labels)
    if not reached >= LEAST_ACCURACY:
        raise TrainingError(
            f"{network.name}, seed {seed}, reached an accuracy of {reached:.3f} on the training "
            f"data after {recipe.epochs} epochs at learning rate {recipe.learning_rate}; expected "
            f"at least {LEAST_ACCURACY}: train longer, or with another learning rate"
        )
    return {**stages, "trained": _state(network)}


def accuracy(network: Network, images: Tensor, labels: Tensor) -> float:
    """Return the share of images, normalised as one batch, that are given their label."""
    with torch.no_grad():
        return (network(images).argmax(dim=1) == labels).double().mean().item()


def cache_file(folder: Path, network: Network, seed: int, recipe: Recipe) -> Path:
    """Return the file of a network's stages: its name holds a digest of the configuration."""
    configuration = f"{RECIPE_VERSION} {network} {seed} {recipe} torch {torch.__version__}"
    digest = hashlib.sha256(configuration.encode()).hexdigest()[:16]
    return folder / f"{network.name}-seed{seed}-{digest}.pt"


def read_stages(file: Path, network: Network) -> dict[str, State]:
    """Return the stages that a file holds, checked against the network they are for.

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
    if not isinstance(stages, dict) or set(stages) != set(STAGES):
        raise CacheError(f"{file} does not hold the stages {', '.join(STAGES)}; delete it")
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


def _read_or_warn(file: Path, network: Network) -> dict[str, State] | None:
    try:
        return read_stages(file, network)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except CacheError as error:
        warnings.warn(f"{error}, or let it be: it is now replaced", stacklevel=3)
        return None


def _write_or_warn(file: Path, stages: dict[str, State]) -> None:
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


def _state(network: Network) -> State:
    return {key: value.detach().clone() for key, value in network.state_dict().items()}


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
