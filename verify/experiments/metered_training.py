r"""A training by gradient descent that is measured on its way, as a piece of an experiment.

Plain descent, :math:`x_{t+1} = x_t - \eta \nabla L_t(x_t)`, on the batches that it is given.  At
chosen steps meters look at the model before the step, with the step's own batch, unless the loss
or its gradient is not finite there, or the gradient zero.  Once the loss is not finite there is
nothing left to train; the remaining steps only count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from theory.nn.measures.objective import Loss, Objective


class Batches(Protocol):
    """What a model is trained on."""

    def next(self) -> tuple[Tensor, Tensor]:
        """Return the inputs and the targets of the next step."""

    def state_dict(self) -> dict[str, Any]:
        """Return all that the next batches depend on."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""


@dataclass(frozen=True, eq=False)
class Moment:
    """A training before one of its steps."""

    step: int
    model: nn.Module
    inputs: Tensor
    targets: Tensor
    loss: Loss
    learning_rate: float
    generator: torch.Generator
    """For what a meter draws."""


@dataclass(frozen=True)
class Meter:
    """What is measured, and before which steps."""

    steps: frozenset[int]
    measure: Callable[[Moment], Any]
    """Returns plain JSON and leaves the model as it was."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a model is trained.

    Args:
        model: returns it, freshly drawn, in training mode.
        batches: what it is trained on.
        loss: from (outputs, targets) to a scalar.
        learning_rate: of plain gradient descent.
        steps: how many.
    """

    model: Callable[[], nn.Module]
    batches: Callable[[], Batches]
    loss: Loss
    learning_rate: float
    steps: int


class MeteredTraining:
    """A piece of an experiment: one training, measured.

    Its numbers are the facts, the step at which training diverged or None, and for each meter
    ``{"steps": [...], "values": [...]}``; a meter called "loss" is always there.

    Args:
        name: unique in the experiment.
        facts: what tells this training from the others, as JSON; kept with the numbers.
        recipe: how to train.
        meters: by name.
        loss_at: the steps at which the loss is kept.
        seed: of what meters draw.
    """

    def __init__(
        self,
        name: str,
        facts: Mapping[str, Any],
        recipe: Recipe,
        meters: Mapping[str, Meter],
        loss_at: frozenset[int],
        seed: int,
    ) -> None:
        self.name, self.steps, self.done = name, recipe.steps, 0
        self.facts, self.recipe, self.meters, self.loss_at = facts, recipe, meters, loss_at
        self.diverged: int | None = None
        self.generator = generator(seed, name)
        self.measured: dict[str, dict[str, list[Any]]] = {
            meter: {"steps": [], "values": []} for meter in ("loss", *meters)
        }

    @cached_property
    def model(self) -> nn.Module:
        """The model that is trained."""
        return self.recipe.model()

    @cached_property
    def optimizer(self) -> torch.optim.Optimizer:
        """Plain gradient descent, which has no state."""
        return torch.optim.SGD(self.model.parameters(), self.recipe.learning_rate, foreach=True)

    @cached_property
    def batches(self) -> Batches:
        """What it is trained on."""
        return self.recipe.batches()

    def step(self) -> None:
        """Do one step of training, measuring before it where a meter asks for that."""
        if self.diverged is None:
            self._train(*self.batches.next())
        self.done += 1

    def state_dict(self) -> dict[str, Any]:
        """Return all that the next step depends on, measurements included."""
        return {
            "done": self.done,
            "diverged": self.diverged,
            "measured": self.measured,
            "model": self.model.state_dict(),
            "batches": self.batches.state_dict(),
            "generator": self.generator.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""
        self.done, self.diverged = state["done"], state["diverged"]
        self.measured = state["measured"]
        self.model.load_state_dict(state["model"])
        self.batches.load_state_dict(state["batches"])
        self.generator.set_state(state["generator"])

    def numbers(self) -> dict[str, Any]:
        """Return what was measured so far."""
        return {**self.facts, "steps": self.steps, "diverged": self.diverged, **self.measured}

    def _train(self, inputs: Tensor, targets: Tensor) -> None:
        self._measure(inputs, targets)
        value = self.recipe.loss(self.model(inputs), targets)
        loss = float(value.detach())
        if not isfinite(loss):
            self.diverged = self.done
            return
        if self.done in self.loss_at:
            self._keep("loss", loss)
        self.optimizer.zero_grad()
        value.backward()
        self.optimizer.step()

    def _measure(self, inputs: Tensor, targets: Tensor) -> None:
        due = {name: meter for name, meter in self.meters.items() if self.done in meter.steps}
        moment = Moment(
            self.done,
            self.model,
            inputs,
            targets,
            self.recipe.loss,
            self.recipe.learning_rate,
            self.generator,
        )
        if due and _is_measurable(moment):
            for name, meter in due.items():
                self._keep(name, meter.measure(moment))

    def _keep(self, name: str, value: Any) -> None:
        self.measured[name]["steps"].append(self.done)
        self.measured[name]["values"].append(value)


def _is_measurable(moment: Moment) -> bool:
    """Whether the loss is finite, with a finite gradient that is not zero."""
    objective = Objective(moment.model, moment.inputs, moment.targets, moment.loss)
    loss, gradient = objective.gradient(objective.point)
    length = float(torch.linalg.vector_norm(gradient, dtype=torch.float64))
    return isfinite(float(loss)) and 0 < length < inf


def generator(seed: int, purpose: str) -> torch.Generator:
    """Return a generator for one purpose of a run, unlike that for any other.

    >>> one, other = (torch.rand(1, generator=generator(0, use)) for use in ("data", "weights"))
    >>> bool(one != other)
    True
    """
    (state,) = np.random.SeedSequence([seed, *purpose.encode()]).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state) >> 1)


def spread(steps: int, number: int) -> frozenset[int]:
    """Return about so many steps, half of them evenly spaced and half as :func:`geometric` ones.

    >>> sorted(spread(1000, 6))
    [0, 1, 32, 333, 666, 999]
    """
    evenly = np.linspace(0, steps - 1, number // 2 + 1).round().astype(int).tolist()
    return geometric(steps, number // 2) | frozenset(evenly)


def geometric(steps: int, number: int) -> frozenset[int]:
    """Return about so many of the steps 0, ..., steps - 1, ever further apart.

    >>> sorted(geometric(1000, 7))
    [0, 1, 3, 10, 32, 100, 316, 999]
    """
    last = steps - 1
    apart = np.geomspace(1, max(last, 1), number).round().astype(int).tolist()
    return frozenset({0, last, *(step for step in apart if step <= last)})
