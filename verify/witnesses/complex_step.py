r"""The complex-step witness: first derivatives to roundoff, in any array library.

For a function that is analytic near the real axis and real on it,

.. math:: \partial_u f(x) = \operatorname{Im} f(x + i h u)/h + O(h^2),

where nothing cancels, so that h may be so small that the error term is below roundoff.  A step
inside a step would need a second imaginary unit: claims of the second order are outside.

The closed forms and the primitives run in the chosen library, one case at a time.  How much
rounding moves the sides is measured in PyTorch's random arithmetic (:mod:`verify.tolerance`): it
belongs to the formulas, and every library rounds in the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from theory.claim import Claim
from verify import tolerance
from verify.arrays import ArrayNetwork, Evaluation, evaluate
from verify.backends import Backend
from verify.batched import Batched
from verify.cases.case import Case, adapted, adapting_alike
from verify.cases.strata import random_cases
from verify.evidence import Record
from verify.network import Calculus
from verify.settings import Settings
from verify.tolerance import Array, Outcome
from verify.witnesses.autograd import evaluate_randomly, evaluate_stacked, rounding_of
from verify.witnesses.instances import Instances
from verify.witnesses.records import record
from verify.witnesses.stacks import grouped, hypotheses_met, is_defined, loss_of, stacked

STEP = 2.0**-500
"""A power of two, so that nothing is lost in dividing by it; its square is a normal number."""
LARGEST_ERROR = tolerance.ILL_CONDITIONED * tolerance.UNIT_ROUNDOFF
"""Derivatives with a larger relative error have lost half of their digits and decide nothing."""


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
    xp = array_namespace(x)
    basis = xp.eye(x.shape[0], dtype=x.dtype, device=x.device)
    slopes = [derivative(f, x, basis[k, :]) for k in range(x.shape[0])]
    return xp.stack([xp.reshape(slope, ()) for slope in slopes])


def gradient_at_once(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the same by one call of f, at all steps together, wherever f can take them so.

    Raises:
        NestedError: x is complex, as it is inside another complex step.

    >>> gradient_at_once(lambda x: x @ x, np.array([1.0, 2.0]))
    array([2., 4.])
    """
    array, counts = (x.array, x.counts) if isinstance(real(x), Batched) else (x, 0)
    xp = array_namespace(array)
    basis = xp.eye(array.shape[-1], dtype=array.dtype, device=array.device)
    points = _as_complex(array)[..., None, :] + _as_complex(basis) * (STEP * 1j)
    try:
        value = f(Batched(points, counts + 1))
    except TypeError:  # a library may refuse to let its arrays meet such values
        if counts:
            raise
        return gradient(f, x)
    if getattr(value, "counts", 0) <= counts:
        return 0 * x
    slopes = xp.reshape(xp.imag(value.array) / STEP, array.shape)
    return Batched(slopes, counts) if counts else slopes


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
    calculus = Calculus(backend.sqrt, gradient_at_once, derivative)

    def evaluate_case(alike: Sequence[Claim], case: Case) -> list[Evaluation]:
        network = ArrayNetwork(case, backend, calculus)
        return [evaluate(claim, network) for claim in alike]

    return case_by_case(claims, cases, backend, evaluate_case, seed)


EvaluateCase = Callable[[Sequence[Claim], Case], list[Evaluation]]
"""What claims are at a case that is as they want it."""


def case_by_case(
    claims: Sequence[Claim],
    cases: Sequence[Case],
    backend: Backend,
    evaluate_case: EvaluateCase,
    seed: int,
) -> dict[str, list[Instances]]:
    """Evaluate claims case by case, and judge the cases in groups of one length and loss."""
    found: dict[str, list[Instances]] = {claim.id: [] for claim in claims}
    with backend.current(), np.errstate(all="ignore"):  # what is not finite is undecided
        for group in grouped(cases):
            for alike in adapting_alike(claims):
                changed = [adapted(case, alike[0]) for case in group]
                together = _examine_group(alike, changed, evaluate_case, seed)
                for claim, instances in zip(alike, together, strict=True):
                    found[claim.id].append(instances)
    return found


def _examine_group(
    claims: Sequence[Claim], cases: list[Case], evaluate_case: EvaluateCase, seed: int
) -> list[Instances]:
    together = [_nothing_at(cases) for _ in claims]
    defined = np.flatnonzero(is_defined(claims[0], stacked(cases))).tolist()
    if defined:
        chosen = [cases[index] for index in defined]
        evaluated = [evaluate_case(claims, case) for case in chosen]
        moved = conditions(claims, chosen, seed)
        for claim, found, condition, at in zip(
            claims, together, moved, zip(*evaluated, strict=True), strict=True
        ):
            fields = zip(*at, strict=True)
            values = Evaluation(*(np.array(field) for field in fields))
            _judge(claim, values, condition, found, defined)
    return together


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
    claim: Claim, values: Evaluation, moved: Conditions, found: Instances, defined: list[int]
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
    for position, index in enumerate(defined):
        if not usable[position] or (met[position] and at_best[position] is Outcome.UNDECIDED):
            found.outcomes[index] = Outcome.UNDECIDED
        elif met[position]:
            found.outcomes[index] = outcomes[position]
            found.ratios[index] = ratios[position]
    found.actual[defined] = tolerance.scalar(values.actual)
    found.claimed[defined] = tolerance.scalar(values.claimed)


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
