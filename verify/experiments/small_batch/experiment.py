r"""The experiment ``small-batch``: Figures 3 to 5 of paper L, by batch size and method.

The 3 x 100 network and the 5-layer CNN, by plain stochastic gradient descent, with batches of 60,
6, 2 and 1: vanilla, BN, batch renormalization, LN and BNP; and of the CNN BN with 4 things by Adam,
with ghost batches of 16 at 60, and in groups of four channels below.  Each learning rate is the
best of the paper's own for the nearest batch size (App. B, Tables 2 and 3) and a small grid.

Source: Lange, Helfrich and Ye 2022, sect. 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from theory.nn.networks.convolutional import convolutional
from theory.nn.networks.dense import dense
from verify.datasets import digits
from verify.datasets.dataset import DataError, Dataset, Images
from verify.datasets.presence import is_there
from verify.experiments import theorems
from verify.experiments.classifier_training import (
    FOUR_THINGS,
    METHODS,
    NEED_TWO,
    Recipe,
    normalization_of,
)
from verify.experiments.examined import KEY
from verify.experiments.experiment import Experiment, Piece, Setting
from verify.experiments.metered_training import Meter, generator
from verify.experiments.small_batch import figures as small_batch_figures
from verify.experiments.small_batch import observations as small_batch_observations
from verify.experiments.small_batch.learning_rates import printed
from verify.experiments.small_batch.single_example import SingleExample
from verify.experiments.tuned_training import Plan, TunedTraining

BATCHES = (60, 6, 2, 1)
NETWORKS: dict[str, Callable[..., nn.Module]] = {"dense": dense, "convolutional": convolutional}
METHODS_OF = {"dense": METHODS, "convolutional": (*METHODS, FOUR_THINGS)}
ADAM = 10
"""Learning rates that are tried with Adam are so many times smaller."""

SIDE = 32
"""Height and width to which digits are enlarged for the convolutional network."""

UNITS = 1
"""Of each layer on which statements are examined."""


@dataclass(frozen=True)
class Profile:
    """How much is run, by network where it differs."""

    images: Mapping[str, int]
    """Training images."""
    epochs: Mapping[str, int]
    trial_epochs: int
    grid: tuple[float, ...]
    """Learning rates that are tried besides the paper's."""
    examined: Mapping[str, tuple[int, ...]]
    """The batch sizes at which statements are examined."""
    examined_images: Mapping[str, int]
    """On so many images: more than a layer has inputs, for Theorem 4 to say something of it."""


EVERY = 10**9
PROFILES = {
    "smoke": Profile(
        images={"dense": 120, "convolutional": 75},
        epochs={"dense": 2, "convolutional": 1},
        trial_epochs=1,
        grid=(1e-1,),
        examined={"dense": (60,), "convolutional": ()},
        examined_images={"dense": 32, "convolutional": 4},
    ),
    "default": Profile(
        images={"dense": 1437, "convolutional": 400},
        epochs={"dense": 10, "convolutional": 8},
        trial_epochs=4,
        grid=(1e-2, 1e-1, 3e-1, 1.0),
        examined=dict.fromkeys(NETWORKS, BATCHES),
        examined_images={"dense": 256, "convolutional": 4},
    ),
    "deep": Profile(
        images={"dense": EVERY, "convolutional": EVERY},
        epochs={"dense": 30, "convolutional": 20},
        trial_epochs=6,
        grid=(1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0),
        examined=dict.fromkeys(NETWORKS, BATCHES),
        examined_images={"dense": 256, "convolutional": 4},
    ),
}


def pieces(setting: Setting) -> Sequence[Piece]:
    """Return one piece for each network, batch size and method that can have it."""
    profile, name, data = PROFILES[setting.profile], *load(setting)
    trained = [
        _piece(network, batch, method, profile, name, data, setting)
        for network in NETWORKS
        for batch in BATCHES
        for method in METHODS_OF[network]
        if batch > 1 or method not in NEED_TWO
    ]
    return [*trained, *(_single(network, data) for network in NETWORKS)]


def load(setting: Setting) -> tuple[str, Dataset]:
    """Return a data set with its name: CIFAR-10 or else MNIST of the user's folder, or the digits.

    Raises:
        DataError: the folder has neither, or a file in it is damaged.
    """
    if setting.data is None:
        return "digits", digits.load()
    from verify.datasets import cifar, mnist

    if is_there("mnist", setting.data) and not is_there("cifar10", setting.data):
        return "MNIST", mnist.load(setting.data)
    try:
        return "CIFAR-10", cifar.load_cifar10(setting.data)
    except DataError as error:
        if is_there("cifar10", setting.data):
            raise
        raise DataError(f"{error}, and no MNIST: train-images-idx3-ubyte and the like") from None


def _piece(
    network: str,
    batch: int,
    method: str,
    profile: Profile,
    name: str,
    data: Dataset,
    setting: Setting,
) -> TunedTraining:
    paper = printed(network, name, batch, method)
    grid = [rate / ADAM for rate in profile.grid] if method == FOUR_THINGS else profile.grid
    tried = {*grid, *([] if paper is None else [paper])}
    train, test = (
        _shaped(network, images)
        for images in (data.train.first(profile.images[network]), data.test)
    )
    if setting.profile == "smoke":
        test = test.first(len(train))
    shape = tuple(train.inputs.shape[1:])

    def build(draws: torch.Generator) -> nn.Module:
        return NETWORKS[network](
            shape, data.classes, normalization=normalization_of(method, batch), generator=draws
        )

    recipe = Recipe(build, method, train, test, batch, 0.0, profile.epochs[network], setting.device)
    meters = {}
    if batch in profile.examined[network]:
        examined = train.first(profile.examined_images[network])
        steps = frozenset({recipe.epoch, recipe.steps - 1})
        meters[KEY] = Meter(steps, lambda at: _examined(at.model, examined))
    plan = Plan(recipe, tuple(sorted(tried)), profile.trial_epochs, setting.seeds, meters)
    facts = {"network": network, "batch": batch, "method": method, "paper": paper, "data": name}
    sizes = {"images": len(train), "epochs": profile.epochs[network]}
    return TunedTraining(f"{network}, batch {batch}, {method}", {**facts, **sizes}, plan)


def _single(network: str, data: Dataset) -> SingleExample:
    example = _shaped(network, data.train.first(1)).inputs
    shape = tuple(example.shape[1:])

    def builder(method: str) -> Callable[[], nn.Module]:
        return lambda: NETWORKS[network](
            shape, normalization=method, generator=generator(0, method)
        )

    builds = {method: builder(method) for method in NEED_TWO}
    return SingleExample(f"{network}, one example", {"network": network}, builds, example)


def _shaped(network: str, images: Images) -> Images:
    if network == "convolutional" and images.inputs.shape[1] == 1:
        return replace(images, inputs=digits.enlarged(images.inputs, (1, SIDE, SIDE)))
    return images


def _examined(model: nn.Module, batch: Images) -> list[dict[str, Any]]:
    """Return what statements say at the last linear layer and the last Batch Normalization."""
    last: dict[type, tuple[str, nn.Module]] = {}
    for name, layer in model.named_modules():
        if isinstance(layer, (nn.Linear, nn.BatchNorm1d, nn.BatchNorm2d)):
            last[type(layer)] = (name, layer)
    layers = dict(last.values())
    return theorems.examine(model, batch.inputs, batch.labels, cross_entropy, layers, UNITS, seed=0)


EXPERIMENT = Experiment(
    name="small-batch",
    title="Small batches: vanilla, BN, batch renormalization, LN and BNP",
    rows=("L-fig-3-5", "L-tables-2-3", "L-alg-1", "L-alg-2", "L-alg-3", "L-online"),
    description=(
        "The 3 x 100 network and the 5-layer CNN of paper L by plain stochastic gradient descent, "
        "in batches of 60, 6, 2 and 1: vanilla, BN, batch renormalization, LN and BNP; and of the "
        "CNN BN with 4 things by Adam, as in the paper. On the embedded digits (8 by 8), or on "
        "CIFAR-10 or else MNIST where a folder has it; digits are enlarged to 32 by 32 for the "
        "CNN. Each learning rate is the best of the paper's for the nearest batch size (App. B) "
        "and of a grid, on training images kept back from short trials; the paper's own rates are "
        "marked in a figure. The paper has batches of 128 in place of 60 for the CNN, Adam for "
        "its vanilla network there, and no LN; of the 4 things it gives no numbers: here ghost "
        "batches of 16 examples, groups of four channels below batches of 7, the example's share "
        "of 0.1 at inference, and a decay of 0.0001. Its epochs have tens of thousands of images, "
        "so that running statistics with rho = 0.99 leave mu = 0 and sigma = 1 within a tenth of "
        "one, here at batch 60 within four. Default: 10 epochs of 1437 images, all digits, 8 "
        "epochs of 400 for the CNN, grid 0.01, 0.1, 0.3, 1; deep: 30 and 20 epochs of all images "
        "and a finer grid; smoke: one or two epochs of about a hundred digits, which can tell "
        "nothing of the methods."
    ),
    pieces=pieces,
    figures=small_batch_figures.figures,
    observations=small_batch_observations.observations,
    seeds=5,
)
