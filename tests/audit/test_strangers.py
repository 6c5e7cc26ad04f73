"""Models of strangers: what they are wrapped in, what they are given, and what is said of it."""

import pytest
import torch
from small_networks import CROSS_ENTROPY
from torch import nn
from torch.utils.checkpoint import checkpoint

from verify.audit import AuditError, audit
from verify.audit.errors import told


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.map = nn.Conv2d(3, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.output = nn.Linear(4, 3)

    def features(self, x):
        return self.norm(self.map(x)).relu()

    def forward(self, x):
        return self.output(self.features(x).mean((2, 3)))


class Checkpointed(Model):
    def forward(self, x):
        return self.output(checkpoint(self.features, x, use_reentrant=False).mean((2, 3)))


@pytest.fixture(scope="module")
def data():
    torch.manual_seed(0)
    return torch.randn(6, 3, 8, 8), torch.randint(3, (6,))


@pytest.fixture(scope="module")
def plain(data):
    torch.manual_seed(1)
    return audit(Model(), *data, CROSS_ENTROPY, entries=0)


def numbers(report):
    """Return a number of first derivatives, one of second ones and one of inputs."""
    (row, *_), (layer, *_) = report.normalizations, report.maps
    return row.theorem_4_1.worst, row.curvature.smoothness, layer.kappa


@pytest.mark.parametrize(
    "wrapped",
    [
        nn.DataParallel,
        lambda model: torch.compile(model, backend="eager"),
        lambda model: torch.compile(model, backend="aot_eager", fullgraph=True),
    ],
    ids=["DataParallel", "compiled", "compiled whole"],
)
def test_a_wrapped_model_is_examined_as_what_it_wraps(wrapped, data, plain):
    torch.manual_seed(1)
    model = wrapped(Model())
    assert numbers(audit(model, *data, CROSS_ENTROPY)) == pytest.approx(numbers(plain))


def test_a_checkpointed_model_has_second_derivatives_too(data, plain):
    torch.manual_seed(1)
    report = audit(Checkpointed(), *data, CROSS_ENTROPY, entries=0)
    assert numbers(report) == pytest.approx(numbers(plain))
    assert report.notes == []
    (row,) = report.normalizations
    assert (row.calls, row.dead) == (2, 0)
    counts, expected = (
        {s.statement: (s.instances, s.vacuous, s.violated) for s in r.statements}
        for r in (report, plain)
    )
    assert counts == expected


def test_a_checkpointed_model_has_the_same_statements_on_entries(data):
    found = []
    for kind in (Checkpointed, Model):
        torch.manual_seed(1)
        report = audit(kind(), *data, CROSS_ENTROPY)
        found.append({(s.statement, at.layer) for s in report.statements for at in s.layers})
    assert found[0] == found[1]


def test_a_part_that_runs_again_while_the_loss_is_computed_is_not_called_dead(data):
    """A loss with a gradient in it runs checkpointed parts again before the backward pass."""
    torch.manual_seed(1)
    model, images = Checkpointed(), data[0].clone().requires_grad_()

    def closure():
        outputs = model(images)
        (slope,) = torch.autograd.grad(outputs.sum(), images, retain_graph=True)
        return CROSS_ENTROPY(outputs, data[1]) + slope.square().sum()

    (row,) = audit(model, closure=closure, budget=0).normalizations
    assert (row.calls, row.dead) == (3, 0)


class Reentrant(Model):
    def forward(self, x):
        return self.output(checkpoint(self.features, x, use_reentrant=True).mean((2, 3)))


def test_a_reentrant_checkpoint_is_named_where_it_hides_layers(data):
    images = data[0].clone().requires_grad_()
    report = audit(Reentrant(), images, data[1], CROSS_ENTROPY, entries=0)
    assert [row.layer for row in (*report.normalizations, *report.maps)] == ["output"]
    assert [note.partition(":")[0] for note in report.notes] == ["norm", "map"]
    assert all("use_reentrant=True; with use_reentrant=False it is" in n for n in report.notes)


def test_a_reentrant_checkpoint_after_what_learns_is_refused_with_what_to_do(data):
    model = nn.Sequential(nn.Conv2d(3, 3, 1), Reentrant())
    with pytest.raises(RuntimeError, match="set use_reentrant=False") as raised:
        audit(model, *data, CROSS_ENTROPY)
    assert told(raised.value).startswith("the backward pass raised RuntimeError")


def test_why_a_map_has_no_row(data):
    class Aside(Model):
        def __init__(self):
            super().__init__()
            self.frozen = nn.Conv2d(3, 3, 1).requires_grad_(False)
            self.without, self.unused, self.never = (nn.Conv2d(3, 3, 1) for _ in range(3))

        def forward(self, x):
            x = self.frozen(x)
            self.unused(x)
            with torch.no_grad():
                x = self.without(x)
            return super().forward(x)

    report = audit(Aside(), *data, CROSS_ENTROPY, entries=0)
    assert [row.layer for row in report.maps] == ["map", "output"]
    assert dict(note.split(": ") for note in report.notes) == {
        "frozen": "neither it nor what is before it learns, and no gradient is taken there",
        "without": "called without gradients, as by torch.no_grad or by torch.utils.checkpoint"
        " with use_reentrant=True; with use_reentrant=False it is examined",
        "unused": "the loss does not depend on it",
        "never": "not called as a module",
    }


@pytest.mark.parametrize("make", [torch.jit.script, torch.jit.trace])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
def test_a_model_of_torch_jit_is_refused_by_name(make, data):
    layers = nn.Sequential(nn.Flatten(), nn.Linear(192, 4), nn.BatchNorm1d(4))
    model = make(layers) if make is torch.jit.script else make(layers, data[0])
    with pytest.raises(AuditError, match="give the model that it was made of"):
        audit(model, *data, CROSS_ENTROPY)


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_a_model_that_was_never_called_is_refused_where_its_sizes_are_not_known(data):
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten())
    with pytest.raises(AuditError, match="0, 1: no parameters yet; call the model once"):
        audit(model, *data, CROSS_ENTROPY)


def test_an_empty_batch_is_refused_with_its_shape(data):
    with pytest.raises(AuditError, match=r"BatchNorm2d is given a batch of shape \(0, 4, 6, 6\)"):
        audit(Model(), data[0][:0], data[1][:0], CROSS_ENTROPY)


@pytest.mark.parametrize(
    ("dead", "inputs"),
    [(True, torch.randn(16, 6)), (False, torch.ones(16, 6)), (False, torch.randn(1, 6))],
    ids=["a dead layer before", "equal rows", "one row"],
)
def test_a_layer_whose_inputs_are_all_constant_has_no_statement_on_them(dead, inputs):
    """A normalisation with gamma = 0 gives such inputs, and so does a batch of one."""
    output = nn.Linear(6, 3)
    model = nn.Sequential(nn.BatchNorm1d(6), nn.ReLU(), output) if dead else nn.Sequential(output)
    if dead:
        nn.init.zeros_(model[0].weight)
    labels = torch.arange(len(inputs)) % 3
    report = audit(model, inputs, labels, CROSS_ENTROPY, entries=1)
    assert report.unexpected == []
    assert (report.maps[0].constant, report.maps[0].rank) == (6, 1)
    assert [row for row in report.statements if row.statement.startswith("L-")] == []


@pytest.mark.filterwarnings("ignore:Initializing zero-element")
def test_a_layer_without_weights_is_named_in_a_note():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.some, self.none = nn.Linear(6, 3), nn.Linear(6, 0)

        def forward(self, x):
            return torch.cat([self.some(x), self.none(x)], dim=1)

    report = audit(Two(), torch.randn(4, 6), torch.arange(4) % 3, CROSS_ENTROPY)
    assert [row.layer for row in report.maps] == ["some"]
    assert report.notes == ["none: it has no weights"]


class NotFinite(Model):
    def __init__(self):
        super().__init__()
        self.aside = nn.Linear(4, 3)

    def forward(self, x):
        aside = self.aside(torch.full((6, 4), torch.inf)).sum()
        found = super().forward(x)
        return torch.where(torch.ones_like(found, dtype=torch.bool), found, aside)


def test_inputs_that_are_not_finite_are_noted(data):
    report = audit(NotFinite(), *data, CROSS_ENTROPY)
    assert "aside: its inputs are not finite" in report.notes
    assert [row.kappa is None for row in report.maps] == [False, False, True]


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.map, self.norm = nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3)
        self.never = nn.BatchNorm1d(2)
        self.output = nn.Linear(3, 3)

    def forward(self, x):
        for _ in range(2):
            x = self.norm(self.map(x)).relu()
        return {"logits": self.output(x.mean((2, 3)))}


def test_layers_that_are_shared_or_never_called_and_a_dictionary_of_outputs(data):
    report = audit(
        Shared(), *data, lambda outputs, labels: CROSS_ENTROPY(outputs["logits"], labels), entries=1
    )
    assert report.unexpected == []
    assert [row.calls for row in report.normalizations] == [2]
    assert any(note == "never: not called as a module" for note in report.notes)


def test_a_constant_channel_and_mixed_precision_accuse_nobody(data):
    images, labels = data[0].clone(), data[1]
    images[:, 1] = 0.3
    torch.manual_seed(2)
    model = nn.Sequential(nn.BatchNorm2d(3), Model())

    def closure():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return CROSS_ENTROPY(model(images), labels)

    report = audit(model, closure=closure, entries=1)
    assert report.unexpected == []
    assert report.normalizations[0].constant == 1
