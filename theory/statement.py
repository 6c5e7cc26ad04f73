r"""A statement of a paper as a value: where it stands, what it says, and what it is to the paper.

What its two sides are functions of is another matter: one unit's batch in :mod:`theory.claim`,
matrices of numbers in :mod:`theory.matrix_claim`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import StrEnum
from functools import cached_property, reduce
from types import FrameType
from typing import Any, NamedTuple, Self, cast

from theory.arithmetic.operations import square
from theory.language.certificates import (
    Product,
    divisors,
    hiding_a_divisor,
    may_take_a_root,
    narrows,
    outside,
    products,
    unreal,
)
from theory.language.definitions import definitions, domains, sides_of_each
from theory.language.expression import (
    Expression,
    Letter,
    Relation,
    Says,
    walk,
)
from theory.language.latex import denial, latex
from theory.language.unrounded import product
from theory.language.values import Sides, Values

__all__ = ["Relation", "Sides"]


class Form(StrEnum):
    """What a claim is to the paper."""

    PRINTED = "printed"
    """What a text prints or says."""
    STEP = "step"
    """A line of a proof."""
    READING = "reading"
    """One way to read words, or to add epsilon."""
    BOUNDARY = "boundary"
    """A hypothesis shown to be needed; something that the paper does not claim."""
    CORRECTED = "corrected"
    SHARPENED = "sharpened"


class Verdict(StrEnum):
    """What the evidence says of a claim, computed by ``verify`` and only expected here."""

    PROVED = "proved"
    REFUTED = "refuted"
    SUPPORTED = "supported"
    UNREADABLE = "unreadable"
    UNDECIDED = "undecided"
    NOT_RUN = "not yet run"


PROVED, REFUTED, SUPPORTED = Verdict.PROVED, Verdict.REFUTED, Verdict.SUPPORTED
UNREADABLE = Verdict.UNREADABLE


class Reading(StrEnum):
    r"""What :math:`\sigma` and :math:`\hat y` stand for.

    The formulas of Santurkar et al., and (2) of Lange et al., have no :math:`\epsilon`; every
    implementation has one.
    """

    NO_EPSILON = "eps = 0"
    SHARED_EPSILON = "eps > 0, sigma = sqrt(variance + eps), yhat = (y - mean)/sigma"
    UNIT_VARIANCE = (
        "eps > 0, variance > 0; the layer divides by sigma = sqrt(variance + eps), as do yhat(.) "
        "and BN(.); the vector yhat = (y - mean)/sqrt(variance) is of the formula alone"
    )

    @property
    def suffix(self) -> str:
        """What the reading adds to a claim's identifier."""
        return {"NO_EPSILON": "", "SHARED_EPSILON": "/eps", "UNIT_VARIANCE": "/eps-unit"}[self.name]

    @property
    def has_epsilon(self) -> bool:
        """Whether the reading speaks of eps > 0."""
        return self is not Reading.NO_EPSILON


@dataclass(frozen=True)
class Hypothesis:
    """A condition of a statement, which is written ``assume(gamma > 0)``.

    Raises:
        TypeError: the condition is no relation, or what imposes it no function.
    """

    says: Says
    """The condition as an expression."""
    impose: Callable[[Any], Any] | None = None
    """Change a case so that the condition holds; without it a case is only checked.

    The abstract witness imposes it on its case where a claim has no certificate, so there it
    must lose no generality.
    """
    _: KW_ONLY
    printed: bool = True
    """Whether the text states it; False for a hypothesis that the text leaves out."""
    words: str = ""
    """How it is displayed, where the relation alone would not be understood."""
    is_ours: bool = False
    """Whether the text's statement does without it, and only what is displayed needs it."""

    def __post_init__(self) -> None:
        """Refuse what is no condition."""
        if not isinstance(self.says, Says):
            raise TypeError(
                f"a hypothesis is a relation, such as gamma > 0; it was given {self.says!r}"
            )
        if self.impose is not None and not callable(self.impose):
            raise TypeError(
                f"impose= is a function of an instance, not {self.impose!r}; write"
                " impose=lambda case: replace(case, gamma=...)"
            )

    @cached_property
    def statement(self) -> str:
        """What is displayed, as LaTeX."""
        return self.words or latex(self.says)

    @property
    def checked(self) -> str:
        """The relation that is checked, as LaTeX, where it is displayed in other words."""
        relation = latex(self.says)
        return "" if self.statement == relation else relation

    @property
    def slack(self) -> Expression:
        """What the condition says is not negative, or zero; certificates are made of it."""
        return self.says.slack

    @cached_property
    def sign(self) -> Relation:
        """How the slack relates to zero."""
        return sign_of_slack(self.says.relation)

    def quantity(self, subject: Any) -> Any:
        """Return what the slack is worth, given what the statement's sides are functions of."""
        return values_of(subject)[self.slack]


STRENGTH = (Relation.AT_LEAST, Relation.MORE_THAN, Relation.EQUAL)
"""Signs of slacks, the one that says least first."""


def sign_of_slack(relation: Relation) -> Relation:
    """Return how the slack of a relation relates to zero."""
    if relation is Relation.EQUAL:
        return Relation.EQUAL
    return Relation.MORE_THAN if relation.is_strict else Relation.AT_LEAST


assume = Hypothesis


class NoLetterError(AttributeError):
    """A subject has no value for a letter."""


def values_of(subject: Any) -> Values:
    """Return the values of expressions for a subject; statements that it is given to share them."""
    known = getattr(subject, "__dict__", {})  # what has none has nowhere to keep them
    if "values" not in known:
        known["values"] = getattr(subject, "values_of", Values)(subject)
    return cast(Values, known["values"])


@dataclass(frozen=True)
class Paper:
    """A paper whose statements are examined, or any other text.

    >>> notes = Paper("notes", "My notes", "A. Reader, *Notes on normalization*, 2026")
    >>> notes.at("Sect. 2, eq. (3)").paper.short
    'My notes'
    """

    key: str
    """One word that no other paper has: it names files, and the text if there is only one."""
    short: str
    """What a table calls it."""
    citation: str
    """The full reference, in Markdown."""
    texts: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What its texts are called, such as "last version", in their order, by their keys."""

    def __post_init__(self) -> None:
        """Take the paper for its one text where none is named."""
        if not self.texts:
            object.__setattr__(self, "texts", {self.key: self.short})

    def at(self, place: str, quote: str = "", line: int = 0, text: str = "") -> Location:
        """Return a place in the paper.

        Args:
            place: section and number, as a reader would look for it.
            quote: a few words of it, verbatim; left out where the text is not at hand.
            line: of the file that was read; left out likewise.
            text: which of the paper's texts; left out where there is one.
        """
        return Location(text or self.key, line, place, quote, self)


@dataclass(frozen=True)
class Location:
    """Where a statement stands: text, line, place in the paper, and a few words verbatim."""

    text: str
    line: int
    place: str
    quote: str
    paper: Paper = None  # type: ignore[assignment]
    """The paper that the text is of; one of the text's name if left out."""

    def __post_init__(self) -> None:
        """Take the text for the paper where none is named."""
        if self.paper is None:
            object.__setattr__(self, "paper", Paper(self.text, self.text, self.text))


class Term(NamedTuple):
    """A summand of a certificate: a weight times factors that cannot be negative.

    A factor is a scalar (its square counts), a vector (its squared norm counts) or a
    :class:`Hypothesis` (its quantity counts).  The weight is visibly non-negative, unless a
    factor is a quantity that a hypothesis says is zero.
    """

    weight: Any
    factors: tuple[Any, ...]

    def value(self, subject: Any) -> Any:
        """Return what the term is worth, given what the statement's sides are functions of."""
        return product(self.cofactor(), *(h.quantity(subject) for h in self.hypotheses))

    @property
    def hypotheses(self) -> list[Hypothesis]:
        """The hypotheses whose quantities are factors."""
        return [factor for factor in self.factors if isinstance(factor, Hypothesis)]

    @property
    def is_at_an_edge(self) -> bool:
        """Whether one of them may hold on a thin set alone: it says zero, or not negative."""
        return not all(hypothesis.sign.is_strict for hypothesis in self.hypotheses)

    @property
    def is_zero(self) -> bool:
        """Whether one of them says that it is zero."""
        return any(hypothesis.sign is Relation.EQUAL for hypothesis in self.hypotheses)

    def cofactor(self) -> Any:
        """Return the weight times what is a square: all but what a hypothesis says the sign of."""
        return product(self.weight, *map(square, self.squares))

    @property
    def squares(self) -> list[Any]:
        """The factors that count by their squares."""
        return [factor for factor in self.factors if not isinstance(factor, Hypothesis)]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement in one printing and one reading, or a correction of it."""

    id: str
    result: str = ""
    """The statement of the paper that readings and corrections belong to: the identifier before its
    first "/", if left out."""
    locations: tuple[Location, ...]
    expected: Verdict
    says: Says | None = None
    """The statement as an expression: its display, its sides and its relation follow from it."""
    because: Expression | None = None
    """The certificate as an expression: what the slack is, term by term not negative."""
    title: str = ""
    """What the statement is about, in a few plain words."""
    in_words: str = ""
    """Why the statement, or a side of it, is displayed in words: what is behind is a function."""
    attack: tuple[Callable[[Any], Any], ...] = ()
    """Changes of a case at which a search for counterexamples may look first."""
    display: str = ""
    """What is displayed of a formula that is unreadable, as LaTeX."""
    reading: Reading = Reading.NO_EPSILON
    form: Form = Form.PRINTED
    amends: str | None = None
    """The identifier of the statement that this one corrects or sharpens."""
    hypotheses: tuple[Hypothesis, ...] = ()
    corrected_by: str | None = None
    """The identifier of the right statement, where it is not a claim made of this one."""
    unreadable: str = ""
    """What the conversion of the text lost, where the formula cannot be what was printed."""
    remark: str = ""

    def __post_init__(self) -> None:
        """Derive what follows from the identifier and from the expression.

        Raises:
            TypeError: a field is of another type, what it says is no comparison of two
                expressions, or its certificate is not of the kind of its sides.
        """
        vars(self)["made_at"] = _callers()
        self._refuse_other_types()
        if not self.result:
            object.__setattr__(self, "result", self.id.partition("/")[0])
        if self.says is None:
            return
        if not isinstance(self.says, Says):
            raise TypeError(
                f"{self.id}: says= is {self.says} ({type(self.says).__name__}), and no relation "
                "of two expressions; write a <= b, a < b, a >= b, a > b, or equal(a, b) for ="
            )
        if self.because is not None and not isinstance(self.because, Expression):
            raise TypeError(
                f"{self.id}: because= is {self.because} ({type(self.because).__name__}), and no"
                " expression; write terms that add up to the slack, such as because=norm2(g), and"
                " number(0) for 0"
            )
        if self.because is not None and self.because.sort is not self.says.slack.sort:
            raise TypeError(
                f"{self.id}: because= is {self.because.sort.value}, and what it adds up to, "
                f"{self.says.slack}, is {self.says.slack.sort.value}; of a vector v give norm2(v)"
            )

    def _refuse_other_types(self) -> None:
        for name in ("id", "result", "title", "remark", "in_words", "display", "unreadable"):
            if not isinstance(value := getattr(self, name), str):
                raise TypeError(f'{self.id}: {name}= is text, not {value!r}; write {name}="..."')
        for name, choice in (("form", Form), ("reading", Reading)):
            if not isinstance(getattr(self, name), choice):
                choices = ", ".join(f"{choice.__name__}.{one.name}" for one in choice)
                raise TypeError(f"{self.id}: {name}= is a {name}; write one of {choices}")
        if not isinstance(self.attack, tuple) or not all(map(callable, self.attack)):
            raise TypeError(
                f"{self.id}: attack= is a tuple of functions of an instance; write"
                " attack=(lambda case: replace(case, gamma=0),), with its comma"
            )
        for name, kind, example in (
            ("hypotheses", Hypothesis, "(assume(gamma > 0),)"),
            ("locations", Location, '(PAPER.at("Sect. 1"),)'),
        ):
            value = getattr(self, name)
            if not isinstance(value, tuple) or not all(isinstance(each, kind) for each in value):
                raise TypeError(
                    f"{self.id}: {name}= is a tuple of {name}; write {name}={example}, with its "
                    "comma"
                )
        if not isinstance(self.expected, Verdict):
            raise TypeError(f"{self.id}: expected= is a verdict; write expected=Verdict.PROVED")

    @property
    def made_at(self) -> tuple[tuple[str, int], ...]:
        """The files and lines where it was made, the innermost call first."""
        return cast(tuple[tuple[str, int], ...], vars(self)["made_at"])

    def read(self, subject: Any) -> Any:
        """Return what its sides are functions of, given what a witness offers: the same."""
        return subject

    @cached_property
    def statement(self) -> str:
        """What is displayed, as LaTeX."""
        return self.display if self.says is None else latex(self.says)

    @property
    def spoken(self) -> Says:
        """What it says.

        Raises:
            ValueError: the formula is unreadable, so that it says nothing.
        """
        if self.says is None:
            raise ValueError(f"{self.id} is unreadable")
        return self.says

    @property
    def relation(self) -> Relation:
        """How its sides compare."""
        return self.spoken.relation

    def sides(self, subject: Any) -> Sides:
        """Return both sides, given what they are functions of."""
        return values_of(subject).sides(self.spoken)

    def slack(self, actual: Any, claimed: Any) -> Any:
        """Return what its certificate adds up to, by what the sides are worth."""
        return self.spoken.slack_of(actual, claimed)

    def terms(self, subject: Any) -> list[Term]:
        """Return the terms of its certificate at a subject; none where it has no certificate."""
        values = values_of(subject)
        return [
            Term(
                values[part.weight],
                (*(self._by_slack[s] for s in part.slacks), *(values[x] for x in part.squares)),
            )
            for part in self._products
        ]

    @cached_property
    def _by_slack(self) -> dict[Expression, Hypothesis]:
        """Of several hypotheses of one slack the one that says most."""
        return {h.slack: h for h in sorted(self.hypotheses, key=lambda h: STRENGTH.index(h.sign))}

    @cached_property
    def _products(self) -> list[Product]:
        """The terms of its certificate, as expressions."""
        return [] if self.because is None else [*products(self.because, self._by_slack)]

    def left_over(self, subject: Any, terms: Sequence[Term]) -> Any:
        """Return what terms leave of its slack at a subject: nothing, if they are a certificate."""
        slack = self.slack(*self.sides(subject))
        return reduce(operator.sub, (term.value(subject) for term in terms), slack)

    def divided_by(self, subject: Any) -> list[Any]:
        """Return what it divides by at a subject: where one of these is zero it says nothing."""
        values = values_of(subject)
        return [values[by] for side in sides_of_each(self.said) for by in divisors(side)]

    def unreal(self, is_not_negative: Callable[[Any], bool], subject: Any) -> list[Expression]:
        """Return what of its certificate need not be a real number wherever it speaks itself.

        Where that may be a thin set it is also what may divide by what nobody sees.

        Args:
            is_not_negative: whether that is seen of a number.
            subject: what its sides are functions of.
        """
        if self.because is None:
            return []
        spoken, seen, letters = self._roots(is_not_negative, subject)
        found = [*unreal(self.because, spoken, seen, letters)]
        is_thin = self._may_be_thin(is_not_negative, subject)
        return [*found, *hiding_a_divisor(self.because, spoken)] if is_thin else found

    @cached_property
    def may_take_a_root(self) -> bool:
        """Whether it or its certificate takes a root, or a function that may take one."""
        whole = [*sides_of_each(self.said), *([] if self.because is None else [self.because])]
        return any(may_take_a_root(part) for side in whole for part in walk(side))

    def dividing(
        self, terms: Sequence[Term], is_not_negative: Callable[[Any], bool], subject: Any
    ) -> list[Any]:
        """Return what of its certificate's terms may divide by no more than is seen not to vanish.

        That is what goes with a hypothesis that is met at an edge; or every factor, where a root is
        taken that need not exist, as near its instances may be none.  There what the certificate
        is written with counts, too: the root of x in sqrt(a^2 x) / a need not exist where a is 0.
        """
        at_edge = [term.cofactor() for term in terms if term.is_at_an_edge]
        if not self._may_be_thin(is_not_negative, subject):
            return at_edge
        values = values_of(subject)
        factors = [part for term in terms for part in (term.weight, *term.squares)]
        written = () if self.because is None else divisors(self.because)
        return [*at_edge, *factors, *(1 / values[by] for by in written)]

    def _may_be_thin(self, is_not_negative: Callable[[Any], bool], subject: Any) -> bool:
        """Whether it or its certificate takes a root that need not exist near where it speaks.

        What a hypothesis says is positive is so near there, what is not negative may be negative.
        """
        spoken, _, letters = self._roots(is_not_negative, subject)
        written = () if self.because is None else outside(self.because)
        positive = {h.slack for h in self.hypotheses if h.sign is Relation.MORE_THAN}
        return narrows(spoken.union(written), positive, letters)

    def _roots(
        self, is_not_negative: Callable[[Any], bool], subject: Any
    ) -> tuple[set[Expression], set[Expression], Callable[[Letter], bool]]:
        """Return what it is made of, and what of it is not negative: what tells if roots exist."""
        values = values_of(subject)
        spoken = set(outside(*sides_of_each(self.said)))
        seen = {h.slack for h in self.hypotheses if h.sign.bounds_below}
        return spoken, seen, lambda letter: is_not_negative(values[letter])

    @property
    def said(self) -> list[Says]:
        """What it says, if it is readable, then what it assumes."""
        own = [] if self.says is None else [self.says]
        return [*own, *(hypothesis.says for hypothesis in self.hypotheses)]

    @cached_property
    def definitions(self) -> dict[str, list[str]]:
        """What its names and its hypotheses' stand for, as LaTeX."""
        return definitions(self.said)

    @property
    def meanings(self) -> dict[str, str]:
        """What its names stand for, then what its letters range over, if it is readable."""
        if self.says is None:
            return {}
        named = {name: f"{name} = {meant[0]}" for name, meant in self.definitions.items()}
        return named | domains(self.said)

    @property
    def where(self) -> list[str]:
        """The same without the names, each once."""
        return list(dict.fromkeys(self.meanings.values()))

    @property
    def falsifier(self) -> str:
        """What would falsify it, as LaTeX: how its sides may not compare where it is assumed."""
        return "" if self.says is None else denial(self.says)

    def corrected(self, name: str = "corrected", /, **changes: Any) -> Self:
        """Return a corrected statement, tied to this one; what was remarked of this one is not."""
        settled = {"form": Form.CORRECTED, "amends": self.id, "expected": Verdict.PROVED}
        unsaid = {"remark": "", "corrected_by": None}
        return replace(self, **{**settled, **unsaid, "id": f"{self.id}/{name}", **changes})

    def sharpened(self, name: str = "sharpened", /, **changes: Any) -> Self:
        """Return a sharper statement, tied to this one."""
        return self.corrected(name, **{"form": Form.SHARPENED, **changes})


def _callers() -> tuple[tuple[str, int], ...]:
    """Return the files and lines that call, up to the module that does, the innermost first."""
    found = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        found.append((frame.f_code.co_filename, frame.f_lineno))
        frame = None if frame.f_code.co_name == "<module>" else frame.f_back
    return tuple(found)


def letters_of(statement: Statement) -> list[Letter]:
    """Return the letters of a statement and of its hypotheses."""
    return list(dict.fromkeys(letter for says in statement.said for letter in says.letters))
