"""The door of the functions of convolutions: what they refuse, and how.

What every checked function refuses is in ``test_validate.py``.
"""

import inspect

import numpy as np
import pytest

from theory import convolution

RNG = np.random.default_rng(0)
H, W = RNG.normal(size=(3, 2, 4, 5)), RNG.normal(size=(2, 2, 3, 3))
RIGHT = {
    "h": H,
    "weights": W,
    "bias": RNG.normal(size=2),
    "v": H,
    "S": H[:, 0],
    "vector": RNG.normal(size=(19, 2)),
    "kernel": 3,
}


def call(name, **changed):
    function = getattr(convolution, name)
    given = RIGHT | changed
    return function(**{k: given[k] for k in inspect.signature(function).parameters if k in given})


WRONG = [
    ("gram", {"kernel": 4}, ValueError, r"kernel = 4; .* odd.*: 3 or 5"),
    ("gram", {"kernel": 0}, ValueError, "kernel = 0; expected at least 1"),
    ("gram", {"kernel": 3.0}, TypeError, r"kernel = 3\.0; .*int"),
    ("gram", {"chunk": 0}, ValueError, "chunk = 0; expected at least 1"),
    ("gram", {"chunk": 0.5}, TypeError, r"chunk = 0\.5"),
    ("unfold", {"stride": 0}, ValueError, "stride = 0; expected at least 1"),
    ("unfold", {"dilation": 0}, ValueError, "dilation = 0; expected at least 1"),
    ("unfold", {"dilation": 10**400}, ValueError, "dilation is beyond 65536; expected one that"),
    ("unfold", {"padding": "full"}, ValueError, "padding = 'full'; expected 'same' or 'valid'"),
    ("unfold", {"padding": W}, TypeError, "padding is a ndarray; expected 'same' or 'valid'"),
    ("column_sums", {"dilation": 2, "padding": "valid"}, ValueError, "than a kernel of 5 x 5"),
    ("gram", {"h": H[0]}, ValueError, r"h of shape \(2, 4, 5\) has 3 axes; expected 4, \(batch, "),
    ("gram", {"h": H.astype(int)}, TypeError, "dtype int64; .* unguarded .* theory.convolution"),
    ("apply", {"weights": W[..., :2, :2]}, ValueError, r"2\); expected \(out, channel, k, k\) w"),
    ("apply", {"h": H[:, :1]}, ValueError, r"weights of .* does not match h .* channel = 1"),
    ("flatten", {"bias": H[0, 0, 0]}, ValueError, r"bias of .* weights.* \(out,\) with out = 2"),
    ("apply_transposed", {"stride": 2}, ValueError, r"v of .* expected \(3, 2, 2, 3\), .*stride=2"),
    ("weighted_gram", {"S": H[:2, 0]}, ValueError, r"\(2, 4, 5\) does not match h .* batch = 3"),
    ("weighted_gram", {"S": [1.0]}, TypeError, r"a function or an array of floats \(batch, row',"),
    (
        "weighted_gram",
        {"S": lambda maps: maps.cumsum(-1)},
        ValueError,
        r"S that is not symmetric: .* at index \(0, 1\)",
    ),
    (
        "unflatten",
        {"vector": H[0, 0]},
        ValueError,
        r"does not fit kernel = 3; expected a bias and 9 ",
    ),
    ("unflatten", {"vector": H[0, 0, :1]}, ValueError, r"vector of shape \(1, 5\) does not fit"),
]


@pytest.mark.parametrize(("name", "changed", "error", "message"), WRONG)
def test_errors_say_what_was_given_and_what_to_do(name, changed, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        call(name, **changed)


def in_place(maps):
    maps *= 3
    return maps


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("kernel", [1, 3])
def test_an_operator_may_write_into_what_it_is_given(kernel, padding):
    h = H.copy()
    found = convolution.weighted_gram(h, in_place, kernel, padding=padding)
    np.testing.assert_array_equal(h, H)
    expected = 3 * convolution.gram(h, kernel, padding=padding)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_sizes_may_be_integers_of_numpy():
    found = convolution.gram(H, np.int64(3), stride=np.int32(2), chunk=np.int8(1))
    np.testing.assert_array_equal(found, convolution.gram(H, 3, stride=2, chunk=1))


def test_a_map_smaller_than_the_kernel_is_allowed():
    h = np.array([[[[2.0]]]])
    result = convolution.gram(h, 7)
    assert np.argwhere(result).tolist() == [[0, 0], [0, 25], [25, 0], [25, 25]]
    assert result[25, 25] == 4
    assert convolution.apply(h, np.ones((1, 1, 7, 7)), np.zeros(1)).item() == 2


@pytest.mark.parametrize("dilation", [5, 2**16])
def test_entries_further_apart_than_a_map_is_long_meet_zeros(dilation):
    """With no more memory than the map needs."""
    sums = convolution.column_sums(H, 3, dilation=dilation)
    expected = np.zeros((2, 3, 3))
    expected[:, 1, 1] = H.sum((0, 2, 3))
    np.testing.assert_allclose(sums, expected, rtol=1e-14)
    unfolded = convolution.unfold(H, 3, dilation=dilation)
    np.testing.assert_allclose(
        convolution.gram(H, 3, dilation=dilation), unfolded.T @ unfolded, rtol=1e-14
    )
