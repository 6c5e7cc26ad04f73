r"""How an expression is displayed: LaTeX, in the order in which it was written.

>>> from theory.language.expression import Letter
>>> sigma, x = Letter("sigma", r"\sigma"), Letter("x", "x")
>>> latex(1 / sigma**2 * (x - 1))
'\\frac{1}{\\sigma^{2}} \\left(x - 1\\right)'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from theory.language.binding import binding_of, outside_brackets
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
    Written,
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
        return self.text if self.binding >= binding else self.in_parentheses.text

    @property
    def in_parentheses(self) -> Shown:
        """The same in parentheses."""
        return Shown(rf"\left({self.text}\right)")


SUBSCRIPT = re.compile(r"_([^\\{}]|\\[a-zA-Z]+|\{[^{}]*\})$")
"""What a symbol ends with that takes no second subscript."""
INDEXED = re.compile(r"\{(\d)[^}]*\}_")
"""An operand that a template gives a subscript."""
OPERAND = re.compile(r"\{(\d)[^}]*\}")
"""Where an operand stands in a template."""
BAR = re.compile(r"\\?\|")
SIGN = re.compile(r"[-+]\s*$")
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


def latex(expression: Written) -> str:
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


@lru_cache(maxsize=2**16)
def shown(expression: Written) -> Shown:
    """Return an expression as LaTeX, with how strongly it holds together."""
    match expression:
        case Number(value):
            return Shown(str(value), Binding.ATOM if value >= 0 else Binding.SUM)
        case Letter():
            return Shown(expression.latex, binding_of(expression.latex))
        case Apply():
            return _applied(expression.operation, expression.operands)
        case Abbreviation(template, operands):
            return _from_template(template, operands)
        case Derivative():
            return _derivative(expression)
    raise TypeError(f"{type(expression).__name__} has no display")


def _applied(operation: Operation, operands: tuple[Expression, ...]) -> Shown:
    if operation is SUM:
        return Shown(added(map(latex, operands)), Binding.SUM)
    if operation is NEGATIVE:
        return Shown(f"-{shown(operands[0]):operator}", Binding.SUM)
    if operation in (PRODUCT, MATRIX_PRODUCT):
        return _product(operands)
    if operation is POWER:
        base, exponent = operands
        return Shown(f"{shown(base):atom}^{{{latex(exponent)}}}", Binding.POWER)
    return _from_template(operation.latex, operands, operation.binds)


def added(terms: Iterable[str]) -> str:
    """Return texts of terms as a sum, each but the first after its sign.

    >>> added(["-a", "b", "-c"])
    '-a + b - c'
    """
    first, *others = terms
    return first + "".join(f" - {o[1:]}" if o.startswith("-") else f" + {o}" for o in others)


def _product(factors: tuple[Expression, ...]) -> Shown:
    """Return factors side by side, with a dot before a number; an operator may be the last."""
    *before, last = map(shown, factors)
    first, *others = (*(f"{piece:product}" for piece in before), f"{last:operator}")
    text = first + "".join((r" \cdot " if o[0].isdigit() else " ") + o for o in others)
    return Shown(text, Binding.OPERATOR if last.binding is Binding.OPERATOR else Binding.PRODUCT)


def _from_template(
    template: str, operands: tuple[Expression, ...], binds: Binding | None = None
) -> Shown:
    """Return a template filled in, with how strongly it holds together: as it says, or looks."""
    if template == AS_IT_IS:
        return shown(operands[0])
    text = _filled(template, operands) if operands else template
    return Shown(text, binding_of(text) if binds is None else binds)


def _filled(template: str, operands: tuple[Expression, ...]) -> str:
    """Return a template with operands, in parentheses where their ends could not be told."""
    pieces = [*map(shown, operands)]
    for place in map(int, INDEXED.findall(template)):
        if SUBSCRIPT.search(pieces[place].text):
            pieces[place] = pieces[place].in_parentheses
    for place in _in_bars(template):
        if _has_bars_after_a_factor(pieces[place].text):
            pieces[place] = pieces[place].in_parentheses
    return template.format(*pieces)


def _in_bars(template: str) -> list[int]:
    """Return the operands that stand between bars."""
    found = OPERAND.finditer(template)
    return [int(one[1]) for one in found if template.count("|", 0, one.start()) % 2]


def _has_bars_after_a_factor(text: str) -> bool:
    """Whether bars open in it where bars around it could close, as in ``a |b| c``."""
    first, *others = BAR.split(outside_brackets(text))[:-1:2] or [""]
    after = [*([first] if first.strip() else []), *others]
    return not all(map(SIGN.search, after))


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
