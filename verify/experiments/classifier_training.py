r"""A classifier trained by stochastic gradient descent, tested after each epoch.

Batches are drawn without replacement; what is left at the end of an epoch is not used.  The loss of
an epoch is the mean over its batches, each in training mode before its step; the accuracy is on
images kept back, in evaluation mode.  Once the loss is not finite nothing is left to train; the
remaining steps only count.  Meters look at the model before a step, with the step's own batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from theory.nn.bnp import BNP
from theory.nn.normalization import decay_groups
from verify.datasets.dataset import Images
from verify.experiments.batches import ShuffledBatches
from verify.experiments.metered_training import Meter, Moment, generator

NO_METERS: Mapping[str, Meter] = {}
COUNTED = ("done", "diverged", "total", "losses", "accuracies", "measured")
"""What is counted and measured on the way, in the state as it is."""

TOGETHER = 500
"""How many images are tested in one call."""

METHODS = ("none", "batch", "batch-renormalization", "layer", "bnp")
"""What is compared: a normalisation of the network, or BNP of the network without any."""

FOUR_THINGS = "four-things"
"""BN with 4 things (Summers and Dinneen 2020), trained by Adam, as paper L, App. B, has it."""

FEW = 6
"""Batches of no more are small: there BN is combined with GN, elsewhere with ghost batches."""

DECAY = 1e-4
"""Of gamma and beta, of BN with 4 things: that of the weights in App. B, as none is given."""

NEED_TWO = ("batch", "batch-renormalization")
"""What refuses a single example: its statistics leave nothing of it."""


def normalization_of(method: str, batch: int) -> str:
    """Return the normalisation of the network, for batches of that size.

    >>> normalization_of("bnp", 60), normalization_of("layer", 60)
    ('none', 'layer')
    >>> normalization_of("four-things", 60), normalization_of("four-things", 2)
    ('ghost-batch', 'batch-group')
    """
    if method == FOUR_THINGS:
        return "batch-group" if batch <= FEW else "ghost-batch"
    return "none" if method == "bnp" else method


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a classifier is trained.

    Args:
        build: returns it, freshly drawn from a generator.
        method: one of :data:`METHODS`, or :data:`FOUR_THINGS`.
        train: what it is trained on.
        test: what it is tested on.
        batch: how many images a step has.
        learning_rate: of plain stochastic gradient descent, or Adam.
        epochs: how often all images are met.
        device: PyTorch's.
    """

    build: Callable[[torch.Generator], nn.Module]
    method: str
    train: Images
    test: Images
    batch: int
    learning_rate: float
    epochs: int
    device: str = "cpu"

    @property
    def epoch(self) -> int:
        """The number of steps in an epoch."""
        return len(self.train) // self.batch

    @property
    def steps(self) -> int:
        """The number of steps in all."""
        return self.epochs * self.epoch


class ClassifierTraining:
    """One training, resumable after any step.

    Args:
        recipe: how to train.
        seed: of the weights and of the order of the images; the same for every method.
        meters: by name; what they return is kept.
    """

    def __init__(self, recipe: Recipe, seed: int, meters: Mapping[str, Meter] = NO_METERS) -> None:
        self.recipe, self.seed, self.meters = recipe, seed, meters
        self.measured: dict[str, dict[str, list[Any]]] = {
            name: {"steps": [], "values": []} for name in meters
        }
        self.done = 0
        self.diverged: int | None = None
        self.total = 0.0
        self.losses: list[float] = []
        self.accuracies: list[float] = []

    @cached_property
    def model(self) -> nn.Module:
        """The classifier."""
        model = self.recipe.build(generator(self.seed, "classifier weights"))
        return model.to(self.recipe.device)

    @cached_property
    def bnp(self) -> BNP | None:
        """What preconditions, if that is the method."""
        return BNP(self.model) if self.recipe.method == "bnp" else None

    @cached_property
    def optimizer(self) -> torch.optim.Optimizer:
        """Plain gradient descent, which has no state; Adam for BN with 4 things."""
        if self.recipe.method == FOUR_THINGS:
            groups = decay_groups(self.model, DECAY)
            return torch.optim.Adam(groups, self.recipe.learning_rate)
        return torch.optim.SGD(self.model.parameters(), self.recipe.learning_rate)

    @cached_property
    def batches(self) -> ShuffledBatches:
        """What it is trained on."""
        train = self.recipe.train.to(self.recipe.device)
        order = generator(self.seed, "classifier batches")
        return ShuffledBatches(train.inputs, train.labels, self.recipe.batch, order)

    def step(self) -> None:
        """Do one step, and test after the last of an epoch."""
        if self.diverged is None:
            self._train(*self.batches.next())
        self.done += 1
        if self.diverged is None and self.done % self.recipe.epoch == 0:
            self.losses.append(self.total / self.recipe.epoch)
            self.accuracies.append(accuracy(self.model, self.recipe.test))
            self.total = 0.0

    def _train(self, inputs: Tensor, labels: Tensor) -> None:
        self.optimizer.zero_grad()
        bnp = self.bnp  # its hooks are to be there before the forward pass
        loss = cross_entropy(self.model(inputs), labels)
        value = float(loss.detach())
        if not isfinite(value):
            self.diverged = self.done
            return
        self._measure(inputs, labels)
        loss.backward()
        if bnp is not None:
            try:
                bnp.precondition()
            except FloatingPointError:
                self.diverged = self.done
                return
        self.optimizer.step()
        self.total += value

    def _measure(self, inputs: Tensor, labels: Tensor) -> None:
        rate, draws = self.recipe.learning_rate, generator(self.seed, f"meters {self.done}")
        now = Moment(self.done, self.model, inputs, labels, cross_entropy, rate, draws)
        for name, meter in self.meters.items():
            if self.done in meter.steps:
                self.measured[name]["steps"].append(self.done)
                self.measured[name]["values"].append(meter.measure(now))

    def state_dict(self) -> dict[str, Any]:
        """Return all that the next step depends on, measurements included."""
        return {
            **{name: getattr(self, name) for name in COUNTED},
            "model": self.model.state_dict(),
            "bnp": {} if self.bnp is None else self.bnp.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "batches": self.batches.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""
        for name in COUNTED:
            setattr(self, name, state[name])
        self.model.load_state_dict(state["model"])
        if self.bnp is not None:
            self.bnp.load_state_dict(state["bnp"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.batches.load_state_dict(state["batches"])

    def numbers(self) -> dict[str, Any]:
        """Return what was measured so far: loss and accuracy by epoch."""
        return {
            "seed": self.seed,
            "learning_rate": self.recipe.learning_rate,
            "diverged": self.diverged,
            "losses": self.losses,
            "accuracies": self.accuracies,
            **self.measured,
        }


def accuracy(model: nn.Module, images: Images) -> float:
    """Return the share of images that are given their label, in evaluation mode."""
    was_training = model.training
    model.eval()
    parts = zip(images.inputs.split(TOGETHER), images.labels.split(TOGETHER), strict=True)
    right = sum(recognised(model, inputs, labels) for inputs, labels in parts)
    model.train(was_training)
    return right / len(images)


@torch.no_grad()
def recognised(model: nn.Module, inputs: Tensor, labels: Tensor) -> int:
    """Return how many images are given their label, in the mode in which the model is."""
    device = next(model.parameters()).device
    classes = model(inputs.to(device)).argmax(dim=1)
    return int((classes == labels.to(device)).sum())
