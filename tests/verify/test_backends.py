"""Backends: the same numbers in every array library, and errors that say what to do."""

from types import SimpleNamespace

import numpy as np
import pytest
from array_api_compat import array_namespace

from verify import backends, operators
from verify.backends import LIBRARIES, Backend, devices, installed
from verify.operators import Operand
from verify.subjects.unit_strata import random_cases
from verify.witnesses.arrays import ArrayNetwork
from verify.witnesses.complex_step import gradient

ON_TORCH = [("torch", device) for device in devices("torch")]
HERE = [("numpy", "cpu"), *ON_TORCH, ("array-api-strict", "device1")]


@pytest.fixture(params=HERE, ids=":".join)
def backend(request):
    return Backend(*request.param)


@pytest.fixture
def packages(monkeypatch):
    """Set which packages are found, and what is imported of each."""

    def found(is_found, package=None):
        monkeypatch.setattr(backends, "find_spec", lambda name: is_found(name) or None)
        monkeypatch.setattr(backends, "import_module", lambda name: package)

    devices.cache_clear()  # where CuPy is installed
    yield found
    devices.cache_clear()


@pytest.mark.parametrize("values", [3, [1, 2], np.float32([[0.5], [2]]), [], 1j, [[1 + 2j, 0.5]]])
def test_there_and_back(backend, values):
    is_complex = np.iscomplexobj(values)
    array = backend.asarray(values, is_complex)
    assert array.device == backend.native_device
    assert operators.is_complex(array) == is_complex
    back = backend.to_numpy(array)
    assert back.dtype == (np.complex128 if is_complex else np.float64)
    np.testing.assert_array_equal(back, values)
    with backend.current() as current:
        assert current is None  # only CuPy has one


def test_a_complex_number_is_never_made_real_in_silence(backend):
    with pytest.raises(TypeError, match="imaginary part would be lost"):
        backend.asarray(np.array([1 + 1j]))


def test_softplus_does_not_overflow_and_continues_off_the_real_axis(backend):
    x, step = np.array([-1e4, -800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 1e4]), 2.0**-500
    expected = [0, 0, np.exp(-40), np.log1p(np.exp(-1)), np.log(2), np.log1p(np.exp(1)), 40, 1e4]
    real = backend.to_numpy(backend.softplus(backend.asarray(x)))
    found = backend.to_numpy(backend.softplus(backend.asarray(x + 1j * step, is_complex=True)))
    for value in (real, found.real):
        np.testing.assert_allclose(value, expected, rtol=1e-15, atol=2e-16)
    np.testing.assert_allclose(found.imag / step, np.exp(x - np.logaddexp(0, x)), rtol=4e-16)
    away = np.array([-2.0, 2.0]) + 0.5j
    found = backend.to_numpy(backend.softplus(backend.asarray(away, is_complex=True)))
    np.testing.assert_allclose(found, np.log(1 + np.exp(away)), rtol=1e-14)


def test_operators_continue_off_the_real_axis(backend):
    root = Operand(backend.asarray([4.0, -1.0], is_complex=True)).sqrt().array
    np.testing.assert_allclose(backend.to_numpy(root), [2, 1j], atol=1e-15)
    slope = gradient(lambda x: abs(x).sum(), Operand(backend.asarray([3.0, -2.0])))
    np.testing.assert_array_equal(backend.to_numpy(slope.array), [1, -1])
    matrix = Operand(backend.asarray(np.eye(2)))
    vector = Operand(backend.asarray([1j, 2.0], is_complex=True))
    np.testing.assert_array_equal(backend.to_numpy((matrix @ vector).array), [1j, 2])
    assert backend.to_numpy((vector @ vector).array) == 3  # nothing is conjugated


def test_a_decomposition_is_not_continued_to_complex_matrices(backend):
    matrix = Operand(backend.asarray(np.eye(2), is_complex=True))
    with pytest.raises(operators.NotAnalyticError, match="eigvalsh"):
        array_namespace(matrix).linalg.eigvalsh(matrix)


@pytest.mark.parametrize("kind", ["general", "relu", "later batchnorm", "isotropic"])
def test_every_library_computes_the_same_network(backend, kind):
    case = next(random_cases(0, 1))
    case = {
        "general": case,
        "relu": case.with_relu_network_loss(),
        "later batchnorm": case.with_later_batchnorm_loss(),
        "isotropic": case.with_isotropic_loss(case.direction, 2),
    }[kind]

    def network(backend):
        calculus = SimpleNamespace(sqrt=Operand.sqrt, gradient=gradient)
        return ArrayNetwork(case, backend, calculus)

    found, expected = network(backend), network(Backend())
    assert found.z.device == found.g.device == backend.native_device
    value, wanted = (network.normalized_loss(network.y).array for network in (found, expected))
    np.testing.assert_allclose(backend.to_numpy(value), wanted, rtol=1e-12)
    np.testing.assert_allclose(backend.to_numpy(found.g.array), expected.g.array, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "device", "said"),
    [
        ("jax", "", "no backend 'jax'.* numpy, torch, cupy, array-api-strict"),
        ("numpy", "cuda", "'cuda' was asked for, but backend 'numpy' has here.*: cpu"),
        ("torch", "meta", "'meta' was asked for, but backend 'torch' has here.*: cpu"),
        ("array-api-strict", "no_float64", "'no_float64'.*: cpu, CPU_DEVICE, device1, device2"),
    ],
)
def test_what_is_not_to_be_had_is_refused(name, device, said):
    with pytest.raises((ValueError, RuntimeError), match=said):
        Backend(name, device)


def test_a_missing_package_is_named(packages):
    packages(lambda package: package == "numpy")
    said = r"cupy is not installed.*pip install cupy-cuda12x.*numpy"
    with pytest.raises(RuntimeError, match=said):
        Backend("cupy")
    assert installed() == ["numpy"]


class NoGPUError(RuntimeError):
    """What CuPy raises without one."""


def cupy_with(count):
    def get_device_count():
        if not count:
            raise NoGPUError
        return count

    runtime = SimpleNamespace(getDeviceCount=get_device_count, CUDARuntimeError=NoGPUError)
    return SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, Device="device {}".format))


def test_cupy_has_the_gpus_that_are_there(packages):
    found = LIBRARIES["cupy"].devices(cupy_with(2))
    assert found == {"cuda:0": "device 0", "cuda:1": "device 1", "cuda": "device 0"}
    packages(lambda package: True, cupy_with(0))
    with pytest.raises(RuntimeError, match=r"'any' was asked for, but backend 'cupy'.*none"):
        Backend("cupy")
