"""Statements at the layers of any model: what holds, what falls, and that a wrong one is seen."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from by_functions import worth
from torch import nn
from torch.nn.functional import cross_entropy

from theory.language.expression import Says
from theory.nn.lp_normalization import LpNormalization
from theory.statement import Relation, Verdict, values_of
from verify import engine
from verify.experiments import theorems
from verify.experiments.held_layer import held
from verify.witnesses import autograd

BY_NAME = {claim.id: claim for claim in engine.CLAIMS}


def network(norm=nn.BatchNorm1d):
    """A small network whose layers are away from their initial scale and shift."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = nn.Sequential(
            nn.Linear(4, 5, bias=False), norm(5), nn.ReLU(inplace=True), nn.Linear(5, 3),
            nn.BatchNorm1d(3, track_running_stats=False),
        )  # fmt: skip
        for module in (model[1], model[4]):
            nn.init.normal_(module.weight, 1.0, 0.4)
            nn.init.normal_(module.bias, 0.0, 0.4)
        return model


@pytest.fixture
def batch():
    generator = torch.Generator().manual_seed(4)
    return torch.randn(12, 4, generator=generator) + 2, torch.arange(12) % 3


def hold(model, batch, index=1):
    return held(model, *batch, cross_entropy, {"layer": model[index]})[0]


def examined(model, batch, claims, index=1, units=5):
    return list(theorems.examine_layer(hold(model, batch, index), claims, units, seed=0))


def test_what_is_right_holds_and_some_of_what_is_wrong_is_seen_to_fall(batch):
    model = network()
    layers = {"first": model[1], "last": model[4], "map": model[0]}
    found = theorems.examine(model, *batch, cross_entropy, layers, units=3, seed=0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    keys = ["layer", "claim", "instances", "violated", "undecided", "vacuous", "worst_ratio"]
    assert all(list(one) == keys for one in found)
    assert {one["layer"] for one in found} == {"first", "last", "map"}
    assert {one["instances"] for one in found if one["layer"] != "map"} == {3}
    violated = {one["claim"] for one in found if one["violated"]}
    assert {BY_NAME[name].expected for name in violated} == {Verdict.REFUTED}
    assert {"S-thm-4.2a/eps", "S-thm-4.4/not-squared/scaled-mean"} < violated
    vacuous = {one["claim"] for one in found if one["vacuous"] == one["instances"]}
    assert vacuous <= {"S-thm-4.2b/ratio"}
    bounds = [one for one in found if one["claim"] in ("S-thm-4.1/eps", "S-thm-4.4/eps/corrected")]
    assert all(0 < one["worst_ratio"] <= 1 for one in bounds)


def wrong_term(name, change):
    """Return a claim with its claimed side changed."""
    right = BY_NAME[name]
    actual, claimed = right.says.actual, right.says.claimed
    wrong = worth(lambda at: change(at, values_of(at)[claimed]), claimed.sort)
    return replace(right, id="S-planted", says=Says(actual, right.relation, wrong), because=None)


def turned(name, planted):
    """Return a claim with its relation turned round."""
    right = BY_NAME[name]
    says = replace(right.says, relation=Relation.AT_LEAST)
    return replace(right, id=planted, says=says, because=None)


PLANTED = {
    "a sign": wrong_term("S-fact-C1/eps", lambda at, claimed: -claimed),
    "a bound that is too small by 1e-7": wrong_term(
        "S-eq-9/eps/corrected", lambda at, claimed: claimed * (1 - 1e-7)
    ),
    "no curvature": wrong_term(
        "S-thm-4.2a/eps/corrected",
        lambda at, claimed: claimed - at.gamma**2 / at.sigma**2 * (at.g @ at.H(at.g)),
    ),
    "the other direction": turned("S-thm-4.1/eps", "S-planted"),
}


def test_planted_mistakes_are_found_violated(batch):
    found = examined(network(), batch, list(PLANTED.values()))
    violated = {name: one.violated for name, one in zip(PLANTED, found, strict=True)}
    assert violated == dict.fromkeys(PLANTED, 5)


@pytest.mark.parametrize("has_epsilon", [False, True])
def test_the_narrow_jets_give_what_the_whole_network_gives(batch, has_epsilon):
    """A statement that asked for the Hessian elsewhere would differ."""
    model = network(lambda units: nn.BatchNorm1d(units, track_running_stats=False))
    layer, chosen = hold(model, batch), torch.arange(5)
    claims = [BY_NAME[name] for name in theorems.OF_BATCH_NORMALIZATION]
    claims = [claim for claim in claims if claim.reading.has_epsilon == has_epsilon]
    narrow = theorems.instances_of(layer, chosen, has_epsilon, seed=0)
    # A loss that is run anew at each call: vmap knows no hooks that come and go, but for these.
    whole = replace(narrow, arguments=(chosen,))
    of_narrow = autograd.evaluate_stacked(claims, narrow, theorems.narrow_jets.loss)
    of_whole = autograd.evaluate_stacked(claims, whole, layer.loss_of_unit)
    for of_claim, expected in zip(of_narrow, of_whole, strict=True):
        for mine, its in zip(of_claim, expected, strict=True):
            scale = np.abs(its).max(initial=0.0)
            np.testing.assert_allclose(mine, its, rtol=1e-8, atol=1e-10 * scale)


def test_statements_about_the_inputs_of_a_map_bite(batch):
    planted = turned("L-thm-4a", "L-planted")
    right, wrong = examined(network(), batch, [BY_NAME["L-thm-4a"], planted], index=0)
    assert (right.violated, right.vacuous, wrong.violated) == (0, 0, 1)


class Liar(nn.BatchNorm1d):
    """Says another eps than it uses."""

    def forward(self, y):
        return nn.functional.batch_norm(y, None, None, self.weight, self.bias, True, 0.0, 1e-2)


@pytest.mark.parametrize(
    "other", [nn.LayerNorm, Liar, nn.PReLU, lambda units: LpNormalization(units, 1)]
)
def test_a_layer_that_is_no_batch_normalisation_is_refused(batch, other):
    model = network()
    model[1] = other(5)
    with pytest.raises(ValueError, match=r"layer layer, .* is no Batch Normalization"):
        examined(model, batch, [BY_NAME["S-thm-4.1"]])


def test_a_layer_without_scale_and_shift_has_one_and_zero(batch):
    model = network()
    model[1] = nn.BatchNorm1d(5, affine=False)
    found = examined(model, batch, [BY_NAME["S-eq-9/eps/corrected"], PLANTED["a sign"]])
    assert [f.violated for f in found] == [0, 5]


def test_a_batch_of_two_and_a_constant_unit_give_no_nan(batch):
    inputs, labels = (part[:2] for part in batch)
    model = network()
    nn.init.zeros_(model[0].weight[2].detach())
    layer = {"layer": model[1]}
    found = theorems.examine(model, inputs, labels, cross_entropy, layer, units=5, seed=0)
    assert all(one["worst_ratio"] is None or np.isfinite(one["worst_ratio"]) for one in found)
    right = [one for one in found if BY_NAME[one["claim"]].expected is Verdict.PROVED]
    assert not any(one["violated"] for one in right)


def test_no_units_are_refused(batch):
    model = network()
    with pytest.raises(ValueError, match="units = 0"):
        theorems.examine(model, *batch, cross_entropy, {"layer": model[1]}, units=0, seed=0)
