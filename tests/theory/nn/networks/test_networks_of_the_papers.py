"""Every network: its size, its layers, its weights, and a step with every normalisation."""

import math

import pytest
import torch
from scipy import stats
from torch import nn
from torch.nn.functional import cross_entropy

from theory.nn.networks.convolutional import convolutional
from theory.nn.networks.deep_linear import deep_linear
from theory.nn.networks.dense import dense, pre_activation_dense
from theory.nn.networks.initialization import glorot, he
from theory.nn.networks.resnet import preactivation_resnet, resnet, resnet18, resnet50
from theory.nn.networks.vgg import CONVOLUTIONS, vgg
from theory.nn.normalization import NORMALIZATIONS, normalization_layers

# Each with how many normalisations it has.
SMALL = {
    "dense": (dense, {"shape": (1, 8, 8), "hidden": (20, 20, 20)}, 3),
    "two hidden layers": (pre_activation_dense, {"shape": (3, 4, 4), "hidden": (20, 20)}, 2),
    "convolutional": (convolutional, {"shape": (1, 18, 18)}, 4),
    "vgg": (vgg, {"depth": 11, "width": 8}, 8),
    "resnet": (resnet, {"shape": (3, 16, 16), "blocks": 1}, 1 + 6),
    "preactivation resnet": (preactivation_resnet, {"shape": (3, 16, 16), "blocks": 2}, 12 + 1),
    "resnet18": (
        resnet18,
        {"shape": (3, 32, 32), "classes": 10, "width": 8, "group_size": 8},
        1 + 16 + 3,
    ),
}
every_network = pytest.mark.parametrize("name", SMALL)


def small(name, seed=0, **changed):
    make, arguments, _ = SMALL[name]
    return make(**arguments, generator=torch.Generator().manual_seed(seed), **changed)


def images(network, n=6):
    generator = torch.Generator().manual_seed(3)
    return torch.rand(n, *network.images.shape, generator=generator)


# Convolutional networks normalise both maps and units.
@pytest.mark.parametrize(
    ("name", "normalization"),
    [(name, "batch") for name in SMALL] + [("convolutional", each) for each in NORMALIZATIONS],
)
def test_networks_train_a_step_and_their_normalisations_are_exposed_by_name(name, normalization):
    network = small(name, normalization=normalization)
    layers, seen = normalization_layers(network), []
    for layer in layers.values():
        layer.register_forward_hook(lambda layer, *_: seen.append(layer))
    before = [p.detach().clone() for p in network.parameters()]
    loss = cross_entropy(network(images(network)), torch.arange(6))
    assert len(seen) == len(layers) == (0 if normalization == "none" else SMALL[name][2])
    assert set(seen) == set(layers.values())
    loss.backward()
    torch.optim.SGD(network.parameters(), lr=0.01).step()
    for (key, after), old in zip(network.named_parameters(), before, strict=True):
        assert after.isfinite().all(), key
        assert not torch.equal(after, old), f"{key} has no gradient"
    assert network.eval()(images(network)).isfinite().all()


@every_network
def test_equal_seeds_give_equal_weights_and_noise_whatever_the_normalisation(name):
    networks = [small(name, 5, normalization=each) for each in NORMALIZATIONS]
    kinds = (nn.Linear, nn.Conv2d)
    weights = [[m.weight for m in net.modules() if isinstance(m, kinds)] for net in networks]
    for others in weights[1:]:
        assert all(torch.equal(*pair) for pair in zip(weights[0], others, strict=True))
    assert not torch.equal(small(name, 6).output.weight, networks[0].output.weight)
    noisy, again = (small(name, 5, normalization="noisy-batch") for _ in range(2))
    assert torch.equal(noisy(images(noisy)), again(images(again)))


def test_images_of_another_shape_are_told_what_to_do():
    network = small("resnet")
    for wrong in (torch.rand(2, 3, 16, 17), torch.rand(0, 3, 16, 16)):
        with pytest.raises(ValueError, match=r"expected \(batch, 3, 16, 16\): reshape them"):
            network(wrong)
    with pytest.raises(TypeError, match="expected floats: divide grey values"):
        network(torch.ones(2, 3, 16, 16, dtype=torch.uint8))


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (convolutional, {"shape": (1, 17, 18)}, "or a kernel would be larger than its map"),
        (vgg, {"shape": (3, 31, 32)}, "or a kernel would be larger than its map"),
        (resnet18, {"shape": (3, 32, 8)}, "or a kernel would be larger than its map"),
        (dense, {"shape": (0, 4, 4)}, "expected at least one channel"),
        (dense, {"shape": (1, 4, 4), "hidden": (0,)}, r"hidden = \(0,\).*expected 1 or more"),
        (convolutional, {"classes": 0}, "classes = 0; expected 1 or more"),
        (vgg, {"depth": 12}, "depth = 12.*expected a depth of 11, 13, 16, 19"),
        (vgg, {"width": 0}, "width = 0"),
        (resnet, {"blocks": 0}, "0 blocks of"),
        (resnet, {"classes": 0}, "classes = 0; expected at least 1"),
        (resnet, {"blocks": 1, "scale": math.nan}, "scale = nan; expected a positive factor"),
        (deep_linear, {"depth": 0}, "depth = 0 and width = 10"),
        (deep_linear, {"normalization": "frobnicate"}, "frobnicate"),
    ],
)
def test_sizes_that_cannot_be_are_refused(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)


def parameters(network):
    return sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize(
    ("make", "layers", "published", "digits"),
    [
        (resnet, 110, 1.7, 1),
        (preactivation_resnet, 110, 1.7, 1),
        (resnet18, 18, 11.689512, 6),
        (resnet50, 50, 25.557032, 6),
    ],
)
def test_residual_networks_have_their_published_size(make, layers, published, digits):
    """Millions, He et al. 2016a, Table 6 and the reference implementations of the last two."""
    with torch.device("meta"):
        network = make(normalization="batch")
    assert round(parameters(network) / 1e6, digits) == published
    maps = [name for name, m in network.named_modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    assert len([name for name in maps if not name.endswith("shortcut.0")]) == layers


@pytest.mark.parametrize(
    ("depth", "published"), [(11, 132.863), (13, 133.048), (16, 138.358), (19, 143.667)]
)
def test_vgg_has_its_published_size(depth, published):
    """Millions, with the three linear layers of Simonyan and Zisserman 2015 in place of ours."""
    with torch.device("meta"):
        network = vgg(depth=depth, classes=1)
    convolutions = parameters(network) - parameters(network.output)
    linear = (49 * 512 + 1) * 4096 + 4097 * 4096 + 4097 * 1000
    assert round((convolutions + linear) / 1e6, 3) == published
    assert sum(CONVOLUTIONS[depth]) + 3 == depth


@pytest.mark.parametrize(
    ("network", "side", "expected"),
    [
        (resnet(blocks=1), 32, [(16, 32), (32, 16), (64, 8)]),
        (resnet18(width=2), 224, [(2, 56), (4, 28), (8, 14), (16, 7)]),
    ],
)
def test_maps_shrink_as_the_papers_say(network, side, expected):
    image, sides = torch.zeros(1, 3, side, side), []
    for child, module in network.eval().named_children():
        image = module(image)
        if child.startswith("stage"):
            sides.append(tuple(image.shape[1:3]))
    assert sides == expected


def test_in_the_first_preactivation_block_the_activation_is_before_the_shortcut():
    network = preactivation_resnet(blocks=2, normalization="batch")
    assert isinstance(network.stage1.block1.activation1, nn.Identity)
    assert isinstance(network.stage1.block2.activation1[0], nn.BatchNorm2d)
    assert isinstance(network.stage2.block1.activation1[0], nn.BatchNorm2d)
    last = ["last_normalization", "last_activation", "pooling", "flatten", "output"]
    assert [name for name, _ in network.named_children()][-5:] == last


def test_dense_networks_normalise_after_the_rectifier_or_before_it():
    after, before = (
        [name for name, _ in small(name).layer1.named_children()]
        for name in ("dense", "two hidden layers")
    )
    assert after == ["linear", "activation", "normalization"]
    assert before == ["linear", "normalization", "activation"]


def test_convolutions_have_a_bias_where_nothing_else_shifts():
    assert small("vgg").stage1.layer1.convolution.bias is not None
    assert small("vgg", normalization="batch").stage1.layer1.convolution.bias is None
    assert small("resnet", normalization="group").convolution.bias is None


def test_without_normalisation_a_deep_linear_network_is_the_product_of_glorot_s_weights():
    network = deep_linear(generator=torch.Generator().manual_seed(0)).double()
    x = torch.randn(7, 10, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    weights = torch.stack([layer.linear.weight.detach() for layer in network])
    torch.testing.assert_close(network(x), x @ torch.linalg.multi_dot(weights.flip(0).unbind()).T)
    assert (len(network), parameters(network)) == (25, 25 * 100)
    bound = math.sqrt(6 / 20)
    assert 0.99 * bound < weights.abs().max() <= bound


def test_every_layer_of_a_deep_linear_network_but_the_last_is_normalised():
    before = torch.get_rng_state()
    network, other = (
        deep_linear(4, 3, normalization=each, generator=torch.Generator().manual_seed(0))
        for each in ("batch", "l1")
    )
    assert torch.equal(network.layer4.linear.weight, other.layer4.linear.weight)
    assert torch.equal(torch.get_rng_state(), before)
    inner = ["linear", "normalization"]
    children = [[name for name, _ in layer.named_children()] for layer in network]
    assert children == [inner, inner, inner, ["linear"]]


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
