r"""How the slack of an inequality shows its own sign: a sum of terms, none of which is negative.

A certificate is an expression.  Each of its terms is a product; its factors are read as

- the slack of a hypothesis, written as that hypothesis's ``slack``;
- a squared norm, or an even power of a number that is not a letter;
- anything else, which belongs to the weight, whose sign must be seen by its letters' signs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain
from operator import attrgetter, mul

from theory.arithmetic.operations import norm_squared, square
from theory.language import arrays, operations
from theory.language.expression import (
    NEGATIVE,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    Abbreviation,
    Apply,
    Derivative,
    Expression,
    Letter,
    Number,
    Operation,
    Sort,
    as_expression,
    walk,
)
from theory.language.operations import SquaredNorm, absolute, norm, spread, sqrt
from theory.language.roots import takes_a_root

NOT_NEGATIVE = (sqrt, norm, arrays.norm, absolute, arrays.absolute, spread)
"""Operations whose values, where they exist, are not negative."""
SQUARES = (norm_squared, square, arrays.norm2.meaning)
"""What squared norms mean."""
WITHOUT_DIVISOR = {
    *(SUM, PRODUCT, NEGATIVE),
    *(x for of in (operations, arrays) for x in vars(of).values() if isinstance(x, Operation)),
}
"""Operations that are known to divide by nothing, or by the length of a vector."""


@dataclass
class Product:
    """A term of a certificate."""

    weights: list[Expression] = field(default_factory=list)
    squares: list[Expression] = field(default_factory=list)
    """Numbers, of which the square counts, and vectors, of which the squared norm counts."""
    slacks: list[Expression] = field(default_factory=list)
    """Slacks of hypotheses."""

    @property
    def weight(self) -> Expression:
        """The product of what is neither a square nor a slack."""
        return reduce(mul, self.weights, as_expression(1))


def products(certificate: Expression, slacks: Collection[Expression]) -> list[Product]:
    """Return the terms of a certificate, the slacks of the hypotheses being known."""
    found = []
    for term in _terms(certificate, slacks):
        product = Product()
        _read(term, slacks, product)
        found.append(product)
    return found


def outside(*expressions: Expression) -> Iterator[Expression]:
    """Yield expressions and what they are made of, except for the functions of derivatives."""
    for expression in expressions:
        yield expression
        is_derivative = isinstance(expression, Derivative)
        yield from outside(*(expression.parts[1:] if is_derivative else expression.parts))


def divisors(expression: Expression) -> Iterator[Expression]:
    """Yield what an expression divides by, except within a derivative."""
    for part in outside(expression):
        match part:
            case Apply(operation, (_, divisor)) if operation is QUOTIENT:
                yield divisor
            case Apply(operation, (base, Number(power))) if operation is POWER and power < 0:
                yield base


def hiding_a_divisor(
    certificate: Expression, spoken: Collection[Expression]
) -> Iterator[Expression]:
    """Yield what of a certificate may divide by something that :func:`divisors` does not yield.

    Args:
        certificate: the expression.
        spoken: what exists where its statement speaks.
    """
    for part in dict.fromkeys(each for each in outside(certificate) if each not in spoken):
        functions = walk(part.body) if isinstance(part, Derivative) else ()
        if _may_divide(part) or any(_may_divide(f) or [*divisors(f)] for f in functions):
            yield part


def _may_divide(part: Expression) -> bool:
    """Whether a part's operation, other than a quotient or a power, may divide."""
    known = (QUOTIENT, POWER, *WITHOUT_DIVISOR)
    return isinstance(part, Apply) and part.operation not in known


def unreal(
    certificate: Expression,
    spoken: Collection[Expression],
    seen: Collection[Expression],
    is_not_negative: Callable[[Letter], bool],
) -> Iterator[Expression]:
    """Yield what of a certificate need not be a real number wherever its statement speaks.

    Where a root does not exist its square is no square, and no sign of it is seen.  A root may hide
    in a function that takes one, or that is not of this library.

    Args:
        certificate: the expression.
        spoken: what the statement and its hypotheses are made of, :func:`outside` of derivatives,
            which exists where they speak.
        seen: what is not negative by a hypothesis.
        is_not_negative: whether a letter is seen to be that.
    """
    for part in dict.fromkeys(each for each in outside(certificate) if each not in spoken):
        match part:
            case Derivative(body=function):
                if any(map(may_take_a_root, walk(function))):
                    yield part
            case Apply(operands=(radicand, *_)) if _is_a_root(part):
                if not _is_not_negative(radicand, seen, is_not_negative):
                    yield part
            case _ if _hides_a_root(part):
                yield part


def may_take_a_root(part: Expression) -> bool:
    """Whether a part is a root, or its function may take one that is not of squares."""
    return _is_a_root(part) or _hides_a_root(part)


def narrows(
    spoken: Collection[Expression],
    seen: Collection[Expression],
    is_not_negative: Callable[[Letter], bool],
) -> bool:
    """Whether a statement takes a root that need not exist, so that it may speak of a thin set.

    A letter that is somebody's function may take one.
    """
    functions = (part.body for part in spoken if isinstance(part, Derivative))
    for part in chain(spoken, walk(*functions)):
        if isinstance(part, Letter) and _hides_a_root(part):
            return True
        if isinstance(part, Apply) and may_take_a_root(part):
            numbers = [operand for operand in part.operands if operand.sort is Sort.NUMBER]
            under = part.operands[:1] if _is_a_root(part) else numbers
            if not all(_is_not_negative(each, seen, is_not_negative) for each in under):
                return True
    return False


def _is_not_negative(
    part: Expression, seen: Collection[Expression], is_not_negative: Callable[[Letter], bool]
) -> bool:
    """Whether a number is seen not to be negative, by how it is written."""
    match part:
        case _ if part in seen:
            return True
        case Number(value):
            return value >= 0
        case Letter(value=value):
            return value is not None and is_not_negative(part)
        case Apply(operation, (_, Number(power))) if operation is POWER and power % 2 == 0:
            return True
        case Apply(operation) if _is_a_squared_norm(operation) or operation in NOT_NEGATIVE:
            return True
        case _ if _is_made_of_its_parts(part):
            return all(_is_not_negative(each, seen, is_not_negative) for each in part.parts)
    return False


def _is_made_of_its_parts(part: Expression) -> bool:
    """Whether it is not negative where its parts are not."""
    arithmetic = SUM, PRODUCT, QUOTIENT, POWER
    return isinstance(part, Abbreviation) or (
        isinstance(part, Apply) and part.operation in arithmetic
    )


def _is_a_root(part: Expression) -> bool:
    """Whether a part is the root of its first operand."""
    if not isinstance(part, Apply):
        return False
    if part.operation is POWER:
        power = part.operands[1]
        return not (isinstance(power, Number) and isinstance(power.value, int))
    return part.operation.meaning is sqrt.meaning


def _hides_a_root(part: Expression) -> bool:
    """Whether a part's function may take a root that is not of squares."""
    if isinstance(part, Letter):
        return not (part.value is None or _is_ours(part.value))
    if not isinstance(part, Apply) or part.operation in NOT_NEGATIVE:
        return False
    return not _is_ours(part.operation.meaning) or takes_a_root(part.operation.meaning)


def _is_ours(function: Callable[..., object]) -> bool:
    """Whether a function is of this library, or reads an attribute, or takes no root either."""
    if isinstance(function, attrgetter) or function is abs:
        return True
    return getattr(function, "__module__", "").partition(".")[0] == "theory"


def _is_a_squared_norm(operation: Operation) -> bool:
    return isinstance(operation, SquaredNorm) and operation.meaning in SQUARES


def _terms(expression: Expression, slacks: Collection[Expression]) -> Iterator[Expression]:
    if expression in slacks:
        yield expression
    elif isinstance(expression, Apply) and expression.operation is SUM:
        for operand in _apart(expression, slacks):
            yield from _terms(operand, slacks)
    else:
        yield expression


def _apart(expression: Apply, slacks: Collection[Expression]) -> tuple[Expression, ...]:
    """Return the operands of a sum or product, of which a slack that came first is one again.

    What is added to a sum, or multiplied to a product, is joined to its operands.  A slack of which
    an operand is one itself is left apart.
    """
    parts = expression.parts
    alike = (s for s in slacks if isinstance(s, Apply) and s.operation is expression.operation)
    whole = (s for s in alike if not any(part in slacks for part in s.parts))
    joined = (s for s in whole if parts[: len(s.parts)] == s.parts)
    first = max(joined, key=lambda s: len(s.parts), default=None)
    return parts if first is None else (first, *parts[len(first.parts) :])


def _read(factor: Expression, slacks: Collection[Expression], product: Product) -> None:
    """Sort a factor into the product that it belongs to."""
    match factor:
        case _ if factor in slacks:
            product.slacks.append(factor)
        case Apply(operation, (base, Number(power))) if (
            operation is POWER and power > 0 and base in slacks
        ):
            product.slacks.extend([base] * power)
        case Apply(operation=operation) if operation is PRODUCT:
            for operand in _apart(factor, slacks):
                _read(operand, slacks, product)
        case Apply(operation, (numerator, denominator)) if operation is QUOTIENT:
            _read(numerator, slacks, product)
            product.weights.append(1 / denominator)
        case Apply(operation, (operand,)) if operation is NEGATIVE:
            product.weights.append(as_expression(-1))
            _read(operand, slacks, product)
        case Apply(operation, (vector,)) if _is_a_squared_norm(operation):
            product.squares.append(vector)
        case Apply(operation, (base, Number(power))) if (
            operation is POWER and power % 2 == 0 and not isinstance(base, Letter)
        ):
            one = base if power > 0 else 1 / base
            product.squares.extend([one] * (abs(power) // 2))
        case _:
            product.weights.append(factor)
