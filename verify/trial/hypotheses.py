"""Whether hypotheses of others are what they display, and change nothing that meets them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import numpy as np

from theory.arithmetic.exact import number
from theory.catalogue import Complaint
from theory.claim import Claim
from theory.matrix_claim import MatrixClaim
from theory.statement import Hypothesis, Relation
from verify.subjects.unit import LosesGeneralityError, changed, imposed_by
from verify.trial.instances import (
    alike,
    drawn_at_scales,
    drawn_for,
    floats_of,
    in_floats,
    is_met,
    of_integers,
    offered,
    scaled,
    with_one_scaled,
    without_hypotheses,
)
from verify.witnesses.abstract import UNPROVABLE
from verify.witnesses.exact import adapted_exactly
from verify.witnesses.matrices.symbolic import keeps_subjects
from verify.witnesses.retractions import keeps_a_batch

BESIDE, NEARLY_ONE = 12, number(1001) / 1000
"""So many instances are changed, and by how much."""


def imposing_too_much(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of what changes instances that meet a hypothesis: of those nothing would be said."""
    found = [*_of_small_instances(claim)]
    yield from found
    if not found and _loses_generality(claim):
        yield Complaint(
            claim.id,
            "impose= changes instances that meet its equation: what it adds to them is no multiple"
            " of what is zero there, so that of some nothing would be said; solve the equation for"
            " one letter, as in equal(gamma, sigma) and equal(norm(x), 1), or leave impose= out",
        )


def imposing_a_constant(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    """Complain of what makes every batch constant: without epsilon nothing is left to examine."""
    if not isinstance(claim, Claim) or claim.reading.has_epsilon or not imposed_by(claim):
        return
    batches = []
    for subject in islice(drawn_for(claim), BESIDE):
        with suppress(Exception):  # another check says what is wrong
            batches.append(adapted_exactly(subject, claim).y)
    if batches and all(np.all(in_floats(y - y[0]) == 0) for y in batches):
        yield Complaint(
            claim.id,
            "impose= makes the batch constant, where sigma is 0 and the layer is not defined; give"
            " the statement an epsilon, reading=Reading.SHARED_EPSILON",
        )


def _of_small_instances(claim: Claim | MatrixClaim) -> Iterator[Complaint]:
    for hypothesis in claim.hypotheses:
        if hypothesis.impose is None:
            continue
        if (found := _returned_instead(hypothesis, claim)) is not None:
            yield Complaint(
                claim.id,
                f"impose= returned {found}; return the changed instance, as replace() does",
            )
        elif (rounded := _rounded(hypothesis, claim)) is not None:
            yield Complaint(
                claim.id,
                f"impose= of the hypothesis {hypothesis.statement} sets a number to the float"
                f" {rounded}, which is not the number of that equation; write a fraction, as"
                " Fraction(1, 10), or a root, as sqrt(2 + 0 * case.gamma) of theory.arithmetic",
            )
        elif _changes_what_meets(hypothesis, claim):
            yield Complaint(
                claim.id,
                f"impose= of the hypothesis {hypothesis.statement} changes an instance that meets "
                "it, so that of others nothing would be said; return such an instance as it is, or "
                "leave impose= out",
            )


def _returned_instead(hypothesis: Hypothesis, claim: Claim | MatrixClaim) -> str | None:
    """Return what a change of instances gives back, where that is no instance."""
    subject = next(drawn_for(claim))
    with suppress(Exception):  # another check says what is wrong
        imposed = _imposed(hypothesis, subject)
        return None if isinstance(imposed, type(subject)) else repr(imposed)
    return None


def _imposed(hypothesis: Hypothesis, subject: Any) -> Any:
    """Return what a hypothesis makes of an instance, which stays as it is."""
    return changed(subject, filter(None, [hypothesis.impose]))


def _rounded(hypothesis: Hypothesis, claim: Claim | MatrixClaim) -> float | None:
    """Return a float that a change makes a number, where it meets the hypothesis at no instance."""
    alone, found = replace(claim, hypotheses=(hypothesis,), because=None), None
    for subject in islice(of_integers(claim), BESIDE):
        with suppress(Exception):  # another check says what is wrong
            found = next(floats_of(_imposed(hypothesis, subject)), found)
            if is_met(hypothesis, offered(alone, subject)):
                return None
    return found


def _loses_generality(claim: Claim | MatrixClaim) -> bool:
    imposing = [h for h in claim.hypotheses if h.impose is not None]
    if not any(h.sign is Relation.EQUAL for h in imposing):
        return False
    try:
        return not (keeps_a_batch(claim) if isinstance(claim, Claim) else keeps_subjects(claim))
    except (LosesGeneralityError, *UNPROVABLE):
        return False  # then nothing is proved


def _changes_what_meets(hypothesis: Hypothesis, claim: Claim | MatrixClaim) -> bool:
    alone = without_hypotheses(claim)
    for subject in chain(drawn_at_scales(claim), _beside_imposed(claim, hypothesis)):
        try:
            if not is_met(hypothesis, offered(alone, subject)):
                continue
            imposed = _imposed(hypothesis, subject)
        except Exception:
            continue  # it is outside of the statement, or another check says what is wrong
        if not alike(subject, imposed):
            return True
    return False


def _beside_imposed(claim: Claim | MatrixClaim, hypothesis: Hypothesis) -> Iterator[Any]:
    """Yield instances on which a hypothesis was imposed, with numbers turned, or moved a little.

    Of an equation with two roots, and of a bound, some meet it that nothing drawn does.
    """
    for subject in islice(drawn_for(claim), BESIDE):
        with suppress(Exception):  # another check says what is wrong
            imposed = _imposed(hypothesis, subject)
            yield scaled(imposed, NEARLY_ONE)
            yield from with_one_scaled(imposed, (-1, NEARLY_ONE))
