r"""The autograd witness: PyTorch differentiates the primitives, in float64, many cases at once.

Cases of one length and one kind of loss are stacked and examined in one vectorised call
(``torch.func.vmap``), and again in random arithmetic, which measures its condition
(:mod:`verify.tolerance`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.func import grad, vjp

from theory.claim import Claim
from verify import tolerance
from verify.record import Record
from verify.settings import Settings
from verify.subjects.calculus import Calculus
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.unit import Batch, Case
from verify.subjects.unit_strata import LONG, random_cases
from verify.tolerance import Array
from verify.witnesses.evaluations import Evaluation, flat, judged, may_be_violated, parted
from verify.witnesses.instances import Instances
from verify.witnesses.parts import Part, parts_of_calls
from verify.witnesses.random_arithmetic import RandomArithmetic
from verify.witnesses.records import recorded
from verify.witnesses.stacks import (
    Stack,
    StackedLoss,
    is_defined,
    loss_of,
    stacked,
)

LONG_SHARE = 4
"""One long batch for so many of another stratum."""
Measured = list[list[Evaluation]]
"""What each claim is as PyTorch rounds, and then a few times in random arithmetic."""
Evaluated = Callable[[Part, Measured], Sequence[Evaluation]]
"""Returns what the claims of a part are at its cases."""
LossFunction = Callable[[torch.Tensor], torch.Tensor]
Tensors = tuple[torch.Tensor, ...]


def gradient(f: Callable[[Any], Any], x: torch.Tensor) -> torch.Tensor:
    """Return the gradient of a scalar function by reverse mode."""
    return grad(lambda v: f(v).sum())(x)


def differential(
    f: Callable[[Any], Any], x: torch.Tensor
) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the derivative at x, which is differentiated once for all directions.

    It is the transpose of the transpose, both by reverse mode.
    """
    value, pull_back, *_ = vjp(f, x)
    _, push_forward, *_ = vjp(lambda v: pull_back(v)[0], torch.zeros_like(value))
    return lambda u: push_forward(u.reshape(x.shape))[0]  # a number may have an axis of its own


def derivative(f: Callable[[Any], Any], x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """Return the derivative along u."""
    return differential(f, x)(u)


class Autograd(Calculus):
    """PyTorch's derivatives."""

    differential = staticmethod(differential)


CALCULUS = Autograd(torch.sqrt, gradient, derivative)


def network_of(batch: Batch, loss: LossFunction) -> PrimitiveNetwork:
    """Return the network of one batch of tensors, differentiated by PyTorch."""
    return PrimitiveNetwork(batch, len(batch.y), loss, CALCULUS)


def evaluate(claim: Claim, network: PrimitiveNetwork) -> Tensors:
    """Return actual, claimed, and each hypothesis's quantity, all flat; NaN where m - 1 divides."""

    def as_tensor(value: Any) -> torch.Tensor:
        """Return a side or a quantity, which may be a number such as the length of the batch."""
        plain = float(value) if isinstance(value, Fraction) else value
        return plain if isinstance(plain, torch.Tensor) else network.y.new_tensor(plain)

    try:
        return tuple(flat(claim, claim.read(network), as_tensor, torch.broadcast_tensors))
    except ZeroDivisionError:  # of whole numbers, where floats give what is not finite
        return (network.y.new_tensor([torch.nan]),) * (2 + len(claim.hypotheses))


def evaluate_stacked(claims: Sequence[Claim], stack: Stack, loss: StackedLoss) -> list[Evaluation]:
    """Evaluate claims at stacked cases in one vectorised call, which computes nothing twice."""

    def one(case: Stack) -> list[Tensors]:
        network = network_of(case, lambda z: loss(z, *case.arguments))
        return [evaluate(claim, network) for claim in claims]

    return [Evaluation.of(*map(_to_numpy, tensors)) for tensors in stack.at_each(one)]


def examine_together(
    claims: Sequence[Claim],
    stack: Stack,
    loss: StackedLoss,
    seed: int = 0,
    samples: int = tolerance.SAMPLES,
) -> list[Instances]:
    """Examine claims at stacked cases; ``samples`` is how often the condition is measured."""
    every = measure(claims, stack, loss, seed, samples)
    m = stack.y.shape[1]
    return [
        judged(claim, found, moved, is_defined(claim, stack), m, m)
        for claim, (found, *moved) in zip(claims, every, strict=True)
    ]


def measure(
    claims: Sequence[Claim],
    stack: Stack,
    loss: StackedLoss,
    seed: int,
    samples: int = tolerance.SAMPLES,
) -> Measured:
    """Return what each claim is as PyTorch rounds, and then in random arithmetic, in one call."""

    def copies(tensor: torch.Tensor) -> torch.Tensor:
        repeated = tensor.repeat(samples, *[1] * (tensor.ndim - 1))
        return repeated * 1.0 if repeated.is_floating_point() else repeated

    unmoved = evaluate_stacked(claims, stack, loss)
    with RandomArithmetic(tolerance.STEP, seed):
        moved = evaluate_stacked(claims, stack.mapped(copies), loss)
    return [[one, *parted(of, samples)] for one, of in zip(unmoved, moved, strict=True)]


def examine_cases(claim: Claim, cases: Sequence[Case], seed: int = 0) -> list[Instances]:
    """Examine cases of any length and loss, grouped by both."""
    return examine_all([claim], cases, seed)[claim.id]


def in_pytorch(part: Part, measured: Measured) -> list[Evaluation]:
    """Return what the claims of a part are as PyTorch rounds, which is known."""
    return [unmoved for unmoved, *_ in measured]


def examine_all(
    claims: Sequence[Claim], cases: Sequence[Case], seed: int = 0, evaluated: Evaluated = in_pytorch
) -> dict[str, list[Instances]]:
    """Examine claims at the same cases, grouped by length and form of loss, and share all work.

    Args:
        claims: at most changing the cases, not their length.
        cases: of any length and loss.
        seed: of the random arithmetic.
        evaluated: what finds the sides, if not PyTorch; how much rounding moves them belongs to the
            formulas, and is measured here for every library.
    """
    found: dict[str, list[Instances]] = {claim.id: [] for claim in claims}
    for parts in parts_of_calls(claims, cases):
        at_parts = _at_parts(parts, partial(measure, seed=seed))
        for part, measured in zip(parts, at_parts, strict=True):
            for claim, instances in _judged(part, evaluated(part, measured), measured):
                found[claim.id].append(instances)
    return found


def seem_violated(claims: Sequence[Claim], cases: Sequence[Case]) -> set[str]:
    """Return the identifiers of the claims of which :func:`examine_all` may find a violation.

    To see that it finds none takes no random arithmetic.
    """
    found = set()
    for parts in parts_of_calls(claims, cases):
        for part, rounded in zip(parts, _at_parts(parts, _unmoved), strict=True):
            m = len(part.cases[0].y)
            for claim, own, (one,) in zip(part.claims, part.own, rounded, strict=True):
                if may_be_violated(claim.relation, one.rows(own), m):
                    found.add(claim.id)
    return found


def _unmoved(claims: Sequence[Claim], stack: Stack, loss: StackedLoss) -> Measured:
    return [[one] for one in evaluate_stacked(claims, stack, loss)]


def _at_parts(
    parts: Sequence[Part], measured: Callable[[Sequence[Claim], Stack, StackedLoss], Measured]
) -> Iterator[Measured]:
    """Yield what the claims of each part are at its cases, found in one call for all parts."""
    claims = [claim for part in parts for claim in part.claims]
    cases = [case for part in parts for case in part.cases]
    every = iter(measured(claims, stacked(cases), loss_of(cases)))
    first = 0
    for part in parts:
        here = slice(first, first := first + len(part.cases))
        yield [[found.rows(here) for found in next(every)] for _ in part.claims]


def _judged(
    part: Part, evaluated: Sequence[Evaluation], measured: Measured
) -> Iterator[tuple[Claim, Instances]]:
    """Judge each claim of a part at its own cases."""
    m = len(part.cases[0].y)
    for place, (claim, own) in enumerate(zip(part.claims, part.own, strict=True)):
        found, unmoved, *moved = (e.rows(own) for e in (evaluated[place], *measured[place]))
        instances = judged(claim, found, moved, part.defined[place], m, m, unmoved)
        instances.tokens = [case.token for case in part.cases[own]]
        instances.strata = [case.stratum for case in part.cases[own]]
        yield claim, instances


def _to_numpy(tensor: torch.Tensor) -> Array:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)


def examine(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Random batches of every stratum, differentiated by PyTorch."""
    seed, count = settings.seed, settings.budget.random
    cases = [*random_cases(seed, count), *random_cases(seed, -(-count // LONG_SHARE), LONG)]
    yield from recorded(claims, "autograd", examine_all(claims, cases, seed))
