"""Internal covariate shift against steps that are taken by hand."""

from copy import deepcopy
from math import inf, nan

import pytest
import torch
from torch import nn

from theory.nn.measures.covariate_shift import covariate_shift

RATE = 0.05


def squares(outputs, targets):
    return ((outputs - targets) ** 2).sum() / 2


def instance():
    """Four layers of unlike shapes, one of them normalised, and a batch; float64."""
    generator = torch.Generator().manual_seed(7)
    normalized = nn.Sequential(nn.Linear(3, 4, bias=False), nn.BatchNorm1d(4))
    model = nn.Sequential(normalized, nn.Linear(4, 2), nn.Linear(2, 5), nn.Linear(5, 3)).double()
    for parameter in model.parameters():
        nn.init.normal_(parameter, generator=generator)
    return model, *torch.randn(2, 6, 3, generator=generator, dtype=torch.float64)


def gradients(model, x, y):
    """Of each layer, by its parameters."""
    model.zero_grad()
    squares(model(x), y).backward()
    return [[p.grad for p in layer.parameters()] for layer in model]


def check(is_updated):
    """Compare with layer j updated for layer i as is_updated(j, i) says."""
    model, x, y = instance()
    before = deepcopy(model)
    found = covariate_shift(model, x, y, squares, dict(model.named_children()), RATE)
    torch.testing.assert_close(model.state_dict(), before.state_dict(), rtol=0, atol=0)
    own = gradients(before, x, y)
    for i, shift in enumerate(found.values()):
        moved = deepcopy(model)
        for j, layer in enumerate(moved):
            for parameter, gradient in zip(layer.parameters(), own[j], strict=True):
                parameter.data -= RATE * gradient * is_updated(j, i)
        G, after = (
            torch.cat([g.flatten() for g in each[i]]) for each in (own, gradients(moved, x, y))
        )
        cosine = float(G @ after / G.norm() / after.norm())
        expected = (float((G - after).norm()), cosine, float(G.norm()))
        seen = (shift.difference, shift.cosine, shift.gradient_norm)
        assert seen == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_only_the_layers_before_are_updated():
    check(lambda j, i: j < i)


@pytest.mark.parametrize(
    "is_updated", [lambda j, i: j <= i, lambda j, i: j == i - 1, lambda j, i: j != i]
)
def test_with_other_layers_updated_it_is_another_number(is_updated):
    with pytest.raises(AssertionError):
        check(is_updated)


@pytest.mark.parametrize(
    ("scale", "rate", "expected"),
    [
        (0.0, RATE, [(0.0, None), (0.0, None)]),
        (1.0, 1e308, [(0.0, pytest.approx(1.0)), (inf, None)]),
    ],
    ids=["a gradient of zero has no cosine", "an update that overflows is an infinite shift"],
)
def test_degenerate_shifts(scale, rate, expected):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    for parameter in model.parameters():
        parameter.data *= scale
    layers, batch = dict(model.named_children()), (torch.ones(3, 2), torch.zeros(3, 2))
    found = covariate_shift(model, *batch, squares, layers, rate).values()
    assert [(s.difference, s.cosine) for s in found] == expected


def test_what_is_refused():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    ones = torch.ones(3, 2)
    for x, layers, message in (
        (ones, {}, "no layers are given"),
        (ones, {"u": model, "v": model[1]}, "u, v share a parameter"),
        (ones * inf, {"u": model[0]}, r"gradient in u is not finite.*smaller learning rate"),
    ):
        with pytest.raises(ValueError, match=message):
            covariate_shift(model, x, ones, squares, layers, RATE)


@pytest.mark.parametrize(
    ("rate", "error"),
    [(0.0, ValueError), (-1.0, ValueError), (inf, ValueError), (nan, ValueError), ("1", TypeError)],
)
def test_a_learning_rate_that_is_none_is_refused(rate, error):
    model, x, y = instance()
    with pytest.raises(error, match=r"learning_rate .*; expected a finite number > 0"):
        covariate_shift(model, x, y, squares, dict(model.named_children()), rate)
