"""What the entry points refuse, in which words, and what they let pass."""

import inspect
from fractions import Fraction

import array_api_strict
import numpy as np
import pytest
import torch

import theory
from theory import batchnorm
from theory.validate import check, checked

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
        r"y of shape \(0, 3\) is empty; expected at least one entry",
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
    "an operator of another shape": (
        lambda: theory.hvp(Y, Y, lambda w: w[:1], Y),
        ValueError,
        r"hessian_of_loss returned an array of shape \(1, 2\) for one of shape \(3, 2\); expected",
    ),
    "an operator that returns a number": (
        lambda: theory.running_hvp(lambda w: 2.0, Y, 1.0),
        TypeError,
        r"hessian_of_loss returned a float for a ndarray; expected an array of the same library",
    ),
    "an operator of another shape, in evaluation mode": (
        lambda: theory.running_hvp(lambda w: w.sum(0), Y, 1.0),
        ValueError,
        r"hessian_of_loss returned an array of shape \(2,\)",
    ),
    "an operator that leaves entries out": (
        lambda: theory.hvp(Y, Y, lambda w: np.ma.masked_array(w, w > 0), Y),
        TypeError,
        r"what hessian_of_loss returned of shape \(3, 2\), a MaskedArray, leaves entries out",
    ),
    "an operator of another dtype": (
        lambda: theory.running_hvp(lambda w: 1j * w, Y, 1.0),
        TypeError,
        r"hessian_of_loss returned an array of dtype complex128 for one of float64; expected one",
    ),
    "an operator that returns NaN": (
        lambda: theory.hvp(Y, Y, lambda w: w * np.nan, Y),
        ValueError,
        r"hessian_of_loss returned NaN or infinity at index \(0, 0\)",
    ),
    "a matrix that is not symmetric": (
        lambda: theory.hessian(Y, Y, np.arange(18.0).reshape(3, 3, 2)),
        ValueError,
        r"H of shape \(3, 3, 2\) is not symmetric at index .*pass \(H \+ its transpose\)/2",
    ),
    "masked entries": (
        lambda: theory.normalize(np.ma.masked_less(Y, 1.5)),
        TypeError,
        r"y of shape \(3, 2\), a MaskedArray, leaves entries out; fill them, or take the rows",
    ),
    "entries on no device": (
        lambda: theory.normalize(torch.ones(3, 2, device="meta")),
        TypeError,
        r"y of shape \(3, 2\), a Tensor, is on device meta and has no entries",
    ),
    "sparse entries": (
        lambda: theory.normalize(torch.eye(3).to_sparse()),
        TypeError,
        r"a Tensor, is stored as torch.sparse_coo; pass to_dense\(\)",
    ),
    "a huge integer": (
        lambda: theory.forward(Y, gamma=10**400),
        ValueError,
        r"the number gamma is beyond the largest of float64; expected a smaller one",
    ),
    "a number beyond the batch's dtype": (
        lambda: theory.forward(Y.astype(np.float32), beta=1e300),
        ValueError,
        r"the number beta is beyond the largest of float32",
    ),
    "a result beyond the range": (
        lambda: theory.hvp(Y, 1e300 * Y, lambda w: w, 1e300 * Y),
        ValueError,
        r"hvp overflows float64 at index .* scale them down, or cast them to a wider dtype",
    ),
    "a result beyond half precision": (
        lambda: theory.forward(Y.astype(np.float16), gamma=6e4, beta=6e4),
        ValueError,
        r"forward overflows float16 at index",
    ),
    "running statistics that overflow with eps": (
        lambda: theory.running_forward(Y, 0.0, 1.5e308, eps=1.5e308),
        ValueError,
        r"the number running_variance and eps have a sum that overflows float64",
    ),
    "a running mean for each example": (
        lambda: theory.running_forward(Y, np.ones((3, 1)), 1.0),
        ValueError,
        r"running_mean of shape \(3, 1\) does not give one number to each unit of y",
    ),
    "a running variance for each entry": (
        lambda: theory.running_gradient(Y, np.ones((3, 2))),
        ValueError,
        r"running_variance of shape \(3, 2\) does not give one number to each unit of g",
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
    assert check({"y": y, "g": g, "eps": 0.0, "axis": 0, "something": "else"}) is None
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


EXTREMES = [
    (1e200, 1.0, 1.0), (1e-200, 1.0, 1e-100), (1e-160, 1e-150, 1e-170), (1.0, 1e-300, 1e300),
    (1e-300, 1e-300, 1e-300), (3.0, 1e-200, 1e-200), (1e155, 1e300, 1e-5),
]  # fmt: skip
"""Sizes of y, g and u whose squares, products or quotients leave the range of float64."""
OPERATORS = {
    "none": lambda w: 0 * w,
    "ties units": lambda w: np.roll(w, 1, -1) + np.roll(w, -1, -1),
}
AT_SCALE = {
    "normalize": (lambda y, g, u, H: theory.normalize(y), lambda y, g, u: 0 * y),
    "jvp": (lambda y, g, u, H: theory.jvp(y, u, 3), lambda y, g, u: u - y),
    "gradient": (lambda y, g, u, H: theory.gradient(y, g, 3), lambda y, g, u: g - y),
    "curvature": (lambda y, g, u, H: theory.curvature(y, g, u, 3), lambda y, g, u: g + u - 2 * y),
    "hvp": (lambda y, g, u, H: theory.hvp(y, g, H, u, 3), lambda y, g, u: g + u - 2 * y),
    "gradient_gamma": (lambda y, g, u, H: theory.gradient_gamma(y, g), lambda y, g, u: g),
    "project": (lambda y, g, u, H: theory.project(y, u), lambda y, g, u: u),
}  # fmt: skip


@pytest.mark.parametrize("sizes", EXTREMES, ids=str)
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", AT_SCALE)
def test_extreme_batches_give_the_scaled_value_or_the_error(name, operator, sizes):
    """By homogeneity: the same batch in the middle of the range, times a power of two."""
    formula, exponent = AT_SCALE[name]
    powers = np.floor(np.log2(sizes))
    middle = [np.random.default_rng(i).standard_normal((5, 3)) for i in range(3)]
    far = [np.ldexp(x, int(p)) for x, p in zip(middle, powers, strict=True)]
    H = OPERATORS[operator]
    # H scales as g does in the middle; the loss's own is what it is.
    expected = formula(*middle, lambda w: np.ldexp(H(w), -int(powers[1])))
    expected = expected.astype(np.longdouble) * np.longdouble(2) ** exponent(*powers)
    if np.any(np.abs(expected) > np.finfo(float).max):
        with pytest.raises(ValueError, match=f"{name} overflows float64"):
            formula(*far, H)
        return
    found = formula(*far, H)
    least = 2.0**-1074
    tolerance = 1e-13 * np.max(np.abs(expected)) + 4 * least
    assert np.max(np.abs(found - expected)) <= tolerance


@pytest.mark.parametrize("axis", [0, 1])
def test_units_of_different_sizes_are_scaled_each_for_itself(axis):
    y, u = (np.random.default_rng(i).standard_normal((6, 3)) for i in range(2))
    sizes = np.array([1e-200, 1.0, 1e200])
    y, far = (y, sizes * y) if axis == 0 else (y.T, sizes[:, None] * y.T)
    u = u if axis == 0 else u.T
    np.testing.assert_allclose(theory.normalize(far, 0, axis), theory.normalize(y, 0, axis))
    by_unit = sizes if axis == 0 else sizes[:, None]
    np.testing.assert_allclose(
        theory.jvp(far, u, 1, 0, axis) * by_unit, theory.jvp(y, u, 1, 0, axis)
    )
    np.testing.assert_allclose(
        theory.jacobian(far, 1, 0, axis) * sizes, theory.jacobian(y, 1, 0, axis)
    )


@pytest.mark.parametrize(
    "convert",
    [
        lambda a: a.astype(np.float16),
        lambda a: torch.asarray(a).half(),
        lambda a: torch.asarray(a).bfloat16(),
    ],
    ids=["numpy", "float16", "bfloat16"],
)
def test_half_precision_is_computed_in_single_and_rounded_once(convert):
    y, g, u = (800 * np.random.default_rng(i).uniform(-1, 1, (1000, 3)) for i in range(3))
    given = [convert(x) for x in (y, g, u)]
    single = [np.asarray(x.float() if hasattr(x, "float") else x.astype(np.float32)) for x in given]
    seen = []

    def H(w):
        seen.append(w.dtype)
        return w

    found = theory.hvp(given[0], given[1], H, given[2])
    assert found.dtype == given[0].dtype == seen[0]
    expected = theory.hvp(*single[:2], lambda w: w, single[2])
    roundoff = float(np.finfo(np.float16).eps) * (16 if "bfloat" in str(found.dtype) else 1)
    found = np.asarray(found.float() if hasattr(found, "float") else found.astype(np.float32))
    assert np.all(np.isfinite(found))
    assert np.max(np.abs(found - expected)) <= 4 * roundoff * np.max(np.abs(expected))
