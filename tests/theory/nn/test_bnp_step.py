"""BNP leaves (1/q^2) P P^T times the gradient, with P as a matrix from Algorithms 2 and 3."""

import pytest
import torch
from bnp_training import drawn, redrawn
from torch import nn

from theory.nn.bnp import BNP

RHO, EPS_1, EPS_2 = 0.7, 0.03, 0.002

TOLERANCE = 2.0**-53 * 2**12
"""Unit roundoff times what some thousand operations may cost."""

LAYERS = {
    "dense": lambda: [nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)],
    "without biases": lambda: [nn.Linear(5, 7, bias=False), nn.Tanh(), nn.Linear(7, 3, bias=False)],
    "convolutional": lambda: [
        nn.Conv2d(4, 6, (3, 2), stride=2, dilation=(1, 2), padding=1),
        nn.Tanh(),
        nn.Conv2d(6, 4, 3, padding=1, groups=2),
        nn.Flatten(),
        nn.Linear(36, 2),
    ],
    "one layer": lambda: [nn.Linear(5, 3)],
    "kernel of the map's size": lambda: [nn.Conv2d(3, 5, 2)],
}
# More examples than inputs of a layer, fewer, and one.
SUBJECTS = {
    "dense": ("dense", (8, 5)),
    "dense, few examples": ("dense", (3, 5)),
    "one example": ("dense", (1, 5)),
    "one layer": ("one layer", (4, 5)),
    "without biases": ("without biases", (8, 5)),
    "few images": ("convolutional", (5, 4, 6, 5)),
    "many images": ("convolutional", (20, 4, 6, 5)),
    "one image": ("convolutional", (1, 4, 6, 5)),
    "kernel of the map's size": ("kernel of the map's size", (4, 3, 2, 2)),
}


def subject(name):
    layers, shape = SUBJECTS[name]
    model = redrawn(nn.Sequential(*LAYERS[layers]()).double())
    return model, 2.0 + 3.0 * drawn(*shape, seed=9).double()


def loss(outputs):
    """A loss that is no sum over examples, and not convex."""
    weights = drawn(*outputs.shape, seed=99).double()
    return (weights * outputs).sum().square() / 7 + outputs.sin().mean()


def squared_preconditioner(mean, variance, entries, examples, outputs_each):
    """P P^T / q^2 of a layer, or of one group of a convolution."""
    guarded = variance + EPS_1 * variance.max() + EPS_2
    mean, guarded = (values.repeat_interleave(entries) for values in (mean, guarded))
    P = torch.diag(torch.cat([torch.ones(1), guarded**-0.5]))
    P[0, 1:] = -mean * guarded**-0.5
    return P @ P.T / max(len(mean) / examples, outputs_each**0.5)


def literal_gradients(model, x):
    """What a first step is to leave, by parameter."""
    given = {}
    for layer in model:
        given[layer] = x
        x = layer(x)
    loss(x).backward()
    found = {}
    for layer, h in given.items():
        if not hasattr(layer, "weight"):
            continue
        numbers = h.detach().movedim(1, 0).flatten(1)
        mean = numbers.mean(1, keepdim=True)
        around = 0 if numbers.shape[1] == 1 else mean  # one alone: around the running mean
        variance = RHO + (1 - RHO) * ((numbers - around) ** 2).mean(1)
        mean = (1 - RHO) * mean[:, 0]
        if layer.bias is None:
            mean, variance = 0 * mean, variance + mean**2
        weight = layer.weight.grad.flatten(1)
        bias = weight.new_zeros(len(weight)) if layer.bias is None else layer.bias.grad
        groups, entries = getattr(layer, "groups", 1), layer.weight[0, 0].numel()
        parts = zip(
            torch.cat([bias[:, None], weight], 1).chunk(groups),
            mean.chunk(groups),
            variance.chunk(groups),
            strict=True,
        )
        each = layer(h)[0, 0].numel()
        new = torch.cat(
            [g @ squared_preconditioner(m, v, entries, len(h), each) for g, m, v in parts]
        )
        found[layer.weight] = new[:, 1:].reshape(layer.weight.shape)
        if layer.bias is not None:
            found[layer.bias] = new[:, 0]
    model.zero_grad()
    return found


def error(model, x, **options):
    """The largest error of a gradient, relative to its largest entry."""
    expected = literal_gradients(model, x)
    bnp = BNP(model, rho=RHO, eps_1=EPS_1, eps_2=EPS_2, **options)
    loss(model(x)).backward()
    bnp.precondition()
    bnp.remove()
    return max(float((p.grad - g).abs().max() / g.abs().max()) for p, g in expected.items())


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_step_is_that_of_algorithms_2_and_3(name):
    assert error(*subject(name)) < TOLERANCE


@pytest.mark.parametrize("name", SUBJECTS)
def test_what_is_to_be_compiled_does_the_same(name, monkeypatch):
    compiled = []
    monkeypatch.setattr(torch, "compile", lambda steps, **_: compiled.append(steps) or steps)
    assert error(*subject(name), compiled=True) < TOLERANCE
    assert compiled
