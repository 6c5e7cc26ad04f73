"""The network's own Batch Normalization, against loops over the entries and double backward."""

import math

import numpy as np
import pytest
import torch

from theory.claim import gradient_in_y, hessian_in_y
from verify import primitives
from verify.cases.losses import Loss, quadratic
from verify.cases.strata import STRATA, draw
from verify.witnesses.autograd import TorchNetwork

CASES = {s.name: draw(s, 0, 0) for s in STRATA if s.name not in ("m=1", "large offset")}


def sigma_by_loops(y, eps):
    total = 0.0
    for entry in y:
        total += entry
    mean = total / len(y)
    squares = 0.0
    for entry in y:
        squares += (entry - mean) ** 2
    return mean, math.sqrt(squares / len(y) + eps)


def forward_by_loops(y, gamma, beta, eps):
    mean, sigma = sigma_by_loops(y, eps)
    return [gamma * ((entry - mean) / sigma) + beta for entry in y]


@pytest.mark.parametrize("name", CASES)
def test_the_layer_is_that_of_literal_loops(name):
    case = CASES[name]
    y, m = case.y, len(case.y)
    _, sigma = sigma_by_loops(y.tolist(), float(case.eps))
    np.testing.assert_allclose(
        primitives.standard_deviation(y, m, case.eps, np.sqrt), sigma, rtol=1e-14
    )
    by_loops = forward_by_loops(y.tolist(), 1.0, 0.0, float(case.eps))
    np.testing.assert_allclose(
        primitives.normalize(y, m, case.eps, np.sqrt), by_loops, rtol=1e-11, atol=1e-12
    )
    by_loops = forward_by_loops(y.tolist(), float(case.gamma), float(case.beta), float(case.eps))
    z = primitives.forward(y, m, case.gamma, case.beta, case.eps, np.sqrt)
    np.testing.assert_allclose(z, by_loops, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_the_layer_is_that_of_torch(name):
    case = CASES[name]
    y = torch.tensor(case.y)
    z = torch.nn.functional.batch_norm(
        y[:, None],
        None,
        None,
        torch.tensor([case.gamma]),
        torch.tensor([case.beta]),
        training=True,
        eps=float(case.eps),
    )[:, 0]
    ours = primitives.forward(y, len(y), case.gamma, case.beta, case.eps, torch.sqrt)
    torch.testing.assert_close(ours, z, rtol=1e-9, atol=1e-9)


def test_a_batch_by_hand():
    y = np.array([0.0, 0.0, 2.0, 2.0])
    assert primitives.standard_deviation(y, 4, 3.0, np.sqrt) == 2
    assert primitives.normalize(y, 4, 0.0, np.sqrt).tolist() == [-1, -1, 1, 1]
    assert primitives.forward(y, 4, 2.0, 5.0, 3.0, np.sqrt).tolist() == [4, 4, 6, 6]


def loss(case):
    """A quadratic loss of a case, on tensors."""
    linear, matrix = case.direction, np.outer(case.direction, case.other_direction)
    return Loss(quadratic, (torch.tensor(linear), torch.tensor(matrix + matrix.T)))


def double_backward(f, y, u):
    """Gradient, and Hessian times u, by torch's own tape, run backwards twice."""
    y = y.clone().requires_grad_(True)
    (gradient,) = torch.autograd.grad(f(y), y, create_graph=True)
    (along_u,) = torch.autograd.grad(gradient @ u, y)
    return gradient.detach(), along_u


@pytest.mark.parametrize("name", CASES)
def test_derivatives_of_the_network_are_those_of_double_backward(name):
    case = CASES[name]
    gamma, beta, eps, y, u = (
        torch.tensor(v) for v in (case.gamma, case.beta, case.eps, case.y, case.direction)
    )
    network = TorchNetwork(y, gamma, beta, eps, u, loss(case))

    def written_out(y):
        mean = sum(y) / len(y)
        variance = sum((entry - mean) ** 2 for entry in y) / len(y)
        return loss(case)(gamma * (y - mean) / (variance + eps) ** 0.5 + beta)

    gradient, along_u = double_backward(written_out, y, u)
    torch.testing.assert_close(gradient_in_y(network), gradient, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(hessian_in_y(network, u), along_u, rtol=1e-8, atol=1e-8)


def test_the_network_keeps_what_it_was_given():
    case = CASES["generic"]
    tensors = [torch.tensor(v) for v in (case.y, case.gamma, case.beta, case.eps, case.direction)]
    network = TorchNetwork(*tensors, loss(case))
    linear, matrix = network.loss.parameters
    assert network.m == 8
    torch.testing.assert_close(network.z, network.forward(network.y))
    torch.testing.assert_close(network.g, linear + matrix @ network.z)
    torch.testing.assert_close(network.normalized_loss(network.y), network.loss(network.z))
    torch.testing.assert_close(
        network.normalize(network.y) * network.standard_deviation(network.y),
        network.y - network.y.mean(),
    )


def test_primitives_import_nothing_of_the_theory():
    assert not any("theory" in getattr(v, "__module__", "") for v in vars(primitives).values())
