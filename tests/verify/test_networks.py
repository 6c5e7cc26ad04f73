"""The networks against PyTorch's own layers: two that agree were written apart."""

import pytest
import torch
from torch import nn

from verify.data import as_maps, examination_batch
from verify.networks import NETWORKS, BatchNorm
from verify.training import initialised


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-13)


def randn(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(params=NETWORKS)
def network(request):
    """Off its start: gamma = 1 and beta = 0 would hide much."""
    network = initialised(request.param, seed=1)
    with torch.no_grad():
        for seed, weight in enumerate(network.parameters()):
            weight += 0.1 * randn(*weight.shape, seed=seed)
    return network


@pytest.fixture
def batch():
    return examination_batch(16, seed=0)


@pytest.mark.parametrize("shape", [(7, 3), (4, 3, 5, 2)])
def test_batchnorm_and_its_derivatives_are_those_of_torch(shape):
    layer = BatchNorm(3, eps=0.01)
    with torch.no_grad():
        layer.gamma.copy_(randn(3, seed=1))
        layer.beta.copy_(randn(3, seed=2))
    gamma, beta = layer.gamma, layer.beta
    y = randn(*shape, seed=3).requires_grad_()
    g, u = randn(*shape, seed=4), randn(*shape, seed=5)
    theirs = nn.functional.batch_norm(y, None, None, gamma, beta, training=True, eps=0.01)
    ours = layer(y)
    close(ours, theirs)

    def derivatives(z):
        first = torch.autograd.grad((z * g).sum(), (y, gamma, beta), create_graph=True)
        return (*first, *torch.autograd.grad((first[0] * u).sum(), (y, gamma)))

    for a, b in zip(derivatives(ours), derivatives(theirs), strict=True):
        close(a, b)


def test_networks_are_the_ones_that_torch_layers_make(network, batch):
    images, labels = batch
    if network.name == "dense":
        shapes = [(100, 64), (100, 100), (10, 100)]
        maps = [nn.Linear(64, 100, bias=False), nn.Linear(100, 100, bias=False)]
        norms, norm_of, last = [100, 100], nn.BatchNorm1d, nn.Linear(100, 10)
    else:
        images = as_maps(images)
        shapes = [(8, 1, 3, 3), (16, 8, 3, 3), (10, 256)]
        maps = [nn.Conv2d(1, 8, 3, 1, 1, bias=False), nn.Conv2d(8, 16, 3, 2, 1, bias=False)]
        norms, norm_of, last = [8, 16], nn.BatchNorm2d, nn.Linear(256, 10)
    blocks = [
        part
        for before, units in zip(maps, norms, strict=True)
        for part in (before, norm_of(units, track_running_stats=False), nn.ReLU())
    ]
    theirs = nn.Sequential(*blocks, nn.Flatten(), last).double()
    ours = [
        network.maps[0].weight, network.norm(0).gamma, network.norm(0).beta,
        network.maps[1].weight, network.norm(1).gamma, network.norm(1).beta,
        network.head.weight, network.head.bias,
    ]  # fmt: skip
    assert [tuple(w.shape) for w in ours if w.ndim > 1] == shapes
    assert len(ours) == len(list(network.parameters()))
    theirs.load_state_dict(dict(zip(theirs.state_dict(), ours, strict=True)))
    close(network(images), theirs(images))
    close(network.loss(images, labels), nn.functional.cross_entropy(theirs(images), labels))


def test_each_network_names_itself():
    assert all(make().name == name for name, make in NETWORKS.items())
