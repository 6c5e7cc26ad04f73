"""What `make gpu` audits: ResNet-18 with Batch Normalization, on noise."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from theory.nn.networks.resnet import resnet18

SHAPE, CLASSES, BATCH = (3, 64, 64), 10, 64


def make_model() -> nn.Module:
    """Return the network, the same on every run."""
    draws = torch.Generator().manual_seed(0)
    return resnet18(SHAPE, CLASSES, normalization="batch", generator=draws)


def batches() -> Iterator[tuple[Tensor, Tensor]]:
    """Yield images and labels without end."""
    draws = torch.Generator().manual_seed(1)
    while True:
        images = torch.rand(BATCH, *SHAPE, generator=draws)
        yield images, torch.randint(CLASSES, (BATCH,), generator=draws)
