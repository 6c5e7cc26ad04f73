"""Statements of others, tried at one small instance before any witness looks at them.

What cannot be evaluated there (a letter of another subject, a function that knows floats only), and
a certificate that is not claimed - actual, is refused with the line of their file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from theory.arithmetic.exact import DifferentFieldsError, number
from theory.catalogue import Complaint
from theory.claim import Claim
from theory.expectation_claim import Drawn, ExpectationClaim
from theory.language.expression import Letter
from theory.language.plain import plain
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Relation, Statement, Verdict, joined
from verify import others
from verify.cases.case import adapted
from verify.cases.lattice import lattice_case
from verify.expectations.laws import LAWS, Entries
from verify.matrices import strata
from verify.matrices.exact import converted
from verify.witnesses.exact import EXACT, network_of, rational_case, side_in_words, stands

LETTERS = {
    "batch": "theory.unit has the letters of one unit's batch",
    Kind.LAYER: "theory.layer has the letters of a layer",
    Kind.MAPS: "theory.maps has the letters of maps",
    Kind.DESCENT: "theory.descent has the letters of a descent",
    "matrix": "theory.random_matrix has the letters of a random matrix",
}
CASE = lattice_case(
    [1, 3, 1, 3], 3, 2, Fraction(3, 2), [1, -2, 0, 2], [1, 0, 2, -1, 1, 0, 2, 0, 1, -1],
    [1, 0, -1, 2], [2, 1, 0, -1], 2,
)  # fmt: skip
"""A batch whose deviation is rational, and so is the root of its size."""
GRID = 8
"""Matrices are of multiples of one over this."""


def refuse_unfit(claims: Sequence[Statement], target: str) -> None:
    """Refuse statements that cannot be evaluated, or are not what their certificates prove.

    Raises:
        OthersError: what is wrong, a line each, with the places in the target's files.
    """
    complaints = [complaint for claim in claims for complaint in unfit(claim)]
    if complaints:
        raise others.OthersError(others.with_places(complaints, target))


def unfit(claim: Statement) -> Iterator[Complaint]:
    """Yield what is wrong with a statement at one small instance."""
    if claim.unreadable:
        return
    try:
        kind, sources = _instance(claim)
        if foreign := list(_foreign_letters(claim, sources)):
            named = ", ".join(foreign)
            yield Complaint(claim.id, f"its subject has no letter {named}; {LETTERS[kind]}")
        else:
            yield from _misfit(claim, sources)
    except (ZeroDivisionError, DifferentFieldsError):
        return  # the instance is outside of the statement, or says nothing of it
    except Exception as error:
        yield Complaint(
            claim.id,
            f"cannot be evaluated at small whole numbers ({type(error).__name__}: {error}); build "
            "it from the operations of theory.language.operations and theory.arithmetic, which "
            "know every arithmetic",
        )


def _instance(claim: Statement) -> tuple[Kind | str, tuple[Any, ...]]:
    """Return what a statement is about, and an instance as its sides take it."""
    if isinstance(claim, Claim):
        network = network_of(adapted(rational_case(CASE), claim), EXACT)
        return "batch", (network, claim.letters(network))
    if isinstance(claim, MatrixClaim):
        drawn = strata.draw(claim.subject, "gaussian", 0, 3)
        small = drawn.with_numbers(_to_grid, drawn.names())
        return claim.subject, (converted(claim, small),)
    return "matrix", (Drawn(np.array([[1.0, -1.0], [-1.0, -1.0], [1.0, 1.0]])),)


def _to_grid(value: Any) -> Any:
    return np.round(np.asarray(value) * GRID) / GRID


def _foreign_letters(claim: Statement, sources: tuple[Any, ...]) -> Iterator[str]:
    if claim.says is None or isinstance(claim, ExpectationClaim):
        return
    conditions = [h.says for h in claim.hypotheses if h.says is not None]
    for letter in dict.fromkeys(l for says in (claim.says, *conditions) for l in says.letters):
        if not _has(letter, joined(*sources)):
            yield plain(letter)


def _has(letter: Letter, subject: Any) -> bool:
    try:
        return letter.value is None or letter.value(subject) is not None
    except AttributeError:
        return False


def _misfit(claim: Statement, sources: tuple[Any, ...]) -> Iterator[Complaint]:
    actual, claimed = claim.sides(*sources)
    if isinstance(claim, ExpectationClaim):
        law = next(iter(LAWS))
        entries = Entries(law, LAWS[law], *sources[0].G.shape)
        claim.constant(entries)
        claim.ceilings(entries)
        return
    quantities = [np.asarray(h.quantity(*sources), dtype=object) for h in claim.hypotheses]
    if claim.certificate is None or claim.expected is not Verdict.PROVED or np.size(actual) > 1:
        return
    slack = claimed - actual
    if claim.relation in (Relation.AT_LEAST, Relation.MORE_THAN):
        slack = -slack
    values = [term.value(*sources) for term in claim.certificate(*sources)]
    total = sum(values[1:], values[0])
    if _sign(total - slack) != 0:
        yield Complaint(
            claim.id,
            f"because= adds up to {side_in_words(total)} where claimed - actual is "
            f"{side_in_words(slack)}; write terms whose sum is claimed - actual, each visibly not "
            "negative",
        )
    elif _met(claim, quantities) and any(_sign(value) < 0 for value in values):
        yield Complaint(
            claim.id,
            "because= has a term that is negative somewhere; write it as squares, squared norms "
            "and slacks of hypotheses times positive numbers",
        )


def _met(claim: Statement, quantities: Sequence[Any]) -> bool:
    """Whether the hypotheses hold at the instance."""
    return all(
        stands(number(entry), hypothesis.sign)
        for hypothesis, quantity in zip(claim.hypotheses, quantities, strict=True)
        for entry in quantity.ravel()
    )


def _sign(value: Any) -> int:
    return int(number(np.asarray(value, dtype=object).item()).sign())
