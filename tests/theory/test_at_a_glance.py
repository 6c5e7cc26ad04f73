"""Of a large array a few entries are looked at; what the others hold is seen by the result."""

import inspect

import numpy as np
import pytest
import torch

import theory
from theory import batchnorm, scaling

M, HIDDEN, AT = 40, (37, 1), r"at index \(37, 1\)"
LINEAR_IN = {
    "jvp": "u", "gradient": "g", "project": "u", "gradient_gamma": "g", "gradient_beta": "g",
    "hvp": "gu", "curvature": "gu", "running_gradient": "g", "running_hvp": "u",
}  # fmt: skip
PLACES = [(name, where) for name, letters in LINEAR_IN.items() for where in letters]


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch):
    monkeypatch.setattr(scaling, "LARGE", 1)


def drawn(dtype=np.float32):
    generator = np.random.default_rng(0)
    batch = {name: generator.standard_normal((M, 3)).astype(dtype) for name in "ygu"}
    ones = np.ones(3, dtype)
    return batch | {"running_variance": 2 * ones, "gamma": 1.5, "eps": 1e-3}


def called(function, values):
    """Call a function with those of some values that it takes."""
    taken = inspect.signature(function).parameters
    return function(**{name: value for name, value in values.items() if name in taken})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("name", "where"), PLACES)
@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy])
def test_what_is_not_finite_is_named_and_no_operator_is_asked_of_it(name, where, value, library):
    def hessian_of_loss(w):
        assert np.isfinite(np.asarray(w)).all()
        return w

    values = drawn()
    values[where][HIDDEN] = value
    arrays = {n: library(v) if isinstance(v, np.ndarray) else v for n, v in values.items()}
    with pytest.raises(
        ValueError, match=rf"^{where} of shape \(40, 3\) is NaN.* at index \(37, 1\)"
    ):
        called(getattr(theory, name), arrays | {"hessian_of_loss": hessian_of_loss})


@pytest.mark.parametrize("exponent", [-140, -60, 60, 100, 120])
@pytest.mark.parametrize(("name", "where"), [p for p in PLACES if hasattr(batchnorm, p[0])])
def test_an_entry_of_another_size_costs_no_digits(name, where, exponent):
    values = drawn() | {"hessian_of_loss": lambda w: 2 * w}
    values[where][HIDDEN] = 2.0**exponent
    wide = {n: v.astype(float) if isinstance(v, np.ndarray) else v for n, v in values.items()}
    expected = called(getattr(batchnorm, name), wide)
    found = called(getattr(theory, name), values)
    apart = np.abs(found - expected).max(0)
    assert (apart <= 1e-4 * np.abs(expected).max(0)).all()


@pytest.mark.parametrize("name", ["hvp", "running_hvp"])
def test_an_operator_that_returns_nan_is_named(name):
    def hessian_of_loss(w):
        w = w.copy()
        w[HIDDEN] = np.nan
        return w

    with pytest.raises(ValueError, match=rf"^hessian_of_loss returned NaN.* {AT}"):
        called(getattr(theory, name), drawn() | {"hessian_of_loss": hessian_of_loss})


def test_an_operator_that_hides_what_it_is_given_hides_no_nan():
    """With running statistics no entry meets another, so that one that is lost would be missed."""
    values = drawn()
    values["u"][HIDDEN] = np.nan
    with pytest.raises(ValueError, match=rf"^u of shape .* is NaN.* {AT}"):
        called(theory.running_hvp, values | {"hessian_of_loss": np.nan_to_num})
    with pytest.raises(ValueError, match=rf"^u of shape .* is NaN.* {AT}"):
        called(theory.hvp, values | {"hessian_of_loss": np.nan_to_num})


def test_an_operator_is_asked_once():
    asked = []
    called(theory.hvp, drawn() | {"hessian_of_loss": lambda w: asked.append(w) or w})
    assert len(asked) == 1
