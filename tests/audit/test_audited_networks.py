"""Every kind of network, at initialisation and trained: what is right holds in each."""

import pytest
import torch
from small_networks import made, trained
from torch import nn

from verify.audit import audit


@pytest.fixture(scope="module")
def of_resnet():
    network = made("ResNet-18")
    return network[0], audit(*network, budget=1e9, entries=0)


@pytest.fixture
def audited(name, request):
    """A network, which took some steps, and its audit."""
    if name == "ResNet-18":
        return request.getfixturevalue("of_resnet")
    network = made(name)
    model = trained(*network)
    return model, audit(*network, budget=1e9)


@pytest.mark.parametrize("name", ["ResNet-18", "ResNet-50", "vision transformer", "language model"])
def test_no_statement_that_is_right_fails(audited):
    model, report = audited
    assert [row.statement for row in report.unexpected] == []
    # Attention multiplies by its weights itself, also by those of its last map.
    attention = [n for n, _ in model.named_modules() if n.endswith("attention")]
    noted = [*(f"{n}.out_proj" for n in attention), *([", ".join(attention)] if attention else [])]
    assert [note.partition(":")[0] for note in report.notes] == noted
    norms = [m for m in model.modules() if "Norm" in type(m).__name__]
    assert len(report.normalizations) == len(norms)
    assert all(row.curvature is not None for row in report.normalizations)
    assert all(row.kappa is not None for row in report.maps)


KINDS = {
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4), (6, 4), 6, 4),
    "BatchNorm1d of sequences": (lambda: nn.BatchNorm1d(4), (6, 4, 5), 30, 4),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(4), (6, 4, 3, 2), 36, 4),
    "BatchNorm2d without scale": (lambda: nn.BatchNorm2d(4, affine=False), (6, 4, 3, 2), 36, 4),
    "BatchNorm2d without running": (
        lambda: nn.BatchNorm2d(4, track_running_stats=False), (6, 4, 3, 2), 36, 4
    ),
    "BatchNorm3d": (lambda: nn.BatchNorm3d(4), (3, 4, 2, 3, 2), 36, 4),
    "SyncBatchNorm": (lambda: nn.SyncBatchNorm(4), (6, 4, 3), 18, 4),
    "LayerNorm": (lambda: nn.LayerNorm(8), (3, 5, 8), 8, 15),
    "LayerNorm of two axes": (lambda: nn.LayerNorm((4, 3)), (5, 4, 3), 12, 5),
    "LayerNorm of one example": (lambda: nn.LayerNorm(8), (8,), 8, 1),
    "LayerNorm without scale": (lambda: nn.LayerNorm(8, elementwise_affine=False), (3, 8), 8, 3),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (5, 4, 3, 2), 12, 10),
    "GroupNorm of vectors": (lambda: nn.GroupNorm(2, 8), (5, 8), 4, 10),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(4, affine=True), (5, 4, 6), 6, 20),
    "InstanceNorm1d of one example": (lambda: nn.InstanceNorm1d(4, affine=True), (4, 6), 6, 4),
    "InstanceNorm2d": (lambda: nn.InstanceNorm2d(4), (5, 4, 3, 2), 6, 20),
    "InstanceNorm2d with running": (
        lambda: nn.InstanceNorm2d(4, track_running_stats=True), (5, 4, 3, 2), 6, 20
    ),
    "InstanceNorm3d": (lambda: nn.InstanceNorm3d(4), (3, 4, 2, 3, 2), 12, 12),
    "RMSNorm": (lambda: nn.RMSNorm(8), (3, 5, 8), 8, 15),
}  # fmt: skip
"""What makes a layer, the shape of its input, and its m and number of units."""


@pytest.fixture(scope="module")
def every_kind():
    """A layer of each kind, each on a batch of its own, and the audit of all of them."""
    torch.manual_seed(1)
    layers = nn.ModuleDict({kind: make() for kind, (make, *_) in KINDS.items()}).double()
    for parameter in layers.parameters():
        nn.init.normal_(parameter)
    batches = {kind: torch.randn(2, *shape).double() for kind, (_, shape, *_) in KINDS.items()}

    def run():
        return sum((heads * layers[kind](y).tanh()).sum() for kind, (heads, y) in batches.items())

    run()
    return layers, audit(layers, closure=run, entries=0)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_normalisation_is_examined(kind, every_kind):
    layers, report = every_kind
    _, _, m, units = KINDS[kind]
    (row,) = (row for row in report.normalizations if row.layer == kind)
    assert (row.m, row.units, row.dead) == (m, units, 0)
    assert row.curvature is not None
    has_running = getattr(layers[kind], "running_mean", None) is not None
    assert (row.drift_of_mean is not None) == has_running
    assert report.unexpected == []
    found = {s.statement: at for s in report.statements for at in s.layers if at.layer == kind}
    if kind == "RMSNorm":  # it takes no mean off: no statement is about it
        assert found == {}
    else:
        assert found["S-thm-4.1/eps"].instances == units
        assert found["S-thm-4.2a/eps/corrected"].violated == 0


class Once(torch.autograd.Function):
    """An activation without a second derivative."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x > 0)


def test_a_model_without_second_derivatives_is_audited_without_them():
    class Rectifier(nn.Module):
        def forward(self, x):
            return Once.apply(x)

    model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5), Rectifier(), nn.Linear(5, 3))
    report = audit(model, torch.randn(16, 4), torch.randint(3, (16,)), nn.functional.cross_entropy)
    assert any("second derivatives" in note and "once_differentiable" in note
               for note in report.notes)  # fmt: skip
    assert report.normalizations[0].theorem_4_1.worst == pytest.approx(1, abs=1e-4)
    assert report.maps[0].kappa > 1
    assert report.unexpected == []


@pytest.mark.parametrize("name", ["vision transformer", "language model"])
def test_what_is_right_holds_in_single_precision_too(name):
    model, inputs, targets, loss = made(name, torch.float32)
    report = audit(model, inputs, targets, loss)
    assert [row.statement for row in report.unexpected] == []


def test_theorem_4_2_is_seen_to_hold_to_the_last_digits(of_resnet):
    _, report = of_resnet
    by_id = {row.statement: row for row in report.statements}
    found = by_id["S-thm-4.2a/eps/corrected"]
    assert found.instances == len(report.normalizations)
    assert (found.violated, found.undecided) == (0, 0)
    assert abs(found.worst_ratio - 1) < 1e-9
    assert by_id["S-thm-4.1/eps"].worst_ratio < 1 + 1e-12
    assert by_id["L-thm-4a"].instances == len(report.maps)
