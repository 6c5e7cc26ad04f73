"""The checked entries of BNP: wrong input is told what to do, numbers of any kind are taken."""

import inspect
import re

import array_api_strict
import numpy as np
import pytest
import torch
from test_far_sizes import FEATURES

from theory import bnp, lp, preconditioning
from theory.arithmetic.exact import rational_array

RIGHT = FEATURES | {
    "old": FEATURES["mean"], "new": FEATURES["beta"],
    "eps": 0.5, "eps_1": 0.01, "eps_2": 0.0, "rho": 0.9, "q_squared": 1.5, "N": 4, "n": 3,
}  # fmt: skip


def arguments(name, **changed):
    given = RIGHT | changed
    return {key: given[key] for key in inspect.signature(getattr(bnp, name)).parameters}


def call(name, **changed):
    return getattr(bnp, name)(**arguments(name, **changed))


@pytest.mark.parametrize("door", [bnp, lp], ids=lambda module: module.__name__)
def test_the_functions_behind_checks_are_named_where_they_are_described(door):
    named = set(re.findall(r"``(\w+)``", inspect.getdoc(door)))
    formulas = {name for name, it in vars(door).items() if hasattr(it, "__wrapped__")}
    assert {name for name in formulas if name[0] != "_"} == named & formulas != set()


def test_limits_that_are_allowed():
    one = RIGHT["H"][:1, :]
    np.testing.assert_array_equal(call("variances", H=one), np.zeros(3))
    call("standard_deviations", H=CONSTANT, eps=1e-5)
    call("folded", gamma=1, beta=0.0)
    call("unit_hessian", H=one, curvature=-np.ones((1, 1)))
    call("unit_hessian", curvature=lambda V: 2 * V)
    call("regularized_variance", variance=np.zeros(3))
    call("preconditioner", mean=RIGHT["mean"] + 0j, deviation=RIGHT["deviation"] + 1e-30j)


NEGATIVE, ZERO = np.array([1.0, -2.0, 1.0]), np.array([1.0, 1.0, 0.0])
CONSTANT = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 4.0]])
WRONG = [
    ("means", {"H": rational_array([[1, 2]])}, TypeError, "dtype object.*theory.preconditioning"),
    ("means", {"H": np.ones(3)}, ValueError, r"has 1 axes; expected 2, \(N, n\)"),
    ("means", {"H": np.ones((0, 3))}, ValueError, r"is empty; expected at least one entry along"),
    ("features", {"H": np.ones((4, 2))}, ValueError, r"mean of shape \(3,\) does not match H"),
    ("scaling", {"deviation": -ZERO}, ValueError, "-1 at index 0, 1, 2; expected deviation > 0"),
    ("preconditioned_gradient", {"variance": ZERO}, ValueError, "expected variance > 0"),
    ("preconditioned_gradient", {"grad_b": np.ones(3)}, ValueError, r"\(p, n\) with p = 3"),
    ("preconditioned_gradient", {"q_squared": 0}, ValueError, "q_squared = 0; expected.*> 0"),
    ("preconditioned_gradient", {"q_squared": "2"}, TypeError, "q_squared is a str"),
    ("regularized_variance", {"variance": NEGATIVE}, ValueError, "expected variance >= 0"),
    ("regularized_variance", {"variance": np.ones(3) + 0j}, TypeError, "there is no maximum"),
    ("regularized_variance", {"eps_1": -0.1}, ValueError, "eps_1 = -0.1; expected.*>= 0"),
    ("regularized_variance", {"eps_2": np.nan}, ValueError, "eps_2 = nan"),
    ("standard_deviations", {"eps": np.inf}, ValueError, "eps = inf"),
    ("standard_deviations", {"H": CONSTANT, "eps": 0}, ValueError, "zero variance at index 0"),
    ("correlations", {"H": CONSTANT}, ValueError, "zero variance at index 0, so it has no sigma"),
    ("correlations", {"H": np.ones((1, 1))}, ValueError, r"zero variance \(N = 1\)"),
    ("running", {"rho": 1.5}, ValueError, r"rho = 1.5; expected a number in \[0, 1\]"),
    ("scale_factor", {"N": 0}, ValueError, "N = 0; expected a number that is whole"),
    ("scale_factor", {"n": 2.0}, ValueError, "n = 2.0; expected a number that is whole"),
    ("unit_hessian", {"curvature": np.ones(3)}, ValueError, r"\(N,\) with N = 4"),
    ("unit_hessian", {"curvature": np.arange(16.0).reshape(4, 4)}, ValueError, "is not symmetric"),
    ("unit_hessian", {"curvature": np.cumsum}, ValueError, r"returned an array of shape \(16,\)"),
    ("unit_hessian", {"curvature": lambda V: V.cumsum(0)}, ValueError, "S that is not symmetric:"),
    ("scale_factor", {"N": 1, "n": 10**400}, ValueError, r"expected a number that is whole, in"),
    ("standard_deviations", {"eps": 10**400}, ValueError, "eps is beyond the largest float; exp"),
    ("folded", {"gamma": 10**400}, ValueError, "gamma is beyond the largest float; expected"),
    ("folded", {"gamma": "1"}, TypeError, "gamma is a str"),
]


@pytest.mark.parametrize(("name", "changed", "error", "message"), WRONG)
def test_wrong_input_is_told_what_to_do(name, changed, error, message):
    with pytest.raises(error, match=message):
        call(name, **changed)


def test_an_operator_that_cancels_is_symmetric_to_the_rounding_of_what_it_is_given():
    """A mean of 64 is off by 64 u 1e5 at most, and there are 64 of it, each times 1e5."""
    H = np.random.default_rng(0).standard_normal((64, 5)) + 1e5
    found = bnp.unit_hessian(H, lambda V: V - V.mean(0))
    centred = H - H.mean(0)
    np.testing.assert_allclose(found[1:, 1:], centred.T @ centred, atol=64**2 * 2.0**-53 * 1e10)


@pytest.mark.parametrize("far", [1e6, 1e8, 1e12])
def test_an_operator_that_takes_the_mean_away_meets_no_offset(far):
    H = np.random.default_rng(0).standard_normal((64, 5)) + far
    found = bnp.unit_hessian(H, lambda V: V - V.mean(0))
    centred = H - H[:1]  # which rounds nothing
    centred = centred - centred.mean(0)
    np.testing.assert_allclose(found[1:, 1:], centred.T @ centred, rtol=1e-12, atol=1e-12)


def in_place(V):
    V *= 3
    return V


def spoils(V):
    found = 3 * V
    V[...] = 7
    return found


@pytest.mark.parametrize("operator", [in_place, spoils])
def test_an_operator_may_write_into_what_it_is_given(operator):
    H = RIGHT["H"].copy()
    found = bnp.unit_hessian(H, operator)
    np.testing.assert_array_equal(H, RIGHT["H"])
    expected = bnp.unit_hessian(H, 3.0 * np.ones(len(H)))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize(("dtype", "far"), [(np.float32, 1e5), (np.float64, 1e14)])
def test_a_large_offset_costs_deviations_and_correlations_no_digits(dtype, far):
    """Of whole numbers, whose deviations are exact."""
    whole = np.array([[0.0, 3.0], [1.0, 8.0], [5.0, 2.0], [7.0, 4.0], [2.0, 1.0]])
    H, u = (whole + far).astype(dtype), np.finfo(dtype).eps
    assert np.all(H - dtype(far) == whole)
    np.testing.assert_allclose(bnp.variances(H), whole.var(0), rtol=4 * u)
    np.testing.assert_allclose(bnp.standard_deviations(H), whole.std(0), rtol=4 * u)
    expected = np.corrcoef(whole, rowvar=False)
    np.testing.assert_allclose(bnp.correlations(H), expected, rtol=0, atol=4 * u)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_an_operator_in_half_precision_is_symmetric_to_that(dtype):
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        H = torch.randn(32, 5, generator=generator).to(dtype)
        S = torch.randn(32, 32, generator=generator)
        S = (S + S.T).to(dtype)
        found, expected = bnp.unit_hessian(H, lambda V, S=S: S @ V), bnp.unit_hessian(H, S)
        size = abs(expected).max()
        assert abs(found - expected).max() <= 32 * torch.finfo(dtype).eps * size
        with pytest.raises(ValueError, match=r"S that is not symmetric: .* more than its rounding"):
            bnp.unit_hessian(H, lambda V, S=S: S.triu() @ V)


@pytest.mark.parametrize("convert", [np.asarray, torch.asarray, array_api_strict.asarray])
def test_equal_entries_have_no_variance(convert):
    H = np.array([[0.1, 1e-9], [0.1, 3e-9], [0.1, 8e-9]])
    found = np.asarray(bnp.variances(convert(H)))
    assert found[0] == 0 < preconditioning.variances(H)[0]
    np.testing.assert_allclose(found[1], np.var(H[:, 1]), rtol=1e-14)


def test_spreads_of_far_different_size_have_their_correlation():
    H = np.array([[1e9, 1e-9], [-1e9, 1e-9 * (1 + 3e-7)], [1e8, 1e-9]], np.float32)
    expected = np.corrcoef(H.astype(float) * [1, 1e18], rowvar=False)
    np.testing.assert_allclose(bnp.correlations(H), expected, rtol=1e-6)


def test_numbers_of_a_library_stand_where_numbers_may():
    w, b, row = np.array([[2.0, 5.0]]), np.array([1.0]), np.array([1.0, 2.0])
    for number in (np.float64, np.asarray):
        found = bnp.folded(w, b, number(2.0), number(0.5), row, row)
        for part, expected in zip(found, bnp.folded(w, b, 2.0, 0.5, row, row), strict=True):
            np.testing.assert_array_equal(part, expected)


def test_complex_numbers_have_exponents_too():
    given = {n: 1e-200 * RIGHT[n] for n in ("grad_b", "grad_W", "mean", "variance")}
    expected = bnp.preconditioned_gradient(**given, q_squared=1e-9)
    complexes = {n: x.astype(complex) for n, x in given.items()}
    for part, real in zip(
        bnp.preconditioned_gradient(**complexes, q_squared=1e-9), expected, strict=True
    ):
        np.testing.assert_array_equal(part, real)


def test_derivatives_pass_where_products_are_beyond_the_range():
    """Of what is multiplied by powers of two whose product is one."""
    powers = {"W": 1000, "gamma": -530, "deviation": 530, "mean": 60, "beta": -1000, "b": 0}

    def slopes(powers):
        given = {
            n: torch.tensor(RIGHT[n] * 2.0**power, requires_grad=True)
            for n, power in powers.items()
        }
        bnp.folded(**given)[1].sum().backward()
        return {n: x.grad * 2.0 ** powers[n] for n, x in given.items()}

    torch.testing.assert_close(slopes(powers), slopes(dict.fromkeys(powers, 0)), rtol=1e-14, atol=0)
