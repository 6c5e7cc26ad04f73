"""What the tests of BNP share: generic networks and batches, and what a step makes of gradients."""

import torch
from torch import nn


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def redrawn(model):
    """The model with generic parameters."""
    for number, parameter in enumerate(model.parameters()):
        values = drawn(*parameter.shape, seed=number) / parameter[0].numel() ** 0.5
        parameter.data = values.to(parameter)
    return model


def dense(**options):
    return redrawn(nn.Sequential(nn.Linear(4, 6, **options), nn.Tanh(), nn.Linear(6, 2, **options)))


X = 1.0 + 2.0 * drawn(5, 4, seed=7)


def step(model, bnp, *batches):
    """The gradients after a step of BNP, of all batches together."""
    model.zero_grad()
    for x in batches:
        model(x).square().sum().backward()
    bnp.precondition()
    return [None if p.grad is None else p.grad.clone() for p in model.parameters()]


def alike(found, expected, tolerance=1e-5):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
