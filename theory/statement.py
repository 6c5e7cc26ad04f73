r"""A statement of a paper as a value: where it stands, what it says, and what it is to the paper.

What its two sides are functions of is another matter: one unit's batch in :mod:`theory.claim`,
matrices of numbers in :mod:`theory.matrix_claim`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple, Self


class Relation(StrEnum):
    """How the actual side relates to the claimed one, or a hypothesis's quantity to zero."""

    EQUAL = "="
    AT_MOST = "<="
    AT_LEAST = ">="
    LESS_THAN = "<"
    MORE_THAN = ">"


class Form(StrEnum):
    """What a claim is to the paper."""

    PRINTED = "printed"
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


class Sides(NamedTuple):
    """The two sides of a statement: what the network does, and what the paper says of it."""

    actual: Any
    claimed: Any


class Reading(StrEnum):
    r"""What :math:`\sigma` and :math:`\hat y` stand for.

    The papers have no :math:`\epsilon`; every implementation has one.
    """

    NO_EPSILON = "eps = 0"
    SHARED_EPSILON = "eps > 0, sigma = sqrt(variance + eps), yhat = (y - mean)/sigma"
    UNIT_VARIANCE = "eps > 0, sigma = sqrt(variance + eps), yhat = (y - mean)/sqrt(variance)"

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
    """A condition of a statement, as the sign of a quantity."""

    statement: str
    quantity: Callable[..., Any]
    """A function of what the statement's sides are functions of."""
    sign: Relation = Relation.AT_LEAST
    """How the quantity relates to zero."""
    impose: Callable[[Any], Any] | None = None
    """Change a case so that the condition holds; without it a case is only checked.

    The abstract witness imposes it on its case where a claim has no certificate, so there it
    must lose no generality.
    """
    printed: bool = True
    """Whether the text states it; False for a hypothesis that the text leaves out."""


@dataclass(frozen=True)
class Location:
    """Where a statement stands: text, line, place in the paper, and a few words verbatim."""

    text: str
    line: int
    place: str
    quote: str


class Term(NamedTuple):
    """A summand of a certificate: a weight times factors that cannot be negative.

    A factor is a scalar (its square counts), a vector (its squared norm counts) or a
    :class:`Hypothesis` (its quantity counts).  The weight is visibly non-negative, unless a
    factor is a quantity that a hypothesis says is zero.
    """

    weight: Any
    factors: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement in one printing and one reading, or a correction of it."""

    id: str
    row: str
    locations: tuple[Location, ...]
    statement: str
    sides: Callable[..., Sides]
    relation: Relation
    expected: Verdict
    reading: Reading = Reading.NO_EPSILON
    form: Form = Form.PRINTED
    of: str | None = None
    hypotheses: tuple[Hypothesis, ...] = ()
    certificate: Callable[..., list[Term]] | None = None
    """Terms that add up to claimed - actual: the proof of an inequality."""
    corrected_by: str | None = None
    """The identifier of the right statement, where it is not a claim made of this one."""
    unreadable: str = ""
    """What the conversion of the text lost, where the formula cannot be what was printed."""
    falsified_by: str = ""
    """What would falsify the statement, in words."""
    remark: str = ""

    def corrected(self, name: str = "corrected", /, **changes: Any) -> Self:
        """Return a corrected statement, tied to this one."""
        settled = {"form": Form.CORRECTED, "of": self.id, "expected": Verdict.PROVED}
        return replace(self, **{**settled, "id": f"{self.id}/{name}", **changes})

    def sharpened(self, name: str = "sharpened", /, **changes: Any) -> Self:
        """Return a sharper statement, tied to this one."""
        return self.corrected(name, **{"form": Form.SHARPENED, **changes})
