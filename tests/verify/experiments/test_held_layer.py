"""A model held at a layer, and the loss to second order that its units see."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from verify.experiments import narrow_jets
from verify.experiments.held_layer import held
from verify.snapshots import to_rows


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


def test_the_layer_is_seen_as_rows_with_the_inputs_of_its_map(model, batch):
    (layer,) = held(model, *batch, cross_entropy, {"norm": model.norm})
    assert layer.y.shape == layer.z.shape == (48, 3)
    assert layer.inputs.shape == (48, 9)
    assert layer.y.dtype == torch.float64
    weight = model.first.weight.double().flatten(1)
    bias = model.first.bias.double()
    torch.testing.assert_close(layer.inputs @ weight.T + bias, layer.y)
    centred = layer.y - layer.y.mean(0)
    z = centred / (centred.square().mean(0) + 1e-5).sqrt()
    torch.testing.assert_close(layer.z, z * model.norm.weight.double() + model.norm.bias.double())


def test_holding_changes_nothing(model, batch):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model.eval()
    (layer,) = held(model, *batch, cross_entropy, {"norm": model.norm})
    first = layer.whole()
    assert torch.equal(layer.whole(), first)
    assert not model.training
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert not model.norm._forward_hooks


def test_the_loss_is_the_models_at_the_units_own_output_and_moves_with_it_alone(model, batch):
    layer, later = held(model, *batch, cross_entropy, {"a": model.norm, "b": model.later})
    for one in (layer, later):
        for unit in (0, torch.tensor(2)):
            torch.testing.assert_close(one.loss_of_unit(one.z[:, int(unit)], unit), one.whole())
    moved = layer.z.clone()
    moved[:, 1] += 1.0
    assert layer.loss_of_unit(moved[:, 1], 1) == layer.loss_from(moved)
    assert layer.loss_from(moved) != layer.whole()


def test_the_derivative_of_the_loss_is_that_of_the_network(model, batch):
    (layer,) = held(model, *batch, cross_entropy, {"norm": model.norm})
    z = layer.z[:, 1].clone().requires_grad_()
    (g,) = torch.autograd.grad(layer.loss_of_unit(z, 1), z)

    kept = []

    def keep(module, given, output):
        kept.append(output)
        return output.clone()  # what follows writes into it

    hook = model.norm.register_forward_hook(keep)
    model.double()
    images, labels = batch
    loss = cross_entropy(model(images.double()), labels)
    (of_all,) = torch.autograd.grad(loss, kept[0])
    hook.remove()
    torch.testing.assert_close(g, to_rows(of_all)[:, 1], rtol=1e-10, atol=1e-15)


def with_a_stranger(model):
    return {"stranger": nn.BatchNorm2d(3)}


def with_one_that_is_not_run(model):
    model.unused = nn.BatchNorm2d(3)
    return {"unused": model.unused}


def with_one_that_is_run_twice(model):
    model.later = model.norm
    return {"twice": model.norm}


def with_noise(model):
    model.head.register_forward_hook(noisy)
    return {"norm": model.norm}


def with_nan(model):
    nn.init.constant_(model.head.weight, torch.nan)
    return {"norm": model.norm}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (with_a_stranger, "stranger are not modules"),
        (with_one_that_is_not_run, "run 0 times"),
        (with_one_that_is_run_twice, "run 2 times"),
        (with_noise, "two losses"),
        (with_nan, "loss is nan"),
    ],
)
def test_models_that_cannot_be_held_are_refused(model, batch, change, says):
    layers = change(model)
    with pytest.raises(ValueError, match=says):
        held(model, *batch, cross_entropy, layers)


def noisy(module, given, output):
    return output + torch.rand(output.shape, generator=NOISE)


NOISE = torch.Generator().manual_seed(0)


def test_batches_of_another_form_are_refused():
    model = nn.Sequential(nn.Linear(3, 3))
    inputs = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match=r"layer map is given a batch of shape \(2, 4, 3\)"):
        held(model, inputs, inputs, nn.functional.mse_loss, {"map": model[0]})


# To second order


def jets_of(model, batch, name="norm"):
    module = getattr(model, name)
    (layer,) = held(model, *batch, cross_entropy, {name: module})
    units = torch.tensor([2, 0])
    gamma, beta = (tensor.detach().double()[units] for tensor in (module.weight, module.bias))
    eps = torch.tensor([module.eps] * 2, dtype=torch.float64)
    generator = torch.Generator().manual_seed(5)
    directions = torch.randn(2, 2, len(layer.y), generator=generator, dtype=torch.float64)
    return layer, units, directions, narrow_jets.taken(layer, units, gamma, beta, eps, directions)


@pytest.mark.parametrize("name", ["norm", "later"])
def test_along_its_vectors_the_jet_is_the_networks_own(model, batch, name):
    layer, units, directions, jets = jets_of(model, batch, name)
    for i, unit in enumerate(units.tolist()):
        own = [tensor[i] for tensor in jets]
        z, value, g, V, _ = own
        torch.testing.assert_close(z, layer.z[:, unit], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(value, layer.whole())
        H = torch.autograd.functional.hessian(lambda z, u=unit: layer.loss_of_unit(z, u), z)
        S = torch.autograd.functional.hessian(lambda z, own=own: narrow_jets.loss(z, *own), z)
        vectors = torch.stack([torch.ones_like(z), layer.y[:, unit], g, *directions[:, i]], dim=1)
        torch.testing.assert_close(S @ vectors, H @ vectors, rtol=1e-9, atol=1e-12)
        torch.testing.assert_close(S, S.T)
        assert not torch.allclose(S, H)
        torch.testing.assert_close(V.T @ V, torch.eye(5, dtype=torch.float64))
        gradient = torch.autograd.functional.jacobian(
            lambda z, own=own: narrow_jets.loss(z, *own), z
        )
        torch.testing.assert_close(gradient, g)


def test_two_examples_have_a_basis_of_two_and_zeros():
    vectors = torch.tensor([[1.0, 1.0], [3.0, -1.0], [0.0, 0.0], [2.0, 2.0]], dtype=torch.float64)
    V = narrow_jets._basis(vectors)
    torch.testing.assert_close(V.T @ V, torch.diag(torch.tensor([1.0, 1, 0, 0]).double()))
    torch.testing.assert_close(V @ (V.T @ vectors.T), vectors.T)
