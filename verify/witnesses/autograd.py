r"""The autograd witness: PyTorch differentiates the primitives, in float64, many cases at once.

Cases of one length and one kind of loss are stacked and examined in one vectorised call
(``torch.func.vmap``), and again in random arithmetic, which measures its condition
(:mod:`verify.tolerance`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.func import grad, vjp, vmap
from torch.utils._pytree import tree_map

from theory.claim import Claim, Reading, Relation
from verify import tolerance
from verify.cases.case import Case, adapted
from verify.cases.losses import Loss
from verify.network import Calculus, PrimitiveNetwork
from verify.tolerance import Array, Outcome
from verify.witnesses.instances import Instances
from verify.witnesses.random_arithmetic import RandomArithmetic

LossFunction = Callable[[torch.Tensor], torch.Tensor]
StackedLoss = Callable[..., torch.Tensor]
Tensors = tuple[torch.Tensor, ...]


def gradient(f: Callable[[Any], Any], x: torch.Tensor) -> torch.Tensor:
    """Return the gradient of a scalar function by reverse mode."""
    return grad(lambda v: f(v).sum())(x)


def derivative(f: Callable[[Any], Any], x: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """Return the derivative along u: the transpose of the transpose, both by reverse mode."""
    value, pull_back, *_ = vjp(f, x)
    _, push_forward, *_ = vjp(lambda v: pull_back(v)[0], torch.zeros_like(value))
    return push_forward(u)[0]


CALCULUS = Calculus(torch.sqrt, gradient, derivative)


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
    ):
        other = direction.flip(0) if other_direction is None else other_direction
        norm = torch.ones_like(gamma) if bound is None else bound
        super().__init__(y, y.shape[0], gamma, beta, eps, direction, loss, CALCULUS, other, norm)


def evaluate(claim: Claim, network: TorchNetwork) -> Tensors:
    """Return actual, claimed, and the hypotheses' quantities, each flat."""
    letters = claim.reading.letters(network)
    actual, claimed = claim.sides(network, letters)
    shape = torch.broadcast_shapes(actual.shape, claimed.shape)
    quantities = [h.quantity(network, letters).reshape(()) for h in claim.hypotheses]
    stacked = torch.stack(quantities) if quantities else network.y.new_zeros(0)
    return actual.expand(shape).reshape(-1), claimed.expand(shape).reshape(-1), stacked


class Stack(NamedTuple):
    """Cases of one length, stacked: every tensor has a leading axis that counts instances."""

    y: torch.Tensor
    gamma: torch.Tensor
    beta: torch.Tensor
    eps: torch.Tensor
    direction: torch.Tensor
    other_direction: torch.Tensor
    bound: torch.Tensor
    arguments: Tensors
    """What the loss takes besides the layer's output."""


def evaluate_stacked(claim: Claim, stack: Stack, loss: StackedLoss) -> tuple[Array, Array, Array]:
    """Evaluate stacked cases in one vectorised call."""

    def one(case: Stack) -> Tensors:
        return evaluate(
            claim,
            TorchNetwork(
                case.y,
                case.gamma,
                case.beta,
                case.eps,
                case.direction,
                lambda z: loss(z, *case.arguments),
                case.other_direction,
                case.bound,
            ),
        )

    actual, claimed, quantities = vmap(one)(stack)
    return _to_numpy(actual), _to_numpy(claimed), _to_numpy(quantities)


def examine(
    claim: Claim,
    stack: Stack,
    loss: StackedLoss,
    seed: int = 0,
    samples: int = tolerance.SAMPLES,
) -> Instances:
    """Examine stacked cases; ``loss(z, *arguments)`` is the loss of one instance.

    ``samples`` is how often the condition is measured.
    """
    m = stack.y.shape[1]
    base = evaluate_stacked(claim, stack, loss)
    randomly = evaluate_randomly(claim, stack, loss, seed, samples)
    rounding = rounding_of(base, randomly)
    allowed = tolerance.tolerance(rounding, m)
    outcomes = tolerance.judge(base[0], base[1], claim.relation, allowed)
    met = _hypotheses_met(claim, base[2], [s[2] for s in randomly], m) & _is_defined(claim, stack)
    return Instances(
        outcomes=[o if ok else Outcome.VACUOUS for o, ok in zip(outcomes, met, strict=True)],
        ratios=np.where(met, tolerance.ratio(base[0], base[1], claim.relation, allowed), np.nan),
        actual=_scalar(base[0]),
        claimed=_scalar(base[1]),
        m=m,
    )


def rounding_of(base: tuple[Array, ...], samples: list[tuple[Array, ...]]) -> Array:
    """How much errors of one unit move both sides together."""
    actual, claimed = (
        tolerance.condition_times_size(base[i], [s[i] for s in samples]) for i in (0, 1)
    )
    return actual + claimed


def evaluate_randomly(
    claim: Claim,
    stack: Stack,
    loss: StackedLoss,
    seed: int,
    samples: int = tolerance.SAMPLES,
) -> list[tuple[Array, ...]]:
    """Evaluate a few times in random arithmetic, in one call; one result a sample."""

    def copies(tensor: torch.Tensor) -> torch.Tensor:
        repeated = tensor.repeat(samples, *[1] * (tensor.ndim - 1))
        return repeated * 1.0 if repeated.is_floating_point() else repeated

    with RandomArithmetic(tolerance.STEP, seed):
        results = evaluate_stacked(claim, tree_map(copies, stack), loss)
    return list(zip(*(np.split(r, samples) for r in results), strict=True))


def _scalar(side: Array) -> Array:
    """The side itself, or its norm where it is a vector."""
    return side[:, 0] if side.shape[1] == 1 else tolerance.norm(side)


def examine_cases(claim: Claim, cases: Sequence[Case], seed: int = 0) -> list[Instances]:
    """Examine cases of any length and loss, grouped by both."""
    return [
        _examine_group(claim, [adapted(case, claim) for case in group], seed)
        for group in grouped(cases)
    ]


def grouped(cases: Sequence[Case]) -> list[list[Case]]:
    """Return the cases in groups of one length and one form of loss."""

    def key(case: Case) -> tuple[int, str]:
        return len(case.y), case.loss.function.__name__

    return [list(group) for _, group in groupby(sorted(cases, key=key), key=key)]


def _examine_group(claim: Claim, cases: list[Case], seed: int) -> Instances:
    function = cases[0].loss.function

    def numbers(values: Sequence[Any]) -> torch.Tensor:
        return torch.tensor(np.array([np.squeeze(v) for v in values]), dtype=torch.float64)

    def batches(values: Sequence[Any]) -> torch.Tensor:
        return torch.tensor(np.array(values), dtype=torch.float64)

    def loss(z: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
        return Loss(function, parameters)(z, _softplus)

    stack = Stack(
        y=batches([c.y for c in cases]),
        gamma=numbers([c.gamma for c in cases]),
        beta=numbers([c.beta for c in cases]),
        eps=numbers([c.eps for c in cases]),
        direction=batches([c.direction for c in cases]),
        other_direction=batches([c.other_direction for c in cases]),
        bound=numbers([c.bound for c in cases]),
        arguments=tuple(
            batches(list(p)) for p in zip(*(c.loss.parameters for c in cases), strict=True)
        ),
    )
    found = examine(claim, stack, loss, seed)
    found.tokens = [case.token for case in cases]
    found.strata = [case.stratum for case in cases]
    return found


def _softplus(x: torch.Tensor) -> torch.Tensor:
    """Return log(1 + exp(x)) without the library's linear branch beyond 20."""
    return torch.logaddexp(x, torch.zeros_like(x))


def _to_numpy(tensor: torch.Tensor) -> Array:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)


def _is_defined(claim: Claim, stack: Stack) -> Any:
    """Whether sigma is positive, and in the unit-variance reading the variance too."""
    y, eps = stack.y, stack.eps
    spread = (y.max(dim=1).values - y.min(dim=1).values) > 0
    needs_variance = claim.reading in (Reading.NO_EPSILON, Reading.UNIT_VARIANCE)
    return _to_numpy(spread).astype(bool) if needs_variance else _to_numpy(spread | (eps > 0)) > 0


def _hypotheses_met(claim: Claim, quantities: Array, samples: list[Array], m: int) -> Any:
    """Whether each instance satisfies every hypothesis, up to rounding for an equality."""
    met = np.ones(len(quantities), dtype=bool)
    for i, hypothesis in enumerate(claim.hypotheses):
        value = quantities[:, i]
        column = slice(i, i + 1)
        rounding = tolerance.condition_times_size(
            quantities[:, column], [s[:, column] for s in samples]
        )
        allowed = tolerance.tolerance(rounding, m)
        match hypothesis.sign:
            case Relation.EQUAL:
                met &= abs(value) <= allowed
            case Relation.MORE_THAN:
                met &= value > allowed
            case _:
                met &= value >= -allowed
    return met
