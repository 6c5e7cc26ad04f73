r"""Claims at cases in any array library, whatever differentiates there.

The closed forms and the primitives run in the chosen library, at all cases of one length and form
of loss at once (:mod:`verify.batched`), or one by one where something refuses that.  How much
rounding moves the sides is measured in PyTorch's random arithmetic (:mod:`verify.tolerance`): it
belongs to the formulas, and every library rounds in the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from theory.claim import Claim
from theory.language.expression import Says
from verify.arrays import ArrayNetwork, flat
from verify.backends import Backend
from verify.cases.case import Case, adapted, imposing_alike
from verify.cases.strata import random_cases
from verify.settings import Settings
from verify.tolerance import Array
from verify.witnesses.autograd import evaluate_randomly, evaluate_stacked
from verify.witnesses.evaluations import Evaluation, in_rows, judged
from verify.witnesses.instances import Instances
from verify.witnesses.stacks import Truths, at_once, grouped, is_defined, loss_of, stacked

ENTRIES = 2**12
"""How many numbers the batches have for which conditions are measured in one call: claims are
evaluated at those of others too, which with more takes longer than another call."""

EvaluateAt = Callable[[Sequence[Claim], Case], list[Evaluation]]
"""What claims are at a case that is as they want it, or at many at once."""
Metered = Callable[[Callable[[], Any]], tuple[Any, Any]]
"""Returns what a function computes, and the largest relative error of the derivatives in it."""


def without_error(compute: Callable[[], Any]) -> tuple[Any, Any]:
    """Compute where derivatives are exact but for rounding."""
    return compute(), 0.0


def evaluate(
    claim: Claim,
    network: ArrayNetwork,
    metered: Metered = without_error,
    error_of_gradient: Any = 0.0,
) -> Evaluation:
    """Evaluate a claim in the network's library.

    Args:
        claim: of expressions, or of functions, which may use the loss's gradient unnoticed.
        network: of one case, or of many at once.
        metered: finds the errors of derivatives, one for each case.
        error_of_gradient: of the loss's gradient, which is known before.
    """
    letters, counts = claim.letters(network), network.counts

    def in_numpy(value: Any) -> Array:
        return np.atleast_2d(flat(network.backend, value, counts))

    def error_in(says: Says | None, own: Any) -> Array:
        """Return the error of what is said; a function may use the gradient unnoticed."""
        error = np.maximum(own, error_of_gradient) if says is None else own
        return np.atleast_1d(np.broadcast_to(error, counts))

    sides, error = metered(lambda: claim.sides(network, letters))
    actual, claimed = np.broadcast_arrays(*map(in_numpy, sides))
    found = [metered(partial(h.quantity, network, letters)) for h in claim.hypotheses]
    return Evaluation(
        actual,
        claimed,
        tuple(in_numpy(quantity) for quantity, _ in found),
        error_in(claim.says, error),
        tuple(error_in(h.says, own) for h, (_, own) in zip(claim.hypotheses, found, strict=True)),
    )


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
            nothing = [in_rows(claim, [None] * len(part.cases))[0] for claim in part.claims]
            yield from _judged(part, nothing, [[one, one] for one in nothing])
    for parts in (few for every in of_each_loss.values() for few in _measured_together(every)):
        for part, measured in zip(parts, _measured(parts, seed), strict=True):
            yield from _judged(part, _evaluated(part, evaluate_at), measured)


def _measured_together(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """Yield a few of the parts, whose batches have together no more numbers than one call takes."""
    entries = max(len(part.cases) * len(part.cases[0].y) for part in parts)
    count = max(1, ENTRIES // entries)
    yield from (parts[first : first + count] for first in range(0, len(parts), count))


def _measured(parts: Sequence[Part], seed: int) -> Iterator[list[list[Evaluation]]]:
    """Yield what each claim of each part is in PyTorch, and in random arithmetic there."""
    claims = [claim for part in parts for claim in part.claims]
    cases = [case for part in parts for case in part.cases]
    stack, loss = stacked(cases), loss_of(cases)
    unmoved = evaluate_stacked(claims, stack, loss)
    moved = evaluate_randomly(claims, stack, loss, seed)
    every = iter([one, *others] for one, others in zip(unmoved, moved, strict=True))
    first = 0
    for part in parts:
        here = slice(first, first := first + len(part.cases))
        yield [[found.rows(here) for found in next(every)] for _ in part.claims]


def _evaluated(part: Part, evaluate_at: EvaluateAt) -> list[Evaluation]:
    """Evaluate claims at all cases in one call, wherever they can be."""
    try:
        return evaluate_at(part.claims, at_once(part.cases))
    except TypeError:  # a library or a statement may refuse many values at once
        each = zip(*(evaluate_at(part.claims, case) for case in part.cases), strict=True)
        return [in_rows(claim, found)[0] for claim, found in zip(part.claims, each, strict=True)]


def _judged(
    part: Part, evaluated: list[Evaluation], measured: list[list[Evaluation]]
) -> Iterator[tuple[Claim, Instances]]:
    """Judge each claim of a part at its own cases."""
    m = len(part.cases[0].y)
    for place, (claim, own) in enumerate(zip(part.claims, part.own, strict=True)):
        found, unmoved, *moved = (e.rows(own) for e in (evaluated[place], *measured[place]))
        instances = judged(claim, found, moved, part.defined[place], m, m, unmoved)
        instances.tokens = [case.token for case in part.cases[own]]
        instances.strata = [case.stratum for case in part.cases[own]]
        yield claim, instances


def few(settings: Settings) -> list[Case]:
    """Return a case or so of every stratum."""
    return list(random_cases(settings.seed, settings.budget.differences))
