r"""Proofs of statements about a layer for every number N of examples, or silence.

The inputs H are a matrix of symbolic height, known by the inner products of its columns
(:mod:`theory.arithmetic.tall`); what has no axis of examples is letters, for named numbers of
inputs and outputs.  The loss is any function of the outputs, known near one point A,

.. math:: L(A + D) = L(A) + \langle G, D\rangle + \tfrac12\langle d, T d\rangle,

to first order, and to second order where nothing but the first column d of D moves.  A statement
that looks at single examples is left to the other witnesses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

import sympy as sp

from theory.arithmetic import abstract, sqrt, symbolic
from theory.arithmetic.abstract import AbstractVector
from theory.arithmetic.dual import levels, standard_part
from theory.arithmetic.formulas import letter
from theory.arithmetic.quotients import factored
from theory.arithmetic.radicals import is_zero
from theory.arithmetic.tall import Tall, matrix
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Relation
from verify.record import Record
from verify.results import Proof, Size, in_words
from verify.settings import Settings
from verify.subjects.calculus import Calculus
from verify.subjects.matrices import Layer, may_be_met
from verify.witnesses.matrices import integers
from verify.witnesses.matrices.symbolic import (
    FAILS,
    FIRST_N,
    FIRST_TRIES,
    IMPOSES_A_SIZE,
    OUTSIDE,
    WIDTHS,
    letters,
    not_tried,
    open_for,
)
from verify.witnesses.retractions import entries

WITNESS = "abstract"


def examine(claim: MatrixClaim, settings: Settings) -> Record:
    """Try a proof for every N, at every number of inputs and outputs."""
    if why := not_tried(claim):
        return Record(claim.id, WITNESS, unproved=why)
    widths = [(n, p) for n, p in WIDTHS if may_be_met(claim, layer(n, p))]
    sizes: tuple[Size, ...] = tuple({"N": None, "n": n, "p": p} for n, p in widths)
    missing = (shortcoming(claim, n, p) for n, p in widths)
    told = (f"{in_words([size])}: {why}" for size, why in zip(sizes, missing, strict=True) if why)
    unproved = next(told, "")
    proof = Proof(sizes) if sizes and not unproved else None
    return Record(claim.id, WITNESS, proof=proof, unproved=unproved)


def shortcoming(claim: MatrixClaim, n: int, p: int) -> str:
    """Return why the statement is not proved for every layer of n inputs and p outputs, if so."""
    if why := not_tried(claim):
        return why
    if integers.fails_somewhere(claim, (FIRST_N, n, p), FIRST_TRIES):
        return FAILS
    subject = layer(n, p)
    if _imposes_a_size(claim, subject):
        return IMPOSES_A_SIZE
    return open_for(claim, subject)


def _imposes_a_size(claim: MatrixClaim, subject: AbstractLayer) -> bool:
    """Whether an equation that is imposed may hold of any numbers at one N, or may not be read."""
    imposed = (h for h in claim.hypotheses if h.impose is not None and h.sign is Relation.EQUAL)
    N = subject.H.space.m
    try:
        zeros = [hypothesis.quantity(subject) for hypothesis in imposed]
        numbers = [zero.coefficients() if isinstance(zero, Tall) else zero for zero in zeros]
        return any(
            N in sp.fraction(factored(entry))[0].free_symbols
            for entry in chain.from_iterable(map(entries, numbers))
        )
    except OUTSIDE:
        return True


class Jet:
    """A loss, known near the point where it is first asked for."""

    def __init__(self) -> None:
        self.point: Tall | None = None

    def __call__(self, A: Tall) -> Any:
        """Return the loss at A.

        Raises:
            ValueError: A is at another point, or a third derivative is asked for, or a second one
            outside of the first unit.
        """
        here = A.map(standard_part)
        self.point = here if self.point is None else self.point
        if not is_zero((here - self.point).coefficients()):
            raise ValueError("the loss is known near one point only")
        moved = A.map(lambda c: c - standard_part(c)).columns.ravel()
        slopes = [A.space.vector(f"g{i}").inner(column) for i, column in enumerate(moved)]
        first, *others = moved
        progressing = set().union(*(levels(c) for d in moved for c in d.coefficients.values()))
        if len(progressing) > (1 if any(d.coefficients for d in others) else 2):
            raise ValueError("the loss is known to first order, to second order in the first unit")
        return letter("L") + sum(slopes) + first.inner(first.apply_operator()) / 2


@dataclass(frozen=True, kw_only=True)
class AbstractLayer(Layer):
    """A layer on a batch of symbolic size."""

    rest: Jet

    def __post_init__(self) -> None:
        """Know the loss's Hessian for diagonal where no example depends on others."""
        self.H.space.operator_is_diagonal = self.couples == 0

    def loss(self, A: Any) -> Any:
        """Return the loss as a function of the layer's output."""
        return self.rest(A)


def layer(n: int, p: int) -> AbstractLayer:
    """Return the generic layer of n inputs and p outputs."""
    small = letters(Kind.LAYER, (FIRST_N, n, p))
    known = {f.name: getattr(small, f.name) for f in fields(Layer)}
    unknown = dict.fromkeys(("curvature", "linear", "quadratic", "fourth", "ridge", "centre"))
    inputs = {"H": matrix("h", n), "calculus": Calculus(sqrt, gradient, derivative), "rest": Jet()}
    return AbstractLayer(**{**known, **unknown, **inputs})


def derivative(f: Callable[[Any], Any], x: Any, u: Any) -> Any:
    """Return the derivative of f at x along u, of letters or of a vector of symbolic length."""
    if not isinstance(x, Tall):
        return symbolic.derivative(f, x, u)
    found = abstract.directional_derivative(_of_vector(f), x.columns.item(), u.columns.item())
    return Tall(found) if isinstance(found, AbstractVector) else found


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the gradient of a scalar function, likewise."""
    if not isinstance(x, Tall):
        return symbolic.gradient(f, x)
    return Tall(abstract.gradient(_of_vector(f), x.columns.item()))


def _of_vector(f: Callable[[Tall], Any]) -> Callable[[AbstractVector], Any]:
    def function(x: AbstractVector) -> Any:
        found = f(Tall(x))
        return found.columns.item() if isinstance(found, Tall) else found

    return function
