"""Counterexamples in exact numbers: where hints say, else of small integers, else far from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, islice, permutations
from math import isqrt
from operator import attrgetter
from typing import Any, TypeVar

from theory.language.expression import QUOTIENT, Apply, Expression, Number, Says, walk
from theory.statement import Relation, Statement
from verify.grouping import grouped
from verify.record import Record
from verify.results import Counterexample, Example
from verify.settings import Settings
from verify.subjects.unit import imposed_by, unimposed
from verify.tolerance import Outcome
from verify.witnesses.exact import Conversions, Examined, decided
from verify.witnesses.instances import Instances
from verify.witnesses.records import counted, in_words, told_of
from verify.witnesses.search import (
    Searched,
    Space,
    insist,
    is_weak_bound,
    search,
    unviolated,
)

Told = TypeVar("Told", bound=Example)
IS_VIOLATED: Callable[[Examined], bool] = attrgetter("is_violated")
IS_EQUALITY: Callable[[Examined], bool] = attrgetter("is_equality")
A_FEW = 12
"""So many larger subjects are drawn of each size."""


WITH_ENDS, PLAIN = 5, 1000
"""Of so many constants in a relation roots are looked at, and quotients of few digits."""


def nothing(*_: Any) -> Iterator[Any]:
    """Yield nothing."""
    return iter(())


def as_it_is(claim: Statement, subject: Any) -> Any:
    """Return the subject."""
    return subject


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """Where counterexamples to statements about one kind of subject are looked for."""

    small: Space
    """Subjects of small integers."""
    larger: Space
    """Larger ones, for what holds of small ones alone."""
    size_of: Callable[[Any], Any]
    """The size of a subject, as the spaces know it."""
    fitted: Callable[[Any, Any], Any]
    """What a hint made of a start, what it left being of the size of what it gave; or an error."""
    starts: Callable[[Any], Iterator[Any]]
    """What a claim's hints change."""
    few: Callable[[int], Sequence[Any]]
    """Random subjects of floats, by a seed: a bound that none violates is looked no further at."""
    generic: Callable[[int], Sequence[Any]]
    """The same of an equation, which fails of generic numbers if of any."""
    seem_violated: Callable[[Sequence[Any], Sequence[Any]], set[str]]
    """The claims that some of these may violate, at a first look."""
    in_floats: Callable[[Sequence[Any], Sequence[Any], int], dict[str, list[Instances]]]
    """What becomes of claims at some of these."""
    decidable: Callable[[int], Iterator[Any]]
    """Random subjects of floats, each rounded and as it is, that are decided soon."""
    conversions: Callable[[Any], Conversions]
    """A subject as claims want it."""
    written: Callable[..., Any]
    """The kind of example asked for: a subject, with hypotheses imposed, and both sides as text."""
    special: Callable[[Sequence[Any], Settings], Iterator[tuple[str, Searched]]] = nothing
    """What is met at subjects that nothing random is like."""
    scaled: Callable[[], Iterable[Any]] = nothing
    """Subjects of other scales."""
    attaining: Callable[[], Iterable[Any]] = nothing
    """Subjects that were chosen so that bounds are attained there."""
    simplest: Callable[[Any, Any], Any] = as_it_is
    """A subject of floats that violates a claim, with fewer digits."""
    plainest: Callable[[Any, Any], Any] = as_it_is
    """A subject that violates a claim, as a reader would write it."""

    def violated_at(self, subject: Any) -> Searched:
        """Return what is met where a subject violates."""
        return Searched.violated_at(self.size_of(subject), subject)


def examine(grounds: Grounds, claims: Sequence[Any], settings: Settings) -> Iterator[Record]:
    """Look where the claims' hints say, then at what is drawn."""
    examples, seed = settings.budget.examples, settings.seed
    hinted = {
        claim.id: grounds.violated_at(subject)
        for claim in claims
        if (subject := first_looked_at(grounds, claim)) is not None
    }
    others = [claim for claim in claims if claim.id not in hinted]
    met = search(grounds.small, others, examples, seed)
    failing = fail_in_floats(grounds, unviolated(others, met), seed)
    insist(grounds.small, others, met, examples, seed, failing)
    left = unviolated(others, met)
    for name, further in _further(grounds, left, failing, settings):
        met[name] += further
    weak = [claim for claim in left if is_weak_bound(claim)]
    coincident = first(grounds.small, weak, grounds.attaining(), IS_EQUALITY)
    for claim, subject in (*coincident, *_attained_at_hints(grounds, weak)):
        met[claim.id].attained = subject
    imposing = [claim for claim in weak if met[claim.id].attained is None and imposed_by(claim)]
    at_edges = map(unimposed, imposing)
    for claim, subject in first(grounds.small, at_edges, grounds.attaining(), IS_EQUALITY):
        met[claim.id].attained = subject
    for claim in claims:
        yield _record(grounds, claim, (met | hinted)[claim.id])


def first_looked_at(grounds: Grounds, claim: Any) -> Any:
    """Return a counterexample where hints say that there is one, chosen for a reader."""
    return next((one for one in hinted(grounds, claim) if grounds.small.violates(claim, one)), None)


class HintError(ValueError):
    """What attack= holds makes no instance of any that it is given."""


def hinted(grounds: Grounds, claim: Any) -> Iterator[Any]:
    """Yield the subjects that a claim's hints make of plain ones of several sizes.

    Raises:
        HintError: they make none.
    """
    problem: Exception | None = None
    fits_somewhere = False
    for start in grounds.starts(claim) if claim.attack else ():
        for hint in claim.attack:
            try:
                found = grounds.fitted(start, hint(start))
                _refuse_out_of_range(claim, found)
            except Exception as error:  # a hint is anybody's function
                problem = problem or error
                continue
            fits_somewhere = True
            yield found
    if problem is not None and not fits_somewhere:
        told = f"{type(problem).__name__}: {problem}"
        raise HintError(f"attack= makes no instance of any it is given ({told})") from problem


def _refuse_out_of_range(claim: Any, subject: Any) -> None:
    """Refuse a subject with a number that no other has, such as a negative epsilon.

    Without epsilon what a hint makes of it is nothing.
    """
    for name, said in subject.out_of_range().items():
        if name != "eps" or claim.reading.has_epsilon:
            raise ValueError(f"it makes {name} {said} in every instance")


def fail_in_floats(grounds: Grounds, claims: Iterable[Any], seed: int) -> set[str]:
    """Return the identifiers of the claims that a random subject seems to violate."""
    found = set()
    for is_equation, some in grouped(claims, lambda c: c.relation is Relation.EQUAL).items():
        subjects = grounds.generic(seed) if is_equation else grounds.few(seed)
        names = grounds.seem_violated(some, subjects)
        seeming = [claim for claim in some if claim.id in names]
        measured = grounds.in_floats(seeming, subjects, seed) if seeming else {}
        found |= {
            name
            for name, met in measured.items()
            if any(Outcome.VIOLATED in one.outcomes for one in met)
        }
    return found


def first(
    space: Space,
    claims: Iterable[Any],
    subjects: Iterable[Any],
    is_found: Callable[[Examined], bool] = IS_VIOLATED,
) -> Iterator[tuple[Any, Any]]:
    """Yield claims with the first of some subjects at which something is found of them, if it is.

    What is looked for is a violation, if nothing else is said.
    """
    left = list(claims)
    for subject in subjects:
        if not left:
            return
        for claim, examined in zip([*left], space.examined(left, subject), strict=True):
            if is_found(examined):
                left.remove(claim)
                yield claim, subject


def may_be_attained(claim: Statement) -> bool:
    """Whether equality would violate a bound, or no certificate says that it is one."""
    is_bound = claim.relation is not Relation.EQUAL
    return claim.relation.is_strict or (is_bound and claim.because is None)


def constants_of(said: Iterable[Says]) -> list[int | Fraction]:
    """Return the whole numbers and fractions that relations name, of both signs, ascending.

    >>> from theory.unit import gamma
    >>> [str(constant) for constant in constants_of([gamma**2 <= Number(7) / 3])]
    ['-7', '-3', '-7/3', '-2', '2', '7/3', '3', '7']
    """
    return _of_both_signs(set().union(*map(_constants, said)))


def ends_of(said: Iterable[Says]) -> list[int | Fraction]:
    """Return where a number may end that a relation bounds, if it names few numbers.

    That is at the quotient of two, as in ``2 * gamma <= 7`` or ``gamma**2 + 1/4 >= gamma``; or at
    the root of one, of which the hundredths on both sides are given.

    >>> from theory.unit import gamma
    >>> [str(end) for end in ends_of([2 * gamma <= 7]) if end > 0]
    ['2/7', '141/100', '71/50', '66/25', '53/20', '7/2']
    """
    few = [named for says in said if len(named := _constants(says) - {0}) <= WITH_ENDS]
    pairs = chain.from_iterable(permutations(named, 2) for named in few)
    quotients = {Fraction(a) / Fraction(b) for a, b in pairs}
    positive = [value for value in set().union(*few) if value > 0]
    roots = chain.from_iterable(map(_beside_root, positive))
    return _of_both_signs({*roots, *(q for q in quotients if _is_plain(q))})


def _beside_root(value: int | Fraction) -> tuple[Fraction, Fraction]:
    """Return the hundredths on both sides of the square root of a positive number."""
    hundredths = isqrt(int(value * 100**2))
    return Fraction(hundredths, 100), Fraction(hundredths + 1, 100)


def _is_plain(value: Fraction) -> bool:
    return max(abs(value.numerator), value.denominator) <= PLAIN


def _constants(says: Says) -> set[int | Fraction]:
    parts = walk(says.actual, says.claimed)
    return {value for part in parts if (value := _constant(part)) is not None}


def _of_both_signs(values: set[int | Fraction]) -> list[int | Fraction]:
    return sorted(values | {-value for value in values})


def _constant(part: Expression) -> int | Fraction | None:
    match part:
        case Number(value):
            return value
        case Apply(operation, (Number(above), Number(below))) if operation is QUOTIENT and below:
            return Fraction(above, below)
    return None


def _further(
    grounds: Grounds, claims: Sequence[Any], failing: set[str], settings: Settings
) -> Iterator[tuple[str, Searched]]:
    """Yield what is met beyond small integers, most of it of claims that seem to fail somewhere."""
    yield from grounds.special(claims, settings)
    seeming = [claim for claim in claims if claim.id in failing]
    for claim, subject in first(grounds.small, seeming, grounds.scaled()):
        yield claim.id, grounds.violated_at(subject)
    larger = search(grounds.larger, seeming, A_FEW, settings.seed)
    yield from larger.items()
    tried = grounds.decidable(settings.seed)
    for claim, subject in first(grounds.small, unviolated(seeming, larger), tried):
        yield claim.id, grounds.violated_at(grounds.simplest(claim, subject))


def _attained_at_hints(grounds: Grounds, claims: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield bounds with the subjects that hints make, where their sides are equal."""
    for claim in claims:
        for subject in islice(hinted(grounds, claim), len(claim.attack)):
            if decided(claim, grounds.conversions(subject)).is_equality:
                yield claim, subject


def _of_hints(grounds: Grounds, claim: Any) -> str:
    """Return that a claim's hints lead to nothing that it speaks of, or that is decided, if so."""
    met = Counter[Outcome]()
    for subject in hinted(grounds, claim):
        outcome = decided(claim, grounds.conversions(subject)).outcome
        if outcome in (Outcome.HOLDS, Outcome.VIOLATED):
            return ""
        met[outcome] += 1
    return f"no instance that attack= makes is decided: {in_words(met)}" if met else ""


def _record(grounds: Grounds, claim: Any, met: Searched) -> Record:
    """Return what the search of a claim met, and what it found."""
    found = None if met.found is None else counterexample(grounds, claim, met.found)
    is_attained = met.found is None and met.attained is not None
    return Record(
        claim=claim.id,
        witness="exact",
        **counted(met.total),
        **told_of(found),
        sizes={grounds.small.named(size): in_words(of) for size, of in met.outcomes.items()},
        attained=attained(grounds, claim, met.attained) if is_attained else None,
        notes="" if found else _of_hints(grounds, claim),
    )


def counterexample(grounds: Grounds, claim: Any, subject: Any) -> Counterexample | None:
    """Return the numbers that matter and both sides as text; nothing where none is violated."""
    return _told(grounds, Counterexample, claim, grounds.plainest(claim, subject), IS_VIOLATED)


def attained(grounds: Grounds, claim: Any, subject: Any) -> Example | None:
    """Return the same where the sides are equal, and not zero; nothing where they are not.

    What is imposed so that a hypothesis holds, holds with room; at its edge nothing is.
    """
    imposed = _told(grounds, Example, claim, subject, IS_EQUALITY)
    return imposed or _told(grounds, Example, unimposed(claim), subject, IS_EQUALITY)


def _told(
    grounds: Grounds,
    kind: type[Told],
    claim: Any,
    subject: Any,
    is_so: Callable[[Examined], bool],
) -> Told | None:
    examined = decided(claim, grounds.conversions(subject))
    return grounds.written(kind, claim, subject, examined) if is_so(examined) else None
