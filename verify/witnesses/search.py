r"""Counterexamples of small integers: drawn once for all statements, decided for certain, shrunk.

Sizes are tried in ascending order until a statement fails.  Hypothesis draws the subjects, and
shrinks what violates a statement; what it draws where nothing is violated depends on no statement,
so that all of them are decided at the same subjects, one subject after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

from theory.statement import Relation, Statement, Verdict
from verify.evidence import Record
from verify.results import Counterexample
from verify.settings import FLOOR
from verify.tolerance import Outcome
from verify.witnesses.records import counted, in_words

WITNESS = "exact"
EQUATION_SHARE = 3
FURTHER = 8
"""How many times as many subjects of a size are drawn where few of them decide anything."""


@dataclass(frozen=True)
class Space:
    """Subjects of small integers, and how statements are decided there."""

    sizes: tuple[Any, ...]
    """From the smallest."""
    subjects: Callable[[Any], SearchStrategy[Any]]
    """The strategy of subjects of a size."""
    outcomes: Callable[[Sequence[Any], Any], Iterable[Outcome]]
    """What becomes of each of several statements at one subject."""
    named: Callable[[Any], str] = str
    """What a reader would call a size."""
    insistence: int = 0
    """How many times as hard the sizes are searched again that were passed by, and the largest
    where a statement is known to fail; zero if they are not."""


@dataclass
class Searched:
    """What the search of one statement met at each size, and the subject that violates it."""

    outcomes: dict[Any, Counter[Outcome]] = field(default_factory=dict)
    found: Any = None

    @classmethod
    def violated_at(cls, size: Any, subject: Any) -> Searched:
        """Return what is met where a hint leads straight to a subject that violates."""
        return cls({size: Counter({Outcome.VIOLATED: 1})}, subject)

    def count(self, size: Any, outcome: Outcome) -> None:
        """Count what was met."""
        self.outcomes.setdefault(size, Counter())[outcome] += 1

    @property
    def sizes(self) -> list[Any]:
        """The sizes at which the statement says something."""
        return [size for size, met in self.outcomes.items() if set(met) != {Outcome.VACUOUS}]

    @property
    def total(self) -> Counter[Outcome]:
        """What was met at all sizes."""
        return sum(self.outcomes.values(), Counter[Outcome]())


def always(claim: Statement) -> bool:
    """Ask for every statement."""
    return True


def search(
    space: Space,
    claims: Sequence[Statement],
    examples: int,
    seed: int = 0,
    failing: Iterable[str] = (),
) -> dict[str, Searched]:
    """Search a space for the smallest counterexample of each statement.

    Args:
        space: what is searched.
        claims: the statements.
        examples: how many subjects of each size are drawn.
        seed: of the draws.
        failing: identifiers of statements that are known to fail somewhere.
    """
    searched = {claim.id: Searched() for claim in claims}
    left = list(claims)
    for size in space.sizes:
        left = look(space, size, left, examples, seed, searched)
    _look_further(space, left, FURTHER * examples, seed + 2, searched)
    if space.insistence:
        harder = space.insistence * examples
        known = [claim for claim in left if claim.id in failing]
        look(space, space.sizes[-1], known, harder, seed + 1, searched)
        _look_for_smaller(space, claims, harder, seed, searched)
    return searched


def _look_further(
    space: Space,
    claims: Sequence[Statement],
    examples: int,
    seed: int,
    searched: dict[str, Searched],
) -> None:
    """Draw more for statements that nothing proves, until enough is decided to support them."""

    def is_lacking(claim: Statement) -> bool:
        return searched[claim.id].total[Outcome.HOLDS] < FLOOR.instances

    unproved = [claim for claim in claims if claim.expected is Verdict.SUPPORTED]
    for size in space.sizes:
        few = [c for c in unproved if size in searched[c.id].sizes and is_lacking(c)]
        look(space, size, few, examples, seed, searched, is_lacking)


def _look_for_smaller(
    space: Space,
    claims: Sequence[Statement],
    examples: int,
    seed: int,
    searched: dict[str, Searched],
) -> None:
    """Search the sizes that were passed by again, for statements that fail at a larger one."""
    found = [claim for claim in claims if searched[claim.id].found is not None]
    passed = {claim.id: searched[claim.id].sizes[:-1] for claim in found}
    for size in space.sizes:
        again = [claim for claim in found if size in passed[claim.id]]
        missed = look(space, size, again, examples, seed, searched)
        settled = {claim.id for claim in again} - {claim.id for claim in missed}
        found = [claim for claim in found if claim.id not in settled]


def look(
    space: Space,
    size: Any,
    claims: Sequence[Statement],
    examples: int,
    seed: int,
    searched: dict[str, Searched],
    is_asked: Callable[[Statement], bool] = always,
) -> list[Statement]:
    """Decide statements at what is drawn of one size; return those that nothing violates.

    What violates one is kept as shrunk.
    """
    violated = violations(space, size, claims, examples, seed, searched, is_asked)
    for claim in claims:
        if claim.id in violated:
            simpler = shrunk(space, size, claim, examples, seed)
            searched[claim.id].found = violated[claim.id] if simpler is None else simpler
    return [claim for claim in claims if claim.id not in violated]


def violations(
    space: Space,
    size: Any,
    claims: Sequence[Statement],
    examples: int,
    seed: int,
    searched: dict[str, Searched],
    is_asked: Callable[[Statement], bool] = always,
) -> dict[str, Any]:
    """Return, by identifier, the first subject of one size that violates a statement, as drawn.

    A statement is decided at a subject only if it is still asked for when the subject's turn comes.
    """
    violated: dict[str, Any] = {}
    for number, subject in enumerate(drawn(space, size, examples, seed) if claims else ()):
        asked = [
            claim
            for claim in claims
            if claim.id not in violated
            and number < examples_for(claim, examples)
            and is_asked(claim)
        ]
        if not asked:
            break
        for claim, outcome in zip(asked, space.outcomes(asked, subject), strict=True):
            searched[claim.id].count(size, outcome)
            if outcome is Outcome.VIOLATED:
                violated[claim.id] = subject
    return violated


@cache
def drawn(space: Space, size: Any, examples: int, seed: int) -> tuple[Any, ...]:
    """Return the subjects that are drawn as long as nothing is violated."""
    met: list[Any] = []

    def is_violated(subject: Any) -> bool:
        met.append(subject)
        return False

    strategy, asked = space.subjects(size), search_settings(examples)
    with suppress(NoSuchExample):
        find(strategy, is_violated, settings=asked, random=Random(seed))
    return tuple(met)


def shrunk(space: Space, size: Any, claim: Statement, examples: int, seed: int) -> Any:
    """Return the simplest subject that Hypothesis finds to violate a statement, if it meets one.

    It draws what was drawn before, unless a module was imported meanwhile, whose constants it
    tries as well.
    """

    def is_violated(subject: Any) -> bool:
        return Outcome.VIOLATED in space.outcomes([claim], subject)

    strategy, asked = space.subjects(size), search_settings(examples)
    try:
        return find(strategy, is_violated, settings=asked, random=Random(seed))
    except NoSuchExample:
        return None


def record(
    space: Space, claim: Statement, searched: Searched, counterexample: Counterexample | None
) -> Record:
    """Return what the search of a statement met, and what it found, as a record."""
    return Record(
        claim=claim.id,
        witness=WITNESS,
        **counted(searched.total),
        sizes={space.named(size): in_words(met) for size, met in searched.outcomes.items()},
        counterexample=counterexample,
    )


def examples_for(claim: Statement, examples: int) -> int:
    """Return how many examples to look at: an equation that is false fails almost everywhere."""
    is_soon_decided = claim.relation is Relation.EQUAL and claim.expected is not Verdict.SUPPORTED
    return examples // (EQUATION_SHARE if is_soon_decided else 1)


def search_settings(examples: int) -> settings:
    """Return Hypothesis's settings for a search of so many examples."""
    return settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
