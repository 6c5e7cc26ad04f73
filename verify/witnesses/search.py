r"""Counterexamples of small integers: drawn once for all statements, decided for certain, shrunk.

Sizes are tried in ascending order until a statement fails.  What is drawn depends on no statement,
so that all of them are decided at the same subjects, one subject after the other.  What violates
one is made simpler, entry by entry, as long as it violates the statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, combinations, pairwise, product
from random import Random
from typing import Any, TypeVar

from theory.statement import Relation, Statement, Verdict
from verify.settings import FLOOR
from verify.subjects.unit_lattice import Entries
from verify.tolerance import Outcome
from verify.witnesses.exact import Examined

Said = TypeVar("Said", bound=Statement)
EQUATION_SHARE = 3
MANY = 100
"""Subjects of a size from which on half of them are fuzzed."""
FURTHER = 8
"""How many times as many subjects of a size are drawn where few of them decide anything."""

Places = tuple[int, ...]
"""Of each entry of a subject, its place among the values that it can have; zero is simplest."""


@dataclass(frozen=True)
class Space:
    """Subjects of small integers, and how statements are decided there."""

    sizes: tuple[Any, ...]
    """From the smallest."""
    letters: Callable[[Any], dict[str, Entries]]
    """The numbers of a subject of a size."""
    made: Callable[..., Any]
    """The subject that has these numbers."""
    examined: Callable[[Sequence[Any], Any], Iterable[Examined]]
    """What becomes of each of several statements at one subject."""
    named: Callable[[Any], str] = str
    """What a reader would call a size."""
    together: int = 2
    """How many entries at most of a subject that violates are made simpler at a time."""
    insistence: int = 0
    """How many times as hard the sizes are searched again that were passed by, and the largest
    where a statement is known to fail; zero if they are not."""

    def at(self, size: Any, places: Places) -> Any:
        """Return the subject whose entries have these places among their values."""
        letters = self.letters(size)
        entries = iter(places)
        return self.made(
            **{
                name: letter.at([next(entries) for _ in range(letter.size)])
                for name, letter in letters.items()
            }
        )

    def violates(self, claim: Any, subject: Any) -> bool:
        """Whether a subject violates a claim for certain."""
        return any(one.is_violated for one in self.examined([claim], subject))

    def simplest(self, size: Any) -> Any:
        """Return the simplest subject of a size."""
        return self.at(size, (0,) * sum(letter.size for letter in self.letters(size).values()))


@dataclass
class Searched:
    """What the search of one statement met at each size, and the subject that violates it."""

    outcomes: dict[Any, Counter[Outcome]] = field(default_factory=dict)
    found: Any = None
    attained: Any = None
    """A subject at which the sides of a bound are equal, and not zero."""
    extent: int = 0
    """How many entries that has: of several the largest is kept, where least holds by chance."""

    @classmethod
    def violated_at(cls, size: Any, subject: Any) -> Searched:
        """Return what is met where a hint leads straight to a subject that violates."""
        return cls({size: Counter({Outcome.VIOLATED: 1})}, subject)

    def __add__(self, further: Searched) -> Searched:
        """Return what was met in both searches, and what violates in either."""
        sizes = dict.fromkeys([*self.outcomes, *further.outcomes])
        met = {
            size: self.outcomes.get(size, Counter()) + further.outcomes.get(size, Counter())
            for size in sizes
        }
        found = further.found if self.found is None else self.found
        attaining = further if self.attained is None else self
        return Searched(met, found, attaining.attained, attaining.extent)

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


def is_weak_bound(claim: Statement) -> bool:
    """Whether a statement is <= or >=, of which equality may be met."""
    return claim.relation in (Relation.AT_MOST, Relation.AT_LEAST)


def unviolated(claims: Iterable[Said], searched: Mapping[str, Searched]) -> list[Said]:
    """Return the claims that nothing violates that was met."""
    return [claim for claim in claims if searched[claim.id].found is None]


def always(claim: Statement) -> bool:
    """Ask for every statement."""
    return True


def search(
    space: Space, claims: Sequence[Statement], examples: int, seed: int = 0
) -> dict[str, Searched]:
    """Search a space for the smallest counterexample of each statement.

    Args:
        space: what is searched.
        claims: the statements.
        examples: how many subjects of each size are drawn.
        seed: of the draws.
    """
    searched = {claim.id: Searched() for claim in claims}
    left = list(claims)
    for size in space.sizes:
        left = look(space, size, left, examples, seed, searched)
    _look_further(space, left, FURTHER * examples, seed + 2, searched)
    return searched


def insist(
    space: Space,
    claims: Sequence[Statement],
    searched: dict[str, Searched],
    examples: int,
    seed: int = 0,
    failing: Iterable[str] = (),
) -> None:
    """Search a space again, harder, if it is worth that: see :attr:`Space.insistence`.

    Args:
        space: what is searched.
        claims: the statements.
        searched: what the first search met, to which is added what this one meets.
        examples: how many subjects of each size were drawn.
        seed: of the draws.
        failing: identifiers of statements that are known to fail somewhere.
    """
    if space.insistence:
        harder = space.insistence * examples
        known = [claim for claim in unviolated(claims, searched) if claim.id in failing]
        look(space, space.sizes[-1], known, harder, seed + 1, searched)
        _look_for_smaller(space, claims, harder, seed, searched)


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

    A statement is decided at a subject only if it is still asked for when the subject's turn comes.
    The first subject that violates one is kept as shrunk.
    """
    violated = set[str]()
    for number, places in enumerate(subjects(space, size, examples, seed) if claims else ()):
        asked = [
            claim
            for claim in claims
            if claim.id not in violated
            and number < examples_for(claim, examples)
            and is_asked(claim)
        ]
        if not asked:
            break
        subject = space.at(size, places)
        for claim, examined in zip(asked, space.examined(asked, subject), strict=True):
            met = searched[claim.id]
            met.count(size, examined.outcome)
            if examined.is_violated:
                violated.add(claim.id)
                met.found = shrunk(space, size, claim, places)
            elif len(places) > met.extent and is_weak_bound(claim) and examined.is_equality:
                met.attained, met.extent = subject, len(places)
    return [claim for claim in claims if claim.id not in violated]


def subjects(space: Space, size: Any, examples: int, seed: int) -> Iterator[Places]:
    """Yield subjects of one size, by their entries' places: of many the second half is fuzzed.

    To fuzz takes long, and is begun only where it is asked for.
    """
    by_chance = examples if examples < MANY else examples - examples // 2
    yield from drawn(space, size, by_chance, seed)
    if by_chance < examples:
        yield from fuzzed(space, size, examples - by_chance, seed)


@cache
def drawn(space: Space, size: Any, examples: int, seed: int) -> tuple[Places, ...]:
    """Return so many subjects of one size."""
    random = Random(f"{seed} {space.named(size)}")
    letters = space.letters(size).values()
    return tuple(
        tuple(place for letter in letters for place in letter.drawn(random))
        for _ in range(examples)
    )


@cache
def fuzzed(space: Space, size: Any, examples: int, seed: int) -> tuple[Places, ...]:
    """Return so many subjects of one size, or fewer where there are no more.

    Hypothesis repeats and varies what it drew before.
    """
    from hypothesis import Phase, find, settings  # which takes a while to import
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    met: list[Places] = []

    def is_violated(places: Places) -> bool:
        met.append(places)
        return False

    counts = [len(e.values) for e in space.letters(size).values() for _ in range(e.size)]
    strategy = st.tuples(*(st.integers(0, count - 1) for count in counts))
    asked = settings(max_examples=examples, database=None, deadline=None, phases=[Phase.generate])
    with suppress(NoSuchExample):
        find(strategy, is_violated, settings=asked, random=Random(seed))
    return tuple(met)


def shrunk(space: Space, size: Any, claim: Statement, places: Places) -> Any:
    """Return a subject that violates a statement, and would not if it were one step simpler.

    Args:
        space: what it is of.
        size: of the subject.
        claim: the statement.
        places: of the entries of a subject that violates it.
    """

    def is_violated(simpler: Places) -> bool:
        return space.violates(claim, space.at(size, simpler))

    counts = [letter.size for letter in space.letters(size).values()]
    while (
        simpler := next(filter(is_violated, one_step_simpler(places, counts, space.together)), None)
    ) is not None:
        places = simpler
    return space.at(size, places)


def one_step_simpler(places: Places, counts: Sequence[int], together: int) -> Iterator[Places]:
    """Yield places with a whole letter as simple as can be, then with some entries simpler.

    The last letters come first: a loss loses its curvature before its slope.

    Args:
        places: of all entries.
        counts: how many of them each letter has.
        together: how many entries at most are made simpler at a time.
    """
    for start, stop in reversed([*pairwise(accumulate(counts, initial=0))]):
        if any(places[start:stop]):
            yield (*places[:start], *(0,) * (stop - start), *places[stop:])
    lower = {k: range(place) for k, place in enumerate(places) if place}
    for some in range(1, together + 1):
        for entries in combinations(lower, some):
            for values in product(*(lower[k] for k in entries)):
                changed = dict(zip(entries, values, strict=True))
                yield tuple(changed.get(k, place) for k, place in enumerate(places))


def examples_for(claim: Statement, examples: int) -> int:
    """Return how many examples to look at: an equation that is false fails almost everywhere."""
    is_soon_decided = claim.relation is Relation.EQUAL and claim.expected is not Verdict.SUPPORTED
    return examples // (EQUATION_SHARE if is_soon_decided else 1)
