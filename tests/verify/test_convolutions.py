"""Large convolutions: shapes and inputs, and that what is right passes on every backend."""

import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from theory import convolution
from verify.backends import Backend
from verify.convolutions import checks, examination, losses, meter, network, run
from verify.convolutions.checks import Check, at_most, close, equal_vectors
from verify.options import Options
from verify.subjects import convolutions as cases
from verify.subjects.convolutions import RESNET_18, SMALL, VGG_16
from verify.tolerance import Outcome

PLAIN, STRIDED, WIDE = SMALL[1], SMALL[2], SMALL[4]
ELSEWHERE = [("torch", ""), ("array-api-strict", "device1")]


@cache
def found(shape=PLAIN, backend="numpy", device="", seed=0):
    return examination.examine(shape, 2, run.describe(Options("smoke", backend, device, seed)))


# The shapes and what they are fed


def weights(shapes, times):
    return sum(times.get(s.layer, 1) * s.outputs * s.channels * s.kernel**2 for s in shapes)


def test_the_networks_have_as_many_weights_as_are_known():
    """11,689,512 less 513,000 of the last layer and 9,600 of batch norm; VGG's without biases."""
    assert weights(RESNET_18, {"layer1": 4, "layer2": 3, "layer3": 3, "layer4": 3}) == 11_166_912
    assert weights(VGG_16, {"conv3_2": 2, "conv4_2": 2, "conv5_1": 3}) == 14_710_464


def test_shapes_are_distinct_and_of_the_sizes_that_torch_gives():
    shapes = [*SMALL, *RESNET_18, *VGG_16]
    assert len({replace(s, network="", layer="") for s in shapes}) == len(shapes)
    assert len({s.name for s in shapes}) == len(shapes)
    for shape in shapes:
        output = torch.nn.functional.conv2d(
            torch.empty(1, 1, shape.size, shape.size, device="meta"),
            torch.empty(1, 1, shape.kernel, shape.kernel, device="meta"),
            stride=shape.stride,
            padding=shape.padding,
        )
        assert tuple(output.shape[2:]) == (shape.output_size,) * 2


def test_inputs_are_like_those_of_a_trained_network():
    layer = cases.layer(RESNET_18[1], 2, 0)
    assert (layer.maps >= 0).all()
    assert 0.2 < np.mean(layer.maps == 0) < 0.6
    sizes = layer.maps.std(axis=(0, 2, 3))
    assert 50 < sizes.max() / sizes.min() < 200
    right, left = layer.maps[..., 1:], layer.maps[..., :-1]
    near = [np.corrcoef(left[:, p].ravel(), right[:, p].ravel())[0, 1] for p in range(64)]
    assert min(near) > 0.3
    image = cases.layer(RESNET_18[0], 1, 0).maps
    assert image.min() < 0
    assert abs(image.mean()) > 0.01


def test_a_small_batch_is_the_beginning_of_a_large_one_and_seeds_differ():
    small, large = cases.layer(PLAIN, 2, 5), cases.layer(PLAIN, 3, 5)
    np.testing.assert_array_equal(small.maps, large.maps[:2])
    np.testing.assert_array_equal(small.direction_weights, large.direction_weights)
    assert not np.array_equal(small.maps, cases.layer(PLAIN, 2, 6).maps)


# What is right passes


@pytest.mark.parametrize("shape", SMALL, ids=lambda shape: shape.name)
def test_every_statement_holds_at_every_kernel(shape):
    for where in [("numpy", "", 0), ("numpy", "", 1), *((*there, 0) for there in ELSEWHERE)]:
        finding = found(shape, *where)
        assert not any(check.is_unexpected for check in finding.checks)
        assert not any(check.outcome is Outcome.UNDECIDED for check in finding.checks)
        for reading in (checks.PER_SAMPLE, checks.LATER_WHOLE, "Gram matrix"):
            assert finding.check(reading).value < 1e-13
        assert finding.check(checks.LATER_BLOCKS).value > 0.1


@pytest.mark.parametrize("shape", SMALL, ids=lambda shape: shape.name)
def test_condition_numbers_are_those_of_the_unfolded_matrix(shape):
    layer = cases.layer(shape, 2, 0)
    matrix = convolution.unfold(layer.maps, **shape.geometry)
    bias, columns = np.split(matrix, [1], axis=1)

    def kappa(*columns):
        values = np.linalg.svd(np.hstack([bias, *columns]), compute_uv=False)
        return values[0] / values[values > 1e-12 * values[0]][-1]

    centred = columns - columns.mean(axis=0)
    means, deviations = (
        np.repeat(of_channels, shape.kernel**2)
        for of_channels in (layer.maps.mean((0, 2, 3)), layer.maps.std((0, 2, 3)))
    )
    expected = {
        "kappa": kappa(columns),
        "kappa centred": kappa(centred),
        "kappa preconditioned": kappa(centred / columns.std(axis=0)),
        "kappa with channels": kappa((columns - means) / deviations),
    }
    numbers = {name: found(shape).numbers[name] for name in expected}
    assert numbers == pytest.approx(expected, rel=1e-6)


def test_where_a_statement_says_nothing():
    """With more columns than rows centring may do harm, and the paper has no stride."""
    for outside, reading in ((WIDE, "centring"), (STRIDED, "mean, as printed")):
        assert found(outside).check(reading).outcome is Outcome.VACUOUS
        assert found(PLAIN).check(reading).outcome is Outcome.HOLDS


# Comparisons


def test_a_bound_is_compared_by_rounding_and_nan_decides_nothing():
    ones = np.ones(3)
    assert close(ones + 1e-15, ones, ones, 8)[2] is Outcome.HOLDS
    assert at_most(ones, ones, ones, 8) == (1.0, 1.0, Outcome.HOLDS)
    assert at_most(ones + 1e-12, ones, ones, 8)[2] is Outcome.VIOLATED
    assert at_most(0 * ones, 0 * ones, ones, 8) == (None, 1.0, Outcome.HOLDS)
    assert at_most(ones * np.nan, ones, ones, 8)[2] is Outcome.UNDECIDED
    assert close(ones * np.nan, ones, ones, 8)[2] is Outcome.UNDECIDED
    assert close(np.array([np.nan, 2, 1]), ones, ones, 8)[1:] == (
        close(ones, ones, ones, 8)[1], Outcome.VIOLATED,
    )  # fmt: skip


def test_nan_in_one_direction_hides_no_violation_in_another():
    claimed = np.arange(1.0, 7).reshape(3, 2)
    actual = claimed * np.array([[1.0], [1.1], [1.0]])
    assert equal_vectors(actual, claimed, [claimed], 8)[2] is Outcome.VIOLATED
    actual[2, 0] = np.nan
    error, allowed, outcome = equal_vectors(actual, claimed, [claimed], 8)
    assert (outcome, error > allowed) == (Outcome.VIOLATED, True)
    assert at_most(np.array([np.nan, 0.5]), np.ones(2), np.ones(2), 8)[0] is None
    assert Check("row", "reading", np.nan, 1.0, Outcome.UNDECIDED).is_unexpected
    ill_conditioned = Check("row", "reading", 2.0, 1.0, Outcome.UNDECIDED)
    assert not ill_conditioned.is_unexpected
    assert not Check("row", "reading", np.nan, 1.0, "vacuous").is_unexpected


def test_a_check_has_numbers_that_json_has_words_for():
    check = Check("row", "reading", np.inf, np.nan, "holds", "violated")
    assert (check.value, check.allowed) == (None, None)
    assert check.is_unexpected
    assert not replace(check, outcome="vacuous").is_unexpected


# The network's side


def test_the_network_convolves_a_few_examples_at_a_time(monkeypatch):
    layer = cases.layer(STRIDED, 5, 0)
    tensors = [network.tensor(x) for x in (layer.maps, layer.weights, layer.bias)]
    whole = network.convolve(*tensors, STRIDED)
    monkeypatch.setattr(network, "UNFOLDED", 2 * STRIDED.columns * STRIDED.output_size**2)
    torch.testing.assert_close(network.convolve(*tensors, STRIDED), whole)


def test_softplus_has_its_second_derivative_everywhere():
    x = torch.tensor([-30.0, 0.0, 19.0, 21.0, 30.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(losses.softplus(x).sum(), x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), x)
    expected = 1 / (4 * np.cosh(x.detach().numpy() / 2) ** 2)
    np.testing.assert_allclose(bend, expected, rtol=1e-12)


# Costs, batches and GPUs


def cost(backend, work=lambda: None):
    watch = meter.Meter(backend)
    with watch("work"):
        work()
    return watch.costs["work"]


def test_the_meter_sees_what_was_held():
    nothing, much = cost(Backend()), cost(Backend(), lambda: np.ones(12_500_000))
    assert much.seconds > nothing.seconds >= 0
    if much.peak_bytes is not None:
        assert nothing.peak_bytes < 10e6 < 90e6 < much.peak_bytes < 140e6


def test_the_peak_is_unknown_where_the_system_does_not_say(monkeypatch, tmp_path):
    monkeypatch.setattr(meter, "PROCESS", tmp_path / "none")
    assert cost(Backend()).peak_bytes is None
    monkeypatch.setattr(meter.sys, "platform", "darwin")
    assert cost(Backend()).peak_bytes is None


def test_cupy_is_asked_for_its_memory_and_its_name(monkeypatch):
    """Its pool keeps what it took from the device until it is told to give it back."""
    held, waited = {"bytes": 900}, []
    pool = SimpleNamespace(
        free_all_blocks=lambda: held.update(bytes=100),
        used_bytes=lambda: 100,
        total_bytes=lambda: held["bytes"],
    )
    runtime = SimpleNamespace(
        getDevice=lambda: 1, getDeviceProperties=lambda index: {"name": b"number %d" % index}
    )
    gpu = SimpleNamespace(synchronize=lambda: waited.append(True))
    cuda = SimpleNamespace(Device=lambda: gpu, runtime=runtime)
    fake = SimpleNamespace(get_default_memory_pool=lambda: pool, cuda=cuda)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    backend = SimpleNamespace(name="cupy", device="", current=nullcontext)
    assert cost(backend, lambda: held.update(bytes=150)).peak_bytes == 50
    assert waited
    assert meter.is_on_gpu(backend)
    assert meter.machine(backend) == "number 1"
    for is_there, device in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda is_there=is_there: is_there)
        assert network.torch_device(backend) == device


def test_torch_is_asked_for_the_memory_of_a_gpu(monkeypatch):
    waited = []
    answers = {
        "reset_peak_memory_stats": lambda device: None,
        "memory_allocated": lambda device: 100,
        "max_memory_allocated": lambda device: 150,
        "synchronize": waited.append,
        "get_device_name": "GPU {}".format,
        "is_available": lambda: True,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(torch.cuda, name, answer)
    backend = SimpleNamespace(name="torch", device="cuda:1")
    assert cost(backend).peak_bytes == 50
    assert waited == ["cuda:1"]
    assert meter.machine(backend) == "GPU cuda:1"
    assert network.torch_device(backend) == "cuda:1"


def test_a_gpu_takes_a_larger_batch_and_is_named_in_the_evidence(monkeypatch):
    assert run.describe(Options()).gpu == "not run: the backend was numpy"
    assert [run.batch_of(Options(profile)) for profile in cases.BATCHES] == [2, 2, 32]
    monkeypatch.setattr(meter, "is_on_gpu", lambda backend: True)
    monkeypatch.setattr(meter, "machine", lambda backend: "a large one")
    assert run.describe(Options()).gpu == "a large one"
    assert [run.batch_of(Options(profile)) for profile in cases.BATCHES] == [2, 2, 256]
