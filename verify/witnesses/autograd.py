r"""The autograd witness: PyTorch differentiates the primitives, in float64, many cases at once.

Cases of one length and one kind of loss are stacked and examined in one vectorised call
(``torch.func.vmap``); each is evaluated three times, once as it is and on two twins, which
measures its condition (:mod:`verify.tolerance`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch.func import grad, jvp, vmap

from theory.claim import Claim, Reading, Relation
from verify import primitives, tolerance
from verify.cases.case import Case, adapted
from verify.cases.losses import Loss
from verify.tolerance import TWIN_STEP, Array, Outcome
from verify.witnesses.instances import Instances

LossFunction = Callable[[torch.Tensor], torch.Tensor]
Tensors = tuple[torch.Tensor, ...]


class TorchNetwork:
    """The network of one case, differentiated by PyTorch."""

    def __init__(
        self,
        y: torch.Tensor,
        gamma: torch.Tensor,
        beta: torch.Tensor,
        eps: torch.Tensor,
        direction: torch.Tensor,
        loss: LossFunction,
    ):
        self.y, self.gamma, self.beta, self.eps = y, gamma, beta, eps
        self.direction, self.loss = direction, loss
        self.m = y.shape[0]
        self.z = self.forward(y)
        self.g = self.gradient(loss, self.z)

    def standard_deviation(self, y: torch.Tensor) -> torch.Tensor:
        """Return the primitive standard deviation."""
        return primitives.standard_deviation(y, self.m, self.eps, torch.sqrt)

    def normalize(self, y: torch.Tensor) -> torch.Tensor:
        """Return the primitive normalised batch."""
        return primitives.normalize(y, self.m, self.eps, torch.sqrt)

    def forward(self, y: torch.Tensor) -> torch.Tensor:
        """Return the primitive layer's output."""
        return primitives.forward(y, self.m, self.gamma, self.beta, self.eps, torch.sqrt)

    def normalized_loss(self, y: torch.Tensor) -> torch.Tensor:
        """Return the loss of the layer's output."""
        return self.loss(self.forward(y))

    def gradient(self, f: Callable[[Any], Any], x: torch.Tensor) -> torch.Tensor:
        """Return the gradient of a scalar function by reverse mode."""
        return grad(lambda v: f(v).sum())(x)

    def derivative(self, f: Callable[[Any], Any], x: torch.Tensor, u: torch.Tensor) -> Any:
        """Return the derivative along u by forward mode."""
        return jvp(f, (x,), (u,))[1]


def evaluate(claim: Claim, network: TorchNetwork) -> Tensors:
    """Return actual, claimed, and the hypotheses' quantities, each flat."""
    letters = claim.reading.letters(network)
    actual, claimed = claim.sides(network, letters)
    shape = torch.broadcast_shapes(actual.shape, claimed.shape)
    quantities = [h.quantity(network, letters).reshape(()) for h in claim.hypotheses]
    stacked = torch.stack(quantities) if quantities else network.y.new_zeros(0)
    return actual.expand(shape).reshape(-1), claimed.expand(shape).reshape(-1), stacked


def evaluate_stacked(
    claim: Claim, case: Tensors, loss: Callable[..., torch.Tensor], step: float, signs: Tensors
) -> tuple[Array, Array, Array]:
    """Evaluate stacked cases with batch and gradient perturbed by ``step`` times the signs."""

    def one(y_signs: Any, g_signs: Any, y: Any, *rest: Any) -> Tensors:
        gamma, beta, eps, direction, *arguments = rest
        own = TorchNetwork(y, gamma, beta, eps, direction, lambda z: loss(z, *arguments))
        if step == 0:
            return evaluate(claim, own)
        tilt = step * g_signs * own.g
        moved = y * (1 + step * y_signs)
        return evaluate(
            claim,
            TorchNetwork(
                moved, gamma, beta, eps, direction, lambda z: loss(z, *arguments) + tilt @ z
            ),
        )

    actual, claimed, quantities = vmap(one)(*signs, *case)
    return _to_numpy(actual), _to_numpy(claimed), _to_numpy(quantities)


def examine(
    claim: Claim, case: Tensors, loss: Callable[..., torch.Tensor], seed: int = 0
) -> Instances:
    """Examine stacked cases: tensors y, gamma, beta, eps, direction, then the loss's arguments.

    ``loss(z, *arguments)`` is the loss of one instance; every tensor has a leading axis that
    counts instances.
    """
    y, m = case[0], case[0].shape[1]
    signs = _signs(y, seed)
    base = evaluate_stacked(claim, case, loss, 0.0, signs[0])
    twins = [evaluate_stacked(claim, case, loss, TWIN_STEP, pair) for pair in signs]
    singles = _single_precision_errors(claim, case, loss, signs)
    rounding = [
        tolerance.condition_times_size(base[i], [t[i] for t in twins], [s[i] for s in singles])
        for i in (0, 1)
    ]
    allowed = tolerance.tolerance(rounding[0] + rounding[1], m)
    outcomes = tolerance.judge(base[0], base[1], claim.relation, allowed)
    met = _hypotheses_met(claim, base[2], [t[2] for t in twins], m) & _is_defined(claim, case)
    return Instances(
        outcomes=[o if ok else Outcome.VACUOUS for o, ok in zip(outcomes, met, strict=True)],
        ratios=np.where(met, tolerance.ratio(base[0], base[1], claim.relation, allowed), np.nan),
        actual=_scalar(base[0]),
        claimed=_scalar(base[1]),
    )


def _single_precision_errors(
    claim: Claim, case: Tensors, loss: Callable[..., torch.Tensor], signs: list[Tensors]
) -> list[tuple[Array, Array]]:
    """Differences of both sides between float32 and float64, on inputs that float32 holds."""
    errors = []
    for pair in signs:
        nudged = (case[0] * (1 + 2.0**-20 * pair[0]), *case[1:])
        single = tuple(t.float() if t.is_floating_point() else t for t in nudged)
        double = tuple(t.double() if t.is_floating_point() else t for t in single)
        low = evaluate_stacked(claim, single, loss, 0.0, pair)
        high = evaluate_stacked(claim, double, loss, 0.0, pair)
        errors.append((low[0] - high[0], low[1] - high[1]))
    return errors


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
    """Return the cases in groups of one length and one kind of loss."""

    def key(case: Case) -> tuple[int, str]:
        return len(case.y), case.loss.function.__name__

    return [list(group) for _, group in groupby(sorted(cases, key=key), key=key)]


def _examine_group(claim: Claim, cases: list[Case], seed: int) -> Instances:
    function = cases[0].loss.function

    def stack(values: Sequence[Any]) -> torch.Tensor:
        return torch.tensor(np.array([np.squeeze(v) for v in values]), dtype=torch.float64)

    def batches(values: Sequence[Any]) -> torch.Tensor:
        return torch.tensor(np.array(values), dtype=torch.float64)

    def loss(z: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
        return Loss(function, parameters)(z, torch.nn.functional.softplus)

    tensors = (
        batches([c.y for c in cases]),
        stack([c.gamma for c in cases]),
        stack([c.beta for c in cases]),
        stack([c.eps for c in cases]),
        batches([c.direction for c in cases]),
        *(batches(list(p)) for p in zip(*(c.loss.parameters for c in cases), strict=True)),
    )
    found = examine(claim, tensors, loss, seed)
    found.tokens = [case.token for case in cases]
    found.strata = [case.stratum for case in cases]
    return found


def _signs(y: torch.Tensor, seed: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    generator = torch.Generator().manual_seed(seed)

    def draw() -> torch.Tensor:
        bits = torch.randint(0, 2, y.shape, generator=generator)
        return (2 * bits - 1).to(device=y.device, dtype=y.dtype)

    return [(draw(), draw()), (draw(), draw())]


def _to_numpy(tensor: torch.Tensor) -> Array:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)


def _is_defined(claim: Claim, case: Tensors) -> Array:
    """Whether sigma is positive, and in the unit-variance reading the variance too."""
    y, _, _, eps, *_ = case
    spread = (y.max(dim=1).values - y.min(dim=1).values) > 0
    needs_variance = claim.reading in (Reading.NO_EPSILON, Reading.UNIT_VARIANCE)
    return _to_numpy(spread).astype(bool) if needs_variance else _to_numpy(spread | (eps > 0)) > 0


def _hypotheses_met(claim: Claim, quantities: Array, twins: list[Array], m: int) -> Any:
    """Whether each instance satisfies every hypothesis, up to rounding for an equality."""
    met = np.ones(len(quantities), dtype=bool)
    for i, hypothesis in enumerate(claim.hypotheses):
        value = quantities[:, i]
        moved = np.max([abs(t[:, i] - value) / TWIN_STEP for t in twins], axis=0)
        allowed = tolerance.ROUNDINGS * np.sqrt(m) * tolerance.UNIT_ROUNDOFF * moved
        match hypothesis.sign:
            case Relation.EQUAL:
                met &= abs(value) <= allowed
            case Relation.MORE_THAN:
                met &= value > allowed
            case _:
                met &= value >= -allowed
    return met
