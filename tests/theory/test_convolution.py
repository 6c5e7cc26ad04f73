"""The functions of convolutions: the literal matrix, PyTorch, other libraries, little memory."""

import tracemalloc
from fractions import Fraction
from itertools import product

import array_api_strict
import numpy as np
import pytest
import torch
from array_api_compat import device
from torch.nn import functional

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


def name(given):
    if isinstance(given, int):
        return str(given)
    return " ".join(f"{key}={value}" for key, value in given.items()) or "plain"


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
    }


def means_and_variances(h, columns, k, chunk, options):
    """The same of what divides: n times the variances."""
    n, means = len(columns), moments.column_means(h, k, **options).ravel()
    variances = moments.column_variances(h, k, chunk=chunk, **options).ravel()
    centred = columns - columns.sum(0) / columns.dtype.type(n)
    return {
        "means": (n * means, columns.sum(0)),
        "variances": (n * variances, (centred * centred).sum(0)),
    }


def compare(pairs, of):
    for what, (found, expected) in pairs.items():
        assert found.shape == expected.shape, (what, of)
        np.testing.assert_array_equal(found, expected, err_msg=f"{what} {of}")


@pytest.mark.parametrize(("k", "options"), PLACES, ids=name)
def test_each_function_is_its_product_with_the_literal_matrix(k, options):
    for number, (r, s) in enumerate(SIZES):
        h, chunk = whole((3, 2, r, s), seed=10 * r + s), (None, 2)[number % 2]
        matrix = literal(h, k, **options)
        if not len(matrix):
            continue  # a map smaller than the kernel, without zeros around it
        compare(products(h, matrix, k, chunk, options), h.shape)
        n2 = len(matrix) ** 2  # every division of a multiple leaves whole numbers
        maps, columns = (n2 * h).astype(float), (n2 * matrix[:, 1:]).astype(float)
        compare(means_and_variances(maps, columns, k, chunk, options), h.shape)


@pytest.mark.parametrize("options", [{}, {"stride": 2}], ids=name)
def test_exact_numbers_stay_exact(options):
    h = whole((2, 1, 4, 3)).astype(object) * Fraction(10**30, 7)
    matrix = literal(h, 3, **options)
    compare(products(h, matrix, 3, None, options), h.shape)
    columns, n = matrix[:, 1:], Fraction(len(matrix))
    variances = ((columns - columns.sum(0) / n) ** 2).sum(0) / n
    for chunk in (None, 1):
        found = moments.column_variances(h, 3, chunk=chunk, **options)
        np.testing.assert_array_equal(found.ravel(), variances)


def test_the_structure_takes_as_many_products_as_it_says(monkeypatch):
    """Large ones: one for each shift up to sign.  The literal matrix is never built."""
    large: list[bool] = []
    matmul, positions = np.ndarray.__matmul__, correlations._Rows.positions

    class Counting(np.ndarray):
        def __matmul__(self, other):
            large.append(self.shape[1] > 14 * 14 * 3)
            return matmul(self, other)

    monkeypatch.delattr(gramian, "unfold")
    monkeypatch.setattr(
        correlations._Rows, "positions", lambda self: positions(self).view(Counting)
    )
    gramian.gram(whole((5, 1, 14, 14)), 5)
    assert sum(large) == ((2 * 5 - 1) ** 2 + 1) // 2


def test_the_matrix_and_its_products_are_those_of_torch():
    k, stride, dilation = 3, 2, 3
    options = {"stride": stride, "dilation": dilation}
    h, weights, bias = random_maps(3, 2, 9, 8), random_maps(4, 2, k, k), random_maps(4)
    columns = functional.unfold(h, k, dilation, dilation, stride).permute(0, 2, 1)
    matrix = convolution.unfold(h, k, **options)
    assert torch.equal(matrix[:, 1:], columns.reshape(-1, 2 * k * k))

    weights.requires_grad_()
    bias.requires_grad_()
    outputs = functional.conv2d(h, weights, bias, stride, dilation, dilation)
    torch.testing.assert_close(convolution.apply(h, weights, bias, **options), outputs)
    v = random_maps(*outputs.shape, seed=1)
    expected = torch.autograd.grad(outputs, (weights, bias), v)
    torch.testing.assert_close(convolution.apply_transposed(h, v, k, **options), expected)


def test_gram_is_differentiable():
    maps = random_maps(2, 1, 2, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda h: convolution.gram(h, 3), maps, fast_mode=True)


INPUTS = [
    np.random.default_rng(i).normal(size=shape)
    for i, shape in enumerate([(3, 2, 4, 5), (2, 2, 3, 3), (2,), (3, 4, 5)])
]
STRICT = array_api_strict.__array_namespace_info__()
DOUBLE = [d for d in STRICT.devices() if "float64" in STRICT.dtypes(device=d)]


def everything(h, weights, bias, S):
    v = convolution.apply(h, weights, bias)
    vector = convolution.flatten(weights, bias)
    back, back_bias = convolution.apply_transposed(h, v, 3)
    again, again_bias = convolution.unflatten(vector, 3)
    results = {
        "apply": v,
        "apply_transposed": back,
        "its bias": back_bias,
        "column_means": convolution.column_means(h, 3),
        "column_sums": convolution.column_sums(h, 3),
        "column_variances": convolution.column_variances(h, 3, chunk=2),
        "flatten": vector,
        "gram": convolution.gram(h, 3, chunk=2),
        "gram, stride": convolution.gram(h, 3, stride=2),
        "unflatten": again,
        "its other bias": again_bias,
        "unfold": convolution.unfold(h, 3),
        "weighted_gram": convolution.weighted_gram(h, S, 3),
        "weighted_gram, operator": convolution.weighted_gram(h, lambda maps: 2 * maps, 3),
    }
    assert set(convolution.__all__) <= set(results)
    return results


@pytest.mark.parametrize("where", DOUBLE, ids=str)
def test_strict_arrays_keep_their_device_and_give_what_numpy_gives(where):
    strict = [array_api_strict.asarray(a, device=where) for a in INPUTS]
    expected = everything(*INPUTS)
    for what, result in everything(*strict).items():
        assert device(result) == where, what
        on_host = np.asarray(result.to_device(STRICT.devices()[0]))
        np.testing.assert_allclose(on_host, expected[what], rtol=1e-13, atol=1e-13, err_msg=what)


@pytest.mark.parametrize(("dtype", "rough"), [("float32", 1e-5), ("float64", 1e-12)])
def test_libraries_and_dtypes_are_kept(dtype, rough):
    expected = everything(*INPUTS)
    for convert in (np.asarray, torch.asarray):
        arrays = [convert(a.astype(dtype)) for a in INPUTS]
        for what, result in everything(*arrays).items():
            assert type(result) is type(arrays[0]), what
            assert result.dtype == arrays[0].dtype, what
            np.testing.assert_allclose(result, expected[what], rtol=rough, atol=rough, err_msg=what)


def test_gram_in_single_precision():
    h = np.random.default_rng(0).normal(1, 1, size=(16, 4, 14, 14)).astype(np.float32)
    matrix = unfolded.unfold(h.astype(np.float64), 7)
    expected = matrix.T @ matrix
    error = np.linalg.norm(convolution.gram(h, 7) - expected) / np.linalg.norm(expected)
    assert error < 1e-6


def test_variances_survive_a_large_mean():
    small = np.random.default_rng(0).integers(-3, 4, (4, 2, 6, 6))
    large = 1e8 + small  # exact, in double precision
    exact = np.var(literal(small, 3, padding="valid")[:, 1:].astype(float), axis=0)
    actual = convolution.column_variances(large, 3, padding="valid")
    np.testing.assert_allclose(actual.ravel(), exact, rtol=1e-7)


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
