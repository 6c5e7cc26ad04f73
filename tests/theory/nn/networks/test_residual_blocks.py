"""The blocks of residual networks, against their formulas written out."""

import pytest
import torch
from torch import nn
from torch.nn.functional import conv2d

from theory.nn.networks.residual_blocks import (
    BottleneckBlock,
    PreactivationBlock,
    ResidualBlock,
    padding,
    projection,
)

ACCURACY = 2.0**-40
"""Of chains of some hundred roundings in double precision."""
SIZES = {"same": (4, 4, 1), "halved": (4, 8, 2)}
SHORTCUTS = {"padded": padding, "projected": projection(nn.BatchNorm2d, bias=False)}


def batch():
    return torch.randn(3, 4, 6, 6, generator=torch.Generator().manual_seed(0)).double()


def drawn(module):
    generator = torch.Generator().manual_seed(1)
    for parameter in module.double().parameters():
        parameter.data.copy_(torch.randn(parameter.shape, generator=generator))
    return module.requires_grad_(False)


def convolved(x, layer, stride=1):
    return conv2d(x, layer.weight, stride=stride, padding=layer.weight.shape[-1] // 2)


def shortcut_of(block, x, after, stride):
    if stride == 1:
        return x
    if isinstance(block.shortcut, nn.Sequential):
        return block.shortcut[1](conv2d(x, block.shortcut[0].weight, stride=2))
    kept = torch.zeros(len(x), after, 3, 3, dtype=x.dtype)
    kept[:, : x.shape[1]] = x[:, :, ::2, ::2]
    return kept


def residual(block, x, stride):
    """The chain of convolutions, each normalised."""
    x = block.normalization1(convolved(x, block.convolution1, stride)).clamp(min=0)
    x = block.normalization2(convolved(x, block.convolution2))
    if isinstance(block, BottleneckBlock):
        x = block.normalization3(convolved(x.clamp(min=0), block.convolution3))
    return x


@pytest.mark.parametrize("kind", [ResidualBlock, BottleneckBlock])
@pytest.mark.parametrize("shortcut", SHORTCUTS)
@pytest.mark.parametrize("size", SIZES)
def test_the_original_block_and_that_with_a_bottleneck(kind, size, shortcut):
    _, after, stride = SIZES[size]
    block = drawn(kind(*SIZES[size], nn.BatchNorm2d, SHORTCUTS[shortcut], bias=False))
    beside = shortcut_of(block, batch(), after, stride)
    inner = residual(block, batch(), stride)
    expected = (beside + inner).clamp(min=0)
    torch.testing.assert_close(block(batch()), expected, rtol=0, atol=ACCURACY)
    wrong = beside + inner.clamp(min=0)  # the last activation before the sum
    with pytest.raises(AssertionError, match="not close"):
        torch.testing.assert_close(block(batch()), wrong, rtol=0, atol=ACCURACY)


@pytest.mark.parametrize("size", SIZES)
def test_the_preactivation_block(size):
    before, after, stride = SIZES[size]
    activation = nn.Sequential(nn.BatchNorm2d(before), nn.ReLU())
    block = drawn(
        PreactivationBlock(before, after, stride, activation, nn.BatchNorm2d, padding, bias=False)
    )
    inner = block.activation1[0](batch()).clamp(min=0)
    inner = block.normalization2(convolved(inner, block.convolution1, stride)).clamp(min=0)
    expected = shortcut_of(block, batch(), after, stride) + convolved(inner, block.convolution2)
    torch.testing.assert_close(block(batch()), expected, rtol=0, atol=ACCURACY)
