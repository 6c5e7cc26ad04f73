"""Products with the unfolded matrix against index loops, exactly, and what the paper prints."""

from fractions import Fraction

import numpy as np
import pytest
from convolution_cases import (
    EVERYWHERE,
    KERNELS,
    as_maps,
    assert_same,
    cases,
    name,
    whole,
)

from theory.convolution import correlations, gramian, moments, unfolded


@pytest.mark.parametrize("k", KERNELS)
def test_gram_is_exact_for_every_size(k):
    for h, matrix in cases(k):
        assert_same(gramian.gram(h, k), matrix.T @ matrix, h, k)


@pytest.mark.parametrize("k", KERNELS)
def test_gram_in_chunks_and_on_objects_is_exact(k):
    for h, matrix in cases(k, [(3, 1)]):
        assert_same(gramian.gram(h, k, chunk=2), matrix.T @ matrix, h, k)
        objects = gramian.gram(h.astype(object) * 10**30, k)[1:, 1:]
        assert_same(objects, 10**60 * (matrix.T @ matrix).astype(object)[1:, 1:], h, k)


@pytest.mark.parametrize("options", EVERYWHERE, ids=name)
@pytest.mark.parametrize("k", KERNELS)
def test_products_are_exact_for_every_size(k, options):
    for h, matrix in cases(k, [(2, 2)], **options):
        weights, bias = whole((3, h.shape[1], k, k)), whole((3,))
        outputs = matrix @ unfolded.flatten(weights, bias)
        v = whole(outputs.shape)

        assert_same(unfolded.unfold(h, k, **options), matrix, h, k, **options)
        maps = as_maps(outputs, h, k, **options)
        assert_same(unfolded.apply(h, weights, bias, **options), maps, h, k, **options)
        assert_same(unfolded.apply(h, weights, bias, chunk=1, **options), maps, h, k, **options)
        for chunk in (None, 1):
            back = unfolded.apply_transposed(
                h, as_maps(v, h, k, **options), k, chunk=chunk, **options
            )
            assert_same(unfolded.flatten(*back), matrix.T @ v, h, k, **options)
        assert_same(moments.column_sums(h, k, **options).ravel(), matrix[:, 1:].sum(0), h, k)


@pytest.mark.parametrize("options", EVERYWHERE, ids=name)
@pytest.mark.parametrize("k", [1, 3, 5])
def test_other_gram_matrices_are_exact_for_every_size(k, options):
    for h, matrix in cases(k, [(2, 2)], **options):
        rows = matrix.shape[0]
        diagonal, S = whole((rows,)), whole((rows, rows))
        per_row = as_maps(diagonal[:, None], h, k, **options)[:, 0]

        def operator(maps, S=S):
            flat = np.moveaxis(maps, 1, -1)
            return np.moveaxis((S @ flat.reshape(S.shape[0], -1)).reshape(flat.shape), -1, 1)

        weighted = matrix.T @ (diagonal[:, None] * matrix)
        assert_same(gramian.gram(h, k, **options), matrix.T @ matrix, h, k, **options)
        for chunk in (None, 1):
            result = gramian.weighted_gram(h, per_row, k, chunk=chunk, **options)
            assert_same(result, weighted, h, k, **options)
        result = gramian.weighted_gram(h, operator, k, **options)
        assert_same(result, matrix.T @ S @ matrix, h, k, **options)


@pytest.mark.parametrize("options", EVERYWHERE, ids=name)
@pytest.mark.parametrize("k", KERNELS)
def test_moments_are_exact_for_every_size(k, options):
    """In floats, of whole numbers that every division on the way leaves whole."""
    for h, matrix in cases(k, [(2, 1)], **options):
        n = matrix.shape[0]
        columns = n**2 * matrix[:, 1:]
        means = columns.sum(0) // n
        maps = (n**2 * h).astype(np.float64)
        actual = moments.column_means(maps, k, **options)
        assert_same(actual.ravel(), means, h, k, **options)
        for chunk in (None, 1):
            actual = moments.column_variances(maps, k, chunk=chunk, **options)
            assert_same(n * actual.ravel(), ((columns - means) ** 2).sum(0), h, k, **options)


@pytest.mark.parametrize("options", EVERYWHERE, ids=name)
def test_moments_of_fractions_are_exact(options):
    for h, matrix in cases(3, [(2, 1)], sizes=[(1, 1), (4, 3), (5, 7)], **options):
        rational = np.vectorize(Fraction)(h)
        columns, n = matrix[:, 1:].astype(object), Fraction(matrix.shape[0])
        means = columns.sum(0) / n
        actual = moments.column_means(rational, 3, **options)
        assert_same(actual.ravel(), means, h, 3, **options)
        actual = moments.column_variances(rational, 3, **options)
        variances = ((columns - means) ** 2).sum(0) / n
        assert_same(actual.ravel(), variances, h, 3, **options)


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
    h = whole((5, 1, 14, 14))
    for k in KERNELS:
        large.clear()
        gramian.gram(h, k)
        assert sum(large) == ((2 * k - 1) ** 2 + 1) // 2


PRINTED = r"""
&&&&h_{11}&h_{21}&&h_{12}&h_{22}\\ &&&h_{11}&h_{21}&h_{31}&h_{12}&h_{22}&h_{32}\\
&&&h_{21}&h_{31}&h_{41}&h_{22}&h_{32}&h_{42}\\ &&&h_{31}&h_{41}&&h_{32}&h_{42}&\\
\hline\cr&h_{11}&h_{21}&&h_{12}&h_{22}&&h_{13}&h_{23}\\
h_{11}&h_{21}&h_{31}&h_{12}&h_{22}&h_{32}&h_{13}&h_{23}&h_{33}\\
h_{21}&h_{31}&h_{41}&h_{22}&h_{32}&h_{42}&h_{23}&h_{33}&h_{43}\\
h_{31}&h_{41}&&h_{32}&h_{42}&&h_{33}&h_{43}&\\
\hline\cr&h_{12}&h_{22}&&h_{13}&h_{23}&&&\\ h_{12}&h_{22}&h_{32}&h_{13}&h_{23}&h_{33}&&&\\
h_{22}&h_{32}&h_{42}&h_{23}&h_{33}&h_{43}&&&\\ h_{32}&h_{42}&&h_{33}&h_{43}&&&&\\
"""
"""The example of a map 4 x 3 and a kernel 3 x 3, as the paper prints it."""


def test_the_printed_example():
    rows = PRINTED.replace(r"\hline\cr", "").split("\\\\")[:-1]
    printed = [[int(cell.strip()[3:-1] or 0) for cell in row.split("&")] for row in rows]
    h = np.array([[10 * a + b for b in (1, 2, 3)] for a in (1, 2, 3, 4)])[None, None]
    interchanged = np.swapaxes(h, 2, 3)
    np.testing.assert_array_equal(unfolded.unfold(interchanged, 3)[:, 1:], printed)


def test_channels_stand_in_order():
    """The columns of channel p are those of the map of channel p alone."""
    h = whole((2, 3, 4, 5))
    blocks = [unfolded.unfold(h[:, p : p + 1], 3)[:, 1:] for p in range(3)]
    np.testing.assert_array_equal(unfolded.unfold(h, 3)[:, 1:], np.concatenate(blocks, axis=1))
