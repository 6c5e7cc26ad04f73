r"""The landscape of a loss along a line: variation, predictiveness, effective smoothness.

From the parameters x with gradient g, a model is looked at in :math:`x - \eta d` for several
step sizes :math:`\eta`.  The direction d is the gradient itself, or a random one of the same
length.  This evaluates, in float64; nothing is trained.

All gradients are in the parameters, as steps are taken there; the theorems of the paper's
section 4.2 are about gradients in a layer's activations.

Source: Santurkar et al. 2018, sect. 3.2 and App. A.2.2; the measures are those of Fig. 4 (and 9,
11, 12), the gradient's changes over the distance those of Fig. 10.  How the step sizes are
spaced, the paper does not say; here they are in geometric progression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from theory.nn.measures.objective import Loss, Objective

VGG_RANGE = (1 / 2, 4.0)
"""Least and largest step size of the paper's VGG, times the learning rate."""

DEEP_LINEAR_RANGE = (1 / 100, 30.0)
"""Least and largest step size of the paper's deep linear network, times the learning rate."""


@dataclass(frozen=True)
class Landscape:
    r"""A loss and its gradient along a line :math:`x - \eta d`.

    What overflows there is infinite.
    """

    loss: float
    """:math:`L(x)`, in the unit of the loss."""
    gradient_norm: float
    r""":math:`\lVert g \rVert_2` at x."""
    step_sizes: tuple[float, ...]
    r"""The :math:`\eta`, positive and increasing."""
    distances: tuple[float, ...]
    r""":math:`\eta \lVert d \rVert_2`."""
    losses: tuple[float, ...]
    r""":math:`L(x - \eta d)`."""
    gradient_changes: tuple[float, ...]
    r""":math:`\lVert \nabla L(x - \eta d) - \nabla L(x) \rVert_2`."""

    @property
    def loss_variation(self) -> tuple[float, float]:
        """The least and the largest loss on the line: the shaded region of Fig. 4a."""
        return min(self.losses), max(self.losses)

    @property
    def gradient_predictiveness(self) -> tuple[float, float]:
        """The least and the largest change of the gradient: the shaded region of Fig. 4b."""
        return min(self.gradient_changes), max(self.gradient_changes)

    @property
    def effective_smoothness(self) -> float:
        r"""The largest change of the gradient over the distance moved: Fig. 4c.

        .. math:: \max_\eta \lVert\nabla L(x - \eta d) - \nabla L(x)\rVert_2
                  / (\eta\lVert d\rVert_2)

        The smoothness :math:`\beta` of the loss, a bound for all pairs of points, is no less.  In
        the unit of the loss over that of the parameters squared.
        """
        pairs = zip(self.gradient_changes, self.distances, strict=True)
        return max(change / distance for change, distance in pairs)


def step_sizes(
    learning_rate: float, times: tuple[float, float], number: int = 8
) -> tuple[float, ...]:
    """Return step sizes between two multiples of a learning rate, in geometric progression.

    Raises:
        ValueError: not 0 < least < largest, a learning rate that is not positive, or number < 2.

    >>> [round(size, 12) for size in step_sizes(0.1, VGG_RANGE, 4)]
    [0.05, 0.1, 0.2, 0.4]
    """
    least, largest = times
    if not (0 < least < largest < np.inf and 0 < learning_rate < np.inf and number >= 2):
        raise ValueError(
            f"learning_rate = {learning_rate}, times = {times}, number = {number}; choose a "
            "positive rate, 0 < least < largest, and at least two"
        )
    return tuple(np.geomspace(least * learning_rate, largest * learning_rate, number).tolist())


def along_gradient(
    model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss, step_sizes: Sequence[float]
) -> Landscape:
    r"""Return the landscape along the gradient, :math:`x - \eta g`.

    Args:
        model: left as it was; in training mode where training is to be measured.
        inputs: the batch that the model is called with.
        targets: the loss's second argument.
        loss: from (outputs, targets) to a scalar.
        step_sizes: positive and increasing.

    Raises:
        ValueError: what :class:`Objective` refuses; step sizes that are none; a loss that is not
            finite at x, or whose gradient is zero or not finite.

    For a parabola :math:`3x^2/2` at x = 2 the gradient is 6, and the smoothness 3:

    >>> model = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.constant_(model.weight, 2.0)
    >>> one, three = torch.ones(1, 1), torch.tensor(3.0)
    >>> found = along_gradient(model, one, three, lambda w, c: (c / 2 * w * w).sum(), [0.5])
    >>> found.gradient_norm, found.losses, found.effective_smoothness
    (6.0, (1.5,), 3.0)
    """
    objective = Objective(model, inputs, targets, loss)
    value, gradient = objective.gradient(objective.point)
    return _along(objective, value, gradient, gradient, step_sizes)


def along_random_direction(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    loss: Loss,
    step_sizes: Sequence[float],
    generator: torch.Generator,
) -> Landscape:
    r"""Return the landscape along a random direction as long as the gradient.

    .. math:: d = \lVert g\rVert_2\, r / \lVert r\rVert_2

    with r a standard Gaussian vector drawn from ``generator``, which is one on the CPU.  The other
    arguments and the errors are those of :func:`along_gradient`.

    Source: Santurkar et al. 2018, sect. 3.2, last paragraph ("other (random) directions"), which
    does not say how these are drawn or how far they go.
    """
    objective = Objective(model, inputs, targets, loss)
    value, gradient = objective.gradient(objective.point)
    r = torch.randn(gradient.shape, generator=generator, dtype=gradient.dtype).to(gradient.device)
    direction = r * (torch.linalg.vector_norm(gradient) / torch.linalg.vector_norm(r))
    return _along(objective, value, gradient, direction, step_sizes)


def _along(
    objective: Objective,
    value: Tensor,
    gradient: Tensor,
    direction: Tensor,
    step_sizes: Sequence[float],
) -> Landscape:
    sizes = tuple(map(float, step_sizes))
    if not sizes or not all(a < b for a, b in pairwise((0.0, *sizes, np.inf))):
        raise ValueError(f"step_sizes = {sizes}; give positive, finite and increasing ones")
    length, loss = _norm(gradient), float(value)
    if not (0 < length < np.inf and np.isfinite(loss)):
        raise ValueError(
            f"the loss is {loss} and its gradient's norm {length} at the parameters; a landscape "
            "along the gradient needs a finite loss with a finite gradient that is not zero"
        )
    seen = [objective.gradient(objective.point - eta * direction) for eta in sizes]
    return Landscape(
        loss=loss,
        gradient_norm=length,
        step_sizes=sizes,
        distances=tuple(eta * _norm(direction) for eta in sizes),
        losses=tuple(_or_infinite(float(there)) for there, _ in seen),
        gradient_changes=tuple(_or_infinite(_norm(g - gradient)) for _, g in seen),
    )


def _norm(vector: Tensor) -> float:
    return float(torch.linalg.vector_norm(vector, dtype=torch.float64))


def _or_infinite(number: float) -> float:
    # inf - inf, when a step leaves what floats can hold.
    return np.inf if np.isnan(number) else number
