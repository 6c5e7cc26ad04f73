r"""Expressions: what a statement is written in.

An expression is a value that cannot change: a number, a letter, an operation on expressions, a
derivative, or an abbreviation of another expression.  Python's operators build them, so that

    gamma**2 / sigma**2 * (norm2(g) - dot(one, g)**2 / m)

is the formula itself.  What it displays (:mod:`theory.language.latex`), what it is worth
(:mod:`theory.language.values`) and which mistakes could be made in it
(:mod:`theory.language.variants`) are all read off this one value.

``<=`` and its kin say something of two sides.  ``==`` compares expressions as they are written;
what says that two sides are equal is :func:`equal`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cached_property, reduce
from typing import Any

from theory.language.unrounded import power, product, quotient, total


class Sort(StrEnum):
    """What kind of thing an expression stands for."""

    NUMBER = "a number"
    VECTOR = "a vector"
    MATRIX = "a matrix"
    MAPS = "maps"


class Binding(IntEnum):
    """How strongly a display holds together, from sums to single symbols."""

    SUM = 0
    OPERATOR = 1
    """What reaches to the end of a product, as a sum over an index or a maximum does."""
    PRODUCT = 2
    POWER = 3
    ATOM = 4


class Relation(StrEnum):
    """How the actual side relates to the claimed one."""

    EQUAL = "="
    AT_MOST = "<="
    AT_LEAST = ">="
    LESS_THAN = "<"
    MORE_THAN = ">"

    @property
    def is_strict(self) -> bool:
        """Whether it excludes equality."""
        return self in (Relation.LESS_THAN, Relation.MORE_THAN)

    @property
    def bounds_below(self) -> bool:
        """Whether the claimed side is the smaller one."""
        return self in (Relation.AT_LEAST, Relation.MORE_THAN)

    @property
    def bounds_above(self) -> bool:
        """Whether the claimed side is the larger one."""
        return self in (Relation.AT_MOST, Relation.LESS_THAN)

    def in_order(self, actual: Any, claimed: Any) -> tuple[Any, Any]:
        """Return the sides, first the one that is to be the smaller."""
        return (claimed, actual) if self.bounds_below else (actual, claimed)

    def slack(self, actual: Any, claimed: Any) -> Any:
        """Return what is not negative where the relation holds, or zero where it is equality."""
        smaller, larger = self.in_order(actual, claimed)
        return larger - smaller

    def compare(self, a: Any, b: Any) -> Any:
        """Return whether a stands in the relation to b: a truth, or one for each entry."""
        return _COMPARISONS[self][0](a, b)

    def fails(self, a: Any, b: Any) -> Any:
        """Return whether a does not stand in the relation to b.

        Of numbers known up to an error neither this nor :meth:`compare` may be certain.
        """
        return _COMPARISONS[self][1](a, b)


_COMPARISONS: dict[Relation, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    Relation.EQUAL: (operator.eq, operator.ne),
    Relation.AT_MOST: (operator.le, operator.gt),
    Relation.AT_LEAST: (operator.ge, operator.lt),
    Relation.LESS_THAN: (operator.lt, operator.ge),
    Relation.MORE_THAN: (operator.gt, operator.le),
}


class SortError(TypeError):
    """An expression that means nothing: a number's norm, a vector plus a number."""


class Written:
    """What is shown as the formula that it is: as text, and in a notebook as LaTeX.

    >>> x = Letter("x", "x")
    >>> 2 * (x - 1) ** 2 <= 1
    2*(x - 1)**2 <= 1

    The modules that write formulas take them apart, and so import this one.
    """

    def __repr__(self) -> str:
        from theory.language.plain import plain

        return plain(self)

    def _repr_latex_(self) -> str:
        from theory.language.latex import latex

        return f"${latex(self)}$"


class Expression(Written):
    """A formula; its operators build larger ones."""

    __array_ufunc__ = None
    __match_args__: tuple[str, ...] = ()

    @property
    def sort(self) -> Sort:
        """What kind of thing it stands for."""
        raise NotImplementedError

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that it is directly made of."""
        return ()

    def with_parts(self, *parts: Expression) -> Expression:
        """Return the same with other parts."""
        return self

    @cached_property
    def free(self) -> frozenset[Letter]:
        """The letters whose values it depends on."""
        return frozenset().union(*(part.free for part in self.parts))

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__match_args__))  # its fields

    def __hash__(self) -> int:
        return self._hash

    def __add__(self, other: Any) -> Expression:
        return SUM(*_joined(SUM, self), other)

    def __radd__(self, other: Any) -> Expression:
        return SUM(other, self)

    def __sub__(self, other: Any) -> Expression:
        return self + NEGATIVE(other)

    def __rsub__(self, other: Any) -> Expression:
        return SUM(other, NEGATIVE(self))

    def __neg__(self) -> Expression:
        return NEGATIVE(self)

    def __mul__(self, other: Any) -> Expression:
        return PRODUCT(*_joined(PRODUCT, self), other)

    def __rmul__(self, other: Any) -> Expression:
        return PRODUCT(other, self)

    def __truediv__(self, other: Any) -> Expression:
        return QUOTIENT(self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return QUOTIENT(other, self)

    def __pow__(self, exponent: int) -> Expression:
        if isinstance(exponent, float):
            raise SortError(f"an exponent is a whole number, not {exponent}; a root is sqrt(x)")
        return POWER(self, exponent)

    def __matmul__(self, other: Any) -> Expression:
        return MATRIX_PRODUCT(*_joined(MATRIX_PRODUCT, self), other)

    def __le__(self, other: Any) -> Says:
        return Says(self, Relation.AT_MOST, as_expression(other))

    def __lt__(self, other: Any) -> Says:
        return Says(self, Relation.LESS_THAN, as_expression(other))

    def __ge__(self, other: Any) -> Says:
        return Says(self, Relation.AT_LEAST, as_expression(other))

    def __gt__(self, other: Any) -> Says:
        return Says(self, Relation.MORE_THAN, as_expression(other))


@dataclass(frozen=True, repr=False)
class Number(Expression):
    """A whole number."""

    value: int

    @property
    def sort(self) -> Sort:
        """A number."""
        return Sort.NUMBER


@dataclass(frozen=True, repr=False)
class Letter(Expression):
    """A letter of a paper."""

    name: str
    """How it is written in text."""
    latex: str
    sort: Sort = Sort.NUMBER
    value: Callable[[Any], Any] | None = None
    """What it is worth for a subject; None for the variable of a derivative."""
    domain: str = ""
    """What it ranges over, as LaTeX, where that goes without saying for no reader."""

    @cached_property
    def free(self) -> frozenset[Letter]:
        """The letter itself."""
        return frozenset({self})

    __hash__ = Expression.__hash__


@dataclass(frozen=True)
class Operation:
    """A function of expressions.

    Calling it builds an expression, and refuses operands of which it means nothing.
    """

    name: str
    meaning: Callable[..., Any]
    """The same function of values, of any arithmetic."""
    latex: str
    """A template: ``{0}`` is the first operand, ``{0:atom}`` the same, in parentheses if needed."""
    gives: Sort | int = Sort.NUMBER
    """The sort of its value, or which operand has it."""
    takes: tuple[Sort, ...] | None = None
    """The sorts of its operands; None if any will do."""
    binds: Binding | None = None
    """How strongly its display holds together; None if how the template ends tells."""

    def __call__(self, *operands: Any) -> Expression:
        """Return the operation on operands; a Python integer is a number.

        Raises:
            SortError: it means nothing for such operands.
        """
        found = tuple(map(as_expression, operands))
        self._refuse_others(found)
        return Apply(self, found)

    def _refuse_others(self, operands: tuple[Expression, ...]) -> None:
        if self.takes is not None and tuple(o.sort for o in operands) != self.takes:
            expected = ", ".join(sort.value for sort in self.takes)
            raise SortError(f"{self.name} takes {expected}; {_given(operands)}")

    def sort_of(self, operands: tuple[Expression, ...]) -> Sort:
        """Return the sort of its value."""
        return self.gives if isinstance(self.gives, Sort) else operands[self.gives].sort

    def value(self, subject: Any, *operands: Any) -> Any:
        """Return its value for values of its operands."""
        return self.meaning(*operands)

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, eq=False)
class Primitive(Operation):
    """An operation that asks the subject, as the loss does; its meaning takes the subject first."""

    reads: tuple[str, ...] | None = None
    """The subject's numbers, or "loss", that its value changes with beside its operands; None if it
    may be any.

    A derivative takes them for constants.
    """

    def value(self, subject: Any, *operands: Any) -> Any:
        """Return the subject's own value."""
        return self.meaning(subject, *operands)


@dataclass(frozen=True, repr=False)
class Apply(Expression):
    """An operation on operands."""

    operation: Operation
    operands: tuple[Expression, ...]

    @cached_property
    def sort(self) -> Sort:
        """The sort of the operation's value."""
        return self.operation.sort_of(self.operands)

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The operands."""
        return self.operands

    def with_parts(self, *parts: Expression) -> Expression:
        """Return the same operation on others."""
        return Apply(self.operation, parts)

    __hash__ = Expression.__hash__


@dataclass(frozen=True, repr=False)
class Derivative(Expression):
    """The gradient of a function, or its derivative along a direction, at a point."""

    body: Expression
    """The function: an expression in which the variable stands."""
    variable: Letter
    point: Expression
    direction: Expression | None = None
    """Along what; None for the gradient of a number."""

    def __post_init__(self) -> None:
        """Refuse a variable that is no letter, and a point or a direction that it cannot be."""
        if not isinstance(self.variable, Letter):
            raise SortError(
                f"{self.body} is differentiated in {self.variable}, which is no letter; write"
                " gradient(L(x), x, at=2 * y) for a gradient at another point"
            )
        _, *places = self.parts
        for place in places:
            if place.sort is not self.variable.sort:
                raise SortError(
                    f"{self.body} is differentiated in {self.variable}, which is "
                    f"{self.variable.sort.value}; it was given {place}, {place.sort.value}"
                )

    @property
    def sort(self) -> Sort:
        """The variable's for a gradient, the function's for a derivative along a direction."""
        return self.variable.sort if self.direction is None else self.body.sort

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The function, the point and the direction."""
        return (self.body, self.point, *([] if self.direction is None else [self.direction]))

    def with_parts(self, *parts: Expression) -> Expression:
        """Return the derivative of another function, at another point, along another direction."""
        body, point, *direction = parts
        return Derivative(body, self.variable, point, *direction)

    @cached_property
    def free(self) -> frozenset[Letter]:
        """What the function depends on besides its variable; and the point and the direction."""
        _, *others = self.parts
        return (self.body.free - {self.variable}).union(*(part.free for part in others))

    __hash__ = Expression.__hash__


@dataclass(frozen=True, repr=False)
class Abbreviation(Expression):
    r"""A name for an expression, as :math:`Hu` is one for a derivative."""

    latex: str
    """A template like an operation's; LaTeX as it stands if there are no operands."""
    operands: tuple[Expression, ...]
    body: Expression

    @property
    def sort(self) -> Sort:
        """The expression's."""
        return self.body.sort

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expression that it stands for."""
        return (self.body,)

    def with_parts(self, *parts: Expression) -> Expression:
        """Return what it stands for: another expression does not have its name."""
        (body,) = parts
        return self if body == self.body else body

    __hash__ = Expression.__hash__


@dataclass(frozen=True, repr=False)
class Says(Written):
    """What is said of two sides: a statement without its conditions."""

    actual: Expression
    relation: Relation
    claimed: Expression

    def __post_init__(self) -> None:
        """Refuse sides that cannot be compared."""
        kinds = {side.sort for side in (self.actual, self.claimed) if side != ZERO}
        if len(kinds) > 1:
            raise SortError(
                f"{self.actual} ({self.actual.sort.value}) is compared with "
                f"{self.claimed} ({self.claimed.sort.value})"
            )
        if Sort.MATRIX in kinds and self.relation is not Relation.EQUAL:
            raise SortError(
                f"{self.actual} and {self.claimed} are matrices, which are not compared entry by"
                " entry; write what is said of their quadratic forms, eigenvalues or norms"
            )

    def __bool__(self) -> bool:
        """Refuse to be a truth value, which a chain a <= b <= c would make of it."""
        raise TypeError("a statement is neither true nor false before it is examined")

    @cached_property
    def slack(self) -> Expression:
        """What is not negative where it holds; of an equation, what is zero."""
        if self.claimed == ZERO:
            return -self.actual if self.relation.bounds_above else self.actual
        if self.actual == ZERO:
            return -self.claimed if self.relation.bounds_below else self.claimed
        return self.slack_of(self.actual, self.claimed)

    def slack_of(self, actual: Any, claimed: Any) -> Any:
        """Return the slack by what the sides are worth."""
        return actual - claimed if self.says_zero else self.relation.slack(actual, claimed)

    @property
    def says_zero(self) -> bool:
        """Whether it is an equation whose claimed side is zero: the slack is the actual side."""
        return self.relation is Relation.EQUAL and self.claimed == ZERO

    @property
    def letters(self) -> tuple[Letter, ...]:
        """The letters that it needs, in the order in which they are met."""
        free = self.actual.free | self.claimed.free
        met = walk(self.actual, self.claimed)
        return tuple(node for node in met if isinstance(node, Letter) and node in free)


def equal(actual: Any, claimed: Any) -> Says:
    """Say that two sides are equal."""
    return Says(as_expression(actual), Relation.EQUAL, as_expression(claimed))


def named(latex: str, body: Expression, *operands: Expression) -> Expression:
    r"""Return an expression that displays as a name, such as :math:`\nabla_y\hat L`."""
    return Abbreviation(latex, operands, body)


def as_expression(value: Any) -> Expression:
    """Return an expression; an integer is a number.

    Raises:
        SortError: the value is neither.
    """
    if isinstance(value, Expression):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Number(value)
    if callable(value):
        raise SortError(
            "expected an expression, got a function; write what it is of: norm2(x), H(u)"
        )
    raise SortError(
        f"expected an expression or a whole number, got {value!r} of type {type(value).__name__}; "
        "write a fraction as 1 / number(2)"
    )


def number(value: int) -> Expression:
    """Return a whole number as an expression, so that ``number(1) / 2`` is a half.

    Raises:
        SortError: the value is no whole number.
    """
    return as_expression(value)


def gradient(body: Any, variable: Letter, at: Any = None) -> Expression:
    """Return the gradient of an expression in a variable, at the variable's own value if no other.

    Raises:
        SortError: the expression is not a number, or the variable is one, or no letter.
    """
    body = as_expression(body)
    if body.sort is not Sort.NUMBER:
        raise SortError(
            f"the gradient is that of a number; {body} is {body.sort.value}: write along(f, x, u)"
            " for its derivative along u"
        )
    if as_expression(variable).sort is Sort.NUMBER:
        raise SortError(
            f"{variable} is a number: write along(f, {variable}, number(1)) for a derivative in it"
        )
    return Derivative(body, variable, as_expression(variable if at is None else at))


def along(body: Any, variable: Letter, direction: Any, at: Any = None) -> Expression:
    """Return the derivative of an expression in a variable along a direction, likewise."""
    point = as_expression(variable if at is None else at)
    return Derivative(as_expression(body), variable, point, as_expression(direction))


def walk(*expressions: Expression) -> Iterator[Expression]:
    """Yield expressions and everything that they are made of, each once, from the outside in."""
    met: set[Expression] = set()
    waiting = [*reversed(expressions)]
    while waiting:
        if (node := waiting.pop()) not in met:
            met.add(node)
            yield node
            waiting.extend(reversed(node.parts))


def derivatives_in(expression: Expression) -> int:
    """Return how deep derivatives are nested: one inside the function of another."""
    if isinstance(expression, Derivative):
        function, *others = expression.parts
        return max(1 + derivatives_in(function), *map(derivatives_in, others))
    return max(map(derivatives_in, expression.parts), default=0)


def _joined(operation: Operation, first: Expression) -> tuple[Expression, ...]:
    """Return the operands of a first operand of the same kind: a + b + c is one sum."""
    if isinstance(first, Apply) and first.operation is operation:
        return first.operands
    return (first,)


class EntryByEntry(Operation):
    """An operation on arrays of one shape, which NumPy would make of others too."""


class _Sum(EntryByEntry):
    def _refuse_others(self, operands: tuple[Expression, ...]) -> None:
        if len({o.sort for o in operands}) > 1:
            raise SortError(f"a sum is of things of one kind; {_given(operands)}")


class _Product(Operation):
    def _refuse_others(self, operands: tuple[Expression, ...]) -> None:
        if sum(o.sort is not Sort.NUMBER for o in operands) > 1:
            raise SortError(
                f"at most one factor is not a number; {_given(operands)}; write dot(a, b) for an "
                "inner product, entrywise(a, b) for the product of entries"
            )

    def sort_of(self, operands: tuple[Expression, ...]) -> Sort:
        sorts = [o.sort for o in operands if o.sort is not Sort.NUMBER]
        return sorts[0] if sorts else Sort.NUMBER


class _Quotient(Operation):
    def _refuse_others(self, operands: tuple[Expression, ...]) -> None:
        top, bottom = operands
        if bottom == ZERO:
            raise SortError(f"{top} is divided by 0")
        if bottom.sort is not Sort.NUMBER:
            raise SortError(f"{top} is divided by {bottom}, which is {bottom.sort.value}")


class _MatrixProduct(Operation):
    def _refuse_others(self, operands: tuple[Expression, ...]) -> None:
        *before, last = operands
        are_others = any(o.sort is not Sort.MATRIX for o in before)
        if are_others or last.sort not in (Sort.MATRIX, Sort.VECTOR):
            raise SortError(
                "a product with @ is of matrices, of which the last may be a vector; "
                f"{_given(operands)}; write dot(a, b) for an inner product, transpose(A) @ v for a "
                "row times a matrix"
            )

    def sort_of(self, operands: tuple[Expression, ...]) -> Sort:
        return operands[-1].sort


def _given(operands: tuple[Expression, ...]) -> str:
    """Return what an operation was given, for a message."""
    return f"it was given {', '.join(f'{o} ({o.sort.value})' for o in operands)}"


SUM = _Sum("sum", total, "", gives=0)
NEGATIVE = Operation("-", lambda x: -x, "", gives=0)
PRODUCT = _Product("product", product, "")
QUOTIENT = _Quotient("quotient", quotient, r"\frac{{{0}}}{{{1}}}", gives=0)
POWER = Operation("power", power, "", takes=(Sort.NUMBER, Sort.NUMBER))
MATRIX_PRODUCT = _MatrixProduct("matrix product", lambda *f: reduce(lambda a, b: a @ b, f), "")
ZERO = Number(0)
