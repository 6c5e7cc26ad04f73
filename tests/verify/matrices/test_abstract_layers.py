"""Proofs for every number of examples: what is proved, and that mistakes are not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from theory.lange2022 import CLAIMS
from theory.matrix_claim import MatrixClaim
from theory.statement import Relation, Sides, Verdict
from verify import ledger
from verify.evidence import Record
from verify.matrices import abstract, symbolic
from verify.results import Counterexample, Proof
from verify.settings import PROFILES, Settings
from verify.witnesses.table import of_a_layer

SETTINGS = Settings(PROFILES["smoke"])
LAYERS = [claim for claim in CLAIMS if of_a_layer(claim) and not claim.unreadable]


def follows(claim: MatrixClaim) -> bool:
    """Whether there is a proof, without the integers that a statement must survive first."""
    return symbolic.can_be_tried(claim) and abstract.follows(claim, abstract.layer(2, 1))


@pytest.fixture(scope="module")
def proved() -> list[MatrixClaim]:
    return [claim for claim in LAYERS if follows(claim)]


KNOWN = (
    "L-prop-2",
    "L-prop-2/later-BN/corrected",
    "L-prop-7/step",
    "L-prop-7/step-with-q/corrected",
    "L-thm-3",
    "L-thm-3/any-statistics",
    "L-alg-1/renormalization",
    "L-thm-3/normalized",
    "L-thm-4a/step-above",
    "L-thm-4a/step-below",
    "L-eq-28-32/32",
    "L-prop-7/corrected",
)


def test_the_steps_of_theorem_4_are_among_them(proved: list[MatrixClaim]) -> None:
    assert set(KNOWN) <= {claim.id for claim in proved}


def test_only_what_is_expected_to_be_proved_is(proved: list[MatrixClaim]) -> None:
    assert {claim.expected for claim in proved} == {Verdict.PROVED}


def scaled(claim: MatrixClaim) -> MatrixClaim:
    """Return the claim with its claimed side times 9/10, for a bound by a larger one 11/10."""
    factor = sp.Rational(11 if claim.relation.bounds_below else 9, 10)

    def sides(layer: Any) -> Sides:
        actual, claimed = claim.sides(layer)
        return Sides(actual, claimed * factor)

    return replace(claim, says=None, sides=sides)


def is_trivial(claim: MatrixClaim) -> bool:
    """Whether the claimed side is zero, which no factor changes."""
    claimed = claim.sides(symbolic.letters(claim.subject, (2, 2, 1))).claimed
    return not np.any(np.asarray(claimed, dtype=object))


def without_a_term(claim: MatrixClaim) -> MatrixClaim:
    """Return the claim with its certificate less the first term."""
    certificate: Any = claim.certificate
    return replace(claim, says=None, certificate=lambda layer: certificate(layer)[1:])


def test_no_proof_of_a_mistake(proved: list[MatrixClaim]) -> None:
    """Not even without the integers that would tell."""
    mistakes = [scaled(claim) for claim in proved if not is_trivial(claim)]
    assert mistakes
    assert [c.id for c in mistakes if abstract.follows(c, abstract.layer(2, 1))] == []


def test_a_certificate_without_a_term_is_none(proved: list[MatrixClaim]) -> None:
    lacking = [without_a_term(claim) for claim in proved if claim.certificate is not None]
    assert lacking
    assert [c.id for c in lacking if abstract.follows(c, abstract.layer(2, 1))] == []


def test_centring_by_another_mean_is_not_proved() -> None:
    (claim,) = (c for c in CLAIMS if c.id == "L-thm-4a/step-blocks")
    uncentred = replace(
        claim,
        says=None,
        sides=lambda layer: Sides(claim.sides(layer).actual, (layer.H @ layer.direction[1:]).sum()),
    )
    assert not abstract.follows(uncentred, abstract.layer(2, 1))


def test_a_diagonal_is_not_enough_where_examples_interact() -> None:
    (claim,) = (c for c in CLAIMS if c.id == "L-prop-2/later-BN")
    assert not follows(claim)


def test_the_loss_is_known_near_one_point() -> None:
    layer = abstract.layer(2, 1)
    outputs = layer.H @ layer.W.T
    assert layer.loss(outputs) == 0
    with pytest.raises(ValueError, match="one point"):
        layer.loss(2 * outputs)


def test_the_loss_has_no_third_derivative() -> None:
    layer = abstract.layer(1, 1)

    def loss(W: Any) -> Any:
        return layer.loss(layer.H @ W.T)

    def twice(W: Any) -> Any:
        return layer.derivative(lambda W: layer.derivative(loss, W, layer.W), W, layer.W)

    assert symbolic_size(twice(layer.W)) == 1
    with pytest.raises(ValueError, match="second order"):
        layer.derivative(twice, layer.W, layer.W)


@pytest.mark.parametrize("unit", [0, 1])
def test_the_second_derivative_is_known_in_the_first_unit_alone(unit: int) -> None:
    layer = abstract.layer(1, 2)
    held, concat = layer.H @ layer.W.T, layer.H.__array_namespace__().concat

    def loss(w: Any) -> Any:
        columns = [held[:, :1], held[:, 1:]]
        columns[unit] = (layer.H @ w)[:, None]
        return layer.loss(concat(columns, axis=1))

    def twice(w: Any) -> Any:
        return layer.derivative(lambda w: layer.derivative(loss, w, w), w, w)

    if unit == 0:
        assert symbolic_size(twice(layer.W[unit])) == 1
    else:
        with pytest.raises(ValueError, match="second order"):
            twice(layer.W[unit])


def test_no_mixed_second_derivative_of_two_units_is_known() -> None:
    layer = abstract.layer(1, 2)
    concat = layer.H.__array_namespace__().concat

    def loss(w: Any, v: Any) -> Any:
        return layer.loss(concat([(layer.H @ w)[:, None], (layer.H @ v)[:, None]], axis=1))

    w, v = layer.W
    with pytest.raises(ValueError, match="second order"):
        layer.derivative(lambda v: layer.derivative(lambda w: loss(w, v), w, w), v, v)


def symbolic_size(value: Any) -> int:
    return np.asarray(value, dtype=object).size


def test_a_record_says_for_which_sizes() -> None:
    (claim,) = (c for c in CLAIMS if c.id == "L-thm-4a/step-above")
    record = abstract.examine(claim, SETTINGS)
    assert record.proof is not None
    assert record.proof.sizes[1] == {"N": None, "n": 2, "p": 1}
    at_two = Record(claim.id, "symbolic", proof=Proof(({"N": 2, "n": 1, "p": 1},)))
    entry = ledger.entry(claim, [record, at_two])
    assert (entry.verdict, entry.scope_in_short) == (
        Verdict.PROVED,
        "every N, n = 1, p = 1 (+4)",
    )


def test_a_counterexample_of_a_covered_size_contradicts_the_proof() -> None:
    (claim,) = (c for c in CLAIMS if c.id == "L-thm-4a/step-above")
    record = abstract.examine(claim, SETTINGS)
    for n, verdict in {2: Verdict.UNDECIDED, 5: Verdict.REFUTED}.items():
        failing = Counterexample({"N": 7, "n": n, "p": 1}, {}, "1", "0")
        exact = Record(claim.id, "exact", counterexample=failing)
        assert ledger.judge(claim, [record, exact]) is verdict


def test_a_statement_about_single_examples_is_left_alone() -> None:
    (claim,) = (c for c in CLAIMS if c.id == "L-prop-11/full")
    assert abstract.examine(claim, SETTINGS).proof is None


def test_relations_are_those_that_letters_can_prove(proved: list[MatrixClaim]) -> None:
    assert {c.relation for c in proved if c.certificate is None} == {Relation.EQUAL}
