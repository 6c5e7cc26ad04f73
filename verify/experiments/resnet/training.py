r"""One training of a residual network by one method: a piece of the experiment ``resnet``.

Each step is paper L's: a batch, the cross-entropy, its gradient, Batch Normalization
Preconditioning of it where that is the method, and a step of the momentum optimiser with weight
decay at the learning rate of the schedule.  At the end of an epoch the test images are classified.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan
from statistics import fmean
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from theory.nn.bnp import BNP
from verify.experiments.batches import ShuffledBatches
from verify.experiments.metered_training import generator
from verify.experiments.resnet.data import Source
from verify.experiments.resnet.recipes import MOMENTUM, PRECONDITIONED, Family

Examination = Callable[[nn.Module, Tensor, Tensor], Any]
"""Examines statements on a network and a batch, and returns JSON."""


@dataclass(frozen=True, eq=False)
class Training:
    """What is trained, and how.

    Args:
        network: its name.
        method: of :data:`verify.experiments.resnet.recipes.NORMALIZATIONS`.
        family: the recipes of the network.
        model: returns it, freshly drawn from a generator.
        source: returns the images.
        batch: images in a batch, of all processes together.
        device: where the network is.
        examination: of the network before the first step and after the last.
        process: this process's number, and how many share each batch.
        wrapped: makes of the network what is trained, where several processes train it.
    """

    network: str
    method: str
    family: Family
    model: Callable[[torch.Generator], nn.Module]
    source: Callable[[], Source]
    batch: int
    device: str = "cpu"
    examination: Examination | None = None
    process: tuple[int, int] = (0, 1)
    wrapped: Callable[[nn.Module], nn.Module] = lambda model: model


class ResNetTraining:
    """A piece: one training.

    Args:
        training: what is trained.
        seed: of the weights, of the order of the images and of what is done to them; all but the
            last are the same for every method.
        steps: how many.
    """

    def __init__(self, training: Training, seed: int, steps: int) -> None:
        self.name = f"{training.network}, {training.method}, seed {seed}"
        self.training, self.seed, self.steps, self.done = training, seed, steps, 0
        self.generator = generator(seed, f"augmentation, {self.name}")
        self.measured: dict[str, Any] = {
            "diverged": None,
            "first_step": {},
            "training_loss": [],
            "test_accuracy": [],
            "theorems": [],
        }
        self.losses: list[float] = []
        """Of the present epoch."""

    @cached_property
    def source(self) -> Source:
        """The images."""
        return self.training.source()

    @cached_property
    def batches(self) -> ShuffledBatches:
        """The numbers of the images of each batch."""
        numbers = torch.arange(len(self.source))
        order = generator(self.seed, f"order, {self.training.network}")
        return ShuffledBatches(numbers, numbers, self.training.batch, order)

    @cached_property
    def model(self) -> nn.Module:
        """The network."""
        model = self.training.model(generator(self.seed, f"weights, {self.training.network}"))
        return model.to(self.training.device).train()

    @cached_property
    def bnp(self) -> BNP | None:
        """Batch Normalization Preconditioning, where it is the method."""
        return BNP(self.model) if self.training.method in PRECONDITIONED else None

    @cached_property
    def trained(self) -> nn.Module:
        """What is called in a step: the network, or what several processes have of it."""
        return self.training.wrapped(self.model)

    @cached_property
    def optimizer(self) -> torch.optim.SGD:
        """The momentum optimiser with weight decay; the learning rate is set at every step."""
        decay = self.training.family.recipes[self.training.method].weight_decay
        return torch.optim.SGD(
            self.model.parameters(), lr=0.0, momentum=MOMENTUM, weight_decay=decay
        )

    @property
    def steps_per_epoch(self) -> int:
        """How many full batches there are."""
        return len(self.source) // self.training.batch

    def step(self) -> None:
        """Do one step of training, unless it has diverged; at the end of an epoch, test."""
        indices, _ = self.batches.next()
        inputs, labels = self.source.training(indices, self.generator)
        first, every = self.training.process
        inputs, labels = inputs[first::every], labels[first::every]
        if self.done == 0:
            self._examine(inputs, labels)
        if self.measured["diverged"] is None:
            self._train(inputs, labels)
        self.done += 1
        if self.done == self.steps:
            self._examine(inputs, labels)
        if self.done % self.steps_per_epoch == 0:
            self._end_epoch()

    def state_dict(self) -> dict[str, Any]:
        """Return all that the next step depends on, measurements included."""
        return {
            "done": self.done,
            "measured": self.measured,
            "losses": self.losses,
            "generator": self.generator.get_state(),
            **{name: part.state_dict() for name, part in self._parts().items()},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""
        self.done, self.measured, self.losses = state["done"], state["measured"], state["losses"]
        self.generator.set_state(state["generator"])
        for name, part in self._parts().items():
            part.load_state_dict(state[name])

    def numbers(self) -> dict[str, Any]:
        """Return what was measured so far."""
        return {
            "network": self.training.network,
            "method": self.training.method,
            "seed": self.seed,
            "data": self.source.name,
            "batch": self.training.batch,
            "steps_per_epoch": self.steps_per_epoch,
            "steps": self.done,
            "parameters": sum(p.numel() for p in self.model.parameters()),
            **self.measured,
        }

    def _parts(self) -> dict[str, Any]:
        """What has a state of its own, by name."""
        parts = {"model": self.model, "optimizer": self.optimizer, "batches": self.batches}
        return parts if self.bnp is None else {**parts, "bnp": self.bnp}

    def _train(self, inputs: Tensor, labels: Tensor) -> None:
        bnp = self.bnp  # made before the network is called: it collects what its layers meet
        loss = cross_entropy(self.trained(inputs), labels)
        before = self._over_processes(loss.detach())
        self.optimizer.zero_grad()
        try:
            loss.backward()
            if bnp is not None and isfinite(before):
                bnp.precondition()
        except FloatingPointError:
            before = nan
        if not isfinite(before):
            self.measured["diverged"] = self.done
            return
        rate = self.training.family.learning_rate(
            self.training.method, self.done, self.steps_per_epoch
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.losses.append(before)
        if self.done == 0:
            after = self._loss(inputs, labels)
            self.measured["first_step"] = {"rate": rate, "before": before, "after": after}

    def _over_processes(self, loss: Tensor) -> float:
        """Return the mean of the processes' losses, which all of them see alike."""
        if self.training.process[1] > 1:
            distributed.all_reduce(loss)
            loss = loss / self.training.process[1]
        return float(loss)

    def _loss(self, inputs: Tensor, labels: Tensor) -> float:
        """Return the loss of a batch in training mode, and leave running statistics alone."""
        buffers = {name: buffer.clone() for name, buffer in self.model.named_buffers()}
        with torch.no_grad():
            loss = cross_entropy(functional_call(self.model, buffers, (inputs,)), labels)
        return self._over_processes(loss)

    def _end_epoch(self) -> None:
        self.measured["training_loss"].append(fmean(self.losses) if self.losses else None)
        self.losses = []
        self.measured["test_accuracy"].append(self._accuracy())

    def _accuracy(self) -> float:
        """Return the share of test images that are given their label."""
        self.model.eval()
        right = count = 0
        with torch.no_grad():
            for inputs, labels in self.source.test():
                right += int((self.model(inputs).argmax(1) == labels).sum())
                count += len(labels)
        self.model.train()
        return right / count

    def _examine(self, inputs: Tensor, labels: Tensor) -> None:
        if self.training.examination is not None and self.measured["diverged"] is None:
            found = self.training.examination(self.model, inputs, labels)
            self.measured["theorems"].append({"step": self.done, "found": found})
