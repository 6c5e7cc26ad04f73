"""Cases of one batch length and one form of loss, stacked so that one call evaluates them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.func import vmap

from theory.claim import Claim, Reading
from verify.batched import Batched
from verify.subjects.losses import Loss
from verify.subjects.unit import Batch, Case
from verify.tolerance import Array

Truths = NDArray[np.bool_]
StackedLoss = Callable[..., Tensor]
"""``loss(z, *arguments)`` is the loss of one instance."""


@dataclass(frozen=True, kw_only=True)
class Stack(Batch):
    """Instances of one length: every tensor has a leading axis that counts them."""

    arguments: Sequence[Tensor]
    """What the loss takes besides the layer's output."""

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Stack:
        """Return the stack with every tensor changed."""
        changed = self.with_numbers(change, self.names())
        return replace(changed, arguments=tuple(map(change, self.arguments)))

    def at_each(self, function: Callable[[Stack], Any]) -> Any:
        """Return what a function is at each instance, found in one vectorised call."""

        def one(numbers: dict[str, Any], arguments: tuple[Tensor, ...]) -> Any:
            return function(replace(self, **numbers, arguments=arguments))

        return vmap(one)(self.numbers(), tuple(self.arguments))


def joined(stacks: Sequence[Stack]) -> Stack:
    """Return the instances of several stacks as one."""
    numbers: dict[str, Any] = {
        name: torch.cat([getattr(stack, name) for stack in stacks]) for name in Stack.names()
    }
    arguments = zip(*(stack.arguments for stack in stacks), strict=True)
    return Stack(**numbers, arguments=tuple(map(torch.cat, arguments)))


def stacked(cases: Sequence[Case]) -> Stack:
    """Return cases of one length and form of loss as PyTorch tensors."""
    numbers, parameters = _columns(cases, partial(torch.tensor, dtype=torch.float64))
    return Stack(**numbers, arguments=parameters)


def at_once(cases: Sequence[Case]) -> Case:
    """Return cases of one length and form of loss as one, whose numbers are those of all."""
    numbers, parameters = _columns(cases, partial(Batched, counts=1))
    return Case(**numbers, loss=Loss(cases[0].loss.function, parameters))


def _columns(
    cases: Sequence[Case], made: Callable[[Array], Any]
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Return each number of all cases by its name, and each parameter of the losses, as floats."""

    def column(values: Sequence[Any]) -> Any:
        return made(np.array(values, dtype=np.float64))  # of fractions, where they are imposed

    parameters = zip(*(case.loss.parameters for case in cases), strict=True)
    return (
        {name: column([getattr(case, name) for case in cases]) for name in Case.names()},
        tuple(map(column, parameters)),
    )


def loss_of(cases: Sequence[Case]) -> StackedLoss:
    """Return the loss of stacked cases."""
    function = cases[0].loss.function

    def loss(z: Tensor, *parameters: Tensor) -> Tensor:
        value: Tensor = Loss(function, parameters)(z, softplus)
        return value

    return loss


def softplus(x: Tensor) -> Tensor:
    """Return log(1 + exp(x)) without the library's linear branch beyond 20."""
    return torch.logaddexp(x, torch.zeros_like(x))


def is_defined(claim: Claim, stack: Stack) -> Truths:
    """Return whether sigma is positive, and in the unit-variance reading the variance too."""
    varies = stack.y.amax(dim=1) > stack.y.amin(dim=1)
    if claim.reading is Reading.SHARED_EPSILON:
        varies = varies | (stack.eps > 0)
    return np.asarray(varies.numpy())
