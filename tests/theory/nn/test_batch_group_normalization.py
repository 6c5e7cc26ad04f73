"""Ghost batches, groups and the example at inference, against loops over examples and channels."""

import pytest
import torch
from torch import nn

from theory.nn import batch_group_normalization
from theory.nn.batch_group_normalization import BatchGroupNormalization
from theory.nn.normalization import decay_groups, normalization

TOLERANCE = 2.0**-53 * 2**10
EPS, RHO, SHARE = 0.01, 0.7, 0.3


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 2 * torch.randn(shape, generator=generator, dtype=torch.float64) + 0.7


def made(features=6, **kwargs):
    """A layer with generic gamma and beta."""
    layer = BatchGroupNormalization(features, eps=EPS, rho=RHO, **kwargs).double()
    with torch.no_grad():
        layer.weight.copy_(drawn(features, seed=8))
        layer.bias.copy_(drawn(features, seed=9))
    return layer


def literal(y, layer, sizes, channels):
    """Training's output: entry by entry over ghost batches of these sizes and groups."""
    z, start = torch.empty_like(y), 0
    for size in sizes:
        for first in range(0, y.shape[1], channels):
            block = y[start : start + size, first : first + channels]
            numbers = block.flatten()
            mean = sum(numbers) / len(numbers)
            variance = sum((x - mean) ** 2 for x in numbers) / len(numbers)
            for c in range(first, first + channels):
                scaled = (y[start : start + size, c] - mean) / (variance + EPS) ** 0.5
                z[start : start + size, c] = layer.weight[c] * scaled + layer.bias[c]
        start += size
    return z


def alike(found, expected, tolerance=TOLERANCE):
    torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(7, 6), (7, 6, 2, 3)])
@pytest.mark.parametrize(
    ("examples", "sizes"), [(None, [7]), (1, [1] * 7), (2, [3, 2, 2]), (3, [4, 3]), (9, [7])]
)
@pytest.mark.parametrize("channels", [1, 2, 6])
def test_training_is_the_formula(shape, examples, sizes, channels):
    layer, y = made(examples=examples, channels=channels), drawn(*shape)
    if min(sizes) * channels * y[0, 0].numel() < 2:
        with pytest.raises(ValueError, match="has 1 entry for each group; expected at least 2"):
            layer(y)
        return
    with torch.no_grad():
        alike(layer(y), literal(y, layer, sizes, channels))


def test_one_channel_and_all_examples_are_batch_normalization():
    y, layer = drawn(7, 6, 2, 3), made()
    other = nn.BatchNorm2d(6, eps=EPS).double()
    other.load_state_dict({"weight": layer.weight, "bias": layer.bias}, strict=False)
    alike(layer(y), other(y))


@pytest.mark.parametrize("is_training", [True, False])
def test_one_example_is_group_normalization_at_inference_too_if_it_has_the_whole_share(is_training):
    y, layer = drawn(7, 6, 2, 3), made(examples=1, channels=3, share=1.0).train(is_training)
    other = nn.GroupNorm(2, 6, eps=EPS).double()
    other.load_state_dict({"weight": layer.weight, "bias": layer.bias})
    alike(layer(y), other(y), 8 * TOLERANCE)


def test_a_single_example_of_a_group_is_no_trouble():
    layer = made(examples=1, channels=2)
    assert bool(layer(drawn(1, 6)).isfinite().all())


def averaged(batches, channels):
    """The averages of means and mean squares that training leaves, one batch after the other."""
    mean, square = torch.zeros(6 // channels).double(), torch.ones(6 // channels).double()
    for y in batches:
        groups = y.reshape(len(y), 6 // channels, -1).movedim(1, 0).flatten(1)
        mean = RHO * mean + (1 - RHO) * groups.mean(1)
        square = RHO * square + (1 - RHO) * groups.square().mean(1)
    return mean, square


@pytest.mark.parametrize("share", [0.0, SHARE, 1.0])
@pytest.mark.parametrize("channels", [2, 3])
def test_inference_is_by_the_mixture_of_the_example_and_of_what_was_met(share, channels):
    layer = made(channels=channels, share=share)
    batches = [drawn(5, 6, 2, 2, seed=s) for s in range(3)]
    for batch in batches:
        layer(batch)
    mean, square = averaged(batches, channels)
    alike(layer.mean, mean)
    alike(layer.square, square)
    y = drawn(4, 6, 2, 2, seed=5)
    found = layer.eval()(y)
    for i, example in enumerate(y):
        groups = example.reshape(6 // channels, -1)
        middle = share * groups.mean(1) + (1 - share) * mean
        spread = share * groups.square().mean(1) + (1 - share) * square - middle**2
        scaled = (groups - middle[:, None]) / (spread[:, None] + EPS) ** 0.5
        expected = layer.weight[:, None, None] * scaled.reshape(example.shape)
        alike(found[i], expected + layer.bias[:, None, None], 8 * TOLERANCE)


def test_inference_of_an_example_does_not_depend_on_the_others():
    layer, y = made(channels=2, share=SHARE).eval(), drawn(4, 6)
    alike(layer(y)[1:2], layer(y[1:2]))


def test_evaluation_leaves_the_averages_as_they_are():
    layer = made(share=SHARE).eval()
    layer(drawn(4, 6))
    assert layer.mean.tolist() == [0.0] * 6


def test_wrong_statistics_are_seen(monkeypatch):
    """An unbiased variance, and an epsilon that is forgotten."""
    y, layer = drawn(7, 6), made(examples=3, channels=2)
    right = batch_group_normalization.batchnorm.standardize
    wrong = {
        "unbiased": lambda g, eps, axes: (right(g, eps, axes)[0] * (1 - 1 / g.numel()) ** 0.5, 0),
        "no epsilon": lambda g, eps, axes: right(g, 0.0, axes),
    }
    for mistake in wrong.values():
        with monkeypatch.context() as patch, torch.no_grad():
            patch.setattr(batch_group_normalization.batchnorm, "standardize", mistake)
            assert float((layer(y) - literal(y, layer, [4, 3], 2)).abs().max()) > 1e-4


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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"channels": 4}, "cannot be parted into groups of channels = 4"),
        ({"examples": 0}, "expected at least 1, or None"),
        ({"eps": 0.0}, "expected a number > 0"),
        ({"rho": 1.0}, r"expected a number in \[0, 1\)"),
        ({"share": 1.5}, "the example's"),
    ],
)
def test_arguments_out_of_range_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        BatchGroupNormalization(6, **arguments)


@pytest.mark.parametrize("y", [torch.zeros(0, 6), torch.zeros(3, 5), torch.zeros(6)])
def test_what_is_no_batch_is_refused(y):
    with pytest.raises(ValueError, match="BatchGroupNormalization was given y of shape"):
        BatchGroupNormalization(6)(y)
