"""Proofs of statements about matrices for single sizes, with every number a symbol."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sympy import SympifyError

from theory.arithmetic import symbolic
from theory.arithmetic.dual import standard_part
from theory.arithmetic.formulas import UnreadableError, letter
from theory.arithmetic.quadratic import DifferentFieldsError
from theory.arithmetic.radicals import UndecidedError
from theory.arithmetic.tall import Tall
from theory.language.plain import plain
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Relation
from verify import results
from verify.record import Record
from verify.results import Proof, in_words
from verify.settings import Settings
from verify.subjects.matrices import OF_SIZE, SHAPES, SUBJECTS, Numbers, may_be_met
from verify.subjects.matrix_lattice import Size
from verify.subjects.unit import LosesGeneralityError, imposed_by
from verify.witnesses import certificates
from verify.witnesses.certificates import WITHOUT_CERTIFICATE, remainder
from verify.witnesses.exact import ROOTS
from verify.witnesses.jet import refuse_outside
from verify.witnesses.matrices import exact, integers
from verify.witnesses.retractions import keeps

SIZES: dict[Kind, tuple[Size, ...]] = {
    Kind.LAYER: ((3, 1, 1), (2, 2, 1), (2, 1, 2), (3, 2, 1), (2, 1, 1)),
    Kind.MAPS: ((2, 2, 3, 2, 2, 3), (1, 2, 2, 3, 2, 3), (1, 1, 2, 2, 1, 5)),
    Kind.DESCENT: ((2,), (1,), (3,)),
}
"""Maps have several channels, rows, columns and outputs: else no index that is wrong is seen.  Of
layers three examples come first, since a normalisation of two numbers has no derivative, and of
descents two numbers, since a direction of one number has none either."""
WIDTHS = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1))
"""Numbers of inputs and outputs of layers of which statements are proved for every N."""
FIRST_N = 3
"""So many examples stand for any number where no proof is sought."""
FIRST_TRIES = 6
"""Subjects of integers that a statement must survive before a proof is tried."""


def examine(claim: MatrixClaim, settings: Settings) -> Record:
    """Try a proof for every size; those of other sizes say nothing of one that failed.

    A size at which a side divides by zero, whatever the numbers are, is none of which it speaks.
    """
    if why := not_tried(claim):
        return Record(claim.id, "symbolic", unproved=why)
    found = _tried(claim, len(settings.budget.sizes))
    proved = tuple(size for size, why in found if not why)
    return Record(
        claim=claim.id,
        witness="symbolic",
        sizes={in_words([size]): "proved" for size in proved},
        proof=Proof(proved) if proved and len(proved) == len(found) else None,
        unproved=next((f"{in_words([size])}: {why}" for size, why in found if why), ""),
    )


def _tried(claim: MatrixClaim, count: int) -> list[tuple[results.Size, str]]:
    """Return what is not proved for the first sizes, or further ones till it speaks of one."""
    found: list[tuple[results.Size, str]] = []
    for number, size in enumerate(SIZES[claim.subject]):
        if number >= count and found:
            break
        subject = letters(claim.subject, size)
        if may_be_met(claim, subject) and (why := shortcoming(claim, size)) != UNDEFINED:
            found.append((subject.size, why))
    return found


def shortcoming(claim: MatrixClaim, size: Size) -> str:
    """Return why the statement is not proved for subjects of one size; nothing where it is.

    An equation is proved where every hypothesis that is one can be imposed; an inequality by its
    certificate, of all subjects where what is imposed may lose some.
    """
    if why := not_tried(claim):
        return why
    if integers.fails_somewhere(claim, size, FIRST_TRIES):
        return FAILS
    return open_for(claim, letters(claim.subject, size), AnyLoss)


FAILS = "it fails at whole numbers"
IMPOSES_A_SIZE = "an equation that is imposed speaks of a size"
UNDEFINED = "a side divides by what is zero for all numbers"
OPEN = UndecidedError, UnreadableError, DifferentFieldsError, SympifyError, ZeroDivisionError
"""What letters leave open."""
OUTSIDE = *OPEN, TypeError, AttributeError, ValueError
"""How the arithmetic says besides that it has no such operation: an index or a comparison of a
letter, a single row of a matrix of symbolic height."""


def open_for(
    claim: MatrixClaim, subject: Numbers, seen: Callable[[Any], Any] = lambda subject: subject
) -> str:
    """Return what stays open for a subject of letters; nothing where the statement follows.

    A mistake in a certificate is an error.

    Args:
        claim: the statement.
        subject: the letters.
        seen: what the statement sees of them, once its hypotheses are imposed.
    """
    try:
        subject = seen(subject if _lost(claim) else exact.imposed(claim, subject))
        claim.slack(*claim.sides(subject))
    except ZeroDivisionError:
        return UNDEFINED
    except OUTSIDE as error:
        is_spectral = isinstance(error, AttributeError) and error.name == "linalg"
        asked = "eigenvalues" if is_spectral else error
        return f"letters do not say what it asks for: {asked}"
    try:
        return _left_open(claim, subject)
    except OPEN as error:
        return str(error)


class AnyLoss:
    """A subject of letters with any loss: of what it is near one point nothing follows of others.

    Near the first point that it is asked at it is the subject's polynomial and a constant, which
    has any gradient and Hessian there, of each example; near zero and each other one, and of a
    descent, whose matrix the polynomial shares, a 2-jet of letters of its own.
    """

    def __init__(self, subject: Numbers):
        self._subject = subject
        self._known: list[tuple[np.ndarray, Callable[[Any], Any]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._subject, name)

    def loss(self, where: Any) -> Any:
        """Return the loss.

        Raises:
            OutsideJetError: a third derivative is asked for.
        """
        numbers = np.asarray(where, dtype=object)
        here = np.vectorize(standard_part, otypes=[object])(numbers)
        refuse_outside((numbers - here).ravel(), symbolic.is_zero)
        for point, near in self._known:
            if symbolic.is_zero(here - point):
                return near(where)
        self._known.append((here, self._near(here)))
        return self.loss(where)

    def _near(self, point: np.ndarray) -> Callable[[Any], Any]:
        is_first = not self._known and not symbolic.is_zero(point)
        if is_first and self._subject.kind is not Kind.DESCENT:
            return lambda where: letter("L") + self._subject.loss(where)  # type: ignore[attr-defined]
        name, count = len(self._known), point.size
        value, slope = letter(f"L{name}"), symbolic.vector(f"g{name}_", count)
        hessian = symbolic.symmetric_matrix(f"H{name}_", count)

        def jet(where: Any) -> Any:
            moved = (where - point).ravel()
            return value + slope @ moved + moved @ (hessian @ moved) / 2

        return jet


def _left_open(claim: MatrixClaim, subject: Numbers) -> str:
    terms = claim.terms(subject)
    rest = claim.left_over(subject, terms)
    entries = rest.coefficients() if isinstance(rest, Tall) else rest
    if not symbolic.is_zero(entries):
        return remainder(claim)
    return certificates.shortcoming(claim, terms, subject)


def not_tried(claim: MatrixClaim) -> str:
    """Return why there is no way to prove the statement by letters; nothing where there is one."""
    is_bound = claim.relation is not Relation.EQUAL
    if claim.because is not None:
        if not is_bound:
            return "because= proves bounds of matrices: write the equation as two of them"
        is_real = integers.is_defined_somewhere(claim, FIRST_TRIES)
        return (
            "" if is_real else "because= is a real number at none of the subjects that were tried"
        )
    if is_bound:
        return WITHOUT_CERTIFICATE
    unimposed = (h for h in claim.hypotheses if h.sign is Relation.EQUAL and h.impose is None)
    if (equation := next(unimposed, None)) is not None:
        return f"its hypothesis {plain(equation.says)} is an equation without impose="
    return _lost(claim)


@cache
def _lost(claim: MatrixClaim) -> str:
    """Return why what a statement imposes may lose subjects that meet it; nothing where not."""
    imposing = (h.says for h in claim.hypotheses if h.impose is not None)
    if any(letter in OF_SIZE for says in imposing for letter in says.letters):
        return IMPOSES_A_SIZE
    try:
        return "" if keeps_subjects(claim) else "impose= changes subjects that meet its equation"
    except LosesGeneralityError as error:
        return str(error)


def keeps_subjects(claim: MatrixClaim) -> bool:
    """Whether what a statement imposes gives back every subject that meets it, of small sizes.

    Raises:
        LosesGeneralityError: it is not for symbols.
    """
    proved = [*SIZES[claim.subject]]
    if claim.subject is Kind.LAYER:
        proved += [(FIRST_N, *width) for width in WIDTHS]
    sizes = proved if imposed_by(claim) else ()
    return all(keeps(claim, letters(claim.subject, size)) for size in sizes)


LETTERS = {
    "H": "h", "W": "w", "mean": "mu", "deviation": "sigma", "curvature": "s", "direction": "x",
    "scaling": "d", "step": "alpha", "couples": "kappa", "linear": "l", "quadratic": "Q",
    "fourth": "f", "free": "c", "pooled": "t", "theta": "t", "factor": "F",
}  # fmt: skip
"""What the entries of numbers are called, where it is not as these are."""


def letters(kind: Kind, size: Size) -> Numbers:
    """Return a subject whose numbers are letters for real numbers."""
    made = SUBJECTS[kind]
    known = {
        name: _entries(name, shape, name in made.positive)
        for name, shape in SHAPES[kind](*size).items()
    }
    return made(**known, calculus=ROOTS)


def _entries(name: str, shape: tuple[int, ...], positive: bool) -> Any:
    """Return letters; no loss that nothing is known of has a ridge."""
    if name in ("ridge", "centre"):
        return np.zeros(shape, dtype=object)
    array, called = np.empty(shape, dtype=object), LETTERS.get(name, name)
    for index in np.ndindex(shape):
        array[index] = letter(called + "_".join(str(i + 1) for i in index), positive)
    if name == "quadratic":
        lower = np.tril(np.ones(shape[1:], dtype=int))
        return np.where(lower, array, array.transpose(0, 2, 1))
    return array if shape else array.item()
