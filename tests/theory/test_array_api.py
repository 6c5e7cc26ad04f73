"""Every public function on arrays of every kind: each unit is given what it is given alone."""

import array_api_strict
import numpy as np
import pytest
import torch
from array_api_compat import array_namespace, device
from test_batchnorm import make_case
from test_operations import assert_close, by_name, channels_last, to_numpy

import theory
from theory import batchnorm, lp

STRICT = array_api_strict.__array_namespace_info__()
HOST, *_ = STRICT.devices()


def strict(where):
    dtype = STRICT.default_dtypes(device=where)["real floating"]
    return lambda a: array_api_strict.asarray(a, dtype=dtype, device=where)


KINDS = {
    "NumPy, channels last": channels_last,
    "NumPy, every other row": lambda a: np.repeat(a, 2, 0)[::2],
    "NumPy, a slice of wider rows": lambda a: np.pad(a, 2)[(slice(2, -2),) * a.ndim],
    "NumPy, single": lambda a: a.astype(np.float32),
    "PyTorch, Fortran": lambda a: torch.asarray(np.asfortranarray(a)),
    "PyTorch, every other row": lambda a: torch.asarray(np.repeat(a, 2, 0))[::2],
    "PyTorch, single": lambda a: torch.asarray(a).float(),
    **{f"strict, {where}": strict(where) for where in STRICT.devices()},
}


def on_host(a):
    return np.asarray(a.to_device(HOST)) if array_namespace(a) is array_api_strict else to_numpy(a)


def stored(case, convert):
    """A case in arrays of a kind, with another epsilon in each unit."""
    eps = np.array([0.0, 1e-2, 3.0]).reshape(case.gamma.shape)
    arrays = [convert(to_numpy(a)) for a in (*case[:7], eps)]
    return case._make((*arrays, case.axis))


def alone(case, unit):
    """One unit in a line, in double precision: NumPy's arrays, with the unit's own numbers."""
    given = (np.asarray(on_host(a), dtype=float) for a in case[:8])
    lines = [np.take(a, unit, axis=min(a.ndim - 1, 1)).flatten() for a in given]
    return case._make((*lines, 0))


def values(case):
    """Every public function's value, by name."""
    arguments = case._asdict() | {
        "hessian_of_loss": case.H,
        "H": theory.projection(case.y, 1, case.axis),
        "running_mean": batchnorm.mean(case.y, case.axis),
        "running_variance": batchnorm.variance(case.y, case.axis),
        "p": 3,
    }
    functions = [getattr(theory, name) for name in theory.__all__]
    functions += [function for function in vars(lp).values() if hasattr(function, "__wrapped__")]
    return {f"{f.__module__}.{f.__name__}": by_name(f, arguments) for f in functions}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", ["units", "maps"])
def test_each_unit_is_given_what_numpy_gives_it_alone(layout, kind):
    case = stored(make_case(layout), KINDS[kind])
    results = values(case)
    for name, result in results.items():
        assert type(result) is type(case.y), name
        assert result.dtype == case.y.dtype, name
        assert device(result) == device(case.y), name
    for unit in range(3):
        one = alone(case, unit)
        for name, expected in values(one).items():
            found = on_host(results[name])
            found = np.take(found, unit, axis=2 if expected.ndim == 2 else 1)
            found, expected = found.flatten(), expected.flatten().astype(found.dtype)
            assert_close(found, expected, 1 + np.max(np.abs(expected)), one.y, one.eps)


@pytest.mark.parametrize("layout", ["one unit", "maps"])
def test_a_complex_step_is_a_derivative(layout):
    """That through ``forward`` is the Jacobian, that through ``gradient`` the curvature."""
    step = 2.0**-80  # its square is below roundoff, so nothing is truncated
    y, g, u, _, _, gamma, beta, _, axis = (to_numpy(a) for a in make_case(layout))
    axis = make_case(layout).axis
    y_far, gamma, beta = y + 1j * step * u, gamma + 0j, beta + 0j
    stepped = theory.forward(y_far, gamma, beta, 1e-5, axis)
    slope = np.imag(stepped) / step
    np.testing.assert_allclose(slope, theory.jvp(y, u, gamma.real, 1e-5, axis), atol=1e-14)
    stepped = theory.gradient(y_far, g + 0j, gamma, 1e-5, axis)
    bent = -np.imag(stepped) / step
    np.testing.assert_allclose(bent, theory.curvature(y, g, u, gamma.real, 1e-5, axis), atol=1e-13)
