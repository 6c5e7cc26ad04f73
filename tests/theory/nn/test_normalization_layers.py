"""Layers that normalise against their formulas written out, number by number, with gradients."""

from functools import partial
from math import inf

import pytest
import torch
from torch import nn

from theory import preconditioning
from theory.nn.batch_group_normalization import BatchGroupNormalization
from theory.nn.batch_renormalization import BatchRenormalization
from theory.nn.lp_normalization import LpNormalization
from theory.nn.post_activation import PostActivation

EPS, RHO, SHARE = 0.05, 0.8, 0.3
TOLERANCE = 2.0**-53 * 2**10

UNITS = [(6, 3), (2, 3), (3, 3, 2, 4), (2, 3, 1, 1)]
GROUPS = [(7, 6), (7, 6, 2, 3)]
lp = partial(LpNormalization, 3, eps=EPS, momentum=1 - RHO)
renormalization = partial(BatchRenormalization, 3, eps=EPS, rho=RHO)
in_groups = partial(BatchGroupNormalization, 6, eps=EPS, rho=RHO, share=SHARE)
behind = partial(PostActivation, eps=EPS, rho=RHO)
LAYERS = {
    "l1": (partial(lp, 1), UNITS),
    "l2": (partial(lp, 2), UNITS),
    "linf": (partial(lp, inf), UNITS),
    "renormalization": (renormalization, UNITS),
    "before a linear layer": (lambda: behind(nn.Linear(3, 2)), [(6, 3), (2, 3)]),
    "before one without bias": (lambda: behind(nn.Linear(3, 2, bias=False)), [(6, 3)]),
    "before a convolution": (lambda: behind(nn.Conv2d(3, 2, (2, 3), stride=2)), [(2, 3, 5, 6)]),
    "all examples": (in_groups, GROUPS),
    "all examples in pairs of channels": (partial(in_groups, channels=2), GROUPS),
    "each example": (partial(in_groups, 1, 2, share=1.0), [*GROUPS, (1, 6)]),
    "ghosts of two": (partial(in_groups, 2, 6, share=0.0), GROUPS),
    "ghosts of three": (partial(in_groups, 3, 3), GROUPS),
    "ghosts larger than the batch": (partial(in_groups, 9), GROUPS),
}
GHOSTS = {None: [7], 1: [1] * 7, 2: [3, 2, 2], 3: [4, 3], 9: [7]}
"""How many examples the ghost batches have of seven."""

CASES = [(name, shape) for name, (_, shapes) in LAYERS.items() for shape in shapes]
every_case = pytest.mark.parametrize(("name", "shape"), CASES)


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def made(name):
    """A layer with generic parameters and averages."""
    layer = LAYERS[name][0]().double()
    for number, (key, values) in enumerate(layer.state_dict().items()):
        generic = drawn(*values.shape, seed=number + 1)
        is_spread = key.endswith(("norm", "deviation", "square"))
        values.copy_(1 + generic.abs() if is_spread else generic / 2)
    return layer


def averages(layer):
    """What is subtracted in evaluation, and what is divided by or is the mean square."""
    if isinstance(layer, LpNormalization):
        return layer.running_mean, layer.running_norm
    if isinstance(layer, BatchGroupNormalization):
        return layer.mean, layer.square
    return layer.running.mean, layer.running.deviation


def spread(layer, h):
    """What each unit, or group, of ``(example, unit, entry)`` is divided by."""
    if not isinstance(layer, LpNormalization):
        return ((h - h.mean((0, 2), keepdim=True)) ** 2).mean((0, 2), keepdim=True).add(EPS) ** 0.5
    if layer.p == inf:
        return h.abs().amax((0, 2), keepdim=True) + EPS
    return ((h.abs() ** layer.p).mean((0, 2), keepdim=True) + EPS) ** (1 / layer.p)


def moved(old, new):
    return RHO * old + (1 - RHO) * new.detach().flatten()


def in_training(layer, y):
    """The normalized batch, and the averages that it leaves."""
    first, second = averages(layer)
    ghosts = GHOSTS[getattr(layer, "examples", None)] if len(y) == 7 else [len(y)]
    normalized = []
    for ghost in y.split(ghosts):
        h = ghost.reshape(len(ghost), len(first), -1)
        mean, scale = h.mean((0, 2), keepdim=True), spread(layer, h)
        z = (h - mean) / scale
        if isinstance(layer, BatchRenormalization):
            z = (z * scale.detach() + mean.detach() - first[:, None]) / second[:, None]
        normalized.append(z.reshape(ghost.shape))
        if isinstance(layer, BatchGroupNormalization):
            scale = (h**2).mean((0, 2))
        first, second = moved(first, mean), moved(second, scale)
    return torch.cat(normalized), (first, second)


def in_evaluation(layer, y):
    """The normalized batch."""
    middle, scale = (values[:, None] for values in averages(layer))
    h = y.reshape(len(y), len(middle), -1)
    if isinstance(layer, BatchGroupNormalization):
        middle = layer.share * h.mean(2, keepdim=True) + (1 - layer.share) * middle
        square = layer.share * (h**2).mean(2, keepdim=True) + (1 - layer.share) * scale
        scale = (square - middle**2 + EPS) ** 0.5
    return ((h - middle) / scale).reshape(y.shape)


def of_normalized(layer, z):
    """The output, of the normalized batch."""
    each = (-1, *(1 for _ in z.shape[2:]))
    z = layer.weight.reshape(each) * z + layer.bias.reshape(each)
    return layer.layer(z) if isinstance(layer, PostActivation) else z


def differences(name, shape):
    """Errors in training: of the output, of all gradients and of the averages."""
    ours, theirs = made(name), made(name)
    y = (2 + 3 * drawn(*shape)).requires_grad_()
    copy = y.detach().clone().requires_grad_()
    normalized, left = in_training(theirs, copy)
    expected, found = of_normalized(theirs, normalized), ours(y)
    for output in (expected, found):
        (drawn(*found.shape, seed=9) * output).sum().backward()
    pairs = [
        (found, expected),
        (y.grad, copy.grad),
        *[(p.grad, q.grad) for p, q in zip(ours.parameters(), theirs.parameters(), strict=True)],
        *zip(averages(ours), left, strict=True),
    ]
    return [float((a - b).abs().max().detach()) for a, b in pairs]


@every_case
def test_training_is_the_formula(name, shape):
    assert max(differences(name, shape)) < TOLERANCE


@every_case
def test_evaluation_is_by_the_averages_and_leaves_them(name, shape):
    layer, y = made(name).eval(), 2 + 3 * drawn(*shape)
    before = {key: values.clone() for key, values in layer.state_dict().items()}
    with torch.no_grad():
        expected = of_normalized(layer, in_evaluation(layer, y))
        torch.testing.assert_close(layer(y), expected, rtol=TOLERANCE, atol=TOLERANCE)
        torch.testing.assert_close(layer(y[:1]), expected[:1], rtol=TOLERANCE, atol=TOLERANCE)
    torch.testing.assert_close(layer.state_dict(), before, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["l1", "l2", "linf"])
def test_first_and_second_derivatives_pass_difference_quotients(name):
    y = drawn(4, 3, seed=7).requires_grad_()
    assert torch.autograd.gradcheck(made(name), y, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(made(name), y)


right_norm = LpNormalization._statistics


def norm_held_fixed(self, y):
    middle, norm = right_norm(self, y)
    return middle, norm.detach()


def not_held_fixed(self, y):
    yhat, mean, deviation = self.running.standardized(y)
    old = self.running.mean.clone(), self.running.deviation.clone()
    self.running.take_in(mean, deviation)
    return (yhat * deviation + mean - old[0]) / old[1]


FAULTS = {
    "the norm held fixed": ("l1", LpNormalization, "_statistics", norm_held_fixed),
    "s, d not held fixed": ("renormalization", BatchRenormalization, "_corrected", not_held_fixed),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_formulas_are_seen(fault, monkeypatch):
    name, *wrong = FAULTS[fault]
    monkeypatch.setattr(*wrong)
    assert max(differences(name, LAYERS[name][1][0])) > 1e-3


POST = [(name, shape) for name, shape in CASES if name.startswith("before")]


@pytest.mark.parametrize(("name", "shape"), POST)
def test_in_evaluation_post_activation_is_a_vanilla_layer(name, shape, monkeypatch):
    layer, h = made(name).eval(), 2 + 3 * drawn(*shape)
    vanilla = layer.vanilla()
    torch.testing.assert_close(vanilla(h), layer(h), rtol=1e-12, atol=1e-12)
    vanilla.weight.data.zero_()  # a copy
    assert layer.layer.weight.any()
    monkeypatch.setattr(preconditioning, "folded", lambda W, b, g, beta, *_: (W * g, b + W @ beta))
    assert (layer.vanilla()(h) - layer(h)).abs().max() > 1e-3


@pytest.mark.parametrize("options", [{"padding": 1}, {"padding": "same"}, {"groups": 3}])
def test_convolutions_that_no_vanilla_layer_equals(options):
    with pytest.raises(ValueError, match="pads its maps or has groups"):
        PostActivation(nn.Conv2d(3, 3, 3, **options)).vanilla()


def test_half_precision_meets_parameters_of_single_precision():
    layer = LpNormalization(3, 2)
    assert layer(drawn(5, 3).to(torch.bfloat16)).dtype == torch.float32
    assert layer.running_norm.dtype == torch.float32


def test_a_unit_that_does_not_vary():
    y = torch.tensor([[1.0, 5.0], [3.0, 5.0]], requires_grad=True)
    assert LpNormalization(2, inf, eps=0.0)(y)[:, 1].tolist() == [0.0, 0.0]
    z = BatchRenormalization(2, rho=0.5)(y)
    assert z[:, 1].tolist() == [5.0, 5.0]
    z = PostActivation(nn.Linear(2, 2))(z) + BatchGroupNormalization(2)(z)
    (z * torch.tensor([[1.0, 2.0], [3.0, 5.0]])).sum().backward()
    assert y.grad.isfinite().all()
