r"""The experiment ``cost``: Table 1 of paper L, the time of an epoch with BN and with BNP.

The 2 x 100 network on images of CIFAR-10's shape, in batches of 16, 256 and 512.  Epochs of all
methods take turns, in another order each round, so that whatever else the machine does meets them
all; compared are medians.  Times differ between runs and machines, so this is no training with
seeds, and none is repeated number for number.  The images are noise: no time depends on them.

BN is in the network's hidden layers only, as Algorithm 2 of a first layer has no counterpart there:
so BNP is timed as printed, for every layer, and for all but the first; and for every layer with the
change of the gradients compiled, where there is a compiler.

Source: Lange, Helfrich and Ye 2022, sect. 5.1, "Computation Time Analysis", Table 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from theory.nn.bnp import BNP
from theory.nn.compilers import can_compile
from theory.nn.networks.dense import dense
from verify.experiments.cost import figures as cost_figures
from verify.experiments.cost import observations as cost_observations
from verify.experiments.experiment import Experiment, Piece, Setting
from verify.experiments.metered_training import generator

SHAPE, CLASSES, HIDDEN = (3, 32, 32), 10, (100, 100)
BATCHES = (16, 256, 512)
METHODS = ("none", "batch", "bnp", "bnp, hidden")
COMPILED = "bnp, compiled"
LEARNING_RATE = 1e-3


@dataclass(frozen=True)
class Profile:
    """How much is timed."""

    images: int
    """In an epoch."""
    rounds: int


PROFILES = {
    "smoke": Profile(images=1024, rounds=5),
    "default": Profile(images=8192, rounds=20),
    "deep": Profile(images=50_000, rounds=20),
}


class Timing:
    """A piece: epochs of every method by turns, at one batch size.

    Args:
        batch: the number of images in a batch.
        profile: how much is timed.
        device: PyTorch's.
    """

    def __init__(self, batch: int, profile: Profile, device: str) -> None:
        self.name, self.batch, self.device = f"batch {batch}", batch, device
        self.images, self.steps, self.done = profile.images, profile.rounds, 0
        self.methods = METHODS + ((COMPILED,) if can_compile(device) else ())
        self.seconds: dict[str, list[float]] = {method: [] for method in self.methods}

    @cached_property
    def data(self) -> tuple[Tensor, Tensor]:
        """Noise, and labels."""
        draws = generator(0, "cost data")
        images = torch.rand(self.images, *SHAPE, generator=draws)
        labels = torch.randint(CLASSES, (self.images,), generator=draws)
        return images.to(self.device), labels.to(self.device)

    @cached_property
    def subjects(self) -> dict[str, Subject]:
        """The networks, all warm."""
        made = {method: Subject(method, self.device) for method in self.methods}
        for subject in made.values():
            subject.step(*(part[: self.batch] for part in self.data))
        return made

    def step(self) -> None:
        """Time one epoch of each method; the first of them is another each time."""
        first = self.done % len(self.methods)
        for method in self.methods[first:] + self.methods[:first]:
            self.seconds[method].append(self._epoch(self.subjects[method]))
        self.done += 1

    def _epoch(self, subject: Subject) -> float:
        batches = list(zip(*(part.split(self.batch) for part in self.data), strict=True))
        self._wait()
        began = perf_counter()
        for inputs, labels in batches:
            subject.step(inputs, labels)
        self._wait()
        return perf_counter() - began

    def _wait(self) -> None:
        if torch.device(self.device).type == "cuda":
            torch.cuda.synchronize(self.device)

    def state_dict(self) -> dict[str, Any]:
        """Return the times; a network's state changes none of them."""
        return {"done": self.done, "seconds": self.seconds}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""
        self.done, self.seconds = state["done"], state["seconds"]

    def numbers(self) -> dict[str, Any]:
        """Return the seconds of each epoch by method."""
        return {
            "batch": self.batch,
            "images": self.images,
            "device": self.device,
            "seconds": self.seconds,
        }


class Subject:
    """A network that is trained by a method."""

    def __init__(self, method: str, device: str) -> None:
        normalization = "batch" if method == "batch" else "none"
        draws = generator(0, "cost weights")
        self.model = dense(SHAPE, CLASSES, HIDDEN, normalization=normalization, generator=draws)
        self.model.to(device)
        linear = [layer for layer in self.model.modules() if isinstance(layer, nn.Linear)]
        layers = {"bnp": linear, "bnp, hidden": linear[1:], COMPILED: linear}.get(method)
        compiled = method == COMPILED
        self.bnp = None if layers is None else BNP(self.model, layers=layers, compiled=compiled)
        self.optimizer = torch.optim.SGD(self.model.parameters(), LEARNING_RATE)

    def step(self, inputs: Tensor, labels: Tensor) -> None:
        """Train on one batch."""
        self.optimizer.zero_grad()
        cross_entropy(self.model(inputs), labels).backward()
        if self.bnp is not None:
            self.bnp.precondition()
        self.optimizer.step()


def pieces(setting: Setting) -> Sequence[Piece]:
    """Return one piece for each batch size."""
    profile = PROFILES[setting.profile]
    return [Timing(batch, profile, setting.device) for batch in BATCHES]


EXPERIMENT = Experiment(
    name="cost",
    title="The time of an epoch with BNP over that with BN",
    rows=("L-table-1", "L-prop-6"),
    takes_data=False,
    description=(
        "The 2 x 100 network of paper L, sect. 5.1, on noise of CIFAR-10's shape, by plain "
        "stochastic gradient descent in batches of 16, 256 and 512: seconds of an epoch without"
        " normalisation, with BN of the hidden layers' activations, with BNP of every layer as "
        "printed, with BNP of all layers but the first, and with BNP of every layer, compiled, "
        "where there is a compiler. The methods take turns within each round; ratios are taken "
        "within a round, and of these medians. It is no training with seeds: times differ "
        "between runs and machines, and the paper's are of a V100 with its loading of images. "
        "Default: 20 rounds of 8192 images; deep: of 50,000, the paper's; smoke: 5 rounds of "
        "1024."
    ),
    pieces=pieces,
    figures=cost_figures.figures,
    observations=cost_observations.observations,
)
