"""The networks against PyTorch's own layers, and one held at a layer against the whole."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.func import grad, jvp, vmap

from theory.nn.measures.activations import by_unit
from verify.data import as_maps, examination_batch
from verify.subjects.snapshots import EXAMINED_IMAGES, from_rows, snapshots
from verify.subjects.training import initialised

# The first jvp makes torch 2.13 load decompositions, which it scripts by a deprecated function.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script.*:DeprecationWarning")


def layers(first, norm, second, other, head):
    blocks = (first, norm, nn.ReLU(), second, other, nn.ReLU(), nn.Flatten(), head)
    return nn.Sequential(*blocks).double()


LAYERS = {
    "dense": layers(
        *(nn.Linear(64, 100, bias=False), nn.BatchNorm1d(100, eps=0.01)),
        *(nn.Linear(100, 100, bias=False), nn.BatchNorm1d(100, eps=0.1), nn.Linear(100, 10)),
    ),
    "convolutional": layers(
        *(nn.Conv2d(1, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8, eps=0.01)),
        *(nn.Conv2d(8, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16, eps=0.1), nn.Linear(256, 10)),
    ),
}
close = partial(torch.testing.assert_close, rtol=1e-9, atol=1e-13)


def randn(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(scope="module", params=LAYERS)
def network(request):
    """Off its start, where gamma = 1 and beta = 0 would hide much."""
    network = initialised(request.param, seed=1)
    network.norm(0).eps, network.norm(1).eps = 0.01, 0.1
    with torch.no_grad():
        for seed, weight in enumerate(network.parameters()):
            weight += 0.1 * randn(*weight.shape, seed=seed)
    return network


@pytest.fixture(scope="module")
def batch(network):
    return examination_batch(EXAMINED_IMAGES[network.name], seed=0)


@pytest.fixture(scope="module")
def shots(network, batch):
    return snapshots(network, "a test", *batch)


@pytest.fixture(scope="module")
def whole(network, batch):
    """The normalized batches and the loss of PyTorch's layers with the network's weights."""
    images, labels = batch
    theirs = LAYERS[network.name]
    ours = [
        *(network.maps[0].weight, network.norm(0).gamma, network.norm(0).beta),
        *(network.maps[1].weight, network.norm(1).gamma, network.norm(1).beta),
        *(network.head.weight, network.head.bias),
    ]
    assert len(ours) == len(list(network.parameters()))
    own = dict(zip((key for key, _ in theirs.named_parameters()), ours, strict=True))
    theirs.load_state_dict(own, strict=False)
    first = theirs[:2](images if network.name == "dense" else as_maps(images))
    second = theirs[2:5](first)
    logits = theirs[5:](second)
    close(network(images), logits)
    return (first, second), nn.CrossEntropyLoss()(logits, labels)


def test_rows_go_back():
    maps = randn(2, 3, 4, 5)
    assert torch.equal(from_rows(by_unit(maps), maps.shape), maps)


def test_a_network_and_a_snapshot_are_those_of_torch_layers(network, batch, shots, whole):
    outputs, loss = whole
    close(network.loss(*batch), loss)
    sizes = {"dense": [(32, 100), (32, 100)], "convolutional": [(256, 8), (64, 16)]}
    for layer, (shot, output) in enumerate(zip(shots, outputs, strict=True)):
        assert (shot.network, shot.stage, shot.layer) == (network.name, "a test", layer)
        assert shot.y.shape == sizes[network.name][layer]
        assert shot.later_normalizations == 1 - layer
        close(shot.z, by_unit(output).detach())
        weights = network.maps[layer].weight.flatten(start_dim=1)
        close(shot.inputs @ weights.T, shot.y, check_stride=False)
        normalized = (shot.y - shot.y.mean(0)) / (shot.y.var(0, correction=0) + shot.eps).sqrt()
        close(shot.gamma * normalized + shot.beta, shot.z)
        for unit in (0, torch.tensor(3)):
            close(shot.loss_of_unit(shot.z[:, unit], unit), loss.detach())
        pattern = torch.cat([(z > 0).flatten() for z in outputs[layer:]])
        every = vmap(shot.activation_pattern)(shot.z.T, torch.arange(shot.z.shape[1]))
        assert torch.equal(every, pattern.expand(len(every), -1))


def test_vmapped_derivatives_are_those_of_the_whole_network(shots, whole):
    outputs, loss = whole
    gradients = torch.autograd.grad(loss, outputs, create_graph=True)
    for shot, output, gradient in zip(shots, outputs, gradients, strict=True):
        m, units = shot.z.shape
        numbers = torch.arange(units)
        close(vmap(grad(shot.loss_of_unit))(shot.z.T, numbers), by_unit(gradient).T.detach())
        v, unit = randn(units, m), units // 2

        def hvp(z, unit, v, shot=shot):
            return jvp(lambda z: grad(shot.loss_of_unit)(z, unit), (z,), (v,))[1]

        ours = vmap(hvp)(shot.z.T, numbers, v)[unit]
        slope = by_unit(gradient)[:, unit] @ v[unit]
        (theirs,) = torch.autograd.grad(slope, output, retain_graph=True)
        assert ours.abs().max() > 0
        close(ours, by_unit(theirs)[:, unit].detach())


def test_a_snapshot_outlives_further_training():
    network = initialised("dense", seed=1)
    shot = snapshots(network, "a test", *examination_batch(8, seed=0))[0]
    before = shot.loss_of_unit(randn(8), 0).item(), shot.gamma.tolist()
    with torch.no_grad():
        for weight in network.parameters():
            weight += 1
    assert (shot.loss_of_unit(randn(8), 0).item(), shot.gamma.tolist()) == before
    assert all(weight.requires_grad for weight in network.parameters())


def test_what_names_no_unit_or_is_no_batch_of_one_is_refused(shots):
    shot = shots[1]
    for unit in (-1, 100):
        with pytest.raises(IndexError, match=f"unit {unit} of a layer of .* choose 0 <= unit"):
            shot.loss_of_unit(shot.z[:, 0], unit)
    with pytest.raises(ValueError, match=r"z has shape .* give one unit's batch"):
        shot.loss_of_unit(shot.z[:, :1], 0)
