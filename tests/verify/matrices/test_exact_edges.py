"""No statement about matrices is refuted at the edge of a hypothesis, where roots mix."""

from dataclasses import replace

import pytest

from theory.claim import Hypothesis
from theory.lange2022 import CLAIMS
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Relation, Sides
from verify.matrices.exact import examine
from verify.matrices.integers import SPACES
from verify.tolerance import Outcome

VACUOUS, VIOLATED, UNDECIDED = Outcome.VACUOUS, Outcome.VIOLATED, Outcome.UNDECIDED
SUBJECT = SPACES[Kind.DESCENT].simplest((1,))
NEVER = replace(
    next(c for c in CLAIMS if isinstance(c, MatrixClaim) and c.subject is Kind.DESCENT),
    says=None, because=None, certificate=None, relation=Relation.EQUAL,
    sides=lambda descent: Sides(1 + 0 * descent.step, 0 * descent.step),
)  # fmt: skip
"""One is zero."""


def roots(descent):
    return [descent.sqrt(number + 0 * descent.step) for number in (2, 3, 6)]


def three_roots(descent):
    """Zero, of three different roots."""
    two, three, six = roots(descent)
    return (two + three) * (two + three) - 5 - 2 * six


def nested_roots(descent):
    """Zero, of roots that are related: whether it is, nothing here can tell."""
    two, three, six = roots(descent)
    return descent.sqrt(5 + 2 * six) - two - three


@pytest.mark.parametrize(
    ("zero", "sign", "further", "expected"),
    [
        (three_roots, Relation.MORE_THAN, 0, VACUOUS),
        (three_roots, Relation.AT_LEAST, 0, VIOLATED),
        (three_roots, Relation.EQUAL, 0, VIOLATED),
        (three_roots, Relation.MORE_THAN, 1, VIOLATED),
        (three_roots, Relation.EQUAL, 1, VACUOUS),
        (nested_roots, Relation.MORE_THAN, 0, UNDECIDED),
        (nested_roots, Relation.AT_LEAST, 0, UNDECIDED),
        (nested_roots, Relation.MORE_THAN, 1, VIOLATED),
    ],
)
def test_a_hypothesis_with_roots_is_decided_at_its_edge(zero, sign, further, expected):
    at_edge = Hypothesis("edge", lambda descent: zero(descent) + further, sign)
    assert examine(replace(NEVER, hypotheses=(at_edge,)), SUBJECT).outcome is expected
