"""How weights are drawn: law, variance, and what is left alone."""

import math

import pytest
import torch
from scipy import stats
from torch import nn

from theory.nn.networks.initialization import glorot, he

LEAST_CHANCE = 1e-4


def uniform(deviation):
    bound = math.sqrt(3) * deviation
    return stats.uniform(-bound, 2 * bound)


def normal(deviation):
    return stats.norm(0, deviation)


# Each layer's place, and its fan in and out: 3 by 3 weights for each channel.
SIZES = [(0, 8 * 9, 24 * 9), (3, 96, 40)]
LAWS = {
    "Glorot": (glorot, uniform, lambda n, p: math.sqrt(2 / (n + p)), 9 / 5),
    "He": (lambda m, g: he(m, 1.0, g), normal, lambda n, p: math.sqrt(2 / n), 3),
    "He, scaled": (lambda m, g: he(m, 0.4, g), normal, lambda n, p: 0.4 * math.sqrt(2 / n), 3),
}


@pytest.mark.parametrize("name", LAWS)
def test_weights_have_their_law_biases_are_zero_and_normalisations_left_as_they_were(name):
    draw, law, deviation, kurtosis = LAWS[name]
    model = nn.Sequential(nn.Conv2d(8, 24, 3), nn.BatchNorm2d(24), nn.Flatten(), nn.Linear(96, 40))
    nn.init.constant_(model[1].weight, 0.5)
    draw(model, torch.Generator().manual_seed(0))
    for place, fan_in, fan_out in SIZES:
        weight = model[place].weight.detach().flatten().double().numpy()
        right = deviation(fan_in, fan_out)
        assert stats.kstest(weight, law(right).cdf).pvalue > LEAST_CHANCE
        for wrong in (math.sqrt(2) * right, deviation(fan_out, fan_out)):
            assert stats.kstest(weight, law(wrong).cdf).pvalue < LEAST_CHANCE
        assert abs(weight.var() / right**2 - 1) < 5 * math.sqrt((kurtosis - 1) / weight.size)
        assert not model[place].bias.any()
    assert (model[1].weight == 0.5).all()


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan])
def test_a_scale_that_is_not_positive_is_refused(scale):
    with pytest.raises(ValueError, match="expected a positive factor of the weights"):
        he(nn.Linear(1, 1), scale)
