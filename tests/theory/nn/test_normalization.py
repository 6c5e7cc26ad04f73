"""Normalisations by name: what each one does, and what cannot be asked for."""

import numpy as np
import pytest
import torch
from torch import nn

from theory.nn.lp_normalization import LpNormalization
from theory.nn.noisy_batch_normalization import NoisyBatchNormalization
from theory.nn.normalization import NORMALIZATIONS, normalization, normalization_layers

SHAPES = {2: (5, 8), 4: (3, 8, 2, 2)}
OVER_THE_BATCH = ("batch", "l1", "l2", "linf", "noisy-batch")
"""Batch Renormalization's own tests say what becomes of the mean."""


def batch(rank):
    return 3 * torch.randn(SHAPES[rank], generator=torch.Generator().manual_seed(0)) + 1


@pytest.mark.parametrize("rank", SHAPES)
@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_every_layer_keeps_the_shape_and_has_weight_bias_and_eps(name, rank):
    layer = normalization(name, 8, rank)
    assert layer(batch(rank)).shape == SHAPES[rank]
    if name != "none":
        assert layer.weight.shape == layer.bias.shape == (8,)
        assert layer.eps > 0


@pytest.mark.parametrize("rank", SHAPES)
@pytest.mark.parametrize("name", OVER_THE_BATCH)
def test_what_is_normalised_over_the_batch_has_every_unit_s_mean_taken_away(name, rank):
    layer = normalization(name, 8, rank).train()
    if name == "noisy-batch":
        layer.noise.eval()
    means = layer(batch(rank)).movedim(1, 0).flatten(1).mean(1)
    np.testing.assert_allclose(means.detach(), np.zeros(8), atol=16 * 2.0**-24 * 4)


@pytest.mark.parametrize(("name", "channels"), [("layer", 8), ("group", 4)])
@pytest.mark.parametrize("rank", SHAPES)
def test_layer_and_group_normalization_take_each_example_by_itself(name, channels, rank):
    y = batch(rank)
    groups = y.double().reshape(len(y), 8 // channels, -1)
    c = groups - groups.mean(2, keepdim=True)
    expected = (c / (c.square().mean(2, keepdim=True) + 1e-5).sqrt()).reshape(y.shape)
    actual = normalization(name, 8, rank)(y)
    np.testing.assert_allclose(actual.detach(), expected, atol=32 * 2.0**-24)
    one = normalization(name, 8, rank)(y[:1])
    np.testing.assert_allclose(one.detach(), actual[:1].detach(), atol=32 * 2.0**-24)


def test_a_group_has_as_many_channels_as_asked_for():
    y = batch(4)
    pairs = normalization("group", 8, 4, group_size=2)(y)
    assert float(pairs[0, :2].mean().abs().detach()) < 1e-6
    assert float(pairs[0, 0].mean().abs().detach()) > 1e-3


def test_l_p_layers_have_their_exponents():
    assert [normalization(name, 3, 2).p for name in ("l1", "l2", "linf")] == [1, 2, float("inf")]


def test_a_noisy_layer_is_seeded_by_the_generator():
    y = batch(2)
    first, second = (
        normalization("noisy-batch", 8, 2, generator=torch.Generator().manual_seed(5))(y)
        for _ in range(2)
    )
    assert torch.equal(first, second)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("instance", 8, 2), "no normalisation is called 'instance'; choose one of none, batch"),
        (("batch", 0, 2), "features = 0; expected how many units"),
        (("batch", 8, 3), r"rank = 3; expected 2, for batches \(batch, unit\), or 4"),
        (("group", 10, 4), "features = 10 cannot be parted into groups of group_size = 4"),
    ],
)
def test_wrong_requests_are_told_what_to_do(arguments, message):
    with pytest.raises(ValueError, match=message):
        normalization(*arguments)


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_the_layers_of_a_model_are_found_by_name(name):
    model = nn.Sequential(nn.Linear(4, 8), normalization(name, 8, 2), nn.ReLU())
    found = normalization_layers(model)
    if name == "none":
        assert found == {}
    elif name == "noisy-batch":
        assert list(found) == ["1.batch_norm"]
        assert isinstance(found["1.batch_norm"], nn.BatchNorm1d)
    else:
        assert found == {"1": model[1]}


def test_kinds_are_those_of_the_names():
    assert isinstance(normalization("none", 8, 4), nn.Identity)
    assert isinstance(normalization("batch", 8, 4), nn.BatchNorm2d)
    assert isinstance(normalization("noisy-batch", 8, 4), NoisyBatchNormalization)
    assert isinstance(normalization("l1", 8, 4), LpNormalization)
