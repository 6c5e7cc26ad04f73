"""What the tests of BNP in training share: a network in float32 and a step."""

import torch
from torch import nn


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=generator(seed))


def redrawn(model):
    for number, parameter in enumerate(model.parameters()):
        if parameter.ndim:
            parameter.data = drawn(*parameter.shape, seed=number).to(parameter)
    return model


def dense(**options):
    return redrawn(nn.Sequential(nn.Linear(4, 6, **options), nn.Tanh(), nn.Linear(6, 2, **options)))


X = 1.0 + 2.0 * drawn(5, 4, seed=7)


def step(model, bnp, *batches):
    model.zero_grad()
    for x in batches:
        model(x).square().sum().backward()
    bnp.precondition()
    return [None if p.grad is None else p.grad.clone() for p in model.parameters()]


def alike(found, expected, tolerance=1e-5):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
