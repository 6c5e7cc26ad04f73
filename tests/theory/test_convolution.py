"""Products with the unfolded matrix against index loops, PyTorch and what the paper prints."""

import tracemalloc
from fractions import Fraction
from itertools import product

import array_api_strict
import numpy as np
import pytest
import torch
from array_api_compat import device
from torch.nn.functional import conv2d

from theory import convolution
from theory.convolution import correlations, gramian, moments, unfolded, windows
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


def cases(k, batches=BATCHES, **options):
    """Every size of map, and the literal matrix."""
    for (r, s), (N, c) in product(SIZES, batches):
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
    for h, matrix in cases(k, [(2, 1)], **options):
        rational = np.vectorize(Fraction)(h)
        columns, n = matrix[:, 1:].astype(object), Fraction(matrix.shape[0])
        means = columns.sum(0) / n
        variances = ((columns - means) ** 2).sum(0) / n
        actual = moments.column_means(rational, k, **options)
        assert_same(actual.ravel(), means, h, k, **options)
        for chunk in (None, 1):
            actual = moments.column_variances(rational, k, chunk=chunk, **options)
            assert_same(actual.ravel(), variances, h, k, **options)


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


def random_maps(*shape, seed=0):
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("options", EVERYWHERE, ids=name)
@pytest.mark.parametrize("k", KERNELS)
def test_what_torch_unfolds_and_convolves(k, options):
    h, weights, bias = random_maps(3, 2, 21, 20), random_maps(4, 2, k, k), random_maps(4)
    stride, dilation = options.get("stride", 1), options.get("dilation", 1)
    zeros = 0 if options.get("padding") == "valid" else k // 2 * dilation
    expected = torch.nn.functional.unfold(h, k, dilation, zeros, stride)
    expected = expected.permute(0, 2, 1).reshape(-1, 2 * k * k)
    matrix = convolution.unfold(h, k, **options)
    assert torch.equal(matrix[:, 1:], expected)
    assert torch.equal(matrix[:, 0], torch.ones_like(matrix[:, 0]))
    torch.testing.assert_close(convolution.gram(h, k, **options), matrix.T @ matrix)

    outputs = conv2d(h, weights, bias, stride, zeros, dilation)
    torch.testing.assert_close(convolution.apply(h, weights, bias, **options), outputs)
    weights.requires_grad_()
    bias.requires_grad_()
    outputs = conv2d(h, weights, bias, stride, zeros, dilation)
    v = random_maps(*outputs.shape, seed=1)
    gradients = torch.autograd.grad(outputs, (weights, bias), v)
    for actual, expected in zip(
        convolution.apply_transposed(h, v, k, **options), gradients, strict=True
    ):
        torch.testing.assert_close(actual, expected)

    torch.testing.assert_close(
        convolution.column_means(h, k, **options).flatten(), matrix[:, 1:].mean(0)
    )
    torch.testing.assert_close(
        convolution.column_variances(h, k, **options).flatten(),
        matrix[:, 1:].var(0, correction=0),
    )


def test_weighted_gram_is_the_hessian_of_a_loss():
    """Prop. 9 of Lange et al. 2022, with a loss that couples the outputs of each example."""
    h, k, c = random_maps(3, 2, 4, 5), 3, 2
    mixing = random_maps(20, 20, seed=1)
    what = random_maps(c * k * k + 1, 1, seed=2)

    def each(outputs):
        return outputs.reshape(3, 20) @ mixing.T

    def loss(what):
        weights, bias = convolution.unflatten(what, k)
        return torch.log(torch.cosh(each(conv2d(h, weights, bias, padding=1)))).sum() / 3

    expected = torch.autograd.functional.hessian(loss, what).reshape(19, 19)
    weights, bias = convolution.unflatten(what, k)
    bends = 1 / torch.cosh(each(convolution.apply(h, weights, bias))) ** 2 / 3

    def S(maps):
        flat = maps.permute(0, 2, 3, 1).reshape(3, 20, -1)
        result = mixing.T @ (bends[:, :, None] * (mixing @ flat))
        return result.reshape(3, 4, 5, -1).permute(0, 3, 1, 2)

    torch.testing.assert_close(convolution.weighted_gram(h, S, k), expected)


def test_gram_is_differentiable():
    assert torch.autograd.gradcheck(
        lambda h: convolution.gram(h, 3), random_maps(2, 1, 2, 3).requires_grad_()
    )


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


INPUTS = [
    np.random.default_rng(i).normal(size=shape)
    for i, shape in enumerate([(3, 2, 4, 5), (2, 2, 3, 3), (2,), (3, 4, 5)])
]
STRICT = array_api_strict.__array_namespace_info__()
DOUBLE = [d for d in STRICT.devices() if "float64" in STRICT.dtypes(device=d)]


@pytest.mark.parametrize("where", DOUBLE, ids=str)
def test_strict_arrays_give_what_numpy_gives(where):
    strict = [array_api_strict.asarray(a, device=where) for a in INPUTS]
    expected = everything(*INPUTS)
    for what, result in everything(*strict).items():
        assert device(result) == where, what
        on_host = np.asarray(result.to_device(STRICT.devices()[0]))
        np.testing.assert_allclose(on_host, expected[what], rtol=1e-13, atol=1e-13, err_msg=what)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_libraries_and_dtypes_are_kept(dtype):
    for what, result in everything(*(a.astype(dtype) for a in INPUTS)).items():
        assert result.dtype == dtype, what
    expected = everything(*INPUTS)
    rough = 1e-5 if dtype == "float32" else 1e-12
    tensors = [torch.asarray(a.astype(dtype)) for a in INPUTS]
    for what, result in everything(*tensors).items():
        assert result.dtype == getattr(torch, dtype), what
        np.testing.assert_allclose(result, expected[what], rtol=rough, atol=rough, err_msg=what)


@pytest.mark.parametrize("k", [3, 7])
def test_gram_in_single_precision(k):
    h = np.random.default_rng(0).normal(1, 1, size=(16, 8, 14, 14)).astype(np.float32)
    matrix = unfolded.unfold(h.astype(np.float64), k)
    expected = matrix.T @ matrix
    error = np.linalg.norm(convolution.gram(h, k) - expected) / np.linalg.norm(expected)
    assert error < 1e-6


def test_variances_survive_a_large_mean():
    small = np.random.default_rng(0).integers(-3, 4, (4, 2, 6, 6))
    large = 1e8 + small  # exact, in double precision
    exact = np.var(by_index(small, 3, padding="valid")[:, 1:].astype(float), axis=0)
    actual = convolution.column_variances(large, 3, padding="valid")
    np.testing.assert_allclose(actual.ravel(), exact, rtol=1e-7)


def peak(run):
    tracemalloc.start()
    run()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_stays_below_that_of_the_unfolded_matrix():
    h, k = np.ones((40, 4, 16, 16)), 5
    unfolded_matrix = 40 * 16 * 16 * 101 * 8
    S, weights, bias = np.ones((40, 16, 16)), np.ones((4, 4, k, k)), np.ones(4)
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
        assert peak(run) < unfolded_matrix / 4, what


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
        r"weights of shape \(2, 2, 3, 3\) does not match h of shape \(3, 1, 4, 5\).* 1 channels",
    ),
    "bias of another length": (
        lambda: convolution.flatten(W, np.ones(3)),
        ValueError,
        r"bias of shape \(3,\) does not match weights.*expected one number for each output, \(2,\)",
    ),
    "other outputs": (
        lambda: convolution.apply_transposed(H, H, 3, stride=2),
        ValueError,
        r"v of shape \(3, 2, 4, 5\) does not match h .* expected \(3, 2, 2, 3\), .*stride=2",
    ),
    "diagonal of another size": (
        lambda: convolution.weighted_gram(H, S[:2], 3),
        ValueError,
        r"S of shape \(2, 4, 5\) does not match h .* expected \(3, 4, 5\)",
    ),
    "diagonal as a list": (
        lambda: convolution.weighted_gram(H, [1.0], 3),
        TypeError,
        r"S is a list; expected an array of floats \(batch, row, column\) or a function",
    ),
    "operator that flattens": (
        lambda: convolution.weighted_gram(H, np.ravel, 3),
        ValueError,
        r"S returned \(60,\) for maps of shape \(3, 1, 4, 5\); expected maps of the same shape",
    ),
    "operator of numbers": (
        lambda: convolution.weighted_gram(H, lambda maps: 1.0, 3),
        ValueError,
        r"S returned float for maps",
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
