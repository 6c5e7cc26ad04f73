r"""A display is worth what its expression is, to a reader who has the LaTeX alone.

All is of a finite field, where nothing is rounded; what is not rational, as :math:`|x|`, is some
power that nothing else is.
"""

import re
from functools import partial, reduce

from hypothesis import given, settings
from hypothesis import strategies as st

from theory.language import expression as core
from theory.language.arrays import maximum
from theory.language.expression import Abbreviation, Letter, Number, Sort, named
from theory.language.latex import latex
from theory.language.operations import absolute, dot, norm, norm2, sqrt
from theory.layer import largest_entry

PRIME = 2**61 - 1
LETTERS = {"a": 3**30, r"\gamma": 5**25, "u": (11**15, 13**14), r"\hat y": (17, 19)}
VECTORS = [Letter(tex, tex, Sort.VECTOR) for tex in ("u", r"\hat y")]
NUMBERS = [Letter(tex, tex) for tex in ("a", r"\gamma")]
WHOLE = [Number(value) for value in (-2, -1, 1, 2, 12)]


def added(x, y):
    return tuple(map(added, x, y)) if isinstance(x, tuple) else (x + y) % PRIME


def multiplied(x, y):
    if isinstance(y, tuple):
        x, y = y, x
    return tuple(multiplied(entry, y) for entry in x) if isinstance(x, tuple) else x * y % PRIME


def raised(x, power):
    """Return a power: one over 0 is 0, and a negative power one of the largest numbers."""
    return pow(x, (power - PRIME if 2 * power > PRIME else power) % (PRIME - 1), PRIME)


MEANINGS = {
    core.SUM: lambda *terms: reduce(added, terms), core.NEGATIVE: lambda x: multiplied(x, -1),
    core.PRODUCT: lambda *factors: reduce(multiplied, factors),
    core.QUOTIENT: lambda x, y: multiplied(x, raised(y, -1)),
    core.POWER: raised, sqrt: lambda x: raised(x, 5), absolute: lambda x: raised(x, 7),
    norm: lambda x: raised(x[0] - 2 * x[1], 11), norm2: lambda x: raised(x[0] - 2 * x[1], 22),
    dot: lambda x, y: (x[0] * y[0] + x[1] * y[1]) % PRIME,
    maximum: lambda x, y: raised(x + 3 * y, 13), largest_entry: lambda x: raised(x[0] - x[1], 17),
}  # fmt: skip


def worth(expression):
    match expression:
        case Number(value):
            return value % PRIME
        case Letter(tex):
            return LETTERS[tex]
        case Abbreviation(body=body):
            return worth(body)
    return MEANINGS[expression.operation](*map(worth, expression.operands))


class Reader:
    """Reads from the left: bars close as soon as they may, a maximum reaches as far as it may."""

    TOKEN = re.compile(r"\\left|\\right|(\\hat y|\\[a-z]+|\\.|\d[\d\s]*|\S)")

    def __init__(self, tex):
        self.tokens = [token for token in self.TOKEN.findall(tex) if token] + ["end"]

    def take(self, token):
        is_next = self.tokens[0] == token
        self.tokens = self.tokens[is_next:]
        return is_next

    def total(self, end):
        """Read a sum and what ends it."""
        found = self.signed_term(end)
        while not self.take(end):
            found = added(found, self.signed_term(end))
        return found

    def signed_term(self, end):
        is_less = self.take("-") or (self.take("+") and False)
        return multiplied(self.term(end), -1 if is_less else 1)

    def term(self, end):
        found = self.factor(end)
        while self.tokens[0] not in ("+", "-", end):
            self.take(r"\cdot")
            found = multiplied(found, self.factor(end))
        return found

    def factor(self, end):
        base = self.base(end)
        return raised(base, self.argument()) if self.take("^") else base

    def argument(self):
        return self.total("}") if self.take("{") else int(self.tokens.pop(0))

    def base(self, end):
        match self.tokens.pop(0):
            case "(":
                return self.total(")")
            case "|":
                return MEANINGS[absolute](self.total("|"))
            case r"\|":
                return MEANINGS[norm](self.total(r"\|"))
            case r"\langle":
                return MEANINGS[dot](self.total(","), self.total(r"\rangle"))
            case r"\frac":
                return MEANINGS[core.QUOTIENT](self.argument(), self.argument())
            case r"\sqrt":
                return MEANINGS[sqrt](self.argument())
            case r"\max" if self.take(r"\{"):
                return MEANINGS[maximum](self.total(","), self.total(r"\}"))
            case r"\max":
                return MEANINGS[largest_entry](self.term(end))
            case token:
                return LETTERS[token] if token in LETTERS else int("".join(token.split()))


@st.composite
def expressions(draw, sort, depth, few):
    """Draw an expression of few kinds, which meet each other the more often."""
    number = partial(draw, expressions(Sort.NUMBER, depth - 1, few))
    vector = partial(draw, expressions(Sort.VECTOR, depth - 1, few))
    one = vector if sort is Sort.VECTOR else number
    of_one_sort = [
        lambda: core.SUM(one(), one(), one()), lambda: one() - one(), lambda: core.NEGATIVE(one()),
        lambda: core.PRODUCT(number(), one()), lambda: core.PRODUCT(one(), number(), number()),
        lambda: core.QUOTIENT(one(), number()),
    ]  # fmt: skip
    of_numbers = [
        lambda: core.POWER(number(), draw(st.sampled_from((-1, 2, 3)))), lambda: sqrt(number()),
        lambda: absolute(number()), lambda: maximum(number(), number()), lambda: norm(vector()),
        lambda: norm2(vector()), lambda: dot(vector(), vector()), lambda: largest_entry(vector()),
    ]  # fmt: skip
    every = of_one_sort + of_numbers * (sort is Sort.NUMBER)
    if depth and (kinds := [every[place] for place in few if place < len(every)]):
        made = draw(st.sampled_from(kinds))()
        return named(latex(made), made) if draw(st.integers(0, 3)) == 0 else made
    return draw(st.sampled_from(VECTORS if sort is Sort.VECTOR else NUMBERS + WHOLE))


@settings(max_examples=150)
@given(
    data=st.data(),
    sort=st.sampled_from([Sort.NUMBER, Sort.VECTOR]),
    few=st.lists(st.integers(0, 13), min_size=2, max_size=3, unique=True),
)
def test_a_display_is_worth_what_its_expression_is(data, sort, few):
    expression = data.draw(expressions(sort, 3, few))
    assert Reader(latex(expression)).total("end") == worth(expression)
