"""Layers that run with other parameters, several times, on nothing, or for nothing."""

import copy

import pytest
import torch
from small_networks import CROSS_ENTROPY, audit_with_entries
from torch import nn
from torch.func import functional_call, vmap

from verify.audit import audit

LABELS = torch.arange(16) % 4


def network():
    torch.manual_seed(0)
    layers = nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 4)
    return nn.Sequential(*layers).double()


@pytest.fixture(scope="module")
def x():
    torch.manual_seed(1)
    return torch.randn(16, 6, dtype=torch.float64)


def numbers(report):
    (row,) = report.normalizations
    first, last = report.maps
    of_norm = row.lipschitz.worst, row.theorem_4_1.worst, row.curvature.smoothness
    return [*of_norm, first.kappa, last.kappa, last.hessian]


def test_layers_that_run_with_other_parameters_are_examined_with_those(x):
    model = network()

    def closure():
        parameters = {name: 1.7 * p + 0.1 for name, p in model.named_parameters()}
        return CROSS_ENTROPY(functional_call(model, parameters, (x,)), LABELS)

    report = audit_with_entries(model, closure=closure)
    assert report.unexpected == []
    other = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.mul_(1.7).add_(0.1)
    right = audit(other, x, LABELS, CROSS_ENTROPY, entries=0)
    assert numbers(report) == numbers(right)
    cosines = [[row.cosine for row in each.maps] for each in (report, right)]
    assert cosines[0] == pytest.approx(cosines[1], abs=1e-12)


@pytest.mark.parametrize("norm", [nn.GroupNorm(2, 6), nn.BatchNorm2d(6)], ids=["group", "batch"])
def test_a_step_of_learning_within_the_loss_accuses_nobody(norm):
    torch.manual_seed(0)
    layers = nn.Conv2d(3, 6, 3), norm, nn.Tanh(), nn.Flatten(), nn.Linear(24, 4)
    model, images = nn.Sequential(*layers), torch.randn(16, 3, 4, 4)

    def closure():
        slow = dict(model.named_parameters())
        loss = CROSS_ENTROPY(functional_call(model, slow, (images,)), LABELS)
        slopes = torch.autograd.grad(loss, [*slow.values()], create_graph=True)
        fast = {name: p - g for (name, p), g in zip(slow.items(), slopes, strict=True)}
        return CROSS_ENTROPY(functional_call(model, fast, (images.flip(0),)), LABELS.flip(0))

    report = audit(model, closure=closure, entries=0)
    assert report.unexpected == []
    assert not any(note.startswith("second derivatives") for note in report.notes)


@pytest.mark.parametrize("how", ["no_grad", "detach"])
def test_a_first_run_that_no_gradient_reaches_is_not_the_one_that_is_told_of(how, x):
    """As of a network that is its own teacher."""

    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = network()

        def forward(self, x):
            with torch.set_grad_enabled(how != "no_grad"):
                teacher = self.inner(3 * x.flip(1) + 1)
            return self.inner(x) + 0 * teacher.detach()

    report = audit_with_entries(Twice(), x, LABELS, CROSS_ENTROPY)
    right = audit(network(), x, LABELS, CROSS_ENTROPY, entries=0)
    assert report.unexpected == []
    assert numbers(report) == pytest.approx(numbers(right))
    assert report.normalizations[0].calls == 2
    assert report.normalizations[0].dead == 0
    assert [note.partition(";")[0] for note in report.notes] == [
        "inner.0: it runs 2 times a pass",
        "inner.3: it runs 2 times a pass",
    ]
    assert all(note.endswith("of the first that a gradient reaches") for note in report.notes)


def test_directions_that_the_first_of_several_runs_has_not_are_not_called_roundings(x):
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.last = nn.Linear(6, 6), nn.Linear(6, 4)

        def forward(self, x):
            for _ in range(3):
                x = torch.tanh(self.layer(x))
            return self.last(x)

    torch.manual_seed(0)
    report = audit(Recurrent().double(), x[:4], LABELS[:4], CROSS_ENTROPY, entries=0)
    row = report.maps[0]
    assert (row.rows, row.rank) == (4, 4)
    assert not any("roundings" in finding.sentence for finding in report.findings)


def test_a_layer_that_the_loss_does_not_depend_on_is_not_called_dead(x):
    """As of a generator at its discriminator's step."""
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 6)).double()
    model = nn.ModuleDict({"generator": generator, "discriminator": network()})

    def closure():
        return CROSS_ENTROPY(model["discriminator"](model["generator"](x).detach()), LABELS)

    report = audit(model, closure=closure, budget=0)
    assert [row.layer for row in report.normalizations] == ["discriminator.1"]
    assert {*report.notes} == {
        f"generator.{i}: the loss does not depend on it" for i in range(len(generator))
    }


class Experts(nn.Module):
    """Each example is for the first or the second of three."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 4)) for _ in range(3)
        )

    def forward(self, x):
        chosen, found = (x[:, 0] > 0).long(), x.new_zeros(len(x), 4)
        for i, expert in enumerate(self.experts):
            found[chosen == i] = expert(x[chosen == i])
        return found


def test_an_expert_that_is_given_nothing_is_named_and_the_others_examined(x):
    report = audit(Experts().double(), x, LABELS, CROSS_ENTROPY)
    assert report.unexpected == []
    assert [row.layer for row in report.normalizations] == ["experts.0.0", "experts.1.0"]
    assert [row.layer for row in report.maps] == ["experts.0.1", "experts.1.1"]
    assert report.notes == [
        f"experts.2.{i}: it is given a batch of shape (0, 6), with no entries" for i in range(2)
    ]


def test_an_expert_that_another_batch_is_for_is_examined_there(x):
    batches = [(-x.abs(), LABELS), (x, LABELS)]
    report = audit(Experts().double(), batches=batches, loss=CROSS_ENTROPY, budget=0)
    assert [row.layer for row in report.normalizations] == ["experts.0.0", "experts.1.0"]
    assert [row.layer for row in report.maps] == ["experts.0.1", "experts.1.1"]
    assert report.maps[1].cosine is not None
    assert [note.partition(":")[0] for note in report.notes] == ["experts.2.0", "experts.2.1"]


class Conditional(nn.BatchNorm1d):
    """Is given labels first, and scales by them."""

    def forward(self, labels, x):
        return super().forward(x) * (1 + labels[:, None])


class OfPair(nn.LayerNorm):
    def forward(self, pair):
        return super().forward(pair[0]) * pair[1]


class Among(nn.Module):
    """A layer amid others, called in some way."""

    def __init__(self, layer, call):
        super().__init__()
        torch.manual_seed(0)
        self.input, self.layer, self.output = nn.Linear(6, 6), layer, nn.Linear(6, 4)
        self.call = call

    def forward(self, x):
        return self.output(self.call(self.layer, self.input(x)))


def of_frequencies(layer, x):
    return torch.fft.irfft(layer(torch.fft.rfft(x.float())), 6)


NOT_LOOKED_AT = {
    "labels first": (
        lambda: Conditional(6),
        lambda layer, x: layer(torch.arange(len(x)) % 2, x),
        "Conditional comes from BatchNorm1d and its output is another",
    ),
    "a pair": (
        lambda: OfPair(6),
        lambda layer, x: layer((x, torch.ones(len(x), 1))),
        "it is given no tensor of real numbers by itself",
    ),
    "complex numbers": (
        lambda: nn.Linear(4, 4, dtype=torch.cfloat),
        of_frequencies,
        "it is given no tensor of real numbers by itself",
    ),
    "a sparse tensor": (
        lambda: nn.Linear(6, 6),
        lambda layer, x: layer(torch.eye(len(x), 6).to_sparse()) + x,
        "it is given a tensor whose layout is torch.sparse_coo",
    ),
    "example by example": (
        lambda: nn.LayerNorm(6),
        lambda layer, x: vmap(layer)(x),
        "it runs within a transformation of torch.func",
    ),
}


@pytest.mark.parametrize("name", NOT_LOOKED_AT)
def test_a_layer_whose_input_cannot_be_looked_at_is_named_and_the_rest_audited(name, x):
    layer, call, said = NOT_LOOKED_AT[name]
    report = audit(Among(layer(), call), x.float(), LABELS, CROSS_ENTROPY)
    assert report.unexpected == []
    assert [row.layer for row in report.maps] == ["input", "output"]
    (note,) = report.notes
    assert note.startswith(f"layer: {said}")


class Writing(nn.BatchNorm1d):
    def forward(self, y):
        return super().forward(y.mul_(2))


@pytest.mark.parametrize("before", [(), (nn.Linear(6, 6),)], ids=["a first layer", "another"])
def test_a_layer_that_writes_into_what_it_is_given_is_named(before, x):
    model = nn.Sequential(*before, Writing(6), nn.Linear(6, 4)).double()
    report = audit(model, x, LABELS, CROSS_ENTROPY)
    assert report.notes == [f"{len(before)}: Writing writes into what it is given; it has no row"]
    assert report.normalizations == []
    assert report.maps[-1].layer == str(len(before) + 1)


def test_a_model_that_learns_nothing_is_examined_by_what_learns_outside(x):
    """As a prompt, or an image, that is learnt for a model that is frozen."""
    model = network()
    right = numbers(audit(model, x, LABELS, CROSS_ENTROPY, entries=0))
    model.requires_grad_(False)
    prompt = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    report = audit(model, closure=lambda: CROSS_ENTROPY(model(x + prompt), LABELS), entries=0)
    assert numbers(report) == pytest.approx(right)
    assert (report.notes, report.unexpected, prompt.grad) == ([], [], None)
