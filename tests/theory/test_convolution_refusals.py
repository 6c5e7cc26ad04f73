"""What the functions of convolutions refuse, and with which words."""

import array_api_strict
import numpy as np
import pytest
import torch
from convolution_cases import DOUBLE, INPUTS, whole

from theory import convolution

H, W, B, S = INPUTS
HOLES = np.where(np.arange(5) == 3, np.nan, H)
REFUSED = {
    "even kernel": (lambda: convolution.gram(H, 4), ValueError, r"kernel = 4; .* odd.*: 3 or 5"),
    "no kernel": (lambda: convolution.gram(H, 0), ValueError, r"kernel = 0; expected at least 1"),
    "kernel of another type": (
        lambda: convolution.gram(H, 3.0),
        TypeError,
        r"kernel = 3\.0; .*int",
    ),
    "a pair for a kernel": (lambda: convolution.gram(H, (3, 3)), TypeError, r"kernel = \(3, 3\)"),
    "even weights": (
        lambda: convolution.apply(H, np.ones((2, 2, 2, 2)), B),
        ValueError,
        r"weights of shape \(2, 2, 2, 2\); expected \(out, channel, k, k\) with k odd",
    ),
    "oblong weights": (lambda: convolution.apply(H, W[:, :, :1], B), ValueError, r"\(2, 2, 1, 3\)"),
    "one map": (
        lambda: convolution.gram(H[0], 3),
        ValueError,
        r"h of shape \(2, 4, 5\) has 3 axes; expected 4, \(batch, channel, row, column\)",
    ),
    "bias as a matrix": (
        lambda: convolution.apply(H, W, B[:, None]),
        ValueError,
        r"bias of shape \(2, 1\) has 2 axes; expected 1, \(out,\)",
    ),
    "empty batch": (
        lambda: convolution.column_means(H[:0], 3),
        ValueError,
        r"h of shape \(0, 2, 4, 5\) is empty; expected at least one",
    ),
    "NaN": (
        lambda: convolution.column_variances(HOLES, 3),
        ValueError,
        r"h of shape \(3, 2, 4, 5\) is NaN or infinite at index \(0, 0, 0, 3\)",
    ),
    "infinity": (
        lambda: convolution.apply(H, W, B * np.inf),
        ValueError,
        r"bias of shape \(2,\) is NaN or infinite at index 0, 1",
    ),
    "integers": (
        lambda: convolution.gram(whole((1, 1, 3, 3)), 3),
        TypeError,
        r"h of shape \(1, 1, 3, 3\) has dtype int64; .* call the unguarded .* theory.convolution",
    ),
    "a list": (lambda: convolution.gram([1.0], 3), TypeError, r"h is a list; expected an array"),
    "mixed dtypes": (
        lambda: convolution.apply(H, W.astype(np.float32), B),
        TypeError,
        r"weights has dtype float32 and h has dtype float64",
    ),
    "mixed libraries": (
        lambda: convolution.apply(torch.asarray(H), W, B),
        TypeError,
        r"weights is an array of numpy and h one of torch",
    ),
    "mixed devices": (
        lambda: convolution.apply_transposed(
            *(array_api_strict.asarray(H, device=d) for d in DOUBLE[:2]), 3
        ),
        ValueError,
        r"v is on device .* move v there",
    ),
    "other channels": (
        lambda: convolution.apply(H[:, :1], W, B),
        ValueError,
        r"weights of shape \(2, 2, 3, 3\) does not match h of shape \(3, 1, 4, 5\).* channel = 1",
    ),
    "bias of another length": (
        lambda: convolution.flatten(W, np.ones(3)),
        ValueError,
        r"bias of shape \(3,\) does not match weights.*expected \(out,\) with out = 2",
    ),
    "other outputs": (
        lambda: convolution.apply_transposed(H, H, 3, stride=2),
        ValueError,
        r"v of shape \(3, 2, 4, 5\) does not match h .* expected \(3, 2, 2, 3\), .*stride=2",
    ),
    "diagonal of another size": (
        lambda: convolution.weighted_gram(H, S[:2], 3),
        ValueError,
        r"S of shape \(2, 4, 5\) does not match h .* with batch = 3",
    ),
    "diagonal as a list": (
        lambda: convolution.weighted_gram(H, [1.0], 3),
        TypeError,
        r"S is a list; expected a function or an array of floats \(batch, row', column'\)",
    ),
    "operator that flattens": (
        lambda: convolution.weighted_gram(H, np.ravel, 3),
        ValueError,
        r"S returned an array of shape \(60,\) for one of shape \(3, 1, 4, 5\); "
        "expected one of that shape",
    ),
    "operator of numbers": (
        lambda: convolution.weighted_gram(H, lambda maps: 1.0, 3),
        TypeError,
        r"S returned a float for a ndarray",
    ),
    "vector of another length": (
        lambda: convolution.unflatten(H[0, 0], 3),
        ValueError,
        r"vector of shape \(4, 5\) does not fit kernel = 3; expected a bias and 9 entries for each",
    ),
    "vector of a bias alone": (
        lambda: convolution.unflatten(H[0, 0, :1], 3),
        ValueError,
        r"vector of shape \(1, 5\) does not fit",
    ),
    "no stride": (
        lambda: convolution.unfold(H, 3, stride=0),
        ValueError,
        r"stride = 0; expected at least 1",
    ),
    "no dilation": (
        lambda: convolution.unfold(H, 3, dilation=0),
        ValueError,
        r"dilation = 0; expected at least 1",
    ),
    "no chunk": (
        lambda: convolution.gram(H, 3, chunk=0),
        ValueError,
        r"chunk = 0; expected at least 1",
    ),
    "chunk of another type": (
        lambda: convolution.gram(H, 3, chunk=0.5),
        TypeError,
        r"chunk = 0\.5",
    ),
    "other padding": (
        lambda: convolution.unfold(H, 3, padding="full"),
        ValueError,
        r"padding = 'full'; expected 'same' or 'valid'",
    ),
    "a dilation beyond every map": (
        lambda: convolution.unfold(H, 3, dilation=10**400),
        ValueError,
        "dilation is beyond 65536; expected one that maps may have",
    ),
    "padding that is no word": (
        lambda: convolution.unfold(H, 3, padding=np.ones((2, 2))),
        TypeError,
        r"padding is a ndarray; expected 'same' or 'valid'",
    ),
    "masked maps": (
        lambda: convolution.gram(np.ma.masked_less(H, 0), 3),
        TypeError,
        r"h of shape \(3, 2, 4, 5\), a MaskedArray, leaves entries out",
    ),
    "a sum of squares beyond the range": (
        lambda: convolution.gram(1e200 * H, 3),
        ValueError,
        r"gram overflows float64 at index",
    ),
    "no valid output": (
        lambda: convolution.column_means(H, 3, dilation=2, padding="valid"),
        ValueError,
        r"h of shape \(3, 2, 4, 5\) has maps smaller than a kernel of 5 x 5 \(kernel = 3, dila",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_errors_say_what_was_given_and_what_to_do(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=f"(?s){message}"):
        call()


def test_a_map_smaller_than_the_kernel_is_allowed():
    h = np.array([[[[2.0]]]])
    result = convolution.gram(h, 7)
    assert np.argwhere(result).tolist() == [[0, 0], [0, 25], [25, 0], [25, 25]]
    assert result[25, 25] == 4
    assert convolution.apply(h, np.ones((1, 1, 7, 7)), np.zeros(1)).item() == 2
