r"""Residual networks: ResNet-110 for 32 by 32, post- and pre-activation; ResNet-18 and -50 for 224.

Normalisation comes before each activation.  A convolution has a bias only where the network has no
normalisation: one with a shift of its own makes it superfluous.

Index convention: images are ``(batch, channel, height, width)``.

Source: Lange, Helfrich and Ye 2022, sect. 5, "Residual Networks": "The ResNet-110 has 54 residual
blocks, containing two 3x3 convolution layers each block", "The ResNet-18 has 8 residual blocks";
App. B: He-Normal weights, with BNP+GN "scaled by 0.1" (CIFAR-10) or "by 0.4" (CIFAR-100), "group
size 4", and 32 for ResNet-18.  Read here: a group's size is its number of channels (paper L, sect.
3.5, "groups the channels of a layer by a given groupsize"), not the number of groups, which Wu and
He 2018, whom it follows, take to be 32.  Both are the network's own:

- He et al. 2016a, sect. 4.2: a convolution, then 3 stages of n blocks with 16, 32 and 64 channels,
  global averaging, one linear layer, 6n + 2 layers in all, "identity shortcuts in all cases"
  (option A); 0.27 million parameters for 20 layers and 1.7 for 110.
- He et al. 2016b for the pre-activation version, whose first activation, right after the first
  convolution, is before the first shortcut too, and which has one more at the end.  Shortcuts are
  those of option A there too.
- He et al. 2016a, Table 1, for ResNet-18, with shortcuts of option B; and for ResNet-50, which
  neither paper trains, of blocks with a bottleneck: 25.6 million parameters.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import partial

import torch
from torch import nn

from theory.nn.networks.images import Images
from theory.nn.networks.initialization import he
from theory.nn.networks.residual_blocks import (
    EXPANSION,
    BottleneckBlock,
    Normalization,
    PreactivationBlock,
    ResidualBlock,
    convolution,
    padding,
    projection,
    stages,
)
from theory.nn.normalization import normalization as normalization_layer

BLOCKS = 18
"""In each of three stages, in ResNet-110."""

CHANNELS = (16, 32, 64)
"""Of each of ResNet-110's stages."""

BOTTLENECKS = (3, 4, 6, 3)
"""Blocks in each of ResNet-50's stages."""


def resnet(
    shape: tuple[int, int, int] = (3, 32, 32),
    classes: int = 10,
    blocks: int = BLOCKS,
    *,
    normalization: str = "none",
    group_size: int = 4,
    scale: float = 1.0,
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """Return the residual network of 6 * blocks + 2 layers, by default ResNet-110, freshly drawn.

    Its children are ``images``, ``convolution``, ``normalization``, ``activation``, ``stage1`` to
    ``stage3``, of blocks ``block1``, ``block2``, ..., then ``pooling``, ``flatten`` and
    ``output``, a linear layer.

    Args:
        shape: of an image, (channel, height, width), at least 4 by 4 pixels.
        classes: number of outputs.
        blocks: in each stage.
        normalization: a name of :data:`theory.nn.normalization.NORMALIZATIONS`.
        group_size: channels to a group of Group Normalization.
        scale: what the He-Normal weights are multiplied by.
        generator: where the weights are drawn from; None for PyTorch's global one.

    Raises:
        ValueError: a size below what it can be, or no normalisation is called so.

    >>> network = resnet(blocks=3, normalization="batch")
    >>> round(sum(p.numel() for p in network.parameters()) / 1e6, 2)  # millions
    0.27
    """
    make, bias = _normalizations(normalization, group_size), normalization == "none"

    def block(_: int, before: int, after: int, stride: int) -> nn.Module:
        return ResidualBlock(before, after, stride, make, padding, bias=bias)

    network = nn.Sequential(
        OrderedDict(
            **_stem(shape, make, bias=bias),
            **stages(block, CHANNELS, blocks),
            **_head(CHANNELS[-1], classes),
        )
    )
    he(network, scale, generator)
    return network


def preactivation_resnet(
    shape: tuple[int, int, int] = (3, 32, 32),
    classes: int = 100,
    blocks: int = BLOCKS,
    *,
    normalization: str = "none",
    group_size: int = 4,
    scale: float = 1.0,
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """Return the pre-activation version of :func:`resnet`, freshly drawn.

    Its children are those of :func:`resnet`, and ``last_normalization`` and ``last_activation``
    before ``pooling``; its arguments and errors are those of :func:`resnet`.
    """
    make, bias = _normalizations(normalization, group_size), normalization == "none"

    def block(number: int, before: int, after: int, stride: int) -> nn.Module:
        # The activation before the first block is the network's own, ahead of the shortcut too.
        activation = nn.Sequential(make(before), nn.ReLU()) if number > 1 else nn.Identity()
        return PreactivationBlock(before, after, stride, activation, make, padding, bias=bias)

    network = nn.Sequential(
        OrderedDict(
            **_stem(shape, make, bias=bias),
            **stages(block, CHANNELS, blocks),
            last_normalization=make(CHANNELS[-1]),
            last_activation=nn.ReLU(),
            **_head(CHANNELS[-1], classes),
        )
    )
    he(network, scale, generator)
    return network


def resnet18(
    shape: tuple[int, int, int] = (3, 224, 224),
    classes: int = 1000,
    width: int = 64,
    *,
    normalization: str = "none",
    group_size: int = 32,
    scale: float = 1.0,
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """Return ResNet-18, freshly drawn.

    Its children are ``images``, ``convolution`` (7 by 7), ``normalization``, ``activation``,
    ``first_pooling``, ``stage1`` to ``stage4``, of blocks ``block1`` and ``block2``, then
    ``pooling``, ``flatten`` and ``output``, a linear layer.

    Args:
        shape: of an image, (channel, height, width), at least 32 by 32 pixels.
        classes: number of outputs.
        width: channels of the first stage; the last has eight times as many.
        normalization: a name of :data:`theory.nn.normalization.NORMALIZATIONS`.
        group_size: channels to a group of Group Normalization.
        scale: what the He-Normal weights are multiplied by.
        generator: where the weights are drawn from; None for PyTorch's global one.

    Raises:
        ValueError: a size below what it can be, or no normalisation is called so.
    """
    make, bias = _normalizations(normalization, group_size), normalization == "none"
    shortcut = projection(make, bias=bias)
    channels = (width, 2 * width, 4 * width, 8 * width)

    def block(_: int, before: int, after: int, stride: int) -> nn.Module:
        return ResidualBlock(before, after, stride, make, shortcut, bias=bias)

    network = nn.Sequential(
        OrderedDict(
            **_large_stem(shape, width, make, bias=bias),
            **stages(block, channels, blocks=2),
            **_head(channels[-1], classes),
        )
    )
    he(network, scale, generator)
    return network


def resnet50(
    shape: tuple[int, int, int] = (3, 224, 224),
    classes: int = 1000,
    width: int = 64,
    *,
    normalization: str = "none",
    group_size: int = 32,
    scale: float = 1.0,
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    """Return ResNet-50, freshly drawn.

    Its children are those of :func:`resnet18`, in the blocks three convolutions: 1 by 1, 3 by 3
    and 1 by 1.  Its arguments and errors are those of :func:`resnet18`; the first stage has four
    times ``width`` channels, with ``width`` in its bottlenecks, and the last 32 times.

    >>> network = resnet50(normalization="batch")
    >>> round(sum(p.numel() for p in network.parameters()) / 1e6, 1)  # millions
    25.6
    """
    make, bias = _normalizations(normalization, group_size), normalization == "none"
    shortcut = projection(make, bias=bias)
    channels = tuple(EXPANSION * width * factor for factor in (1, 2, 4, 8))

    def block(_: int, before: int, after: int, stride: int) -> nn.Module:
        return BottleneckBlock(before, after, stride, make, shortcut, bias=bias)

    network = nn.Sequential(
        OrderedDict(
            **_large_stem(shape, width, make, bias=bias),
            **stages(block, channels, BOTTLENECKS, width),
            **_head(channels[-1], classes),
        )
    )
    he(network, scale, generator)
    return network


def _normalizations(name: str, group_size: int) -> Normalization:
    return partial(normalization_layer, name, rank=4, group_size=group_size)


def _stem(
    shape: tuple[int, int, int], normalization: Normalization, *, bias: bool
) -> dict[str, nn.Module]:
    """Return what comes before the stages, for images of 32 by 32 or so."""
    return {
        "images": Images(*shape, least=4),
        "convolution": convolution(shape[0], CHANNELS[0], 3, 1, bias=bias),
        "normalization": normalization(CHANNELS[0]),
        "activation": nn.ReLU(),
    }


def _large_stem(
    shape: tuple[int, int, int], width: int, normalization: Normalization, *, bias: bool
) -> dict[str, nn.Module]:
    """Return what comes before the stages, for images of 224 by 224 or so."""
    return {
        "images": Images(*shape, least=32),
        "convolution": convolution(shape[0], width, 7, 2, bias=bias),
        "normalization": normalization(width),
        "activation": nn.ReLU(),
        "first_pooling": nn.MaxPool2d(3, stride=2, padding=1),
    }


def _head(channels: int, classes: int) -> dict[str, nn.Module]:
    """Global averaging and one linear layer."""
    if classes < 1:
        raise ValueError(f"classes = {classes}; expected at least 1")
    return {
        "pooling": nn.AdaptiveAvgPool2d(1),
        "flatten": nn.Flatten(),
        "output": nn.Linear(channels, classes),
    }
