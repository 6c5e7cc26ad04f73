"""Numbers near the ends of a format's range: public functions against their formulas, exactly.

The formula behind a function is evaluated in exact numbers, whose size has no bounds.  What is no
number of the format is refused.
"""

import importlib
import inspect
from itertools import product
from operator import attrgetter

import numpy as np
import pytest
import torch
from test_operations import by_name

import theory
from theory import batchnorm, bnp, convolution, lp
from theory.arithmetic.exact import number, rational_array

H = np.array([[2.0, 1.0, 0.0, 0.5], [1.0, 1.0, -1.0, 0.0], [0.0, -1.0, 3.0, 2.0], [0.5, 0, 2, 1]])
TIES = np.array([[1.0, 0.5], [0.5, 2.0]])
"""Of the loss's Hessian between units."""
BATCH = {
    "y": np.array([[-2.0, 3.0], [4.0, -5.0], [6.0, 9.0], [4.0, 1.0]]),  # sigma is 3 and 5
    "g": np.array([[1.0, 1.0], [2.0, -1.0], [0.0, 3.0], [-1.0, 0.5]]),
    "u": np.array([[0.5, -1.0], [1.0, 2.0], [-2.0, 0.25], [1.0, 1.0]]),
    "gamma": np.array([1.0, 3.0]),
    "beta": np.array([0.5, 0.25]),
    "running_mean": np.array([1.0, 2.0]),
    "running_variance": np.array([9.0, 25.0]),
    "eps": np.array([16.0, 144.0]),  # with it, 5 and 13
}
FEATURES = {
    "H": np.array([[1.0, 2.0, 0.5], [3.0, 5.0, 1.0], [4.0, 0.3, 7.0], [2.0, 1.0, 2.0]]),
    "curvature": np.array([0.2, 2.0, 3.0, 1.0]),
    **dict.fromkeys(("W", "grad_W"), np.array([[2.0, 1.0, 1.3], [0.5, 3.0, 5.0]])),
    **dict.fromkeys(("b", "grad_b"), np.array([7.0, 1.5])),
    "mean": -np.array([1.5, 4.0, 0.4]),
    "deviation": np.array([2.0, 0.75, 2.5]),
    "variance": np.array([4.0, 0.7, 0.3]),
    "gamma": np.array([1.7, 2.0, 0.25]),
    "beta": np.array([1.0, 2.7, 2.0]),
    "h": np.arange(1.0, 97.0).reshape(3, 4, 4, 2) % 7 + 1,
    "S": np.arange(3.0, 51.0).reshape(3, 4, 4),
}
"""So that all that is added has one sign."""


def exactly(function, arrays, others):
    """The formula's value in exact numbers; that of a matrix from its product with each column."""
    exact = {name: rational_array(array) for name, array in arrays.items()}
    if function not in (theory.jacobian, theory.hessian):
        formula = getattr(importlib.import_module(function.__module__), function.__name__)
        return by_name(formula, exact | others(rational_array))
    product = batchnorm.jvp if function is theory.jacobian else batchnorm.hvp
    columns = [exact | {"u": rational_array(np.outer(e, [1, 1]))} for e in np.eye(4)]
    return np.stack([by_name(product, each | others(rational_array)) for each in columns], 1)


def assert_exact(function, arrays, others=lambda convert: {}, convert=np.asarray, by_entry=False):
    """In each unit, or in each entry, up to a few roundings of the largest or of the least."""
    dtype = next(iter(arrays.values())).dtype
    limits = np.finfo(dtype)
    largest, eps, least = (
        number(float(x)) for x in (limits.max, limits.eps, limits.smallest_subnormal)
    )
    expected = exactly(function, arrays, others)
    expected = expected if isinstance(expected, tuple) else (expected,)
    given = {name: convert(array) for name, array in arrays.items()}
    given |= others(lambda a: convert(np.asarray(a, dtype)))
    if any(abs(x) > largest for part in expected for x in part.flat):
        with pytest.raises(ValueError, match=rf"{function.__name__} overflows (torch\.)?float"):
            by_name(function, given)
        return
    found = by_name(function, given)
    found = found if isinstance(found, tuple) else (found,)
    for part, right in zip(found, expected, strict=True):
        error = abs(rational_array(np.asarray(part, float)) - right)
        axes = () if by_entry else tuple(range(max(right.ndim - 1, 1)))
        allowed = 8 * eps * np.max(abs(right), axes, keepdims=True)
        assert np.all(error <= allowed + 4 * least), (part, right)


OPERATORS = {
    "hvp": lambda convert: {"hessian_of_loss": lambda w: convert(H) @ w @ convert(TIES)},
    "running_hvp": lambda convert: {"hessian_of_loss": lambda w: convert(H) @ w},
    "hessian": lambda convert: {
        "H": convert(np.stack([H, H], -1)),
        "hessian_of_loss": lambda w: convert(H) @ w,
    },
    "lp": lambda convert: {"p": 1},
}
BATCHES = [
    (np.float64, {"u": (-1000, 400)}),
    (np.float64, {"y": (-400, 660), "g": (-960, -330), "u": (0, 660)}),
    (np.float64, {"y": (-330, 330), "g": (0, -830), "gamma": (-830, 260)}),
    (np.float64, {"y": (660, 660)}),
    (np.float64, {"y": (-660, -660), "u": (-330, -330)}),
    (np.float64, {"y": (-530, -530), "g": (-500, -500), "u": (-560, -560)}),
    (np.float64, {"g": (-996, -996), "u": (996, 996)}),
    (np.float64, {"y": (-996, -996), "g": (-996, -996), "u": (-996, -996)}),
    (np.float64, {"y": (515, 515), "g": (996, 996), "u": (-16, -16)}),
    (np.float64, {"y": (0, -660), "g": (0, -996), "u": (0, -996), "gamma": (0, -330)}),
    (np.float64, {"y": (0, 660), "g": (0, 830), "u": (0, 830), "gamma": (0, 500)}),
    (np.float32, {"y": (-36, -36), "g": (-126, -126), "gamma": (-79, -79)}),
    (np.float32, {"y": (0, 66), "g": (0, 99), "u": (0, 99), "gamma": (0, 66)}),
    (np.float32, {"y": (0, -99), "g": (0, -99), "u": (0, -99), "gamma": (0, -99)}),
    (np.float32, {"y": (-83, -83), "gamma": (-83, 99), "running_variance": (-99, -99)}),
    (np.float32, {"y": (33, -33), "running_variance": (-20, 0), "eps": (-14, -20)}),
    # deviations that are the least share of epsilon's root, whose squares round to nothing
    (np.float32, {"y": (-31, -31), "g": (-31, -31), "u": (-31, -31), "eps": (0, 0)}),
    (np.float64, {"y": (-255, -255), "g": (-255, -255), "u": (-255, -255), "eps": (0, 0)}),
    (np.float32, {"offset": (2**18, 2**18)}),
    (np.float64, {"offset": (2**44, -(2**44))}),
    # beside an ordinary unit one that is far from zero and does not vary
    (np.float32, {"offset": (2.0**66, 0), "y": (-2000, 0), "eps": (-20, -20)}),
    (np.float64, {"offset": (2.0**664, 0), "y": (-2000, 0), "eps": (-20, -20)}),
]
"""A dtype, the powers of two that the arguments have in two units, and what is added to y there."""


NAMES = [
    "normalize", "forward", "project", "gradient_gamma", "gradient_beta", "jvp", "gradient",
    "curvature", "hvp", "jacobian", "hessian",
    "running_forward", "running_gradient", "running_hvp",
    "lp.power_mean", "lp.normalize", "lp.forward", "lp.jvp", "lp.gradient", "lp.gradient_gamma",
]  # fmt: skip
CASES = [
    (name, dtype, powers)
    for name, (dtype, powers) in product(NAMES, BATCHES)
    if not ("lp" in name and "offset" in powers)  # which counts in the norm
]


@pytest.mark.parametrize(("name", "dtype", "powers"), CASES)
def test_each_unit_is_scaled_by_itself(name, dtype, powers):
    """In the libraries by turns.  An epsilon that is no ordinary number of the format is zero."""
    convert = (np.asarray, torch.asarray)[CASES.index((name, dtype, powers)) % 2]
    operator = OPERATORS.get(name, OPERATORS["lp"])
    if "eps" in powers:  # sigmas are not rational, and cannot be tied
        operator = OPERATORS["running_hvp"] if name == "hvp" else operator
    of_y, of_gamma = (np.array(powers.get(n, (0, 0))) for n in ("y", "gamma"))
    of_eps = powers.get("running_variance", (0, 0)) if "running" in name else 2 * of_y
    powers = {"running_mean": of_y, "beta": of_gamma, "eps": of_eps} | powers
    with np.errstate(under="ignore", over="ignore"):
        arrays = {n: np.ldexp(array, powers.get(n, (0, 0))) for n, array in BATCH.items()}
        arrays["y"] += np.array(powers.get("offset", (0, 0)))
        arrays = {n: array.astype(dtype) for n, array in arrays.items()}
    eps = arrays["eps"]
    eps[~np.isfinite(eps) | (eps < np.finfo(dtype).tiny)] = 0
    assert_exact(attrgetter(name)(theory), arrays, operator, convert)


COLUMNS = [
    ("folded", np.float64, {"W": 250, "gamma": -200, "deviation": 200, "mean": -100}),
    ("folded", np.float64, {"W": -250, "gamma": 200, "deviation": -200, "mean": -150}),
    ("folded", np.float32, {"W": 30, "gamma": -30, "deviation": 20, "mean": 20}),
    ("folded", np.float32, {"W": -30, "gamma": 30, "deviation": -20, "mean": -30, "beta": 35}),
    ("preconditioned_gradient", np.float64, {"grad_b": 300, "mean": 50, "variance": 250}),
    (
        "preconditioned_gradient",
        np.float64,
        {"grad_W": -400, "grad_b": -200, "mean": -150, "variance": -200},
    ),
    ("preconditioned_gradient", np.float32, {"grad_b": 20, "mean": 20, "variance": 30}),
    (
        "preconditioned_gradient",
        np.float32,
        {"grad_W": -400, "grad_b": -30, "mean": -15, "variance": -30},
    ),
    ("unit_hessian", np.float64, {"H": (-180, 150, 0), "curvature": -180}),
    ("unit_hessian", np.float64, {"H": (-90, 135, -195), "curvature": -150}),
    ("standard_deviations", np.float64, {"H": (0, -310, 300)}),
    ("correlations", np.float64, {"H": (0, -310, 150)}),
    ("weighted_gram", np.float64, {"h": (-180, 150), "S": -180}),
    ("weighted_gram", np.float64, {"h": (135, -195), "S": -150}),
]
"""A function, a dtype, and the powers of ten of the last column or of each; of S, of all of it."""


def far(function, dtype, powers):
    """The features that a function takes, with their powers of ten."""
    taken = inspect.signature(function).parameters
    arrays = {n: array.copy() for n, array in FEATURES.items() if n in taken}
    for n, power in powers.items():
        each = np.ndim(power) or n in ("S", "curvature")
        arrays[n][... if each else (..., -1)] *= 10.0 ** np.array(power)
    if "h" in arrays:
        arrays["h"] = np.moveaxis(arrays["h"], -1, 1)
    return {n: array.astype(dtype) for n, array in arrays.items()}


@pytest.mark.parametrize("convert", [np.asarray, torch.asarray])
@pytest.mark.parametrize(("name", "dtype", "powers"), COLUMNS)
def test_no_product_of_features_leaves_the_range(name, dtype, powers, convert):
    """Whatever the epsilon is, and the ways to give S."""
    function = getattr(convolution if name == "weighted_gram" else bnp, name)
    arrays = far(function, dtype, powers)
    for eps in (0, 2):
        fixed = {"kernel": 3, "q_squared": 3, "eps": eps}
        assert_exact(function, arrays, lambda _, fixed=fixed: fixed, convert, by_entry=True)
    for letter in {"S", "curvature"} & arrays.keys():
        S = arrays.pop(letter)
        if letter == "curvature":  # of each example; here of pairs
            of_pairs = arrays | {letter: np.diag(S) + S[0]}
            assert_exact(function, of_pairs, convert=convert, by_entry=True)

        def with_operator(convert, letter=letter, S=S):
            return {"kernel": 3, letter: lambda V: convert(S)[:, None] * V}

        assert_exact(function, arrays, with_operator, convert, by_entry=True)


@pytest.mark.parametrize("convert", [np.asarray, torch.asarray])
@pytest.mark.parametrize("function", [lp.jvp, lp.gradient])
def test_derivatives_know_the_signs_of_entries_far_below_the_norm(function, convert):
    y, g = np.array([3e-230, -5e190, -2e-215, 1e100]), np.array([1.5, -0.75, 2.0, 1.25])
    assert_exact(function, {"y": y, "g": g, "u": g}, lambda _: {"p": 1, "eps": 0}, convert)


def test_of_a_far_column_that_does_not_vary_the_deviation_is_the_root_of_epsilon():
    H = np.array([[1e200, 1.0], [1e200, 3.0]])
    assert_exact(bnp.standard_deviations, {"H": H}, lambda _: {"eps": 2}, by_entry=True)
