"""The running error bounds what single precision does, and is not far above it."""

from __future__ import annotations

import numpy as np
import pytest

from theory.arithmetic import inner, mean, sqrt
from theory.arithmetic.running_error import Precision

SINGLE = Precision(2.0**-24, 2.0**-126, float(np.finfo(np.float32).max))
FORMULAS = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "quotient": lambda a, b: a / b,
    "cube": lambda a, b: a**3 - b,
    "root": lambda a, b: sqrt(a * a + b * b),
    "nested": lambda a, b: (a * b - a) / sqrt(a * a + 0.25) + 1 / b,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_single_precision_stays_within_the_error(name):
    generator = np.random.default_rng(3)
    a, b = generator.standard_normal((2, 1000, 1)).astype(np.float32)
    bound = FORMULAS[name](SINGLE.exactly(a), SINGLE.exactly(b))
    computed = FORMULAS[name](a, b).astype(np.float64)
    exact = FORMULAS[name](a.astype(np.longdouble), b.astype(np.longdouble))
    assert np.all(np.abs(computed - exact) <= bound.error)
    assert np.median(bound.error / np.maximum(np.abs(computed - exact), 1e-30)) < 1e3


def test_a_sum_of_four_may_be_taken_in_any_order_of_pairs():
    a = np.float32([[1.0], [-1.0 + 2**-20], [3.0 + 2**-22], [-3.0]])
    bound = SINGLE.exactly(a).sum()
    away = abs(float((a[0, 0] + a[2, 0]) + (a[1, 0] + a[3, 0])) - a.sum(dtype=float))
    assert 2**-24 < away <= bound.error


def test_sums_are_pairwise():
    a = np.random.default_rng(4).standard_normal((1000, 2)).astype(np.float32)
    total = SINGLE.exactly(a).sum()
    np.testing.assert_allclose(total.value[0], a.sum(0, dtype=float), rtol=1e-12)
    assert np.all(total.error < 20 * SINGLE.unit * np.abs(a).sum(0))


def test_zero_by_zero_and_beyond_the_range():
    zero = SINGLE.exactly([[0.0]])
    assert zero.sqrt().value == 0
    assert (zero / SINGLE.exactly([[2.0]])).error <= SINGLE.smallest
    large = SINGLE.exactly([[1e30]])
    assert np.isinf((large * large).error)
    assert not np.isinf((large + large).error)


def test_where_the_sign_of_a_radicand_is_in_doubt_the_error_is_infinite():
    one = SINGLE.exactly([[1.0], [1.0 + 2.0**-23]])
    centred = one - mean(one)
    assert np.isfinite(inner(centred, centred).error).all()
    assert np.isinf(inner(centred, centred).sqrt().error).all()
