r"""How an expression is displayed: LaTeX, in the order in which it was written.

>>> from theory.language.expression import Letter
>>> sigma, x = Letter("sigma", r"\sigma"), Letter("x", "x")
>>> latex(1 / sigma**2 * (x - 1))
'\\frac{1}{\\sigma^{2}} \\left(x - 1\\right)'
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from theory.language.expression import (
    MATRIX_PRODUCT,
    NEGATIVE,
    POWER,
    PRODUCT,
    SUM,
    Abbreviation,
    Apply,
    Binding,
    Derivative,
    Expression,
    Letter,
    Number,
    Operation,
    Relation,
    Says,
)


@dataclass(frozen=True)
class Shown:
    """A piece of LaTeX and how strongly it holds together."""

    text: str
    binding: Binding = Binding.ATOM

    def __format__(self, least: str) -> str:
        """Return the text, in parentheses if it holds together less than a name of a binding."""
        return self.text if not least else self.at_least(Binding[least.upper()])

    def at_least(self, binding: Binding) -> str:
        """Return the text, in parentheses if it holds together less."""
        return self.text if self.binding >= binding else rf"\left({self.text}\right)"


SUPERSCRIPT = re.compile(r"\^([^\\{}]|\\[a-z]+|\{+[^{}]*\}+)$")
"""What a template ends with that takes no second superscript."""
SUBSCRIPT = re.compile(r"_([^\\{}]|\\[a-zA-Z]+|\{[^{}]*\})$")
"""What a symbol ends with that takes no second subscript."""
INDEXED = re.compile(r"\{(\d)[^}]*\}_")
"""An operand that a template gives a subscript."""
OF_ONE = "({0})"
"""What the template of a named function of one operand ends with."""
AS_IT_IS = "{0}"
"""The template of what is displayed as its operand."""
SIGNS = {Relation.AT_MOST: r"\le", Relation.AT_LEAST: r"\ge"}
DENIALS = {
    Relation.EQUAL: r"\ne",
    Relation.AT_MOST: ">",
    Relation.AT_LEAST: "<",
    Relation.LESS_THAN: r"\ge",
    Relation.MORE_THAN: r"\le",
}


def latex(expression: Expression | Says) -> str:
    """Return an expression, or what is said of two, as LaTeX."""
    if isinstance(expression, Says):
        sign = SIGNS.get(expression.relation, expression.relation.value)
        return f"{latex(expression.actual)} {sign} {latex(expression.claimed)}"
    return shown(expression).text


def denial(says: Says) -> str:
    r"""Return what would falsify what is said of two expressions, as LaTeX.

    >>> from theory.language.expression import Letter
    >>> denial(Letter("x", "x") <= 1)
    'x > 1'
    """
    return f"{latex(says.actual)} {DENIALS[says.relation]} {latex(says.claimed)}"


def shown(expression: Expression) -> Shown:
    """Return an expression as LaTeX, with how strongly it holds together."""
    match expression:
        case Number(value):
            return Shown(str(value), Binding.ATOM if value >= 0 else Binding.SUM)
        case Letter():
            return Shown(expression.latex)
        case Apply():
            return _applied(expression.operation, expression.operands)
        case Abbreviation(template, operands):
            return _from_template(template, operands)
        case Derivative():
            return _derivative(expression)
    raise TypeError(f"{expression!r} has no display")


def _applied(operation: Operation, operands: tuple[Expression, ...]) -> Shown:
    if operation is SUM:
        return Shown("".join(map(_signed, range(len(operands)), operands)), Binding.SUM)
    if operation is NEGATIVE:
        return Shown(f"-{shown(operands[0]):operator}", Binding.SUM)
    if operation is PRODUCT:
        return _product(operands)
    if operation is MATRIX_PRODUCT:
        return Shown(" ".join(f"{shown(o):product}" for o in operands), Binding.PRODUCT)
    if operation is POWER:
        base, exponent = operands
        return Shown(f"{shown(base):atom}^{{{latex(exponent)}}}", Binding.POWER)
    return _from_template(operation.latex, operands, operation.binds)


def _signed(place: int, term: Expression) -> str:
    """Return a term of a sum with its sign before it."""
    if isinstance(term, Apply) and term.operation is NEGATIVE:
        text = f"{shown(term.operands[0]):operator}"
        return f" - {text}" if place else f"-{text}"
    return f" + {latex(term)}" if place else latex(term)


def _product(factors: tuple[Expression, ...]) -> Shown:
    """Return factors side by side, with a dot before a number; an operator may be the last."""
    *before, last = map(shown, factors)
    first, *others = (*(f"{piece:product}" for piece in before), f"{last:operator}")
    text = first + "".join((r" \cdot " if o[0].isdigit() else " ") + o for o in others)
    return Shown(text, Binding.OPERATOR if last.binding is Binding.OPERATOR else Binding.PRODUCT)


def _from_template(
    template: str, operands: tuple[Expression, ...], binds: Binding | None = None
) -> Shown:
    """Return a template filled in, with how strongly it holds together by what it says of itself.

    If it says nothing, a power or what ends with a bare operand is not an atom.
    """
    if template == AS_IT_IS:
        return shown(operands[0])
    pieces = [*map(shown, operands)]
    for place in map(int, INDEXED.findall(template)):
        if SUBSCRIPT.search(pieces[place].text):
            pieces[place] = Shown(rf"\left({pieces[place].text}\right)")
    text = template.format(*pieces) if pieces else template
    if binds is not None:
        return Shown(text, binds)
    if SUPERSCRIPT.search(template) or template.startswith(r"\frac"):
        return Shown(text, Binding.POWER)
    is_open = template.endswith((":atom}", ":power}", ":product}"))
    return Shown(text, Binding.PRODUCT if is_open else Binding.ATOM)


def _derivative(derivative: Derivative) -> Shown:
    r"""Return :math:`\nabla f(x)`, :math:`\mathrm D f(x)[u]`, or the same of a longer formula."""
    variable, point, direction = derivative.variable, derivative.point, derivative.direction
    along = "" if direction is None else rf"\left[{latex(direction)}\right]"
    if (function := _function_at_point(derivative)) is not None:
        sign = r"\nabla " if direction is None else r"\mathrm D "
        return Shown(f"{sign}{shown(function):power}{along}", Binding.PRODUCT)
    where = "" if point == variable else f"_{{{latex(variable)} = {latex(point)}}}"
    text = rf"\frac{{\partial}}{{\partial {latex(variable)}}}\left[{latex(derivative.body)}\right]"
    return Shown(text + where + along, Binding.PRODUCT)


def _function_at_point(derivative: Derivative) -> Expression | None:
    r"""Return a named function at the derivative's point, where that says what is differentiated.

    :math:`\nabla L(2y)` is the gradient of L at 2y, but :math:`\nabla\|2y\|^2` would be that of the
    composition, so that what is not written as :math:`f(x)` is displayed at its variable alone.
    """
    body, variable, point = derivative.body, derivative.variable, derivative.point
    if not (isinstance(body, Apply) and body.operands == (variable,)):
        return None
    if point == variable or body.operation.latex.endswith(OF_ONE):
        return body.operation(point)
    return None
