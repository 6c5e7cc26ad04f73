"""Cases of one batch length and one form of loss, stacked so that one call evaluates them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from theory.claim import Claim, Reading
from verify.batched import Batched
from verify.subjects.losses import Loss
from verify.subjects.unit import NUMBERS, VECTORS, Case
from verify.tolerance import Array

Truths = NDArray[np.bool_]
StackedLoss = Callable[..., Tensor]
"""``loss(z, *arguments)`` is the loss of one instance."""


class Stack(NamedTuple):
    """Instances of one length: every tensor has a leading axis that counts them."""

    y: Tensor
    gamma: Tensor
    beta: Tensor
    eps: Tensor
    direction: Tensor
    other_direction: Tensor
    bound: Tensor
    later_normalizations: Tensor
    arguments: tuple[Tensor, ...]
    """What the loss takes besides the layer's output."""


def grouped(cases: Sequence[Case]) -> list[list[Case]]:
    """Return the cases in groups of one length and one form of loss."""

    def key(case: Case) -> tuple[int, str]:
        return len(case.y), case.loss.function.__name__

    return [list(group) for _, group in groupby(sorted(cases, key=key), key=key)]


def stacked(cases: Sequence[Case]) -> Stack:
    """Return cases of one length and form of loss as PyTorch tensors."""
    fields, parameters = _columns(cases, lambda array: torch.tensor(array, dtype=torch.float64))
    return Stack(**fields, arguments=parameters)


def at_once(cases: Sequence[Case]) -> Case:
    """Return cases of one length and form of loss as one, whose numbers are those of all."""
    fields, parameters = _columns(cases, lambda array: Batched(array, 1))
    return Case(**fields, loss=Loss(cases[0].loss.function, parameters))


def _columns(
    cases: Sequence[Case], made: Callable[[Array], Any]
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Return each field of all cases by its name, and each parameter of their losses, in floats."""

    def column(values: Sequence[Any]) -> Any:
        return made(np.array(values, dtype=np.float64))  # of fractions, where they are imposed

    fields = {
        name: [np.reshape(getattr(c, name), len(c.y) if name in VECTORS else ()) for c in cases]
        for name in NUMBERS
    }
    parameters = zip(*(case.loss.parameters for case in cases), strict=True)
    return (
        {name: column(values) for name, values in fields.items()},
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
