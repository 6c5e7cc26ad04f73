r"""Two small networks with Batch Normalization, made to be run from the middle.

Each is blocks of a map without bias, Batch Normalization and ReLU, then a linear head.  The
normalization is written in primitives and shares no function with ``theory``; it uses the
statistics of the batch at all times.  Everything is float64.

Index convention: batch norm layers are numbered 0, 1, ...; the batch before layer k is ``y``, its
output ``z``, of shape (batch, unit) or (batch, channel, height, width).

Source: Ioffe and Szegedy 2015, Algorithm 1, for the layer, and Sect. 3.2 for a convolution's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, relu, unfold

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
        # One number a unit: second derivatives of a quotient of batches would cost twice as much.
        scale = self.gamma.reshape(per_unit) / torch.sqrt(variance + self.eps)
        return scale * deviation + self.beta.reshape(per_unit)

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
        y: Tensor = self.maps[layer](self.input_of(layer, images))
        return y

    def input_of(self, layer: int, images: Tensor) -> Tensor:
        """Return what the linear map or convolution before a batch norm layer is applied to."""
        if layer == 0:
            return images.reshape(-1, *self.input_shape)
        return relu(self.norm(layer - 1)(self.batch_before(layer - 1, images)))

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


def unfolded(layer: nn.Module, batch: Tensor) -> Tensor:
    """Return the matrix X, of shape (m, weights of a unit), with y = X W' as rows (m, unit).

    For a linear map it is the batch; for a convolution its rows are the patches of the maps.
    """
    if not isinstance(layer, nn.Conv2d):
        return batch
    height, width = map(int, layer.padding)
    patches = unfold(batch, layer.kernel_size, padding=(height, width), stride=layer.stride)
    return patches.movedim(1, -1).flatten(end_dim=-2)


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
