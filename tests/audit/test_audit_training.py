"""An audit over a training."""

import re

import pytest
import torch
from small_networks import CROSS_ENTROPY
from torch import nn

from verify.audit import Auditor


def trained(every, steps, **options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    auditor = Auditor(model, every, CROSS_ENTROPY, **options) if every else None
    for _ in range(steps):
        x = torch.randn(16, 4)
        labels = (x[:, 0] > 0).long()
        if auditor:
            auditor.step(x, labels)
        optimiser.zero_grad()
        CROSS_ENTROPY(model(x), labels).backward()
        optimiser.step()
    return model, auditor


def test_a_training_that_is_audited_is_the_same_training():
    plain, _ = trained(0, 7)
    audited, auditor = trained(3, 7)
    assert [m.step for m in auditor.history.moments] == [0, 3, 6]
    for a, b in zip(plain.state_dict().values(), audited.state_dict().values(), strict=True):
        assert torch.equal(a, b)


def test_curves_are_drawn(tmp_path):
    _, auditor = trained(2, 7, budget=1e9)
    curve = auditor.history.curve("1", "γ/σ")
    assert [step for step, _ in curve] == [0, 2, 4, 6]
    assert [step for step, _ in auditor.history.curve("1", "drift")] == [2, 4, 6]
    assert len(auditor.history.curve("1", "smoothness")) == 4
    text = auditor.save(tmp_path / "training.html").read_text()
    assert text.count("<svg") >= 6
    names = re.findall(r' id="([^"]+)"', text)
    assert len(names) == len(set(names))
    assert (tmp_path / "training.json").exists() is False
    auditor.save(tmp_path / "training.json")
    assert (tmp_path / "training.json").stat().st_size > 0


def test_a_closure_is_audited():
    model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6))
    auditor = Auditor(model)
    x = torch.randn(16, 4)
    report = auditor.step(closure=lambda: (model(x) ** 3).sum())
    assert report.normalizations[0].m == 16
    assert auditor.step(closure=lambda: 1 / 0) is None


def test_wrong_use_gets_a_sentence(tmp_path):
    model = nn.Linear(1, 1)
    with pytest.raises(ValueError, match="every = 0; expected at least 1"):
        Auditor(model, every=0)
    with pytest.raises(ValueError, match="nothing was audited yet"):
        Auditor(model).save(tmp_path / "a.html")


def test_layers_that_run_at_some_steps_alone_have_curves_too(tmp_path):
    """As of a generator, which the discriminator's steps do not look at."""
    torch.manual_seed(0)
    model = nn.ModuleDict(
        {
            name: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 3))
            for name in ("first", "second")
        }
    )
    auditor, x = Auditor(model, every=1), torch.randn(8, 3)
    for name in ("first", "second", "first", "second"):
        auditor.step(closure=lambda name=name: model[name](x).square().mean())
    curves, _, _ = auditor.save(tmp_path / "training.html").read_text().partition("What stood out")
    assert "first.1" in curves
    assert "second.1" in curves
    assert [step for step, _ in auditor.history.curve("first.1", "kept")] == [0, 2]
