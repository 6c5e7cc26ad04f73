"""Internal covariate shift by hand, and with the wrong layers updated."""

from itertools import pairwise

import pytest
import torch
from torch import nn

from theory.nn.measures.covariate_shift import CovariateShift, covariate_shift

RATE = 0.05
NAMES = ("a", "b", "c", "d")


def chain(generator):
    """Four bias-free linear layers of unlike shapes, float64."""
    widths = [3, 4, 2, 5, 3]
    layers = [nn.Linear(n, m, bias=False) for n, m in pairwise(widths)]
    for layer in layers:
        nn.init.normal_(layer.weight, generator=generator)
    return nn.Sequential(*layers).double()


def squares(outputs, targets):
    return ((outputs - targets) ** 2).sum() / 2


def gradients(weights, x, y):
    """The chain's gradients by hand: left factors' transpose, times error times inputs."""
    error = x
    for w in weights:
        error = error @ w.T
    error = error - y
    by_layer = []
    for i in range(len(weights)):
        inputs, back = x, error
        for w in weights[:i]:
            inputs = inputs @ w.T
        for w in reversed(weights[i + 1 :]):
            back = back @ w
        by_layer.append(back.T @ inputs)
    return by_layer


def by_hand(weights, x, y, is_updated):
    """Differences and cosines where layer j is updated for layer i as is_updated(j, i) says."""
    before = gradients(weights, x, y)
    found = []
    for i, own in enumerate(before):
        moved = [
            w - RATE * g if is_updated(j, i) else w
            for j, (w, g) in enumerate(zip(weights, before, strict=True))
        ]
        after = gradients(moved, x, y)[i]
        cosine = (own * after).sum() / own.norm() / after.norm()
        found.append((float((own - after).norm()), float(cosine)))
    return found


@pytest.fixture(scope="module")
def instance():
    generator = torch.Generator().manual_seed(7)
    model = chain(generator)
    x = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    y = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    layers = dict(zip(NAMES, model, strict=True))
    found = covariate_shift(model, x, y, squares, layers, RATE)
    return found, [layer.weight.detach() for layer in model], x, y


def check(found, weights, x, y, is_updated=lambda j, i: j < i):
    for shift, (difference, cosine) in zip(
        found.values(), by_hand(weights, x, y, is_updated), strict=True
    ):
        assert shift.difference == pytest.approx(difference, rel=1e-10, abs=1e-12)
        assert shift.cosine == pytest.approx(cosine, rel=1e-10)


def test_only_the_layers_before_are_updated(instance):
    check(*instance)
    found, weights, x, y = instance
    assert tuple(found) == NAMES
    assert (found["a"].difference, found["a"].cosine) == (0.0, pytest.approx(1.0))
    norms = [float(g.norm()) for g in gradients(weights, x, y)]
    assert [shift.gradient_norm for shift in found.values()] == pytest.approx(norms)


@pytest.mark.parametrize(
    "is_updated",
    [
        lambda j, i: j <= i,
        lambda j, i: j == i - 1,
        lambda j, i: j > i,
        lambda j, i: j != i,
        lambda j, i: True,
        lambda j, i: False,
    ],
    ids=["itself too", "only the last", "those after", "all others", "all", "none"],
)
def test_with_other_layers_updated_it_is_another_number(instance, is_updated):
    with pytest.raises(AssertionError):
        check(*instance, is_updated)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda s: CovariateShift(s.difference**2, s.cosine, s.gradient_norm),
        lambda s: CovariateShift(s.difference / s.gradient_norm, s.cosine, s.gradient_norm),
        lambda s: CovariateShift(s.difference, s.cosine * s.gradient_norm**2, s.gradient_norm),
        lambda s: CovariateShift(s.difference, 1 - s.cosine, s.gradient_norm),
    ],
    ids=["squared", "relative", "no cosine", "distance"],
)
def test_wrong_numbers_are_noticed(instance, wrong):
    found, *rest = instance
    with pytest.raises(AssertionError):
        check({name: wrong(shift) for name, shift in found.items()}, *rest)


def test_batch_norm_uses_the_batchs_statistics_and_keeps_its_running_ones():
    torch_generator = torch.Generator().manual_seed(2)
    x = torch.randn(8, 3, generator=torch_generator, dtype=torch.float64)
    y = torch.randn(8, 2, generator=torch_generator, dtype=torch.float64)
    first = nn.Sequential(nn.Linear(3, 3, bias=False), nn.BatchNorm1d(3))
    model = nn.Sequential(first, nn.Linear(3, 2, bias=False)).double()
    nn.init.normal_(first[0].weight, generator=torch_generator)
    nn.init.normal_(model[1].weight, generator=torch_generator)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    layers = {"first": first, "last": model[1]}
    found = covariate_shift(model, x, y, squares, layers, RATE)
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())

    def last_gradient():
        model.zero_grad()
        squares(model(x), y).backward()
        return model[1].weight.grad.clone()

    own = last_gradient()
    with torch.no_grad():
        for parameter in first.parameters():  # weight, scale and shift are all the layer's
            parameter -= RATE * parameter.grad
    expected = float((own - last_gradient()).norm())
    assert found["last"].difference == pytest.approx(expected, rel=1e-10)


def test_a_gradient_of_zero_has_no_cosine():
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    for layer in model:
        nn.init.zeros_(layer.weight)
    found = covariate_shift(
        model, torch.ones(3, 2), torch.ones(3, 2), squares, dict(model.named_children()), RATE
    )
    assert [(s.difference, s.cosine) for s in found.values()] == [(0.0, None)] * 2


def test_an_update_that_overflows_is_an_infinite_shift():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    batch = torch.ones(3, 2), torch.zeros(3, 2)
    layers = dict(model.named_children())
    shifts = covariate_shift(model, *batch, squares, layers, learning_rate=1e38).values()
    assert [(s.difference, s.cosine) for s in shifts] == [
        (0.0, pytest.approx(1.0)),
        (float("inf"), None),
    ]


def test_what_is_refused():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    batch = torch.ones(3, 2), torch.ones(3, 2)
    with pytest.raises(ValueError, match="no layers are given"):
        covariate_shift(model, *batch, squares, {}, RATE)
    with pytest.raises(ValueError, match="u, v share a parameter"):
        covariate_shift(model, *batch, squares, {"u": model, "v": model[1]}, RATE)
    infinite = torch.full((3, 2), float("inf"))
    with pytest.raises(ValueError, match=r"gradient in u is not finite.*smaller learning rate"):
        covariate_shift(model, infinite, batch[1], squares, {"u": model[0]}, RATE)
