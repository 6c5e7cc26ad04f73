r"""Statements examined at the end of a residual network, on a batch that it is trained on.

The network is a chain of parts, so its end is a network of its own, whose inputs are what the parts
before make of the images: the last block, whose normalisations are examined where they are Batch
Normalization, and the linear layer.
"""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from theory.nn.normalization import normalization_layers
from verify.experiments import theorems

IMAGES = 4
"""Of the batch, where pixels are examples too."""

UNITS = 2


def examined(model: nn.Module, inputs: Tensor, labels: Tensor) -> list[dict[str, Any]]:
    """Return what :func:`verify.experiments.theorems.examine` finds at the end of a network.

    Args:
        model: one of :mod:`theory.nn.networks.resnet`.
        inputs: the batch.
        labels: of the batch.
    """
    copied = deepcopy(model).to("cpu", torch.float64).requires_grad_(False).train()
    front, end = parted(copied)
    batch, wanted = inputs.detach().cpu().double(), labels.cpu()
    found = []
    if batch_norms := {
        name: layer
        for name, layer in normalization_layers(end).items()
        if isinstance(layer, nn.BatchNorm2d)
    }:
        found += theorems.examine(
            end, front(batch[:IMAGES]), wanted[:IMAGES], cross_entropy, batch_norms, UNITS, seed=0
        )
    *before, last = (*front, *end)
    assert isinstance(last, nn.Linear)
    if len(batch) > last.in_features:  # paper L's statements are of more examples than features
        head = nn.Sequential(OrderedDict(output=last))
        features = nn.Sequential(*before)(batch)
        layers = {"output": last}
        found += theorems.examine(head, features, wanted, cross_entropy, layers, UNITS, seed=0)
    return found


def parted(model: nn.Module) -> tuple[nn.Sequential, nn.Sequential]:
    """Return a residual network's parts but the last block and what follows, and these."""
    children = OrderedDict(model.named_children())
    stages = [name for name in children if name.startswith("stage")]
    names = list(children)
    place = names.index(stages[-1])
    *blocks, last = children[stages[-1]].children()
    front = nn.Sequential(*(children[name] for name in names[:place]), *blocks)
    end = OrderedDict(last_block=last, **{name: children[name] for name in names[place + 1 :]})
    return front, nn.Sequential(end)
