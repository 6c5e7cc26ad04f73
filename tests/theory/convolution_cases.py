"""Maps of every small size with the literal matrix, and inputs for every function."""

from itertools import product

import array_api_strict
import numpy as np
import torch

from theory.convolution import windows
from theory.convolution.windows import Geometry

SIZES = list(product(range(1, 8), repeat=2))
KERNELS = (1, 3, 5, 7)
BATCHES = ((1, 1), (2, 1), (1, 2), (2, 2))
GEOMETRIES = [
    {"stride": 2},
    {"stride": 3, "padding": "same"},
    {"dilation": 2},
    {"padding": "valid"},
    {"stride": 2, "dilation": 3},
    {"stride": 2, "padding": "valid"},
    {"stride": 2, "dilation": 2, "padding": "valid"},
]
EVERYWHERE = [{}, *GEOMETRIES]


def name(options):
    return " ".join(f"{key}={value}" for key, value in options.items()) or "plain"


def whole(shape, seed=0):
    """Whole numbers without a zero, so that each of them counts."""
    numbers = np.random.default_rng(seed).integers(1, 10, shape)
    return numbers * np.random.default_rng(seed + 1).choice([-1, 1], shape)


def by_index(h, k, stride=1, dilation=1, padding="same"):
    """[e, H] entry by entry, by the definition; None if there is no output."""
    N, c, r, s = h.shape
    K = k // 2
    reach = K * dilation
    first = 0 if padding == "same" else reach
    starts = [range(first, n - first, stride) for n in (r, s)]
    outputs = list(product(range(N), *starts))
    if not outputs:
        return None
    matrix = np.zeros((len(outputs), 1 + c * k * k), dtype=h.dtype)
    matrix[:, 0] = 1
    for row, (n, i, j) in enumerate(outputs):
        for column, (p, t, a) in enumerate(product(range(c), range(k), range(k))):
            u, v = i + (t - K) * dilation, j + (a - K) * dilation
            if 0 <= u < r and 0 <= v < s:
                matrix[row, 1 + column] = h[n, p, u, v]
    return matrix


def cases(k, batches=BATCHES, sizes=SIZES, **options):
    """Every size of map, and the literal matrix."""
    for (r, s), (N, c) in product(sizes, batches):
        h = whole((N, c, r, s), seed=10 * r + s)
        matrix = by_index(h, k, **options)
        if matrix is not None:
            yield h, matrix


def as_maps(columns, h, k, **options):
    """Columns of outputs as maps (N, columns, r', s')."""
    size = windows.outputs(h, Geometry(k, **options))
    return np.moveaxis(columns.reshape(h.shape[0], *size, -1), -1, 1)


def assert_same(actual, expected, h, k, **options):
    message = f"h of shape {h.shape}, kernel {k}, {name(options)}"
    assert actual.shape == expected.shape, message
    np.testing.assert_array_equal(actual, expected, err_msg=message)


def random_maps(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


INPUTS = [
    np.random.default_rng(i).normal(size=shape)
    for i, shape in enumerate([(3, 2, 4, 5), (2, 2, 3, 3), (2,), (3, 4, 5)])
]
STRICT = array_api_strict.__array_namespace_info__()
DOUBLE = [d for d in STRICT.devices() if "float64" in STRICT.dtypes(device=d)]
