r"""The autograd witness: PyTorch differentiates the primitives, in float64, many cases at once.

Cases of one length and one kind of loss are stacked and examined in one vectorised call
(``torch.func.vmap``), and again in random arithmetic, which measures its condition
(:mod:`verify.tolerance`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch.func import grad, vjp, vmap
from torch.utils._pytree import tree_map

from theory.claim import Claim
from verify import tolerance
from verify.cases.case import Case, adapted, adapting_alike
from verify.cases.strata import LONG, random_cases
from verify.evidence import Record
from verify.network import Calculus, PrimitiveNetwork
from verify.settings import Settings
from verify.tolerance import Array
from verify.witnesses.evaluations import Evaluation, judged, parted
from verify.witnesses.instances import Instances
from verify.witnesses.random_arithmetic import RandomArithmetic
from verify.witnesses.records import record
from verify.witnesses.stacks import (
    Stack,
    StackedLoss,
    grouped,
    is_defined,
    loss_of,
    stacked,
)

LONG_SHARE = 4
"""One long batch for so many of another stratum."""
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
    return lambda u: push_forward(u)[0]


def derivative(f: Callable[[Any], Any], x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """Return the derivative along u."""
    return differential(f, x)(u)


class Autograd(Calculus):
    """PyTorch's derivatives."""

    differential = staticmethod(differential)


CALCULUS = Autograd(torch.sqrt, gradient, derivative)


class TorchNetwork(PrimitiveNetwork):
    """The network of one case, differentiated by PyTorch."""

    def __init__(
        self,
        y: torch.Tensor,
        gamma: torch.Tensor,
        beta: torch.Tensor,
        eps: torch.Tensor,
        direction: torch.Tensor,
        loss: LossFunction,
        other_direction: torch.Tensor | None = None,
        bound: torch.Tensor | None = None,
        later_normalizations: torch.Tensor | None = None,
    ):
        other = direction.flip(0) if other_direction is None else other_direction
        norm = torch.ones_like(gamma) if bound is None else bound
        later = torch.zeros_like(gamma) if later_normalizations is None else later_normalizations
        super().__init__(
            y, y.shape[0], gamma, beta, eps, direction, loss, CALCULUS, other, norm, later
        )


def evaluate(claim: Claim, network: TorchNetwork) -> Tensors:
    """Return actual, claimed, and the hypotheses' quantities, each flat."""
    letters = claim.letters(network)
    actual, claimed = (_as_tensor(side, network.y) for side in claim.sides(network, letters))
    shape = torch.broadcast_shapes(actual.shape, claimed.shape)
    quantities = [h.quantity(network, letters).reshape(()) for h in claim.hypotheses]
    stacked = torch.stack(quantities) if quantities else network.y.new_zeros(0)
    return actual.expand(shape).reshape(-1), claimed.expand(shape).reshape(-1), stacked


def _as_tensor(side: Any, like: torch.Tensor) -> torch.Tensor:
    """Return a side, which may be a number such as the length of the batch."""
    return side if isinstance(side, torch.Tensor) else like.new_tensor(side)


def evaluate_stacked(claims: Sequence[Claim], stack: Stack, loss: StackedLoss) -> list[Evaluation]:
    """Evaluate claims at stacked cases in one vectorised call, which computes nothing twice."""

    def one(case: Stack) -> list[Tensors]:
        network = TorchNetwork(
            case.y,
            case.gamma,
            case.beta,
            case.eps,
            case.direction,
            lambda z: loss(z, *case.arguments),
            case.other_direction,
            case.bound,
            case.later_normalizations,
        )
        return [evaluate(claim, network) for claim in claims]

    every = (map(_to_numpy, tensors) for tensors in vmap(one)(stack))
    return [
        Evaluation.of(actual, claimed, *quantities.T[:, :, None])
        for actual, claimed, quantities in every
    ]


def examine(
    claim: Claim,
    stack: Stack,
    loss: StackedLoss,
    seed: int = 0,
    samples: int = tolerance.SAMPLES,
) -> Instances:
    """Examine a claim at stacked cases; ``samples`` is how often the condition is measured."""
    (found,) = examine_together([claim], stack, loss, seed, samples)
    return found


def examine_together(
    claims: Sequence[Claim],
    stack: Stack,
    loss: StackedLoss,
    seed: int = 0,
    samples: int = tolerance.SAMPLES,
) -> list[Instances]:
    """Examine claims at the same stacked cases."""
    base = evaluate_stacked(claims, stack, loss)
    randomly = evaluate_randomly(claims, stack, loss, seed, samples)
    m = stack.y.shape[1]
    return [
        judged(claim, found, moved, is_defined(claim, stack), m, m)
        for claim, found, moved in zip(claims, base, randomly, strict=True)
    ]


def evaluate_randomly(
    claims: Sequence[Claim],
    stack: Stack,
    loss: StackedLoss,
    seed: int,
    samples: int = tolerance.SAMPLES,
) -> list[list[Evaluation]]:
    """Evaluate a few times in random arithmetic, in one call; for each claim a result a sample."""

    def copies(tensor: torch.Tensor) -> torch.Tensor:
        repeated = tensor.repeat(samples, *[1] * (tensor.ndim - 1))
        return repeated * 1.0 if repeated.is_floating_point() else repeated

    with RandomArithmetic(tolerance.STEP, seed):
        results = evaluate_stacked(claims, tree_map(copies, stack), loss)
    return [parted(found, samples) for found in results]


def examine_cases(claim: Claim, cases: Sequence[Case], seed: int = 0) -> list[Instances]:
    """Examine cases of any length and loss, grouped by both."""
    return examine_all([claim], cases, seed)[claim.id]


def examine_all(
    claims: Sequence[Claim], cases: Sequence[Case], seed: int = 0
) -> dict[str, list[Instances]]:
    """Examine claims at the same cases; those that leave the cases as they are share all work."""
    found: dict[str, list[Instances]] = {claim.id: [] for claim in claims}
    for group in grouped(cases):
        for alike in adapting_alike(claims):
            changed = [adapted(case, alike[0]) for case in group]
            together = examine_together(alike, stacked(changed), loss_of(changed), seed)
            for claim, instances in zip(alike, together, strict=True):
                instances.tokens = [case.token for case in changed]
                instances.strata = [case.stratum for case in changed]
                found[claim.id].append(instances)
    return found


def _to_numpy(tensor: torch.Tensor) -> Array:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)


def examine_random(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Random batches of every stratum, differentiated by PyTorch."""
    seed, count = settings.seed, settings.budget.random
    cases = [*random_cases(seed, count), *random_cases(seed, -(-count // LONG_SHARE), LONG)]
    found = examine_all(claims, cases, settings.seed)
    for claim in claims:
        yield record(claim, "autograd", found[claim.id])
