"""Every kind of network, at initialisation and trained: what is right holds in each."""

import pytest
import torch
from small_networks import NETWORKS, made, trained

from verify.audit import audit


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("steps", [0, 3])
def test_no_statement_that_is_right_fails(name, steps):
    model, inputs, targets, loss = made(name)
    if steps:
        trained(model, inputs, targets, loss, steps)
    # A hundred and ten layers: what a second derivative costs there is for a reader's own time.
    budget = 0 if name == "ResNet-110" else 1e9
    report = audit(model, inputs, targets, loss, budget=budget)
    assert [row.statement for row in report.unexpected] == []
    assert report.notes == []
    norms = [m for m in model.modules() if "Norm" in type(m).__name__]
    assert len(report.normalizations) == len(norms)
    if budget:
        assert all(row.curvature is not None for row in report.normalizations)
        assert all(row.kappa is not None for row in report.maps)


def test_resnet_50_has_the_papers_size():
    from theory.nn.networks.resnet import resnet50

    with torch.device("meta"):
        network = resnet50(normalization="batch")
    assert sum(p.numel() for p in network.parameters()) == 25_557_032
    convolutions = [m for m in network.modules() if isinstance(m, torch.nn.Conv2d)]
    shortcuts = [n for n, m in network.named_modules() if n.endswith("shortcut.0")]
    assert (len(convolutions) - len(shortcuts) + 1, len(shortcuts)) == (50, 4)


@pytest.mark.parametrize("name", ["ResNet-18", "vision transformer", "language model"])
def test_what_is_right_holds_in_single_precision_too(name):
    model, inputs, targets, loss = made(name, torch.float32)
    report = audit(model, inputs, targets, loss)
    assert [row.statement for row in report.unexpected] == []


def test_theorem_4_2_is_seen_to_hold_to_the_last_digits():
    report = audit(*made("ResNet-18"))
    by_id = {row.statement: row for row in report.statements}
    found = by_id["S-thm-4.2a/eps/corrected"]
    assert found.instances == len(report.normalizations)
    assert (found.violated, found.undecided) == (0, 0)
    assert abs(found.worst_ratio - 1) < 1e-9
    assert by_id["S-thm-4.1/eps"].worst_ratio < 1 + 1e-12
    assert by_id["L-thm-4a"].instances == len(report.maps)
