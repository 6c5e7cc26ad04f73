"""What the tests of BNP share: generic networks and losses, and steps with a mistake."""

import torch
from torch import nn

RATE = 0.3

TOLERANCE = 2.0**-53 * 2**12
"""Unit roundoff times what some thousand operations and solving with P may cost."""


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def redrawn(model):
    """The model with generic parameters."""
    for number, parameter in enumerate(model.parameters()):
        parameter.data = drawn(*parameter.shape, seed=number) / parameter[0].numel() ** 0.5
    return model


def dense():
    return redrawn(nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)))


def loss(outputs):
    """A loss that is no sum over examples, and not convex."""
    weights = drawn(*outputs.shape, seed=99)
    return (weights * outputs).sum().square() / 7 + outputs.sin().mean()


def wrong_step(grad_b, grad_W, mean, variance, q_squared, *, change):
    """Steps 4 and 5, with one change."""
    v = variance.sqrt() if change == "deviation" else variance
    q2 = q_squared**0.5 if change == "q" else q_squared
    sign = -1 if change == "sign" else 0 if change == "not centred" else 1
    new_W = (grad_W - sign * grad_b[:, None] * mean) / (q2 * v)
    used = grad_W if change == "at once" else 0 * grad_W if change == "no step 5" else new_W
    new_b = grad_b if change == "bias without q" else grad_b / q2
    return new_b - used @ mean, new_W


def in_place(change):
    """The same, as what changes the gradients of all layers in place."""

    def changed(parts):
        for grad_b, grad_W, *others in parts:
            new = wrong_step(grad_b, grad_W, *others, change=change)
            for gradient, values in zip((grad_b, grad_W), new, strict=True):
                gradient.copy_(values)

    return changed
