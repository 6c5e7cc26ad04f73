"""The network's own Batch Normalization, against PyTorch's and double backward."""

from functools import partial

import numpy as np
import pytest
import torch

from verify import primitives
from verify.subjects.losses import Loss, quadratic
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.unit import Batch
from verify.subjects.unit_strata import STRATA, draw
from verify.witnesses.autograd import CALCULUS

CASES = {s.name: draw(s, 0, 0) for s in STRATA if s.name not in ("m=1", "large offset")}


def test_a_batch_by_hand():
    y = np.array([0.0, 0.0, 2.0, 2.0])
    assert primitives.standard_deviation(y, 4, 3.0, np.sqrt) == 2
    assert primitives.normalize(y, 4, 0.0, np.sqrt).tolist() == [-1, -1, 1, 1]
    assert primitives.forward(y, 4, 2.0, 5.0, 3.0, np.sqrt).tolist() == [4, 4, 6, 6]


def torch_layer(y, gamma, beta, eps):
    scale, shift = gamma[None], beta[None]
    batch = y[:, None]
    return torch.nn.functional.batch_norm(batch, None, None, scale, shift, True, eps=eps)[:, 0]


@pytest.mark.parametrize("name", CASES)
def test_the_network_and_its_derivatives_are_those_of_torch(name):
    case = CASES[name]
    numbers = (case.y, case.gamma, case.beta, case.eps, case.direction)
    y, gamma, beta, eps, u = map(torch.tensor, numbers)
    half = np.outer(case.direction, case.other_direction)
    loss = Loss(quadratic, (torch.tensor(case.other_direction), torch.tensor(half + half.T)))
    batch = Batch(y=y, gamma=gamma, beta=beta, eps=eps, direction=u, other_direction=u)
    network = PrimitiveNetwork(batch, len(y), loss, CALCULUS)

    y = y.clone().requires_grad_(True)
    z = torch_layer(y, gamma, beta, float(eps))
    (gradient,) = torch.autograd.grad(loss(z), y, create_graph=True)
    (along_u,) = torch.autograd.grad(gradient @ u, y)

    ours = primitives.forward(network.y, len(y), gamma, beta, eps, torch.sqrt)
    torch.testing.assert_close(ours, z.detach(), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(network.z, ours)
    slope = partial(network.gradient, network.normalized_loss)
    torch.testing.assert_close(slope(network.y), gradient.detach(), rtol=1e-9, atol=1e-9)
    curved = network.derivative(slope, network.y, u)
    torch.testing.assert_close(curved, along_u, rtol=1e-8, atol=1e-8)
    linear, matrix = loss.parameters
    torch.testing.assert_close(network.g, linear + matrix @ network.z)
    torch.testing.assert_close(network.normalized_loss(network.y), loss(network.z))
    torch.testing.assert_close(
        network.normalize(network.y) * network.standard_deviation(network.y),
        network.y - network.y.mean(),
    )
