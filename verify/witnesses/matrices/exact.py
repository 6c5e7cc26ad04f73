"""Statements about matrices of rational numbers, decided for certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import numpy as np

from theory.arithmetic.exact import DifferentFieldsError
from theory.language.expression import Letter
from theory.language.values import Values
from theory.matrix_claim import MatrixClaim
from verify import letters
from verify.results import Example
from verify.subjects.matrices import Numbers, Watched, written
from verify.subjects.unit import changed, imposed_by
from verify.subjects.unit_lattice import shown
from verify.witnesses.exact import (
    IN_BALLS,
    IN_NUMBERS,
    Arithmetic,
    Conversions,
    Examined,
    decided,
    each,
)

Known = Mapping[Letter, Any]
Told = TypeVar("Told", bound=Example)


def imposed(claim: MatrixClaim, subject: Numbers) -> Numbers:
    """Return the subject with the claim's hypotheses imposed."""
    return changed(subject, imposed_by(claim))


def converted(claim: MatrixClaim, subject: Numbers, arithmetic: Arithmetic = IN_NUMBERS) -> Numbers:
    """Return the subject with the claim's hypotheses imposed, in numbers of one kind."""
    exactly = _numbers_in(IN_NUMBERS, imposed(claim, subject))
    return exactly if arithmetic is IN_NUMBERS else _numbers_in(arithmetic, exactly)


def _numbers_in(arithmetic: Arithmetic, subject: Numbers) -> Numbers:
    return subject.converted(partial(each, arithmetic.number), arithmetic.calculus)


def conversions(subject: Numbers) -> Conversions:
    """Return one subject as claims want it."""
    return Conversions(lambda claim, arithmetic: converted(claim, subject, arithmetic))


def examined(claims: Sequence[MatrixClaim], subject: Numbers) -> list[Examined]:
    """Return what becomes of claims at one subject of rational numbers, for certain.

    Where a side divides by an exact zero, the subject lies outside of the statement.
    """
    of_subject = conversions(subject)
    return [decided(claim, of_subject) for claim in claims]


def written_for(kind: type[Told], claim: MatrixClaim, subject: Numbers, examined: Examined) -> Told:
    """Return the numbers that matter, with hypotheses imposed, and both sides as text."""
    exactly = converted(claim, subject)
    known = letters.worth(claim, exactly)
    numbers = written(exactly, _seen(claim, exactly, {}))
    seen = _seen(claim, exactly, known)
    named = letters.readers(claim).keys()
    idle = {n for n in seen - named if n in numbers and _is_idle(claim, exactly, known, n)}
    return kind(
        exactly.size,
        numbers,
        examined.actual,
        examined.claimed,
        examined.arithmetic,
        letters=letters.written(known),
        behind=tuple(sorted(numbers.keys() - written(exactly, seen - idle))),
        ratio=examined.ratio(claim.relation),
    )


def _is_idle(claim: MatrixClaim, subject: Numbers, known: Known, name: str) -> bool:
    """Whether other numbers of the same shape change nothing: a shape is all that is looked at."""
    others = subject.with_numbers(_squared_and_more, [name])
    try:
        these, those = (_quantities(claim, one, known) for one in (subject, others))
    except DifferentFieldsError:
        in_balls = _numbers_in(IN_BALLS, subject)
        return _is_idle(claim, in_balls, letters.worth(claim, in_balls), name)
    except ZeroDivisionError:
        return False
    return [shown(q) for q in these] == [shown(q) for q in those]


def _squared_and_more(value: Any) -> Any:
    """Return other numbers, that are no multiple of those and no shift."""
    squares = np.array([(k + 2) ** 2 for k in range(np.size(value))], dtype=object)
    return value * value + (squares.reshape(np.shape(value)) if np.ndim(value) else squares[0])


def _seen(claim: MatrixClaim, subject: Numbers, known: Known) -> set[str]:
    """Return the names of the numbers that a statement looks at, where some letters are known."""
    watched = Watched(subject)
    with suppress(ZeroDivisionError, DifferentFieldsError):
        _quantities(claim, watched, known)
    return watched.seen


def _quantities(claim: MatrixClaim, subject: Any, known: Known) -> list[Any]:
    """Return what hypotheses compare with zero, and both sides, where some letters are known."""
    values = Values(subject, known)
    return [*(values[h.slack] for h in claim.hypotheses), *values.sides(claim.spoken)]
