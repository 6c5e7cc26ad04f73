"""What the preconditioner is for: a step, a Hessian, and what a step costs."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from preconditioning_cases import algorithm, assert_same, by_loops, floats
from test_operations import to_numpy

from theory import preconditioning


def test_gradient_step_on_the_normalized_network_is_a_preconditioned_step_on_the_folded():
    """Prop. 7 with q = 1: statistics of the batch, through which no gradient passes."""
    c, step = floats(torch.asarray), 0.1
    mean, deviation = preconditioning.means(c.H), preconditioning.standard_deviations(c.H)
    G = preconditioning.features(c.H, mean, deviation)

    def fold(W, b):
        return preconditioning.folded(W, b, 1, 0, mean, deviation)

    def gradients(W, b, inputs):
        def loss(W, b):
            return torch.logsumexp(inputs @ W.T + b, 1).mean()

        return torch.func.grad(loss, (0, 1))(W, b)

    grad_W, grad_b = gradients(c.W, c.b, G)
    expected = fold(c.W - step * grad_W, c.b - step * grad_b)

    What, bhat = fold(c.W, c.b)
    grad_W, grad_b = gradients(What, bhat, c.H)

    def stepped(q_squared):
        G_b, G_W = preconditioning.preconditioned_gradient(
            grad_b, grad_W, mean, deviation**2, q_squared=q_squared
        )
        return What - step * G_W, bhat - step * G_b

    for actual, other, scaled in zip(stepped(1), expected, stepped(1.5), strict=True):
        assert_same(actual, to_numpy(other))
        with pytest.raises(AssertionError):
            assert_same(scaled, to_numpy(other))


def test_unit_hessian_is_what_autograd_computes():
    c = floats(torch.asarray)
    Hhat, N = preconditioning.augmented(c.H), len(c.H)
    targets, what = c.curvature, torch.cat([c.b[:1], c.W[0]]) / 8

    def mean_loss(a):
        return (torch.nn.functional.softplus(a) - targets * a**2).mean()

    def coupled_loss(a):
        return mean_loss(a - a.mean())

    hessian = torch.func.hessian(lambda w: mean_loss(Hhat @ w))(what)
    curvature = torch.func.hessian(mean_loss)(Hhat @ what)
    assert_same(preconditioning.unit_hessian(c.H, torch.diagonal(curvature)), to_numpy(hessian))
    double = N * torch.diagonal(curvature)
    with pytest.raises(AssertionError):
        assert_same(preconditioning.unit_hessian(c.H, double), to_numpy(hessian))

    hessian = torch.func.hessian(lambda w: coupled_loss(Hhat @ w))(what)
    curvature = torch.func.hessian(coupled_loss)(Hhat @ what)
    assert_same(preconditioning.unit_hessian(c.H, curvature), to_numpy(hessian))
    alone = torch.diagonal(curvature)
    with pytest.raises(AssertionError):
        assert_same(preconditioning.unit_hessian(c.H, alone), to_numpy(hessian))


class Counted:
    """A number that counts what is done with it."""

    operations = 0

    def _counted(self, other):
        if isinstance(other, np.ndarray):
            return NotImplemented  # entry by entry
        Counted.operations += 1
        return Counted()

    __add__ = __radd__ = __sub__ = __rsub__ = _counted
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _counted

    def __pow__(self, power):
        return self


def test_one_step_takes_five_operations_for_each_weight():
    """Algorithm 2 as printed takes six: it divides each weight by q^2 besides."""
    p, n = 7, 11

    def entries(*shape):
        return by_loops(lambda *index: Counted(), *shape)

    c = SimpleNamespace(b=entries(p), W=entries(p, n), mean=entries(n), variance=entries(n))
    Counted.operations = 0
    preconditioning.preconditioned_gradient(c.b, c.W, c.mean, c.variance, q_squared=Counted())
    assert Counted.operations == 5 * p * n + n + p

    Counted.operations = 0
    algorithm(c, q_squared=Counted())
    signs, zeros = p * n, p  # what the loops here multiply by -1, and add to the first 0
    assert Counted.operations - signs - zeros == 6 * p * n + p
