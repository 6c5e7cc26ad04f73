"""Normalisation layers of other classes than torch.nn's say what they are, and are checked."""

import re

import pytest
import torch
from small_networks import First
from torch import nn
from typer.testing import CliRunner

from verify.__main__ import app
from verify.audit import AuditError, audit


class Scaled(nn.Module):
    """An RMS normalisation as language models have it."""

    shift, centred, bias = 0.0, False, None

    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))
        self.variance_epsilon = eps

    def forward(self, x):
        wide = x.float()
        if self.centred:
            wide = wide - wide.mean(-1, keepdim=True)
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.variance_epsilon)
        z = (self.shift + self.weight) * wide
        return (z if self.bias is None else z + self.bias).to(x.dtype)


def network(**attributes):
    torch.manual_seed(0)
    kind = type("OwnNorm", (Scaled,), attributes)
    return nn.Sequential(nn.Linear(6, 8), kind(8), nn.Tanh(), nn.Linear(8, 3))


def examined(model):
    torch.manual_seed(1)
    return audit(model, torch.randn(5, 6), torch.randint(3, (5,)), nn.functional.cross_entropy)


def assert_same_numbers(row, expected):
    for name in ("lipschitz", "share_of_yhat", "left_of_gradient", "theorem_4_1"):
        found, right = getattr(row, name), getattr(expected, name)
        assert (found.worst, found.median) == pytest.approx((right.worst, right.median), rel=1e-4)
    assert row.curvature.actual == pytest.approx(expected.curvature.actual, rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "of_torch", "attributes"),
    [
        ("rms", nn.RMSNorm, {}),
        ("rms", nn.RMSNorm, {"shift": 1.0}),
        ("layer", nn.LayerNorm, {"centred": True}),
        ("layer", nn.LayerNorm, {"centred": True, "bias": torch.arange(8.0)}),
    ],
)
def test_a_declared_layer_has_the_row_of_the_layer_that_does_the_same(kind, of_torch, attributes):
    model = network(normalizes=kind, **attributes)
    (row,) = examined(model).normalizations
    same = of_torch(8, 1e-6)
    same.weight.data = model[1].weight.data + model[1].shift
    if model[1].bias is not None:
        same.bias.data = model[1].bias
    (expected,) = examined(nn.Sequential(model[0], same, *model[2:])).normalizations
    assert (row.layer, row.kind, row.m, row.units) == ("1", "OwnNorm", 8, 5)
    assert_same_numbers(row, expected)


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"normalizes": "layer"}, "its output is not that of torch.nn.LayerNorm"),
        ({"normalizes": "rms", "centred": True}, "its output is not that of torch.nn.RMSNorm"),
        ({"normalizes": "rms", "shift": 0.5}, "its output is not that of torch.nn.RMSNorm"),
        ({"normalizes": "batch"}, "expected 'rms' or 'layer'"),
    ],
)
def test_a_layer_that_is_not_what_it_says_is_refused(attributes, said):
    with pytest.raises(AuditError, match=said):
        examined(network(**attributes))


@pytest.mark.parametrize("kind", ["rms", "layer"])
def test_a_layer_that_computes_in_single_precision_is_not_accused_in_double(kind):
    class Single(nn.Module):
        normalizes, eps = kind, 1e-5

        def forward(self, x):
            y = x.float()
            y = y - y.mean(-1, keepdim=True) if kind == "layer" else y
            return (y * (y.square().mean(-1, keepdim=True) + self.eps).rsqrt()).to(x.dtype)

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), Single(), nn.SiLU(), nn.Linear(8, 4)).double()
    x = torch.randn(16, 6, dtype=torch.float64)
    report = audit(model, x, torch.arange(16) % 4, nn.functional.cross_entropy, entries=0)
    assert not report.has_failed


def test_a_layer_that_says_nothing_is_named_in_a_note():
    report = examined(network())
    assert report.normalizations == []
    assert [note for note in report.notes if "--as OwnNorm=rms" in note]


class Outside(nn.RMSNorm):
    """Epsilon is added to the root."""

    def forward(self, x):
        return x / (x.square().mean(-1, keepdim=True).sqrt() + self.eps) * self.weight


FLOATS = torch.float64, torch.float32, torch.bfloat16, torch.float16


class ByHand(nn.RMSNorm):
    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


class LayerByHand(nn.LayerNorm):
    def forward(self, x):
        centred = x - x.mean(-1, keepdim=True)
        sigma = (centred.square().mean(-1, keepdim=True) + self.eps).sqrt()
        return centred / sigma * self.weight + self.bias


class Activated(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x).relu()


class Renamed(nn.LayerNorm):
    """The same forward pass as its class has."""


@pytest.mark.parametrize(
    ("kind", "offset", "dtype"),
    [
        (ByHand, 0.0, torch.float64),
        *((ByHand, 200.0, dtype) for dtype in FLOATS),  # whose square float16 holds
        *((LayerByHand, 200.0, dtype) for dtype in (torch.float32, torch.float16)),
        (Renamed, 30.0, torch.float32),
    ],
)
def test_a_subclass_that_computes_what_its_class_does_is_not_told_apart(kind, offset, dtype):
    torch.manual_seed(0)
    layer = kind(8, eps=0.5).to(dtype)
    nn.init.normal_(layer.weight)
    batch = (torch.randn(32, 8) + offset).to(dtype)
    report = audit(nn.Sequential(layer), closure=lambda: layer(batch).float().square().mean())
    assert report.notes == []


@pytest.mark.parametrize(("kind", "base"), [(Outside, "RMSNorm"), (Activated, "LayerNorm")])
def test_a_subclass_that_computes_something_else_has_a_note_on_its_row(kind, base):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), kind(8, eps=0.5), nn.Linear(8, 3))
    report = examined(model)
    said = f"1: {kind.__name__} comes from {base} and its output is another"
    assert [note for note in report.notes if note.startswith(said)] == report.notes != []
    assert [row.layer for row in report.normalizations] == ["1"]


class OverChannels:
    """Normalises the channels of maps, as ConvNeXt does."""

    def forward(self, x):
        return super().forward(x.movedim(1, -1)).movedim(-1, 1)


class LayerNorm2d(OverChannels, nn.LayerNorm): ...


class RMSNorm2d(OverChannels, nn.RMSNorm): ...


class LastIsChannel(nn.BatchNorm1d):
    def forward(self, x):
        return super().forward(x.mT).mT


class WithResidual(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x), x


class Moved(nn.Module):
    def __init__(self, start, end):
        super().__init__()
        self.axes = start, end

    def forward(self, x):
        return x.movedim(*self.axes)


def of_maps(*layers, pixels):
    """Audit the layers between a convolution and a linear layer."""
    torch.manual_seed(0)
    ends = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(4 * pixels**2, 3)
    for layer in layers:
        for parameter in layer.parameters():
            nn.init.normal_(parameter)
    model = nn.Sequential(ends[0], *layers, nn.Tanh(), nn.Flatten(), ends[1])
    images, labels = torch.randn(5, 3, pixels, pixels), torch.randint(3, (5,))
    return audit(model, images, labels, nn.functional.cross_entropy, entries=0)


@pytest.mark.parametrize("pixels", [6, 4], ids=["", "as many pixels as channels"])
@pytest.mark.parametrize(
    ("kind", "base"), [(LayerNorm2d, nn.LayerNorm), (RMSNorm2d, nn.RMSNorm)], ids=["layer", "rms"]
)
def test_a_subclass_over_the_channels_of_maps_is_examined_there(kind, base, pixels):
    report = of_maps(kind(4, eps=0.5), pixels=pixels)
    same = of_maps(Moved(1, -1), base(4, eps=0.5), Moved(-1, 1), pixels=pixels)
    assert report.notes == report.unexpected == []
    (row,), (expected,) = report.normalizations, same.normalizations
    assert (row.kind, row.m, row.units) == (kind.__name__, 4, 5 * pixels**2)
    assert_same_numbers(row, expected)


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        ([nn.Flatten(2), LastIsChannel(36)], r"LastIsChannel comes from BatchNorm1d.*\(5, 4, 36\)"),
        ([WithResidual(6), First()], "WithResidual gives back a tuple"),
    ],
    ids=["of other sizes", "a tuple"],
)
def test_a_subclass_whose_units_are_not_known_is_named_and_the_rest_audited(layers, said):
    report = of_maps(*layers, pixels=6)
    assert report.normalizations == []
    (note,) = report.notes
    assert re.search(rf"^\d: {said}.* it has no row$", note)
    assert [row.kappa is None for row in report.maps] == [False, False]


def test_the_command_declares_a_class(tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(
        "import sys, torch\n"
        f"sys.path.insert(0, {str(__file__).rpartition('/')[0]!r})\n"
        "from test_declared_layers import network\n"
        "data = (torch.randn(5, 6), torch.randint(3, (5,)))\n"
    )
    monkeypatch.chdir(tmp_path)
    words = ["audit", "own.py:network", "--data", "own.py:data", "--budget", "0"]
    found = CliRunner().invoke(app, [*words, "--as", "OwnNorm=rms"])
    assert found.exit_code == 0, found.output
    assert "OwnNorm" in found.output
    missing = CliRunner().invoke(app, [*words, "--as", "Other=rms"])
    assert missing.exit_code == 2
    assert "the model has no Other" in missing.output
    other = CliRunner().invoke(app, [*words, "--as", "OwnNorm=batch"])
    assert other.exit_code == 2
    assert "expected --as OwnNorm=rms or --as OwnNorm=layer" in " ".join(other.output.split())
