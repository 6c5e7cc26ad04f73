r"""Claims at cases in any array library, whatever differentiates there.

The closed forms and the primitives run in the chosen library, at all cases of one length and form
of loss at once (:mod:`verify.batched`), or one by one where something refuses that.  How much
rounding moves the sides is measured in PyTorch's random arithmetic (:mod:`verify.tolerance`): it
belongs to the formulas, and every library rounds in the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from theory.claim import Claim
from theory.language.expression import Says
from verify.arrays import ArrayNetwork, flat
from verify.backends import Backend
from verify.cases.case import Case
from verify.cases.strata import random_cases
from verify.settings import Settings
from verify.tolerance import Array
from verify.witnesses import autograd
from verify.witnesses.evaluations import Evaluation, in_rows
from verify.witnesses.instances import Instances
from verify.witnesses.parts import Part
from verify.witnesses.stacks import at_once

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


def examine_in(
    backend: Backend,
    claims: Sequence[Claim],
    cases: Sequence[Case],
    evaluate_at: EvaluateAt,
    seed: int,
) -> dict[str, list[Instances]]:
    """Examine claims at the same cases in a library, many at once where it can be."""
    with backend.current(), np.errstate(all="ignore"):  # what is not finite is undecided
        return autograd.examine_all(claims, cases, seed, partial(_evaluated, evaluate_at))


def _evaluated(evaluate_at: EvaluateAt, part: Part, _: Any) -> list[Evaluation]:
    """Evaluate claims at all cases in one call, wherever they can be."""
    if not np.any(part.defined):
        return [in_rows(claim, [None] * len(part.cases))[0] for claim in part.claims]
    try:
        return evaluate_at(part.claims, at_once(part.cases))
    except TypeError:  # a library or a statement may refuse many values at once
        each = zip(*(evaluate_at(part.claims, case) for case in part.cases), strict=True)
        return [in_rows(claim, found)[0] for claim, found in zip(part.claims, each, strict=True)]


def few(settings: Settings) -> list[Case]:
    """Return a case or so of every stratum."""
    return list(random_cases(settings.seed, settings.budget.differences))
