"""Which statements can be given a loss's 2-jet at the layer's output in place of the loss."""

from dataclasses import replace

import pytest

from theory.claim import Hypothesis, Relation
from theory.santurkar2018 import CLAIMS
from verify.witnesses.jet import needs_only_the_jet

BY_ID = {claim.id: claim for claim in CLAIMS}
NEAR = BY_ID["S-thm-4.1"]


@pytest.mark.parametrize("name", ["S-thm-4.1", "S-thm-4.1/eps", "S-thm-4.2a", "S-eq-3"])
def test_derivatives_at_the_layers_output_are_in_the_jet(name):
    assert needs_only_the_jet(BY_ID[name])


@pytest.mark.parametrize("name", ["S-thm-4.1/two-networks", "S-thm-4.4/inputs-move/eps"])
def test_a_loss_that_is_looked_at_elsewhere_is_not(name):
    assert not needs_only_the_jet(BY_ID[name])


def test_nor_is_a_third_derivative():
    assert not needs_only_the_jet(BY_ID["S-v1-eq-42"])


def test_hypotheses_are_looked_at_too():
    elsewhere = Hypothesis(
        "L(y) > 0", lambda network, at: network.loss(network.y), Relation.MORE_THAN
    )
    assert not needs_only_the_jet(replace(NEAR, hypotheses=(elsewhere,)))


def test_a_loss_is_near_however_its_argument_is_written():
    at_output = Hypothesis(
        "L(z) > 0",
        lambda network, at: network.loss(
            network.gamma * network.normalize(network.y) + network.beta
        ),
        Relation.MORE_THAN,
    )
    assert needs_only_the_jet(replace(NEAR, hypotheses=(at_output,)))
