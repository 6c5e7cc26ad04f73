"""Statements on entries of inputs and weights, at parts of somebody's layers."""

from dataclasses import replace
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
import torch
from small_networks import CROSS_ENTROPY
from torch import nn

from verify import engine
from verify.audit import along_inputs, audit, auditing, entries, gramian
from verify.audit.left_out import NO_CHANNEL, OF_A_MINIMUM, OF_CHANCE, OF_MORE, WITHOUT_EPSILON
from verify.tolerance import Outcome

BY_ID = {claim.id: claim for claim in engine.CLAIMS}
LAYERS = {
    "dense": (nn.Linear(5, 3), (7, 5)),
    "dense, positions": (nn.Linear(4, 3), (2, 3, 4)),
    "strided": (nn.Conv2d(2, 4, (3, 2), stride=(2, 1), padding=1), (3, 2, 6, 5)),
    "dilated": (nn.Conv2d(2, 4, (3, 2), dilation=(1, 2)), (3, 2, 6, 5)),
    "groups": (nn.Conv2d(4, 6, 3, groups=2, padding=1, padding_mode="circular"), (2, 4, 4, 4)),
    "one axis": (nn.Conv1d(2, 3, 4, stride=3), (3, 2, 11)),
    "three axes": (nn.Conv3d(1, 2, 2), (2, 1, 3, 3, 2)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_columns_and_rows_are_those_of_the_whole_matrix(name):
    torch.manual_seed(0)
    module, shape = LAYERS[name]
    inputs = torch.randn(shape)
    whole = torch.cat(list(gramian.rows(module, inputs)), dim=1)[..., 1:]
    for group, number in product(range(len(whole)), range(whole.shape[2])):
        found = gramian.column(module, inputs, group, number)
        assert torch.equal(found, whole[group, :, number])
    chosen = torch.tensor([0, 2, whole.shape[1] - 1])
    assert torch.equal(gramian.some_rows(module, inputs, chosen), whole[:, chosen])


@pytest.mark.parametrize("rows", [2, 3, 4, 9, 40])
def test_a_part_of_a_layer_has_a_quarter_as_many_weights_as_rows_and_one_at_least(rows):
    def product(unit, vector):
        return torch.full_like(vector, unit)

    torch.manual_seed(0)
    gradient, inputs = torch.randn(rows, 3), torch.randn(rows, 12)
    part = entries.of_layer(nn.Linear(12, 3), inputs, 0, gradient, product)
    assert part.subject.H.shape == (min(rows, 32), {9: 2, 40: 8}.get(rows, 1))


SMALL = {
    "dense": (nn.Linear(4, 3), (50, 4)),
    "dense, positions": (nn.Linear(4, 3), (2, 25, 4)),
    "two axes": (nn.Conv2d(1, 3, 2), (3, 1, 6, 5)),
    "groups": (nn.Conv1d(2, 4, 4, groups=2), (4, 2, 20)),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_part_has_the_gradient_and_the_curvature_of_its_own_rows(name):
    torch.manual_seed(0)
    module, shape = SMALL[name]
    module.double().reset_parameters()  # from the seed: weights were drawn at import
    inputs = torch.randn(shape, dtype=torch.float64)
    outputs = module(inputs).detach()
    axis = -1 if isinstance(module, nn.Linear) else 1
    gradient, curvature = torch.randn_like(outputs), torch.rand_like(outputs)
    values, slopes, curved = (
        x.movedim(axis, -1).flatten(end_dim=-2) for x in (outputs, gradient, curvature)
    )
    for group in range(getattr(module, "groups", 1)):
        part = entries.of_layer(module, inputs, group, gradient, lambda j, v: curved[:, j] * v)
        H, W, b = (torch.from_numpy(getattr(part.subject, x)) for x in "HWb")
        A = H @ W.T + b
        found = torch.func.grad(part.subject.loss)(A)
        bent = torch.func.hessian(part.subject.loss)(A)[:, 0, :, 0].diagonal()
        at = (values.flatten() - A[:, :1]).abs().argmin(1)  # each output is met once
        torch.testing.assert_close(A[:, 0], values.flatten()[at])
        torch.testing.assert_close(found[:, 0], slopes.flatten()[at])
        torch.testing.assert_close(bent, curved.flatten()[at])


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(2)
    norm = nn.BatchNorm2d(3, eps=0.1)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    layers = (nn.Conv2d(2, 3, 3, padding=1), norm, nn.Tanh(), nn.Flatten(), nn.Linear(48, 3))
    return nn.Sequential(*layers).double()


@pytest.fixture(scope="module")
def data():
    torch.manual_seed(3)
    return torch.rand(6, 2, 4, 4).double(), torch.randint(3, (6,))


@pytest.fixture(scope="module")
def audited(model, data):
    """The report, and the examination of channels, which remembers what it was called with."""
    with patch.object(along_inputs, "examine", wraps=along_inputs.examine) as examine:
        return audit(model, *data, CROSS_ENTROPY, entries=3), examine


@pytest.fixture
def report(audited):
    return audited[0]


def test_every_statement_of_the_ledger_is_examined_or_left_out_for_a_reason(report):
    examined = [row.statement for row in report.statements]
    others = [name for names in report.left_out.values() for name in names]
    assert sorted(examined + others) == sorted(BY_ID)
    assert len(examined) > 300
    assert report.unexpected == []
    assert all(name.startswith("S-thm-4.2-disc") for name in report.left_out[OF_A_MINIMUM])
    assert "S-thm-4.1/two-networks/eps" in report.left_out[OF_MORE]
    assert {OF_CHANCE, WITHOUT_EPSILON} <= report.left_out.keys()


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("L-prop-7/corrected", "rows"),
        ("L-thm-3", "rows"),
        ("L-lemma-8", "examples"),
        ("S-eq-53/eps", "inputs"),
        ("S-v1-thm-3.2/square/eps", "inputs"),
        ("S-eq-34-37/eps", "inputs"),
    ],
)
def test_what_was_examined_says_where_and_holds(name, place, report):
    (row,) = (row for row in report.statements if row.statement == name)
    assert row.instances - row.vacuous >= 1
    assert row.violated == row.undecided == 0
    assert place in row.worst_unit


def dense_hessian(model, data, unit):
    """Return the network's own Hessian in a unit's output, entry by entry."""
    x, labels = data
    z = model[1](model[0](x)).detach()

    def loss(of_unit):
        outputs = torch.cat([z[:, :unit], of_unit.reshape(6, 1, 4, 4), z[:, unit + 1 :]], dim=1)
        return CROSS_ENTROPY(model[2:](outputs), labels)

    return torch.autograd.functional.hessian(loss, z[:, unit].flatten())


def test_a_channel_has_its_batch_its_inputs_and_the_networks_hessian(model, data, audited):
    _, examine = audited
    examine.assert_called_once()
    _, channel = examine.call_args.args
    x, (convolution, norm) = data[0], model[:2]
    y = convolution(x).detach().movedim(1, -1).flatten(0, 2)
    (unit,) = (i for i in range(3) if torch.allclose(y[:, i], channel.y, atol=1e-12))
    assert channel.gamma == norm.weight[unit].item()
    assert channel.beta == norm.bias[unit].item()
    unfolded = nn.functional.unfold(x, 3, padding=1).mT.flatten(0, 1)
    for one in channel.inputs:
        assert any(torch.equal(one, column) for column in unfolded.T)
    assert torch.linalg.matrix_norm(unfolded, 2) <= channel.bound
    H = dense_hessian(model, data, unit)
    torch.testing.assert_close(channel.images, H @ channel.span, rtol=1e-9, atol=1e-12)


ALONG_INPUTS = "S-eq-53/eps"


@pytest.fixture
def few_statements(monkeypatch):
    """Let an audit examine what the row of a layer tells, and one statement along inputs."""
    few = [BY_ID[name] for name in ("L-thm-4a", "L-thm-4c", ALONG_INPUTS)]
    monkeypatch.setattr(auditing, "_claims", lambda: few)


def audited_where_features_vary(*varying):
    """Return the report on a channel below which these of five features vary."""
    torch.manual_seed(7)
    model = nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3), nn.Tanh(), nn.Linear(3, 3)).double()
    x = torch.ones(8, 5).double()
    x[:, varying] = torch.randn(8, len(varying)).double()
    return audit(model, x, torch.randint(3, (8,)), CROSS_ENTROPY, entries=1)


@pytest.mark.usefixtures("few_statements")
def test_a_channel_is_examined_along_inputs_that_vary():
    report = audited_where_features_vary(1, 3)
    (row,) = (row for row in report.statements if row.statement == ALONG_INPUTS)
    assert sorted(row.worst_unit.partition("inputs ")[2].split(" and ")) == ["1", "3"]


@pytest.mark.usefixtures("few_statements")
def test_where_one_input_varies_a_channel_is_not_examined_and_a_note_says_so():
    report = audited_where_features_vary(2)
    assert report.notes == [
        "0: entries: fewer than two inputs vary, or one nearly is made of others",
        "1: fewer than two inputs of 0 vary",
    ]
    assert report.left_out[NO_CHANNEL] == [ALONG_INPUTS]


class OneNormOfTwoMaps(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.norm = nn.Linear(5, 3), nn.Linear(3, 3), nn.BatchNorm1d(3)

    def forward(self, x):
        return self.norm(self.second(self.norm(self.first(x)).tanh()))


@pytest.mark.usefixtures("few_statements")
def test_the_batch_of_one_call_is_not_taken_with_the_inputs_of_another():
    x, labels = torch.randn(8, 5), torch.randint(3, (8,))
    report = audit(OneNormOfTwoMaps(), x, labels, CROSS_ENTROPY, entries=1)
    assert report.left_out[NO_CHANNEL] == [ALONG_INPUTS]


def channel():
    draw = torch.Generator().manual_seed(4)
    y, g, first, other = torch.randn(4, 12, generator=draw, dtype=torch.float64)
    span = along_inputs.span_of(y, g, (first, other))
    root = torch.randn(12, 12, generator=draw, dtype=torch.float64)
    H = root @ root.T
    return along_inputs.Channel(
        y, 1.3, 0.4, 0.2, g, (first, other), 2.0, span, H @ span
    )  # fmt: skip


def test_what_asks_for_more_of_the_loss_is_refused():
    elsewhere = BY_ID["S-thm-4.1-identification/eps"]
    assert along_inputs.examine([elsewhere], channel()) == ([], {elsewhere.id: OF_MORE})


def part(rest_of=None):
    torch.manual_seed(5)
    layer, inputs = nn.Linear(12, 5).double(), torch.rand(40, 12).double()
    g, S = torch.randn(40, 5).double(), torch.rand(40).double() + 1
    S = torch.diag(S) if rest_of is None else rest_of
    return entries.of_layer(layer, inputs, 0, g, lambda _, vector: S @ vector)


ALONG = "S-eq-34-37/eps", "S-eq-53/eps", "S-v1-eq-58/corrected/eps"
AT_ENTRIES = "L-prop-7/corrected", "L-prop-2", "L-proof-prop-2/gradient", "L-eq-28-32/28"


@pytest.mark.parametrize(
    ("name", "examine", "make"),
    [
        *((name, along_inputs.examine, channel) for name in ALONG),
        *((name, entries.examine, part) for name in AT_ENTRIES),
    ],
)
def test_a_right_formula_holds_and_a_wrong_one_is_violated(name, examine, make):
    claim = BY_ID[name]
    planted = replace(claim, says=replace(claim.says, claimed=claim.says.claimed * 2))
    for one, outcome in ((claim, Outcome.HOLDS), (planted, Outcome.VIOLATED)):
        (found,), refused = examine([one], make())
        assert (found.outcomes, refused) == ([outcome], {})


def test_whether_the_loss_is_convex_is_not_told_by_products_with_two_vectors():
    convex = BY_ID["S-thm-4.2-discussion/psd"]
    assert entries.examine([convex], part()) == ([], {convex.id: OF_MORE})


def test_a_loss_that_couples_examples_is_no_diagonal_one():
    root = torch.randn(40, 40, generator=torch.Generator().manual_seed(6), dtype=torch.float64)
    coupled = part(root @ root.T)
    (found,), _ = entries.examine([BY_ID["L-prop-2"]], coupled)
    assert found.outcomes == [Outcome.VACUOUS]
    (found,), _ = entries.examine([BY_ID["L-prop-2/later-BN/corrected"]], coupled)
    assert found.outcomes == [Outcome.HOLDS]


def test_a_layer_whose_inputs_do_not_vary_has_no_part():
    assert entries.of_layer(nn.Linear(4, 2), torch.ones(8, 4), 0, None, None) is None


def test_without_second_derivatives_the_loss_of_a_layer_is_drawn(model, data):
    found = entries.of_layer(model[0], data[0], 0, None, None)
    assert isinstance(found.subject.H, np.ndarray)
    (one,), _ = entries.examine([BY_ID["L-thm-3"]], found)
    assert one.outcomes == [Outcome.HOLDS]


def test_costly_columns_are_the_worst_of_as_many_batches_as_are_asked_for(model, data):
    x, labels = data
    batches = [(x + shift, labels) for shift in (0.0, 9.0, 0.0)]
    one = audit(model, batches=batches, loss=CROSS_ENTROPY)
    three = audit(model, batches=batches, loss=CROSS_ENTROPY, costly=3)
    assert (one.costly, three.costly) == ([0], [0, 1, 2])
    assert (one.maps[0].batch, three.maps[0].batch) == (0, 1)
    assert three.maps[0].kappa > 2 * one.maps[0].kappa
    assert "batch" in three.normalizations[0].curvature.unit
    (few,), (many,) = (
        [row for row in r.statements if row.statement == "L-thm-4a"] for r in (one, three)
    )
    assert many.instances == 3 * few.instances
