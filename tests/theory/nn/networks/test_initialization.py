"""How weights are drawn: law, variance, and what is left alone."""

import math

import pytest
import torch
from scipy import stats
from torch import nn

from theory.nn.networks.initialization import glorot, he
from theory.nn.normalization import normalization

LEAST_CHANCE = 1e-4


def network():
    return nn.Sequential(nn.Conv2d(8, 24, 3), nn.BatchNorm2d(24), nn.Flatten(), nn.Linear(96, 40))


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def chance(weight, law):
    return stats.kstest(weight.detach().flatten().double().numpy(), law.cdf).pvalue


SIZES = ((0, 8 * 9, 24 * 9), (3, 96, 40))
"""Each layer's place, and its fan in and out: 3 by 3 weights for each channel."""


@pytest.mark.parametrize(("place", "fan_in", "fan_out"), SIZES)
def test_glorot_s_law(place, fan_in, fan_out):
    model = network()
    glorot(model, generator())
    bound = math.sqrt(6 / (fan_in + fan_out))
    weight = model[place].weight
    assert chance(weight, stats.uniform(-bound, 2 * bound)) > LEAST_CHANCE
    wrong = math.sqrt(6 / fan_in)
    assert chance(weight, stats.uniform(-wrong, 2 * wrong)) < LEAST_CHANCE
    # The variance of a uniform sample's variance is 4/5 of its square over n.
    variance = float(weight.detach().double().var(correction=0))
    expected = 2 / (fan_in + fan_out)
    assert abs(variance / expected - 1) < 5 * math.sqrt(0.8 / weight.numel())


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.4])
@pytest.mark.parametrize(("place", "fan_in", "fan_out"), SIZES)
def test_he_s_law(place, fan_in, fan_out, scale):
    model = network()
    he(model, scale, generator())
    weight = model[place].weight
    assert chance(weight, stats.norm(0, scale * math.sqrt(2 / fan_in))) > LEAST_CHANCE
    for wrong in (math.sqrt(2 / fan_out), math.sqrt(1 / fan_in)):
        assert chance(weight, stats.norm(0, scale * wrong)) < LEAST_CHANCE
    variance = float(weight.detach().double().var(correction=0))
    assert abs(variance * fan_in / (2 * scale**2) - 1) < 5 * math.sqrt(2 / weight.numel())


@pytest.mark.parametrize("draw", [glorot, lambda model, g: he(model, 0.1, g)])
def test_biases_are_zero_and_normalisations_are_left_as_they_were(draw):
    model = network()
    with torch.no_grad():
        model[1].weight.fill_(0.5)
    draw(model, generator())
    assert not model[0].bias.any()
    assert not model[3].bias.any()
    assert (model[1].weight == 0.5).all()


def test_noise_takes_nothing_from_the_weights():
    models = [
        nn.Sequential(nn.Linear(4, 5), normalization(name, 5, 2), nn.Linear(5, 2))
        for name in ("batch", "noisy-batch")
    ]
    for model in models:
        glorot(model, generator(7))
    assert all(torch.equal(models[0][k].weight, models[1][k].weight) for k in (0, 2))


def test_equal_generators_draw_equal_noise():
    models = [nn.Sequential(normalization("noisy-batch", 5, 2)) for _ in range(2)]
    for model in models:
        glorot(model, generator(7))
    y = torch.randn(6, 5, generator=generator())
    assert torch.equal(models[0](y), models[1](y))


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan])
def test_a_scale_that_is_not_positive_is_refused(scale):
    with pytest.raises(ValueError, match="expected a positive factor of the weights"):
        he(network(), scale)
