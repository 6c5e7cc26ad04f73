r"""A network held at one layer: that layer's batch, and the rest of the network as a loss.

Index convention: :func:`~theory.nn.measures.activations.by_unit` makes a layer's batch
(batch, unit) or (batch, channel, height, width) a matrix (m, unit), with m = batch * height * width
entries for a channel.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field

import torch
from torch import Tensor

from theory.nn.measures.activations import by_unit
from verify.subjects.networks import Network, unfolded

EXAMINED_IMAGES = {"dense": 32, "convolutional": 4}
"""How many images make the batch of an examination: m = 32, respectively m = 256 and 64."""


def from_rows(rows: Tensor, shape: torch.Size) -> Tensor:
    """Return rows (m, unit) in the shape they had before."""
    return rows.reshape(shape[0], *shape[2:], shape[1]).movedim(-1, 1)


@dataclass(frozen=True, eq=False)
class LayerSnapshot:
    """One batch norm layer of one network on one batch, with the rest of the network as a loss.

    It keeps its own frozen copy of the network, so that later training does not reach it.
    """

    network: str
    stage: str
    layer: int
    inputs: Tensor
    """What the weights before the layer meet, X with y = X W', (m, weights of a unit)."""
    y: Tensor
    """The batch before the layer, (m, unit)."""
    z: Tensor
    """The layer's output, (m, unit)."""
    gamma: Tensor
    """Scale, (unit,)."""
    beta: Tensor
    """Shift, (unit,)."""
    eps: float
    model: Network = field(repr=False)
    labels: Tensor = field(repr=False)
    shape: torch.Size
    """The shape of the layer's batch in the network."""

    @property
    def later_normalizations(self) -> int:
        """How many batch norm layers follow."""
        return len(self.model.layers) - 1 - self.layer

    def with_unit(self, z: Tensor, unit: int | Tensor) -> Tensor:
        """Return the layer's output in the network's shape, one unit's replaced by z.

        Args:
            z: the unit's output, of shape (m,).
            unit: its number, an int or an integer tensor without axes.

        Raises:
            IndexError: the int names no unit.  A tensor is not looked at, for vmap's sake: one
                out of range replaces nothing.
            ValueError: z is not of shape (m,).
        """
        m, units = self.z.shape
        if isinstance(unit, int) and not 0 <= unit < units:
            raise IndexError(f"unit {unit} of a layer of {units}; choose 0 <= unit < {units}")
        if z.shape != (m,):
            raise ValueError(f"z has shape {tuple(z.shape)}; give one unit's batch, ({m},)")
        # A mask rather than an assignment: torch.func.vmap cannot assign at a mapped index.
        chosen = torch.arange(units, device=self.z.device) == unit
        return from_rows(torch.where(chosen, z[:, None], self.z), self.shape)

    def loss_of_unit(self, z: Tensor, unit: int | Tensor) -> Tensor:
        """Return the loss as a function of one unit's output z, the other units held.

        Arguments and errors are those of :meth:`with_unit`.  Works under nested
        ``torch.func`` transforms, in z and mapped over (z, unit).
        """
        return self.model.loss_from(self.layer, self.with_unit(z, unit), self.labels)

    def activation_pattern(self, z: Tensor, unit: int | Tensor) -> Tensor:
        """Return which ReLU inputs are positive from this layer on, flattened to one axis.

        Where two patterns differ, a kink lies between them.  Arguments and errors are those of
        :meth:`with_unit`.
        """
        inputs = self.model.relu_inputs_from(self.layer, self.with_unit(z, unit))
        return torch.cat([(before > 0).flatten() for before in inputs])


def snapshots(
    network: Network, stage: str, images: Tensor, labels: Tensor
) -> tuple[LayerSnapshot, ...]:
    """Return a snapshot of every batch norm layer on one batch.

    Args:
        network: copied, and not changed.
        stage: what to call the state of training.
        images: the batch, of shape (n, 64) or (n, 1, 8, 8), float64.
        labels: of shape (n,), int64.
    """
    model = deepcopy(network).requires_grad_(False)

    def snapshot(layer: int) -> LayerSnapshot:
        norm = model.norm(layer)
        before = model.input_of(layer, images)
        y: Tensor = model.maps[layer](before)
        return LayerSnapshot(
            network=model.name,
            stage=stage,
            layer=layer,
            inputs=unfolded(model.maps[layer], before),
            y=by_unit(y),
            z=by_unit(norm(y)),
            gamma=norm.gamma.detach(),
            beta=norm.beta.detach(),
            eps=norm.eps,
            model=model,
            labels=labels,
            shape=y.shape,
        )

    return tuple(snapshot(layer) for layer in model.layers)
