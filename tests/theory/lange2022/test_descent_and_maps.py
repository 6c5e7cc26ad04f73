"""Claims on gradient descent, on Theorem 1 and on convolutions: by hand, and planted slips."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import torch

from theory.arithmetic.exact import number, rational_array
from theory.lange2022 import (
    algorithm_3,
    equation_5,
    equation_6,
    equations_19_22,
    lemma_8,
    lemma_8_example,
    minimiser,
    proof_1_induction,
    proof_1_remainder,
    proof_10,
    proposition_9,
    proposition_10,
    proposition_10_variance,
    theorem_1_invariance,
    theorem_1_networks,
    theorem_1_null_space,
    theorem_1_rate,
    unfolding,
)
from theory.statement import Sides, Verdict
from verify.matrices import exact, symbolic
from verify.matrices.subjects import Descent, Maps
from verify.settings import PROFILES, Settings
from verify.tolerance import Outcome

MODULES = [
    "minimiser",
    "equation_5",
    "equation_6",
    "rate_of_descent",
    "theorem_1_null_space",
    "theorem_1_invariance",
    "theorem_1_networks",
    "theorem_1_rate",
    "proof_1",
    "proof_1_remainder",
    "proof_1_induction",
    "lemma_8",
    "lemma_8_example",
    "proposition_9",
    "equations_19_22",
    "proposition_10",
    "proposition_10_variance",
    "proof_10",
    "norm_of_maps",
    "algorithm_3",
    "online_convolution",
]
CLAIMS = {c.id: c for m in MODULES for c in import_module(f"theory.lange2022.{m}").CLAIMS}
SMALL = Settings(replace(PROFILES["smoke"], examples=15))


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


def test_ids_are_different_and_refuted_claims_have_their_correction():
    assert len(CLAIMS) == sum(len(import_module(f"theory.lange2022.{m}").CLAIMS) for m in MODULES)
    tied = {c.of for c in CLAIMS.values()}
    for claim in CLAIMS.values():
        if claim.expected is Verdict.REFUTED:
            assert claim.id in tied or claim.corrected_by in CLAIMS, claim.id


VIOLATED = {
    "L-def-minimiser": descent_of(theta=[-1]),
    "L-eq-5-6/5": descent_of(theta=[4], step=1),
    "L-thm-1/invariance": descent_of(),
    "L-thm-1/kink": descent_of(),
    "L-thm-1/softmax": descent_of(),
    "L-thm-1/rate": descent_of(theta=[-1], step=1),
    "L-steps/523": descent_of(),
    "L-lemma-8/entry": maps_of([[[[1], [0]]]]),
    "L-eq-19-22/relative": maps_of([[[[1, 1, 1]] * 3]]),
    "L-prop-10": maps_of([[[[1]]]], k=5),
    "L-steps/716-padded": maps_of([[[[1]]]]),
    "L-steps/716-counted": maps_of([[[[1]]]], k=5),
    "L-alg-3/at-once": maps_of([[[[1]]]], k=1, b=np.array([1], dtype=object)),
    "L-alg-3/centred": maps_of([[[[1]]]]),
    "L-online/convolution": maps_of([[[[0], [2]]]]),
    "L-q-conv/estimate": maps_of([[[[1, 1], [1, -1]]]]),
}


@pytest.mark.parametrize("name", VIOLATED)
def test_the_counterexamples_of_the_notes(name):
    assert CLAIMS[name].expected is Verdict.REFUTED
    assert exact.examine(CLAIMS[name], VIOLATED[name]).outcome is Outcome.VIOLATED


PLANTED = {
    # the claim, and one slip in its formula
    "L-lemma-8": lambda x: Sides(x.actual, -x.claimed),
    "L-lemma-8/column": lambda x: Sides(x.actual, x.claimed[:, :, ::-1, :]),
    "L-lemma-8/example": lambda x: Sides(x.actual, x.claimed[:, ::-1]),
    "L-lemma-8/shipped-transpose": lambda x: Sides(x.actual, 2 * x.claimed),
    "L-eq-19-22/19": lambda x: Sides(x.actual, x.claimed.transpose(0, 2, 1)),
    "L-eq-19-22/20/shipped": lambda x: Sides(x.actual, x.claimed.transpose(0, 2, 1)),
    "L-prop-10/left-out": lambda x: Sides(x.actual, -x.claimed),
    "L-prop-10/sharpened": lambda x: Sides(x.actual, x.claimed / 2),
    "L-prop-10/variance/from-above": lambda x: Sides(x.actual, x.claimed / 2),
    "L-prop-10/variance/rectified": lambda x: Sides(x.actual, x.claimed / 2),
    "L-prop-9": lambda x: Sides(x.actual, x.claimed / 2),
    "L-q-conv": lambda x: Sides(x.actual, x.claimed + 1),
    "L-q-conv/apart": lambda x: Sides(x.actual, x.claimed * x.claimed),
    "L-steps/698": lambda x: Sides(x.actual, -x.claimed),
    "L-steps/27": lambda x: Sides(x.actual, x.claimed[::-1]),
    "L-thm-1/every-point": lambda x: Sides(x.actual, -x.claimed),
    "L-eq-5-6/5/average-hessian": lambda x: Sides(x.actual, -x.claimed),
    "L-eq-5-6/6": lambda x: Sides(x.actual, -x.claimed),
    "L-eq-5-6/rate": lambda x: Sides(x.actual, x.claimed / 2),
    "L-eq-5-6/rate-fast": lambda x: Sides(x.actual, x.claimed / 2),
    "L-steps/26": lambda x: Sides(x.actual, x.claimed / 4),
    "L-steps/509/corrected": lambda x: Sides(x.actual, x.claimed / 4),
    "L-steps/517": lambda x: Sides(x.actual, x.claimed / 2),
    "L-online/one-weight": lambda x: Sides(x.actual, x.claimed[::-1]),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_slip_is_refuted(name):
    claim = CLAIMS[name]
    planted = replace(claim, sides=lambda subject: PLANTED[name](claim.sides(subject)))
    assert exact.search(planted, SMALL).counterexample is not None


def test_no_centring_and_other_orders_are_refuted():
    unit = CLAIMS["L-thm-1"]

    def bias_left_out(descent):
        z = theorem_1_null_space.parameters(descent)
        unscaled = [X * rational_array([1, 0, 1])[:, None]
                    for X in theorem_1_null_space.generators(descent, z)]  # fmt: skip
        loss = theorem_1_null_space.critical_loss
        moved = [theorem_1_null_space.along(descent, loss, X) for X in unscaled]
        return Sides(np.stack(moved), 0 * np.stack(moved))

    assert exact.search(replace(unit, sides=bias_left_out), SMALL).counterexample


def test_the_literal_convolution_is_that_of_torch():
    rng = np.random.default_rng(0)
    h, w, b = rng.normal(size=(2, 3, 4, 5)), rng.normal(size=(2, 3, 5, 5)), rng.normal(size=2)
    expected = torch.conv2d(*map(torch.tensor, (h, w, b)), padding=2).numpy()
    np.testing.assert_allclose(unfolding.convolution(h, w, b), expected, atol=1e-12)
    a = unfolding.convolution(h, w, b)
    np.testing.assert_array_equal(unfolding.unvec(unfolding.vec(a)[:, 0], h), a[:, :1])
    x = unfolding.stacked(w, b)
    np.testing.assert_array_equal(unfolding.unstacked(x[:, 1], 5)[0], w[1:])
    assert x[2, 0] == w[0, 0, 1, 0]  # vec runs through rows first


def test_values_by_hand():
    constant = maps_of([[[[1, 1, 1]] * 3]])
    assert equations_19_22.variance(constant.h.astype(float)) == 0
    h = rational_array(constant.h)
    assert str(equations_19_22.column_variances(h, 3)[0, 0, 0]) == "20/81"
    corner = proposition_10.printed(maps_of(np.ones((1, 1, 4, 2))))
    assert corner.actual[0, 0, 0] == corner.claimed[0, 0, 0] == 5 / 8  # 1 - 3/4 * 1/2
    assert lemma_8_example.example(maps_of([[[[0]]]])).actual.shape == (12, 9)
    assert proof_10.padded_twice(maps_of([[[[0]] * 4]])).actual == 6  # Figure 1
    near = proof_1_remainder.one_step(descent_of(theta=[1], direction=[0]).converted(
        lambda x: rational_array(x) if np.ndim(x) else number(x), exact.EXACT))  # fmt: skip
    assert near.actual == near.claimed == 0
    best = equation_6.best(descent_of(theta=[1], factor=[[1]], P=[[1]]))  # 1 and 3
    assert list(best.actual) == list(best.claimed) == [0.5, 0.5]
    assert equation_5.quartic_step(0.25, 3) / 0.25 == -35 / 16
    assert theorem_1_rate.squared_distance(2) == 7  # from (3, 3) to ((3 + sqrt 5)/2, its inverse)
    p = theorem_1_networks.probabilities(descent_of(theta=[1]))
    assert [3 * x for x in p] == [2, 1]


def test_every_relation_of_the_proofs_is_tried_with_symbols():
    for claim in (
        minimiser.CLAIMS[1],
        proof_1_induction.CLAIMS[2],
        theorem_1_invariance.CLAIMS[2],
        algorithm_3.STEPS,
        lemma_8.PRODUCT,
        proposition_9.HESSIAN,
        proposition_10_variance.IDENTITY,
    ):
        size = symbolic.SIZES[claim.subject][1]
        assert symbolic.prove(claim, size) == "proved", claim.id


def test_the_steps_written_out_are_those_of_the_losses():
    x, alpha = number("1/7"), number("3/2")
    both = rational_array([1 + x, 1 + x])
    moved = both - alpha * exact.EXACT.gradient(proof_1_remainder.product_loss, both)
    assert list(moved - 1) == 2 * [theorem_1_rate.descended(x, alpha)]
    slope = exact.EXACT.derivative(lambda t: t * t / 2 + t * t * t * t / 4, x, number(1))
    assert equation_5.quartic_step(x, alpha) == x - alpha * slope
