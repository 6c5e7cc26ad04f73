r"""The abstract witness: a proof for every batch size, or silence.

The batch is any, known by inner products (:mod:`verify.witnesses.abstract_network`).  An equality
is proved by a difference that vanishes.  An inequality is proved by its certificate: terms that are
visibly non-negative and that add up to its slack.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import sympy as sp

from theory.arithmetic.abstract import AbstractVector, UndeterminedError, is_zero
from theory.arithmetic.quotients import VanishingError, factored
from theory.claim import Claim, Hypothesis, Relation, Term, Unit
from theory.language.letters import attribute_of
from theory.language.plain import plain
from theory.statement import letters_of, values_of
from verify.record import Record
from verify.results import EVERY_M, Proof
from verify.settings import Settings
from verify.subjects.unit import LosesGeneralityError
from verify.witnesses import exact
from verify.witnesses.abstract_network import generic
from verify.witnesses.certificates import (
    BIASED_DEVIATION,
    DIFFER,
    EPSILON,
    SIGMA,
    WITHOUT_CERTIFICATE,
    remainder,
    shortcoming,
    unused,
)
from verify.witnesses.jet import OutsideJetError
from verify.witnesses.retractions import without_loss

DIRECTIONS = ("direction", "other_direction", "bound", "")
"""What letters of other names read, that any vector or bound is; and those that are functions."""
ENTRIES = "of a vector of any length inner products are known, and no single entries"
ORDER = "of letters it is open which is larger"
UNPROVABLE = OutsideJetError, LosesGeneralityError, VanishingError
"""What a statement asks for that the generic case does not have."""


def prove(claim: Claim) -> Proof | None:
    """Return a proof of the claim for every batch size, or None where none is found."""
    found = sought(claim)
    return found if isinstance(found, Proof) else None


@cache
def sought(claim: Claim) -> Proof | str:
    """Return a proof of the claim for every batch size, or why there is none."""
    is_sought = claim.because is not None or not exact.differ_somewhere(claim, m=3)
    try:
        if is_sought:
            return _derived(claim)
        is_bound = claim.relation is not Relation.EQUAL
        return _without_certificate(claim) if is_bound else f"{DIFFER}{unused(claim)}"
    except UNPROVABLE as error:
        return str(error)
    except UndeterminedError:
        return ENTRIES
    except TypeError:  # sympy's, where it is to say which is larger
        _worth(claim)  # what a letter's own code asks is its author's to know
        if claim.because is not None:
            exact.has_certificate_somewhere(claim)  # and so is what a certificate's code does
        return ORDER
    except AttributeError as error:
        if not isinstance(error.obj, AbstractVector):
            raise
        return ENTRIES


def _worth(claim: Claim) -> list[Any]:
    """Return what a statement's letters are worth; raise what these raise."""
    values = values_of(claim.read(generic(claim.reading.has_epsilon)))
    return [values[letter] for letter in letters_of(claim) if letter.value is not None]


def _without_certificate(claim: Claim) -> str:
    """Return that a bound has no certificate; raise what its sides raise, with one as without."""
    try:
        claim.sides(claim.read(generic(claim.reading.has_epsilon)))
    except TypeError as error:  # a letter of theirs asks for a sign
        if isinstance(error, UndeterminedError):
            raise
    return WITHOUT_CERTIFICATE


def _derived(claim: Claim) -> Proof | str:
    unit = claim.read(generic(claim.reading.has_epsilon, without_loss(claim)))
    terms = claim.terms(unit)
    if not is_zero(rest := claim.left_over(unit, terms)):
        return remainder(claim, _written(rest))
    if why := shortcoming(claim, terms, unit):
        return why
    if terms and not exact.has_certificate_somewhere(claim):
        return "because= is a real number at none of the batches that were tried"
    written = str(shown(claim.slack(*claim.sides(unit)))) if terms else "0"
    told = tuple(_letters(claim, unit)) if terms else ()
    return Proof((EVERY_M,), written, tuple(_describe(term) for term in terms), told)


def _letters(claim: Claim, unit: Unit) -> Iterator[str]:
    """Yield what the letters are that are the batch's directions and bound, or made of others."""
    values = values_of(unit)
    for letter in letters_of(claim):
        if letter.value is None or attribute_of(letter) not in DIRECTIONS:
            continue
        text = _written(values[letter])
        if text != plain(letter):
            yield f"{plain(letter)} = {text}"


def _written(value: Any) -> str:
    """Return a number or a vector as text."""
    if isinstance(value, AbstractVector):
        return str(value.map(shown)).replace("(1)*", "")
    return str(shown(value))


@cache
def shown(expression: sp.Expr) -> sp.Expr:
    """Return the expression factored, with sigma^2 - sigma_0^2 written as epsilon."""
    in_epsilon = sp.sympify(expression).subs(BIASED_DEVIATION, sp.sqrt(SIGMA**2 - EPSILON))
    return factored(in_epsilon)


def _describe(term: Term) -> str:
    def name(factor: Any) -> str:
        if isinstance(factor, Hypothesis):
            return f"[{factor.statement}]"
        if isinstance(factor, AbstractVector):
            return f"|{factor.map(shown)}|^2"
        return f"({shown(factor)})^2"

    return " * ".join([f"({shown(sp.sympify(term.weight))})", *map(name, term.factors)])


def examine(claim: Claim, settings: Settings) -> Record:
    """A proof for every batch size, or silence."""
    found = sought(claim)
    if isinstance(found, Proof):
        return Record(claim.id, "abstract", proof=found)
    return Record(claim.id, "abstract", unproved=found)
