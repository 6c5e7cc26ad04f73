"""Models of strangers: what they are wrapped in, what they are given, and what is said of it."""

from itertools import product

import pytest
import torch
from small_networks import CROSS_ENTROPY, Detached, First, audit_with_entries
from torch import nn
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from verify.audit import AuditError, audit
from verify.audit.errors import told
from verify.audit.report import read
from verify.audit.terminal import accused


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


@pytest.fixture(scope="module")
def examined(data):
    """Return the same audit with a look into entries."""
    torch.manual_seed(1)
    return audit_with_entries(Model(), *data, CROSS_ENTROPY)


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


def test_a_checkpointed_model_has_second_derivatives_and_statements_on_entries_too(data, examined):
    torch.manual_seed(1)
    report = audit_with_entries(Checkpointed(), *data, CROSS_ENTROPY)
    assert numbers(report) == pytest.approx(numbers(examined))
    assert report.notes == []
    (row,) = report.normalizations
    assert (row.calls, row.dead) == (2, 0)
    counts, expected = (
        {
            (s.statement, *(at.layer for at in s.layers)): (s.instances, s.vacuous, s.violated)
            for s in r.statements
        }
        for r in (report, examined)
    )
    assert counts == expected


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


def test_a_model_without_values_is_refused(data):
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8)).to("meta")
    with pytest.raises(AuditError, match="on the device meta, where nothing has a value; make it"):
        audit(model, *data, CROSS_ENTROPY)


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
    with pytest.raises(AuditError, match=r"the batch's inputs are of shape \(0, 3, 8, 8\)"):
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
    assert "aside: its inputs are not finite, or their squares" in report.notes
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
    def loss(outputs, labels):
        return CROSS_ENTROPY(outputs["logits"], labels)

    report = audit_with_entries(Shared(), *data, loss)
    assert report.unexpected == []
    assert [row.calls for row in report.normalizations] == [2]
    assert any(note == "never: not called as a module" for note in report.notes)
    assert any(note.startswith("map: it runs 2 times a pass") for note in report.notes)


def test_a_constant_channel_and_mixed_precision_accuse_nobody(data):
    images, labels = data[0].clone(), data[1]
    images[:, 1] = 0.3
    torch.manual_seed(2)
    model = nn.Sequential(nn.BatchNorm2d(3), Model())

    def closure():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return CROSS_ENTROPY(model(images), labels)

    report = audit_with_entries(model, closure=closure)
    assert report.unexpected == []
    assert report.normalizations[0].constant == 1


class Padded(nn.Conv1d):
    """Sees what came before alone, as in a model of sequences."""

    def forward(self, x):
        return super().forward(nn.functional.pad(x, (2, 0)))


class Standardised(nn.Conv1d):
    def forward(self, x):
        weight = self.weight - self.weight.mean((1, 2), keepdim=True)
        return self._conv_forward(x, weight, self.bias)


class OfOtherPadding(nn.Conv1d):
    def _conv_forward(self, x, weight, bias):
        return nn.functional.conv1d(x, 2 * weight, bias)


class SamePass(nn.Conv1d):
    def forward(self, x):
        return nn.functional.conv1d(x, self.weight, self.bias)


class WithNothing(nn.Conv1d):
    def forward(self, x):
        return super().forward(x), None


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        ([Padded(3, 4, 3)], "Padded comes from Conv1d and its output is another"),
        ([Standardised(3, 4, 3)], "Standardised comes from Conv1d and its output is another"),
        ([OfOtherPadding(3, 4, 3)], "OfOtherPadding comes from Conv1d and its output is another"),
        ([WithNothing(3, 4, 3), First()], "WithNothing gives back a tuple, not a tensor"),
        ([SamePass(3, 4, 3)], ""),
    ],
    ids=["padding", "another weight", "another product", "a tuple", "the same"],
)
def test_a_map_that_is_another_than_its_class_is_named_and_has_no_row(layers, said):
    torch.manual_seed(0)
    model = nn.Sequential(*layers, nn.ReLU(), nn.Flatten(), nn.LazyLinear(3))
    x, labels = torch.randn(30, 3, 6), torch.arange(30) % 3
    model(x)
    report = audit(model, x, labels, CROSS_ENTROPY)
    assert report.unexpected == []
    rows = [row.layer for row in report.maps]
    if said:
        (note,) = report.notes
        assert note.startswith(f"0: {said}")
        assert rows == [str(len(model) - 1)]
    else:
        assert report.notes == []
        assert rows[0] == "0"


def test_what_a_layer_is_given_may_be_overwritten_where_nothing_needs_it():
    class Adding(nn.Module):
        """Adds in place what a frozen layer makes of the same."""

        def __init__(self, in_place):
            super().__init__()
            self.stem, self.head = nn.Linear(5, 5), nn.Linear(5, 4)
            self.body = nn.Linear(5, 5).requires_grad_(False)
            self.in_place = in_place

        def forward(self, x):
            x = self.stem(x)
            y = torch.tanh(self.body(x))
            return self.head(x.add_(5 * y) if self.in_place else x + 5 * y)

    found = []
    for in_place in (True, False):
        torch.manual_seed(1)
        model, x = Adding(in_place).double(), torch.randn(40, 5).double()
        report = audit(model, x, torch.arange(40) % 4, CROSS_ENTROPY)
        assert report.unexpected == []
        found.append({row.layer: row for row in report.maps}["body"])
    written, right = found
    assert written.kappa == right.kappa
    assert right.hessian is not None
    assert written.hessian is None
    assert "overwritten in place" in written.hessian_said


def of_kind(norm, x):
    torch.manual_seed(0)
    labels = torch.arange(len(x)) % 3
    model = nn.Sequential(norm, nn.Linear(x.shape[1], 3))
    return audit(model, x, labels, CROSS_ENTROPY, entries=0)


def sentences(norm, x):
    return " ".join(f.sentence for f in of_kind(norm, x).findings if f.layer == "0")


def test_only_what_has_a_running_variance_is_told_of_one():
    x = torch.randn(5, 4)
    assert "the running variance is 1.25 times" in sentences(nn.BatchNorm1d(4), x)
    for norm in (nn.LayerNorm(4), nn.RMSNorm(4), nn.BatchNorm1d(4, track_running_stats=False)):
        assert "entries are normalised together" in sentences(norm, x)
        assert "running" not in sentences(norm, x)


def test_what_rms_normalisation_makes_of_constants():
    equal = torch.rand(6, 4)[:, :1].expand(6, 4).clone()
    assert "beta" in sentences(nn.LayerNorm(4), equal)
    assert "beta" not in sentences(nn.RMSNorm(4), equal)
    equal[2] = 0
    assert "1 of 6 units are zero on the batch" in sentences(nn.RMSNorm(4), equal)
    assert "depends on its sign alone" in sentences(nn.RMSNorm(1), torch.randn(6, 1))


@pytest.mark.parametrize("norm", [nn.RMSNorm(1, 1e-16), nn.GroupNorm(1, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_where_an_entry_by_itself_leaves_no_gradient_no_ratio_is_told(norm, dtype):
    model, x = nn.Sequential(norm, nn.Linear(1, 3)).to(dtype), 100 * torch.randn(16, 1).to(dtype)
    (row,) = audit(model, x, torch.arange(16) % 3, CROSS_ENTROPY, budget=0).normalizations
    assert (row.theorem_4_1.median, row.theorem_4_1.worst) == (None, None)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_an_entry_by_itself_stops_no_audit(dtype):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.GroupNorm(4, 4), nn.Linear(4, 3)).to(dtype)
    x, labels = (100 * torch.randn(16, 3)).to(dtype), torch.arange(16) % 3
    assert audit(model, x, labels, CROSS_ENTROPY).unexpected == []


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_hessian_in_half_precision_is_not_told(dtype):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 4)).to(dtype)
    x, labels = (30 * torch.randn(64, 6)).to(dtype), torch.arange(64) % 4
    for row in audit(model, x, labels, CROSS_ENTROPY).maps:
        assert row.hessian is None
        assert row.hessian_said.startswith("not resolved")


IN_PLACE = {
    "ReLU": nn.ReLU(inplace=True),
    "LeakyReLU": nn.LeakyReLU(inplace=True),
    "Dropout": nn.Dropout(0.2, inplace=True),
}
BEFORE = {
    "instance": lambda: [nn.Conv2d(1, 4, 3), nn.InstanceNorm2d(4)],
    "group": lambda: [nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4)],
    "batch": lambda: [nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)],
    "linear of a sequence": lambda: [nn.Linear(8, 4)],
    "a first convolution without bias": lambda: [nn.Conv2d(1, 4, 3, bias=False)],
}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        *((before, "ReLU") for before in BEFORE),
        *product(("batch", "linear of a sequence"), ("LeakyReLU", "Dropout")),
    ],
)
def test_an_activation_in_place_changes_nothing(before, after):
    found = []
    for activation in (IN_PLACE[after], type(IN_PLACE[after])()):
        if after == "Dropout":
            activation.p = 0.2
        torch.manual_seed(0)
        x = torch.randn(8, 1, 8, 8)
        layers = [*BEFORE[before](), activation, nn.Flatten()]
        model = nn.Sequential(*layers, nn.Linear(256 if len(layers) == 3 else 144, 3))
        if before == "linear of a sequence":
            x, model[-1] = x[:, 0], nn.Linear(32, 3)
        elif "without" in before:
            model[-1] = nn.Linear(144, 3)
        torch.manual_seed(2)
        report = audit(model, x, torch.arange(8) % 3, CROSS_ENTROPY, entries=0)
        assert report.unexpected == []
        assert report.notes == []
        found.append((report.maps, report.normalizations))
    assert found[0] == found[1]


def test_a_first_convolution_without_a_bias_has_a_hessian():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 2, bias=False), nn.Tanh(), nn.Flatten(), nn.Linear(18, 3))
    x, labels = torch.rand(40, 1, 4, 4), torch.arange(40) % 3
    report = audit(model, x, labels, CROSS_ENTROPY, entries=0)
    assert report.maps[0].hessian is not None


class Penalised(nn.Module):
    """Gives back a gradient, as models of energies do."""

    def __init__(self):
        super().__init__()
        self.energy = nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x):
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            return torch.autograd.grad(self.energy(x).sum(), x, create_graph=True)[0]


def test_a_gradient_within_the_pass_accuses_nobody():
    torch.manual_seed(0)
    x, labels = torch.randn(16, 3), torch.arange(16) % 3
    report = audit(Penalised(), x, labels, CROSS_ENTROPY, entries=0)
    assert report.unexpected == []
    (row,) = report.normalizations
    assert row.is_another
    assert any("its gradient is taken while the loss is computed" in n for n in report.notes)
    assert [row.rows for row in report.maps] == [16]


def test_an_offset_in_double_precision_accuses_nobody():
    for seed in range(5):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3)).double()
        x = (torch.randn(3, 6) * 10 + 1e5).double()
        assert audit(model, x, torch.arange(3), CROSS_ENTROPY, entries=0).unexpected == []


def test_a_users_hook_that_changes_an_output_is_seen():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 3))
    for layer in model[1:]:
        layer.register_forward_hook(lambda module, given, output: torch.relu(output))
    report = audit(model, torch.randn(16, 3), torch.arange(16) % 3, CROSS_ENTROPY, entries=0)
    assert report.unexpected == []
    assert report.normalizations[0].is_another
    for kind in ("BatchNorm1d", "Linear"):
        assert any(f"a hook changes the output of this {kind}; " in note for note in report.notes)


class Frozen(nn.BatchNorm1d):
    """A layer that stays in evaluation, with running statistics as after some training."""

    def __init__(self, features):
        super().__init__(features)
        self.running_mean.copy_(torch.linspace(-1, 2, features))
        self.running_var.copy_(torch.linspace(0.5, 4, features))

    def train(self, mode=True):
        return super().train(False)


def of_frozen(hook, *of_hook):
    """Return an audit's report on a network with a frozen layer that has a hook."""
    torch.manual_seed(0)
    frozen = Frozen(4).eval()
    getattr(frozen, hook)(*of_hook)
    model = nn.Sequential(nn.Linear(3, 4), frozen, nn.Linear(4, 3))
    return audit(model, torch.randn(16, 3), torch.arange(16) % 3, CROSS_ENTROPY, entries=0)


def test_a_hook_that_changes_the_output_of_a_frozen_layer_is_seen():
    report = of_frozen("register_forward_hook", lambda module, given, output: 2 * output)
    (row,) = report.normalizations
    assert row.is_another
    assert (row.lipschitz.worst, row.left_of_gradient.worst) == (None, None)
    assert any("a hook changes the output of this Frozen; " in note for note in report.notes)


def test_a_hook_that_looks_at_a_frozen_layer_takes_nothing_away():
    report = of_frozen("register_forward_hook", lambda *_: None)
    (row,) = report.normalizations
    assert (report.notes, row.is_another, row.is_wrong) == ([], False, False)
    assert row.left_of_gradient.worst == pytest.approx(1, rel=1e-5)


def test_a_hook_that_changes_the_gradient_of_a_frozen_layer_is_seen():
    report = of_frozen("register_full_backward_hook", lambda _, w, g: (1.5 * w[0],))
    (row,) = report.normalizations
    assert row.off_gradient.worst == pytest.approx(0.5, rel=1e-5)
    assert report.has_failed
    assert "a hook of yours changes it" in report.worst(1)[0][1][0]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_the_eps_of_an_rms_norm_that_is_given_none_is_the_one_that_it_adds(dtype):
    torch.manual_seed(0)
    norm = nn.RMSNorm(8)
    model = nn.Sequential(norm, nn.Linear(8, 3)).to(dtype)
    given = torch.full((1, 8), 2.0**-14, dtype=dtype)
    added = given[0, 0].double() ** 2 * (norm(given)[0, 0].double() ** -2 - 1)
    x = (0.01 * torch.randn(16, 8)).to(dtype)
    report = audit(model, x, torch.arange(16) % 3, CROSS_ENTROPY, entries=0)
    (row,) = report.normalizations
    assert row.eps == pytest.approx(added.item(), rel=0.1)
    assert not report.has_failed


def test_a_hook_that_looks_at_a_layer_whose_weights_are_made_anew_takes_no_row_away():
    """Each look at a spectrally normalised weight in training takes another step to its norm."""
    torch.manual_seed(0)
    spectral = parametrizations.spectral_norm(nn.Linear(4, 4))
    spectral.register_forward_hook(lambda *_: None)
    model = nn.Sequential(spectral, nn.SiLU(), nn.Linear(4, 3)).double()
    x = torch.randn(8, 4, dtype=torch.float64)
    report = audit(model, x, torch.arange(8) % 3, CROSS_ENTROPY, entries=0)
    assert (report.notes, [row.layer for row in report.maps]) == ([], ["0", "2"])


def test_passes_that_are_not_one_function_are_told():
    torch.manual_seed(0)
    model, batches = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 3)), torch.randn(9, 16, 3)
    drawn = iter(batches)
    labels = torch.arange(16) % 3
    report = audit(model, closure=lambda: CROSS_ENTROPY(model(next(drawn)), labels))
    assert report.unexpected == []
    assert any("two passes over a batch give the losses" in note for note in report.notes)
    assert report.normalizations[0].curvature is None


def test_a_sparse_buffer_is_left_alone():
    class Graph(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 3)
            self.register_buffer("adjacency", torch.eye(16).to_sparse())

        def forward(self, x):
            return torch.sparse.mm(self.adjacency, self.layer(x))

    model = Graph().eval()
    model.layer.weight.grad = before = torch.ones(3, 3)
    audit(model, torch.randn(16, 3), torch.arange(16) % 3, CROSS_ENTROPY, entries=0)
    assert not model.training
    assert model.layer.weight.grad is before


def test_numbers_that_are_none_in_half_precision_are_left_out(tmp_path):
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3)
    ).half()
    x = (0.01 * torch.randn(16, 1, 6, 6)).half()
    report = audit(model, x, torch.arange(16) % 3, CROSS_ENTROPY, entries=0)
    read(report.save(tmp_path / "audit.json").read_bytes())


def test_a_normalisation_that_is_called_by_names_is_given_its_tensor():
    class Scaled(nn.LayerNorm):
        def forward(self, c, x):
            return super().forward(x) * c

    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.layer = Scaled(3), nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(self.norm(c=1.0, x=x))

    report = audit(Around(), torch.randn(16, 3), torch.arange(16) % 3, CROSS_ENTROPY, entries=0)
    assert (report.notes, report.unexpected) == ([], [])
    assert report.normalizations[0].m == 3


def hooked():
    """Return a layer whose gradient a user's hook enlarges."""
    layer = nn.BatchNorm1d(4)
    layer.register_full_backward_hook(lambda _, of_input, of_output: (1.1 * of_input[0],))
    return layer


@pytest.mark.parametrize(
    ("make", "why"),
    [(lambda: Detached(4), "python -m verify conform"), (hooked, "changed by a hook of yours")],
    ids=["of its own", "hooked"],
)
def test_whose_mistake_a_wrong_gradient_is(make, why, tmp_path):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), make(), nn.Linear(4, 3))
    kind = type(model[1]).__name__
    report = audit(model, torch.randn(16, 3), torch.arange(16) % 3, CROSS_ENTROPY, entries=0)
    said = {accused(report, row).rpartition(": ")[2] for row in report.unexpected}
    assert said == {f"{kind} gives back another gradient than its output's ({why})"}
    page = report.save(tmp_path / "audit.html").read_text()
    assert page.count('<span class="bad">violated</span> S-') == len(report.unexpected) > 0


def named(report):
    return [row.statement for row in report.statements]


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_an_audit_does_not_depend_on_the_mode_that_it_is_called_in(mode, data, plain):
    """As in a validation."""
    torch.manual_seed(1)
    model = Model()
    with mode():
        report = audit(model, *data, CROSS_ENTROPY, entries=0)
    assert (numbers(report), named(report)) == (numbers(plain), named(plain))


def test_an_audit_does_not_depend_on_where_all_that_is_made_is_made(data, examined):
    torch.manual_seed(1)
    model = Model()
    with torch.inference_mode(), torch.device("meta"):
        report = audit_with_entries(model, *data, CROSS_ENTROPY)
    assert (numbers(report), named(report)) == (numbers(examined), named(examined))
