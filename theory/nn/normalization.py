r"""The normalisations of the papers, each a layer that is chosen by its name.

=========================  ========================================================
``none``                   the identity
``batch``                  Batch Normalization
``noisy-batch``            the same, followed by noise: paper S, Algorithm 1
``l1``, ``l2``, ``linf``   :math:`\ell_p` normalisation: paper S, sect. 3.3
``batch-renormalization``  Batch Renormalization: paper L, eq. (3)
``layer``                  Layer Normalization of each example
``group``                  Group Normalization, of so many channels to a group
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

import torch
from torch import nn

from theory.nn.batch_renormalization import BatchRenormalization
from theory.nn.layout import check_features
from theory.nn.lp_normalization import LpNormalization
from theory.nn.noisy_batch_normalization import NoisyBatchNormalization

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
)
"""What :func:`normalization` can be asked for."""

LAYERS = (
    nn.BatchNorm1d,
    nn.BatchNorm2d,
    LpNormalization,
    BatchRenormalization,
    nn.LayerNorm,
    nn.GroupNorm,
)
"""The kinds of layer that normalise."""

EXPONENTS = {"l1": 1, "l2": 2, "linf": inf}
"""The exponent p of each l_p normalisation."""

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
        group_size: how many channels Group Normalization takes together.
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
    return _group_normalization(features, group_size)


def _group_normalization(features: int, group_size: int) -> nn.GroupNorm:
    if group_size < 1 or features % group_size:
        raise ValueError(
            f"features = {features} cannot be parted into groups of group_size = {group_size}; "
            "expected a multiple: choose another group_size, or another number of features"
        )
    return nn.GroupNorm(features // group_size, features)


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

    Of a noisy layer it is the Batch Normalization in it: the noise is part of what comes after.

    >>> list(normalization_layers(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU())))
    ['1']
    """
    return {name: part for name, part in model.named_modules() if isinstance(part, LAYERS)}
