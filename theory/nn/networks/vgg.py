r"""VGG for images of 32 by 32: convolutions of 3 by 3 in five stages, and one linear layer.

Normalisation comes before each activation, as in Ioffe and Szegedy 2015.  A convolution has a bias
only where no normalisation, with a shift of its own, follows.

Index convention: images are ``(batch, channel, height, width)``.

Source: Santurkar et al. 2018, App. A.1: "a VGG-like network, a standard convolutional
architecture", on CIFAR-10, with "standard Glorot initialization".  Which of the depths of Simonyan
and Zisserman 2015 (Table 1) is not said; 16 is taken.  Nor is the head: after five poolings an
image of 32 by 32 is one pixel of 512 channels, so the three linear layers made for 7 by 7 pixels
are one here, as is usual for images of that size.
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import nn

from theory.nn.networks.images import Images
from theory.nn.networks.initialization import glorot
from theory.nn.normalization import normalization as normalization_layer

CONVOLUTIONS = {
    11: (1, 1, 2, 2, 2),
    13: (2, 2, 2, 2, 2),
    16: (2, 2, 3, 3, 3),
    19: (2, 2, 4, 4, 4),
}
"""Convolutions of 3 by 3 in each stage, by depth: columns A, B, D and E of their Table 1."""

WIDENING = (1, 2, 4, 8, 8)
"""Channels of each stage over those of the first."""

LEAST_SIDE = 32


def vgg(
    shape: tuple[int, int, int] = (3, 32, 32),
    classes: int = 10,
    depth: int = 16,
    width: int = 64,
    *,
    normalization: str = "none",
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """Return the network, freshly drawn.

    Its children are ``images``; ``stage1`` to ``stage5``, of children ``layer1``, ``layer2``, ...,
    each ``convolution``, ``normalization`` and ``activation``, and ``pooling``; ``flatten``; and
    ``output``, a linear layer.

    Args:
        shape: of an image, (channel, height, width), at least 32 by 32 pixels.
        classes: number of outputs.
        depth: 11, 13, 16 or 19.
        width: channels of the first stage; the last has eight times as many.
        normalization: a name of :data:`theory.nn.normalization.NORMALIZATIONS`.
        generator: where the weights are drawn from; None for PyTorch's global one.

    Raises:
        ValueError: images too small, another depth, no channels or classes, or no normalisation
            is called so.

    >>> network = vgg(normalization="batch")
    >>> network.stage5.layer3.convolution.weight.shape
    torch.Size([512, 512, 3, 3])
    """
    if depth not in CONVOLUTIONS or width < 1 or classes < 1:
        depths = ", ".join(map(str, CONVOLUTIONS))
        raise ValueError(
            f"depth = {depth}, width = {width}, classes = {classes}; expected a depth of {depths}, "
            "and at least one channel and one class"
        )
    channels, height, across = shape
    children: OrderedDict[str, nn.Module] = OrderedDict()
    children["images"] = Images(*shape, least=LEAST_SIDE)
    stages = zip(CONVOLUTIONS[depth], WIDENING, strict=True)
    for number, (convolutions, widening) in enumerate(stages, start=1):
        stage: OrderedDict[str, nn.Module] = OrderedDict()
        for layer in range(1, convolutions + 1):
            stage[f"layer{layer}"] = _layer(channels, widening * width, normalization)
            channels = widening * width
        stage["pooling"] = nn.MaxPool2d(2)
        children[f"stage{number}"] = nn.Sequential(stage)
    children["flatten"] = nn.Flatten()
    pixels = (height // LEAST_SIDE) * (across // LEAST_SIDE)
    children["output"] = nn.Linear(channels * pixels, classes)
    network = nn.Sequential(children)
    glorot(network, generator)
    return network


def _layer(before: int, after: int, normalization: str) -> nn.Sequential:
    convolution = nn.Conv2d(before, after, 3, padding=1, bias=normalization == "none")
    return nn.Sequential(
        OrderedDict(
            convolution=convolution,
            normalization=normalization_layer(normalization, after, rank=4),
            activation=nn.ReLU(),
        )
    )
