r"""An expression as Coq text: a statement handed to a proof assistant, term for term.

The words are those of ``theory/coq``; which of them a letter or a primitive is, is the
vocabulary's to say.

>>> from theory.language.expression import Letter, Sort, equal
>>> from theory.language.operations import dot, norm2
>>> a, b = Letter("a", "a", Sort.VECTOR), Letter("b", "b", Sort.VECTOR)
>>> words = Vocabulary({a: "a", b: "b"}, {})
>>> coq(equal(norm2(a - 2 * b), 1 - dot(a, b) / 3), words)
'norm2 (a - 2 *: b)%V = 1 - dot a b / 3'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from theory.language.expression import (
    NEGATIVE,
    POWER,
    PRODUCT,
    QUOTIENT,
    SUM,
    ZERO,
    Abbreviation,
    Apply,
    Derivative,
    Expression,
    Letter,
    Number,
    Operation,
    Relation,
    Says,
    Sort,
)
from theory.language.operations import (
    absolute,
    average,
    centred,
    dot,
    norm,
    norm2,
    row,
    spread,
    sqrt,
)

OPERATIONS: dict[Operation, str] = {
    dot: "dot",
    row: "dot",
    norm2: "norm2",
    norm: "norm",
    average: "mean",
    spread: "variance",
    centred: "centre",
    sqrt: "sqrt",
    absolute: "Rabs",
}
"""The Coq function that an operation is."""


SYNTAX = frozenset(
    ["gradient", "hessian", "along", "valong", "fun", "let", "in", "vec", "R", "INR", "m"]
)
"""What else is written."""


IDENTIFIER = re.compile(r"[a-zA-Z_][\w']*", re.ASCII)
"""What Coq reads as one word."""


class NoCoqError(ValueError):
    """An expression has no Coq text: a word is missing, or it is of matrices."""


@dataclass(frozen=True)
class Vocabulary:
    """What letters and primitives are in Coq."""

    letters: Mapping[Letter, str]
    functions: Mapping[Operation, str]
    """A function, or one with its first arguments: ``bn gamma beta eps``."""

    @property
    def spoken(self) -> frozenset[str]:
        """The words that stand for functions, which no letter may be called by."""
        functions = " ".join([*OPERATIONS.values(), *self.functions.values()])
        return SYNTAX | {*functions.split()}


class Level(IntEnum):
    """Coq's levels: what binds tighter has the lower one."""

    ATOM = 0
    APPLICATION = 10
    POWER = 30
    NEGATIVE = 35
    PRODUCT = 40
    SUM = 50


@dataclass(frozen=True)
class CoqTerm:
    """A piece of Coq text, how tightly it holds together, and whether it is in vector scope."""

    text: str
    level: Level = Level.ATOM
    is_vector: bool = False

    def within(self, level: int) -> str:
        """Return the text where only what binds at least so tightly may stand."""
        return self.text if self.level <= level else f"({self.text})"

    @property
    def argument(self) -> str:
        """The text as an argument of a function, where a vector's scope must be said."""
        if self.is_vector and self.level > Level.APPLICATION:
            return f"({self.text})%V"
        return self.within(Level.ATOM)

    @property
    def side(self) -> str:
        """The text as one side of a relation."""
        return self.argument if self.is_vector and self.level > Level.APPLICATION else self.text


def coq(expression: Expression | Says, vocabulary: Vocabulary) -> str:
    """Return an expression, or what is said of two, as Coq text.

    Raises:
        NoCoqError: the vocabulary lacks a word.
    """
    writer = Writer(vocabulary)
    if not isinstance(expression, Says):
        return writer.term(expression).side
    sides = [expression.actual, expression.claimed]
    if all(side.sort is not Sort.VECTOR for side in sides):
        left, right = (writer.term(side).side for side in sides)
        return f"{left} {expression.relation.value} {right}"
    if expression.relation is not Relation.EQUAL:
        raise NoCoqError(f"{expression.relation} between vectors, entry by entry, has no word")
    left, right = (NULL if side == ZERO else writer.term(side).side for side in sides)
    return f"{left} = {right} :> vec m"


NULL = "(0 *: one)%V"
"""The vector that is zero."""


@dataclass
class Writer:
    """Writes expressions in the words of a vocabulary."""

    vocabulary: Vocabulary
    bound: tuple[Letter, ...] = ()
    """The variables of the derivatives around."""

    def term(self, expression: Expression) -> CoqTerm:
        """Return an expression as a term."""
        match expression:
            case Number(value):
                return CoqTerm(str(value) if value >= 0 else f"({value})")
            case Letter() if expression in self.bound:
                return CoqTerm(expression.name, Level.ATOM, expression.sort is Sort.VECTOR)
            case Letter():
                word = self._letter(expression)
                if word in {variable.name for variable in self.bound}:
                    raise NoCoqError(f"{word} is both free and the variable of a derivative")
                level = Level.APPLICATION if " " in word else Level.ATOM
                return CoqTerm(word, level, expression.sort is Sort.VECTOR)
            case Abbreviation(body=body):
                return self.term(body)
            case Derivative():
                return self._derivative(expression)
            case Apply(operation, operands):
                return self._applied(operation, operands, expression.sort is Sort.VECTOR)
        raise NoCoqError(f"{expression} has no Coq text")

    def _applied(
        self, operation: Operation, operands: tuple[Expression, ...], is_vector: bool
    ) -> CoqTerm:
        if operation is SUM:
            return self._sum(operands, is_vector)
        if operation is PRODUCT:
            return self._product(operands, is_vector)
        terms = [self.term(o) for o in operands]
        if operation is NEGATIVE:
            (a,) = terms
            if is_vector:
                return CoqTerm(f"(-1) *: {a.within(Level.POWER)}", Level.PRODUCT, True)
            return CoqTerm(f"- {a.within(Level.NEGATIVE)}", Level.NEGATIVE)
        if operation is QUOTIENT:
            a, b = terms
            divisor = b.within(Level.POWER)
            if is_vector:
                return CoqTerm(f"1 / {divisor} *: {a.within(Level.POWER)}", Level.PRODUCT, True)
            return CoqTerm(f"{a.within(Level.PRODUCT)} / {divisor}", Level.PRODUCT)
        if operation is POWER:
            a, b = terms
            exponent = operands[1]
            if not (isinstance(exponent, Number) and exponent.value >= 0):
                raise NoCoqError(f"the exponent {exponent} is not a natural number")
            return CoqTerm(f"{a.within(Level.APPLICATION)} ^ {b.text}", Level.POWER)
        word = self._word(operation)
        if all(t.text == "one" for t in terms):
            terms = [CoqTerm("@one m", Level.APPLICATION, is_vector=True) for _ in terms]
        return CoqTerm(" ".join([word, *(t.argument for t in terms)]), Level.APPLICATION, is_vector)

    def _sum(self, operands: tuple[Expression, ...], is_vector: bool) -> CoqTerm:
        text = ""
        for operand in operands:
            sign, term = " + ", operand
            if text and isinstance(operand, Apply) and operand.operation is NEGATIVE:
                sign, (term,) = " - ", operand.operands
            written = self.term(term).within(Level.PRODUCT)
            text = f"{text}{sign}{written}" if text else self.term(operand).within(Level.SUM)
        return CoqTerm(text, Level.SUM, is_vector)

    def _product(self, operands: tuple[Expression, ...], is_vector: bool) -> CoqTerm:
        numbers = [o for o in operands if o.sort is not Sort.VECTOR]
        first, *others = (self.term(o) for o in numbers)
        parts = [first.within(Level.PRODUCT), *(o.within(Level.POWER) for o in others)]
        scalar = " * ".join(parts)
        if not is_vector:
            return CoqTerm(scalar, Level.PRODUCT)
        (vector,) = (self.term(o) for o in operands if o.sort is Sort.VECTOR)
        return CoqTerm(f"{scalar} *: {vector.within(Level.POWER)}", Level.PRODUCT, True)

    def _derivative(self, derivative: Derivative) -> CoqTerm:
        if derivative.variable.sort is not Sort.VECTOR:
            raise NoCoqError(f"a derivative in {derivative.variable}, a number, has no word in Coq")
        if not IDENTIFIER.fullmatch(name := derivative.variable.name):
            raise NoCoqError(f"a derivative's variable is called {name}, which is no word")
        function = self._function(derivative.body, derivative.variable)
        point = self.term(derivative.point).argument
        if derivative.direction is None:
            return CoqTerm(f"gradient {function} {point}", Level.APPLICATION, True)
        is_vector = derivative.body.sort is Sort.VECTOR
        prefix = f"{'valong' if is_vector else 'along'} {function}"
        if function.startswith("(gradient ") and function.endswith(")"):
            prefix = f"hessian {function.removeprefix('(gradient ')[:-1]}"
        direction = self.term(derivative.direction).argument
        return CoqTerm(f"{prefix} {point} {direction}", Level.APPLICATION, is_vector)

    def _function(self, body: Expression, variable: Letter) -> str:
        """Return a function of a variable, without naming the variable where that can be."""
        while isinstance(body, Abbreviation):
            body = body.body
        match body:
            case Apply(operation, (operand,)) if operand == variable:
                word = self._word(operation)
                return f"({word})" if " " in word else word
            case Derivative(inner, name, point, None) if (
                point == variable and variable not in inner.free - {name}
            ):
                return f"(gradient {self._function(inner, name)})"
        if variable.name in self.vocabulary.spoken:
            raise NoCoqError(f"a derivative's variable is called {variable.name}, a word of Coq")
        if any(other.name == variable.name for other in self.bound if other != variable):
            raise NoCoqError(f"two variables of derivatives are called {variable.name}")
        inside = Writer(self.vocabulary, (*self.bound, variable))
        return f"(fun {variable.name} => {inside.term(body).side})"

    def _letter(self, letter: Letter) -> str:
        if letter not in self.vocabulary.letters:
            raise NoCoqError(f"the letter {letter.name} has no word in Coq")
        return self.vocabulary.letters[letter]

    def _word(self, operation: Operation) -> str:
        for words in (OPERATIONS, self.vocabulary.functions):
            if operation in words:
                return words[operation]
        raise NoCoqError(f"the operation {operation.name} has no word in Coq")
