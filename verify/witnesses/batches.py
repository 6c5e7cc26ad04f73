"""Where counterexamples to statements about a unit's batch are looked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
from flint import ctx

from theory.arithmetic.exact import DifferentFieldsError
from theory.batchnorm import centre
from theory.claim import Claim
from theory.language.expression import Apply
from theory.language.operations import average
from verify import letters
from verify.settings import Settings
from verify.subjects import unit_lattice
from verify.subjects.losses import Loss, quadratic
from verify.subjects.rounding import rounded, simpler, with_fewer_digits
from verify.subjects.unit import Case, adapted
from verify.subjects.unit_strata import FAR_SCALES, STRATA, random_cases
from verify.witnesses import autograd, exact, integers
from verify.witnesses.exact import Examined
from verify.witnesses.integers import (
    Grounds,
    Told,
    constants_of,
    ends_of,
    first,
    may_be_attained,
)
from verify.witnesses.jet import needs_only_the_jet
from verify.witnesses.search import Searched, Space, search

FEW, OF_FAR_SCALES, OF_NONE = 2, 20, 3
"""Random batches of every stratum, and of one, that say whether it is worth to insist; for an
equation fewer, of generic numbers."""
BATCHES = Space(
    (1, 2, 3, 4), unit_lattice.letters, unit_lattice.lattice_case, exact.examined, insistence=4
)
LONGER = replace(BATCHES, sizes=(8, 16, 32), together=0, insistence=0)
"""For what holds of short batches alone."""
OF_OTHER_LENGTHS = replace(LONGER, sizes=(5, 6, 7, 9, 12))
"""For what fails at one length alone."""
OUTLYING = 8, 16, 32, 64
"""Lengths of batches with one outlier."""
BALANCED = 5, 8, 16
"""Lengths of batches with one outlier on each side."""
SCALED = ((1, 2, 3), (Fraction(3, 5), 1, Fraction(16, 25)), (1, 1, 3))
"""Entries, scales and epsilons: the first two scales are the deviation with epsilon, the last is
that without."""
HALVED = 6, 8, 16
"""Lengths of longer batches of two values."""
MILLION = 10**6
FEWER = 4
"""So many are drawn of each other length, of which there are more."""
STARTS = 4, 5, 6, 8
"""Lengths of the longer batches that hints change."""
SHORT = 8
"""The longest random batch that is decided exactly."""
BENT = Space((1, 2, 3), unit_lattice.letters_with_ridge, unit_lattice.ridged_case, exact.examined)
"""With losses that are no quadratics, for statements that ask for more than a 2-jet of them."""


def _few(seed: int) -> list[Case]:
    """Return random batches of every stratum, and more of those whose scales are far apart."""
    return [*random_cases(seed, FEW), *random_cases(seed, OF_FAR_SCALES, (FAR_SCALES,))]


def _decidable(seed: int) -> Iterator[Case]:
    """Yield short random batches with a quadratic loss, each rounded and as it is."""
    for case in _few(seed):
        if len(case.y) <= SHORT:
            short = replace(case, loss=Loss(quadratic, case.loss.parameters[:2]))
            yield from (rounded(short), short)


def simplest(claim: Claim, case: Case) -> Case:
    """Return a case of floats that violates a claim with few digits: of all numbers, or of each."""
    fails = partial(BATCHES.violates, claim)
    found = next(filter(fails, simpler(case)), case)
    for name in case.real():
        found = next(filter(fails, with_fewer_digits(found, name)), found)
    return found


def _less_its_mean(claim: Claim, case: Case) -> Case:
    """Return the case without the batch's mean, where the inputs have none, if it fails there."""
    said = [h.says.actual for h in claim.hypotheses]
    if not any(isinstance(part, Apply) and part.operation is average for part in said):
        return case
    start = exact.rational_case(case)
    without = replace(start, y=centre(start.y))
    return without if BATCHES.violates(claim, without) else case


def _special(claims: Sequence[Claim], settings: Settings) -> Iterator[tuple[str, Searched]]:
    """Yield what is met at special batches, of other lengths and with losses of other kinds."""
    unsure = [claim for claim in claims if may_be_attained(claim)]
    special = (*coincident_cases(), *vanishing_cases(), *outlying_cases(), *vast_cases())
    said = [says for claim in unsure for says in claim.said]
    of_claims = cases_of_constants(constants_of(said), ends_of(said))
    for claim, case in first(BATCHES, unsure, (*special, *halved_cases(), *of_claims)):
        yield claim.id, Searched.violated_at(len(case.y), case)
    yield from search(OF_OTHER_LENGTHS, unsure, FEWER, settings.seed).items()
    beyond_the_jet = [claim for claim in claims if not needs_only_the_jet(claim)]
    yield from search(BENT, beyond_the_jet, settings.budget.examples, settings.seed).items()


def _written(kind: type[Told], claim: Claim, case: Case, examined: Examined) -> Told:
    return kind(
        {"m": len(case.y)},
        unit_lattice.written(adapted(exact.rational_case(case), claim)),
        examined.actual,
        examined.claimed,
        examined.arithmetic,
        letters=_letters(claim, case),
        ratio=examined.ratio(claim.relation),
    )


def _letters(claim: Claim, case: Case) -> dict[str, Any]:
    """Return what the statement's own letters are worth, in balls where roots are of two kinds."""
    at_case, known = exact.networks(case), {}
    with suppress(DifferentFieldsError):
        known = letters.worth(claim, at_case(claim, exact.IN_NUMBERS))
    if len(known) < len(letters.own(claim)):
        with ctx.workprec(128):
            known = letters.worth(claim, at_case(claim, exact.IN_BALLS)) | known
    return letters.written(known)


def as_read(claim: Claim, case: Case) -> Case:
    """Return a case of rational numbers, with epsilon where the statement has one."""
    rational = exact.rational_case(case)
    return rational if claim.reading.has_epsilon else replace(rational, eps=0 * rational.eps)


def _plain_case(
    y: Sequence[int], slope: Sequence[int], first: Sequence[int], second: Sequence[int]
) -> Case:
    """Return a batch with a scale of one, no shift, two directions and a linear loss."""
    curvature = [0] * (len(y) * (len(y) + 1) // 2)
    case = unit_lattice.lattice_case(y, 1, 0, Fraction(2), slope, curvature, first, second, 1)
    return case.with_isotropic_loss(case.loss.parameters[0], 0)


def small_cases() -> Iterator[Case]:
    """Yield batches with few small entries, a scale of one and no shift; longer ones first."""
    batches = ([-1, 0, 1], [-1, 1], [0, -1])
    for y, entries in product(batches, ([1, -2], [1, 0], [2, 1])):
        direction = [*entries, 2][: len(y)]
        yield _plain_case(y, [0] * len(y), direction, direction)


def _starts(claim: Claim) -> Iterator[Case]:
    """Yield what hints change: small batches, and longer ones where a claim may ask for them."""
    for case in chain(small_cases(), map(_longer, STARTS)):
        yield as_read(claim, case)


def _longer(m: int) -> Case:
    direction = ([1, -2, 1, 0] * m)[:m]
    return _plain_case(([-1, 0, 1] * m)[:m], [0] * m, direction, direction)


def fitted(start: Case, case: Case) -> Case:
    """Return a case whose vectors are repeated, or cut, to the length of a batch from a hint.

    Raises:
        ValueError: a direction is no vector.
    """
    y = np.ravel(np.asarray(case.y, dtype=object))

    def resized(vector: Any) -> Any:
        is_other = np.ndim(vector) == 1 and len(vector) != len(y)
        return np.resize(np.asarray(vector, dtype=object), len(y)) if is_other else vector

    loss = replace(case.loss, parameters=tuple(map(resized, case.loss.parameters)))
    directions = {name: resized(getattr(case, name)) for name in ("direction", "other_direction")}
    if wrong := [name for name, vector in directions.items() if np.shape(vector) != y.shape]:
        raise ValueError(f"{wrong[0]} has the shape {np.shape(directions[wrong[0]])}, y {y.shape}")
    return replace(case, y=y, loss=loss, **directions)


def coincident_cases() -> Iterator[Case]:
    """Yield small batches whose gradient and directions are one vector, or two of three.

    Nothing random does so, and bounds are attained there.  Epsilon is as much as the variance, or
    two or four times that.
    """
    for y, root in product(((-1, 1), (1, 0, -1), (-2, 1, 1), (1, 1, 0, -2)), (5, 2, 3)):
        turned, steps = [*y[1:], y[0]], [1, -2, 1, 0][: len(y)]
        for vector, other in product((y, turned, steps), repeat=2):
            case = _plain_case(y, vector, vector, other)
            yield replace(case, eps=(root - 1) * case.eps / 3)


def edge_cases() -> Iterator[Case]:
    """Yield batches whose scale is their deviation, with an epsilon or without.

    Bounds for a scale of no more than it are attained there.
    """
    vectors = (1, 1, -1, -1), (1, -1, -1, 1)
    for (entry, scale, eps), (y, *others) in product(SCALED, product(vectors, repeat=4)):
        case = _plain_case(y, *others)
        yield replace(case, y=case.y * entry, gamma=scale, bound=scale, eps=eps)


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
    """Yield longer batches of which one or two entries are unlike the others, as none at random."""
    for m in OUTLYING:
        yield from _in_two_ways([1] + [0] * (m - 1), [0, 1] + [0] * (m - 2))
    for m in BALANCED:
        yield from _in_two_ways([1, -1] + [0] * (m - 2), [0, 1, -1] + [0] * (m - 3))


def _in_two_ways(y: Sequence[int], other: Sequence[int]) -> Iterator[Case]:
    """Yield a batch with another vector as slope and itself as direction, and the reverse."""
    yield _plain_case(y, other, y, other)
    yield _plain_case(y, y, other, y)


def _case_of_three() -> Case:
    return _plain_case((-1, 1, 2), (1, -2, 0), (2, 1, -1), (1, 1, -3))


def vast_cases() -> Iterator[Case]:
    """Yield a small batch with one number, or vector, a million times as large, of each sign.

    Random ones are seldom as large, and bounds by a constant fail there.
    """
    case = replace(_case_of_three(), beta=1)
    for name, scale in product(case.real(), (MILLION, -MILLION)):
        if scale > 0 or name not in case.positive:
            yield replace(case, **{name: getattr(case, name) * scale})


def halved_cases() -> Iterator[Case]:
    """Yield longer batches of two values, as many of the one as of the other."""
    for m in HALVED:
        yield from _in_two_ways([1] * (m // 2) + [0] * (m // 2), [1, -1] * (m // 2))


def cases_of_constants(
    constants: Iterable[int | Fraction], ends: Iterable[int | Fraction] = ()
) -> Iterator[Case]:
    """Yield a small batch with each number, or both scale and shift, at constants of statements.

    What fails where letters are constants, or bounds made of these end, may fail nowhere else.
    """
    case, constants = _case_of_three(), [*constants]
    for gamma, beta in product(constants, repeat=2):
        yield replace(case, gamma=gamma, beta=beta)
    for constant, name in product((*constants, *ends), ("gamma", "beta", "bound", "eps")):
        changes: dict[str, Any] = {name: constant}
        if constant > 0 or name not in case.positive:
            yield replace(case, **changes)


def far_scaled_cases() -> Iterator[Case]:
    """Yield short batches that are much smaller, or larger, than one and than epsilon."""
    for power, y in product((-3, -6, 3, 6), ((-1, 1), (-1, 0, 1))):
        slope = [1, -2, 1][: len(y)]
        case = _plain_case(y, slope, slope, [0] * len(y))
        yield replace(case, y=case.y * Fraction(10) ** power)


GROUNDS = Grounds(
    small=BATCHES,
    larger=LONGER,
    size_of=lambda case: len(case.y),
    starts=_starts,
    fitted=fitted,
    few=_few,
    generic=lambda seed: [*random_cases(seed, OF_NONE, (STRATA[0], FAR_SCALES))],
    seem_violated=autograd.seem_violated,
    in_floats=autograd.examine_all,
    decidable=_decidable,
    conversions=exact.networks,
    written=_written,
    special=_special,
    scaled=far_scaled_cases,
    attaining=lambda: [*[*coincident_cases()][::-1], *edge_cases()],
    simplest=simplest,
    plainest=_less_its_mean,
)
examine = partial(integers.examine, GROUNDS)
