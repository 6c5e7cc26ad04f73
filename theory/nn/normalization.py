r"""The normalisations of the papers, each a layer that is chosen by its name.

=========================  ========================================================
``none``                   the identity
``batch``                  Batch Normalization
``noisy-batch``            the same, followed by noise: paper S, Algorithm 1
``l1``, ``l2``, ``linf``   :math:`\ell_p` normalisation: paper S, sect. 3.3
``batch-renormalization``  Batch Renormalization: paper L, eq. (3)
``layer``                  Layer Normalization of each example
``group``                  Group Normalization, of so many channels to a group
``ghost-batch``            Batch Normalization of ghost batches of 16 examples
``batch-group``            Batch and Group Normalization at once, of so many channels to a group
=========================  ========================================================

A layer has ``weight`` and ``bias``, the re-scaling :math:`\gamma` and re-centring :math:`\beta`,
and ``eps``, where it has them.

Index convention: a batch is ``(batch, unit)``, of rank 2, or ``(batch, channel, height, width)``,
of rank 4.

Source: Santurkar et al. 2018 (paper S) and Lange, Helfrich and Ye 2022 (paper L).

>>> type(normalization("layer", features=100, rank=2)).__name__
'LayerNorm'
>>> normalization("group", features=16, rank=4).num_groups  # of four channels each
4
"""

from __future__ import annotations

from math import inf
from typing import Any

import torch
from torch import nn

from theory.nn.batch_group_normalization import BatchGroupNormalization
from theory.nn.batch_renormalization import BatchRenormalization
from theory.nn.layout import check_features
from theory.nn.lp_normalization import LpNormalization
from theory.nn.noisy_batch_normalization import NoisyBatchNormalization
from theory.nn.post_activation import PostActivation

NORMALIZATIONS = (
    "none",
    "batch",
    "noisy-batch",
    "l1",
    "l2",
    "linf",
    "batch-renormalization",
    "layer",
    "group",
    "ghost-batch",
    "batch-group",
)
"""What :func:`normalization` can be asked for."""

LAYERS = (
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    nn.BatchNorm3d,
    nn.SyncBatchNorm,
    LpNormalization,
    BatchRenormalization,
    PostActivation,
    nn.LayerNorm,
    nn.GroupNorm,
    nn.InstanceNorm1d,
    nn.InstanceNorm2d,
    nn.InstanceNorm3d,
    nn.RMSNorm,
    BatchGroupNormalization,
)
"""The kinds of layer that normalise."""

EXPONENTS = {"l1": 1, "l2": 2, "linf": inf}
"""The exponent p of each l_p normalisation."""

RESCALING = ("weight", "bias")
"""What the layers call gamma and beta."""

GHOST = 16
"""Examples of a ghost batch, as in Summers and Dinneen 2020 for batches of 128."""

SHARE = 0.1
"""The example's at inference, where BN has 4 things: ours, as paper L does not tell its own."""

GROUP_SIZE = 4
"""Channels to a group in paper L's ResNet-110; App. B: "We use group size 4"."""


def normalization(
    name: str,
    features: int,
    rank: int,
    *,
    group_size: int = GROUP_SIZE,
    generator: torch.Generator | None = None,
) -> nn.Module:
    """Return a new layer.

    Args:
        name: one of :data:`NORMALIZATIONS`.
        features: the number of units or channels.
        rank: 2 for batches ``(batch, unit)``, 4 for maps.
        group_size: how many channels Group Normalization takes together, with Batch
            Normalization or without.
        generator: what the seed of a noisy layer is drawn from; None for PyTorch's own.

    Raises:
        ValueError: no such name or rank, no features, or groups that do not fill them.

    Layer Normalization of maps is Group Normalization with one group, as paper L, sect. 3.5, has
    it: its statistics are over channels, rows and columns, its re-scaling is one for a channel.
    """
    _check(name, features, rank)
    if name == "none":
        return nn.Identity()
    if name == "batch":
        return nn.BatchNorm1d(features) if rank == 2 else nn.BatchNorm2d(features)
    if name == "noisy-batch":
        return NoisyBatchNormalization(features, rank, generator=generator)
    if name in EXPONENTS:
        return LpNormalization(features, EXPONENTS[name])
    if name == "batch-renormalization":
        return BatchRenormalization(features)
    if name == "layer":
        return nn.LayerNorm(features) if rank == 2 else nn.GroupNorm(1, features)
    if name == "ghost-batch":
        return BatchGroupNormalization(features, examples=GHOST, share=SHARE)
    _check_groups(features, group_size)
    if name == "batch-group":
        return BatchGroupNormalization(features, channels=group_size, share=SHARE)
    return nn.GroupNorm(features // group_size, features)


def _check_groups(features: int, group_size: int) -> None:
    if type(group_size) is not int or group_size < 1 or features % group_size:
        raise ValueError(
            f"features = {features} cannot be parted into groups of group_size = {group_size}; "
            "expected a multiple: choose another group_size, or another number of features"
        )


def _check(name: str, features: int, rank: int) -> None:
    if name not in NORMALIZATIONS:
        raise ValueError(
            f"no normalisation is called {name!r}; choose one of {', '.join(NORMALIZATIONS)}"
        )
    check_features(features)
    if rank not in (2, 4):
        raise ValueError(
            f"rank = {rank!r}; expected 2, for batches (batch, unit), or 4, for maps "
            "(batch, channel, height, width)"
        )


def normalization_layers(model: nn.Module) -> dict[str, nn.Module]:
    """Return the normalisation layers of a model by their names, in the order of its modules.

    Of a noisy layer it is the Batch Normalization in it: the noise is part of what comes after.  A
    post-activation layer counts with its own parameters; those of the layer behind are not its own.

    >>> list(normalization_layers(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU())))
    ['1']
    """
    return {name: part for name, part in model.named_modules() if isinstance(part, LAYERS)}


def decay_groups(model: nn.Module, rescaling: float, weights: float = 0.0) -> list[dict[str, Any]]:
    r"""Return an optimiser's parameter groups, with a weight decay of their own for gamma and beta.

    A decay :math:`\lambda` adds :math:`\lambda\theta` to the gradient of :math:`\theta`.

    Args:
        model: whose parameters they are.
        rescaling: decay of the re-scaling and re-centring of its normalisation layers.
        weights: decay of everything else.

    >>> model = nn.Sequential(nn.Linear(2, 3), BatchGroupNormalization(3))
    >>> [(len(group["params"]), group["weight_decay"]) for group in decay_groups(model, 0.1)]
    [(2, 0.1), (2, 0.0)]
    """
    found = [
        parameter
        for layer in normalization_layers(model).values()
        for name, parameter in layer.named_parameters(recurse=False)
        if name in RESCALING
    ]
    chosen = set(map(id, found))
    others = [parameter for parameter in model.parameters() if id(parameter) not in chosen]
    return [
        {"params": found, "weight_decay": rescaling},
        {"params": others, "weight_decay": weights},
    ]
