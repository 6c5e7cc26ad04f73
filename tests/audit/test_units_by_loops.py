"""What is measured of each unit, against double loops over numbers written out here."""

from itertools import product
from math import isclose, sqrt

import pytest
import torch
from torch import nn

from verify.audit import audit
from verify.audit.first_order import first_order

EPS = 0.05
"""Large, so that what epsilon does is seen."""


def entries(kind, shape):
    """Return the indices of each unit's entries, and where its scale stands for each."""
    every = list(product(*map(range, shape)))
    keys = {
        "batch": lambda i: i[1:2],
        "layer": lambda i: i[:-1],
        "rms": lambda i: i[:-1],
        "instance": lambda i: i[:2],
        "group": lambda i: (i[0], i[1] // 2),
    }
    units = {}
    for index in every:
        units.setdefault(keys[kind](index), []).append(index)
    return [units[key] for key in sorted(units)]


def scale_at(kind, index):
    return index[-1] if kind in ("layer", "rms") else index[1]


def by_loops(kind, y, g, gamma):
    """Return the numbers of each unit, entry by entry."""
    found = []
    for unit in entries(kind, y.shape):
        m = len(unit)
        mean = sum(y[i].item() for i in unit) / m
        shift = 0.0 if kind == "rms" else mean
        variance = sum((y[i].item() - shift) ** 2 for i in unit) / m
        sigma = sqrt(variance + EPS)
        yhat = [(y[i].item() - shift) / sigma for i in unit]
        own = gamma[unit[0][1]].item() if kind == "batch" else 1.0
        weights = [1.0 if kind == "batch" else gamma[scale_at(kind, i)].item() for i in unit]
        gradient = [a * g[i].item() for a, i in zip(weights, unit, strict=True)]
        on_yhat = sum(a * b for a, b in zip(yhat, gradient, strict=True))
        on_one = sum(gradient)
        # The derivative of each output in each input, one by one.
        w = []
        for a in range(m):
            total = 0.0
            for b in range(m):
                mean_part = 0.0 if kind == "rms" else 1.0 / m
                total += gradient[b] * ((a == b) - mean_part - yhat[a] * yhat[b] / m)
            w.append(own / sigma * total)
        g2, w2 = sum(x * x for x in gradient), sum(x * x for x in w)
        of_mean = 0.0 if kind == "rms" else on_one**2 / m
        claimed = (own / sigma) ** 2 * (g2 - of_mean - on_yhat**2 / m)
        found.append(
            {
                "lipschitz": max(abs(own * a) for a in weights) / sigma,
                "share_of_mean": on_one**2 / m / g2,
                "share_of_yhat": on_yhat**2 / sum(x * x for x in yhat) / g2,
                "left_of_gradient": w2 / (own / sigma) ** 2 / g2,
                "theorem_4_1": w2 / claimed,
                "variance_over_eps": variance / EPS,
                "mean_over_deviation": abs(shift) / sqrt(variance),
            }
        )
    return found


LAYERS = {
    "batch": lambda: nn.BatchNorm2d(4, eps=EPS),
    "group": lambda: nn.GroupNorm(2, 4, eps=EPS),
    "instance": lambda: nn.InstanceNorm2d(4, eps=EPS, affine=True),
    "layer": lambda: nn.LayerNorm(3, eps=EPS),
    "rms": lambda: nn.RMSNorm(3, eps=EPS),
}
SMALLEST = ("left_of_gradient", "variance_over_eps")


@pytest.mark.parametrize("kind", LAYERS)
def test_a_row_is_what_loops_over_its_entries_give(kind):
    torch.manual_seed(3)
    norm = LAYERS[kind]().double()
    nn.init.normal_(norm.weight)
    first = nn.Conv2d(2, 4, 1).double()
    y = 2 * torch.randn(3, 2, 2, 3).double() + 1
    heads = torch.randn(3, 4, 2, 3).double()

    def rest(z):
        return (heads * z).sum() + (z**3).mean()

    model = nn.Sequential(first, norm)
    report = audit(model, y, None, lambda z, _: rest(z))
    given = first(y).detach()
    z = model(y).detach().requires_grad_()
    (g,) = torch.autograd.grad(rest(z), z)
    expected = by_loops(kind, given, g, norm.weight.detach())
    row = report.normalizations[0]
    assert (row.m, row.units) == (given.numel() // len(expected), len(expected))
    for name, value in expected[0].items():
        numbers = [unit[name] for unit in expected]
        worst = min(numbers) if name in SMALLEST else max(numbers)
        found = getattr(row, name)
        assert isclose(found.worst, worst, rel_tol=1e-9), (name, value)
        middle = sorted(numbers)[
            len(numbers) // 2 - (len(numbers) % 2 == 0) : len(numbers) // 2 + 1
        ]
        assert isclose(found.median, sum(middle) / len(middle), rel_tol=1e-9), name


def test_curvature_is_that_of_the_whole_hessian():
    """The network's Hessian, entry by entry, by differentiating twice without the audit."""
    torch.manual_seed(5)
    norm = nn.BatchNorm1d(3, eps=EPS).double()
    nn.init.normal_(norm.weight)
    head = torch.randn(3, 4).double()
    labels = torch.randint(4, (6,))
    y = torch.randn(6, 3).double()

    def rest(z):
        return nn.functional.cross_entropy(torch.tanh(z) @ head, labels)

    model = nn.Sequential(nn.Identity(), norm)
    report = audit(model, y, None, lambda z, _: rest(z))
    found = report.normalizations[0].curvature

    def whole(flat):
        batch = flat.reshape(6, 3)
        centred = batch - batch.sum(0) / 6
        sigma = torch.sqrt((centred * centred).sum(0) / 6 + EPS)
        return rest(norm.weight * centred / sigma + norm.bias)

    w = torch.autograd.functional.jacobian(whole, y.flatten()).reshape(6, 3)
    unit = int((w**2).sum(0).argmax())
    hessian = torch.autograd.functional.hessian(whole, y.flatten()).reshape(6, 3, 6, 3)
    own = hessian[:, unit, :, unit]
    along = sum(w[a, unit] * own[a, b] * w[b, unit] for a in range(6) for b in range(6)).item()
    centred = y - y.mean(0)
    sigma = torch.sqrt((centred**2).mean(0) + EPS)
    yhat = (centred / sigma)[:, unit]
    jacobian = torch.zeros(6, 6).double()
    for a, b in product(range(6), range(6)):
        jacobian[a, b] = (a == b) - 1 / 6 - yhat[a] * yhat[b] / 6
    jacobian *= norm.weight[unit].detach() / sigma[unit]
    z = (norm.weight * centred / sigma + norm.bias).detach()
    of_loss = torch.autograd.functional.hessian(lambda f: rest(f.reshape(6, 3)), z.flatten())
    image = jacobian @ w[:, unit]
    loss = (image @ of_loss.reshape(6, 3, 6, 3)[:, unit, :, unit] @ image).item()
    assert found.unit == f"channel {unit}"
    assert isclose(found.actual, along, rel_tol=1e-9)
    assert isclose(found.of_the_loss, loss, rel_tol=1e-9)
    assert isclose(found.of_the_layer, along - loss, rel_tol=1e-9)
    smoothness = (own @ w[:, unit]).norm() / w[:, unit].norm()
    assert isclose(found.smoothness, smoothness.item(), rel_tol=1e-9)


def test_degenerate_units_are_counted():
    torch.manual_seed(7)
    model = nn.Sequential(nn.BatchNorm1d(4), nn.ReLU())
    with torch.no_grad():
        model[0].weight[1] = 0
        model[0].bias[2] = -100
    y = torch.randn(8, 4)
    y[:, 3] = 5.0
    heads = torch.randn(8, 4)
    row = audit(model, y, None, lambda z, _: (heads * z).sum()).normalizations[0]
    assert (row.constant, row.zero_gamma) == (1, 1)
    # Channel 1, of gamma = beta = 0, is zero too, where the rectifier has no slope; as has 3.
    assert row.dead == 3
    assert row.lipschitz.worst == pytest.approx(1e-5**-0.5)
    assert row.variance_over_eps.worst == 0


def test_positions_that_the_loss_leaves_out_are_no_fault_of_a_layer():
    """As of words that are padded; a channel that no gradient reaches is another matter."""
    torch.manual_seed(0)
    words = nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 3))
    labels = torch.arange(24) % 3
    labels[8:] = -100
    report = audit(words, torch.randn(24, 4), labels, nn.functional.cross_entropy, budget=0)
    said = {f.sentence: f.is_grave for f in report.findings if "get no gradient" in f.sentence}
    assert report.normalizations[0].dead == 16
    assert not any(said.values())
    channels = nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 3))
    nn.init.zeros_(channels[1].weight[:, 0].detach())
    report = audit(channels, torch.randn(24, 4), labels, nn.functional.cross_entropy, budget=0)
    assert [f.sentence for f in report.findings if "get no gradient" in f.sentence and f.is_grave]


def test_precision_is_told():
    y = torch.randn(64, 3) * torch.tensor([1.0, 1e-3, 300.0]) + torch.tensor([3000.0, 0.0, 0.0])
    heads = torch.randn(64, 3)
    model = nn.Sequential(nn.BatchNorm1d(3, eps=1e-12))
    report = audit(model, y, None, lambda z, _: (heads * z).sum())
    row = report.normalizations[0]
    assert row.mean_over_deviation.unit == "channel 0"
    assert row.digits_lost.worst == pytest.approx(7, abs=0.3)
    assert row.beyond_half == 2  # 1/sigma^3 = 1e9; variance 90000
    assert any("a variance in one pass loses" in f.sentence for f in report.findings)


def test_running_statistics_are_those_before_the_batch():
    torch.manual_seed(11)
    norm = nn.BatchNorm1d(2, momentum=0.5)
    norm(torch.randn(8, 2) + 2)
    y = torch.randn(8, 2)
    mean, variance = norm.running_mean.clone(), norm.running_var.clone()
    row = audit(nn.Sequential(norm), y, None, lambda z, _: (z**3).sum()).normalizations[0]
    sigma = torch.sqrt(y.var(0, unbiased=False) + 1e-5)
    drift = ((mean - y.mean(0)).abs() / sigma).max()
    assert row.drift_of_mean.worst == pytest.approx(drift.item(), rel=1e-5)
    spread = ((variance.sqrt() - y.std(0)).abs() / sigma).max()
    assert row.drift_of_deviation.worst == pytest.approx(spread.item(), rel=1e-5)
    assert row.unbiased == 8 / 7


def test_a_layer_that_runs_twice_updates_twice():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(3).double()

        def forward(self, x):
            return self.norm(torch.tanh(self.norm(x)))

    model = Twice()
    model(torch.randn(9, 3).double())
    report = audit(model, torch.randn(9, 3).double(), None, lambda z, _: (z**3).sum())
    assert report.normalizations[0].calls == 2
    (theorem,) = (s for s in report.statements if s.statement == "S-thm-4.1/eps")
    every = [f"call {call}, channel {channel}" for call in range(2) for channel in range(3)]
    assert [point.unit for point in theorem.points] == every
    assert any("runs 2 times" in f.sentence for f in report.findings)
    assert report.unexpected == []


@pytest.mark.parametrize("variance", [1.0, 4.0])
def test_a_frozen_layer_is_said_to_be_frozen_and_divides_by_what_it_keeps(variance):
    class Frozen(nn.BatchNorm1d):
        def train(self, mode=True):
            return super().train(False)

    norm = Frozen(3)
    norm.running_var.fill_(variance)
    report = audit(nn.Sequential(nn.Linear(3, 3), norm), 1e-2 * torch.randn(9, 3), None,
                   lambda z, _: (z**3).sum())  # fmt: skip
    (row,) = report.normalizations
    assert row.is_frozen
    assert row.lipschitz.worst == pytest.approx((variance + norm.eps) ** -0.5, rel=1e-6)
    assert row.left_of_gradient.worst == pytest.approx(1, rel=1e-5)
    assert row.theorem_4_1.worst is None
    assert not any(row.statement.startswith("S-") for row in report.statements)
    assert report.notes == []
    assert [f.sentence for f in report.findings if f.layer == "1"] == [
        "it divides by running statistics even in training mode; no statement is about it"
    ]


def test_a_layer_in_evaluation_amid_others_in_training_has_a_note():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.BatchNorm1d(3))
    notes = []
    for whole, one in ((False, False), (True, True), (True, False)):
        model.train(whole)[1].train(one)
        report = audit(model, torch.randn(9, 3), None, lambda z, _: (z**3).sum(), budget=0)
        assert not report.normalizations[0].is_frozen
        notes.append([note.partition(" as given")[0] for note in report.notes])
        said = " ".join(finding.sentence for finding in report.findings)
        is_kept = whole and not one
        assert ("its bias would do nothing in training mode: layer 1 is in" in said) == is_kept
        assert ("its bias does nothing: layer 1 takes it away" in said) != is_kept
    assert notes == [[], [], ["1: in evaluation mode"]]


def test_first_derivatives_keep_nothing_of_the_batch():
    norm = nn.BatchNorm2d(4)
    model = nn.Sequential(nn.Conv2d(3, 4, 3), norm)
    x = torch.randn(8, 3, 16, 16)
    found = first_order(lambda: (model(x) ** 3).mean(), model, {"1": norm}, {"0": model[0]})
    (units,) = found.units["1"]
    tensors = [units.mean, units.variance, units.low, units.high, *units.products.values()]
    assert {t.numel() for t in tensors} == {4}


def test_a_variance_beyond_the_networks_numbers_is_told():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))
    for scale, overflown in ((1e20, True), (2e19, True), (1e15, False)):
        batch = scale * torch.randn(8, 4, generator=torch.Generator().manual_seed(3))
        report = audit(model, batch, None, lambda z, _: (z**3).sum(), entries=0)
        assert bool(report.normalizations[0].overflown) == overflown
        said = " ".join(finding.sentence for finding in report.findings)
        assert ("more than the network's numbers hold" in said) == overflown
        assert "of its gradient in the median unit" not in said or not overflown
