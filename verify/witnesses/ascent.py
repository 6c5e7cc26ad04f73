"""Gradient ascent on the violation, for statements that fail only in a thin set.

What it finds in floats is rounded and decided exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.func import vmap

from theory.claim import Claim, Reading, Relation
from verify.cases.case import Case
from verify.cases.losses import Loss, quadratic
from verify.evidence import Record
from verify.settings import Settings
from verify.tolerance import Outcome
from verify.witnesses import exact
from verify.witnesses.autograd import TorchNetwork, evaluate
from verify.witnesses.integers import Certified, certified
from verify.witnesses.records import counted


def ascend(
    claim: Claim, m: int, seed: int = 0, restarts: int = 32, steps: int = 150
) -> Iterator[Case]:
    """Yield cases with a large violation, the largest first, found by gradient ascent.

    The parameters are those of a case with a quadratic loss; the
    objective is the excess of one side over the other, relative to one plus their size.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(restarts, *shape, generator=generator, dtype=torch.float64)

    parameters = [
        draw(m), draw(), draw(), draw(), draw(m), draw(m), draw(), draw(m), draw(m, m)
    ]  # fmt: skip
    for p in parameters:
        p.requires_grad_(True)
    optimiser = torch.optim.Adam(parameters, lr=0.05)
    objective = vmap(lambda *p: _excess(claim, *p))
    for _ in range(steps):
        optimiser.zero_grad()
        loss = -torch.nan_to_num(objective(*parameters)).sum()
        loss.backward()
        optimiser.step()
    final = torch.nan_to_num(objective(*parameters), nan=-np.inf).detach()
    for index in torch.argsort(final, descending=True).tolist():
        numbers = [p[index].detach() for p in parameters]
        if all(torch.isfinite(p).all() for p in numbers):  # a step may have met a sigma of zero
            yield _case(numbers)


def _excess(claim: Claim, *parameters: torch.Tensor) -> torch.Tensor:
    y, gamma, beta, log_eps, direction, other, log_bound, linear, half = parameters
    eps = torch.exp(log_eps) if claim.reading is not Reading.NO_EPSILON else 0 * log_eps
    symmetric = (half + half.T) / 2
    network = TorchNetwork(
        y,
        gamma,
        beta,
        eps,
        direction,
        lambda z: quadratic(z, None, linear, symmetric),
        other,
        torch.exp(log_bound),
    )
    actual, claimed, quantities = evaluate(claim, network)
    difference = actual - claimed
    if claim.relation is Relation.EQUAL:
        difference = torch.linalg.vector_norm(difference)
    elif claim.relation.bounds_below:
        difference = -difference
    size = torch.linalg.vector_norm(actual) + torch.linalg.vector_norm(claimed) + 1
    unmet = torch.relu(-quantities).sum() if len(quantities) else 0.0
    return difference.sum() / size - unmet


def _case(parameters: list[torch.Tensor], digits: int = 6) -> Case:
    """Return the case with every number rounded to a short binary fraction."""

    def short(t: torch.Tensor) -> Any:
        return np.round(t.numpy() * 2**digits) / 2**digits

    y, gamma, beta, log_eps, direction, other, log_bound, linear, half = parameters
    symmetric = (half + half.T) / 2
    return Case(
        y=short(y),
        gamma=short(gamma),
        beta=short(beta),
        eps=max(short(torch.exp(log_eps)), 2.0**-digits),
        loss=Loss(quadratic, (short(linear), short(symmetric))),
        direction=short(direction),
        other_direction=short(other),
        bound=max(short(torch.exp(log_bound)), 2.0**-digits),
        stratum="ascent",
    )


def climbed(
    claim: Claim,
    seed: int = 0,
    restarts: int = 32,
    steps: int = 150,
    lengths: tuple[int, ...] = (2, 3, 4),
    tries: int = 4,
) -> tuple[Certified | None, Counter[Outcome]]:
    """Return a counterexample found by ascent and certified, if any, and the outcomes met."""
    met: Counter[Outcome] = Counter()
    for m in lengths:
        for _, case in zip(range(tries), ascend(claim, m, seed, restarts, steps), strict=False):
            outcome = exact.examine(claim, case).outcome
            met[outcome] += 1
            if outcome is Outcome.VIOLATED:
                return certified(claim, case), met
    return None, met


def climb(claim: Claim, settings: Settings) -> Record:
    """Gradient ascent on the violation, certified exactly."""
    budget = settings.budget
    found, met = climbed(claim, settings.seed, budget.restarts, budget.steps)
    return Record(
        claim=claim.id,
        witness="ascent",
        **counted(met),
        counterexample=found.counterexample() if found else None,
    )
