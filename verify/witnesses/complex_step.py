r"""The complex-step witness: first derivatives to roundoff, in any array library.

For a function that is analytic near the real axis and real on it,

.. math:: \partial_u f(x) = \operatorname{Im} f(x + i h u)/h + O(h^2),

where nothing cancels, so that h may be so small that the error term is below roundoff.  A step
inside a step would need a second imaginary unit: claims of the second order are outside.

The closed forms and the primitives run in the chosen library, at all cases of one length and form
of loss at once (:mod:`verify.batched`), or one by one where something refuses that.  How much
rounding moves the sides is measured in PyTorch's random arithmetic (:mod:`verify.tolerance`): it
belongs to the formulas, and every library rounds in the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from array_api_compat import array_namespace

from theory.claim import Claim
from verify import tolerance
from verify.arrays import ArrayNetwork, Evaluation, evaluate
from verify.backends import Backend
from verify.batched import Batched
from verify.cases.case import Case, adapted, imposing_alike
from verify.cases.strata import random_cases
from verify.evidence import Record
from verify.network import Calculus
from verify.settings import Settings
from verify.tolerance import Array, Outcome
from verify.witnesses.autograd import evaluate_randomly, evaluate_stacked
from verify.witnesses.evaluations import LARGEST_ERROR, rounding_of
from verify.witnesses.instances import Instances
from verify.witnesses.records import record
from verify.witnesses.stacks import (
    Truths,
    at_once,
    grouped,
    hypotheses_met,
    is_defined,
    loss_of,
    stacked,
)

STEP = 2.0**-500
"""A power of two, so that nothing is lost in dividing by it; its square is a normal number."""


ENTRIES = 2**12
"""How many numbers the batches have for which conditions are measured in one call: claims are
evaluated at those of others too, which with more takes longer than another call."""
Fields = TypeVar("Fields", bound=tuple[Any, ...])


class NestedError(ValueError):
    """A complex step was asked for inside another."""


def real(x: Any) -> Any:
    """Return an array that is real.

    Raises:
        NestedError: it is complex, as it is inside another complex step.
    """
    if x.dtype == array_namespace(x).complex128:
        raise NestedError(
            "complex steps do not nest; use finite differences for a derivative of a derivative"
        )
    return x


def derivative(f: Callable[[Any], Any], x: Any, u: Any) -> Any:
    """Return the derivative of f at x along u, an array of the shape of f's value.

    Args:
        f: a function of an array, made of analytic operations without conjugation.
        x: a real array.
        u: the direction, of the shape of x.

    Raises:
        NestedError: x is complex, as it is inside another complex step.

    >>> x, u = np.array([3.0, 4.0]), np.array([0.0, 1.0])
    >>> derivative(lambda x: (x @ x) * x, x, u)
    array([24., 57.])
    """
    xp = array_namespace(real(x))
    value = f(_as_complex(x) + _as_complex(u) * (STEP * 1j))
    return xp.imag(value) / STEP


def _as_complex(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.astype(x, xp.complex128)


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the gradient of a scalar function at a one-dimensional x, of the shape of x.

    Raises:
        NestedError: x is complex, as it is inside another complex step.

    >>> gradient(lambda x: x @ x, np.array([1.0, 2.0]))
    array([2., 4.])
    """
    if isinstance(x, Batched):
        return _gradients(f, x)
    xp = array_namespace(x)
    basis = xp.eye(x.shape[0], dtype=x.dtype, device=x.device)
    slopes = [derivative(f, x, basis[k, :]) for k in range(x.shape[0])]
    return xp.stack([xp.reshape(slope, ()) for slope in slopes])


def _gradients(f: Callable[[Any], Any], x: Batched) -> Batched:
    """Return the gradients at many values of x by one call of f, at all steps of all together."""
    xp, points = array_namespace(x.array), real(x).array[..., None, :]
    basis = xp.eye(x.shape[0], dtype=x.dtype, device=x.device)
    value = f(Batched(_as_complex(points) + _as_complex(basis) * (STEP * 1j), x.counts + 1))
    if getattr(value, "counts", 0) <= x.counts:
        return Batched(xp.zeros_like(x.array), x.counts)
    return Batched(xp.reshape(xp.imag(value.array) / STEP, x.array.shape), x.counts)


def applies(claim: Claim) -> bool:
    """Return whether a claim's derivatives are not nested."""
    return isinstance(claim, Claim) and claim.order == 1


def examine_cases(
    claim: Claim, cases: Sequence[Case], backend: Backend, seed: int = 0
) -> list[Instances]:
    """Examine cases of any length and loss, grouped by both.

    Raises:
        ValueError: the claim is of the second order, see :func:`applies`.
    """
    return examine_all([claim], cases, backend, seed)[claim.id]


def examine_all(
    claims: Sequence[Claim], cases: Sequence[Case], backend: Backend, seed: int = 0
) -> dict[str, list[Instances]]:
    """Examine claims at the same cases.

    Raises:
        ValueError: a claim is of the second order, see :func:`applies`.
    """
    for claim in claims:
        if not applies(claim):
            raise ValueError(f"{claim.id} is of order {claim.order}, but complex steps do not nest")
    calculus = Calculus(backend.sqrt, gradient, derivative)

    def evaluate_at(alike: Sequence[Claim], case: Case) -> list[Evaluation]:
        network = ArrayNetwork(case, backend, calculus)
        return [evaluate(claim, network) for claim in alike]

    return in_groups(claims, cases, backend, evaluate_at, seed)


EvaluateAt = Callable[[Sequence[Claim], Case], list[Evaluation]]
"""What claims are at a case that is as they want it, or at many at once."""


def in_groups(
    claims: Sequence[Claim],
    cases: Sequence[Case],
    backend: Backend,
    evaluate_at: EvaluateAt,
    seed: int,
) -> dict[str, list[Instances]]:
    """Evaluate and judge claims at cases, those of one length and form of loss together."""
    found: dict[str, list[Instances]] = {claim.id: [] for claim in claims}
    with backend.current(), np.errstate(all="ignore"):  # what is not finite is undecided
        for group in grouped(cases):
            for claim, instances in _examine_group(claims, group, evaluate_at, seed):
                found[claim.id].append(instances)
    return found


class Part(NamedTuple):
    """Claims that impose the same on a group of cases, and the cases as every reading has them.

    Each claim is evaluated at all of them, which costs less than a call for each reading, and
    judged at its own.
    """

    claims: Sequence[Claim]
    cases: list[Case]
    own: list[slice]
    """Where the cases of each claim are."""
    defined: list[Truths]
    """Where sigma is defined, among its own."""


def _part(claims: Sequence[Claim], group: Sequence[Case]) -> Part:
    readings = {claim.reading.has_epsilon: claim for claim in claims}
    cases = [adapted(case, claim) for claim in readings.values() for case in group]
    starts = dict(zip(readings, range(0, len(cases), len(group)), strict=True))
    own = [slice(start := starts[c.reading.has_epsilon], start + len(group)) for c in claims]
    stack = stacked(cases)
    defined = [is_defined(claim, stack)[at] for claim, at in zip(claims, own, strict=True)]
    return Part(claims, cases, own, defined)


def _examine_group(
    claims: Sequence[Claim], group: Sequence[Case], evaluate_at: EvaluateAt, seed: int
) -> Iterator[tuple[Claim, Instances]]:
    """Examine claims at cases of one length and form of loss, which claims may change."""
    of_each_loss: dict[Any, list[Part]] = {}
    for part in (_part(alike, group) for alike in imposing_alike(claims)):
        if np.any(part.defined):
            of_each_loss.setdefault(part.cases[0].loss.function, []).append(part)
        else:
            yield from (
                (c, _nothing_at(part.cases[at]))
                for c, at in zip(part.claims, part.own, strict=True)
            )
    for parts in (few for every in of_each_loss.values() for few in _measured_together(every)):
        for part, moved in zip(parts, _conditions_of(parts, seed), strict=True):
            evaluated = _evaluated(part.claims, part.cases, evaluate_at)
            for claim, at, defined, values, by in zip(
                part.claims, part.own, part.defined, evaluated, moved, strict=True
            ):
                found = _nothing_at(part.cases[at])
                _judge(claim, _at(values, at), _at(by, at), found, defined)
                yield claim, found


def _measured_together(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """Yield a few of the parts, whose batches have together no more numbers than one call takes."""
    entries = max(len(part.cases) * len(part.cases[0].y) for part in parts)
    count = max(1, ENTRIES // entries)
    yield from (parts[first : first + count] for first in range(0, len(parts), count))


def _conditions_of(parts: Sequence[Part], seed: int) -> Iterator[list[Conditions]]:
    """Yield the conditions of each part's claims at its cases, measured for all in one call."""
    claims = [claim for part in parts for claim in part.claims]
    every = iter(conditions(claims, [case for part in parts for case in part.cases], seed))
    first = 0
    for part in parts:
        here = slice(first, first := first + len(part.cases))
        yield [_at(next(every), here) for _ in part.claims]


def _at(fields: Fields, own: slice) -> Fields:
    """Return what arrays say of some cases."""
    return type(fields)(*(field[own] for field in fields))


def _evaluated(
    claims: Sequence[Claim], cases: Sequence[Case], evaluate_at: EvaluateAt
) -> list[Evaluation]:
    """Evaluate claims at all cases in one call, wherever they can be."""
    try:
        return evaluate_at(claims, at_once(cases))
    except TypeError:  # a library or a statement may refuse many values at once
        of_claims = zip(*(evaluate_at(claims, case) for case in cases), strict=True)
        return [
            Evaluation(*(np.array(field) for field in zip(*at, strict=True))) for at in of_claims
        ]


def _nothing_at(cases: list[Case]) -> Instances:
    return Instances(
        outcomes=[Outcome.VACUOUS] * len(cases),
        ratios=np.full(len(cases), np.nan),
        actual=np.full(len(cases), np.nan),
        claimed=np.full(len(cases), np.nan),
        tokens=[case.token for case in cases],
        strata=[case.stratum for case in cases],
        m=len(cases[0].y),
    )


def _judge(
    claim: Claim, values: Evaluation, moved: Conditions, found: Instances, defined: Truths
) -> None:
    """Enter what the evaluations say at the places of the cases where sigma is defined."""
    error = values.relative_error
    by_rounding = tolerance.tolerance(moved.sides, found.m)
    # A side feels an error of its derivatives as it feels one of its operations, so that its
    # condition is their size; its norm would miss what cancels.
    allowed = tolerance.tolerance(moved.sides, found.m, error, moved.sides)
    # Roundings of m entries add up like noise; the entries of a derivative may all err one way,
    # which by Cauchy and Schwarz is sqrt(m) times as much in an inner product with it.
    size = np.sqrt(found.m) * moved.quantities
    margin = tolerance.tolerance(moved.quantities, found.m, values.relative_errors, size)
    sides = values.actual, values.claimed, claim.relation
    outcomes = tolerance.judge_approximate(*sides, found.m, moved.sides, error)
    at_best = tolerance.judge(*sides, by_rounding)
    ratios = tolerance.ratio(values.actual, values.claimed, claim.relation, allowed)
    met = hypotheses_met(claim, values.quantities, margin)
    usable = np.max([error, *values.relative_errors.T], axis=0) <= LARGEST_ERROR
    for index in np.flatnonzero(defined):
        if not usable[index] or (met[index] and at_best[index] is Outcome.UNDECIDED):
            found.outcomes[index] = Outcome.UNDECIDED
        elif met[index]:
            found.outcomes[index] = outcomes[index]
            found.ratios[index] = ratios[index]
    found.actual[defined] = tolerance.scalar(values.actual)[defined]
    found.claimed[defined] = tolerance.scalar(values.claimed)[defined]


class Conditions(NamedTuple):
    """How much errors of one unit move both sides together, and each hypothesis's quantity."""

    sides: Array
    quantities: Array


def conditions(claims: Sequence[Claim], cases: Sequence[Case], seed: int) -> list[Conditions]:
    """Measure them in PyTorch's random arithmetic, for cases of one length and form of loss."""
    stack, loss = stacked(cases), loss_of(cases)
    every_base = evaluate_stacked(claims, stack, loss)
    every_sample = evaluate_randomly(claims, stack, loss, seed)
    return [_moved(*found) for found in zip(every_base, every_sample, strict=True)]


def _moved(base: tuple[Array, ...], samples: list[tuple[Array, ...]]) -> Conditions:
    moved = [np.abs(base[2]), *(np.abs(s[2] - base[2]) / tolerance.STEP for s in samples)]
    return Conditions(rounding_of(base, samples), np.max(moved, axis=0))


def examine_random(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Random batches in the chosen array library, differentiated by complex steps."""
    backend = Backend(settings.backend, settings.device)
    found = examine_all(claims, few(settings), backend, settings.seed)
    for claim in claims:
        yield record(claim, "complex step", found[claim.id])


def few(settings: Settings) -> list[Case]:
    """Return a case or so of every stratum."""
    return list(random_cases(settings.seed, settings.budget.differences))
