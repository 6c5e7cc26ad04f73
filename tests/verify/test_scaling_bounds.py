"""Bounds on scalings against minima known in closed form, and wrong bounds against the same."""

from fractions import Fraction

import numpy as np
import pytest

from theory.arithmetic.exact import rational_array
from verify.scaling_bounds import (
    certified_lower_bound,
    certified_upper_bound,
    is_positive_definite,
    lower_bound,
    upper_bound,
)

P, Q = rational_array(["3/5", "4/5"]), rational_array(["5/13", "12/13"])
P_ACROSS, Q_ACROSS = rational_array(["4/5", "-3/5"]), rational_array(["12/13", "-5/13"])


def property_a(s=Fraction(2, 3), r=Fraction(1, 4)):
    """[[I, K], [K', I]] with the singular values s and r of K, and the dual that notes print."""
    K = s * np.outer(P, Q) + r * np.outer(P_ACROSS, Q_ACROSS)
    identity = np.eye(2, dtype=int)
    B = rational_array(np.block([[identity, K], [K.T, identity]]))
    return B, np.concatenate([P, -Q])[:, None], np.concatenate([P, Q])[:, None]


def two(r="1/2"):
    return rational_array([[1, r], [r, 1]])


def test_dual_of_property_a_proves_its_minimum():
    """L-thm-4: unit diagonal is best there, (1 + s)/(1 - s)."""
    B, V, W = property_a()
    assert certified_lower_bound(B, V, W) == 5
    above = certified_upper_bound(B, np.ones(4))
    assert 5 <= above < 5 * (1 + Fraction(1, 2**40))
    assert upper_bound(B.astype(float), np.ones(4)) == pytest.approx(5)


def test_bounds_do_not_change_with_the_columns_scale():
    B, V, W = property_a()
    scales = rational_array([2, "1/3", 5, "-7/2"])
    moved = scales[:, None] * B * scales
    V, W = V / scales[:, None], W / scales[:, None]
    assert certified_lower_bound(moved, V, W) == 5
    assert certified_upper_bound(moved, 1 / scales) >= 5


def test_rows_of_any_length_prove_what_is_left_when_they_fit():
    """W may not be longer than V in any row, and may be shorter at a cost."""
    B, V, W = two(), rational_array([[1], [-1]]), rational_array([[1], [1]])
    assert certified_lower_bound(B, V, W) == 3
    assert certified_lower_bound(B, V, 7 * W) == 3
    assert certified_lower_bound(B, 7 * V, W) == 3
    assert certified_lower_bound(B, V, rational_array([[1], [2]])) == Fraction(7, 4)
    assert certified_lower_bound(B, V, rational_array([[1], [0]])) == 1
    assert certified_lower_bound(B, rational_array([[1], [0]]), W) == 0


def random_certificates(count=300):
    rng = np.random.default_rng(0)
    for _ in range(count):
        ranks = rng.integers(1, 3, 2)
        yield tuple(rng.integers(-3, 4, (4, rank)) for rank in ranks)


def bound(V, W, B, fit):
    """The bound with another way to make the rows fit."""
    of_V, of_W = (V * V).sum(1), (W * W).sum(1)
    factor = fit([v / w for v, w in zip(of_V, of_W, strict=True) if w > 0])
    return factor * (W * (B @ W)).sum() / (V * (B @ V)).sum()


WRONG = {
    "longest row": lambda V, W, B: bound(V, W, B, max),
    "as they are": lambda V, W, B: bound(V, W, B, lambda _: 1),
    "mean": lambda V, W, B: bound(V, W, B, np.mean),
    "lengths for squares": lambda V, W, B: bound(V, W, B, lambda x: min(x) ** 0.5),
}


def test_no_certificate_proves_too_much():
    B, V, W = (matrix.astype(float) for matrix in property_a())
    pairs = [(V, W) for V, W in random_certificates() if np.any(W) and np.any(V)]
    pairs += [(V, W), (V, 3 * W)]
    assert all(lower_bound(B, V, W) <= 5 * (1 + 1e-12) for V, W in pairs)
    for name, wrong in WRONG.items():
        assert any(wrong(V, W, B) > 5.1 for V, W in pairs), name


def test_floats_are_the_rationals_that_they_store():
    B, V, W = (matrix.astype(float) for matrix in property_a())
    B = (B + B.T) / 2
    assert certified_lower_bound(B, V, W) == pytest.approx(5)
    assert float(lower_bound(B, V, W)) == pytest.approx(5)


def test_positive_definite():
    assert is_positive_definite(property_a()[0])
    assert not is_positive_definite(property_a(s=1)[0])
    assert not is_positive_definite(property_a(s=Fraction(10**30 + 1, 10**30))[0])
    assert is_positive_definite(property_a(s=Fraction(10**30 - 1, 10**30))[0])
    assert not is_positive_definite([[-1]])
    assert not is_positive_definite([[0, 1], [1, 5]])


@pytest.mark.parametrize(
    ("B", "message"),
    [
        ([[1, 1], [1, 1]], "not positive definite"),
        ([[1, 2], [2, 1]], "not positive definite"),
        ([[1, 2], [0, 9]], "not symmetric"),
        ([[1, 2]], "not symmetric"),
    ],
)
def test_no_lower_bound_for_what_has_no_minimum(B, message):
    ones = rational_array([[1], [1]])
    with pytest.raises(ValueError, match=message):
        certified_lower_bound(B, ones, ones)


def test_no_upper_bound_beyond_what_floats_resolve():
    for r in (1, 2, Fraction(10**18 - 1, 10**18)):
        with pytest.raises(ValueError, match="no bound is proved"):
            certified_upper_bound(two(r), [1, 1])
    assert certified_upper_bound(two(Fraction(10**6 - 1, 10**6)), [1, 1]) >= 2 * 10**6 - 1


def test_zero_proves_nothing():
    with pytest.raises(ValueError, match="W is zero"):
        certified_lower_bound(two(), [[1], [1]], [[0], [0]])
