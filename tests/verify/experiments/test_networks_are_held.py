"""Every network of the papers can be held at each of its normalisation layers, by name."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from theory.nn.networks.convolutional import convolutional
from theory.nn.networks.deep_linear import deep_linear
from theory.nn.networks.dense import dense, pre_activation_dense
from theory.nn.networks.resnet import preactivation_resnet, resnet, resnet18
from theory.nn.networks.vgg import vgg
from theory.nn.normalization import normalization_layers
from verify.experiments import theorems
from verify.experiments.held_layer import held

NETWORKS = {
    "deep linear": (lambda **a: deep_linear(4, 6, **a), (6,)),
    "dense": (lambda **a: dense((1, 4, 4), hidden=(8, 8), **a), (1, 4, 4)),
    "pre-activation dense": (
        lambda **a: pre_activation_dense((1, 4, 4), hidden=(8, 8), **a),
        (1, 4, 4),
    ),
    "convolutional": (lambda **a: convolutional((1, 18, 18), **a), (1, 18, 18)),
    "vgg": (lambda **a: vgg(depth=11, width=2, **a), (3, 32, 32)),
    "resnet": (lambda **a: resnet((3, 8, 8), blocks=1, **a), (3, 8, 8)),
    "preactivation resnet": (lambda **a: preactivation_resnet((3, 8, 8), blocks=1, **a), (3, 8, 8)),
    "resnet18": (lambda **a: resnet18((3, 32, 32), width=4, **a), (3, 32, 32)),
}
"""Each network, made small, and the shape of its input."""


def batch(name, n=5):
    _, shape = NETWORKS[name]
    inputs = torch.rand(n, *shape, generator=torch.Generator().manual_seed(1))
    targets = inputs @ torch.eye(6) if name == "deep linear" else torch.arange(n) % 10
    return inputs, targets


def loss_of(name):
    return torch.nn.functional.mse_loss if name == "deep linear" else cross_entropy


@pytest.mark.parametrize("name", NETWORKS)
def test_every_layer_is_held_and_gives_the_network_s_loss(name):
    make, _ = NETWORKS[name]
    model = make(normalization="batch", generator=torch.Generator().manual_seed(0))
    layers = normalization_layers(model)
    found = held(model, *batch(name), loss_of(name), layers)
    assert [layer.name for layer in found] == list(layers)
    inputs, targets = batch(name)
    expected = loss_of(name)(
        model.double()(inputs.double()), targets.double() if name == "deep linear" else targets
    )
    for layer in found:
        assert layer.z.shape[1] == len(layers[layer.name].weight)
        torch.testing.assert_close(layer.loss_from(layer.z), expected, rtol=1e-13, atol=1e-13)


def test_statements_are_examined_at_a_normalisation_after_an_activation():
    """Post-activation, where a unit that never fires has no variance."""
    make, _ = NETWORKS["dense"]
    model = make(normalization="batch", generator=torch.Generator().manual_seed(0))
    layers = {"layer2.normalization": normalization_layers(model)["layer2.normalization"]}
    found = theorems.examine(model, *batch("dense"), cross_entropy, layers, units=2, seed=0)
    by_claim = {one["claim"]: one for one in found}
    assert by_claim["S-eq-41-42/eps"]["violated"] == 0
    assert by_claim["S-eq-41-42/eps"]["instances"] == 2
