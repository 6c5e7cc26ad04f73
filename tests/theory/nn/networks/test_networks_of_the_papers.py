"""Every network: its published size, its layers, and a step with every normalisation."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from theory.nn.bnp import BNP
from theory.nn.networks.convolutional import convolutional
from theory.nn.networks.dense import dense, pre_activation_dense
from theory.nn.networks.resnet import preactivation_resnet, resnet, resnet18
from theory.nn.networks.vgg import CONVOLUTIONS, vgg
from theory.nn.normalization import NORMALIZATIONS, normalization_layers

SMALL = {
    "dense": (dense, {"shape": (1, 8, 8), "hidden": (20, 20, 20)}),
    "two hidden layers": (pre_activation_dense, {"shape": (3, 4, 4), "hidden": (20, 20)}),
    "convolutional": (convolutional, {"shape": (1, 18, 18)}),
    "vgg": (vgg, {"depth": 11, "width": 8}),
    "resnet": (resnet, {"shape": (3, 16, 16), "blocks": 1}),
    "preactivation resnet": (preactivation_resnet, {"shape": (3, 16, 16), "blocks": 2}),
    "resnet18": (
        resnet18,
        {"shape": (3, 32, 32), "classes": 10, "width": 8, "group_size": 8},
    ),
}
LAYERS = {
    "dense": 3,
    "two hidden layers": 2,
    "convolutional": 4,
    "vgg": 8,
    "resnet": 1 + 6,
    "preactivation resnet": 12 + 1,
    "resnet18": 1 + 16 + 3,
}
"""How many normalisations there are."""


def small(name, seed=0, **changed):
    make, arguments = SMALL[name]
    return make(**arguments, generator=torch.Generator().manual_seed(seed), **changed)


def images(network, n=6):
    generator = torch.Generator().manual_seed(3)
    inputs = torch.rand(n, *network.images.shape, generator=generator)
    return inputs, torch.arange(n) % 10


def parameters(network):
    return sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("name", SMALL)
def test_every_network_trains_a_step_with_every_normalisation(name, normalization):
    network = small(name, normalization=normalization)
    inputs, labels = images(network)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    before = [p.detach().clone() for p in network.parameters()]
    loss = cross_entropy(network(inputs), labels)
    loss.backward()
    optimizer.step()
    assert loss.isfinite()
    for (key, after), old in zip(network.named_parameters(), before, strict=True):
        assert after.isfinite().all(), key
        assert not torch.equal(after, old), f"{key} has no gradient"
    assert network.eval()(inputs).isfinite().all()


@pytest.mark.parametrize("name", SMALL)
def test_every_network_trains_a_step_with_preconditioning(name):
    network = small(name, normalization="group" if "resnet" in name else "none")
    bnp = BNP(network)
    inputs, labels = images(network)
    cross_entropy(network(inputs), labels).backward()
    bnp.precondition()
    assert all(p.grad.isfinite().all() for p in network.parameters())


@pytest.mark.parametrize("name", SMALL)
def test_normalisations_are_exposed_by_name(name):
    network = small(name, normalization="batch")
    layers = normalization_layers(network)
    assert len(layers) == LAYERS[name]
    seen = []
    for layer in layers.values():
        layer.register_forward_hook(lambda layer, *_: seen.append(layer))
    network(images(network)[0])
    # In a block the shortcut's is defined after, and run after, those beside it.
    assert set(seen) == set(layers.values())
    assert len(seen) == len(layers)


@pytest.mark.parametrize("name", SMALL)
def test_equal_seeds_give_equal_weights_whatever_the_normalisation(name):
    kinds = (nn.Linear, nn.Conv2d)
    networks = [small(name, 5, normalization=each) for each in NORMALIZATIONS]
    weights = [[m.weight for m in net.modules() if isinstance(m, kinds)] for net in networks]
    for others in weights[1:]:
        assert all(torch.equal(*pair) for pair in zip(weights[0], others, strict=True))
    other = small(name, 6)
    assert not torch.equal(other.output.weight, networks[0].output.weight)


@pytest.mark.parametrize("name", SMALL)
def test_the_network_s_input_is_not_normalised_and_its_output_is_linear(name):
    network = small(name, normalization="batch")
    assert isinstance(network[-1], nn.Linear)
    first = next(m for m in network.modules() if hasattr(m, "weight"))
    assert isinstance(first, nn.Linear | nn.Conv2d)


@pytest.mark.parametrize("name", SMALL)
def test_images_of_another_shape_are_told_what_to_do(name):
    network = small(name)
    channels, height, width = network.images.shape
    expected = rf"expected \(batch, {channels}, {height}, {width}\): reshape them"
    for wrong in (torch.rand(2, channels, height, width + 1), torch.rand(0, *network.images.shape)):
        with pytest.raises(ValueError, match=expected):
            network(wrong)
    with pytest.raises(TypeError, match="expected floats: divide grey values"):
        network(torch.ones(2, channels, height, width, dtype=torch.uint8))


@pytest.mark.parametrize(
    ("make", "shape"),
    [(convolutional, (1, 17, 18)), (vgg, (3, 31, 32)), (resnet18, (3, 32, 8)), (dense, (0, 4, 4))],
)
def test_a_map_smaller_than_a_kernel_is_said_so_when_the_network_is_made(make, shape):
    with pytest.raises(ValueError, match="or a kernel would be larger than its map"):
        make(shape)


@pytest.mark.parametrize(
    ("make", "changed"),
    [
        (dense, {"shape": (1, 4, 4), "hidden": (0,)}),
        (dense, {"shape": (1, 4, 4), "classes": 0}),
        (convolutional, {"classes": 0}),
        (vgg, {"depth": 12}),
        (vgg, {"width": 0}),
        (resnet, {"blocks": 0}),
        (resnet, {"classes": 0}),
    ],
)
def test_sizes_that_cannot_be_are_refused(make, changed):
    with pytest.raises(ValueError, match="expected"):
        make(**changed)


def test_the_published_numbers_of_parameters_of_residual_networks():
    """Millions, He et al. 2016a, Table 6 and the reference implementations of ResNet-18."""
    assert round(parameters(resnet(blocks=3, normalization="batch")) / 1e6, 2) == 0.27
    assert round(parameters(resnet(blocks=5, normalization="batch")) / 1e6, 2) == 0.46
    assert round(parameters(resnet(blocks=7, normalization="batch")) / 1e6, 2) == 0.66
    assert round(parameters(resnet(blocks=9, normalization="batch")) / 1e6, 2) == 0.85
    assert round(parameters(resnet(normalization="batch")) / 1e6, 1) == 1.7
    assert round(parameters(preactivation_resnet(normalization="group")) / 1e6, 1) == 1.7
    assert parameters(resnet18(normalization="batch")) == 11_689_512


@pytest.mark.parametrize(
    ("depth", "published"), [(11, 132.863), (13, 133.048), (16, 138.358), (19, 143.667)]
)
def test_the_published_numbers_of_parameters_of_vgg(depth, published):
    """Millions, with the three linear layers of Simonyan and Zisserman 2015 in place of ours."""
    network = vgg(depth=depth, classes=1)
    convolutions = parameters(network) - parameters(network.output)
    linear = (49 * 512 + 1) * 4096 + 4097 * 4096 + 4097 * 1000
    assert round((convolutions + linear) / 1e6, 3) == published
    assert sum(CONVOLUTIONS[depth]) + 3 == depth


def test_residual_networks_have_the_depth_of_their_names():
    def depth(network):
        shortcuts = [m for name, m in network.named_modules() if name.endswith("shortcut.0")]
        maps = [m for m in network.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
        return len(maps) - len(shortcuts)

    assert depth(resnet()) == 110
    assert depth(preactivation_resnet()) == 110
    assert depth(resnet18()) == 18


def test_maps_shrink_as_the_papers_say():
    sides = {}
    for name, network, image in (
        ("resnet", resnet(blocks=1), torch.zeros(1, 3, 32, 32)),
        ("resnet18", resnet18(), torch.zeros(1, 3, 224, 224)),
    ):
        for child, module in network.eval().named_children():
            image = module(image)
            if child.startswith("stage"):
                sides.setdefault(name, []).append(tuple(image.shape[1:3]))
    assert sides["resnet"] == [(16, 32), (32, 16), (64, 8)]
    assert sides["resnet18"] == [(64, 56), (128, 28), (256, 14), (512, 7)]


def test_in_the_first_preactivation_block_the_activation_is_before_the_shortcut():
    network = preactivation_resnet(blocks=2, normalization="batch")
    assert isinstance(network.stage1.block1.activation1, nn.Identity)
    assert isinstance(network.stage1.block2.activation1[0], nn.BatchNorm2d)
    assert isinstance(network.stage2.block1.activation1[0], nn.BatchNorm2d)
    assert [name for name, _ in network.named_children()][-5:] == [
        "last_normalization", "last_activation", "pooling", "flatten", "output",
    ]  # fmt: skip


def test_post_activation_dense_normalises_what_the_rectifier_gives():
    after, before = (
        make((1, 4, 4), hidden=(5,), normalization="batch")
        for make in (dense, pre_activation_dense)
    )
    assert [name for name, _ in after.layer1.named_children()][1:] == [
        "activation", "normalization",
    ]  # fmt: skip
    assert [name for name, _ in before.layer1.named_children()][1:] == [
        "normalization", "activation",
    ]  # fmt: skip


def test_convolutions_have_a_bias_where_nothing_else_shifts():
    assert vgg().stage1.layer1.convolution.bias is not None
    assert vgg(normalization="batch").stage1.layer1.convolution.bias is None
    assert resnet(blocks=1, normalization="group").convolution.bias is None
