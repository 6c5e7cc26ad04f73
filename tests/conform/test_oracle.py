"""The judge's own answers, against mpmath, against PyTorch, and against what rounding does."""

from __future__ import annotations

import independent
import numpy as np
import pytest
import torch

from verify.conform.cases import FAR, PLAIN, Stratum, draw, strata
from verify.conform.diagnosis import TERMS, terms
from verify.conform.judge import ENTRYWISE
from verify.conform.modes import MODES
from verify.conform.oracle import PRECISIONS, Answer, ClosedForms, Oracle, rounded_to
from verify.conform.plan import Options
from verify.conform.vectors import Vectors

ANSWERS = ("z", "x", "gamma", "beta", "dz", "ddz", "hx", "hgamma", "tx", "tgamma")
SHAPES = {
    "batch": ("NCL", 4, 2, 1),
    "layer": ("NLC", 3, 2, 1),
    "rms": ("NLC", 3, 2, 1),
    "instance": ("NCL", 3, 4, 1),
    "group": ("NCL", 4, 4, 2),
}


def oracle_of(case, family="batch"):
    return Oracle(case.inputs, case.eps, case.dtype, case.place, family != "rms")


def in_place(case, answer, matrix):
    """Return an answer in the shape of the layer, or one number a channel."""
    if answer not in ENTRYWISE:
        return matrix[0]
    array = np.empty(matrix.size)
    array[case.place.statistics] = matrix
    return array.reshape(case.place.shape)


@pytest.mark.parametrize("family", SHAPES)
def test_answers_are_those_of_differences_at_sixty_digits(family):
    axes, together, units, groups = SHAPES[family]
    stratum = Stratum("small", PLAIN, together, units, eps=0.25)
    case = draw(stratum, "float64", family, axes, seed=3, groups=groups)
    places = [axes.index(letter) for letter in "NCL"]

    def in_order(values):
        return np.moveaxis(values, places, [0, 1, 2]) if values.ndim == 3 else values

    moved = {name: in_order(values) for name, values in case.inputs.items()}
    expected = independent.answers(family, moved, case.eps, groups)
    oracle = oracle_of(case, family)
    for answer in ANSWERS:
        found = in_order(in_place(case, answer, oracle.answer(answer).high))
        np.testing.assert_allclose(
            found, expected[answer], rtol=1e-14, atol=1e-14, err_msg=f"{family}, {answer}"
        )


def test_answers_are_those_of_pytorch_where_float64_is_enough():
    case = draw(Stratum("plain", PLAIN), "float64", "batch", "NC")
    oracle = oracle_of(case)
    at = {n: torch.tensor(v, dtype=torch.float64).requires_grad_() for n, v in case.inputs.items()}
    x, gamma, beta = at["x"], at["gamma"], at["beta"]
    c = x - x.mean(0)
    z = gamma * c / ((c * c).mean(0) + case.eps).sqrt() + beta
    along = at["u"], at["a"], at["b"]
    slopes = torch.autograd.grad(z, (x, gamma, beta), at["g"], create_graph=True)
    bent = torch.autograd.grad(slopes, (x, gamma), along, create_graph=True)
    turned = torch.autograd.grad(bent, (x, gamma), along[:2], create_graph=True)
    names = "z", "x", "gamma", "beta", "hx", "hgamma", "tx", "tgamma"
    for answer, value in zip(names, (z, *slopes, *bent, *turned), strict=True):
        exact = in_place(case, answer, oracle.answer(answer).high)
        np.testing.assert_allclose(value.detach().numpy(), exact, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_two_passes_stay_within_their_running_error(dtype):
    for stratum in strata((dtype,)):
        case = draw(stratum, dtype, "batch", "NC")
        needs_single = stratum.name == "variance beyond the range"
        if case.touched.any() or case.together > 5000 or needs_single:
            continue
        x, gamma, beta = (case.inputs[n].astype(dtype) for n in ("x", "gamma", "beta"))
        c = x - pairwise(x) / x.dtype.type(len(x))
        variance = pairwise(c * c) / x.dtype.type(len(x))
        z = gamma * (c / np.sqrt(variance + x.dtype.type(case.eps))) + beta
        answer = oracle_of(case).answer("z")
        is_bounded = np.isfinite(answer.error)
        away = answer.distance(z.astype(np.float64))
        assert np.all(away[is_bounded] <= 1.01 * answer.error[is_bounded]), stratum.name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_too_large_for_balls_has_their_answers_within_its_doubt(dtype, monkeypatch):
    case = draw(Stratum("plain", PLAIN), dtype, "batch", "NC")
    balls = oracle_of(case)
    monkeypatch.setattr("verify.conform.oracle.MANY", 0)
    wider = oracle_of(case)
    for answer in (*ANSWERS, "mean3", "variance3", "ez", "egamma", "edz", "ehx", "ehgamma"):
        exact, found = balls.answer(answer), wider.answer(answer)
        assert np.all(found.doubt <= found.error * (1.0 if dtype == "float64" else 2.0**-20))
        apart = np.abs((exact.high - found.high) + (exact.low - found.low))
        assert np.all(apart <= found.doubt)
        assert np.all(found.distance(exact.high + 40 * exact.error) > 32 * exact.error)


def test_an_output_is_as_near_as_an_answer_in_doubt_may_be():
    answer = Answer(np.array([1.0]), np.array([0.25]), np.array([1.0]), doubt=np.array([0.5]))
    assert [answer.distance(output)[0] for output in (0.5, 1.0, 1.5, 2.0)] == [0.25, 0, 0, 0.25]


def test_balls_that_are_too_large_are_computed_again_with_more_bits(monkeypatch):
    case = draw(Stratum("plain", PLAIN), "float64", "batch", "NC")
    usual = oracle_of(case).answer("x")
    monkeypatch.setattr("verify.conform.oracle.BITS", 16)
    again = oracle_of(case).answer("x")
    assert np.all(again.distance(usual.high) <= 2.0**-20 * usual.error + np.abs(usual.low))


def pairwise(values):
    """Return the sums over the first axis, by halves."""
    while len(values) > 1:
        if len(values) % 2:
            values = np.concatenate([values, np.zeros_like(values[:1])])
        values = values[0::2] + values[1::2]
    return values


def test_the_running_error_is_no_more_than_first_order_says():
    """With mean/sd = r the mean loses r u; a bound that is far larger would hide faults."""
    for ratio in (2.0**4, 2.0**8, 2.0**12):
        case = draw(Stratum("offset", PLAIN, offset=ratio), "float64", "batch", "NC")
        error = oracle_of(case).rounded.yhat.error
        assert ratio / 4 < np.median(error) / PRECISIONS["float64"].unit < 40 * ratio


OF_BATCH = ("mean", "variance")
WITH_TERMS = [a for a in TERMS if a not in ("mean3", "variance3")]
PAIRS = [
    (f, a)
    for f in ("batch", "rms", "group")
    for a in WITH_TERMS
    if f == "batch" or a not in OF_BATCH
]


@pytest.mark.parametrize(("family", "answer"), PAIRS)
def test_the_terms_of_the_diagnosis_add_up_to_the_closed_form(answer, family):
    axes = "NC" if family != "group" else "NCL"
    case = draw(
        Stratum("plain", PLAIN, 6, 5), "float64", family, axes, groups=2 if family == "group" else 1
    )
    parts = terms(answer, Vectors(case, family != "rms"))
    total = np.sum([part.factor * part.value for part in parts], axis=0)
    exact = oracle_of(case, family).answer(answer).high
    np.testing.assert_allclose(
        total, exact if answer in ENTRYWISE else exact[0], rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_one_entry_far_from_zero_has_the_answers_and_the_rounding_of_one_near_it(dtype):
    stratum = next(stratum for stratum in strata((dtype,)) if stratum.name == FAR)
    case = draw(stratum, dtype, "layer", "NC")
    far, near = oracle_of(case, "layer"), Options("layer").oracle(case)
    for answer in ("x", "gamma", "beta"):
        np.testing.assert_array_equal(near.answer(answer).high, far.answer(answer).high)
    assert np.all(1000 * near.condition < far.condition)
    assert np.max(near.condition) < 1e-3


def test_every_output_of_every_mode_has_an_answer():
    for mode in MODES:
        for answer in mode.answers.values():
            assert hasattr(ClosedForms, answer), (mode.name, answer)


def test_bfloat16_rounds_as_pytorch_does():
    values = np.random.default_rng(0).standard_normal(1000) * 10.0 ** np.arange(-40, 10, 0.05)
    expected = torch.tensor(values).to(torch.float32).to(torch.bfloat16).double().numpy()
    rounded = rounded_to(rounded_to(values, "float32"), "bfloat16")
    np.testing.assert_array_equal(rounded, expected)
