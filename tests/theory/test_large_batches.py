"""Batches larger than a CPU's cache, here of nine entries: summed in halves, written over.

They take another way through memory only: what comes of it, and its derivatives, are the same.
"""

import warnings

import numpy as np
import pytest
import torch

from theory import batchnorm
from theory.arithmetic import inner, operations, summed

AXES = {(7, 3): 0, (4, 3, 2, 2): (0, 2, 3), (2, 3, 5): (1, -3), (3, 2, 4): 2}
FEW, NONE = 8, 2**40


def drawn(shape, axis):
    """A batch, a gradient, a direction, a diagonal Hessian, and gamma."""
    generator = torch.Generator().manual_seed(0)
    axes = {i % len(shape) for i in (axis if isinstance(axis, tuple) else (axis,))}
    units = [1 if i in axes else n for i, n in enumerate(shape)]
    shapes = [shape] * 4 + [units]
    return [torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes]


def of_tensors(axis):
    """The Hessian-vector product as a function of tensors alone."""
    return lambda y, g, u, h, gamma: batchnorm.hvp(y, g, lambda w: h * w, u, gamma, 1e-3, axis)


def both(monkeypatch, function):
    """What a function returns where nothing is large, and where nearly everything is."""
    found = []
    for entries in (NONE, FEW):
        monkeypatch.setattr(operations, "_ENTRIES_AT_ONCE", entries)
        found.append(function())
    return found


@pytest.mark.parametrize("shape", AXES)
def test_a_large_batch_has_the_derivatives_of_a_small_one(shape, monkeypatch):
    tensors = [x.requires_grad_() for x in drawn(shape, AXES[shape])]

    def derivatives():
        result = of_tensors(AXES[shape])(*tensors)
        first = torch.autograd.grad(result.sin().sum(), tensors, create_graph=True)
        second = torch.autograd.grad(sum(x.sin().sum() for x in first), tensors)
        return result, *first, *second

    small, large = both(monkeypatch, derivatives)
    torch.testing.assert_close(large, small, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("wanted", range(5))
def test_each_argument_alone_may_ask_for_derivatives(wanted, monkeypatch):
    monkeypatch.setattr(operations, "_ENTRIES_AT_ONCE", FEW)
    tensors = drawn((7, 3), 0)
    tensors[wanted].requires_grad_()
    assert torch.autograd.gradcheck(of_tensors(0), tensors, check_forward_ad=True)


def test_a_large_batch_is_mapped_without_loops(monkeypatch):
    copies = [torch.stack([x, 2 * x]) for x in drawn((7, 3), 0)]
    with warnings.catch_warnings(action="error"):
        small, large = both(monkeypatch, lambda: torch.vmap(of_tensors(0))(*copies))
    torch.testing.assert_close(large, small, rtol=0, atol=0)


def test_what_is_given_is_not_written_over(monkeypatch):
    monkeypatch.setattr(operations, "_ENTRIES_AT_ONCE", FEW)
    y, g, u, h, gamma = drawn((7, 3), 0)
    before = [x.clone() for x in (y, g, u, h)]
    batchnorm.hvp(y, g, lambda w: h, u, gamma)
    torch.testing.assert_close([y, g, u, h], before, rtol=0, atol=0)


@pytest.mark.parametrize("wide", range(5))
def test_an_argument_of_a_wider_dtype_widens_the_result(wide, monkeypatch):
    tensors = [x if i == wide else x.float() for i, x in enumerate(drawn((7, 3), 0))]
    small, large = both(monkeypatch, lambda: of_tensors(0)(*tensors))
    assert large.dtype == small.dtype == torch.float64


def test_sums_of_a_large_batch_are_those_of_its_halves(monkeypatch):
    monkeypatch.setattr(operations, "_ENTRIES_AT_ONCE", FEW)
    seen = []

    def squares(a):
        seen.append(len(a))
        return (inner(a, a),)

    a = torch.arange(21.0).reshape(7, 3)
    (found,) = summed(squares, a)
    assert seen == [2, 2, 2, 1]
    np.testing.assert_array_equal(found, (a**2).sum(0, keepdim=True))


def test_a_large_mean_of_what_the_hessian_gives_costs_no_digits():
    """The centred batch, far from zero, does not add up to zero by its rounding."""
    y, g, u, a = (x[:, :1] for x in torch.randn(4, 64, 2, generator=torch.manual_seed(0)))
    y = y + 1000
    single, double = (
        batchnorm.hvp(y.to(t), g.to(t), lambda w, t=t: w + 100 * (a.to(t) * w).sum(), u.to(t))
        for t in (torch.float32, torch.float64)
    )
    assert (single - double).abs().max() <= 1e-4 * double.abs().max()
