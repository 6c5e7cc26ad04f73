"""Statements at units of trained networks: as they are, and changed as hypotheses want it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from by_functions import assuming
from slips import EQUATIONS, GRADIENT, HESSIAN

from theory.claim import Reading, Relation
from theory.santurkar2018 import CLAIMS
from theory.unit import m
from verify.subjects.networks import NETWORKS
from verify.tolerance import Outcome
from verify.witnesses import autograd, trained
from verify.witnesses.table import MET_BY_UNITS
from verify.witnesses.trained import Units, every_unit, examine_units, layers, rebuild

BY_ID = {claim.id: claim for claim in CLAIMS}


def test_networks_are_trained_once_and_progress_is_told(settings, maps):
    told = []
    trained.prepare(settings, lambda *args: told.append(args))
    descriptions = list(dict.fromkeys(description for description, *_ in told))
    derivatives = "second derivatives of the networks"
    assert descriptions[-1] == derivatives
    assert set(descriptions[:-1]) <= {f"training {name}, seed 0" for name in NETWORKS}
    told.clear()
    trained.prepare(settings, lambda *args: told.append(args))
    assert {description for description, *_ in told} == {derivatives}
    assert layers("convolutional", "trained", 0, settings.cache)[1] is maps.layer


def test_every_unit_of_every_network_is_there_once_and_a_token_rebuilds_it(settings):
    (found,) = trained.examine([GRADIENT], settings)
    assert (found.claim, found.witness) == (GRADIENT.id, "trained")
    assert found.violated == found.undecided == found.vacuous == 0
    assert found.strata == {
        f"{name} trained layer {layer}": {"instances": n, "holds": n}
        for name, layer, n in [
            ("dense", 0, 100), ("dense", 1, 100), ("convolutional", 0, 8), ("convolutional", 1, 16)
        ]
    }  # fmt: skip
    assert found.instances == len(found.points) == 224
    assert rebuild(found.worst_token, settings.cache).tokens == [found.worst_token]
    tokens = [token for units in every_unit(settings) for token in units.tokens]
    assert len(set(tokens)) == len(tokens) == 224
    assert max(len(units.tokens) for units in every_unit(settings)) <= trained.TOGETHER


@pytest.mark.parametrize("name", [HESSIAN.id, *EQUATIONS, "S-fact-C1/eps-unit"])
def test_the_shipped_hessian_holds_and_a_wrong_formula_is_violated_at_every_unit(name, maps):
    """The last errs by epsilon."""
    found = examine_units(EQUATIONS.get(name) or BY_ID[name], maps)
    assert set(found.outcomes) == {Outcome.HOLDS if name == HESSIAN.id else Outcome.VIOLATED}


def test_hypotheses_that_units_meet_are_checked_and_not_imposed(maps):
    def refuse(case):
        raise AssertionError("a trained network is what it is")

    scales = maps.layer.gamma
    middle = scales.median().item()
    large = assuming("gamma > its median", lambda at: at.gamma - middle, Relation.MORE_THAN, refuse)
    found = examine_units(replace(GRADIENT, id=MET_BY_UNITS[0], hypotheses=(large,)), maps)
    expected = np.where(scales > middle, Outcome.HOLDS, Outcome.VACUOUS)
    assert found.outcomes == expected.tolist()
    assert np.isnan(found.ratios[expected == Outcome.VACUOUS]).all()


def test_a_unit_that_does_not_vary_is_vacuous_without_epsilon(maps):
    dead = maps.layer.y.clone()
    dead[:, 3] = 0.5
    units = replace(maps, layer=replace(maps.layer, y=dead))
    without = examine_units(replace(GRADIENT, reading=Reading.NO_EPSILON), units)
    assert [k for k, o in enumerate(without.outcomes) if o is Outcome.VACUOUS] == [3]
    assert examine_units(GRADIENT, units).outcomes[3] is not Outcome.VACUOUS


def test_instances_are_the_layer_and_its_epsilon_is_the_reading_s(maps):
    stack = maps.stack(has_epsilon=True)
    assert set(stack.eps.tolist()) == {1e-5}
    assert set(maps.stack(has_epsilon=False).eps.tolist()) == {0}
    deviation = stack.y - stack.y.mean(dim=1, keepdim=True)
    sigma = torch.sqrt(deviation.square().mean(dim=1, keepdim=True) + 1e-5)
    z = stack.gamma[:, None] * deviation / sigma + stack.beta[:, None]
    torch.testing.assert_close(z, maps.layer.z.T)


def test_directions_are_inputs_of_the_layer_that_vary(maps):
    alone = Units(maps.layer, 0, torch.tensor([5, 2])).stack(True)
    whole = maps.stack(True)
    for name, numbers in alone.numbers().items():
        assert torch.equal(numbers, getattr(whole, name)[[5, 2]])
    columns = {tuple(column) for column in maps.layer.inputs.T.tolist()}
    for direction in (*whole.direction, *whole.other_direction):
        assert tuple(direction.tolist()) in columns
        assert direction.max() > direction.min()
    assert not torch.equal(whole.direction, whole.other_direction)
    assert (whole.bound >= torch.linalg.vector_norm(whole.direction, dim=1)).all()
    other_seed = replace(maps, seed=1).stack(True)
    assert not torch.equal(whole.direction, other_seed.direction)


def test_a_jet_gives_what_the_network_gives(maps):
    (jets,) = trained.examine_jets([HESSIAN], (maps,))
    (network,) = trained.examine_network([HESSIAN], (maps,))
    assert jets.outcomes == network.outcomes
    np.testing.assert_allclose(jets.actual, network.actual, rtol=1e-11)
    np.testing.assert_allclose(jets.claimed, network.claimed, rtol=1e-11)


def test_one_unit_is_decided_as_among_others(settings, maps):
    found = examine_units(GRADIENT, maps)
    again = rebuild(maps.tokens[15], settings.cache)
    assert (again.tokens, again.stratum) == ([maps.tokens[15]], maps.stratum)
    one = examine_units(GRADIENT, again)
    assert one.outcomes == [found.outcomes[15]]
    assert one.actual[0] == pytest.approx(found.actual[15], rel=1e-12)


@pytest.mark.parametrize(
    "token",
    [
        "", "trained", "random:generic:0:0", "random:dense:trained:0:0:0",
        "trained:dense:trained:0:0", "trained:dense:trained:0:0:0:0", "trained:dens:trained:0:0:0",
        "trained:dense:half:0:0:0", "trained:dense:trained:x:0:0", "trained:dense:trained:-1:0:0",
        "trained:dense:trained:0:2:0", "trained:dense:trained:0:0:100",
        "trained:convolutional:trained:0:1:-1", f"trained:dense:trained:{2**80}:0:0",
    ],
)  # fmt: skip
def test_a_token_that_names_no_unit_is_refused(token, tmp_path):
    with pytest.raises(ValueError, match=r"names no unit .* trained:NETWORK:STAGE:SEED:LAYER:UNIT"):
        rebuild(token, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_hypotheses_are_imposed_on_units_that_do_not_meet_them(settings, maps):
    equation, bound = (BY_ID[name] for name in ("S-v1-eq-4", "S-thm-4.2b/ratio/corrected"))
    says = replace(equation.says, claimed=equation.says.claimed * (1 + 1 / m))
    wrong = replace(equation, id="S-wrong", says=says)
    assert all(trained.is_imposed(claim) for claim in (equation, bound, wrong))
    *right, violated = trained.examine([equation, bound, wrong], settings)
    layers = sum(len(make().layers) for make in NETWORKS.values())
    for found in right:
        assert found.instances == found.decided == trained.FEW * layers == violated.violated
        assert (found.violated, len(found.decided_strata)) == (0, layers)
    one = replace(maps, numbers=maps.numbers[3:4])
    assert examine_units(equation, one).outcomes == [Outcome.HOLDS]
    assert examine_units(wrong, one).outcomes == [Outcome.VIOLATED]


def test_a_unit_as_a_case_is_the_same_instance(maps):
    """The jet as a quadratic has the network's gradient and Hessian."""
    one = replace(maps, numbers=maps.numbers[3:4])
    (case,) = one.cases()
    for claim in (GRADIENT, HESSIAN):
        (by_case,) = autograd.examine_cases(claim, [case])
        by_jet = examine_units(claim, one)
        assert by_case.outcomes == by_jet.outcomes
        np.testing.assert_allclose(by_case.actual, by_jet.actual, rtol=1e-9)
    assert by_case.tokens == one.tokens
