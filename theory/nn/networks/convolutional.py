r"""The 5-layer convolutional network of paper L: three convolutions and two linear layers.

Normalisation comes after the activation, and after the pooling where there is one: on each hidden
variable, but not on the network's input.

Index convention: images are ``(batch, channel, height, width)``.

Source: Lange, Helfrich and Ye 2022, sect. 5: "a 5-layer CNN as used in TensorFlow (2019). This
network consists of 3 convolution layers, each with a 3x3 kernel, of filter size 32-64-32, followed
by two dense layers"; App. B, Glorot Uniform and zero biases.  That tutorial has 64 filters in its
third convolution; 32 are taken, as printed.  The rest is the tutorial's: no padding, rectifiers,
largest of 2 by 2 after the first two convolutions, 64 units in the first linear layer.  Where
normalisation is placed in this network is not said; sect. 2, "we will focus on ... post-activation
BN", and sect. 4, "a nonlinear activation is applied and often a pooling layer as well, to produce
the hidden variable of the next layer".
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import nn

from theory.nn.networks.images import Images
from theory.nn.networks.initialization import glorot
from theory.nn.normalization import normalization as normalization_layer

FILTERS = (32, 64, 32)
UNITS = 64
"""Of the first linear layer."""

LEAST_SIDE = 18
"""The smallest image of which the third convolution makes at least one pixel."""


def convolutional(
    shape: tuple[int, int, int] = (3, 32, 32),
    classes: int = 10,
    *,
    normalization: str = "none",
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """Return the network, freshly drawn.

    Its children are ``images``; ``layer1``, ``layer2`` and ``layer3``, of children
    ``convolution``, ``activation``, ``pooling`` (but for the third) and ``normalization``;
    ``flatten``; ``layer4``, of children ``linear``, ``activation`` and ``normalization``; and
    ``output``, a linear layer.

    Args:
        shape: of an image, (channel, height, width), at least 18 by 18 pixels.
        classes: number of outputs.
        normalization: a name of :data:`theory.nn.normalization.NORMALIZATIONS`.
        generator: where the weights are drawn from; None for PyTorch's global one.

    Raises:
        ValueError: images too small, no classes, or no normalisation is called so.

    >>> network = convolutional()
    >>> tuple(network[:4](torch.zeros(1, 3, 32, 32)).shape)  # 32, 30, 15, 13, 6, 4
    (1, 32, 4, 4)
    """
    if classes < 1:
        raise ValueError(f"classes = {classes}; expected 1 or more")
    channels, height, width = shape
    children: OrderedDict[str, nn.Module] = OrderedDict()
    children["images"] = Images(*shape, least=LEAST_SIDE)
    for number, filters in enumerate(FILTERS, start=1):
        layer: OrderedDict[str, nn.Module] = OrderedDict()
        layer["convolution"] = nn.Conv2d(channels, filters, kernel_size=3)
        layer["activation"] = nn.ReLU()
        if number < len(FILTERS):
            layer["pooling"] = nn.MaxPool2d(2)
        layer["normalization"] = normalization_layer(normalization, filters, rank=4)
        children[f"layer{number}"] = nn.Sequential(layer)
        channels = filters
    children["flatten"] = nn.Flatten()
    children["layer4"] = nn.Sequential(
        OrderedDict(
            linear=nn.Linear(channels * _last_side(height) * _last_side(width), UNITS),
            activation=nn.ReLU(),
            normalization=normalization_layer(normalization, UNITS, rank=2),
        )
    )
    children["output"] = nn.Linear(UNITS, classes)
    network = nn.Sequential(children)
    glorot(network, generator)
    return network


def _last_side(side: int) -> int:
    """Height or width of the maps after the third convolution."""
    return ((side - 2) // 2 - 2) // 2 - 2
