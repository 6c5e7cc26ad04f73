"""Normalisations by name: what each one does, and how they are found in a model."""

from math import inf

import pytest
import torch
from torch import nn

from theory.nn.batch_group_normalization import BatchGroupNormalization
from theory.nn.batch_renormalization import BatchRenormalization
from theory.nn.lp_normalization import LpNormalization
from theory.nn.noisy_batch_normalization import NoisyBatchNormalization
from theory.nn.normalization import (
    NORMALIZATIONS,
    decay_groups,
    normalization,
    normalization_layers,
)

SHAPES = {2: (5, 8), 4: (3, 8, 2, 2)}
KINDS = {
    "none": (nn.Identity, nn.Identity),
    "batch": (nn.BatchNorm1d, nn.BatchNorm2d),
    "noisy-batch": (NoisyBatchNormalization, NoisyBatchNormalization),
    "l1": (LpNormalization, LpNormalization),
    "l2": (LpNormalization, LpNormalization),
    "linf": (LpNormalization, LpNormalization),
    "batch-renormalization": (BatchRenormalization, BatchRenormalization),
    "layer": (nn.LayerNorm, nn.GroupNorm),
    "group": (nn.GroupNorm, nn.GroupNorm),
    "ghost-batch": (BatchGroupNormalization, BatchGroupNormalization),
    "batch-group": (BatchGroupNormalization, BatchGroupNormalization),
}


def batch(rank):
    return 3 * torch.randn(SHAPES[rank], generator=torch.Generator().manual_seed(0)) + 1


@pytest.mark.parametrize("rank", SHAPES)
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_every_layer_is_what_its_name_says_and_is_found_in_a_model(name, rank):
    layer = normalization(name, 8, rank)
    assert type(layer) is KINDS[name][rank == 4]
    assert layer(batch(rank)).shape == SHAPES[rank]
    found = normalization_layers(nn.Sequential(nn.Linear(4, 8), layer, nn.ReLU()))
    if name == "none":
        assert found == {}
        return
    assert layer.weight.shape == layer.bias.shape == (8,)
    assert layer.eps > 0
    expected = {"1.batch_norm": layer.batch_norm} if name == "noisy-batch" else {"1": layer}
    assert found == expected


def test_layers_have_the_constants_of_their_names():
    assert [normalization(name, 3, 2).p for name in ("l1", "l2", "linf")] == [1, 2, inf]
    ghost, group = normalization("ghost-batch", 8, 4), normalization("batch-group", 8, 4)
    assert (ghost.examples, ghost.channels, ghost.share) == (16, 1, 0.1)
    assert (group.examples, group.channels, group.share) == (None, 4, 0.1)
    assert normalization("batch-group", 8, 4, group_size=2).channels == 2
    assert normalization("group", 8, 4, group_size=2).num_groups == 4


@pytest.mark.parametrize(("name", "channels"), [("layer", 8), ("group", 4)])
@pytest.mark.parametrize("rank", SHAPES)
def test_layer_and_group_normalization_take_each_example_by_itself(name, channels, rank):
    y = batch(rank)
    groups = y.double().reshape(len(y), 8 // channels, -1)
    c = groups - groups.mean(2, keepdim=True)
    expected = (c / (c.square().mean(2, keepdim=True) + 1e-5).sqrt()).reshape(y.shape).float()
    layer = normalization(name, 8, rank)
    with torch.no_grad():
        torch.testing.assert_close(layer(y), expected, rtol=0, atol=32 * 2.0**-24)
        torch.testing.assert_close(layer(y[:1]), expected[:1], rtol=0, atol=32 * 2.0**-24)


def test_a_noisy_layer_is_seeded_by_the_generator():
    first, second = (
        normalization("noisy-batch", 8, 2, generator=torch.Generator().manual_seed(5))(batch(2))
        for _ in range(2)
    )
    assert torch.equal(first, second)


def test_weight_decay_is_of_gamma_and_beta_alone():
    model = nn.Sequential(nn.Linear(2, 4), BatchGroupNormalization(4), nn.Linear(4, 1))
    model.append(normalization("noisy-batch", 1, 2))
    groups = decay_groups(model, rescaling=0.5, weights=0.1)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    optimizer = torch.optim.SGD(groups, lr=1.0)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    for name, parameter in model.named_parameters():
        decay = 0.1 if name.startswith(("0.", "2.")) else 0.5
        torch.testing.assert_close(parameter.detach(), (1 - decay) * before[name])
