"""Which statements can be given a loss's 2-jet at the layer's output in place of the loss."""

from dataclasses import replace

import pytest

from theory.claim import Hypothesis, Relation
from theory.santurkar2018 import CLAIMS
from verify.witnesses.jet import needs_only_the_jet

BY_ID = {claim.id: claim for claim in CLAIMS}
NEAR = ["S-thm-4.1", "S-thm-4.1/eps", "S-thm-4.2a", "S-eq-3"]
ELSEWHERE = ["S-thm-4.1/two-networks", "S-thm-4.4/inputs-move/eps"]
THIRD_DERIVATIVE = "S-v1-eq-42"


@pytest.mark.parametrize("name", [*NEAR, *ELSEWHERE, THIRD_DERIVATIVE])
def test_up_to_second_derivatives_at_the_layers_output_are_in_the_jet(name):
    assert needs_only_the_jet(BY_ID[name]) == (name in NEAR)


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (lambda n: n.y, False),
        (lambda n: n.gamma * n.normalize(n.y) + n.beta, True),
    ],
    ids=["y", "z, however it is written"],
)
def test_hypotheses_are_looked_at_too(argument, expected):
    def quantity(network, at):
        return network.loss(argument(network))

    hypothesis = Hypothesis("L > 0", quantity, Relation.MORE_THAN)
    assert needs_only_the_jet(replace(BY_ID["S-thm-4.1"], hypotheses=(hypothesis,))) == expected
