r"""What layers that normalize by the batch make of a single example: a piece of one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn


class SingleExample:
    """Gives one example to a network in training mode, for each of some methods.

    Args:
        name: unique in the experiment.
        facts: what tells this piece from the others, as JSON; kept with the numbers.
        builds: returns the network, by the method's name.
        inputs: one example, with the axis of the batch.
    """

    steps = 1

    def __init__(
        self,
        name: str,
        facts: Mapping[str, Any],
        builds: Mapping[str, Callable[[], nn.Module]],
        inputs: Tensor,
    ) -> None:
        self.name, self.facts, self.builds, self.inputs = name, facts, builds, inputs
        self.done = 0
        self.refused: dict[str, str] = {}
        """What was said, in one line; empty where the example passed."""

    def step(self) -> None:
        """Give the example to each network."""
        for method, build in self.builds.items():
            self.refused[method] = _refusal(build(), self.inputs)
        self.done = 1

    def state_dict(self) -> dict[str, Any]:
        """Return what was found."""
        return {"done": self.done, "refused": self.refused}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up where :meth:`state_dict` was taken."""
        self.done, self.refused = state["done"], state["refused"]

    def numbers(self) -> dict[str, Any]:
        """Return the facts, and what each method said."""
        return {**self.facts, "refused": self.refused}


def _refusal(network: nn.Module, inputs: Tensor) -> str:
    try:
        with torch.no_grad():
            network.train()(inputs)
    except ValueError as error:
        return str(error).splitlines()[0]
    return ""
