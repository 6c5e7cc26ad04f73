"""The blocks of residual networks, against their formulas written out."""

import pytest
import torch
from torch import nn
from torch.nn.functional import conv2d

from theory.nn.networks.residual_blocks import (
    PreactivationBlock,
    ResidualBlock,
    padding,
    projection,
    stages,
)

ACCURACY = 2.0**-40
"""Of chains of some hundred roundings in double precision."""
SIZES = {"same": (3, 3, 1), "halved": (3, 6, 2)}


def batch():
    return torch.randn(4, 3, 6, 6, generator=torch.Generator().manual_seed(0)).double()


def drawn(module):
    generator = torch.Generator().manual_seed(1)
    module.double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return module


def norm(y, layer):
    """Batch Normalization, literally."""
    c = y - y.mean((0, 2, 3), keepdim=True)
    yhat = c / ((c * c).mean((0, 2, 3), keepdim=True) + layer.eps).sqrt()
    return yhat * layer.weight.reshape(1, -1, 1, 1) + layer.bias.reshape(1, -1, 1, 1)


def shortcut_of(block, x, after, stride):
    if stride == 1:
        return x
    if isinstance(block.shortcut, nn.Sequential):
        return norm(conv2d(x, block.shortcut[0].weight, stride=2), block.shortcut[1])
    kept = torch.zeros(len(x), after, 3, 3, dtype=x.dtype)
    for row in range(3):
        for column in range(3):
            kept[:, : x.shape[1], row, column] = x[:, :, 2 * row, 2 * column]
    return kept


def post_activation(block, x, after, stride):
    inner = conv2d(x, block.convolution1.weight, stride=stride, padding=1)
    inner = norm(inner, block.normalization1).clamp(min=0)
    inner = norm(conv2d(inner, block.convolution2.weight, padding=1), block.normalization2)
    return (shortcut_of(block, x, after, stride) + inner).clamp(min=0)


def pre_activation(block, x, after, stride):
    inner = norm(x, block.activation1[0]).clamp(min=0)
    inner = conv2d(inner, block.convolution1.weight, stride=stride, padding=1)
    inner = norm(inner, block.normalization2).clamp(min=0)
    inner = conv2d(inner, block.convolution2.weight, padding=1)
    return shortcut_of(block, x, after, stride) + inner


@pytest.mark.parametrize("shortcut", [padding, projection(nn.BatchNorm2d, bias=False)])
@pytest.mark.parametrize("size", SIZES)
def test_the_original_block(size, shortcut):
    block = drawn(ResidualBlock(*SIZES[size], nn.BatchNorm2d, shortcut, bias=False))
    _, after, stride = SIZES[size]
    expected = post_activation(block, batch(), after, stride)
    torch.testing.assert_close(block(batch()), expected, rtol=0, atol=ACCURACY)


@pytest.mark.parametrize("size", SIZES)
def test_the_preactivation_block(size):
    before, after, stride = SIZES[size]
    activation = nn.Sequential(nn.BatchNorm2d(before), nn.ReLU())
    block = drawn(
        PreactivationBlock(before, after, stride, activation, nn.BatchNorm2d, padding, bias=False)
    )
    expected = pre_activation(block, batch(), after, stride)
    torch.testing.assert_close(block(batch()), expected, rtol=0, atol=ACCURACY)
    assert (block(batch()) < 0).any(), "an activation after the sum"


def test_the_comparison_tells_the_two_blocks_apart():
    """A planted mistake: the last activation before the sum."""
    block = drawn(ResidualBlock(3, 3, 1, nn.BatchNorm2d, padding, bias=False))
    x = batch()
    inner = norm(conv2d(x, block.convolution1.weight, padding=1), block.normalization1)
    inner = conv2d(inner.clamp(min=0), block.convolution2.weight, padding=1)
    wrong = x + norm(inner, block.normalization2).clamp(min=0)
    with pytest.raises(AssertionError, match="not close"):
        torch.testing.assert_close(block(x), wrong, rtol=0, atol=ACCURACY)


def test_stages_halve_the_maps_once_each_but_the_first():
    seen = []

    def block(number, before, after, stride):
        seen.append((number, before, after, stride))
        return nn.Identity()

    assert list(stages(block, (2, 4), blocks=2)) == ["stage1", "stage2"]
    assert seen == [(1, 2, 2, 1), (2, 2, 2, 1), (3, 2, 4, 2), (4, 4, 4, 1)]


@pytest.mark.parametrize(("channels", "blocks"), [((0, 4), 1), ((2, 4), 0)])
def test_nothing_to_make_is_refused(channels, blocks):
    with pytest.raises(ValueError, match="expected at least 1 of each"):
        stages(lambda *_: nn.Identity(), channels, blocks)
