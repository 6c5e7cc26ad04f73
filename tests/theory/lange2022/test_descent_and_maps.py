"""Claims on gradient descent, on Theorem 1 and on convolutions: by hand, and planted slips."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from theory import maps
from theory.arithmetic.exact import number, rational_array
from theory.lange2022 import CLAIMS as LANGE
from theory.lange2022 import (
    gradient_descent,
    lemma_8,
    norm_of_maps,
    proposition_9,
    proposition_10,
    theorem_1,
)
from theory.language.expression import Number, Sort, equal
from theory.language.values import Values
from theory.matrix_claim import Kind
from theory.statement import Verdict
from verify.matrices import exact, integers, symbolic
from verify.matrices.subjects import Descent, Maps
from verify.tolerance import Outcome
from verify.witnesses.exact import EXACT
from verify.witnesses.witness import PROFILES, Settings

CLAIMS = {claim.id: claim for claim in LANGE}
SMALL = Settings(replace(PROFILES["smoke"], examples=15))
SIZES = symbolic.SIZES[Kind.MAPS]


def maps_of(h, w=None, k=3, **given):
    h = np.array(h, dtype=object)
    N, c, r, s = h.shape
    w = np.zeros((1, c, k, k), dtype=object) if w is None else np.array(w, dtype=object)
    d, k = w.shape[0], w.shape[-1]
    zero = np.zeros((N, d, r, s), dtype=object)
    numbers = {"b": np.zeros(d, dtype=object), "q": 1, "linear": zero, "fourth": zero}
    direction = np.zeros(k * k * c + 1, dtype=object)
    pooled = np.zeros(N, dtype=object)
    return Maps(h=h, w=w, direction=direction, pooled=pooled, **{**numbers, **given})


def descent_of(**given):
    one = np.array([1], dtype=object)
    numbers = {
        "theta": one, "direction": one, "factor": one[None], "P": one[None], "step": 1,
        "linear": 0 * one, "fourth": 0 * one,
    }  # fmt: skip
    arrays = {k: np.array(v, dtype=object) if k != "step" else v for k, v in given.items()}
    return Descent(**{**numbers, **arrays})


def exactly(subject):
    return subject.converted(lambda x: rational_array(x) if np.ndim(x) else number(x), EXACT)


def value(expression, subject):
    return Values(exactly(subject))[expression]


NOTES = {
    "L-def-minimiser": descent_of(theta=[-1]),
    "L-eq-5-6/5": descent_of(theta=[4], step=1),
    "L-thm-1/invariance": descent_of(),
    "L-thm-1/rate": descent_of(theta=[-1], step=1),
    "L-proof-thm-1/contraction": descent_of(),
    "L-lemma-8/entry": maps_of([[[[1], [0]]]]),
    "L-eq-19-22/relative": maps_of([[[[1, 1, 1]] * 3]]),
    "L-prop-10": maps_of([[[[1]]]], k=5),
    "L-proof-prop-10/padded": maps_of([[[[1]]]]),
    "L-proof-prop-10/counted": maps_of([[[[1]]]], k=5),
    "L-online/convolution": maps_of([[[[0], [2]]]]),
    "L-q-conv": maps_of([[[[1, 1], [1, -1]]]]),
}


@pytest.mark.parametrize("name", NOTES)
def test_the_counterexamples_of_the_notes(name):
    assert CLAIMS[name].expected is Verdict.REFUTED
    assert exact.examine(CLAIMS[name], NOTES[name]).outcome is Outcome.VIOLATED


BLOCK_FORMULA_SLIPS = {
    "7 (t - 1) for (t - 1)": (lemma_8.ROW, lemma_8.COLUMN + 6 * (lemma_8.t - 1)),
    "rows and columns interchanged": (lemma_8.COLUMN, lemma_8.ROW),
    "2 (i - 1) for (i - 1)": (lemma_8.ROW + (lemma_8.i - 1), lemma_8.COLUMN),
    "u for v": (lemma_8.ROW - lemma_8.v + lemma_8.u, lemma_8.COLUMN),
}


@pytest.mark.parametrize("slip", BLOCK_FORMULA_SLIPS)
def test_a_slip_in_an_index_of_lemma_8_is_not_proved(slip):
    entries = maps.entry(maps.h, *BLOCK_FORMULA_SLIPS[slip])
    product = maps.augmented(maps.arranged(entries)) @ maps.stacked(maps.w, maps.b)
    planted = replace(lemma_8.LEMMA, says=equal(lemma_8.LEMMA.says.actual, product))
    generic = symbolic.letters(Kind.MAPS, SIZES[0])
    assert symbolic.follows(lemma_8.LEMMA, generic)
    assert not symbolic.follows(planted, generic)


def test_proofs_for_maps_see_every_index():
    for size in SIZES[:2]:
        _, c, r, s, d, k = size
        assert min(c, r, s, d) >= 2
        assert k >= 3
    assert any(r != s for _, _, r, s, _, _ in SIZES[:2])


def test_a_scaling_that_leaves_the_biases_out_is_refuted():
    def unbiased(s, Z):
        return np.stack([s * Z[0], 0 * Z[1], -s * Z[2]])

    slip = replace(theorem_1.scaled, meaning=unbiased)
    direction = slip(theorem_1.s_units, theorem_1.Theta)
    moved = theorem_1.hessian(theorem_1.critical, r"\nabla^2\mathcal L_* {0}", direction)
    flat = equal(moved, Number(0))
    (found,) = integers.examine([replace(theorem_1.NULL_SPACE, says=flat)], SMALL)
    assert found.counterexample


def test_the_flat_directions_of_softmax_are_three_with_two_inputs_and_more_with_one():
    p, a, b = np.array([0.5, 0.3, 0.2]), 1.5, np.array([1.0, -2.0, 0.5])

    def null_dimension(inputs):
        M, one = np.diag(p) - np.outer(p, p), np.eye(3)
        outputs = (np.hstack([a * x * one, one, x * b[:, None]]) for x in inputs)
        hessian = sum(J.T @ M @ J for J in outputs)
        return hessian.shape[0] - np.linalg.matrix_rank(hessian)

    assert null_dimension([1.0, 2.0]) == null_dimension([1.0, 2.0, -3.0]) == 3
    assert null_dimension([1.0]) == 3 + 2
    directions = exactly(descent_of(theta=[1, 2], direction=[1, -2], P=[[1, 0], [2, 1]]))
    found = [letter.value(directions) for letter in (
        theorem_1.scaled_unit, theorem_1.shifted_biases, theorem_1.shifted_weights
    )]  # fmt: skip
    assert np.linalg.matrix_rank(np.stack(found).astype(float)) == 3


CONSTANTS = {
    # a bound, the window's sharp constant, and what a smaller one is beaten by
    "L-prop-10/variance/bound/step": ("L-prop-10/variance/bound/attained", 3),
    "L-prop-10/variance/rectified/small-windows/step": (
        "L-prop-10/variance/rectified/small-windows/attained", 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONSTANTS)
def test_the_constants_of_the_variances_are_attained(name):
    attained, constant = CONSTANTS[name]
    assert CLAIMS[attained].says.claimed == CLAIMS[name].says.claimed
    subject = maps_of([[[[0, 0], [0, 0], [0, 0]]]])
    part = number("1/3")  # a window of three rows leaves out one
    assert value(proposition_10.part, subject) == part
    sides = Values(exactly(subject)).sides(CLAIMS[attained].says)
    assert sides.actual == sides.claimed == -constant * part * (1 - part)


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
    constant = maps_of([[[[1, 1, 1]] * 3]])
    assert value(maps.variance_of(maps.h), constant).item() == 0
    assert str(value(proposition_10.COLUMN_VARIANCE, constant)[0, 0, 0]) == "20/81"
    assert value(proposition_10.theta, constant)[0, 0] == number("5/9")
    corner = Values(exactly(maps_of(np.ones((1, 1, 4, 2))))).sides(proposition_10.BOUND.says)
    assert corner.actual[0, 0, 0] == corner.claimed[0, 0, 0] == number("5/8")  # 1 - 3/4 * 1/2
    assert value(lemma_8.EXAMPLE.says.claimed, maps_of([[[[0]]]])).shape == (12, 9)
    assert value(proposition_10.ROWS, maps_of([[[[0]] * 4]])) == 6  # Figure 1
    best = Values(exactly(descent_of(theta=[1], factor=[[1]], P=[[1]])))  # 1 and 3
    sides = best.sides(gradient_descent.BEST.says)
    assert list(sides.actual) == list(sides.claimed) == [number("1/2")] * 2
    assert theorem_1.distance2.meaning(2) == 7  # from (3, 3) to ((3 + sqrt 5)/2, its inverse)
    assert [3 * x for x in theorem_1.p.value(descent_of(theta=[1]))] == [2, 1]


def test_the_steps_written_out_are_those_of_the_losses():
    x, alpha = number("1/7"), number("3/2")
    both = rational_array([1 + x, 1 + x])
    gradient = EXACT.gradient(lambda y: (y[0] * y[1] - 1) * (y[0] * y[1] - 1) / 2, both)
    assert list(both - alpha * gradient - 1) == 2 * [x - alpha * x * (2 + x) * (1 + x)]
    step = exactly(descent_of(theta=[1], step=1))
    slope = EXACT.derivative(lambda t: t * t / 2 + t * t * t * t / 4, number(1), number(1))
    assert Values(step)[gradient_descent.quartic_step(gradient_descent.t)] == 1 - 3 * slope


def test_an_index_that_is_no_whole_number_is_refused():
    half = maps.entry(maps.h, maps.k / 2, maps.k / 2)
    with pytest.raises(ValueError, match=r"whole number, not 3/2"):
        value(half, maps_of([[[[1]]]]))


def test_a_column_that_is_constant_cannot_be_normalized():
    with pytest.raises(ZeroDivisionError, match="constant"):
        value(norm_of_maps.NORM2, maps_of([[[[1]]]], k=1))


def test_a_loss_of_the_batch_needs_the_whole_hessian():
    assert proposition_9.COUPLED.says.claimed.sort is Sort.NUMBER
    (found,) = integers.examine([proposition_9.COUPLED], SMALL)
    assert found.counterexample is not None
