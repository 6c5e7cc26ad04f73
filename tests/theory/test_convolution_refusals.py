"""What the functions of convolutions refuse, and with which words; and what they allow.

What they refuse as every checked function does is in ``test_bnp.py``.
"""

import inspect

import array_api_strict
import numpy as np
import pytest

from theory import convolution

H, W = np.random.default_rng(0).normal(size=(3, 2, 4, 5)), np.ones((2, 2, 3, 3))
INFO = array_api_strict.__array_namespace_info__()
DEVICES = [d for d in INFO.devices() if "float64" in INFO.dtypes(device=d)]
ELSEWHERE = array_api_strict.asarray(H, device=DEVICES[1])
RIGHT = {
    "h": H,
    "weights": W,
    "bias": np.ones(2),
    "v": H,
    "S": H[:, 0],
    "vector": np.ones((19, 2)),
    "kernel": 3,
}


def call(name, **changed):
    function = getattr(convolution, name)
    needed = {key: RIGHT[key] for key in inspect.signature(function).parameters if key in RIGHT}
    return function(**needed | changed)


@pytest.mark.parametrize("name", convolution.__all__)
def test_right_input_is_taken(name):
    call(name)


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
    (
        "column_means",
        {"dilation": 2, "padding": "valid"},
        ValueError,
        r"h of shape \(3, 2, 4, 5\) has maps smaller than a kernel of 5 x 5 \(kernel = 3, dila",
    ),
    ("gram", {"h": H[0]}, ValueError, r"h of shape \(2, 4, 5\) has 3 axes; expected 4, \(batch, "),
    (
        "gram",
        {"h": np.full((3, 2, 4, 5), np.nan)},
        ValueError,
        r"h of shape \(3, 2, 4, 5\) is NaN or infinite at index",
    ),
    ("gram", {"h": H.astype(int)}, TypeError, "dtype int64; .* unguarded .* theory.convolution"),
    ("gram", {"h": 1e200 * H}, ValueError, "gram overflows float64 at index"),
    ("apply", {"weights": W[..., :2, :2]}, ValueError, r"2\); expected \(out, channel, k, k\) w"),
    ("apply", {"weights": W[:, :, :1]}, ValueError, r"\(2, 2, 1, 3\)"),
    (
        "apply",
        {"h": H[:, :1]},
        ValueError,
        r"weights of shape \(2, 2, 3, 3\) does not match h of shape \(3, 1, 4, 5\).* channel = 1",
    ),
    (
        "flatten",
        {"bias": np.ones(3)},
        ValueError,
        r"bias of shape \(3,\) does not match weights.*expected \(out,\) with out = 2",
    ),
    (
        "apply_transposed",
        {"stride": 2},
        ValueError,
        r"v of shape \(3, 2, 4, 5\) does not match h .* expected \(3, 2, 2, 3\), .*stride=2",
    ),
    ("apply_transposed", {"h": ELSEWHERE, "v": H}, TypeError, "expected one library"),
    (
        "apply_transposed",
        {"h": ELSEWHERE, "v": array_api_strict.asarray(H)},
        ValueError,
        "v is on device .* move v there",
    ),
    ("weighted_gram", {"S": H[:2, 0]}, ValueError, r"\(2, 4, 5\) does not match h .* batch = 3"),
    ("weighted_gram", {"S": [1.0]}, TypeError, r"a function or an array of floats \(batch, row',"),
    (
        "weighted_gram",
        {"S": np.ravel},
        ValueError,
        r"S returned an array of shape \(60,\) for one of shape \(3, 1, 4, 5\); expected one of",
    ),
    ("weighted_gram", {"S": lambda _: 1.0}, TypeError, "S returned a float for a ndarray"),
    (
        "unflatten",
        {"vector": H[0, 0]},
        ValueError,
        r"vector of shape \(4, 5\) does not fit kernel = 3; expected a bias and 9 entries for each",
    ),
    ("unflatten", {"vector": H[0, 0, :1]}, ValueError, r"vector of shape \(1, 5\) does not fit"),
]


@pytest.mark.parametrize(("name", "changed", "error", "message"), WRONG)
def test_errors_say_what_was_given_and_what_to_do(name, changed, error, message):
    with pytest.raises(error, match=f"(?s){message}"):
        call(name, **changed)


def test_a_map_smaller_than_the_kernel_is_allowed():
    h = np.array([[[[2.0]]]])
    result = convolution.gram(h, 7)
    assert np.argwhere(result).tolist() == [[0, 0], [0, 25], [25, 0], [25, 25]]
    assert result[25, 25] == 4
    assert convolution.apply(h, np.ones((1, 1, 7, 7)), np.zeros(1)).item() == 2
