"""Backends: the same numbers in every array library, and errors that say what to do."""

from types import SimpleNamespace

import numpy as np
import pytest
from array_api_compat import array_namespace

from theory.arithmetic import sqrt
from verify import backends, operators
from verify.arrays import ArrayNetwork
from verify.backends import LIBRARIES, Backend, devices, installed
from verify.cases.strata import random_cases
from verify.operators import Operand
from verify.witnesses.complex_step import gradient

HERE = [
    (name, device) for name in ("numpy", "torch", "array-api-strict") for device in devices(name)
]


@pytest.fixture(params=HERE, ids=":".join)
def backend(request):
    return Backend(*request.param)


def test_devices_that_have_float64():
    assert list(devices("numpy")) == ["cpu"]
    assert next(iter(devices("torch"))) == "cpu"
    assert list(devices("array-api-strict")) == ["cpu", "CPU_DEVICE", "device1", "device2"]


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3)])
def test_there_and_back(backend, shape, is_complex):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape) + (2j if is_complex else 0.5)
    array = backend.asarray(values, is_complex)
    assert array.device == backend.native_device
    assert operators.is_complex(array) == is_complex
    back = backend.to_numpy(array)
    assert back.dtype == (np.complex128 if is_complex else np.float64)
    np.testing.assert_array_equal(back, values)


def test_integers_and_float32_become_float64(backend):
    for values in (3, [1, 2], np.ones(2, dtype=np.float32)):
        assert backend.to_numpy(backend.asarray(values)).dtype == np.float64


def test_square_root(backend):
    roots = backend.to_numpy(backend.sqrt(backend.asarray([4.0, -1.0], is_complex=True)))
    np.testing.assert_allclose(roots, [2, 1j], atol=1e-15)


def test_softplus_is_exact_and_does_not_overflow(backend):
    x = np.array([-1e4, -40.0, -1.0, 0.0, 1.0, 40.0, 1e4])
    expected = [0, np.exp(-40), np.log1p(np.exp(-1)), np.log(2), np.log1p(np.exp(1)), 40, 1e4]
    for is_complex in (False, True):
        found = backend.to_numpy(backend.softplus(backend.asarray(x, is_complex)))
        np.testing.assert_allclose(found.real, expected, rtol=1e-15, atol=2e-16)


def test_softplus_continues_off_the_real_axis(backend):
    x = np.array([-800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0])
    logistic = np.exp(x - np.logaddexp(0, x))
    step = 2.0**-500
    found = backend.to_numpy(backend.softplus(backend.asarray(x + 1j * step, is_complex=True)))
    np.testing.assert_allclose(found.imag / step, logistic, rtol=4e-16)
    away = np.array([-2.0, 2.0]) + 0.5j
    found = backend.to_numpy(backend.softplus(backend.asarray(away, is_complex=True)))
    np.testing.assert_allclose(found, np.log(1 + np.exp(away)), rtol=1e-14)


def test_losses_are_written_in_operators_that_every_library_has(backend):
    z, w = np.array([1.0, -2.0, 4.0]), np.array([0.5, 2.0, -1.0])

    def expression(z, w):
        return (abs(z) * 2 - w / z + 1) @ (-w) + (z @ z) ** 2 / len(z) + z.sum()

    ours, weights = (Operand(backend.asarray(v)) for v in (z, w))
    np.testing.assert_allclose(backend.to_numpy(expression(ours, weights).array), expression(z, w))
    root = sqrt(Operand(backend.asarray(np.abs(z))))
    np.testing.assert_allclose(backend.to_numpy(root.array), np.sqrt(np.abs(z)))


def test_the_absolute_value_continues_off_the_real_axis(backend):
    x = backend.asarray([3.0, -2.0])
    slope = gradient(lambda x: abs(Operand(x)).sum().array, x)
    np.testing.assert_array_equal(backend.to_numpy(slope), [1, -1])


def test_a_real_matrix_times_a_complex_vector(backend):
    matrix = Operand(backend.asarray(np.eye(2)))
    vector = Operand(backend.asarray([1j, 2.0], is_complex=True))
    np.testing.assert_array_equal(backend.to_numpy((matrix @ vector).array), [1j, 2])
    assert backend.to_numpy((vector @ vector).array) == 3  # nothing is conjugated


@pytest.mark.parametrize("kind", ["general", "relu", "later batchnorm", "isotropic"])
def test_every_library_computes_the_same_network(backend, kind):
    case = next(random_cases(0, 1))
    case = {
        "general": case,
        "relu": case.with_relu_network_loss(),
        "later batchnorm": case.with_later_batchnorm_loss(),
        "isotropic": case.with_isotropic_loss(case.direction, 2),
    }[kind]

    def value_and_gradient(backend):
        calculus = calculus_of(backend)
        network = ArrayNetwork(case, backend, calculus)
        value = network.normalized_loss(network.y)
        assert network.z.device == network.g.device == backend.native_device
        return backend.to_numpy(value), backend.to_numpy(network.g)

    for found, expected in zip(
        value_and_gradient(backend), value_and_gradient(Backend()), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def calculus_of(backend):
    return SimpleNamespace(sqrt=backend.sqrt, gradient=gradient)


def test_unknown_backend():
    with pytest.raises(
        ValueError, match=r"no backend 'jax'.* numpy, torch, cupy, array-api-strict"
    ):
        Backend("jax")


def test_missing_package(monkeypatch):
    devices.cache_clear()  # where CuPy is installed
    monkeypatch.setattr(backends, "find_spec", lambda package: package == "numpy" or None)
    with pytest.raises(
        RuntimeError, match=r"cupy is not installed.*pip install cupy-cuda12x.*numpy"
    ):
        Backend("cupy")
    assert installed() == ["numpy"]


@pytest.mark.parametrize(
    ("name", "device", "has"),
    [
        ("numpy", "cuda", "cpu"),
        ("torch", "cuda:99", "cpu"),
        ("torch", "meta", "cpu"),
        ("array-api-strict", "no_float64", "CPU_DEVICE, device1, device2"),
    ],
)
def test_device_that_is_not_to_be_had(name, device, has):
    with pytest.raises(RuntimeError, match=rf"'{device}' was asked for.*'{name}' has here.*{has}"):
        Backend(name, device)


class NoGPUError(RuntimeError):
    """What CuPy raises without one."""


def cupy_with(count):
    def get_device_count():
        if not count:
            raise NoGPUError("no CUDA-capable device is detected")
        return count

    runtime = SimpleNamespace(getDeviceCount=get_device_count, CUDARuntimeError=NoGPUError)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, Device="device {}".format))


def test_devices_of_cupy():
    found = LIBRARIES["cupy"].devices
    assert found(cupy_with(0)) == {}
    assert found(cupy_with(2)) == {"cuda:0": "device 0", "cuda:1": "device 1", "cuda": "device 0"}


def test_cupy_without_a_gpu(monkeypatch):
    devices.cache_clear()  # where CuPy is installed
    monkeypatch.setattr(backends, "find_spec", lambda package: True)
    monkeypatch.setattr(backends, "import_module", lambda package: cupy_with(0))
    with pytest.raises(RuntimeError, match=r"'any' was asked for, but backend 'cupy'.*none"):
        Backend("cupy")


def test_only_cupy_has_a_current_device(backend):
    with backend.current() as current:
        assert current is None


def test_a_complex_number_is_never_made_real_in_silence(backend):
    with pytest.raises(TypeError, match="imaginary part would be lost"):
        backend.asarray(np.array([1 + 1j]))


def test_a_decomposition_is_not_continued_to_complex_matrices(backend):
    matrix = Operand(backend.asarray(np.eye(2), is_complex=True))
    with pytest.raises(operators.NotAnalyticError, match="eigvalsh"):
        array_namespace(matrix).linalg.eigvalsh(matrix)
