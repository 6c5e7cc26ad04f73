"""Batches of small integers in exact arithmetic, drawn and shrunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from operator import attrgetter
from typing import Any, TypeVar

from flint import ctx

from theory.arithmetic.exact import DifferentFieldsError
from theory.batchnorm import centre
from theory.claim import Claim, Relation
from theory.language.expression import Apply
from theory.language.operations import average
from verify import letters
from verify.cases import lattice
from verify.cases.case import REAL, Case, adapted
from verify.cases.losses import Loss, quadratic
from verify.cases.rounding import POSITIVE, rounded, simpler, with_fewer_digits
from verify.cases.strata import FAR_SCALES, STRATA, random_cases
from verify.record import Record
from verify.results import Counterexample, Example
from verify.settings import Settings
from verify.tolerance import Outcome
from verify.witnesses import autograd, exact
from verify.witnesses.exact import Examined
from verify.witnesses.jet import needs_only_the_jet
from verify.witnesses.search import (
    Searched,
    Space,
    attained_at_hints,
    is_weak_bound,
    records,
    search,
)

Told = TypeVar("Told", bound=Example)
IS_VIOLATED: Callable[[Examined], bool] = attrgetter("is_violated")
IS_EQUALITY: Callable[[Examined], bool] = attrgetter("is_equality")
FEW, OF_FAR_SCALES, OF_NONE = 2, 20, 3
"""Random batches of every stratum, and of one, that say whether it is worth to insist; for an
equation fewer, of generic numbers."""
BATCHES = Space((1, 2, 3, 4), lattice.letters, lattice.lattice_case, exact.examined, insistence=4)
LONGER = replace(BATCHES, sizes=(8, 16, 32), together=0, insistence=0)
"""For what holds of short batches alone."""
OF_OTHER_LENGTHS = replace(LONGER, sizes=(5, 6, 7, 9, 12))
"""For what fails at one length alone."""
OUTLYING = 8, 16, 32, 64
"""Lengths of batches with one outlier."""
MILLION = 10**6
A_FEW, FEWER = 12, 4
"""So many are drawn of each length; of each other length, of which there are more."""
SHORT = 8
"""The longest random batch that is decided exactly."""
BENT = Space((1, 2, 3), lattice.letters_with_ridge, lattice.ridged_case, exact.examined)
"""With losses that are no quadratics, for statements that ask for more than a 2-jet of them."""


def counterexample(claim: Claim, case: Case) -> Counterexample | None:
    """Return the case, with hypotheses imposed, and both sides as text; nothing if none fails."""
    case = _less_its_mean(claim, case)
    examined = exact.examine(claim, case)
    is_violated = examined.outcome is Outcome.VIOLATED
    return _told(Counterexample, claim, case, examined) if is_violated else None


def attained(claim: Claim, case: Case) -> Example | None:
    """Return the same where the sides are equal, and not zero; nothing if they are not."""
    examined = exact.examine(claim, case)
    return _told(Example, claim, case, examined) if examined.is_equality else None


def _told(kind: type[Told], claim: Claim, case: Case, examined: exact.Examined) -> Told:
    """Return a case, with hypotheses imposed, and both sides as text."""
    return kind(
        {"m": len(case.y)},
        lattice.written(adapted(exact.rational_case(case), claim)),
        examined.actual,
        examined.claimed,
        examined.arithmetic,
        letters=_letters(claim, case),
        ratio=examined.ratio(claim.relation),
    )


def _less_its_mean(claim: Claim, case: Case) -> Case:
    """Return the case without the batch's mean, where the inputs have none, if it fails there."""
    said = [h.says.actual for h in claim.hypotheses if h.says is not None]
    if not any(isinstance(part, Apply) and part.operation is average for part in said):
        return case
    start = exact.rational_case(case)
    without = replace(start, y=centre(start.y))
    return without if violates(claim, without) else case


def _letters(claim: Claim, case: Case) -> dict[str, Any]:
    """Return what the statement's own letters are worth, in balls where roots are of two kinds."""
    at_case, known = exact.networks(case), {}
    with suppress(DifferentFieldsError):
        known = letters.worth(claim, *at_case(claim, exact.IN_NUMBERS))
    if len(known) < len(letters.own(claim)):
        with ctx.workprec(128):
            known = letters.worth(claim, *at_case(claim, exact.IN_BALLS)) | known
    return letters.written(known)


def first_looked_at(claim: Claim) -> Case | None:
    """Return a counterexample where a claim's hints say that there is one, chosen for a reader."""
    for case in small_cases() if claim.attack else ():
        start = as_read(claim, case)
        for hint in claim.attack:
            hinted = hint(start)
            if violates(claim, hinted):
                return hinted
    return None


def _start(claim: Claim) -> Case:
    """Return what a hint may change."""
    return as_read(claim, next(small_cases()))


def as_read(claim: Claim, case: Case) -> Case:
    """Return a case of rational numbers, with epsilon where the statement has one."""
    rational = exact.rational_case(case)
    return rational if claim.reading.has_epsilon else replace(rational, eps=0 * rational.eps)


def _plain_case(
    y: Sequence[int], slope: Sequence[int], first: Sequence[int], second: Sequence[int]
) -> Case:
    """Return a batch with a scale of one, no shift, two directions and a linear loss."""
    curvature = [0] * (len(y) * (len(y) + 1) // 2)
    case = lattice.lattice_case(y, 1, 0, Fraction(2), slope, curvature, first, second, 1)
    return case.with_isotropic_loss(case.loss.parameters[0], 0)


def small_cases() -> Iterator[Case]:
    """Yield batches with few small entries, a scale of one and no shift; longer ones first."""
    batches = ([-1, 0, 1], [-1, 1], [0, -1])
    for y, entries in product(batches, ([1, -2], [1, 0], [2, 1])):
        direction = [*entries, 2][: len(y)]
        yield _plain_case(y, [0] * len(y), direction, direction)


def coincident_cases() -> Iterator[Case]:
    """Yield small batches whose gradient and directions are one vector, or two of three.

    Nothing random does so, and bounds are attained there.  Epsilon is four times the variance, or
    as much as it.
    """
    for y, root in product(((-1, 1), (1, 0, -1), (-2, 1, 1), (1, 1, 0, -2)), (5, 2)):
        turned, steps = [*y[1:], y[0]], [1, -2, 1, 0][: len(y)]
        for vector, other in product((y, turned, steps), repeat=2):
            case = _plain_case(y, vector, vector, other)
            yield replace(case, eps=(root - 1) * case.eps / 3)


def vanishing_cases() -> Iterator[Case]:
    """Yield small batches with a slope of the loss or directions of zero, for scales of each sign.

    Nothing random has them, and bounds that divide by them inside of a root are met there.
    """
    vectors = (1, -2, 0), (2, 1, -1), (1, 1, -3)
    for gamma, kept in product((1, -1, 0), ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0))):
        slope, first, second = (
            [entry * times for entry in vector] for vector, times in zip(vectors, kept, strict=True)
        )
        yield replace(_plain_case((-1, 1, 2), slope, first, second), gamma=gamma)


def outlying_cases() -> Iterator[Case]:
    """Yield longer batches of which one entry is unlike all others, as no random one is."""
    for m in OUTLYING:
        y, second = [1] + [0] * (m - 1), [0, 1] + [0] * (m - 2)
        for slope, direction in ((second, y), (y, second)):
            yield _plain_case(y, slope, direction, slope)


def vast_cases() -> Iterator[Case]:
    """Yield a small batch with one number, or vector, a million times as large, of each sign.

    Random ones are seldom as large, and bounds by a constant fail there.
    """
    case = replace(_plain_case((-1, 1, 2), (1, -2, 0), (2, 1, -1), (1, 1, -3)), beta=1)
    for name, scale in product(REAL, (MILLION, -MILLION)):
        if scale > 0 or name not in POSITIVE:
            yield replace(case, **{name: getattr(case, name) * scale})


def far_scaled_cases() -> Iterator[Case]:
    """Yield short batches that are much smaller, or larger, than one and than epsilon."""
    for power, y in product((-3, -6, 3, 6), ((-1, 1), (-1, 0, 1))):
        slope = [1, -2, 1][: len(y)]
        case = _plain_case(y, slope, slope, [0] * len(y))
        yield replace(case, y=case.y * Fraction(10) ** power)


def fail_in_floats(claims: Sequence[Claim], cases: Sequence[Case], seed: int) -> set[str]:
    """Return the identifiers of the claims that one of some random batches seems to violate."""
    names = autograd.seem_violated(claims, cases) if claims else set()
    seeming = [claim for claim in claims if claim.id in names]
    few = autograd.examine_all(seeming, cases, seed) if seeming else {}
    return {name for name, groups in few.items() if any(found.violates for found in groups)}


def few_cases(seed: int) -> list[Case]:
    """Return random batches of every stratum, and more of those whose scales are far apart."""
    return [*random_cases(seed, FEW), *random_cases(seed, OF_FAR_SCALES, (FAR_SCALES,))]


def any_cases(seed: int) -> list[Case]:
    """Return random batches without special features: an equation that is false fails at most."""
    return [*random_cases(seed, OF_NONE, (STRATA[0], FAR_SCALES))]


def violates(claim: Claim, case: Case) -> bool:
    """Whether a case violates a claim for certain."""
    return exact.outcome(claim, case) is Outcome.VIOLATED


def simplest(claim: Claim, case: Case) -> Case:
    """Return a case of floats that violates a claim with few digits: of all numbers, or of each."""
    fails = partial(violates, claim)
    found = next(filter(fails, simpler(case)), case)
    for name in REAL:
        found = next(filter(fails, with_fewer_digits(found, name)), found)
    return found


def _may_be_attained(claim: Claim) -> bool:
    """Whether equality would violate a bound, or no certificate says that it is one."""
    is_bound = claim.relation is not Relation.EQUAL
    return claim.relation.is_strict or (is_bound and claim.certificate is None)


def among_floats(claim: Claim, seed: int) -> Searched:
    """Return a short random batch that violates with a quadratic loss, rounded if it then does."""
    short = (
        replace(case, loss=Loss(quadratic, case.loss.parameters[:2]))
        for case in few_cases(seed)
        if len(case.y) <= SHORT
    )
    tries = (one for case in short for one in (rounded(case), case))
    found = next(filter(partial(violates, claim), tries), None)
    if found is None:
        return Searched()
    return Searched.violated_at(len(found.y), simplest(claim, found))


def examine(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Look where the claims' hints say, then at what is drawn."""
    hinted = {
        claim.id: Searched.violated_at(len(case.y), case)
        for claim in claims
        if (case := first_looked_at(claim)) is not None
    }
    others = [claim for claim in claims if claim.id not in hinted]
    # An equation that is false of short batches fails at almost any integers.
    bounds = [claim for claim in others if claim.relation is not Relation.EQUAL]
    failing = fail_in_floats(bounds, few_cases(settings.seed), settings.seed)
    drawn = search(BATCHES, others, settings.budget.examples, settings.seed, failing)
    left = [claim for claim in others if drawn[claim.id].found is None]
    for name, further in _further(left, failing, settings):
        drawn[name] += further
    weak = [claim for claim in left if is_weak_bound(claim)]
    met = _first(weak, [*coincident_cases()][::-1], IS_EQUALITY)
    for claim, case in (*met, *attained_at_hints(weak, _start, exact.examine)):
        drawn[claim.id].attained = case
    return records(BATCHES, claims, drawn | hinted, counterexample, attained)


def _violated(claims: Iterable[Claim], cases: Sequence[Case]) -> Iterator[tuple[str, Searched]]:
    """Yield the first of some cases that violates a claim, of those that one does."""
    for claim, case in _first(claims, cases, IS_VIOLATED):
        yield claim.id, Searched.violated_at(len(case.y), case)


def _first(
    claims: Iterable[Claim], cases: Sequence[Case], is_found: Callable[[Examined], bool]
) -> Iterator[tuple[Claim, Case]]:
    """Yield claims with the first of some cases at which something is found of them, if it is."""
    left = list(claims)
    for case in cases:
        for claim, examined in zip([*left], exact.examined(left, case), strict=True):
            if is_found(examined):
                left.remove(claim)
                yield claim, as_read(claim, case)


def _further(
    claims: Sequence[Claim], failing: set[str], settings: Settings
) -> Iterator[tuple[str, Searched]]:
    """Yield what is met beyond short batches of small integers with quadratic losses."""
    special = [*coincident_cases(), *vanishing_cases(), *outlying_cases(), *vast_cases()]
    unsure = [claim for claim in claims if _may_be_attained(claim)]
    yield from _violated(unsure, special)
    yield from search(OF_OTHER_LENGTHS, unsure, FEWER, settings.seed).items()
    beyond_the_jet = [claim for claim in claims if not needs_only_the_jet(claim)]
    yield from search(BENT, beyond_the_jet, settings.budget.examples, settings.seed).items()
    equations = [claim for claim in claims if claim.relation is Relation.EQUAL]
    failing = failing | fail_in_floats(equations, any_cases(settings.seed), settings.seed)
    seeming = [claim for claim in claims if claim.id in failing]
    yield from _violated(seeming, [*far_scaled_cases()])
    longer = search(LONGER, seeming, A_FEW, settings.seed)
    yield from longer.items()
    for claim in seeming:
        if longer[claim.id].found is None:
            yield claim.id, among_floats(claim, settings.seed)
