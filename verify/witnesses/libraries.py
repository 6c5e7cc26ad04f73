r"""Claims at cases in any array library, whatever differentiates there.

The closed forms and the primitives run in the chosen library, at all cases of one length and form
of loss at once (:mod:`verify.batched`), or one by one where something refuses that.  How much
rounding moves the sides is measured in PyTorch's random arithmetic (:mod:`verify.tolerance`): it
belongs to the formulas, and every library rounds in the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from theory.claim import Claim
from verify.backends import Backend
from verify.record import Record
from verify.settings import Settings
from verify.subjects.unit import Case
from verify.subjects.unit_strata import random_cases
from verify.tolerance import Array
from verify.witnesses import autograd
from verify.witnesses.arrays import ArrayNetwork, flat
from verify.witnesses.evaluations import Evaluation, in_rows, nowhere
from verify.witnesses.instances import Instances
from verify.witnesses.parts import Part
from verify.witnesses.records import recorded
from verify.witnesses.stacks import at_once

NetworkOf = Callable[[Backend, Case, int], ArrayNetwork]
"""Returns the network of a case, or of many at once, for claims of an order of derivatives."""


def evaluate(claim: Claim, network: ArrayNetwork) -> Evaluation:
    """Evaluate a claim in the network's library; where whole numbers divide by zero, to NaN."""
    try:
        return _evaluate(claim, network)
    except ZeroDivisionError:
        return nowhere(claim, *network.y.counted)


def _evaluate(claim: Claim, network: ArrayNetwork) -> Evaluation:
    """Evaluate a claim in the network's library, with the errors of derivatives for each case."""
    unit, counts, meter = claim.read(network), network.y.counted, network.calculus.meter

    def metered(compute: Callable[[], Any]) -> tuple[Any, Any]:
        return (compute(), 0.0) if meter is None else meter.metered(compute)

    def in_numpy(value: Any) -> Array:
        return np.atleast_2d(flat(network.backend, value, counts))

    def of_each(error: Any) -> Array:
        return np.atleast_1d(np.broadcast_to(error, counts))

    sides, error = metered(lambda: claim.sides(unit))
    actual, claimed = np.broadcast_arrays(*map(in_numpy, sides))
    found = [metered(partial(h.quantity, unit)) for h in claim.hypotheses]
    return Evaluation(
        actual,
        claimed,
        tuple(in_numpy(quantity) for quantity, _ in found),
        of_each(error),
        tuple(of_each(own) for _, own in found),
    )


def examine_all(
    network_of: NetworkOf,
    claims: Sequence[Claim],
    cases: Sequence[Case],
    backend: Backend,
    seed: int = 0,
) -> dict[str, list[Instances]]:
    """Examine claims at the same cases in a library, many at once where it can be."""
    evaluated = partial(_evaluated, partial(network_of, backend))
    with backend.current(), np.errstate(all="ignore"):  # what is not finite is undecided
        return autograd.examine_all(claims, cases, seed, evaluated)


def _evaluated(
    network_of: Callable[[Case, int], ArrayNetwork], part: Part, _: Any
) -> list[Evaluation]:
    """Evaluate claims at all cases in one call, wherever they can be."""

    def at(case: Case) -> list[Evaluation]:
        networks = {order: network_of(case, order) for order in {c.order for c in part.claims}}
        return [evaluate(claim, networks[claim.order]) for claim in part.claims]

    if not np.any(part.defined):
        return [in_rows(claim, [None] * len(part.cases))[0] for claim in part.claims]
    try:
        return at(at_once(part.cases))
    except TypeError:  # a library or a statement may refuse many values at once
        each = zip(*map(at, part.cases), strict=True)
        return [in_rows(claim, found)[0] for claim, found in zip(part.claims, each, strict=True)]


def examine(
    network_of: NetworkOf, witness: str, claims: Sequence[Claim], settings: Settings
) -> Iterator[Record]:
    """Examine a random batch or so of every stratum in the chosen library."""
    backend = Backend(settings.backend, settings.device)
    cases = [*random_cases(settings.seed, settings.budget.differences)]
    found = examine_all(network_of, claims, cases, backend, settings.seed)
    yield from recorded(claims, witness, found)
