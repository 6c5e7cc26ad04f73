"""Every formula on every array library as it is: device, dtype and values of the input's kind."""

import array_api_strict
import numpy as np
import pytest
import torch
from array_api_compat import device
from test_batchnorm import FORMULAS, LAYOUTS, Case, magnitude, make_case
from test_operations import assert_close, to_numpy

import theory
from theory import batchnorm

STRICT = array_api_strict.__array_namespace_info__()
EVERY_DEVICE = STRICT.devices()
DOUBLE_DEVICES = [d for d in EVERY_DEVICE if "float64" in STRICT.dtypes(device=d)]
STEP = 2.0**-80
"""Of a complex step: its square is below roundoff, so the derivative has no truncation error."""


def calls(c):
    """Every public function on a case."""
    m = batchnorm.size(c.y, c.axis)
    dense_H = theory.projection(c.y, 1, c.axis)
    spread = batchnorm.variance(c.y, c.axis)
    middle = batchnorm.mean(c.y, c.axis)
    y, g, u, gamma, eps, axis = c.y, c.g, c.u, c.gamma, c.eps, c.axis
    results = {
        "forward": theory.forward(y, gamma, c.beta, eps, axis),
        "normalize": theory.normalize(y, eps, axis),
        "jvp": theory.jvp(y, u, gamma, eps, axis),
        "gradient": theory.gradient(y, g, gamma, eps, axis),
        "hvp": theory.hvp(y, g, c.H, u, gamma, eps, axis),
        "curvature": theory.curvature(y, g, u, gamma, eps, axis),
        "gradient_gamma": theory.gradient_gamma(y, g, eps, axis),
        "gradient_beta": theory.gradient_beta(g, axis),
        "project": theory.project(y, u, eps, axis),
        "projection": theory.projection(y, eps, axis),
        "jacobian": theory.jacobian(y, gamma, eps, axis),
        "hessian": theory.hessian(y, g, dense_H, gamma, eps, axis),
        "running_forward": theory.running_forward(y, middle, spread, gamma, c.beta, eps),
        "running_gradient": theory.running_gradient(g, spread, gamma, eps),
        "running_hvp": theory.running_hvp(c.H, u, spread, gamma, eps),
    }
    assert set(results) == set(theory.__all__)
    assert results["hessian"].shape[0] == m
    return results


def as_arrays(case, convert):
    return Case(*(convert(to_numpy(a)) for a in case[:7]), case.eps, case.axis)


@pytest.mark.parametrize("where", DOUBLE_DEVICES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_strict_arrays_give_what_numpy_gives(layout, where):
    case = make_case(layout, 1e-5)
    strict = as_arrays(case, lambda a: array_api_strict.asarray(a, device=where))
    expected = calls(as_arrays(case, np.asarray))
    for name, result in calls(strict).items():
        assert device(result) == where, name
        assert result.dtype == array_api_strict.float64, name
        on_host = np.asarray(result.to_device(EVERY_DEVICE[0]))
        np.testing.assert_array_equal(on_host, expected[name], err_msg=name)


def test_strict_devices_with_double_precision_are_among_those_tried():
    assert len(DOUBLE_DEVICES) >= 2


@pytest.mark.parametrize("layout", LAYOUTS)
def test_torch_gives_what_numpy_gives(layout):
    case = make_case(layout, 1e-5)
    other = as_arrays(case, np.asarray)
    blurred = as_arrays(case, lambda a: a.astype(np.float32).astype(np.float64))
    for name, formula in FORMULAS.items():
        actual, expected = formula(case), formula(other)
        assert isinstance(actual, torch.Tensor)
        bound = magnitude(name, case)
        assert_close(actual, expected, bound, case.y, case.eps, case.axis)
        with pytest.raises(AssertionError, match="differ by"):
            assert_close(formula(blurred), expected, bound, case.y, case.eps, case.axis)


@pytest.mark.parametrize("where", EVERY_DEVICE, ids=str)
def test_single_precision_stays_single_on_every_strict_device(where):
    single = array_api_strict.float32
    case = as_arrays(
        make_case("units", 1e-5),
        lambda a: array_api_strict.asarray(a.astype(np.float32), dtype=single, device=where),
    )
    for name, result in calls(case).items():
        assert result.dtype == single, name
        assert device(result) == where, name


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_torch_keeps_its_dtype(dtype):
    case = make_case("units", 0.5)
    case = Case(*(a.to(dtype) for a in case[:7]), case.eps, case.axis)
    for name, result in calls(case).items():
        assert result.dtype == dtype, name


def test_numpy_keeps_single_precision_and_its_accuracy():
    case = as_arrays(make_case("units", 1e-5), lambda a: a.astype(np.float32))
    for result in calls(case).values():
        assert result.dtype == np.float32
    double = as_arrays(case, lambda a: a.astype(np.float64))
    for name, formula in FORMULAS.items():
        expected, bound = formula(double).astype(np.float32), magnitude(name, double)
        assert_close(formula(case), expected, bound, double.y, case.eps)


def complex_step(function, y, u):
    return np.imag(function(y + 1j * STEP * u)) / STEP


@pytest.mark.parametrize("eps", [0.0, 1e-5, 1.0])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_complex_steps_pass_through(layout, eps):
    """The step through ``forward`` is the Jacobian, the step through ``gradient`` the curvature."""
    c = as_arrays(make_case(layout, eps), np.asarray)
    forward = complex_step(lambda y: batchnorm.forward(y, c.gamma, c.beta, eps, c.axis), c.y, c.u)
    assert_close(FORMULAS["jvp"](c), forward, magnitude("jvp", c), c.y, eps, c.axis)

    bend = complex_step(lambda y: batchnorm.gradient(y, c.g, c.gamma, eps, c.axis), c.y, c.u)
    assert_close(FORMULAS["curvature"](c), -bend, magnitude("curvature", c), c.y, eps, c.axis)

    with pytest.raises(AssertionError, match="differ by"):
        assert_close(FORMULAS["curvature"](c), bend, magnitude("curvature", c), c.y, eps, c.axis)


def test_complex_arrays_pass_the_checks():
    c = as_arrays(make_case(), lambda a: a.astype(complex))
    stepped = theory.forward(c.y + 1j * STEP * c.u, c.gamma, c.beta)
    real = as_arrays(make_case(), np.asarray)
    bound = magnitude("jvp", real)
    assert_close(np.imag(stepped) / STEP, FORMULAS["jvp"](real), bound, real.y)
    for result in calls(c).values():
        assert result.dtype == complex
