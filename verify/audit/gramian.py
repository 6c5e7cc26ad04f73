r"""What a linear or convolution layer makes of its inputs, as a matrix that is never built.

A layer is :math:`\hat H\hat w` for each output, :math:`\hat H = [e, H]` with a row for each
position of the outputs and a column for each weight of an output; every group of channels has a
matrix of its own.  Some examples at a time are laid out as rows, in float64, and their products
added: one axis of convolution, two or three, any stride, dilation, groups and padding, even kernels
included.

Index convention: maps are ``(batch, channel, ...)``, a column is (channel, kernel's entry, ...),
the last index fastest, as a weight is flattened; a row is (example, position), likewise.

Source: Lange, Helfrich and Ye 2022, Prop. 2, eq. (18) and Prop. 9.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from theory import convolution
from theory.convolution.windows import ENTRIES, Geometry, rows_of

CONSTANT = 2.0**-96
"""A variance that is a smaller part of the mean square is rounding, in float64."""


def rows(module: nn.Module, inputs: Tensor) -> Iterator[Tensor]:
    r"""Yield rows of :math:`\hat H`, ``(group, row, column)``, in float64, in order.

    >>> layer = nn.Conv1d(1, 1, 2)
    >>> [found] = rows(layer, torch.tensor([[[1.0, 2.0, 5.0]]]))
    >>> found[0].tolist()
    [[1.0, 1.0, 2.0], [1.0, 2.0, 5.0]]
    """
    if isinstance(module, nn.Linear):
        for part in inputs.reshape(-1, inputs.shape[-1]).split(
            max(ENTRIES // (inputs.shape[-1] + 1), 1)
        ):
            yield _augmented(part.double()[None])
        return
    maps = batched(module, inputs)
    each = columns(module) * prod(maps.shape[2:])
    for part in maps.split(max(ENTRIES // each, 1)):
        yield _augmented(unfolded(module, part.double()))


def columns(module: nn.Module) -> int:
    """Return the number of columns of a group's matrix, the ones included."""
    weight = module.weight
    assert isinstance(weight, Tensor)
    return weight[0].numel() + 1


def groups(module: nn.Module) -> int:
    """Return the number of groups of channels."""
    found = getattr(module, "groups", 1)
    assert isinstance(found, int)
    return found


def positions(module: nn.Module, inputs: Tensor) -> int:
    """Return how many rows a layer's matrix has."""
    if isinstance(module, nn.Linear):
        return inputs.numel() // inputs.shape[-1]
    maps = batched(module, inputs)
    return len(maps) * unfolded(module, maps[:1].double()).shape[1]


def rows_less(module: nn.Module, inputs: Tensor, means: Tensor) -> Iterator[Tensor]:
    r"""Yield rows of :math:`H - e\mu^\top`, ``(group, row, column)``, in order."""
    for part in rows(module, inputs):
        yield part[..., 1:] - means[:, None]


def deviations(module: nn.Module, inputs: Tensor, means: Tensor) -> Tensor:
    r"""Return :math:`H - e\mu^\top` of each group, ``(group, row, column)``."""
    found = torch.cat([*rows_less(module, inputs, means)], dim=1)
    return found - found.mean(1, keepdim=True)


def scatter(module: nn.Module, inputs: Tensor, means: Tensor) -> Tensor:
    r"""Return :math:`\sum_i (h_i - \mu)(h_i - \mu)^\top`, ``(group, column, column)``.

    Deviations are multiplied, not subtracted from products afterwards: an offset costs no digits.

    Args:
        module: linear, or a convolution.
        inputs: what it is given.
        means: of each column, ``(group, column)``, as :func:`moments` gives them.
    """
    fits = structure(module)
    if fits is not None and fits == Geometry(fits.kernel):
        return _scatter_of_maps(batched(module, inputs).double(), fits)
    total, sums, count = torch.zeros_like(means[..., None]), torch.zeros_like(means), 0
    for part in rows_less(module, inputs, means):
        total = total + part.mT @ part
        sums, count = sums + part.sum(1), count + part.shape[1]
    return total - sums[:, :, None] * (sums / count)[:, None]


def _scatter_of_maps(maps: Tensor, fits: Geometry) -> Tensor:
    """Return the scatter of a convolution's columns, without the unfolded map.

    A column is that of its channel less the channel's mean, plus the mean times a column of zeros
    and ones: where the kernel's entry meets the map.  These are the columns of one more channel, of
    ones, and the entry in the kernel's middle always meets it.
    """
    means, each = maps.mean((0, 2, 3)), fits.kernel**2
    deviations = torch.cat([maps - means[:, None, None], torch.ones_like(maps[:, :1])], dim=1)
    gram, count = convolution.gramian.gram(deviations, fits.kernel), rows_of(maps, fits)
    sums = gram[0, 1:]
    found = gram[1:, 1:] - sums[:, None] * (sums / count)
    middle = len(means) * each + each // 2
    found[middle], found[:, middle] = 0.0, 0.0
    found = found.reshape(len(means) + 1, each, len(means) + 1, each)
    found = found[:-1] + means[:, None, None, None] * found[-1:]
    found = found[:, :, :-1] + means[:, None] * found[:, :, -1:]
    return found.reshape(1, len(means) * each, -1)


def preconditioned(
    module: nn.Module,
    inputs: Tensor,
    group: int,
    statistics: tuple[Tensor, Tensor],
    curvature: Tensor,
) -> Tensor:
    r"""Return :math:`\hat G^\top S\hat G` of one group, ``(column, column)``.

    Args:
        module: linear, or a convolution.
        inputs: what it is given.
        group: of channels.
        statistics: mean and deviation of each column of H, ``(column,)``.
        curvature: the diagonal of S, ``(row,)``.
    """
    mean, deviation = statistics
    total, start = curvature.new_zeros(()), 0
    for part in rows(module, inputs):
        stop = start + part.shape[1]
        normalized = _augmented((part[group, :, 1:] - mean) / deviation)
        total, start = total + normalized.mT @ (curvature[start:stop, None] * normalized), stop
    return total


def without(preconditioned: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    r"""Return :math:`P^{-\top}AP^{-1}` for :math:`P = UD`.

    >>> A = torch.tensor([[2.0, 0.0], [0.0, 2.0]])  # of the columns (1, 1) and (-1, 1)
    >>> without(A, torch.tensor([2.0]), torch.tensor([1.0])).tolist()  # of (1, 1) and (1, 3)
    [[2.0, 4.0], [4.0, 10.0]]
    """
    scale = torch.cat([torch.ones_like(deviation[:1]), deviation])
    found = scale[:, None] * preconditioned * scale
    found[:, 1:] += found[:, :1] * mean
    found[1:] += mean[:, None] * found[:1]
    return found


def moments(module: nn.Module, inputs: Tensor) -> tuple[Tensor, Tensor]:
    r"""Return the mean and the biased variance of each column of H, ``(group, column)``.

    In two passes, so that no offset is squared; equal entries have no variance.
    """
    if (fits := structure(module)) is not None:
        maps = batched(module, inputs).double()
        mean = convolution.moments.column_means(maps, **fits._asdict())
        variance = convolution.moments.column_variances(maps, **fits._asdict())
        size = maps.square().mean((0, 2, 3))[:, None, None]
        variance = torch.where(variance <= CONSTANT * size, 0.0, variance)
        return mean.reshape(1, -1), variance.reshape(1, -1)
    count, sums, low, high = 0, None, None, None
    for part in rows(module, inputs):
        features, count = part[..., 1:], count + part.shape[1]
        least, most, total = features.amin(1), features.amax(1), features.sum(1)
        sums = total if sums is None else sums + total
        low = least if low is None else torch.minimum(low, least)
        high = most if high is None else torch.maximum(high, most)
    assert sums is not None
    mean = sums / count
    squares = sum(part.square().sum(1) for part in rows_less(module, inputs, mean))
    return mean, torch.where(low == high, 0.0, squares / count)  # type: ignore[call-overload]


def structure(module: nn.Module) -> Geometry | None:
    """Return the geometry in the words of :mod:`theory.convolution`, None if it has none for it."""
    if not isinstance(module, nn.Conv2d) or module.groups > 1 or module.padding_mode != "zeros":
        return None
    (kernel, other), (stride, _), (dilation, _) = (
        module.kernel_size,
        module.stride,
        module.dilation,
    )
    if kernel != other or kernel % 2 == 0 or len({*module.stride}) + len({*module.dilation}) > 2:
        return None
    for padding in ("same", "valid"):
        found = Geometry(kernel, stride, dilation, padding)
        if [*module._reversed_padding_repeated_twice] == [found.margin()] * 4:
            return found
    return None


def column(module: nn.Module, inputs: Tensor, group: int, number: int) -> Tensor:
    r"""Return a column of H, ``(row,)``, in float64; the ones, of :math:`\hat H`, are not counted.

    >>> layer = nn.Conv1d(1, 1, 2, stride=2)
    >>> column(layer, torch.tensor([[[1.0, 2.0, 5.0, 7.0]]]), 0, 1).tolist()
    [2.0, 7.0]
    """
    if isinstance(module, nn.Linear):
        return inputs.reshape(-1, inputs.shape[-1])[:, number].double()
    weight = module.weight
    assert isinstance(weight, Tensor)
    each, *kernel = weight.shape[1:]
    channel, *entry = np.unravel_index(number, (each, *kernel))
    one = int(group * each + channel)
    found = _padded(module, batched(module, inputs)[:, one : one + 1])
    for axis, (start, size) in enumerate(zip(entry, kernel, strict=True)):
        stride, dilation = (getattr(module, name)[axis] for name in ("stride", "dilation"))
        stop = found.shape[2 + axis] - (size - 1 - int(start)) * dilation
        places = torch.arange(int(start) * dilation, stop, stride, device=found.device)
        found = found.index_select(2 + axis, places)
    return found.reshape(-1).double()


def some_rows(module: nn.Module, inputs: Tensor, chosen: Tensor) -> Tensor:
    """Return some rows of H, ``(group, row, column)``, in float64, by their numbers in order."""
    if isinstance(module, nn.Linear):
        return inputs.reshape(-1, inputs.shape[-1])[chosen].double()[None]
    maps = batched(module, inputs)
    each = unfolded(module, maps[:1].double()).shape[1]
    examples, places = torch.unique(chosen // each, return_inverse=True)
    parts = [
        unfolded(module, maps[[int(example)]].double())[:, chosen[places == i] % each]
        for i, example in enumerate(examples)
    ]
    return torch.cat(parts, dim=1)


def spaced(count: int, most: int) -> Tensor:
    """Return numbers below a count at equal distances, at most so many.

    >>> spaced(10, 4).tolist(), spaced(2, 4).tolist()
    ([0, 3, 6, 9], [0, 1])
    """
    return torch.linspace(0, count - 1, min(count, most), device="cpu").round().long()


def batched(module: nn.Module, inputs: Tensor) -> Tensor:
    """Return maps with the batch's axis, which one example may come without."""
    dimensions = len(module.kernel_size)  # type: ignore[arg-type]
    return inputs if inputs.ndim == dimensions + 2 else inputs[None]


def _augmented(features: Tensor) -> Tensor:
    return torch.cat([torch.ones_like(features[..., :1]), features], dim=-1)


def unfolded(module: nn.Module, maps: Tensor) -> Tensor:
    """Return the rows of some examples, ``(group, row, column)``."""
    dimensions = len(module.kernel_size)  # type: ignore[arg-type]
    padded = _padded(module, maps)
    for axis in range(dimensions):
        kernel, stride, dilation = (
            getattr(module, name)[axis] for name in ("kernel_size", "stride", "dilation")
        )
        windows = padded.unfold(2 + axis, (kernel - 1) * dilation + 1, stride)
        padded = windows[..., ::dilation]
    batch, channels, *rest = padded.shape
    positions, kernel_sizes = rest[:dimensions], rest[dimensions:]
    parts = groups(module)
    split = padded.reshape(batch, parts, channels // parts, prod(positions), prod(kernel_sizes))
    return split.permute(1, 0, 3, 2, 4).reshape(parts, batch * prod(positions), -1)


def _padded(module: nn.Module, maps: Tensor) -> Tensor:
    margins: list[int] = module._reversed_padding_repeated_twice  # type: ignore[assignment]
    mode = str(module.padding_mode)
    if not any(margins):
        return maps
    return pad(maps, margins) if mode == "zeros" else pad(maps, margins, mode=mode)
