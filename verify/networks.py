r"""Two small networks with Batch Normalization, made to be run from the middle.

Each is blocks of a map without bias, Batch Normalization and ReLU, then a linear head.  The
normalization is written in primitives and shares no function with ``theory``; it uses the
statistics of the batch at all times.  Everything is float64.

Index convention: batch norm layers are numbered 0, 1, ...; the batch before layer k is ``y``, its
output ``z``, of shape (batch, unit) or (batch, channel, height, width).  :func:`to_rows` makes
both (m, unit), with m = batch * height * width entries for a channel.

Source: Ioffe and Szegedy 2015, Algorithm 1, for the layer, and Sect. 3.2 for a convolution's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, relu

from verify.data import CLASSES, SIDE


class BatchNorm(nn.Module):
    r"""Batch Normalization by the statistics of the batch, which is every axis but the second.

    .. math:: z = \gamma (y - \mu) / \sqrt{v + \epsilon} + \beta

    with the biased variance :math:`v`; ``gamma`` and ``beta`` have shape (unit,).
    """

    def __init__(self, units: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(units, dtype=torch.float64))
        self.beta = nn.Parameter(torch.zeros(units, dtype=torch.float64))

    def forward(self, y: Tensor) -> Tensor:
        """Return the layer's output for a batch; same shape."""
        batch_axes = [axis for axis in range(y.ndim) if axis != 1]
        per_unit = [-1 if axis == 1 else 1 for axis in range(y.ndim)]
        deviation = y - y.mean(batch_axes, keepdim=True)
        variance = (deviation * deviation).mean(batch_axes, keepdim=True)
        normalized = deviation / torch.sqrt(variance + self.eps)
        return self.gamma.reshape(per_unit) * normalized + self.beta.reshape(per_unit)

    def extra_repr(self) -> str:
        """Return what tells two layers apart, for the network's printed form."""
        return f"{len(self.gamma)}, eps={self.eps}"


class Network(nn.Module):
    """Blocks of map, Batch Normalization and ReLU, then a linear head.

    Args:
        name: what the network is called in evidence and in file names.
        input_shape: shape of one input; a batch is reshaped to it.
        maps: the linear map or the convolution before each batch norm layer.
        norms: the batch norm layers.
        head: from the flattened last block to the logits.
    """

    def __init__(
        self,
        name: str,
        input_shape: tuple[int, ...],
        maps: list[nn.Linear | nn.Conv2d],
        norms: list[BatchNorm],
        head: nn.Linear,
    ) -> None:
        super().__init__()
        self.name = name
        self.input_shape = input_shape
        self.maps = nn.ModuleList(maps)
        self.norms = nn.ModuleList(norms)
        self.head = head

    @property
    def layers(self) -> range:
        """The numbers of the batch norm layers."""
        return range(len(self.norms))

    def norm(self, layer: int) -> BatchNorm:
        """Return batch norm layer number ``layer``."""
        norm = self.norms[layer]
        assert isinstance(norm, BatchNorm)
        return norm

    def forward(self, images: Tensor) -> Tensor:
        """Return logits of shape (batch, class) for a batch of images of any shape."""
        return self.logits_from(0, self.norm(0)(self.batch_before(0, images)))

    def batch_before(self, layer: int, images: Tensor) -> Tensor:
        """Return the batch y before a batch norm layer."""
        y: Tensor = self.maps[0](images.reshape(-1, *self.input_shape))
        for k in range(layer):
            y = self.maps[k + 1](relu(self.norm(k)(y)))
        return y

    def relu_inputs_from(self, layer: int, z: Tensor) -> Iterator[Tensor]:
        """Yield the ReLU inputs of a layer with output z and of all later ones: z itself first."""
        yield z
        for k in self.layers[layer + 1 :]:
            z = self.norm(k)(self.maps[k](relu(z)))
            yield z

    def logits_from(self, layer: int, z: Tensor) -> Tensor:
        """Return the logits as a function of a layer's output z, of shape (batch, class)."""
        *_, last = self.relu_inputs_from(layer, z)
        logits: Tensor = self.head(relu(last).flatten(start_dim=1))
        return logits

    def loss_from(self, layer: int, z: Tensor, labels: Tensor) -> Tensor:
        """Return the cross-entropy, a mean over the batch, as a function of a layer's output z."""
        return cross_entropy(self.logits_from(layer, z), labels)

    def loss(self, images: Tensor, labels: Tensor) -> Tensor:
        """Return the cross-entropy of a batch of images, in nats, a mean over the batch."""
        return cross_entropy(self(images), labels)


def dense() -> Network:
    """Return the fully connected network 64-100-100-10, freshly drawn."""
    # No bias before a batch norm layer: the layer takes it away again.
    return Network(
        name="dense",
        input_shape=(SIDE * SIDE,),
        maps=[
            nn.Linear(SIDE * SIDE, 100, bias=False, dtype=torch.float64),
            nn.Linear(100, 100, bias=False, dtype=torch.float64),
        ],
        norms=[BatchNorm(100), BatchNorm(100)],
        head=nn.Linear(100, CLASSES, dtype=torch.float64),
    )


def convolutional() -> Network:
    """Return the convolutional network with 8 maps of 8 by 8 and 16 of 4 by 4, freshly drawn."""
    return Network(
        name="convolutional",
        input_shape=(1, SIDE, SIDE),
        maps=[
            nn.Conv2d(1, 8, 3, padding=1, bias=False, dtype=torch.float64),
            nn.Conv2d(8, 16, 3, stride=2, padding=1, bias=False, dtype=torch.float64),
        ],
        norms=[BatchNorm(8), BatchNorm(16)],
        head=nn.Linear(16 * (SIDE // 2) ** 2, CLASSES, dtype=torch.float64),
    )


NETWORKS: dict[str, Callable[[], Network]] = {"dense": dense, "convolutional": convolutional}
"""The networks by name."""

EXAMINED_IMAGES = {"dense": 64, "convolutional": 16}
"""How many images make the batch of an examination: m = 64, respectively m = 1024 and 256."""


def to_rows(batch: Tensor) -> Tensor:
    """Return a batch (batch, unit) or (batch, channel, height, width) as rows (m, unit)."""
    return batch.movedim(1, -1).flatten(end_dim=-2)


def from_rows(rows: Tensor, shape: torch.Size) -> Tensor:
    """Return rows (m, unit) in the shape they had before :func:`to_rows`."""
    return rows.reshape(shape[0], *shape[2:], shape[1]).movedim(-1, 1)


@dataclass(frozen=True, eq=False)
class LayerSnapshot:
    """One batch norm layer of one network on one batch, with the rest of the network as a loss.

    It keeps its own frozen copy of the network, so that later training does not reach it.
    """

    network: str
    stage: str
    layer: int
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
        y = model.batch_before(layer, images)
        return LayerSnapshot(
            network=model.name,
            stage=stage,
            layer=layer,
            y=to_rows(y),
            z=to_rows(norm(y)),
            gamma=norm.gamma.detach(),
            beta=norm.beta.detach(),
            eps=norm.eps,
            model=model,
            labels=labels,
            shape=y.shape,
        )

    return tuple(snapshot(layer) for layer in model.layers)
