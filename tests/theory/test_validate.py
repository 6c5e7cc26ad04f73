"""What the entry points refuse, in which words, and what they let pass."""

import inspect
import sys
from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
import torch

import theory
from theory import batchnorm
from theory.validate import check, checked, library

Y = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 0.0]])
MAPS = np.arange(24.0).reshape(2, 3, 2, 2) ** 2
CONSTANT = np.array([[1.0, 0.1], [2.0, 0.1], [4.0, 0.1]])
HOLES = np.where(Y == 7.0, np.nan, Y)
DEVICES = array_api_strict.__array_namespace_info__().devices()


def on(device):
    return array_api_strict.asarray(Y, device=device)


REFUSED = {
    "empty batch": (
        lambda: theory.normalize(np.zeros((0, 3)), 1.0),
        ValueError,
        r"y of shape \(0, 3\) .* is empty; expected at least one entry",
    ),
    "m = 1 with eps = 0": (
        lambda: theory.gradient(Y[:1], Y[:1]),
        ValueError,
        r"y of shape \(1, 2\) .* zero variance \(m = 1\).* eps = 0.*pass eps > 0, or a batch of m",
    ),
    "constant units, in spite of rounding": (
        lambda: theory.jvp(CONSTANT, Y),
        ValueError,
        r"y of shape \(3, 2\) .* zero variance at unit 1 and eps = 0.*pass eps > 0, or leave",
    ),
    "constant channel": (
        lambda: theory.normalize(MAPS * np.array([1.0, 0.0, 0.0])[:, None, None], 0, (0, 2, 3)),
        ValueError,
        r"zero variance at unit 1, 2 and eps",
    ),
    "many constant units": (
        lambda: theory.normalize(np.ones((2, 9))),
        ValueError,
        r"at unit 0, 1, 2, 3, 4 and 4 more and",
    ),
    "variance that underflows": (
        lambda: theory.normalize(1e-200 * Y),
        ValueError,
        r"zero variance at unit 0, 1",
    ),
    "variance that overflows": (
        lambda: theory.normalize(torch.asarray(1e200 * Y), 1e-5),
        ValueError,
        r"overflows torch.float64 at unit 0, 1; .*scale y down, or cast it",
    ),
    "NaN": (
        lambda: theory.gradient(HOLES, Y),
        ValueError,
        r"y of shape \(3, 2\) is NaN or infinite at index \(1, 1\); expected finite",
    ),
    "infinite cotangent": (
        lambda: theory.gradient(Y, np.where(Y == 7.0, np.inf, Y)),
        ValueError,
        r"g of shape \(3, 2\) is NaN or infinite",
    ),
    "infinite gamma": (
        lambda: theory.forward(Y, gamma=float("inf")),
        ValueError,
        r"the number gamma is NaN or infinite; expected finite",
    ),
    "axis out of range": (
        lambda: theory.normalize(Y, 0, 2),
        ValueError,
        r"axis = 2 for y of shape \(3, 2\), which has 2 axes; expected axes in \[-2, 2\): name",
    ),
    "maps' axes for a matrix": (
        lambda: theory.normalize(Y, 0, (0, 2, 3)),
        ValueError,
        r"axis = \(0, 2, 3\) for y of shape \(3, 2\)",
    ),
    "a number for a batch": (
        lambda: theory.normalize(np.array(1.0)),
        ValueError,
        r"axis = 0 for the number y, which has 0 axes",
    ),
    "axis twice": (
        lambda: theory.normalize(Y, 0, (0, -2)),
        ValueError,
        r"axis = \(0, -2\) .* names an axis twice",
    ),
    "no axis": (lambda: theory.normalize(Y, 0, ()), TypeError, r"axis = \(\) .* at least one"),
    "axis as a list": (lambda: theory.normalize(Y, 0, [0]), TypeError, r"axis = \[0\]"),
    "axis as a truth value": (lambda: theory.normalize(Y, 0, True), TypeError, r"axis = True"),
    "cotangent of another length": (
        lambda: theory.gradient(Y, Y[:2]),
        ValueError,
        r"g of shape \(2, 2\) does not match y of shape \(3, 2\).*reshape or broadcast g to \(3, 2",
    ),
    "direction of another rank": (
        lambda: theory.hvp(Y, Y, lambda w: w, Y[:, 0]),
        ValueError,
        r"u of shape \(3,\) does not match y",
    ),
    "gamma of the batch's length": (
        lambda: theory.forward(Y, gamma=np.ones(3)),
        ValueError,
        r"gamma of shape \(3,\) does not give one number to each unit of y .* to \(1, 2\): reshape",
    ),
    "gamma that varies along the batch": (
        lambda: theory.forward(Y, gamma=np.ones((3, 1))),
        ValueError,
        r"gamma of shape \(3, 1\)",
    ),
    "gamma of a layer, for maps": (
        lambda: theory.forward(MAPS, gamma=np.ones(3), axis=(0, 2, 3)),
        ValueError,
        r"gamma of shape \(3,\) .* broadcasts to \(1, 3, 1, 1\)",
    ),
    "beta of higher rank": (
        lambda: theory.forward(Y, beta=np.ones((1, 1, 2))),
        ValueError,
        r"beta of shape \(1, 1, 2\)",
    ),
    "matrix of another size": (
        lambda: theory.hessian(Y, Y, np.eye(3)),
        ValueError,
        r"H of shape \(3, 3\) does not match y .*expected \(3, 3, 2\), one m x m matrix \(m = 3\)",
    ),
    "matrix for an operator": (
        lambda: theory.hvp(Y, Y, np.eye(3), Y),
        TypeError,
        r"hessian_of_loss is a ndarray; expected the function w -> H w.*theory.hessian",
    ),
    "operator for a matrix": (
        lambda: theory.hessian(Y, Y, lambda w: w),
        TypeError,
        r"H is a function; expected an array",
    ),
    "integers": (
        lambda: theory.normalize(np.array([1, 2, 4])),
        TypeError,
        r"y of shape \(3,\) has dtype int64; expected real or complex floating: convert",
    ),
    "objects": (
        lambda: theory.normalize(np.array([Fraction(1), Fraction(2)], dtype=object)),
        TypeError,
        r"dtype object; .* call the unguarded formula in theory.batchnorm",
    ),
    "a list": (lambda: theory.normalize([1.0, 2.0]), TypeError, r"y is a list; .*numpy.asarray\(y"),
    "gamma as a list": (
        lambda: theory.forward(Y, [1.0, 2.0]),
        TypeError,
        r"gamma is a list; expected a number or an array of floats",
    ),
    "gamma as text": (lambda: theory.forward(Y, "1"), TypeError, r"gamma is a str"),
    "eps as a truth value": (lambda: theory.normalize(Y, True), TypeError, r"eps is a bool"),
    "nothing for an operator": (
        lambda: theory.hvp(Y, Y, None, Y),
        TypeError,
        r"hessian_of_loss is a NoneType",
    ),
    "mixed dtypes": (
        lambda: theory.gradient(Y, Y.astype(np.float32)),
        TypeError,
        r"g has dtype float32 and y has dtype float64; expected one dtype",
    ),
    "a scalar that promotes": (
        lambda: theory.normalize(Y.astype(np.float32), np.float64(1e-5)),
        TypeError,
        r"eps has dtype float64 and y has dtype float32",
    ),
    "mixed devices": (
        lambda: theory.gradient(on(DEVICES[0]), on(DEVICES[1])),
        ValueError,
        r"g is on device .*device1.* and y on .*CPU_DEVICE.*move g there",
    ),
    "mixed libraries": (
        lambda: theory.gradient(torch.asarray(Y), Y),
        TypeError,
        r"g is an array of numpy and y one of torch; expected one library: convert g",
    ),
    "negative eps": (
        lambda: theory.normalize(Y, -1e-5),
        ValueError,
        r"the number eps is negative, down to -1e-05; expected eps >= 0",
    ),
    "negative running variance": (
        lambda: theory.running_forward(Y, 0.0, np.array([1.0, -2.0]), eps=1e-5),
        ValueError,
        r"running_variance of shape \(2,\) is negative at index 1, down to -2",
    ),
    "zero running variance": (
        lambda: theory.running_gradient(Y, np.array([0.0, 2.0])),
        ValueError,
        r"running_variance of shape \(2,\) has zero variance at index 0 and eps = 0",
    ),
    "running mean of another width": (
        lambda: theory.running_forward(Y, np.ones(3), 1.0),
        ValueError,
        r"running_mean of shape \(3,\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        call()


ALLOWED = {
    "m = 1 with eps > 0": lambda: theory.gradient(Y[:1], Y[:1], eps=1e-5),
    "zero variance with eps > 0": lambda: theory.gradient(CONSTANT, Y, eps=1e-5),
    "m = 2 with eps = 0": lambda: theory.gradient(Y[:2], Y[:2]),
    "an array of eps": lambda: theory.normalize(CONSTANT, np.array([0.0, 1e-5])),
    "gamma without axes": lambda: theory.forward(Y, np.array(2.0), np.float64(1.0)),
    "gamma for each unit": lambda: theory.forward(Y, np.ones((1, 2)), np.ones(2)),
    "one gamma for every unit": lambda: theory.forward(Y, np.ones((1, 1)), np.ones(1)),
    "units first": lambda: theory.forward(Y.T, np.ones((2, 1)), axis=-1),
    "maps": lambda: theory.forward(MAPS, np.ones((1, 3, 1, 1)), axis=(0, 2, -1)),
    "complex": lambda: theory.jvp(Y + 1e-9j, Y + 0j),
    "a parameter": lambda: theory.forward(
        torch.asarray(Y), torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
    ).detach(),
    "running statistics as numbers": lambda: theory.running_forward(Y, 0, 4.0),
    "running variance zero with eps > 0": lambda: theory.running_gradient(Y, 0.0, eps=1),
    "a slope alone": lambda: theory.gradient_beta(Y),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_allowed(name):
    assert np.all(np.isfinite(np.asarray(ALLOWED[name]())))


def test_limits_are_what_the_documentation_says():
    assert not np.any(theory.gradient(Y[:1], Y[:1], eps=1e-5))
    np.testing.assert_array_equal(theory.forward(Y[:1], beta=3, eps=1e-5), [[3.0, 3.0]])
    np.testing.assert_array_equal(theory.normalize(Y[:2]), [[-1, -1], [1, 1]])


def test_a_check_changes_and_returns_nothing():
    y, g = Y.copy(), Y[::-1].copy()
    y.setflags(write=False)
    assert check({"y": y, "g": g, "eps": 0, "axis": 0, "something": "else"}) is None
    np.testing.assert_array_equal(g, Y[::-1])
    tracked = torch.asarray(Y).requires_grad_()
    theory.forward(tracked, eps=1e-5).sum().backward()
    assert tracked.grad is not None


def test_checked_functions_keep_their_face_and_take_keywords():
    entry = checked(batchnorm.gradient)
    assert entry.__name__ == "gradient"
    assert entry.__module__ == "theory.batchnorm"
    assert inspect.signature(entry) == inspect.signature(batchnorm.gradient)
    np.testing.assert_array_equal(entry(g=Y, y=Y[::-1]), batchnorm.gradient(Y[::-1], Y))
    with pytest.raises(TypeError, match="missing a required argument: 'g'"):
        entry(Y)


def test_libraries_are_found_by_name():
    assert library("numpy") is np
    assert library("torch").asarray([1.0]).dtype == torch.float32
    assert library("array_api_strict") is array_api_strict


@pytest.mark.parametrize(
    ("name", "advice"),
    [("cupy", r"pip install 'batchnorm-theory\[cupy\]'"), ("no_such_library", "no_such_library'")],
)
def test_a_missing_library_is_named_with_its_remedy(name, advice, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, f"array_api_compat.{name}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=f"'{name}' was asked for.*{advice}") as caught:
        library(name)
    assert caught.value.name == name
