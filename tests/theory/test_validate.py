"""What the entry points refuse, in which words, and what they let pass."""

import warnings
from fractions import Fraction
from math import inf, nan
from operator import attrgetter

import array_api_strict
import numpy as np
import pytest
import torch
from test_operations import by_name

import theory.bnp
import theory.convolution
import theory.lp

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyTorch calls both experimental
    RAGGED = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    COMPLEX_HALF = torch.ones(3, dtype=torch.complex32)
Y = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 0.0]])
CONSTANT = np.array([[1.0, 0.1], [2.0, 0.1], [4.0, 0.1]])
MAPS = np.ones((3, 2, 4, 2))
"""As many channels as columns."""
HOLES = np.where(Y == 7.0, np.nan, Y)
HERE, THERE, *_ = array_api_strict.__array_namespace_info__().devices()
RIGHT = {"y": Y, "g": Y, "u": Y, "H": np.zeros((3, 3, 2)), "hessian_of_loss": lambda w: w, "p": 3}
RIGHT |= {"running_mean": 0.0, "running_variance": 1.0}


def call(name, **changed):
    """Call a public function, with right arguments for what is not given."""
    return by_name(attrgetter(name)(theory), RIGHT | changed)


def operator(function):
    return {"hessian_of_loss": function}


VALUES = [
    ("normalize", {"y": np.zeros((0, 3))}, r"y of shape \(0, 3\) is empty; expected at least"),
    ("gradient", {"y": Y[:1], "g": Y[:1]}, r"zero variance \(m = 1\).*or a batch of m >= 2"),
    ("jvp", {"y": CONSTANT}, r"y of .*zero variance at unit 1 and eps = 0.*pass eps > 0, or"),
    ("normalize", {"y": np.ones((2, 9))}, "at unit 0, 1, 2, 3, 4 and 4 more and"),
    ("normalize", {"y": np.ones((2, 3, 2, 2)), "axis": (0, 2, 3)}, "at unit 0, 1, 2 and"),
    ("gradient", {"y": HOLES}, r"y of .* NaN or infinite at index \(1, 1\); expected finite"),
    ("gradient", {"g": HOLES}, "g of .* is NaN or infinite"),
    ("forward", {"gamma": inf}, "the number gamma is NaN or infinite; expected finite"),
    ("normalize", {"axis": 2}, r"axis = 2 for y of .* 2 axes; expected axes in \[-2, 2\)"),
    ("normalize", {"y": np.array(1.0)}, r"y is a number.* such as y of shape \(m,\)"),
    ("normalize", {"axis": (0, -2)}, r"axis = \(0, -2\) .* names an axis twice"),
    ("gradient", {"g": Y[:2]}, r"g of shape \(2, 2\) does not match y .*broadcast g to \(3, "),
    ("forward", {"gamma": np.ones(3)}, r"gamma of .* one number to each unit .* to \(1, 2\)"),
    ("hessian", {"H": np.eye(3)}, r"H of .* does not match y .*expected \(3, 3, 2\), one m x m"),
    ("normalize", {"eps": -1e-5}, "the number eps is negative, down to -1e-05; expected eps >="),
    ("hessian", {"H": np.arange(18.0).reshape(3, 3, 2)}, r"H of .* is not symmetric at index"),
    ("forward", {"gamma": 10**400}, "the number gamma is beyond the largest of float64; expect"),
    ("hvp", operator(lambda w: w[:1]), r"hessian_of_loss returned .* \(1, 2\) .* \(3, 2\); exp"),
    ("hvp", operator(lambda w: w * nan), r"hessian_of_loss returned NaN .* index \(0, 0\)"),
    ("running_hvp", operator(lambda w: w.sum(0)), r"hessian_of_loss returned .* shape \(2,\)"),
    ("hvp", {"g": 1e300 * Y, "u": 1e300 * Y}, "hvp overflows float64 at index .*or cast them"),
    ("running_forward", {"running_variance": 1.5e308, "eps": 1.5e308}, "and eps have a sum that"),
    ("running_forward", {"running_mean": np.ones((3, 1))}, "running_mean of .* to each unit of y"),
    (
        "running_forward",
        {"y": MAPS, "running_mean": np.ones(2)},
        "running_mean of .* such as .1, u",
    ),
    ("running_gradient", {"g": MAPS, "running_variance": np.ones(2)}, "not say on which axis of g"),
    ("running_forward", {"running_variance": -Y[2:]}, r"negative at index \(0, 0\), down to -4"),
    ("running_gradient", {"running_variance": Y[2]}, "variance at index 1 and eps = 0"),
    ("lp.forward", {"p": 0.5}, "p = 0.5; expected an exponent >= 1"),
    ("lp.forward", {"p": nan}, "p = nan; expected an exponent >= 1"),
    ("lp.forward", {"p": 10**400}, "p is beyond .*; expected math.inf"),
    ("lp.forward", {"y": 0 * Y}, r"y of .* norm, p = 3, of zero at unit 0, 1 and eps = 0"),
    ("lp.forward", {"y": 2.5e307 * Y, "p": 1, "eps": 1e308}, "that overflows float64 at unit 1; e"),
]
"""What is refused with a ValueError that says this."""

TYPES = [
    ("normalize", {"axis": ()}, r"axis = \(\) .* at least one"),
    ("normalize", {"axis": True}, "axis = True .*; expected an integer"),
    ("normalize", {"axis": Y}, r"axis = an array of shape \(3, 2\) for y .*; expected an integer"),
    ("forward", {"gamma": None}, "gamma is None; expected a number or .* or leave gamma out"),
    ("normalize", {"y": torch.ones(3).to(torch.float8_e5m2)}, "y of .*float8_e5m2, .* 16 bits"),
    ("hvp", operator(np.eye(3)), "hessian_of_loss is a ndarray; expected the function w -> H w"),
    ("hessian", {"H": lambda w: w}, "H is a function; expected an array"),
    ("normalize", {"y": Y.astype(int)}, "y of .* has dtype int64; expected real or complex"),
    ("normalize", {"y": Y.astype(object) * Fraction(1)}, "dtype object; .* theory.batchnorm"),
    ("normalize", {"y": [1.0, 2.0]}, r"y is a list; expected an array .*numpy.asarray\(y"),
    ("forward", {"gamma": [1.0, 2.0]}, "gamma is a list; expected a number or an array"),
    ("normalize", {"eps": True}, "eps is a bool; expected a number"),
    ("gradient", {"g": Y.astype(np.float32)}, "g has dtype float32 and y has .*float64; expect"),
    ("gradient", {"y": torch.asarray(Y)}, "g is an array of numpy and y .* torch; expected one"),
    ("normalize", {"y": np.ma.masked_less(Y, 1.5)}, "y of .* a MaskedArray, leaves entries out"),
    ("normalize", {"y": torch.ones(3, 2, device="meta")}, "on device meta and has no entries"),
    ("normalize", {"y": torch.eye(3).to_sparse()}, r"stored as torch.sparse_coo; pass to_dense"),
    ("normalize", {"y": RAGGED}, "^y has rows of several"),
    ("normalize", {"y": COMPLEX_HALF}, "y of .* cast it to complex64"),
    ("running_hvp", operator(lambda w: 2.0), "hessian_of_loss returned a float for a ndarray"),
    ("running_hvp", operator(lambda w: 1j * w), "returned an array of dtype complex128 for one"),
    ("hvp", operator(lambda w: np.ma.masked_array(w, w > 0)), "hessian_of_loss returned of"),
    ("lp.forward", {"y": Y + 0j}, "y of .* has dtype complex128; expected real numbers, since"),
    ("lp.forward", {"p": "1"}, "p is a str; expected a number >= 1"),
]
"""What is refused with a TypeError that says this."""


@pytest.mark.parametrize(
    ("name", "changed", "message", "error"),
    [(*row, ValueError) for row in VALUES] + [(*row, TypeError) for row in TYPES],
)
def test_refused(name, changed, message, error):
    with pytest.raises(error, match=message):
        call(name, **changed)


def test_a_call_that_does_not_fit_is_told_how_the_function_is_called():
    expected = r"expected gradient\(y, g, gamma=1, eps=0, axis=0\)"
    with pytest.raises(TypeError, match=f"gradient: missing .*'g'; {expected}"):
        theory.gradient(Y)
    with pytest.raises(TypeError, match=f"gradient: .*'epsilon'; {expected}"):
        theory.gradient(Y, Y, epsilon=1e-5)
    with pytest.raises(
        TypeError, match=r"too many pos.*; expected gram\(h, kernel, \*, stride=1, "
    ):
        theory.convolution.gram(MAPS, 3, 2)


def test_arrays_on_two_devices_are_refused():
    y, g = (array_api_strict.asarray(Y, device=device) for device in (HERE, THERE))
    with pytest.raises(ValueError, match=r"g is on device .*device1.* y on .*move g there"):
        theory.gradient(y, g)


def test_numbers_and_results_beyond_a_narrower_dtype_are_refused():
    with pytest.raises(ValueError, match="the number beta is beyond the largest of float32"):
        theory.forward(Y.astype(np.float32), beta=1e300)
    with pytest.raises(ValueError, match="forward overflows float16 at index"):
        theory.forward(Y.astype(np.float16), gamma=6e4, beta=6e4)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("gradient", {"y": CONSTANT, "eps": 1e-5}),
        ("normalize", {"y": CONSTANT, "eps": np.array([0.0, 1e-5])}),
        ("forward", {"gamma": np.array(2.0), "beta": np.float64(1.0)}),
        ("forward", {"gamma": np.ones((1, 1)), "beta": np.ones(2)}),
        ("forward", {"y": Y.T, "gamma": np.ones((2, 1)), "axis": -1}),
        ("normalize", {"y": Y.T, "axis": np.int64(-1)}),
        ("normalize", {"y": MAPS + Y[:, :, None, None], "axis": (np.int64(0), 2)}),
        ("running_forward", {"running_mean": 0, "running_variance": 4.0}),
        ("running_gradient", {"running_variance": 0.0, "eps": 1}),
    ],
)
def test_allowed(name, changed):
    assert np.all(np.isfinite(call(name, **changed)))


def test_limits_are_what_the_documentation_says():
    one, g = Y[:1], 2 - Y[:1]
    for derivative in ("gradient", "jvp", "hvp", "curvature"):
        assert not np.any(call(derivative, y=one, g=g, u=g, eps=1e-5))
    np.testing.assert_array_equal(theory.forward(one, beta=3, eps=1e-5), [[3.0, 3.0]])
    np.testing.assert_array_equal(theory.normalize(Y[:2]), [[-1, -1], [1, 1]])


def test_a_check_lets_derivatives_pass():
    y, gamma = torch.asarray(Y).requires_grad_(), torch.nn.Parameter(torch.asarray(Y[0]))
    theory.forward(y, gamma, eps=1e-5)[0].sum().backward()
    cotangent = np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(y.grad, theory.gradient(Y, cotangent, Y[0], 1e-5), rtol=1e-12)


@pytest.mark.parametrize("eps", [1e-44, 1e-46])
def test_an_epsilon_that_single_precision_would_round_is_refused(eps):
    y = np.array([0, 1e-25])
    with pytest.raises(ValueError, match=f"the number eps = {eps} is below 1.17549e-38"):
        theory.normalize(y.astype(np.float32), eps=eps)
    assert np.all(theory.normalize(y, eps=eps) != 0)
    assert np.all(np.isfinite(theory.normalize(Y.astype(np.float16), eps=1e-8)))


@pytest.mark.parametrize("dtype", [np.float16, torch.float16, torch.bfloat16], ids=str)
def test_half_precision_is_computed_in_single_and_rounded_once(dtype):
    library = torch if isinstance(dtype, torch.dtype) else np
    drawn = (800 * np.random.default_rng(i).uniform(-1, 1, (1000, 3)) for i in range(3))
    given = [library.asarray(x, dtype=dtype) for x in drawn]
    single = [library.asarray(x, dtype=library.float32) for x in given]
    seen = []

    def H(w):
        seen.append(w.dtype)
        return w

    found = theory.hvp(given[0], given[1], H, given[2])
    expected = theory.hvp(*single[:2], lambda w: w, single[2])
    assert found.dtype == given[0].dtype == seen[0]
    roundoff = float(np.finfo(np.float16).eps) * (16 if dtype is torch.bfloat16 else 1)
    assert abs(found - expected).max() <= 4 * roundoff * abs(expected).max()


def test_each_part_of_a_result_is_in_the_half_precision_of_what_was_given():
    half = Y.astype(np.float16)
    for part in theory.convolution.unflatten(half, 1):
        assert part.dtype == half.dtype


def test_a_matrix_is_symmetric_by_its_own_size():
    H = np.stack([np.array([[0.0, 1.0, 0.0], [0.0] * 3, [0.0] * 3]), 1e12 * np.eye(3)], axis=-1)
    with pytest.raises(ValueError, match=r"H of .* is not symmetric at index \(0, 1, 0\)"):
        theory.hessian(Y, Y, H)


def test_an_operator_is_given_no_infinity_of_half_precision():
    y = np.array([0, 1e-3, -1e-3, 2e-3], np.float16)
    u = np.array([100, -100, 100, 0], np.float16)
    with pytest.raises(ValueError, match=r"beyond float16.*scale u down, or pass arrays of flo"):
        theory.hvp(y, 0 * y, lambda w: np.float16(1e-6) * w, u)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_number_of_numpy_is_a_number(dtype):
    """One of another dtype widens nothing, and is not rounded before it is used."""
    assert theory.bnp.scale_factor(np.int64(3), 4) == theory.bnp.scale_factor(3, 4)
    y, eps = Y.astype(dtype), 1e-7
    for function in (theory.normalize, theory.bnp.standard_deviations):
        found, expected = function(y, eps=np.float64(eps)), function(y, eps=eps)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
    found, expected = (theory.lp.normalize(y, p=2, eps=x) for x in (np.float64(eps), eps))
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == dtype
    found = theory.forward(y, gamma=np.float64(2), beta=np.int64(1), eps=eps)
    np.testing.assert_array_equal(found, theory.forward(y, 2.0, 1.0, eps))


def test_a_complex_batch_whose_variance_vanishes_is_not_called_too_large():
    """1, i, -1 and -i have the sum of squares zero."""
    with pytest.raises(ValueError, match="or divides by a variance <c, c> without conjugation"):
        theory.normalize(np.array([1, 1j, -1, -1j]))
