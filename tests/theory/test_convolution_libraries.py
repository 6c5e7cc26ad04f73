"""The same in PyTorch, in the strict array library, in single precision and in little memory."""

import tracemalloc

import array_api_strict
import numpy as np
import pytest
import torch
from array_api_compat import device
from convolution_cases import (
    DOUBLE,
    EVERYWHERE,
    INPUTS,
    KERNELS,
    STRICT,
    by_index,
    name,
    random_maps,
)
from torch.nn.functional import conv2d

from theory import convolution
from theory.convolution import gramian, moments, unfolded


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
