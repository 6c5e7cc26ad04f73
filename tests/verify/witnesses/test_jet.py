"""A loss that is known by its 2-jet at the layer's output, and what cannot be said of it."""

from dataclasses import replace

import pytest
from by_functions import assuming

from theory.claim import Relation
from theory.language.expression import along, equal, gradient
from theory.language.operations import dot
from theory.santurkar2018 import CLAIMS
from theory.statement import assume
from theory.unit import H, L, g, one, u, variable, yhat, z
from verify.settings import PROFILES, Settings
from verify.witnesses import abstract, batches, polynomial, symbolic
from verify.witnesses.jet import needs_only_the_jet

BY_ID = {claim.id: claim for claim in CLAIMS}
NEAR = ["S-thm-4.1", "S-thm-4.1/eps", "S-thm-4.2a", "S-eq-3", "S-v1-eq-42"]
ELSEWHERE = ["S-thm-4.1/two-networks", "S-thm-4.4/inputs-move/eps"]


@pytest.mark.parametrize("name", [*NEAR, *ELSEWHERE])
def test_up_to_second_derivatives_at_the_layers_output_are_in_the_jet(name):
    assert needs_only_the_jet(BY_ID[name]) == (name in NEAR)


CURVED = along(gradient(L(variable), variable), variable, u)
THIRD = along(CURVED, variable, u, at=z)
THERE = gradient(L(variable), variable, at=z + u)
TRUE_OF_QUADRATIC_LOSSES = {
    "third derivative": equal(dot(THIRD, u), 0),
    "Hessian elsewhere": equal(along(gradient(L(variable), variable), variable, u, at=z + u), H(u)),
    "gradient elsewhere": equal(THERE, g + H(u)),
    "trapezoidal rule": equal(2 * (L(z + u) - L(z)), dot(g, u) + dot(THERE, u)),
}


@pytest.mark.parametrize("says", TRUE_OF_QUADRATIC_LOSSES.values(), ids=TRUE_OF_QUADRATIC_LOSSES)
@pytest.mark.parametrize("across", [yhat, one], ids=["g across yhat", "g across ones"])
def test_what_holds_for_quadratic_losses_alone_is_not_proved(says, across):
    claim = replace(
        BY_ID["S-thm-4.1"],
        says=says,
        because=None,
        hypotheses=(assume(equal(dot(g, across), 0)),),
    )
    assert not needs_only_the_jet(claim)
    assert abstract.prove(claim) is None
    assert polynomial.shortcoming(claim)
    assert symbolic.sought(claim, 2).finding != "proved"


def test_what_holds_for_quadratic_losses_alone_is_refuted_by_another():
    says = TRUE_OF_QUADRATIC_LOSSES["third derivative"]
    claim = replace(BY_ID["S-thm-4.1"], says=says, because=None, hypotheses=())
    (found,) = batches.examine([claim], Settings(PROFILES["smoke"]))
    assert "t^2" in found.counterexample.numbers["loss"]
    assert any(entry != "0" for entry in found.counterexample.numbers["parameters"]["c"])


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (lambda n: n.y, False),
        (lambda n: n.gamma * n.normalize(n.y) + n.beta, True),
    ],
    ids=["y", "z, however it is written"],
)
def test_hypotheses_are_looked_at_too(argument, expected):
    def quantity(at):
        return at.loss(argument(at))

    hypothesis = assuming("L > 0", quantity, Relation.MORE_THAN)
    assert needs_only_the_jet(replace(BY_ID["S-thm-4.1"], hypotheses=(hypothesis,))) == expected
