"""What the letters of gradient descent, of Theorem 1 and of convolutions mean: by hand."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from theory import maps
from theory.arithmetic.exact import number, rational_array
from theory.lange2022 import gradient_descent, lemma_8, proposition_10, theorem_1
from theory.language.expression import equal
from theory.language.letters import FREE
from theory.language.values import Values
from theory.matrix_claim import Kind
from verify.subjects.calculus import EXACT
from verify.subjects.matrices import Descent, Maps
from verify.witnesses.matrices import symbolic

GENERIC = symbolic.letters(Kind.MAPS, symbolic.SIZES[Kind.MAPS][0])


def maps_of(h, k=3):
    """Maps (N, c, r, s) of one batch, and a kernel of zeros."""
    h = np.array(h, dtype=object)
    N, c, r, s = h.shape
    zero = np.zeros((N, 1, r, s), dtype=object)
    return Maps(
        h=h, w=np.zeros((1, c, k, k), dtype=object), b=np.zeros(1, dtype=object), q=1,
        linear=zero, fourth=zero, ridge=zero, centre=zero, pooled=np.zeros(N, dtype=object),
        direction=np.zeros(k * k * c + 1, dtype=object), free=np.zeros(FREE, dtype=object),
    )  # fmt: skip


def descent_of(step=1, **given):
    one = np.array([1], dtype=object)
    arrays = {
        "theta": one, "direction": one, "factor": one[None], "P": one[None],
        "linear": 0 * one, "fourth": 0 * one, "ridge": 0 * one,
        "centre": 0 * one, "free": np.ones(FREE, dtype=object),
    }  # fmt: skip
    given = {name: np.array(value, dtype=object) for name, value in given.items()}
    return Descent(step=step, **{**arrays, **given})


def values(subject):
    return Values(
        subject.converted(lambda x: rational_array(x) if np.ndim(x) else number(x), EXACT)
    )


@pytest.mark.parametrize(
    "slip",
    [(lemma_8.COLUMN, lemma_8.ROW), (lemma_8.ROW - lemma_8.v + lemma_8.u, lemma_8.COLUMN)],
    ids=["rows and columns interchanged", "u for v"],
)
def test_a_slip_in_an_index_of_lemma_8_is_not_proved(slip):
    entries = maps.entry(maps.h, *slip)
    product = maps.augmented(maps.arranged(entries)) @ maps.stacked(maps.w, maps.b)
    planted = replace(lemma_8.LEMMA, says=equal(lemma_8.LEMMA.says.actual, product))
    assert not symbolic.open_for(lemma_8.LEMMA, GENERIC)
    assert symbolic.open_for(planted, GENERIC)


def test_the_literal_convolution_is_that_of_torch():
    rng = np.random.default_rng(0)
    h, w, b = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 5, 5)), rng.normal(size=2)
    expected = torch.conv2d(*map(torch.tensor, (h, w, b)), padding=2).numpy()
    a = maps.convolution(h, w, b)
    np.testing.assert_allclose(a, expected, atol=1e-12)
    np.testing.assert_array_equal(maps.maps_of(maps.vectorized(a)[:, 0], h), a[:, :1])
    x = maps.stacked_parameters(w, b)
    np.testing.assert_array_equal(maps.kernel_of(x[:, 1], 5)[0], w[1])
    assert x[2, 0] == w[0, 0, 1, 0]  # vec runs through rows first


def test_values_by_hand():
    constant = values(maps_of([[[[1, 1, 1]] * 3]]))
    assert constant[maps.variance_of(maps.h)].item() == 0
    assert str(constant[proposition_10.COLUMN_VARIANCE][0, 0, 0]) == "20/81"
    assert constant[proposition_10.theta][0, 0] == number("5/9")
    corner = values(maps_of(np.ones((1, 1, 4, 2)))).sides(proposition_10.BOUND.says)
    assert corner.actual[0, 0, 0] == corner.claimed[0, 0, 0] == number("5/8")  # 1 - 3/4 * 1/2
    assert values(maps_of([[[[0]]]]))[lemma_8.EXAMPLE.says.claimed].shape == (12, 9)
    assert values(maps_of([[[[0]] * 4]]))[proposition_10.ROWS] == 6  # Figure 1
    assert values(maps_of([[[[0, 0]] * 3]]))[proposition_10.part] == number("1/3")
    best = values(descent_of())  # 1 and 3
    sides = best.sides(gradient_descent.BEST.says)
    assert list(sides.actual) == list(sides.claimed) == [number("1/2")] * 2
    assert theorem_1.distance2.meaning(2) == 7  # from (3, 3) to ((3 + sqrt 5)/2, its inverse)
    assert [3 * x for x in theorem_1.p.value(descent_of(theta=[1]))] == [2, 1]


def test_the_steps_written_out_are_those_of_the_losses():
    x, alpha = number("1/7"), number("3/2")
    both = rational_array([1 + x, 1 + x])
    gradient = EXACT.gradient(lambda y: (y[0] * y[1] - 1) * (y[0] * y[1] - 1) / 2, both)
    assert list(both - alpha * gradient - 1) == 2 * [x - alpha * x * (2 + x) * (1 + x)]
    slope = EXACT.derivative(lambda t: t * t / 2 + t * t * t * t / 4, number(1), number(1))
    step = values(descent_of())[gradient_descent.quartic_step(gradient_descent.t)]
    assert step == 1 - 3 * slope


def test_what_cannot_be_evaluated_is_refused():
    one = values(maps_of([[[[1]]]], k=1))
    with pytest.raises(ValueError, match=r"whole number, not 1/2"):
        _ = one[maps.entry(maps.h, maps.k / 2, maps.k / 2)]
    with pytest.raises(ZeroDivisionError, match="constant"):
        _ = one[proposition_10.NORM2]
