"""A network held at one layer, against plain autograd of the whole network."""

import pytest
import torch
from torch.func import grad, jvp, vmap

from verify.data import examination_batch
from verify.networks import NETWORKS
from verify.snapshots import EXAMINED_IMAGES, from_rows, snapshots, to_rows
from verify.training import initialised

# The first jvp makes torch 2.13 load decompositions, which it scripts by a deprecated function.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script.*:DeprecationWarning")


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-13)


def randn(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def network_off_its_start(name):
    """gamma = 1 and beta = 0 at the start would hide much."""
    network = initialised(name, seed=1)
    with torch.no_grad():
        for layer in network.layers:
            norm = network.norm(layer)
            norm.gamma += 0.3 * randn(len(norm.gamma), seed=layer)
            norm.beta += 0.3 * randn(len(norm.beta), seed=10 + layer)
    return network


@pytest.fixture(scope="module", params=NETWORKS)
def network(request):
    return network_off_its_start(request.param)


@pytest.fixture(scope="module")
def batch(network):
    return examination_batch(EXAMINED_IMAGES[network.name], seed=0)


@pytest.fixture(scope="module", params=[0, 1])
def snapshot(request, network, batch):
    return snapshots(network, "a test", *batch)[request.param]


def outputs_and_loss(network, images, labels):
    """The layers' outputs as the whole network computes them, caught on the way, and its loss."""
    caught = []
    hooks = [
        network.norm(layer).register_forward_hook(lambda _m, _i, output: caught.append(output))
        for layer in network.layers
    ]
    loss = network.loss(images, labels)
    for hook in hooks:
        hook.remove()
    return caught, loss


def hvp_of_unit(snapshot):
    def hvp(z, unit, v):
        gradient = grad(lambda z: snapshot.loss_of_unit(z, unit))
        return jvp(gradient, (z,), (v,))[1]

    return hvp


def test_rows_are_a_unit_s_entries_and_go_back():
    maps = randn(2, 3, 4, 5)
    rows = to_rows(maps)
    assert rows.shape == (40, 3)
    assert torch.equal(rows[:, 1], maps[:, 1].flatten())
    assert torch.equal(from_rows(rows, maps.shape), maps)
    assert torch.equal(to_rows(maps[:, :, 0, 0]), maps[:, :, 0, 0])


def test_snapshot_is_the_network_at_its_layer(network, batch):
    outputs, loss = outputs_and_loss(network, *batch)
    for layer, output in enumerate(outputs):
        shot = snapshots(network, "a test", *batch)[layer]
        assert (shot.network, shot.stage, shot.layer) == (network.name, "a test", layer)
        assert shot.eps == 1e-5
        close(shot.z, to_rows(output).detach())
        deviation = shot.y - shot.y.mean(0)
        sigma = torch.sqrt(deviation.square().mean(0) + shot.eps)
        close(shot.z, shot.gamma * deviation / sigma + shot.beta)
        for unit in (0, torch.tensor(3)):
            close(shot.loss_of_unit(shot.z[:, unit], unit), loss.detach())
        pattern = torch.cat([(z > 0).flatten() for z in outputs[layer:]])
        assert torch.equal(shot.activation_pattern(shot.z[:, 2], 2), pattern)


def test_snapshot_sizes(snapshot):
    sizes = {"dense": [(32, 100), (32, 100)], "convolutional": [(256, 8), (64, 16)]}
    assert snapshot.y.shape == sizes[snapshot.network][snapshot.layer]
    assert snapshot.gamma.shape == snapshot.beta.shape == snapshot.y.shape[1:]


def test_snapshot_outlives_further_training(batch):
    network = network_off_its_start("dense")
    images, labels = examination_batch(8, seed=0)
    shot = snapshots(network, "a test", images, labels)[0]
    z = randn(8)
    before = shot.loss_of_unit(z, 0).item(), shot.gamma.clone()
    with torch.no_grad():
        for weight in network.parameters():
            weight += 1
    assert shot.loss_of_unit(z, 0).item() == before[0]
    assert torch.equal(shot.gamma, before[1])
    assert all(weight.requires_grad for weight in network.parameters())


def test_unit_s_output_is_replaced_and_no_other(snapshot):
    m, units = snapshot.z.shape
    z = randn(m)
    for unit in (0, units - 1):
        rows = to_rows(snapshot.with_unit(z, unit))
        others = torch.arange(units) != unit
        assert torch.equal(rows[:, unit], z)
        assert torch.equal(rows[:, others], snapshot.z[:, others])
        assert torch.equal(rows, to_rows(snapshot.with_unit(z, torch.tensor(unit))))


def test_vmapped_gradients_are_those_of_the_whole_network(network, batch):
    outputs, loss = outputs_and_loss(network, *batch)
    gradients = torch.autograd.grad(loss, outputs)
    for shot, gradient in zip(snapshots(network, "a test", *batch), gradients, strict=True):
        units = torch.arange(shot.z.shape[1])
        close(vmap(grad(shot.loss_of_unit))(shot.z.T, units), to_rows(gradient).T)


def test_vmapped_hvp_over_all_units_agrees_with_hessian_rows_of_the_whole_network(network, batch):
    outputs, loss = outputs_and_loss(network, *batch)
    gradients = torch.autograd.grad(loss, outputs, create_graph=True)
    for layer, shot in enumerate(snapshots(network, "a test", *batch)):
        m, units = shot.z.shape
        rows_of_gradient = to_rows(gradients[layer])
        for entry in (0, m // 2, m - 1):
            basis = torch.eye(m, dtype=torch.float64)[entry].expand(units, m)
            ours = vmap(hvp_of_unit(shot))(shot.z.T, torch.arange(units), basis)
            assert ours.abs().max() > 0
            for unit in (0, units // 2, units - 1):
                row = torch.autograd.grad(
                    rows_of_gradient[entry, unit], outputs[layer], retain_graph=True
                )[0]
                close(ours[unit], to_rows(row)[:, unit])


def test_hvp_forward_over_reverse_is_reverse_over_reverse(snapshot):
    m, units = snapshot.z.shape
    v = randn(units, m)

    def reverse_twice(z, unit, v):
        return grad(lambda z: grad(snapshot.loss_of_unit)(z, unit) @ v)(z)

    args = snapshot.z.T, torch.arange(units), v
    close(vmap(hvp_of_unit(snapshot))(*args), vmap(reverse_twice)(*args))


def test_vmaps_nest_over_points_and_units(snapshot):
    units = torch.arange(3)
    z = snapshot.z.T[:3] + 0.1 * randn(2, 3, len(snapshot.z))
    nested = vmap(vmap(grad(snapshot.loss_of_unit)), in_dims=(0, None))(z, units)
    close(nested[1, 2], grad(snapshot.loss_of_unit)(z[1, 2], 2))


def test_gradient_is_the_difference_quotient_of_the_loss(snapshot):
    z, v = snapshot.z[:, 1], randn(len(snapshot.z))
    t = 1e-6
    quotient = (snapshot.loss_of_unit(z + t * v, 1) - snapshot.loss_of_unit(z - t * v, 1)) / (2 * t)
    slope = grad(snapshot.loss_of_unit)(z, 1) @ v
    torch.testing.assert_close(quotient, slope, rtol=1e-4, atol=1e-9)


def test_activation_pattern_counts_kinks_and_vmaps(snapshot):
    m, units = snapshot.z.shape
    unit = units // 2
    z = snapshot.z[:, unit]
    here = snapshot.activation_pattern(z, unit)
    flipped = torch.where(torch.arange(m) == 5, -z, z)
    crossed = here != snapshot.activation_pattern(flipped, unit)
    layer_s_own = from_rows(
        (torch.arange(m) == 5)[:, None] & (torch.arange(units) == unit), snapshot.shape
    ).flatten()
    assert torch.equal(crossed[: m * units], layer_s_own)
    every = vmap(snapshot.activation_pattern)(snapshot.z.T, torch.arange(units))
    assert every.dtype == torch.bool
    assert every.shape == (units, len(here))
    assert (every == here).all()


@pytest.mark.parametrize("unit", [-1, 100])
def test_an_int_that_names_no_unit_is_refused(snapshot, unit):
    with pytest.raises(IndexError, match=f"unit {unit} of a layer of .* choose 0 <= unit"):
        snapshot.loss_of_unit(snapshot.z[:, 0], unit)


def test_a_batch_of_another_shape_is_refused(snapshot):
    with pytest.raises(ValueError, match=r"z has shape .* give one unit's batch"):
        snapshot.loss_of_unit(snapshot.z[:, :1], 0)


def test_each_network_has_its_batch():
    assert set(EXAMINED_IMAGES) == set(NETWORKS)
