"""What is done to many values at once is done to each of them."""

import numpy as np
import pytest
from array_api_compat import array_namespace

from theory import batchnorm
from theory.arithmetic import inner, sqrt
from verify import primitives
from verify.batched import Batched, NotBatchedError

rng = np.random.default_rng(5)
MATRIX = rng.normal(size=(5, 5))
VECTOR = rng.normal(size=5)


def _continued(x):
    """The absolute value, as it is continued off the real axis."""
    return np.where(x.real < 0, -x, x) if isinstance(x, np.ndarray) else abs(x)


def _root(x):
    return np.sqrt(x) if isinstance(x, np.ndarray) else sqrt(x)


FUNCTIONS = {
    "vector times matrix": lambda x: x @ MATRIX,
    "quadratic form": lambda x: x @ (MATRIX @ x),
    "number with an axis times vector": lambda x: inner(x, x) * x - x / x[0],
    "vector less its mean": lambda x: x - x.sum() / len(x),
    "absolute value": lambda x: _continued(-x),
    "closed form": lambda x: batchnorm.gradient(x, VECTOR, 0.7, 0.1),
    "primitive": lambda x: primitives.forward(x, 5, 0.7, 0.3, 0.1, _root),
    "comparison": lambda x: array_namespace(x).where(array_namespace(x).real(x) > VECTOR, x, 2 * x),
    "reshaped": lambda x: x.reshape(5, 1).sum(axis=1),
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
def test_what_is_done_to_many_is_done_to_each(f, is_complex):
    points = rng.normal(size=(4, 5)) + (1j * is_complex)
    each = np.array([f(point) for point in points])
    np.testing.assert_allclose(f(Batched(points, 1)).array, each, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("f", [lambda x, y: x * y, lambda x, y: y @ x, lambda x, y: x[0] - y])
def test_values_of_an_outer_batch_meet_those_of_an_inner_one(f):
    outer, inner_ = rng.normal(size=(3, 5)), rng.normal(size=(3, 4, 5))
    each = np.array([[f(x, y) for y in ys] for x, ys in zip(outer, inner_, strict=True)])
    found = f(Batched(outer, 1), Batched(inner_, 2))
    assert found.counts == 2
    np.testing.assert_allclose(found.array, each, rtol=1e-14)


@pytest.mark.parametrize(
    "f",
    [bool, np.asarray, lambda x: array_namespace(x).linalg, lambda x: array_namespace(x).cumsum],
)
def test_what_looks_at_one_value_refuses_many(f):
    with pytest.raises(NotBatchedError):
        f(Batched(rng.normal(size=(4, 5)), 1))
