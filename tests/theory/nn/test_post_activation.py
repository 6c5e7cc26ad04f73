"""Post-activation Batch Normalization against Algorithm 1 written out, and its vanilla layer."""

import pytest
import torch
from torch import nn

from theory import preconditioning
from theory.nn.moving_statistics import MovingStatistics
from theory.nn.post_activation import PostActivation

EPS, RHO = 0.05, 0.8
TOLERANCE = 2.0**-53 * 2**10
SUBJECTS = {
    "linear": (lambda: nn.Linear(3, 2), (6, 3)),
    "two examples": (lambda: nn.Linear(3, 2, bias=False), (2, 3)),
    "convolution": (lambda: nn.Conv2d(3, 2, (2, 3), stride=2), (2, 3, 5, 6)),
}


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def generic(build):
    layer = build().double()
    for number, parameter in enumerate(layer.parameters()):
        parameter.data = drawn(*parameter.shape, seed=10 + number)
    behind = PostActivation(layer, eps=EPS, rho=RHO)
    behind.weight.data, behind.bias.data = drawn(3, seed=1), drawn(3, seed=2)
    behind.running.mean.copy_(drawn(3, seed=3))
    behind.running.deviation.copy_(drawn(3, seed=4).abs() + 0.3)
    return behind


def by_hand(behind, h):
    """Algorithm 1 unit by unit, then the layer."""
    normalized, averages = torch.empty_like(h), []
    for unit in range(h.shape[1]):
        x = h[:, unit]
        mean = x.sum() / x.numel()
        deviation = (((x - mean) ** 2).sum() / x.numel() + EPS) ** 0.5
        normalized[:, unit] = behind.weight[unit] * (x - mean) / deviation + behind.bias[unit]
        mu, sigma = float(behind.running.mean[unit]), float(behind.running.deviation[unit])
        pair = mean.detach(), deviation.detach()
        averages.append((RHO * mu + (1 - RHO) * pair[0], RHO * sigma + (1 - RHO) * pair[1]))
    return behind.layer(normalized), torch.tensor(averages, dtype=torch.float64)


def differences(name):
    build, shape = SUBJECTS[name]
    ours, theirs = generic(build), generic(build)
    h = (2.0 + 3.0 * drawn(*shape)).requires_grad_()
    copy = h.detach().clone().requires_grad_()
    expected, averages = by_hand(theirs, copy)
    found = ours(h)
    g = drawn(*found.shape, seed=5)
    (g * found).sum().backward()
    (g * expected).sum().backward()
    pairs = [
        (found, expected),
        (h.grad, copy.grad),
        *[(p.grad, q.grad) for p, q in zip(ours.parameters(), theirs.parameters(), strict=True)],
        (ours.running.mean, averages[:, 0]),
        (ours.running.deviation, averages[:, 1]),
    ]
    return [float((a - b).abs().max().detach() / b.abs().max().detach()) for a, b in pairs]


@pytest.mark.parametrize("name", SUBJECTS)
def test_training_is_algorithm_1(name):
    assert max(differences(name)) < TOLERANCE


@pytest.mark.parametrize("change", ["unbiased", "not centred", "statistics held fixed"])
def test_wrong_formulas_are_seen(change, monkeypatch):
    right = MovingStatistics.standardized

    def wrong(self, y):
        yhat, mean, deviation = right(self, y)
        if change == "unbiased":
            return yhat * (1 - 1 / len(y)) ** 0.5, mean, deviation
        if change == "not centred":
            return y / deviation, mean, deviation
        return (y - mean.detach()) / deviation.detach(), mean, deviation

    monkeypatch.setattr(MovingStatistics, "standardized", wrong)
    assert max(differences("linear")) > 1e-3


@pytest.mark.parametrize("name", SUBJECTS)
def test_in_evaluation_it_is_a_vanilla_layer(name):
    build, shape = SUBJECTS[name]
    behind, h = generic(build).eval(), 2.0 + 3.0 * drawn(*shape)
    torch.testing.assert_close(behind.vanilla()(h), behind(h), rtol=1e-12, atol=1e-12)


def test_a_wrong_vanilla_layer_is_seen(monkeypatch):
    build, shape = SUBJECTS["linear"]
    behind, h = generic(build).eval(), 2.0 + 3.0 * drawn(*shape)
    for wrong in (
        lambda W, b, gamma, beta, mean, sigma: (W * gamma / sigma, b + W @ beta),
        lambda W, b, gamma, beta, mean, sigma: (
            W * gamma / sigma, b + W @ (beta - mean / sigma)
        ),
        lambda W, b, gamma, beta, mean, sigma: (
            W * gamma / sigma, b + W @ (beta + gamma * mean / sigma)
        ),
    ):  # fmt: skip
        monkeypatch.setattr(preconditioning, "folded", wrong)
        assert (behind.vanilla()(h) - behind(h)).abs().max() > 1e-3


@pytest.mark.parametrize("options", [{"padding": 1}, {"padding": "same"}, {"groups": 3}])
def test_convolutions_that_no_vanilla_layer_equals(options):
    with pytest.raises(ValueError, match="pads its maps or has groups"):
        PostActivation(nn.Conv2d(3, 3, 3, **options)).vanilla()


def test_the_layer_is_left_as_it_is():
    behind = generic(SUBJECTS["linear"][0])
    before = behind.layer.weight.detach().clone()
    vanilla = behind.vanilla()
    vanilla.weight.data.zero_()
    assert torch.equal(behind.layer.weight, before)


def test_degenerate_batches():
    behind = PostActivation(nn.Linear(3, 2))
    with pytest.raises(ValueError, match="so 1 entries for each unit; expected at least 2"):
        behind(torch.ones(1, 3))
    assert behind(torch.ones(2, 3)).isfinite().all()
    assert behind.eval()(torch.ones(1, 3)).isfinite().all()
    with pytest.raises(ValueError, match="eps = 0"):
        PostActivation(nn.Linear(3, 2), eps=0)
