"""Whether a statement of others can be evaluated, and its certificate adds up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import numpy as np

from theory import unit
from theory.arithmetic.exact import DifferentFieldsError, NotRealError, number
from theory.catalogue import Complaint
from theory.claim import Claim, Unit
from theory.expectation_claim import Drawn, ExpectationClaim
from theory.language.expression import Apply, EntryByEntry, Expression, Letter, Says, Sort, walk
from theory.language.letters import attribute_of
from theory.language.plain import plain
from theory.language.unrounded import total
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Statement, letters_of, values_of
from verify.subjects.laws import LAWS, Entries, admits
from verify.subjects.matrices import may_be_met
from verify.subjects.subject import Subject
from verify.subjects.unit import Case
from verify.trial.displays import OURS
from verify.trial.instances import elsewhere, grounds_of, holds, instance, is_met, offered
from verify.trial.letters import is_own_function
from verify.witnesses.exact import side_in_words
from verify.witnesses.expectations import exact
from verify.witnesses.expectations.means import refuse_negative
from verify.witnesses.integers import HintError, hinted

LETTERS = {
    "batch": "theory.unit has the letters of one unit's batch",
    Kind.LAYER: "theory.layer has the letters of a layer",
    Kind.MAPS: "theory.maps has the letters of maps",
    Kind.DESCENT: "theory.descent has the letters of a descent",
    "matrix": "theory.random_matrix has the letters of a random matrix",
}


LETTERS_OF_A_UNIT = [attribute_of(letter) for letter in OURS[unit] if attribute_of(letter)]
"""What a letter of a batch reads."""


def unfit(claim: Statement) -> Iterator[Complaint]:
    """Yield what is wrong with a statement at one small instance."""
    if claim.unreadable:
        return
    kind: Kind | str = ""
    try:
        kind, subject = instance(claim)
        if foreign := list(_foreign_letters(claim, subject)):
            named = ", ".join(foreign)
            yield Complaint(
                claim.id, f"its subject has no {named}; {LETTERS[kind]}{_elsewhere(claim, subject)}"
            )
        elif stretched := _stretched(claim, subject):
            yield Complaint(claim.id, f"{stretched}; {_unfitting(kind)}")
        else:
            yield from _of_hints(claim)
            yield from _misfit(claim, subject)
    except (ZeroDivisionError, DifferentFieldsError):
        return  # the instance is outside of the statement, or says nothing of it
    except NotRealError as error:
        if _assumed(claim) and not _is_real_somewhere(claim):
            yield Complaint(
                claim.id,
                f"is a real number at none of the instances that were tried ({error}); take roots"
                " of what may be positive, and eigenvalues of a symmetric matrix",
            )
    except Exception as error:
        if not _assumed(claim):
            return
        yield Complaint(
            claim.id,
            f"cannot be evaluated at small whole numbers ({type(error).__name__}: {error});"
            f" {_advice(error, kind)}",
        )


def _is_real_somewhere(claim: Statement) -> bool:
    """Whether the sides are real numbers at an instance of other signs or of another scale."""
    if not isinstance(claim, Claim | MatrixClaim):
        return False

    def is_real(subject: Any) -> bool:
        with suppress(NotRealError, ZeroDivisionError, DifferentFieldsError):
            claim.sides(offered(claim, subject))
            return True
        return False

    return any(map(is_real, elsewhere(claim)))


def _advice(error: Exception, kind: Kind | str) -> str:
    """Return what may be wrong with what cannot be evaluated."""
    if isinstance(error, AttributeError) and isinstance(error.obj, Case):
        return f"impose= is given an instance's numbers: {', '.join(error.obj.names())}"
    if isinstance(error, AttributeError) and isinstance(error.obj, Subject | Unit):
        names = error.obj.names() if isinstance(error.obj, Subject) else LETTERS_OF_A_UNIT
        near = get_close_matches(str(error.name), names, n=1)
        meant = f"did you mean {near[0]}? " if near else ""
        return f"{meant}an instance has {', '.join(names)}"
    if "not supported between instances of 'Dual'" in str(error):
        return (
            "a maximum or minimum is not differentiated; write (a + b + absolute(a - b)) / 2 for"
            " the larger of two numbers"
        )
    if "'Fraction' and" in str(error) or "and 'Fraction'" in str(error):
        return "divide a number of the instance, as case.gamma / 10, in place of a product with one"
    if "operand type(s) for **" in str(error):
        return "an exponent is a whole number, such as 2 in gamma**2"
    if isinstance(kind, Kind) and isinstance(error, ValueError | IndexError):
        return _unfitting(kind)
    return (
        "build it from the operations of theory.language.operations and theory.arithmetic, which"
        " know every arithmetic"
    )


def _unfitting(kind: Kind | str) -> str:
    return f"its shapes may not fit: theory.{kind} has that of every letter"


def _assumed(claim: Statement) -> bool:
    """Whether the instance meets the hypotheses, as far as they can be evaluated."""
    try:
        _, subject = instance(claim)
        return all(is_met(hypothesis, subject) for hypothesis in claim.hypotheses)
    except Exception:
        return True


def _foreign_letters(claim: Statement, subject: Any) -> Iterator[str]:
    if isinstance(claim, ExpectationClaim):
        return
    for letter in letters_of(claim):
        if foreign := _foreign(letter, subject):
            attribute = attribute_of(letter)
            read = f", which reads {attribute}" if attribute not in ("", plain(letter)) else ""
            yield f"{foreign} {plain(letter)}{read}"


def _foreign(letter: Letter, subject: Any) -> str:
    """Return what a subject has no letter of the name for; nothing if it has the letter."""
    try:
        value = None if letter.value is None else letter.value(subject)
    except AttributeError:
        return "" if is_own_function(letter) else "letter"
    is_there = value is None or _is_of_its_sort(letter, np.shape(value))
    return "" if is_there else letter.sort.value.removeprefix("a ")


def _elsewhere(claim: Statement, subject: Any) -> str:
    """Return what statements of other subjects are, where these have all foreign letters."""
    foreign = {letter for letter in letters_of(claim) if _foreign(letter, subject)}
    kinds = [kind for kind in Kind if foreign <= {*_letters_about(kind)}]
    written = " or ".join(f"MatrixClaim(subject=Kind.{kind.name}, ...)" for kind in kinds)
    return f"; about what has it write {written}, of theory.matrix_claim" if kinds else ""


def _letters_about(kind: Kind) -> Iterator[Letter]:
    known = vars(import_module(f"theory.{kind.value}")).values()
    yield from (value for value in known if isinstance(value, Letter))


def _stretched(claim: Statement, subject: Any) -> str:
    """Return a part that combines arrays of two shapes, which NumPy would repeat; or nothing."""
    sides = (side for says in claim.said for side in (says.actual, says.claimed))
    for part in walk(*sides) if isinstance(claim, MatrixClaim) else ():
        shapes = _combined(part, subject)
        if len(shapes) > 1:
            told = " and ".join(map(str, shapes))
            return f"{plain(part)} combines arrays of shapes {told} entry by entry"
    return ""


def _combined(part: Expression, subject: Any) -> list[tuple[int, ...]]:
    """Return the shapes that an expression combines entry by entry, as far as they are known."""
    if not (isinstance(part, Apply) and isinstance(part.operation, EntryByEntry)):
        return []
    arrays = [operand for operand in part.operands if operand.sort is not Sort.NUMBER]
    with suppress(Exception):  # in a derivative; or another check says what is wrong
        return list(dict.fromkeys(np.shape(values_of(subject)[array]) for array in arrays))
    return []


def _of_hints(claim: Statement) -> Iterator[Complaint]:
    if isinstance(claim, Claim | MatrixClaim):
        try:
            next(hinted(grounds_of(claim), claim), None)
        except HintError as error:
            yield Complaint(claim.id, str(error))


def _is_of_its_sort(letter: Letter, shape: tuple[int, ...]) -> bool:
    """Whether a value's shape is a letter's: an index is a number, with an axis of its own."""
    return shape != () if letter.sort is not Sort.NUMBER else len(shape) != 1 or shape == (1,)


FEW = 64
"""Random matrices of each law of which no side is negative."""


def _refuse_negative(claim: ExpectationClaim, drawn: Drawn) -> None:
    """Refuse a statement of means of what may be negative; raise what its sides raise."""
    for name, law in LAWS.items():
        entries = Entries(name, law, *drawn.G.shape)
        with suppress(ZeroDivisionError):
            if admits(claim, entries):
                refuse_negative(*claim.sides_of_each(Drawn(entries.matrices(0, FEW))))


def _misfit(claim: Statement, subject: Any) -> Iterator[Complaint]:
    actual, claimed = claim.sides(subject)
    if isinstance(claim, ExpectationClaim):
        law = next(iter(LAWS))
        entries = Entries(law, LAWS[law], *subject.G.shape)
        claim.constant(entries)
        claim.ceilings(entries)
        try:
            _refuse_negative(claim, subject)
        except ValueError as error:
            yield Complaint(claim.id, str(error))
        if undecided := exact.shortcoming(claim):
            yield Complaint(claim.id, undecided)
        return
    is_spoken_of = isinstance(claim, MatrixClaim) and may_be_met(claim, subject)
    if unlike := [*filter(None, (_unlike(says, subject) for says in claim.said if is_spoken_of))]:
        yield Complaint(claim.id, unlike[0])
        return
    quantities = [np.asarray(h.quantity(subject), dtype=object) for h in claim.hypotheses]
    if claim.because is None:
        return
    if np.size(actual) > 1:
        yield Complaint(
            claim.id,
            "because= proves an inequality of two numbers, and these are vectors or matrices; write"
            " one for each entry, or of their largest and smallest entries",
        )
        return
    slack = claim.slack(actual, claimed)
    values = [term.value(subject) for term in claim.terms(subject)]
    if _sign(total(*values, -1 * slack)) != 0:
        yield Complaint(
            claim.id,
            f"because= adds up to {side_in_words(total(*values))} where the slack is "
            f"{side_in_words(slack)}; write terms whose sum is {_slack_in_words(claim)}, each "
            "visibly not negative",
        )
    elif _met(claim, quantities) and any(_sign(value) < 0 for value in values):
        yield Complaint(
            claim.id,
            "because= has a term that is negative somewhere; write it as squares, squared norms "
            "and slacks of hypotheses times positive numbers",
        )


def _unlike(says: Says, subject: Any) -> str:
    """Return what is wrong with sides that are vectors, matrices or maps of two shapes."""
    if says.actual.sort is Sort.NUMBER or says.claimed.sort is Sort.NUMBER:
        return ""
    shapes = [np.shape(side) for side in values_of(subject).sides(says)]
    if len(set(shapes)) == 1:
        return ""
    return (
        f"{says.actual} and {says.claimed} are of shapes {shapes[0]} and {shapes[1]} in an"
        " instance; compare what is of one shape"
    )


def _slack_in_words(claim: Statement) -> str:
    if claim.relation.bounds_below:
        return "actual - claimed"
    return "the side that is not 0" if claim.spoken.says_zero else "claimed - actual"


def _met(claim: Statement, quantities: Sequence[Any]) -> bool:
    """Whether the hypotheses hold at the instance."""
    return all(map(holds, quantities, claim.hypotheses))


def _sign(value: Any) -> int:
    return int(number(np.asarray(value, dtype=object).item()).sign())
