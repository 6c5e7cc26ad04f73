"""A model held at a layer, and the loss that its units see; every network of the papers is held."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss

from theory.nn.measures.activations import by_unit
from theory.nn.networks.convolutional import convolutional
from theory.nn.networks.deep_linear import deep_linear
from theory.nn.networks.dense import dense, pre_activation_dense
from theory.nn.networks.resnet import preactivation_resnet, resnet, resnet18
from theory.nn.networks.vgg import vgg
from theory.nn.normalization import normalization_layers
from verify.experiments.held_layer import held


class Residual(nn.Module):
    """A block with a path around it, in-place ReLUs and maps of numbers at its end."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 3, 3, padding=1)
        self.norm = nn.BatchNorm2d(3)
        self.second = nn.Conv2d(3, 3, 3, padding=1, bias=False)
        self.later = nn.BatchNorm2d(3)
        self.head = nn.Linear(12, 4)

    def forward(self, x):
        h = self.first(x)
        h = h + self.later(self.second(nn.functional.relu(self.norm(h), inplace=True)))
        h = nn.functional.max_pool2d(nn.functional.relu(h, inplace=True), 2)
        return self.head(h.flatten(1))


@pytest.fixture
def model():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        made = Residual()
        for norm in (made.norm, made.later):
            nn.init.normal_(norm.weight, 1.0, 0.3)
            nn.init.normal_(norm.bias, 0.0, 0.3)
        return made


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(1)
    return torch.randn(3, 1, 4, 4, generator=generator), torch.tensor([0, 3, 1])


def test_the_layer_is_seen_as_rows_and_holding_changes_nothing(model, batch):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    (layer,) = held(model.eval(), *batch, cross_entropy, {"norm": model.norm})
    assert torch.equal(layer.whole(), layer.whole())
    assert not model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not model.norm._forward_hooks
    assert layer.y.shape == layer.z.shape == (48, 3)
    assert layer.y.dtype == torch.float64
    weight, bias = model.first.weight.double().flatten(1), model.first.bias.double()
    torch.testing.assert_close(layer.inputs @ weight.T + bias, layer.y)
    centred = layer.y - layer.y.mean(0)
    z = centred / (centred.square().mean(0) + 1e-5).sqrt()
    torch.testing.assert_close(layer.z, z * model.norm.weight.double() + model.norm.bias.double())


def test_the_loss_and_its_derivative_in_a_unit_are_the_networks(model, batch):
    (layer,) = held(model, *batch, cross_entropy, {"norm": model.norm})
    z = layer.z[:, 1].clone().requires_grad_()
    loss = layer.loss_of_unit(z, torch.tensor(1))
    torch.testing.assert_close(loss, layer.whole())
    (g,) = torch.autograd.grad(loss, z)
    moved = layer.z.clone()
    moved[:, 1] += 1.0
    assert layer.loss_of_unit(moved[:, 1], 1) == layer.loss_from(moved) != layer.whole()
    kept = []

    def keep(module, given, output):
        kept.append(output)
        return output.clone()  # what follows writes into it

    with model.norm.register_forward_hook(keep):
        own = cross_entropy(model.double()(batch[0].double()), batch[1])
    (of_all,) = torch.autograd.grad(own, kept[0])
    torch.testing.assert_close(g, by_unit(of_all)[:, 1], rtol=1e-10, atol=1e-15)


NETWORKS = {
    "deep linear": (lambda **a: deep_linear(4, 6, **a), (6,)),
    "dense": (lambda **a: dense((1, 4, 4), hidden=(8, 8), **a), (1, 4, 4)),
    "pre-activation": (lambda **a: pre_activation_dense((1, 4, 4), hidden=(8, 8), **a), (1, 4, 4)),
    "convolutional": (lambda **a: convolutional((1, 18, 18), **a), (1, 18, 18)),
    "vgg": (lambda **a: vgg(depth=11, width=2, **a), (3, 32, 32)),
    "resnet": (lambda **a: resnet((3, 8, 8), blocks=1, **a), (3, 8, 8)),
    "preactivation resnet": (lambda **a: preactivation_resnet((3, 8, 8), blocks=1, **a), (3, 8, 8)),
    "resnet18": (lambda **a: resnet18((3, 32, 32), width=4, **a), (3, 32, 32)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_every_layer_of_every_network_is_held_and_gives_the_network_s_loss(name):
    make, shape = NETWORKS[name]
    model = make(normalization="batch", generator=torch.Generator().manual_seed(0))
    layers = normalization_layers(model)
    inputs = torch.rand(5, *shape, generator=torch.Generator().manual_seed(1))
    loss, targets = cross_entropy, torch.arange(5) % 10
    if name == "deep linear":
        loss, targets = mse_loss, inputs @ torch.eye(6)
    found = held(model, inputs, targets, loss, layers)
    assert [layer.name for layer in found] == list(layers)
    wanted = targets.double() if name == "deep linear" else targets
    expected = loss(model.double()(inputs.double()), wanted)
    for layer in found:
        assert layer.z.shape[1] == len(layers[layer.name].weight)
        torch.testing.assert_close(layer.loss_from(layer.z), expected, rtol=1e-13, atol=1e-13)


def with_one_that_is_not_run(model):
    model.unused = nn.BatchNorm2d(3)
    return model.unused


def with_one_that_is_run_twice(model):
    model.later = model.norm
    return model.norm


def with_noise(model):
    generator = torch.Generator().manual_seed(0)
    model.head.register_forward_hook(
        lambda module, given, output: output + torch.rand(output.shape, generator=generator)
    )
    return model.norm


def with_nan(model):
    nn.init.constant_(model.head.weight, torch.nan)
    return model.norm


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda model: nn.BatchNorm2d(3), "layer are not modules"),
        (with_one_that_is_not_run, "run 0 times"),
        (with_one_that_is_run_twice, "run 2 times"),
        (with_noise, "two losses"),
        (with_nan, "loss is nan"),
    ],
)
def test_models_that_cannot_be_held_are_refused(model, batch, change, says):
    layers = {"layer": change(model)}
    with pytest.raises(ValueError, match=says):
        held(model, *batch, cross_entropy, layers)


def test_batches_of_another_form_are_refused():
    model, inputs = nn.Sequential(nn.Linear(3, 3)), torch.rand(2, 4, 3)
    with pytest.raises(ValueError, match=r"layer map is given a batch of shape \(2, 4, 3\)"):
        held(model, inputs, inputs, mse_loss, {"map": model[0]})
