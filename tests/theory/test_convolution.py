"""The functions of convolutions: the literal matrix, exact numbers, little memory."""

import tracemalloc
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from test_far_sizes import assert_exact

from theory import convolution
from theory.convolution import correlations, gramian, moments, unfolded, windows
from theory.convolution.windows import Geometry

SIZES = [(r, (3 * r + i) % 7 + 1) for r in range(1, 8) for i in (0, 2)]
"""Rows and columns from one to seven, in pairs that are alike in nothing."""
GEOMETRIES = [
    {"stride": 2},
    {"dilation": 2},
    {"padding": "valid"},
    {"stride": 3, "dilation": 3, "padding": "same"},
    {"stride": 2, "dilation": 2, "padding": "valid"},
]
PLACES = [*((k, {}) for k in (1, 3, 5, 7)), *((k, g) for g in GEOMETRIES for k in (3, 5))]
"""Without a geometry the products take the correlations' structure, otherwise the matrix."""


def whole(shape, seed=0):
    """Whole numbers without a zero, so that each of them counts."""
    numbers = np.random.default_rng(seed).integers(1, 10, shape)
    return numbers * np.random.default_rng(seed + 1).choice([-1, 1], shape)


def random_maps(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def literal(h, k, stride=1, dilation=1, padding="same"):
    """[e, H] entry by entry, by the definition."""
    N, c, r, s = h.shape
    K = k // 2
    first = 0 if padding == "same" else K * dilation
    rows = list(product(range(N), *(range(first, n - first, stride) for n in (r, s))))
    matrix = np.zeros((len(rows), 1 + c * k * k), dtype=h.dtype)
    matrix[:, 0] = 1
    for row, (n, i, j) in enumerate(rows):
        for column, (p, t, a) in enumerate(product(range(c), range(k), range(k))):
            u, v = i + (t - K) * dilation, j + (a - K) * dilation
            if 0 <= u < r and 0 <= v < s:
                matrix[row, 1 + column] = h[n, p, u, v]
    return matrix


def products(h, matrix, k, chunk, options):
    """What each function gives, and the product with the matrix that it stands for."""
    rows = len(matrix)
    size = windows.outputs(h, Geometry(k, **options))
    weights, bias, diagonal = whole((3, h.shape[1], k, k)), whole((3,)), whole((rows,))
    v, S, w = whole((rows, 3)), whole((rows, rows)), unfolded.flatten(weights, bias)

    def maps(columns):
        return np.moveaxis(columns.reshape(len(h), *size, -1), -1, 1)

    def operator(of):
        flat = np.moveaxis(of, 1, -1)
        return np.moveaxis((S @ flat.reshape(rows, -1)).reshape(flat.shape), -1, 1)

    def weighted(by):
        return gramian.weighted_gram(h, by, k, chunk=chunk, **options)

    back = unfolded.apply_transposed(h, maps(v), k, chunk=chunk, **options)
    multiple = rows**2 * h  # every division of it on the way leaves whole numbers
    floats = multiple if h.dtype == object else multiple.astype(float)
    means = moments.column_means(floats, k, **options)
    variances = moments.column_variances(floats, k, chunk=chunk, **options)
    centred = rows**2 * matrix[:, 1:] - rows * matrix[:, 1:].sum(0)
    return {
        "unfold": (unfolded.unfold(h, k, **options), matrix),
        "apply": (
            unfolded.apply(h, weights, bias, chunk=chunk, **options),
            maps(matrix @ np.vstack([bias, weights.reshape(3, -1).T])),
        ),
        "apply_transposed": (unfolded.flatten(*back), matrix.T @ v),
        "unflatten": (unfolded.flatten(*unfolded.unflatten(w, k)), w),
        "gram": (gramian.gram(h, k, chunk=chunk, **options), matrix.T @ matrix),
        "diagonal": (weighted(maps(diagonal)[:, 0]), matrix.T @ (diagonal[:, None] * matrix)),
        "operator": (weighted(operator), matrix.T @ S @ matrix),
        "sums": (moments.column_sums(h, k, **options).ravel(), matrix[:, 1:].sum(0)),
        "means": (means.ravel(), rows * matrix[:, 1:].sum(0)),
        "variances": (rows * variances.ravel(), (centred * centred).sum(0)),
    }


def compare(h, k, chunk, options):
    matrix = literal(h, k, **options)
    if len(matrix):  # or else a map smaller than the kernel, without zeros around it
        for what, (found, expected) in products(h, matrix, k, chunk, options).items():
            assert found.shape == expected.shape, (what, h.shape)
            np.testing.assert_array_equal(found, expected, err_msg=f"{what} {h.shape}")


@pytest.mark.parametrize(("k", "options"), PLACES, ids=str)
def test_each_function_is_its_product_with_the_literal_matrix(k, options):
    for number, (r, s) in enumerate(SIZES):
        compare(whole((3, 2, r, s), seed=10 * r + s), k, (None, 2)[number % 2], options)


def test_exact_numbers_stay_exact():
    h = whole((2, 1, 4, 3)).astype(object) * Fraction(10**30, 7)
    compare(h, 3, None, {})
    compare(h, 3, 1, {"stride": 2})


def test_the_structure_takes_as_many_products_as_it_says(monkeypatch):
    """Large ones: one for each shift up to sign.  The literal matrix is never built."""
    product, positions = correlations._product, []

    def counting(a, b):
        positions.append(a.shape[0] * a.shape[1])
        return product(a, b)

    monkeypatch.delattr(gramian, "unfold")
    monkeypatch.setattr(correlations, "_product", counting)
    gramian.gram(whole((5, 1, 14, 14)), 5)
    assert sum(n > 14 * 14 * 2 for n in positions) == ((2 * 5 - 1) ** 2 + 1) // 2


@pytest.mark.parametrize("shape", [(1, 2, 400_000, 2), (1, 2, 2, 400_000)])
@pytest.mark.parametrize("library", [np.asarray, torch.asarray])
def test_of_many_products_of_one_sign_few_are_added_in_a_chain(library, shape):
    entry = np.float32(0.3)
    found = gramian.gram(library(np.full(shape, entry)), 1)
    expected = 800_000 * float(entry) ** np.arange(3)
    actual = [float(found[i, j]) for i, j in ((0, 0), (0, 2), (2, 2))]
    half_a_chain = 2.0**11
    np.testing.assert_allclose(actual, expected, rtol=half_a_chain * 2.0**-24)


def test_sums_of_many_short_rows_lose_no_digits():
    h = torch.full((1, 1, 66_000, 8), 0.1)
    found = float(moments.column_sums(h, 3)[0, 1, 1])
    assert found == pytest.approx(h.numel() * float(h[0, 0, 0, 0]), rel=16 * 2.0**-24)


def test_bytes_may_be_in_any_order():
    h = whole((2, 2, 5, 6))
    swapped = h.astype(np.dtype(float).newbyteorder())
    np.testing.assert_array_equal(gramian.gram(swapped, 3), gramian.gram(h, 3))


def test_on_a_gpu_no_small_products_are_taken(monkeypatch):
    """A tensor that has no data stands for one on a GPU."""
    monkeypatch.delattr(gramian, "blocks")
    assert gramian.gram(torch.empty(2, 3, 5, 5, device="meta"), 3).shape == (28, 28)


def test_gram_is_differentiable():
    maps = random_maps(2, 1, 2, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda h: convolution.gram(h, 3), maps, fast_mode=True)


def test_gram_in_single_precision():
    h = np.random.default_rng(0).normal(1, 1, size=(16, 4, 14, 14)).astype(np.float32)
    matrix = unfolded.unfold(h.astype(np.float64), 7)
    expected = matrix.T @ matrix
    error = np.linalg.norm(convolution.gram(h, 7) - expected) / np.linalg.norm(expected)
    assert error < 1e-6


def test_memory_stays_below_that_of_the_unfolded_matrix():
    h, k = np.ones((40, 4, 8, 8)), 5
    unfolded_matrix = 40 * 8 * 8 * 101 * 8
    S, weights, bias = np.ones((40, 8, 8)), np.ones((4, 4, k, k)), np.ones(4)
    runs = {
        "gram": lambda: gramian.gram(h, k, chunk=4),
        "gram of valid windows": lambda: gramian.gram(h, k, padding="valid", chunk=2),
        "weighted_gram": lambda: gramian.weighted_gram(h, S, k, chunk=1),
        "weighted_gram, operator": lambda: gramian.weighted_gram(h, lambda m: 2 * m, k, chunk=4),
        "apply": lambda: unfolded.apply(h, weights, bias, chunk=4),
        "apply_transposed": lambda: unfolded.apply_transposed(h, h, k, chunk=4),
        "column_variances": lambda: moments.column_variances(h, k, chunk=4),
    }
    for what, run in runs.items():
        tracemalloc.start()
        run()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < unfolded_matrix / 4, what


@pytest.mark.parametrize(
    "end", [np.s_[:, 0, 0, :], np.s_[:, :, -1, :], np.s_[..., 0], np.s_[..., -1]]
)
@pytest.mark.parametrize("shape", [(4, 2, 8, 8), (3, 1, 2, 5), (2, 2, 4, 1)])
def test_ends_far_larger_than_the_inside_cost_gram_matrices_no_digits(shape, end):
    maps = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    maps[end] *= 1e6
    matrix = unfolded.unfold(maps.astype(np.float64), 3)
    right = matrix.T @ matrix
    np.testing.assert_allclose(np.diag(convolution.gram(maps, 3)), np.diag(right), rtol=1e-5)


@pytest.mark.parametrize(("kernel", "padding"), [(1, "valid"), (3, "valid"), (3, "same")])
@pytest.mark.parametrize(
    ("dtype", "offset"),
    [(np.float32, 1e3), (np.float32, 1e6), (np.float64, 1e8), (np.float64, 1e12)],
)
def test_an_offset_costs_variances_no_digits(dtype, offset, kernel, padding):
    """But those that it has taken from the maps."""
    h = (np.random.default_rng(0).standard_normal((32, 1, 5, 5)) + offset).astype(dtype)
    windows = {"kernel": kernel, "padding": padding}
    assert_exact(convolution.column_variances, {"h": h}, lambda _: windows, by_entry=True)


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_variances_are_differentiable(padding):
    maps = random_maps(3, 1, 4, 3).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda h: convolution.column_variances(h, 3, padding=padding), maps
    )
