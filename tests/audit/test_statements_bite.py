"""Statements at measured units: right ones hold, wrong formulas and wrong layers are caught."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from small_networks import CROSS_ENTROPY, Detached, Halved
from torch import nn

from theory.language.variants import variants
from verify import engine
from verify.audit import audit, statements
from verify.audit.first_order import first_order
from verify.audit.second_order import SecondOrder
from verify.audit.spanned import NotMeasuredError, Space
from verify.tolerance import Outcome

BY_ID = {claim.id: claim for claim in engine.CLAIMS}
EQUATIONS = ("S-eq-9/eps/corrected", "S-fact-C1/eps", "S-thm-4.2a/eps/corrected", "S-eq-41-42/eps")


@pytest.fixture(scope="module")
def measured():
    """Return a unit of a network with its second derivatives; epsilon is large."""
    torch.manual_seed(3)
    norm = nn.BatchNorm1d(5, eps=0.3).double()
    nn.init.normal_(norm.weight)
    model = nn.Sequential(nn.Linear(4, 5), norm, nn.Tanh(), nn.Linear(5, 3)).double()
    x, labels = torch.randn(12, 4).double() + 1, torch.randint(3, (12,))

    def run():
        return CROSS_ENTROPY(model(x), labels)

    (units,) = first_order(run, model, {"1": norm}, {}).units["1"]
    second = SecondOrder(run, {"1": norm}, {}, {"1": 0})
    parts = [statements.measurements(units, "", i, second.unit("1", i)) for i in range(5)]
    return statements.joined(parts)


def outcomes(claim, measured):
    (found,) = statements.examine([claim], measured)
    return set(found.outcomes)


def test_a_formula_that_is_unreadable_is_left_out(measured):
    lost = replace(BY_ID["S-thm-4.1/eps"], says=None, because=None, unreadable="a sign was lost")
    assert list(statements.examine([lost], measured)) == []


@pytest.mark.parametrize("name", EQUATIONS)
def test_the_statement_holds_and_each_wrong_variant_is_violated(name, measured):
    claim = BY_ID[name]
    assert outcomes(claim, measured) == {Outcome.HOLDS}
    says = claim.says
    wrong = [v for v in dict.fromkeys(variants(says.claimed)) if v != says.claimed]
    caught = 0
    for variant in wrong:
        planted = replace(claim, says=replace(says, claimed=variant))
        try:
            assert Outcome.VIOLATED in outcomes(planted, measured), str(variant)
            caught += 1
        except ValueError:  # it asks what was not measured, and so is not examined
            continue
    assert caught >= 5


def test_theorem_4_1_is_violated_by_half_its_bound(measured):
    claim = BY_ID["S-thm-4.1/eps"]
    halved = replace(claim, says=claim.says.actual <= claim.says.claimed / 2)
    assert outcomes(halved, measured) == {Outcome.VIOLATED}


def test_what_was_not_measured_is_not_examined(measured):
    first_only = replace_products(measured)
    assert list(statements.examine([BY_ID["S-thm-4.2a/eps/corrected"]], first_only)) == []
    (found,) = statements.examine([BY_ID["S-thm-4.1/eps"]], first_only)
    assert len(found.outcomes) == 5


def replace_products(measured):
    names = {"one", "yhat", "g", "w"}
    products = {pair: v for pair, v in measured.products.items() if names >= set(pair)}
    errors = {pair: v for pair, v in measured.errors.items() if names >= set(pair)}
    return replace(measured, products=products, errors=errors)


def test_a_product_of_entries_is_not_known():
    space = Space(3, {("one", "g"): np.array([1.0]), ("g", "g"): np.array([2.0])})
    g = space.vector("g")
    with pytest.raises(NotMeasuredError, match="product of entries"):
        _ = g * g
    with pytest.raises(NotMeasuredError, match="<g, w>"):
        g.inner(space.vector("w"))


@pytest.mark.parametrize("layer", [Detached, Halved])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_a_wrong_backward_pass_is_caught(layer, dtype):
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(4, 6), layer(6), nn.Tanh(), nn.Linear(6, 3)).to(dtype)
    x, labels = torch.randn(16, 4, dtype=dtype), torch.randint(3, (16,))
    report = audit(model, x, labels, CROSS_ENTROPY)
    assert "S-fact-C1/eps" in {row.statement for row in report.unexpected}


def off_by_a_part(norm, part):
    """Return a layer that gives back so much more than its output's gradient."""

    class Wrong(norm):
        def forward(self, y):
            z = super().forward(y)
            return z.detach() + (1 + part) * (z - z.detach())

    return Wrong


@pytest.mark.parametrize("part", [0.02, 0.0])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(
    ("norm", "sizes"),
    [
        (nn.BatchNorm1d, (6,)),
        (nn.LayerNorm, (6,)),
        (nn.RMSNorm, (6, 1e-5)),
        (nn.GroupNorm, (2, 6)),
    ],
)
def test_a_gradient_that_is_not_the_outputs_is_told(norm, sizes, dtype, part):
    """Of RMS normalisation too, which no statement is about."""
    torch.manual_seed(5)
    layer = off_by_a_part(norm, part)(*sizes)
    model = nn.Sequential(nn.Linear(4, 6), layer, nn.Tanh(), nn.Linear(6, 3)).to(dtype)
    x, labels = torch.randn(16, 4, dtype=dtype), torch.randint(3, (16,))
    report = audit(model, x, labels, CROSS_ENTROPY, budget=0)
    assert report.has_failed == (part > 0)
    said = [f for f in report.findings if "another gradient than its output's" in f.sentence]
    assert [f.layer for f in said] == ["1"] * (part > 0)
    (row,) = report.normalizations
    assert row.off_gradient.worst == pytest.approx(part, rel=0.2)
    assert row.off_gradient.worst <= part * (1 + 1e-6)


class Unbiased(nn.BatchNorm1d):
    """Divides by the unbiased deviation."""

    def forward(self, y):
        centred = y - y.mean(0)
        return self.weight * centred / (y.var(0) + self.eps).sqrt() + self.bias


class Rectified(nn.BatchNorm1d):
    def forward(self, y):
        return super().forward(y).relu()


@pytest.mark.parametrize("layer", [Unbiased, Rectified])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_no_statement_is_about_a_layer_with_another_output(layer, dtype):
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(4, 6), layer(6), nn.Tanh(), nn.Linear(6, 3)).to(dtype)
    x, labels = 3 + torch.randn(16, 4, dtype=dtype), torch.randint(3, (16,))
    report = audit(model, x, labels, CROSS_ENTROPY)
    assert report.unexpected == []
    assert not {at.layer for row in report.statements for at in row.layers} & {"1"}
    (row,) = report.normalizations
    gradients = row.lipschitz, row.share_of_mean, row.left_of_gradient, row.theorem_4_1
    assert (row.is_another, row.dead, row.curvature) == (True, 0, None)
    assert {spread.worst for spread in gradients} == {None}
    assert row.variance_over_eps.worst > 1


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4])
def test_single_precision_with_an_offset_accuses_nobody(offset):
    torch.manual_seed(7)
    model = nn.Sequential(nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 3))
    x, labels = torch.randn(64, 6) + offset, torch.randint(3, (64,))
    report = audit(model, x, labels, CROSS_ENTROPY)
    assert report.unexpected == []


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_accuses_nobody(dtype):
    torch.manual_seed(9)
    model = nn.Sequential(nn.Linear(8, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 3)).to(dtype)
    x, labels = torch.randn(64, 8).to(dtype), torch.randint(3, (64,))
    report = audit(model, x, labels, lambda z, t: CROSS_ENTROPY(z.float(), t))
    assert report.unexpected == []


class ByHand(nn.BatchNorm1d):
    """The layer by elementary operations, whose backward pass is theirs."""

    def forward(self, y):
        centred = y - y.mean(0)
        return self.weight * centred * (centred.square().mean(0) + self.eps).rsqrt() + self.bias


@pytest.mark.parametrize(
    ("layer", "dtype", "scale", "of_loss"),
    [
        (nn.BatchNorm1d, torch.float16, 300, 1),
        (nn.LayerNorm, torch.float16, 1, 1e-4),
        (ByHand, torch.float32, 1e15, 1),
        (nn.LayerNorm, torch.float32, 1, 1e-36),
        (nn.BatchNorm1d, torch.float32, 1e-6, 1e-42),
    ],
)
def test_what_underflows_is_undecided_and_accuses_nobody(layer, dtype, scale, of_loss):
    torch.manual_seed(0)
    labels = torch.randint(3, (16,))
    model = nn.Sequential(layer(6), nn.Linear(6, 3)).to(dtype)
    x = torch.randn(16, 6).to(dtype) * scale
    report = audit(model, x, labels, lambda z, t: of_loss * CROSS_ENTROPY(z, t))
    assert report.unexpected == []
    by_id = {row.statement: row for row in report.statements}
    if "S-eq-34-37/eps" in by_id:  # there is a gradient left to take it along
        assert by_id["S-eq-34-37/eps"].undecided == 1


@pytest.mark.parametrize(("weight", "of_loss"), [(2.0**-6, 2.0**-18), (1.0, 2.0**16)])
def test_gradients_at_the_ends_of_half_precision_stop_no_audit(weight, of_loss):
    torch.manual_seed(0)
    model = nn.Sequential(nn.LayerNorm(6), nn.Linear(6, 3)).half()
    nn.init.constant_(model[0].weight, weight)
    x, labels = torch.randn(16, 6).half() / 100, torch.randint(3, (16,))
    report = audit(model, x, labels, lambda z, t: of_loss * CROSS_ENTROPY(z.float(), t), entries=0)
    assert report.unexpected == []


@pytest.mark.parametrize(("scale", "of_loss"), [(1e5, 1), (1e10, 1), (1, 1e-30)])
def test_a_wrong_layer_is_caught_far_from_one_as_long_as_nothing_underflows(scale, of_loss):
    torch.manual_seed(0)
    model = nn.Sequential(Detached(6), nn.Linear(6, 3))
    x, labels = torch.randn(16, 6) * scale, torch.randint(3, (16,))
    report = audit(model, x, labels, lambda z, t: of_loss * CROSS_ENTROPY(z, t))
    assert "S-fact-C1/eps" in {row.statement for row in report.unexpected}
    assert {row.undecided for row in report.statements if row.statement == "S-fact-C1/eps"} == {0}


def test_a_wrong_layer_is_caught_in_half_precision_where_gradients_are_small():
    torch.manual_seed(0)
    model = nn.Sequential(Detached(6), nn.Linear(6, 3)).half()
    x, labels = torch.randn(16, 6).half(), torch.randint(3, (16,))
    report = audit(model, x, labels, lambda z, t: CROSS_ENTROPY(z.float(), t) / 100, entries=0)
    assert "S-fact-C1/eps" in {row.statement for row in report.unexpected}
