"""Proofs for every number of examples: what is proved, and that mistakes are not."""

from dataclasses import replace
from typing import Any

import pytest
from by_functions import worth
from made_up_statements import of_matrices

from theory.lange2022 import CLAIMS
from theory.language.arrays import column, kappa2, norm2, transpose
from theory.language.expression import SUM, Apply, Expression, Letter, equal, number
from theory.language.letters import number_of
from theory.language.operations import absolute
from theory.layer import B01, H, W, alpha, beta, entrywise, gamma, largest_entry
from theory.matrix_claim import MatrixClaim
from theory.statement import Relation, Verdict, assume
from verify import ledger
from verify.record import Record
from verify.results import Counterexample, Proof
from verify.settings import PROFILES, Settings
from verify.witnesses.matrices import abstract, symbolic

SETTINGS = Settings(PROFILES["smoke"])
NAMED = {claim.id: claim for claim in CLAIMS}
KNOWN = [
    NAMED[name]
    for name in (
        "L-prop-2",
        "L-prop-2/later-BN/corrected",
        "L-prop-7/step",
        "L-prop-7/step-with-q/corrected",
        "L-thm-3",
        "L-alg-1/renormalization",
        "L-thm-4a/step-above",
        "L-thm-4a/step-below",
        "L-thm-4a/step-any-rank-x",
        "L-eq-28-32/31-strict",
        "L-eq-28-32/32",
    )
]
ABOVE = NAMED["L-thm-4a/step-above"]


def follows(claim: MatrixClaim) -> bool:
    """Whether there is a proof, without the integers that a statement must survive first."""
    return not (symbolic.not_tried(claim) or symbolic.open_for(claim, abstract.layer(2, 1)))


@pytest.mark.parametrize("claim", KNOWN, ids=lambda claim: claim.id)
def test_what_is_right_is_proved_and_a_mistake_is_not(claim: MatrixClaim) -> None:
    """The claimed side times 9/10, or 11/10 of a bound from above, and a term less."""
    factor = number(11 if claim.relation.bounds_below else 9) / 10
    scaled = replace(claim.spoken, claimed=factor * claim.spoken.claimed)
    assert follows(claim)
    assert not follows(replace(claim, says=scaled))
    if (because := claim.because) is not None:
        is_sum = isinstance(because, Apply) and because.operation is SUM
        _, *others = because.parts if is_sum else (because,)
        assert not follows(replace(claim, because=sum(others, start=number(0))))
    else:
        assert claim.relation is Relation.EQUAL  # which alone letters can prove


@pytest.mark.parametrize("name", ["L-prop-2/later-BN", "L-prop-11/full"])
def test_what_takes_more_than_a_diagonal_or_single_examples_is_left_alone(name: str) -> None:
    assert not follows(NAMED[name])
    assert abstract.examine(NAMED[name], SETTINGS).proof is None


def test_centring_by_another_mean_is_not_proved() -> None:
    claim = NAMED["L-thm-4a/step-blocks"]
    uncentred = worth(lambda layer: (layer.H @ layer.direction[1:]).sum())
    assert not follows(replace(claim, says=equal(claim.spoken.actual, uncentred)))


OUTPUTS = H @ transpose(W)
SIGNED = number_of("a", "a", lambda case: case.b[0], r"a \in \mathbb R")
SCALED = [
    (alpha, B01(OUTPUTS), True),
    (alpha, -B01(OUTPUTS), False),
    (SIGNED, SIGNED / absolute(SIGNED) * B01(OUTPUTS), True),
    (SIGNED, B01(OUTPUTS), False),
]


@pytest.mark.parametrize(("factor", "claimed", "holds"), SCALED)
def test_a_factor_leaves_the_root_of_a_variance(
    factor: Letter, claimed: Expression, holds: bool
) -> None:
    claim = of_matrices(equal(B01(factor * OUTPUTS), claimed))
    assert follows(claim) is holds
    assert (symbolic.shortcoming(claim, (3, 2, 1)) == "") is holds


BOUND = of_matrices(
    norm2(gamma + beta) <= 2 * norm2(gamma) + 2 * norm2(beta), because=norm2(gamma - beta)
)
EQUATION = replace(BOUND, says=equal(norm2(gamma), norm2(beta)), because=None)
UNPROVED = [
    (BOUND, ""),
    (replace(BOUND, because=None), "it has none"),
    (replace(BOUND, because=2 * norm2(gamma - beta)), "the slack less because= is not seen to"),
    (
        replace(BOUND, because=norm2(gamma - beta) ** 2 / norm2(gamma - beta)),
        "is not seen to be positive",
    ),
    (replace(BOUND, says=norm2(gamma) <= -1), "it fails at whole numbers"),
    (replace(EQUATION, says=equal(norm2(gamma), -1)), "it fails at whole numbers"),
    (
        replace(EQUATION, hypotheses=(assume(equal(gamma, beta)),)),
        "its hypothesis gamma = beta is an equation without impose=",
    ),
    (
        replace(EQUATION, says=equal(largest_entry(2 * gamma), 2 * largest_entry(gamma))),
        "letters do not say what it asks for: ",
    ),
]


@pytest.mark.parametrize(("claim", "said"), UNPROVED)
def test_why_nothing_is_proved_is_said(claim: MatrixClaim, said: str) -> None:
    found = symbolic.shortcoming(claim, (3, 2, 1)), abstract.shortcoming(claim, 2, 1)
    assert all(said in why if said else not why for why in found), found
    assert said in abstract.examine(claim, SETTINGS).unproved


def test_of_letters_there_are_no_eigenvalues() -> None:
    claim = replace(EQUATION, says=equal(kappa2(H), kappa2(2 * H)))
    said = "letters do not say what it asks for: eigenvalues"
    assert abstract.shortcoming(claim, 2, 1) == said


def test_products_of_entries_that_no_inner_product_knows_are_not_compared() -> None:
    entries = column(H)
    doubled = equal(entrywise(2 * entries, entries), entrywise(entries, 2 * entries))
    found = abstract.examine(replace(EQUATION, says=doubled), SETTINGS)
    assert "letters do not say what it asks for: " in found.unproved


def test_the_loss_is_known_near_one_point() -> None:
    layer = abstract.layer(2, 1)
    outputs = layer.H @ layer.W.T
    assert str(layer.loss(outputs)) == "L"
    with pytest.raises(ValueError, match="one point"):
        layer.loss(2 * outputs)


def test_the_loss_is_known_to_second_order_in_the_first_unit_alone() -> None:
    layer = abstract.layer(1, 2)
    first, other = layer.W

    def loss(w: Any, v: Any) -> Any:
        columns = [(layer.H @ w)[:, None], (layer.H @ v)[:, None]]
        return layer.loss(layer.H.__array_namespace__().concat(columns, axis=1))

    def slope(w: Any) -> Any:
        return layer.derivative(lambda w: loss(w, other), w, first)

    def curvature(w: Any) -> Any:
        return layer.derivative(slope, w, first)

    assert curvature(first) is not None
    for of_higher_order in (
        lambda: layer.derivative(curvature, first, first),
        lambda: layer.derivative(
            lambda v: layer.derivative(lambda v: loss(first, v), v, other), other, other
        ),
        lambda: layer.derivative(
            lambda v: layer.derivative(lambda w: loss(w, v), first, first), other, other
        ),
    ):
        with pytest.raises(ValueError, match="second order"):
            of_higher_order()


def test_a_record_says_for_which_sizes_and_a_counterexample_of_one_contradicts_it() -> None:
    record = abstract.examine(ABOVE, SETTINGS)
    assert record.proof is not None
    assert record.proof.sizes[1] == {"N": None, "n": 2, "p": 1}
    at_two = Record(ABOVE.id, "symbolic", proof=Proof(({"N": 2, "n": 1, "p": 1},)))
    entry = ledger.entry(ABOVE, [record, at_two])
    assert entry.verdict is Verdict.PROVED
    assert entry.scope_in_short == "every N, n = 1, p = 1 (+4)"
    for n, verdict in {2: Verdict.UNDECIDED, 5: Verdict.REFUTED}.items():
        failing = Counterexample({"N": 7, "n": n, "p": 1}, {}, "1", "0")
        exact = Record(ABOVE.id, "exact", counterexample=failing)
        assert ledger.judge(ABOVE, [record, exact]) is verdict
