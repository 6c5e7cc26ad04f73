r"""The blocks of residual networks: two convolutions of 3 by 3, or a bottleneck, beside a shortcut.

With W for a convolution, N for normalisation, g for the rectifier and s for the shortcut, a block
is

.. math::
    x \mapsto g\big(s(x) + N_2 W_2\, g N_1 W_1 x\big)
    \qquad\text{or, pre-activation,}\qquad
    x \mapsto s(x) + W_2\, g N_2 W_1\, g N_1 x .

Where a block halves the maps and doubles the channels, :math:`W_1` and the shortcut take every
second pixel.

Index convention: maps are ``(batch, channel, height, width)``.

Source: He et al. 2016a (arXiv 1512.03385), Fig. 2 and sect. 3.3; He et al. 2016b (arXiv
1603.05027), Fig. 4 (e).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

EXPANSION = 4
"""Channels after a bottleneck over those in it: He et al. 2016a, Table 1."""

Normalization = Callable[[int], nn.Module]
"""Makes the normalisation of so many channels."""

Shortcut = Callable[[int, int, int], nn.Module]
"""Makes a shortcut from (channels before, channels after, stride)."""


Block = Callable[[int, int, int, int], nn.Module]
"""Makes a block from (its number, from 1 on; channels before; channels after; stride)."""


def convolution(before: int, after: int, side: int, stride: int, *, bias: bool) -> nn.Conv2d:
    """Return a convolution that keeps the size of the maps, or divides it by the stride."""
    return nn.Conv2d(before, after, side, stride=stride, padding=side // 2, bias=bias)


class Padding(nn.Module):
    """A shortcut without parameters: every so many pixels, and channels of zeros.

    Source: He et al. 2016a, sect. 3.3, option A.

    >>> Padding(before=1, after=3, stride=2)(torch.arange(16.0).reshape(1, 1, 4, 4))[0, :, 0, :]
    tensor([[0., 2.],
            [0., 0.],
            [0., 0.]])
    """

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.extra, self.stride = after - before, stride

    def forward(self, x: Tensor) -> Tensor:
        """Return the smaller maps, more of them."""
        return pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.extra))

    def extra_repr(self) -> str:
        """Return what tells two shortcuts apart, for the printed form."""
        return f"extra={self.extra}, stride={self.stride}"


def padding(before: int, after: int, stride: int) -> nn.Module:
    """Option A: the identity, or :class:`Padding` where the size changes."""
    return nn.Identity() if (before, stride) == (after, 1) else Padding(before, after, stride)


def projection(normalization: Normalization, *, bias: bool) -> Shortcut:
    """Option B: the identity, or a normalised convolution of 1 by 1 where the size changes."""

    def shortcut(before: int, after: int, stride: int) -> nn.Module:
        if (before, stride) == (after, 1):
            return nn.Identity()
        return nn.Sequential(convolution(before, after, 1, stride, bias=bias), normalization(after))

    return shortcut


class ResidualBlock(nn.Module):
    """The original block, with its last activation after the sum.

    Args:
        before, after: channels.
        stride: of the first convolution and of the shortcut.
        normalization: makes the normalisations.
        shortcut: makes the shortcut.
        bias: whether the convolutions have one.
    """

    def __init__(
        self,
        before: int,
        after: int,
        stride: int,
        normalization: Normalization,
        shortcut: Shortcut,
        *,
        bias: bool,
    ) -> None:
        super().__init__()
        self.convolution1 = convolution(before, after, 3, stride, bias=bias)
        self.normalization1 = normalization(after)
        self.convolution2 = convolution(after, after, 3, 1, bias=bias)
        self.normalization2 = normalization(after)
        self.shortcut = shortcut(before, after, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for maps."""
        residual = torch.relu(self.normalization1(self.convolution1(x)))
        residual = self.normalization2(self.convolution2(residual))
        return torch.relu(self.shortcut(x) + residual)


class BottleneckBlock(nn.Module):
    r"""The block of three convolutions: 1 by 1 to fewer channels, 3 by 3, 1 by 1 to more.

    .. math:: x \mapsto g\big(s(x) + N_3 W_3\, g N_2 W_2\, g N_1 W_1 x\big)

    Args:
        before, after: channels; ``after`` is four times what is between.
        stride: of the first convolution and of the shortcut.
        normalization: makes the normalisations.
        shortcut: makes the shortcut.
        bias: whether the convolutions have one.

    Source: He et al. 2016a, Fig. 5 (right) and Table 1.
    """

    def __init__(
        self,
        before: int,
        after: int,
        stride: int,
        normalization: Normalization,
        shortcut: Shortcut,
        *,
        bias: bool,
    ) -> None:
        super().__init__()
        between = after // EXPANSION
        self.convolution1 = convolution(before, between, 1, stride, bias=bias)
        self.normalization1 = normalization(between)
        self.convolution2 = convolution(between, between, 3, 1, bias=bias)
        self.normalization2 = normalization(between)
        self.convolution3 = convolution(between, after, 1, 1, bias=bias)
        self.normalization3 = normalization(after)
        self.shortcut = shortcut(before, after, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for maps."""
        residual = torch.relu(self.normalization1(self.convolution1(x)))
        residual = torch.relu(self.normalization2(self.convolution2(residual)))
        residual = self.normalization3(self.convolution3(residual))
        return torch.relu(self.shortcut(x) + residual)


class PreactivationBlock(nn.Module):
    """The block of He et al. 2016b: normalisation and activation before each convolution.

    Args:
        before, after: channels.
        stride: of the first convolution and of the shortcut.
        activation: what comes before the first convolution, beside the shortcut.
        normalization: makes the second normalisation.
        shortcut: makes the shortcut.
        bias: whether the convolutions have one.
    """

    def __init__(
        self,
        before: int,
        after: int,
        stride: int,
        activation: nn.Module,
        normalization: Normalization,
        shortcut: Shortcut,
        *,
        bias: bool,
    ) -> None:
        super().__init__()
        self.activation1 = activation
        self.convolution1 = convolution(before, after, 3, stride, bias=bias)
        self.normalization2 = normalization(after)
        self.convolution2 = convolution(after, after, 3, 1, bias=bias)
        self.shortcut = shortcut(before, after, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output for maps."""
        residual = self.convolution1(self.activation1(x))
        residual = self.convolution2(torch.relu(self.normalization2(residual)))
        y: Tensor = self.shortcut(x) + residual
        return y


def stages(
    block: Block, channels: Sequence[int], blocks: int | Sequence[int], before: int | None = None
) -> OrderedDict[str, nn.Module]:
    """Return stages of blocks, ``stage1`` of ``block1``, ``block2``, ...; then ``stage2``, ...

    Args:
        block: makes a block; blocks are numbered through all stages.
        channels: of each stage; every stage but the first halves the maps.
        blocks: in each stage.
        before: channels before the first stage; None for those of the first stage.

    Raises:
        ValueError: no blocks or no channels.
    """
    counts = [blocks] * len(channels) if isinstance(blocks, int) else list(blocks)
    if min(counts) < 1 or min(channels) < 1:
        raise ValueError(f"{blocks} blocks of {channels} channels; expected at least 1 of each")
    made: OrderedDict[str, nn.Module] = OrderedDict()
    before, number = channels[0] if before is None else before, 0
    for stage, (after, count) in enumerate(zip(channels, counts, strict=True)):
        row: OrderedDict[str, nn.Module] = OrderedDict()
        for position in range(count):
            stride, number = 2 if stage > 0 and position == 0 else 1, number + 1
            row[f"block{position + 1}"] = block(number, before, after, stride)
            before = after
        made[f"stage{stage + 1}"] = nn.Sequential(row)
    return made
