r"""Training of the networks: plain stochastic gradient descent with momentum, reproducible.

The batches of an epoch are drawn without replacement; what is left over after the last full batch
is not used, because Batch Normalization of a handful of images is another network.  Training and
accuracy are on all 1797 digits: the theorems speak of the loss that is trained, so none are kept
back and nothing is said of generalisation.

One thread does the work, so that the result does not depend on how many there are.  The states
of a network are kept in a cache (:mod:`verify.subjects.cache`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import torch
from torch import Tensor

from verify import sources
from verify.data import digits
from verify.settings import STAGES, TrainingError
from verify.subjects.cache import State, folder_of, read_stages, remembered
from verify.subjects.networks import NETWORKS, Network

LEAST_ACCURACY = 0.95
"""The accuracy on the training data from which a network counts as trained."""

Progress = Callable[[str, int, int], object]
"""Told (description, epochs done, epochs in all) after each epoch."""


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
    file = cache_file(folder_of(cache), network, seed, recipe)
    stages = remembered(
        file,
        lambda file: read_stages(file, network, STAGES),
        lambda: train(network, seed, recipe, progress),
    )
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
    """Return the file of a network's stages: its name tells the configuration and the code."""
    versions = f"torch {torch.__version__} scikit-learn {version('scikit-learn')}"
    configuration = f"{sources.digest(__name__)} {network} {seed} {recipe} {versions}"
    digest = hashlib.sha256(configuration.encode()).hexdigest()[:16]
    return folder / f"{network.name}-seed{seed}-{digest}.pt"


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
