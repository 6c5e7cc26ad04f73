"""Batch Renormalization against (3) written out, with s and d as numbers."""

import pytest
import torch
from torch import nn

from theory import batchnorm
from theory.nn.batch_renormalization import BatchRenormalization
from theory.nn.moving_statistics import MovingStatistics
from theory.nn.normalization import normalization

EPS, RHO = 0.05, 0.8
SHAPES = [(6, 3), (2, 3), (3, 3, 2, 4), (2, 3, 1, 1)]
TOLERANCE = 2.0**-53 * 2**10


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def generic():
    """A layer with generic parameters and averages."""
    layer = BatchRenormalization(3, eps=EPS, rho=RHO).double()
    layer.weight.data, layer.bias.data = drawn(3, seed=1), drawn(3, seed=2)
    layer.running.mean.copy_(drawn(3, seed=3))
    layer.running.deviation.copy_(drawn(3, seed=4).abs() + 0.3)
    return layer


def by_hand(layer, y):
    """The formula for training, unit by unit, and the new averages."""
    z, averages = torch.empty_like(y), []
    for unit in range(y.shape[1]):
        h = y[:, unit]
        mean = h.sum() / h.numel()
        deviation = (((h - mean) ** 2).sum() / h.numel() + EPS) ** 0.5
        mu, sigma = float(layer.running.mean[unit]), float(layer.running.deviation[unit])
        s, d = float(deviation.detach()) / sigma, (float(mean.detach()) - mu) / sigma
        z[:, unit] = layer.weight[unit] * ((h - mean) / deviation * s + d) + layer.bias[unit]
        pair = mean.detach(), deviation.detach()
        averages.append((RHO * mu + (1 - RHO) * pair[0], RHO * sigma + (1 - RHO) * pair[1]))
    return z, torch.tensor(averages, dtype=torch.float64)


def differences(y):
    """Errors of the values, of the gradients in y, gamma and beta, and of the new averages."""
    ours, theirs = generic(), generic()
    g = drawn(*y.shape, seed=5)
    y, copy = y.clone().requires_grad_(), y.clone().requires_grad_()
    expected, averages = by_hand(theirs, copy)
    found = ours(y)
    (g * found).sum().backward()
    (g * expected).sum().backward()
    pairs = [
        (found, expected),
        (y.grad, copy.grad),
        (ours.weight.grad, theirs.weight.grad),
        (ours.bias.grad, theirs.bias.grad),
        (ours.running.mean, averages[:, 0]),
        (ours.running.deviation, averages[:, 1]),
    ]
    return [float((a - b).abs().max().detach()) for a, b in pairs]


@pytest.mark.parametrize("shape", SHAPES)
def test_training_is_the_formula(shape):
    assert max(differences(2.0 + 3.0 * drawn(*shape))) < TOLERANCE


@pytest.mark.parametrize("shape", SHAPES)
def test_both_formulas_have_the_same_values(shape):
    y = 2.0 + 3.0 * drawn(*shape)
    torch.testing.assert_close(generic()(y), generic().eval()(y), rtol=1e-13, atol=1e-13)


def test_the_gradient_is_that_of_batch_normalization_times_s():
    y = (2.0 + 3.0 * drawn(6, 3)).requires_grad_()
    g, layer = drawn(6, 3, seed=5), generic()
    s = batchnorm.standard_deviation(y, EPS).detach() / layer.running.deviation
    (g * layer(y)).sum().backward()
    expected = s * batchnorm.gradient(y.detach(), g, layer.weight.detach(), EPS)
    torch.testing.assert_close(y.grad, expected, rtol=1e-12, atol=1e-13)


def test_with_two_examples_next_to_nothing_is_passed_below():
    y = (2.0 + 3.0 * drawn(2, 3)).requires_grad_()
    layer = BatchRenormalization(3, eps=1e-12).double()
    (drawn(2, 3, seed=5) * layer(y)).sum().backward()
    assert y.grad.abs().max() < 1e-9


WRONG = {
    "gradients pass through s": lambda yhat, mean, deviation, mu, sigma: (
        yhat * deviation / sigma + (mean.detach() - mu) / sigma
    ),
    "gradients pass through d": lambda yhat, mean, deviation, mu, sigma: (
        yhat * deviation.detach() / sigma + (mean - mu) / sigma
    ),
    "s is inverted": lambda yhat, mean, deviation, mu, sigma: (
        yhat * (sigma / deviation).detach() + ((mean - mu) / sigma).detach()
    ),
    "d has the other sign": lambda yhat, mean, deviation, mu, sigma: (
        yhat * (deviation / sigma).detach() - ((mean - mu) / sigma).detach()
    ),
    "s has no epsilon": lambda yhat, mean, deviation, mu, sigma: (
        yhat * ((deviation**2 - EPS).sqrt() / sigma).detach() + ((mean - mu) / sigma).detach()
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_formulas_are_seen(name, monkeypatch):
    def wrong(self, y):
        yhat, mean, deviation = self.running.standardized(y)
        of_units = (self.running.mean.clone(), self.running.deviation.clone())
        self.running.take_in(mean, deviation)
        return WRONG[name](yhat, mean, deviation, *of_units)

    monkeypatch.setattr(BatchRenormalization, "_corrected", wrong)
    assert max(differences(2.0 + 3.0 * drawn(6, 3))) > 1e-3


def test_averages_taken_in_too_early_are_seen(monkeypatch):
    right = MovingStatistics.standardized

    def early(self, y):
        found = right(self, y)
        self.take_in(*found[1:])
        return found

    monkeypatch.setattr(MovingStatistics, "standardized", early)
    assert max(differences(2.0 + 3.0 * drawn(6, 3))) > 1e-3


def test_variances_in_place_of_deviations_are_seen(monkeypatch):
    right = MovingStatistics.take_in
    monkeypatch.setattr(
        MovingStatistics, "take_in", lambda self, mean, deviation: right(self, mean, deviation**2)
    )
    assert max(differences(2.0 + 3.0 * drawn(6, 3))) > 1e-3


def test_a_unit_that_does_not_vary_passes_its_value_through():
    layer = BatchRenormalization(2, rho=0.5)
    y = torch.tensor([[1.0, 5.0], [3.0, 5.0]], requires_grad=True)
    z = layer(y)
    assert z[:, 1].tolist() == [5.0, 5.0]
    (z * torch.tensor([[1.0, 2.0], [3.0, 5.0]])).sum().backward()
    assert y.grad.isfinite().all()


def test_evaluation_changes_nothing():
    layer = generic().eval()
    before = {k: v.clone() for k, v in layer.state_dict().items()}
    z = layer(drawn(1, 3))
    assert z.shape == (1, 3)
    torch.testing.assert_close(layer.state_dict(), before, rtol=0, atol=0)


def test_it_is_chosen_by_its_name():
    layer = normalization("batch-renormalization", 3, rank=4)
    assert isinstance(layer, BatchRenormalization)
    assert (layer.weight.shape, layer.bias.shape, layer.eps) == ((3,), (3,), 1e-5)
    nn.Sequential(layer)(torch.randn(2, 3, 2, 2))


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (torch.ones(1, 3), ValueError, r"shape \(1, 3\), so 1 entries for each unit; expected at"),
        (torch.ones(4, 2), ValueError, "expected 3 units on axis 1"),
        (torch.ones(3), ValueError, "expected 3 units on axis 1"),
        (torch.ones(4, 3, dtype=torch.int64), TypeError, "expected floats"),
    ],
)
def test_degenerate_batches_are_refused(y, error, message):
    with pytest.raises(error, match=message):
        BatchRenormalization(3)(y)


@pytest.mark.parametrize(("name", "value"), [("eps", 0.0), ("eps", -1.0), ("rho", 1.0)])
def test_constants_out_of_range(name, value):
    with pytest.raises(ValueError, match=f"{name} = {value}"):
        BatchRenormalization(3, **{name: value})
