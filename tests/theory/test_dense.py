"""Matrices against torch's Jacobians and Hessians, and against the operators they come from."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from test_batchnorm import LAYOUTS, Case, batches, magnitude, make_case, primitive
from test_operations import assert_close, deviation, to_numpy
from torch.autograd.functional import hessian as hessian_by_autograd
from torch.autograd.functional import jacobian as jacobian_by_autograd

from theory import batchnorm, dense


def first(x, axis):
    """Batch axes first and flattened, the last one fastest; units last."""
    axes = (axis,) if isinstance(axis, int) else axis
    units = [i for i in range(x.ndim) if i not in axes]
    return np.transpose(x, (*axes, *units)).reshape(-1, *[x.shape[i] for i in units])


def blocks(matrix, case):
    """Blocks of each unit with itself, of a matrix over all entries: (m, m, unit)."""
    at = first(np.arange(case.y.numel()).reshape(case.y.shape), case.axis)
    square = to_numpy(matrix).reshape(case.y.numel(), case.y.numel())
    return square[at[:, None], at[None]]


def loss_hessian(case):
    """diag(h) + q q' of each unit, as matrices."""
    h, q = (first(to_numpy(a), case.axis) for a in (case.h, case.q))
    return q[:, None] * q[None] + np.eye(len(h)).reshape(*[len(h)] * 2, *[1] * (h.ndim - 1)) * h


def as_matrices(size_of_unit, case):
    """One number for each unit, shaped (1, 1, unit)."""
    return first(to_numpy(size_of_unit), case.axis)[:1][None]


def compare(actual, expected, name, case):
    """Compare entry by entry; a column of the identity has norm one."""
    one = case._replace(u=torch.full_like(case.y, batchnorm.size(case.y, case.axis) ** -0.5))
    y = first(to_numpy(case.y), case.axis)[:, None]
    assert_close(actual, expected, as_matrices(magnitude(name, one), case), y, case.eps)


def layer(case):
    return lambda y: primitive(y, case.gamma, case.beta, case.eps, case.axis)


def jacobian(case):
    return dense.jacobian(case.y, case.gamma, case.eps, case.axis)


def hessian(case, H=None):
    H = torch.asarray(loss_hessian(case)) if H is None else H
    return dense.hessian(case.y, case.g, H, case.gamma, case.eps, case.axis)


def by_autograd(case):
    """The Hessian of the loss behind the layer, over all entries."""
    z = layer(case)
    at = z(case.y)

    def loss(y):
        d = z(y) - at
        return (case.g * d).sum() + (d * case.H(d)).sum() / 2

    return blocks(hessian_by_autograd(loss, case.y), case)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("eps", [0.0, 1e-5, 1.0])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrices_are_what_autograd_computes(layout, eps, offset):
    case = make_case(layout, eps, offset)
    expected = blocks(jacobian_by_autograd(layer(case), case.y), case)
    compare(jacobian(case), expected, "jvp", case)
    compare(hessian(case), by_autograd(case), "hvp", case)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_units_do_not_interact(layout):
    case = make_case(layout, 1e-5)
    everything = to_numpy(jacobian_by_autograd(layer(case), case.y))
    entries = case.y.numel()
    blank = np.zeros((entries, entries))
    at = first(np.arange(entries).reshape(case.y.shape), case.axis)
    blank[at[:, None], at[None]] = blocks(everything, case)
    np.testing.assert_array_equal(everything.reshape(blank.shape), blank)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_columns_are_what_the_operators_give(layout):
    case = make_case(layout, 1e-5)
    c, number = case, first(np.arange(case.y.numel()).reshape(case.y.shape), case.axis)
    P = dense.projection(c.y, c.eps, c.axis)
    for k, entries in enumerate(number):
        e = torch.zeros_like(c.y)
        e.view(-1)[torch.asarray(entries)] = 1
        for matrix, column, name in [
            (P, dense.project(c.y, e, c.eps, c.axis), "jvp"),
            (jacobian(c), batchnorm.jvp(c.y, e, c.gamma, c.eps, c.axis), "jvp"),
            (hessian(c), batchnorm.hvp(c.y, c.g, c.H, e, c.gamma, c.eps, c.axis), "hvp"),
        ]:
            unscaled = c if matrix is not P else c._replace(gamma=torch.asarray(deviation(c.y)))
            column = first(to_numpy(column), c.axis)[:, None]
            compare(matrix[:, k : k + 1], column, name, unscaled)


def test_entries_of_a_map_are_numbered_row_by_row():
    y, eps = make_case("maps").y, 1e-5
    _, _, height, width = y.shape
    z = jacobian_by_autograd(lambda y: primitive(y, 1, 0, eps, (0, 2, 3)), y)
    entries = dense.jacobian(y, 1, eps, (0, 2, 3))
    b, k = (3 * height + 1) * width + 0, (2 * height + 0) * width + 1
    unit, expected = y[:, 2].flatten(), z[3, 2, 1, 0, 2, 2, 0, 1:]
    assert_close(entries[b, k, 2:], expected, 1 / deviation(unit, eps), unit, eps)
    with pytest.raises(AssertionError, match="differ by"):
        assert_close(entries[b, k - 1, 2:], expected, 1 / deviation(unit, eps), unit, eps)
    assert torch.equal(dense.jacobian(y, 1, eps, (3, 0, -2)), entries)


@given(case=batches())
@settings(max_examples=25)
def test_matrices_are_symmetric(case):
    case = Case(*(torch.asarray(a) for a in case[:7]), case.eps, case.axis)
    for name, matrix in [("jvp", jacobian(case)), ("hvp", hessian(case))]:
        compare(matrix, matrix.T, name, case)


@given(case=batches())
@settings(max_examples=25)
def test_projection_without_epsilon_projects(case):
    """P P = P, P 1 = 0, P yhat = 0, and its trace is m - 2."""
    P, yhat, m = dense.projection(case.y), batchnorm.normalize(case.y), len(case.y)
    y = case.y[:, None]
    assert_close(P @ P, P, m**0.5, y)
    assert_close(np.sum(P, axis=1, keepdims=True), np.zeros((m, 1)), m**0.5, y)
    assert_close(P @ yhat[:, None], np.zeros((m, 1)), m**0.5, y)
    assert_close(np.trace(P)[None], np.array([m - 2.0]), m, case.y)


def test_projection_with_epsilon_keeps_a_part_of_the_batch():
    y, eps = np.array([0.0, 0.0, 2.0, 2.0]), 1.0  # variance 1, so eps/(variance + eps) = 1/2
    P, yhat = dense.projection(y, eps), batchnorm.normalize(y, eps)
    assert_close(P @ yhat, yhat / 2, 2.0, y)
    with pytest.raises(AssertionError, match="differ by"):
        assert_close(P @ yhat, 0 * yhat, 2.0, y)


@pytest.mark.parametrize("layout", ["units", "maps"])
def test_comparison_sees_a_planted_mistake(layout):
    case = make_case(layout, 1e-5)
    right = by_autograd(case)
    compare(hessian(case), right, "hvp", case)
    J = jacobian(case)
    for wrong in [
        hessian(case, torch.zeros_like(J)),
        hessian(case._replace(g=-case.g)),
        hessian(case._replace(g=case.g + case.y)),
        torch.flip(hessian(case), (0,)),
        torch.flip(hessian(case), (2,)),
        hessian(case._replace(eps=1e-4)),
    ]:
        with pytest.raises(AssertionError, match="differ by"):
            compare(wrong, right, "hvp", case)
    expected = blocks(jacobian_by_autograd(layer(case), case.y), case)
    m = len(J)
    eye = torch.eye(m, dtype=J.dtype)[:, :, None]
    for wrong in [J + eye / m, -J, J * m / (m - 1), torch.roll(J, 1, 1)]:
        with pytest.raises(AssertionError, match="differ by"):
            compare(wrong, expected, "jvp", case)
