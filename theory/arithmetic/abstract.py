r"""Vectors of symbolic length m, known only by their inner products.

A :class:`Space` holds named vectors.  The inner product of two of them is a symbol, unless the
space was told its value; one of the names is the vector of ones, with :math:`\langle 1,1\rangle
= m`.  A symmetric operator :math:`H` acts on the space and is known only by its moments
:math:`\langle a, H^k b\rangle`, symmetric in a and b.

Whatever is derived here holds for every batch size and every batch, because nothing else was
used.  The converse is false: a small m forces relations among inner products, so a difference
that does not vanish here refutes nothing.

>>> space = Space()
>>> a, b = space.vector("a"), space.vector("b")
>>> (a + 2 * b).inner(space.one)
<a, one> + 2*<b, one>
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, NoReturn, TypeAlias

from theory.arithmetic.dual import Dual, infinitesimal, rate
from theory.arithmetic.quotients import lowest_terms
from theory.packages import missing

try:
    import sympy as sp
except ModuleNotFoundError as error:
    raise missing(error, "verify") from error

Scalar: TypeAlias = Any
"""A sympy expression, or a dual number of them."""
Label = tuple[int, str]
"""The vector :math:`H^k a` is labelled ``(k, "a")``."""

ONE = "one"
_fresh = count()


class UndeterminedError(TypeError):
    """Something was asked of abstract vectors that their inner products do not determine."""


@dataclass(eq=False)
class Space:
    """Named vectors of one symbolic length, and the inner products that are known.

    ``known`` maps an unordered pair of names to the value of their inner product.
    """

    known: dict[frozenset[str], Scalar] = field(default_factory=dict)
    m: sp.Symbol = field(default_factory=lambda: sp.Symbol("m", integer=True, positive=True))
    operator_is_diagonal: bool = False
    """Whether H is diagonal, so that the elementwise product of H1 and a is Ha."""
    _moments: dict[tuple[int, str, str], sp.Symbol] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known = {frozenset({ONE}): self.m, **self.known}

    @property
    def one(self) -> AbstractVector:
        """The vector of ones."""
        return self.vector(ONE)

    def vector(self, name: str) -> AbstractVector:
        """Return the vector of that name."""
        return AbstractVector(self, {(0, name): sp.Integer(1)})

    def moment(self, power: int, a: str, b: str) -> Scalar:
        r"""Return :math:`\langle a, H^k b\rangle` for two names."""
        if power == 0 and (value := self.known.get(frozenset({a, b}))) is not None:
            return value
        key = (power, min(a, b), max(a, b))
        if key not in self._moments:
            operator = {0: "", 1: "H "}.get(power, f"H^{power} ")
            is_a_norm = a == b and power % 2 == 0
            self._moments[key] = sp.Symbol(
                f"<{key[1]}, {operator}{key[2]}>",
                **({"nonnegative": True} if is_a_norm else {"real": True}),
            )
        return self._moments[key]

    def moments_with(self, name: str) -> list[tuple[sp.Symbol, int, str]]:
        """Return the unknown moments met so far that involve a name: symbol, power, partner."""
        return [
            (symbol, power, b if a == name else a)
            for (power, a, b), symbol in self._moments.items()
            if name in (a, b)
        ]


class AbstractVector:
    """A formal combination of named vectors (and of H applied to them)."""

    __array_ufunc__ = None  # an array on the left must leave the operation to this class

    def __init__(self, space: Space, coefficients: Mapping[Label, Scalar]):
        self.space = space
        self.coefficients = {k: c for k, c in coefficients.items() if isinstance(c, Dual) or c != 0}

    def inner(self, other: AbstractVector) -> Scalar:
        """Return the inner product, bilinear in the named vectors."""
        terms = (
            x * y * self.space.moment(j + k, a, b)
            for (j, a), x in self.coefficients.items()
            for (k, b), y in other.coefficients.items()
        )
        return sum(terms, start=sp.Integer(0))

    def __len__(self) -> NoReturn:
        raise UndeterminedError("the length is the symbol m; ask for length()")

    def __bool__(self) -> bool:
        return True

    def length(self) -> sp.Symbol:
        """Return the symbol m."""
        return self.space.m

    def mean(self) -> Scalar:
        r"""Return :math:`\langle 1, a\rangle/m`."""
        return self.inner(self.space.one) / self.space.m

    def sum(self) -> Scalar:
        r"""Return :math:`\langle 1, a\rangle`."""
        return self.inner(self.space.one)

    def __matmul__(self, other: AbstractVector) -> Scalar:
        return self.inner(other)

    def apply_operator(self) -> AbstractVector:
        """Return H applied to this vector."""
        raised = {(k + 1, a): c for (k, a), c in self.coefficients.items()}
        return AbstractVector(self.space, raised)

    def map(self, function: Callable[[Scalar], Scalar]) -> AbstractVector:
        """Return the vector with each coefficient replaced by its image."""
        return AbstractVector(self.space, {k: function(c) for k, c in self.coefficients.items()})

    def __add__(self, other: Any) -> AbstractVector:
        if not isinstance(other, AbstractVector):
            other = other * self.space.one
        total = dict(self.coefficients)
        for label, c in other.coefficients.items():
            total[label] = total.get(label, 0) + c
        return AbstractVector(self.space, total)

    __radd__ = __add__

    def __neg__(self) -> AbstractVector:
        return self * -1

    def __sub__(self, other: Any) -> AbstractVector:
        return self + (-1) * other

    def __rsub__(self, other: Any) -> AbstractVector:
        return -self + other

    def __mul__(self, scalar: Any) -> AbstractVector:
        if isinstance(scalar, AbstractVector):
            raise UndeterminedError(
                "an elementwise product of two vectors is not determined by inner products; "
                "write the formula with inner(a, b)"
            )
        return self.map(lambda c: c * scalar)

    __rmul__ = __mul__

    def __truediv__(self, scalar: Any) -> AbstractVector:
        return self.map(lambda c: c / scalar)

    def __repr__(self) -> str:
        return " + ".join(f"({c})*{_name(k)}" for k, c in self.coefficients.items()) or "0"


def _name(label: Label) -> str:
    power, name = label
    return "H " * power + name


def directional_derivative(f: Callable[[Any], Any], x: AbstractVector, u: AbstractVector) -> Any:
    """Derivative of f at x along u, where f returns a scalar or a vector."""
    t = infinitesimal()
    moved = f(x + t * u)
    if isinstance(moved, AbstractVector):
        return moved.map(lambda c: tidy(rate(c, t)))
    return tidy(rate(moved, t))


def gradient(f: Callable[[AbstractVector], Scalar], x: AbstractVector) -> AbstractVector:
    r"""Gradient of a scalar function: the vector whose inner product with u is its derivative.

    A fresh vector u is known by its moments :math:`\langle a, H^k u\rangle` alone; the derivative
    along it is linear in them, and the coefficient of that moment is the gradient's coefficient
    on :math:`H^k a`.
    """
    space, name = x.space, f"direction {next(_fresh)}"
    slope = tidy(directional_derivative(f, x, space.vector(name)))
    return AbstractVector(
        space,
        {
            (power, partner): _part(slope, partial(_slope_in, moment))
            for moment, power, partner in space.moments_with(name)
        },
    )


def _slope_in(moment: sp.Symbol, expression: Scalar) -> Scalar:
    return sp.diff(expression, moment)


def _part(number: Any, function: Callable[[Scalar], Scalar]) -> Any:
    """Apply a linear function of expressions to each part of a dual number."""
    if isinstance(number, Dual):
        return Dual(_part(number.value, function), _part(number.rate, function), number.level)
    return function(sp.sympify(number))


def tidy(number: Any) -> Any:
    """Bring an expression (or each part of a dual number) over one denominator, in lowest terms."""
    return _part(number, lowest_terms)


def is_zero(value: Any) -> bool:
    """Whether a scalar or every coefficient of a vector vanishes identically."""
    if isinstance(value, AbstractVector):
        return all(is_zero(c) for c in value.coefficients.values())
    return bool(lowest_terms(sp.sympify(value)) == 0)
