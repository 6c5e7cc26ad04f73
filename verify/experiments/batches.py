"""What a model is trained on, step by step: all of the data, or batches in a random order."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class FullBatch:
    """The same inputs and targets at every step."""

    def __init__(self, inputs: Tensor, targets: Tensor) -> None:
        self.inputs, self.targets = inputs, targets

    def next(self) -> tuple[Tensor, Tensor]:
        """Return the inputs and the targets."""
        return self.inputs, self.targets

    def state_dict(self) -> dict[str, Any]:
        """Return nothing: no batch differs from another."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up nothing."""


class ShuffledBatches:
    """Batches without replacement; what is left at the end of an epoch is not used.

    Args:
        inputs: of shape (n, ...).
        targets: of shape (n, ...).
        size: of a batch, at most n.
        generator: where the order of each epoch is drawn from, on the CPU.

    Raises:
        ValueError: a batch cannot be filled.
    """

    def __init__(
        self, inputs: Tensor, targets: Tensor, size: int, generator: torch.Generator
    ) -> None:
        if not 1 <= size <= len(inputs):
            raise ValueError(f"size = {size} of a batch from {len(inputs)}; choose 1 to all of it")
        self.inputs, self.targets, self.size = inputs, targets, size
        self.generator = generator
        self.order = torch.empty(0, dtype=torch.int64)

    def next(self) -> tuple[Tensor, Tensor]:
        """Return the inputs and the targets of the next batch."""
        if len(self.order) < self.size:
            self.order = torch.randperm(len(self.inputs), generator=self.generator)
        chosen, self.order = self.order[: self.size], self.order[self.size :]
        chosen = chosen.to(self.inputs.device)
        return self.inputs[chosen], self.targets[chosen]

    def state_dict(self) -> dict[str, Any]:
        """Return what the next batches depend on."""
        return {"order": self.order.clone(), "generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""
        self.order = state["order"]
        self.generator.set_state(state["generator"])
