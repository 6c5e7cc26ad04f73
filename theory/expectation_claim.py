r"""A statement about expectations over a random matrix of independent entries.

It says that, for every law of the entries and every size that its hypotheses admit,

.. math:: \left(\frac{\mathbb{E} X}{\mathbb{E} Y}\right)^{1/k} \le C,

where the ``sides`` X and Y, neither of them negative, are functions of one random matrix, k is the
``root`` and C the ``constant``.  A paper that says "there is a constant" leaves open what C may
depend on: each reading names a C, as a function of the law and the size, and what falsifies it
falsifies every smaller one.

The expectations are measured, which proves nothing; what is proved for every law, Coq's kernel
proves.  What is refuted is refuted exactly where the statement names a law and a size at which both
means have bounds that a pencil gives (:class:`FailsAt`), elsewhere with a stated confidence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from theory.language.expression import (
    NEGATIVE,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    Abbreviation,
    Apply,
    Expression,
    Number,
    Operation,
    Sort,
    walk,
)
from theory.language.plain import plain
from theory.language.values import Values
from theory.random_matrix import OfMany
from theory.statement import Relation, Sides, Statement


class Entries(Protocol):
    """The law of the independent entries, of mean 0 and variance 1, of a matrix, and its size."""

    @property
    def N(self) -> int:
        """Rows."""
        ...

    @property
    def n(self) -> int:
        """Columns."""
        ...

    @property
    def fourth_moment(self) -> float:
        """The mean of an entry's fourth power; it may be infinite."""
        ...

    @property
    def order(self) -> float:
        """Below it every moment is finite; it may be infinite."""
        ...

    @property
    def largest(self) -> float:
        """What an entry's modulus never exceeds; it may be infinite."""
        ...

    @property
    def is_fixed(self) -> bool:
        """Whether the law is the same at every size."""
        ...


@dataclass(frozen=True)
class FailsAt:
    r"""A law and a size at which a bound fails, by a bound of each mean.

    The bounds are expressions of N and n: :math:`\mathbb{E} X` is at least ``actual`` and
    :math:`\mathbb{E} Y` at most ``claimed``.
    """

    law: str
    """Its name, of those that are measured."""
    N: int
    n: int
    actual: Expression
    claimed: Expression
    because: str
    """Why, in words: a sentence without its full stop."""

    def __str__(self) -> str:
        """Return all of it as text."""
        return f"{self.law}, N = {self.N}, n = {self.n}: {self.reason}"

    @property
    def reason(self) -> str:
        """What is said of both means."""
        bounds = f"numerator >= {plain(self.actual)} and denominator <= {plain(self.claimed)}"
        return f"{bounds}: {self.because}"


@dataclass(frozen=True)
class Drawn:
    """Random matrices of one size as a subject of expressions: one, or many along a first axis.

    A number that hangs on them is an array of an entry for each where they are many.
    """

    G: Any

    @cached_property
    def values(self) -> Values:
        """What expressions are worth there, each computed once for all that is said of it."""
        return Values(self) if self.G.ndim == 2 else _ValuesOfMany(self)

    @cached_property
    def each(self) -> tuple[Drawn, ...]:
        """The matrices one by one."""
        return tuple(map(Drawn, self.G))

    @property
    def N(self) -> int:
        """Rows."""
        return int(self.G.shape[-2])

    @property
    def n(self) -> int:
        """Columns."""
        return int(self.G.shape[-1])


class _ValuesOfMany(Values):
    """The values for many matrices: at once where every operation takes many, or one by one."""

    def _compute(self, expression: Expression) -> Any:
        if isinstance(expression, Apply) and not _takes_many(expression):
            return np.array([one.values[expression] for one in self.subject.each], dtype=float)
        return super()._compute(expression)


mean = Operation("E", lambda x: x, r"\mathbb{{E}}\left[{0}\right]", takes=(Sort.NUMBER,))
"""The expectation; of what is said of one matrix it is the value there, which witnesses average."""


def _kth_root(x: Any, k: Any) -> Any:
    return x.root(int(float(k))) if hasattr(x, "root") else x ** (1 / k)


root = Operation(
    "root", _kth_root, r"\left({0}\right)^{{1/{1}}}",
    takes=(Sort.NUMBER, Sort.NUMBER),
)  # fmt: skip
"""The k-th root."""
ARITHMETIC = frozenset({SUM, NEGATIVE, PRODUCT, QUOTIENT, POWER, mean, root})


def _takes_many(expression: Expression) -> bool:
    """Whether an expression takes many matrices at once, its parts that are numbers being known."""
    if isinstance(expression, Abbreviation):
        return _takes_many(expression.body)
    if not isinstance(expression, Apply) or _is_constant(expression):
        return True
    operation, operands = expression.operation, expression.operands
    if operation in ARITHMETIC and all(part.sort is Sort.NUMBER for part in operands):
        return True
    return isinstance(operation, OfMany) and all(map(_takes_many, operands))


def _is_constant(expression: Expression) -> bool:
    """Whether it hangs on the size alone."""
    return all(letter.sort is Sort.NUMBER for letter in expression.free)


def _is_linear(expression: Expression) -> bool:
    """Whether it is a sum of constants and of constants times expectations."""
    if isinstance(expression, Abbreviation):
        return _is_linear(expression.body)
    if _is_constant(expression):
        return True
    if not isinstance(expression, Apply):
        return False
    operation, operands = expression.operation, expression.operands
    if operation is mean:
        parts = walk(operands[0])
        return not any(isinstance(part, Apply) and part.operation is mean for part in parts)
    if operation in (SUM, NEGATIVE):
        return all(map(_is_linear, operands))
    if operation is QUOTIENT:
        return _is_linear(operands[0]) and _is_constant(operands[1])
    others = [part for part in operands if not _is_constant(part)]
    return operation is PRODUCT and len(others) == 1 and _is_linear(others[0])


@dataclass(frozen=True, kw_only=True)
class ExpectationClaim(Statement):
    """A bound of one expectation by another, times a constant.

    What it says is ``mean(X) / Y <= C`` or ``root(mean(X) / Y, k) <= C``, where Y may have means
    too; the sides, the root and the constant follow from it.  The hypotheses' quantities are
    functions of the :class:`Entries`.

    Raises:
        ValueError: the relation is not "at most", or a side is more than a sum of constants times
            expectations.
    """

    ceilings: Callable[[Entries], Sides] = lambda entries: Sides(inf, inf)
    """What X and Y never exceed for such entries; infinite where no such number is known."""
    fails_at: FailsAt | None = None
    """Where it fails, by a pencil."""

    def __post_init__(self) -> None:
        """Refuse what the one direction cannot say."""
        super().__post_init__()
        if self.relation is Relation.LESS_THAN:
            raise ValueError(
                f"{self.id}: no measurement tells a strict bound of expectations from the other;"
                " write <="
            )
        if self.relation is not Relation.AT_MOST:
            raise ValueError(
                f"{self.id}: a bound from above was expected, mean(X) / mean(Y) <= C; from below it"
                " is one of the inverse"
            )
        if self.because is not None:
            raise ValueError(f"{self.id}: expectations are measured; they have no because=")
        _ = self._means

    @cached_property
    def _means(self) -> _Means:
        return _means_in(self.spoken.actual)

    @property
    def root(self) -> int:
        """The root k of the quotient of the means."""
        return self._means.root

    def constant(self, entries: Entries) -> float:
        """Return the constant C for entries of a law and a size."""
        return float(Values(entries)[self.spoken.claimed])

    def limits(self, entries: Entries) -> Sides:
        """Return the ceilings; of a Y that hangs on the size alone, and has none, what it is."""
        actual, claimed = map(float, self.ceilings(entries))
        if claimed == inf and _is_constant(self._means.Y):
            claimed = float(Values(entries)[self._means.Y])
        return Sides(actual, claimed)

    def sides(self, drawn: Drawn) -> Sides:
        """Return X and Y for a matrix that was drawn, or for many."""
        return Sides(drawn.values[self._means.X], drawn.values[self._means.Y])

    def corrected(self, name: str = "corrected", /, **changes: Any) -> Self:
        """Return a corrected statement, tied to this one, which nothing is known to falsify."""
        return super().corrected(name, **{"fails_at": None, **changes})

    def sides_of_each(self, drawn: Drawn) -> Sides:
        """Return the sides for many matrices, as arrays of an entry for each.

        Raises:
            ZeroDivisionError: at one of them a side divides by zero.
        """
        X, Y = (np.asarray(side, dtype=float) for side in self.sides(drawn))
        return Sides(np.broadcast_to(X, len(drawn.G)), np.broadcast_to(Y, len(drawn.G)))


class _Means(NamedTuple):
    """What the k-th root of a quotient of means is made of."""

    X: Expression
    Y: Expression
    root: int


def _means_in(quotient: Expression) -> _Means:
    """Return what a quotient of means, or a root of it, is made of."""
    power = 1
    if isinstance(quotient, Apply) and quotient.operation is root:
        quotient, exponent = quotient.operands
        if not isinstance(exponent, Number) or exponent.value < 1:
            raise ValueError(
                f"a root is the k-th for a positive whole number k, not {plain(exponent)}; write"
                " root(mean(X) / mean(Y), number(2)) for the square root"
            )
        power = exponent.value
    if not (isinstance(quotient, Apply) and quotient.operation is QUOTIENT):
        raise ValueError(
            f"a quotient of means was expected, not {quotient}; what bounds it from above stands"
            " below the line: mean(X) / mean(Y) <= C, or mean(X) / (N * n) <= C"
        )
    X, Y = quotient.operands
    for side in (X, Y):
        if not _is_linear(side):
            raise ValueError(
                f"a sum of constants times expectations was expected, not {plain(side)}: what is"
                " said of an expectation is not an expectation; write mean(...) around all that is"
                " random, and nothing but sums and constants around that"
            )
    return _Means(X, Y, power)
